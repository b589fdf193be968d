//! What the kernel is asked for, and what happens when it refuses.

use super::own_process::{OwnProcess, is_own};
use super::watched::watched;
use super::{list, rest_of, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, IgnoreRules, Order, Query, Scope, SortBy};
use std::fs;
use std::os::unix::fs::symlink;

/// Where the tree of a traced process is, for the process.
const AT: &str = "INGREP_TEST_HOSTILE_TREE";

/// A directory `in`, and around it all that could lead or tempt out of it.
fn tempting() -> Tree {
    let tree = Tree::new(
        "in/a: needle\n in/sub/b: needle\n in/.gitignore: x\n in/sub/.ignore: y\n in/.rgignore: z
         out/secret: needle\n other: needle\n .ignore: a\n .gitignore: a\n .rgignore: a
         .git/HEAD\n .git/info/exclude: a\n repo/.git/worktrees/w/commondir: ../..
         repo/.git/info/exclude: a\n in/out -> ../out\n in/sub/up -> ../..\n in/sub/in -> ../../in/sub
         in/repo/.git -> ../../repo/.git\n in/repo/f: needle\n in/jj/.jj -> ../../out\n in/jj/f: needle
         in/rules/.ignore -> ../../.ignore\n in/rules/f: needle",
    );
    symlink(tree.join("out"), tree.join("in/absolute")).unwrap();
    let pointer = format!("gitdir: {}\n", tree.join("repo/.git/worktrees/w").display());
    fs::write(tree.join("in/.git"), pointer).unwrap();
    tree
}

/// What is asked about files, between two marks that the process makes. `in` is below the tree.
fn asked(log: &str) -> Vec<&str> {
    let begin = log.lines().position(|line| line.contains("mark-begin")).expect("it has begun");
    let end = log.lines().position(|line| line.contains("mark-end")).expect("it has ended");
    log.lines().skip(begin + 1).take(end - begin - 1).collect()
}

/// The first quoted path of a traced call.
fn path(call: &str) -> Option<&str> {
    let (_, rest) = call.split_once('"')?;
    rest.split_once('"').map(|(path, _)| path)
}

#[test]
fn a_confined_scope_asks_for_nothing_outside() {
    let tree = tempting();
    let log = tree.join("log");
    let arguments = ["-e", "trace=file"];
    let test = "system_calls::in_its_own_a_confined_scope_is_walked";
    let Some(mut own) = OwnProcess::traced(test, &arguments, &log) else { return };
    own.command.env(AT, tree.path());
    own.passes();
    let log = fs::read_to_string(log).unwrap();
    let calls = asked(&log);
    let inside = tree.join("in").display().to_string();
    let mut seen = 0;
    for call in calls {
        let Some(path) = path(call) else { continue };
        seen += 1;
        // The way to the directory itself is read, name by name, to know its real path.
        let is_way = call.contains("readlink") && inside.starts_with(path);
        // What the standard library and the allocator want to know of the machine.
        let is_runtime = path.starts_with("/sys/fs/cgroup")
            || ["/proc/self/cgroup", "/proc/sys/vm/overcommit_memory"].contains(&path);
        let is_inside = path == inside || path.starts_with(&format!("{inside}/"));
        let is_relative = !path.starts_with('/') && !path.split('/').any(|name| name == "..");
        let allowed = is_inside || is_relative || is_way || is_runtime;
        assert!(allowed, "{call}");
        // A relative path leads out through a link only if nothing forbids it.
        if is_relative && !path.is_empty() {
            let held = ["O_NOFOLLOW", "RESOLVE_BENEATH", "AT_SYMLINK_NOFOLLOW", "readlink"];
            assert!(held.iter().any(|flag| call.contains(flag)), "{call}");
        }
    }
    assert!(seen > 50, "{seen} calls");
}

/// The same without confinement asks for much outside: the check sees it.
#[test]
fn a_free_scope_asks_for_what_is_outside() {
    let tree = tempting();
    let log = tree.join("log");
    let test = "system_calls::in_its_own_a_free_scope_is_walked";
    let Some(mut own) = OwnProcess::traced(test, &["-e", "trace=file"], &log) else { return };
    own.command.env(AT, tree.path());
    own.passes();
    let log = fs::read_to_string(log).unwrap();
    let outside = tree.path().display().to_string();
    assert!(asked(&log).iter().any(|call| path(call) == Some(&outside)), "{log}");
}

