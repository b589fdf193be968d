//! Processes that may start hardly any thread: H1.

use super::list;
use super::own_process::{OwnProcess, assert_nobody, is_own};
use super::watched::watched_for;
use crate::tree::Tree;
use ingrep::{CancelToken, Order, Pool, Query, Scope, SortBy};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::time::Duration;

/// Enough directories that every thread there is takes part.
fn large() -> Tree {
    let tree = Tree::new("");
    let table: String = (0..600).map(|n| format!("d{n}/f: needle\n")).collect();
    tree.add(&table);
    tree
}

#[track_caller]
fn check_all_is_found(tree: &Tree, pool: &Pool) {
    for by in [SortBy::Modified, SortBy::Path, SortBy::Nothing] {
        let scope = Scope::new("").base(tree.path()).pool(pool).sort(by, Order::Ascending);
        let (listed, summary) = list(&scope);
        assert_eq!((listed.len(), summary.diagnostics.total()), (600, 0), "{by:?}");
        let search = Query::new("needle").scope(scope).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        assert_eq!(outcome.files.len(), 600, "{by:?}");
    }
}

#[test]
fn without_a_single_thread_all_is_found() {
    OwnProcess::of_nobody("few_threads::in_its_own_no_thread_starts").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_no_thread_starts() {
    if !is_own() {
        return;
    }
    assert_nobody();
    let tree = large();
    watched_for(Duration::from_secs(20), 8 << 20, move || {
        let limit = Rlimit { current: Some(1), maximum: Some(1) };
        setrlimit(Resource::Nproc, limit).unwrap();
        assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "threads can be had");
        for threads in [0, 1, 2, 3, 8, 256] {
            let pool = Pool::new(threads);
            assert_eq!((pool.threads(), pool.is_inline()), (1, true), "{threads}");
            check_all_is_found(&tree, &pool);
        }
        check_all_is_found(&tree, &Pool::default());
        check_all_is_found(&tree, &Pool::inline());
    });
}

/// The n-th thread is refused, and all after it.
#[test]
fn fewer_threads_than_wanted_find_all() {
    for allowed in 0..6 {
        // The first is the watched one.
        let refuse = format!("inject=clone,clone3:error=EAGAIN:when={}+", allowed + 2);
        let log = Tree::new("");
        let arguments = ["-e", "trace=clone,clone3", "-e", &refuse];
        let test = "few_threads::in_its_own_some_threads_start";
        let Some(own) = OwnProcess::traced(test, &arguments, &log.join("log")) else { return };
        own.passes();
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_some_threads_start() {
    if !is_own() {
        return;
    }
    let tree = large();
    watched_for(Duration::from_secs(20), 8 << 20, move || {
        let pool = Pool::new(4);
        assert!(pool.threads() <= 4);
        check_all_is_found(&tree, &pool);
        check_all_is_found(&tree, &Pool::new(3));
    });
}
