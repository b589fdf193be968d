//! Somebody swaps directories for links while a scope is walked and searched: fact 9.

use super::watched::watched_for;
use crate::tree::Tree;
use ingrep::{CancelToken, IgnoreRules, Order, Pool, Query, Scope, SortBy};
use rustix::fs::{CWD, RenameFlags};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Twenty files in `in/dir` with an inner word, and as many of the same names in `out` with an outer
/// one. `link` leads from inside to `out`.
fn board() -> Tree {
    let tree = Tree::new("in/near: inner\n other: outer");
    for n in 0..20 {
        tree.add(&format!(
            "in/dir/{n}: inner\n out/{n}: outer\n in/dir/d/{n}: inner\n out/d/{n}: outer"
        ));
    }
    // What rules are read from outside would list or leave out.
    tree.add("out/.ignore: 1*\n in/link -> ../out\n in/far -> ../other");
    tree
}

/// How often it was swapped, and what came of the walks.
#[derive(Debug, Default)]
struct Score {
    swaps: u64,
    walks: u64,
    inner: u64,
    outer: u64,
    /// Files that were left out by rules from outside.
    ruled: u64,
}

/// Searches for so long, with and without an order, with each scope in turn, while a directory and
/// a link, and a file and a link, change places as fast as they can.
fn play(scopes: &[Scope], tree: &Tree, time: Duration) -> Score {
    let over = AtomicBool::new(false);
    let swaps = AtomicU64::new(0);
    let mut score = Score::default();
    thread::scope(|threads| {
        threads.spawn(|| {
            let path = |name: &str| tree.join(name);
            while !over.load(Relaxed) {
                for (a, b) in [("in/dir", "in/link"), ("in/near", "in/far")] {
                    let flags = RenameFlags::EXCHANGE;
                    rustix::fs::renameat_with(CWD, path(a), CWD, path(b), flags).unwrap();
                    swaps.fetch_add(1, Relaxed);
                }
            }
        });
        let begin = Instant::now();
        while begin.elapsed() < time {
            let scope = &scopes[score.walks as usize % scopes.len()];
            score.walks += 1;
            let search = Query::new("inner|outer").scope(scope.clone()).compile().unwrap();
            let Ok(outcome) = search.collect(&CancelToken::new()) else { continue };
            for file in &outcome.files {
                for line in file.lines() {
                    match line.bytes {
                        b"inner" | b"inner\n" => score.inner += 1,
                        _ => score.outer += 1,
                    }
                }
            }
            if scope_reads_rules(scope) {
                // `1*` in the file outside would leave out the half of a directory. Names are read
                // from an open directory: all are there, or none.
                let Ok(files) = scope.files(&CancelToken::new()) else { continue };
                let files: Vec<_> = files.map(|file| file.path).collect();
                let seen = |name: &str| files.iter().any(|path| path.ends_with(name));
                if seen("dir/2") && !seen("dir/1") || seen("dir/d/2") && !seen("dir/d/1") {
                    score.ruled += 1;
                }
            }
        }
        over.store(true, Relaxed);
    });
    score.swaps = swaps.load(Relaxed);
    score
}

fn scope_reads_rules(scope: &Scope) -> bool {
    format!("{scope:?}").contains("dot: true")
}

fn scopes(tree: &Tree) -> Vec<Scope> {
    let inside = || Scope::new("").base(tree.join("in"));
    let pool = Pool::new(2);
    let sorted = |scope: Scope| scope.sort(SortBy::Path, Order::Ascending).pool(&pool);
    let rules = IgnoreRules::ripgrep().parents(false);
    let plain = [inside(), sorted(inside()), inside().sort(SortBy::Nothing, Order::Ascending)];
    let mut scopes = plain.to_vec();
    for scope in plain {
        scopes.push(scope.clone().confine("").ignore(rules.clone()));
        scopes.push(scope.confine("").follow_links(true).ignore(rules.clone()));
    }
    // By names that are swapped themselves.
    for root in ["dir", "link", "near", "far"] {
        scopes.push(Scope::new(root).base(tree.join("in")).confine("").ignore(rules.clone()));
    }
    scopes
}

#[track_caller]
fn check(score: &Score) {
    assert_eq!((score.outer, score.ruled), (0, 0), "bytes from outside: {score:?}");
    // Otherwise nothing was shown.
    assert!(score.swaps > 1_000 && score.walks > 20 && score.inner > 100, "{score:?}");
}

#[test]
fn nothing_outside_is_read_while_directories_are_swapped_for_links() {
    watched_for(Duration::from_secs(30), 8 << 20, || {
        let tree = board();
        let score = play(&scopes(&tree), &tree, Duration::from_secs(2));
        eprintln!("{score:?}");
        check(&score);
    });
}

#[test]
#[ignore = "a minute of the same"]
fn nothing_outside_is_read_in_a_minute_of_swaps() {
    watched_for(Duration::from_secs(120), 8 << 20, || {
        let tree = board();
        let score = play(&scopes(&tree), &tree, Duration::from_secs(60));
        eprintln!("{score:?}");
        check(&score);
    });
}

/// The same with a scope that may go anywhere: the game can be lost.
#[test]
fn an_unconfined_scope_that_follows_links_reads_what_is_outside() {
    watched_for(Duration::from_secs(30), 8 << 20, || {
        let tree = board();
        let free = [Scope::new("").base(tree.join("in")).follow_links(true)];
        let score = play(&free, &tree, Duration::from_millis(200));
        assert!(score.outer > 0, "{score:?}");
        fs::metadata(tree.join("out")).unwrap();
    });
}
