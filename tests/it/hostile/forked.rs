//! A host that forks: the child has none of its parent's threads.

use super::own_process::{OwnProcess, is_own};
use super::watched::watched;
use crate::tree::Tree;
use fork::{Fork, fork, waitpid};
use ingrep::{CancelToken, Pool, Query, Scope};
use std::time::Duration;

#[test]
fn a_forked_child_searches_with_threads_of_its_own() {
    OwnProcess::new("forked::in_its_own_a_process_forks").passes();
}

fn finds_all(tree: &Tree, pool: &Pool, token: &CancelToken) -> bool {
    let scope = Scope::new("").base(tree.path()).pool(pool);
    let search = Query::new("needle").scope(scope).compile().unwrap();
    search.collect(token).is_ok_and(|outcome| outcome.files.len() == 600)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
#[allow(clippy::disallowed_methods, reason = "the child must not go on with its parent's tests")]
fn in_its_own_a_process_forks() {
    if !is_own() {
        return;
    }
    let table: String = (0..600).map(|n| format!("d{n}/f: needle\n")).collect();
    let tree = Tree::new(&table);
    let own = Pool::new(3);
    let all = |tree: &Tree| {
        let soon = CancelToken::new().deadline_in(Duration::from_secs(10));
        [&Pool::default(), &own]
            .iter()
            .all(|pool| finds_all(tree, pool, &CancelToken::new()) && finds_all(tree, pool, &soon))
    };
    assert!(all(&tree), "the parent, before");
    match fork().unwrap() {
        Fork::Child => std::process::exit(if all(&tree) { 0 } else { 1 }),
        Fork::Parent(child) => {
            // A child that hangs is a failed test, and ends with its parent's group.
            assert_eq!(watched(move || waitpid(child).unwrap()), 0, "the child");
            assert!(all(&tree), "the parent, afterwards");
        }
    }
}
