//! Chains of directories that no path is long enough for: T7 and T8.

use super::own_process::{OwnProcess, is_own, peak_bytes};
use super::watched::{watched, watched_for};
use super::{check, list, ruled, ways};
use crate::tree::{POOLS, Tree};
use ingrep::{CancelToken, FilesSummary, IgnoreRules, Order, Query, Scope, SortBy, WalkLimits};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

const MODE: Mode = Mode::RWXU;

fn open(at: impl rustix::fd::AsFd, name: &str) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    rustix::fs::openat(at, name, flags, Mode::empty()).unwrap()
}

/// A tree with a chain in it, of so many directories, each in the one before.
struct Deep {
    tree: Tree,
}

impl Deep {
    /// `fill` puts something into each, by its number.
    fn new(levels: usize, name: &str, fill: impl Fn(usize, &OwnedFd)) -> Deep {
        let deep = Deep { tree: Tree::new("") };
        let mut dir = open(CWD, deep.tree.path().to_str().unwrap());
        for level in 0..levels {
            fill(level, &dir);
            rustix::fs::mkdirat(&dir, name, MODE).unwrap();
            dir = open(&dir, name);
        }
        fill(levels, &dir);
        deep
    }
}

impl Drop for Deep {
    /// What no path leads to is not removed by path: what is in a directory is moved up, until
    /// nothing is in any.
    fn drop(&mut self) {
        let top = open(CWD, self.tree.path().to_str().unwrap());
        let mut waiting = vec![String::from(".")];
        let mut count = 0;
        while let Some(name) = waiting.pop() {
            let dir = open(&top, &name);
            for entry in Dir::read_from(&dir).unwrap() {
                let entry = entry.unwrap();
                let inner = entry.file_name();
                match (entry.file_type(), inner.to_bytes()) {
                    (_, b"." | b"..") => {}
                    (FileType::Directory, _) => {
                        count += 1;
                        let moved = format!("moved-{count}");
                        rustix::fs::renameat(&dir, inner, &top, &moved).unwrap();
                        waiting.push(moved);
                    }
                    _ => rustix::fs::unlinkat(&dir, inner, AtFlags::empty()).unwrap(),
                }
            }
            if name != "." {
                rustix::fs::unlinkat(&top, &name, AtFlags::REMOVEDIR).unwrap();
            }
        }
    }
}

fn write(dir: &OwnedFd, name: &str, text: &str) {
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let file = rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR).unwrap();
    File::from(file).write_all(text.as_bytes()).unwrap();
}

/// A file in each thousandth of ten thousand directories.
fn ten_thousand() -> Deep {
    Deep::new(10_000, "d", |level, dir| {
        if level % 1_000 == 0 {
            write(dir, "file", if level == 10_000 { "a needle\n" } else { "hay\n" });
        }
    })
}

#[track_caller]
fn check_ten_thousand(listed: &[String], summary: &FilesSummary) {
    assert_eq!(summary.diagnostics.total(), 0, "{:?}", summary.diagnostics);
    let mut lengths: Vec<usize> = listed.iter().map(String::len).collect();
    lengths.sort_unstable();
    let expected: Vec<usize> = (0..=10).map(|n| n * 2_000 + "file".len()).collect();
    assert_eq!(lengths, expected);
}

#[test]
fn ten_thousand_levels_are_found_and_searched() {
    watched(|| {
        let deep = ten_thousand();
        for (_, scope) in ways(&Scope::new("").base(deep.tree.path())) {
            let (listed, summary) = list(&scope);
            check_ten_thousand(&listed, &summary);
            let search = Query::new("needle").scope(scope).compile().unwrap();
            let outcome = search.collect(&CancelToken::new()).unwrap();
            assert_eq!(outcome.files.len(), 1, "{:?}", outcome.summary);
            assert_eq!(outcome.files[0].path.as_os_str().len(), 20_004);
            assert_eq!(outcome.summary.files_walked, 11);
        }
    });
}

