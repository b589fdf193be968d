//! What looks like a file and is none: T12 to T15.

use super::watched::watched;
use super::{check, here, list, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, Query, Reason, Scope, Terminator};
use rustix::fs::{CWD, FileType, Mode};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn crowded() -> Tree {
    let tree = Tree::new("a: needle\n sub/b: needle");
    for name in ["fifo", "sub/fifo"] {
        tree.fifo(name);
    }
    drop(UnixListener::bind(tree.join("socket")).unwrap());
    // Only the superuser makes devices.
    let device = rustix::fs::makedev(1, 5);
    let _ = rustix::fs::mknodat(
        CWD,
        tree.join("zero"),
        FileType::CharacterDevice,
        Mode::RUSR | Mode::WUSR,
        device,
    );
    tree
}

#[test]
fn what_is_no_file_is_neither_listed_nor_opened() {
    watched(|| {
        let tree = crowded();
        check(&tree, &here(&tree), "a sub/b", "");
        for (way, scope) in ways(&here(&tree)) {
            let search = Query::new("needle").scope(scope).compile().unwrap();
            let outcome = search.collect(&CancelToken::new()).unwrap();
            assert_eq!(outcome.files.len(), 2, "{way}");
            assert_eq!(outcome.summary.diagnostics.total(), 0, "{way}");
        }
    });
}

#[test]
fn links_to_what_is_no_file_are_not_followed_into() {
    watched(|| {
        let tree = crowded();
        for (n, target) in
            ["/dev/zero", "/dev/stdin", "/dev/tty", "fifo", "socket"].iter().enumerate()
        {
            symlink(target, tree.join(format!("link-{n}"))).unwrap();
        }
        let scope = here(&tree).follow_links(true);
        check(&tree, &scope, "a sub/b", "");
    });
}

/// Files by their type that never end or never answer. Not all of them may be opened everywhere.
#[test]
fn a_link_to_a_file_that_waits_for_its_writer_is_an_error_of_that_file() {
    watched(|| {
        for target in ["/proc/kmsg", "/sys/kernel/tracing/trace_pipe"] {
            if !fs::metadata(target).is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let tree = Tree::new("a: needle\n z: needle");
            symlink(target, tree.join("link")).unwrap();
            for (way, scope) in ways(&here(&tree).follow_links(true)) {
                let search = Query::new("needle").scope(scope).compile().unwrap();
                let outcome = search.collect(&CancelToken::new()).unwrap();
                let paths: Vec<_> = outcome.files.iter().map(|file| file.path.as_path()).collect();
                assert!(paths.contains(&Path::new("a")), "{target}, {way}");
                assert!(paths.contains(&Path::new("z")), "{target}, {way}");
            }
        }
    });
}

/// Each thing that can take the place of a listed file before it is opened.
#[test]
fn what_takes_the_place_of_a_listed_file_is_not_read() {
    watched(|| {
        type Make = fn(&Path);
        let cases: [(&str, Make, Reason); 7] = [
            ("fifo", |at| rustix::fs::mkfifoat(CWD, at, Mode::RUSR).unwrap(), Reason::SpecialFile),
            ("socket", |at| drop(UnixListener::bind(at).unwrap()), Reason::Io),
            ("directory", |at| fs::create_dir(at).unwrap(), Reason::SpecialFile),
            ("link to a device", |at| symlink("/dev/zero", at).unwrap(), Reason::Io),
            ("link to a file", |at| symlink("a", at).unwrap(), Reason::Io),
            ("link to itself", |at| symlink("m", at).unwrap(), Reason::Io),
            ("nothing", |_| {}, Reason::NotFound),
        ];
        for (what, make, reason) in cases {
            for confined in [false, true] {
                let tree = Tree::new("a: needle\n m: needle\n z: needle");
                for (way, scope) in ways(&here(&tree)) {
                    let scope = if confined { scope.confine("") } else { scope };
                    // A file of such a size is not searched before the walk is over.
                    fs::write(tree.join("m"), "needle\n".repeat(200_000)).unwrap();
                    let search = Query::new("needle").scope(scope).compile().unwrap();
                    let mut found = Vec::new();
                    let token = CancelToken::new();
                    // Listed now, opened later: at the first file that is searched.
                    let mut stream = search.stream(&token).unwrap();
                    fs::remove_file(tree.join("m")).unwrap();
                    make(&tree.join("m"));
                    found.extend(stream.by_ref().map(|file| file.path.display().to_string()));
                    let summary = stream.into_summary();
                    remove(&tree.join("m"));
                    found.sort();
                    // A worker may have been faster than the exchange; the caller's thread is not.
                    if way == "two threads" && found == ["a", "m", "z"] {
                        continue;
                    }
                    assert_eq!(found, ["a", "z"], "{what}, {way}");
                    // Without an order it is walked only now, and was never listed.
                    if way == "no order" {
                        continue;
                    }
                    let told: Vec<_> = summary.diagnostics.iter().collect();
                    assert_eq!(told.len(), 1, "{what}, {way}: {told:?}");
                    assert_eq!(told[0].path.as_deref(), Some(Path::new("m")), "{what}, {way}");
                    assert_eq!(told[0].reason, reason, "{what}, {way}: {told:?}");
                }
            }
        }
    });
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir(path);
}

/// One that a walk would list, and whose content has no end.
#[test]
fn a_sparse_file_of_a_terabyte_stops_when_told_to() {
    watched(|| {
        let tree = Tree::new("a: needle");
        fs::File::create(tree.join("z")).unwrap().set_len(1 << 40).unwrap();
        let token = CancelToken::new().deadline_in(std::time::Duration::from_millis(200));
        let search = Query::new("needle")
            .terminator(Terminator::Nul)
            .scope(Scope::new("").base(tree.path()))
            .compile()
            .unwrap();
        let outcome = search.collect(&token).unwrap();
        assert_eq!(outcome.files[0].path, Path::new("a"));
        let (listed, _) = list(&here(&tree));
        assert_eq!(listed, ["a", "z"]);
    });
}
