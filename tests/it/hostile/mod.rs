//! Trees that were made to hurt whoever walks them, built for real.
//!
//! Each test builds its input, and asserts that all healthy siblings are listed, that what was
//! skipped is told with its reason, place and limit, and that the walk ends.

mod confined; // what a confined scope reads of the world around it: nothing
mod crowds; // directories of very many entries, and how soon a walk of one stops
mod depth; // chains of directories that no path is long enough for
mod few_descriptors; // processes that may open hardly anything
mod few_threads; // processes that may start hardly any thread
mod forked; // a host that forks
mod git_pointers; // `.git` files that point to what hurts
mod hosts; // hosts with pools, many threads and an environment
mod large_files; // files of which there is too much
mod links; // links that lead back, and links that multiply
mod moving_files; // files that change, or that somebody holds, while they are read
mod names; // names that are no names for people
mod no_process; // nothing starts a process, and nothing needs threads
mod own_process; // tests in a process of their own, with less than this one has
mod panics; // what of the caller's panics
mod patterns; // patterns and globs that cost more than they look
mod portions; // how bytes are portioned and encoded
mod race; // somebody swaps directories for links while a scope is walked
mod restless; // trees that are changed while they are walked
mod rule_files; // ignore files that are no files
mod rule_limits; // ignore files of which there is too much
mod special_files; // what looks like a file and is none
pub(crate) mod stuck; // a system that does not answer
mod system_calls; // what the kernel is asked for, and what happens when it refuses
mod tree_limits; // how deep, how large and how long a tree may be
mod watched; // a test that hangs is a failed test
mod working_directory; // a process whose directory is gone

use crate::tree::{POOLS, Tree};
use ingrep::{CancelToken, Files, FilesSummary, IgnoreRules, Order, Scope, SortBy};
use std::path::Path;

/// The scope of a person who stands in this tree.
fn here(tree: &Tree) -> Scope {
    Scope::new("").base(tree.path())
}

/// With all ignore files of this tree in force, and none of those above it.
fn ruled(tree: &Tree) -> Scope {
    here(tree).ignore(IgnoreRules::ripgrep().parents(false))
}

/// Checks what is listed, and what is told, one `reason path: part of the message` a line; by one
/// thread and by two, with an order and without.
#[track_caller]
fn check(tree: &Tree, scope: &Scope, expected: &str, trouble: &str) {
    let mut expected: Vec<&str> = expected.split_whitespace().collect();
    expected.sort_unstable();
    let mut trouble: Vec<&str> = trouble.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    trouble.sort_unstable();
    for grown in [false, true] {
        if grown {
            tree.grow();
        }
        for (way, scope) in ways(scope) {
            let (files, summary) = list(&scope);
            let case = format!("{way}, grown: {grown}");
            assert_eq!(files, expected, "{case}: {:?}", summary.diagnostics);
            check_trouble(&summary, &trouble, &case);
        }
    }
}

#[track_caller]
fn check_trouble(summary: &FilesSummary, expected: &[&str], case: &str) {
    let mut told: Vec<String> = Vec::new();
    for one in summary.diagnostics.iter() {
        let path = one.path.as_deref().unwrap_or(Path::new("nowhere"));
        told.push(format!("{} {}: {}", one.reason.as_str(), path.display(), one.message));
    }
    told.sort_unstable();
    assert_eq!(told.len(), expected.len(), "{case}: {told:#?}");
    assert_eq!(summary.diagnostics.total(), expected.len() as u64, "{case}");
    for (told, expected) in told.iter().zip(expected) {
        let (place, message) = expected.split_once(": ").expect("`reason path: message`");
        let rest = told.strip_prefix(place).and_then(|rest| rest.strip_prefix(": "));
        let said = rest.is_some_and(|rest| rest.contains(message));
        assert!(said, "{case}: {told:?} is not {expected:?}");
    }
}

/// The same scope, walked in each way that the library has.
fn ways(scope: &Scope) -> [(&'static str, Scope); 3] {
    let of = |pool: usize, by| scope.clone().pool(&POOLS[pool].1).sort(by, Order::Ascending);
    [
        ("one thread", of(0, SortBy::Path)),
        ("two threads", of(2, SortBy::Modified)),
        ("no order", of(0, SortBy::Nothing)),
    ]
}

/// What is listed, sorted as text.
fn list(scope: &Scope) -> (Vec<String>, FilesSummary) {
    rest_of(scope.files(&CancelToken::new()).unwrap())
}

fn rest_of(mut files: Files) -> (Vec<String>, FilesSummary) {
    let mut listed: Vec<String> =
        files.by_ref().map(|file| file.path.to_string_lossy().into_owned()).collect();
    listed.sort_unstable();
    (listed, files.into_summary())
}