#[test]
fn ten_thousand_levels_are_searched_in_confinement_too() {
    watched(|| {
        let deep = ten_thousand();
        for follow in [false, true] {
            let scope = Scope::new("").base(deep.tree.path()).confine("").follow_links(follow);
            let search = Query::new("needle").scope(scope).compile().unwrap();
            let outcome = search.collect(&CancelToken::new()).unwrap();
            assert_eq!(outcome.files.len(), 1, "{:?}", outcome.summary);
            assert_eq!(outcome.summary.diagnostics.total(), 0, "{:?}", outcome.summary);
        }
    });
}

/// In an order that has to come back to every level: each is opened again by its path.
#[test]
fn hundreds_of_levels_with_something_to_do_on_the_way_back() {
    watched(|| {
        let deep = Deep::new(400, "m", |_, dir| {
            write(dir, "a", "");
            write(dir, "z", "");
            rustix::fs::mkdirat(dir, "before", MODE).unwrap();
            rustix::fs::mkdirat(dir, "zafter", MODE).unwrap();
        });
        let scope = Scope::new("").base(deep.tree.path());
        for (way, scope) in ways(&scope.limits(WalkLimits::new().max_open_directories(4))) {
            let (listed, summary) = list(&scope);
            assert_eq!(summary.diagnostics.total(), 0, "{way}: {:?}", summary.diagnostics);
            assert_eq!(listed.len(), 2 * 401, "{way}");
        }
    });
}

#[test]
fn paths_of_a_megabyte_are_found_and_searched() {
    watched(|| {
        let deep = Deep::new(4_200, &"n".repeat(250), |level, dir| {
            if level == 4_200 {
                write(dir, "file", "a needle\n");
            }
        });
        let scope = Scope::new("").base(deep.tree.path());
        let search = Query::new("needle").scope(scope).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        assert_eq!(outcome.files.len(), 1, "{:?}", outcome.summary);
        assert_eq!(outcome.files[0].path.as_os_str().len(), 4_200 * 251 + 4);
    });
}

/// The paths of all directories that a walk is in, each whole, would be four gigabytes here.
#[test]
fn memory_does_not_grow_with_the_square_of_the_depth() {
    OwnProcess::new("depth::in_its_own_long_names_are_nested").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_long_names_are_nested() {
    if !is_own() {
        return;
    }
    watched(|| {
        let deep = Deep::new(4_200, &"n".repeat(250), |level, dir| {
            if level == 4_200 {
                write(dir, "file", "");
            }
        });
        let before = peak_bytes();
        for (way, scope) in ways(&Scope::new("").base(deep.tree.path()).follow_links(true)) {
            let (listed, summary) = list(&scope);
            assert_eq!((listed.len(), summary.diagnostics.total()), (1, 0), "{way}");
            let grown = peak_bytes() - before;
            assert!(grown < 256 << 20, "{way}: {} MiB", grown >> 20);
        }
    });
}

/// What belongs to ten thousand levels is dropped one after the other: nothing recurses on depth.
#[test]
fn a_small_stack_is_enough_for_any_depth() {
    // Each is a repository, of which the walk keeps something for as long as it is below. Rules
    // in each would do as well, but take minutes: each is asked about each entry below.
    let deep = Deep::new(2_000, "d", |level, dir| {
        write(dir, ".git", "");
        if level == 2_000 {
            write(dir, "file", "");
        }
    });
    let scope = ruled(&deep.tree).follow_links(true).pool(&POOLS[0].1);
    for by in [SortBy::Nothing, SortBy::Modified] {
        let scope = scope.clone().sort(by, Order::Ascending);
        let walk = move || {
            let (listed, summary) = list(&scope);
            assert_eq!((listed.len(), summary.diagnostics.total()), (1, 0));
            // And what is dropped half way.
            let mut files = scope.files(&CancelToken::new()).unwrap();
            assert!(files.next().is_some());
        };
        watched_for(Duration::from_secs(30), 256 << 10, walk);
    }
}

#[test]
fn depth_is_bounded_by_whoever_asks_for_it() {
    watched(|| {
        let deep = Deep::new(100, "d", |_, dir| write(dir, "f", ""));
        let scope = Scope::new("").base(deep.tree.path()).max_depth(Some(3));
        check(&deep.tree, &scope, "f d/f d/d/f", "");
        let scope = scope.ignore(IgnoreRules::ripgrep());
        check(&deep.tree, &scope, "f d/f d/d/f", "");
    });
}