fn mark(name: &str) {
    let _ = fs::symlink_metadata(format!("/mark-{name}"));
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_confined_scope_is_walked() {
    let Some(tree) = std::env::var_os(AT).filter(|_| is_own()) else { return };
    watched(move || {
        let inside = std::path::Path::new(&tree).join("in");
        let scope = Scope::new("").base(&inside).confine("");
        let rules = IgnoreRules::ripgrep();
        let scopes = [
            scope.clone(),
            scope.clone().follow_links(true),
            scope.clone().ignore(rules.clone()),
            scope.follow_links(true).ignore(rules),
        ];
        // What a first search looks up for itself.
        let warm = || Query::new("needle").scope(scopes[0].clone()).compile().unwrap();
        warm().collect(&CancelToken::new()).unwrap();
        mark("begin");
        for scope in &scopes {
            for (_, scope) in ways(scope) {
                let search = Query::new("needle").scope(scope).compile().unwrap();
                let outcome = search.collect(&CancelToken::new()).unwrap();
                assert!(outcome.files.len() >= 4, "{:?}", outcome.summary);
            }
        }
        mark("end");
    });
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_free_scope_is_walked() {
    let Some(tree) = std::env::var_os(AT).filter(|_| is_own()) else { return };
    let inside = std::path::Path::new(&tree).join("in");
    let scope = Scope::new("").base(inside).ignore(IgnoreRules::ripgrep());
    mark("begin");
    list(&scope);
    mark("end");
}

/// Kernels without `openat2`, and sandboxes that forbid it: each name is opened by itself.
#[test]
fn without_openat2_the_same_is_found() {
    for error in ["ENOSYS", "EPERM"] {
        let tree = tempting();
        let arguments = ["-e", "trace=openat2", "-e", &format!("inject=openat2:error={error}")];
        let test = "system_calls::in_its_own_openat2_is_refused";
        let Some(mut own) = OwnProcess::traced(test, &arguments, &tree.join("log")) else { return };
        own.command.env(AT, tree.path());
        // What is found with it.
        let (files, told) = with_links(tree.path());
        let expected = format!("{files:?} {told:?}");
        own.command.env("INGREP_TEST_HOSTILE_EXPECTED", expected);
        own.passes();
        assert!(files.len() > 6 && told.len() > 3, "{files:?} {told:?}");
    }
}

/// What is found below `in` by a confined scope that follows links and obeys rules, also by links
/// that stay inside.
fn with_links(tree: &std::path::Path) -> (Vec<String>, Vec<String>) {
    let inside = tree.join("in");
    for (target, link) in [("sub/b", "to-file"), ("sub", "to-dir"), ("to-dir", "to-link")] {
        let _ = symlink(target, inside.join(link));
    }
    let _ = fs::create_dir(inside.join("linked-rules"));
    let _ = fs::write(inside.join("linked-rules/left-out"), "");
    let _ = fs::write(inside.join("to-obey"), "left-out\n");
    let _ = symlink("../to-obey", inside.join("linked-rules/.ignore"));
    let scope = Scope::new("").base(&inside).confine("").follow_links(true);
    let scope = scope.ignore(IgnoreRules::ripgrep()).sort(SortBy::Path, Order::Ascending);
    let (files, summary) = rest_of(scope.files(&CancelToken::new()).unwrap());
    let told = summary.diagnostics.iter().map(|one| one.to_string()).collect();
    (files, told)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_openat2_is_refused() {
    let Some(tree) = std::env::var_os(AT).filter(|_| is_own()) else { return };
    watched(move || {
        let (files, told) = with_links(std::path::Path::new(&tree));
        let expected = std::env::var("INGREP_TEST_HOSTILE_EXPECTED").unwrap();
        assert_eq!(format!("{files:?} {told:?}"), expected);
        assert!(!files.iter().any(|file| file.ends_with("left-out")));
    });
}

/// The kernel may say that a directory could not be closed, and the standard library panics.
#[test]
fn a_directory_that_cannot_be_closed_is_nothing_to_speak_of() {
    let tree = tempting();
    tree.add("saved/grep-results-x.txt: old");
    for error in ["EIO", "EMFILE", "ENOMEM", "EACCES"] {
        // The program has to be loaded first.
        let inject = format!("inject=close:error={error}:when=100+");
        let arguments = ["-e", "trace=close", "-e", &inject];
        let log = Tree::new("");
        let test = "system_calls::in_its_own_nothing_can_be_closed";
        let Some(mut own) = OwnProcess::traced(test, &arguments, &log.join("log")) else { return };
        own.command.env(AT, tree.path());
        own.passes();
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_nothing_can_be_closed() {
    let Some(tree) = std::env::var_os(AT).filter(|_| is_own()) else { return };
    watched(move || {
        let tree = std::path::Path::new(&tree);
        (0..100).for_each(|_| drop(fs::File::open("/dev/null").unwrap()));
        let closed = std::panic::catch_unwind(|| drop(fs::read_dir("/")));
        assert!(closed.is_err(), "directories can be closed");
        let token = CancelToken::new();
        for rules in [IgnoreRules::none(), IgnoreRules::ripgrep()] {
            for (way, scope) in ways(&Scope::new("").base(tree.join("in")).ignore(rules)) {
                let search = Query::new("needle").scope(scope).compile().unwrap();
                assert!(!search.collect(&token).unwrap().files.is_empty(), "{way}");
            }
        }
        for argv in [&["needle"][..], &["--files", "-L"], &["needle", "in/a", "out"]] {
            let output = ingrep::rg::Command::new(tree).args(argv).output(&token).unwrap();
            assert!(output.stdout.len() > 10, "{argv:?}");
        }
        let store = ingrep::tools::DirSpill::new(tree.join("saved")).unwrap();
        let tools = ingrep::tools::Tools::new(tree).spill(store.clone());
        // A name in other letter case is looked for among all names.
        let arguments = serde_json::json!({ "pattern": "needle", "path": "IN/A" });
        let error = tools.call("grep", &arguments, &token).unwrap_err();
        assert!(error.to_string().contains("in other letter case"), "{error}");
        store.clean(std::time::Duration::from_secs(1 << 30)).unwrap();
    });
}
