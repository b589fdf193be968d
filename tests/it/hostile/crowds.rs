//! Directories of very many entries, and how soon a walk of one stops: T9.

use super::watched::{watched, watched_for};
use super::{list, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, Progress, Scope, Stop};
use rustix::fs::{Mode, OFlags};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// So many empty files in one directory.
fn crowd(entries: usize) -> Tree {
    let tree = Tree::new("");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let dir = rustix::fs::open(tree.path(), flags, Mode::empty()).unwrap();
    for n in 0..entries {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        rustix::fs::openat(&dir, format!("f{n}"), flags, Mode::RUSR).unwrap();
    }
    tree
}

/// Cancels each kind of walk when it has found a part of what there is, and measures until it is
/// back. The longest of several.
fn latencies(tree: &Tree, entries: usize, after: &[u64]) -> Vec<(&'static str, Duration)> {
    let mut worst = Vec::new();
    for (way, scope) in ways(&Scope::new("").base(tree.path())) {
        let mut longest = Duration::ZERO;
        for &after in after {
            let (token, progress) = (CancelToken::new(), Progress::new());
            let scope = scope.clone().progress(&progress);
            let cancelled = AtomicU64::new(0);
            let begin = Instant::now();
            thread::scope(|threads| {
                threads.spawn(|| {
                    while progress.files_listed() < after {
                        thread::sleep(Duration::from_micros(20));
                    }
                    cancelled.store(begin.elapsed().as_nanos() as u64, Relaxed);
                    token.cancel();
                });
                let mut files = scope.files(&token).unwrap();
                // What was found by then is still there; to hand it over is not the walk.
                let listed = if scope_has_no_order(way) { files.by_ref().count() } else { 0 };
                let ended = begin.elapsed().as_nanos() as u64;
                let summary = files.into_summary();
                assert_eq!(summary.stopped, Some(Stop::Cancelled), "{way}, after {after}");
                assert!(!summary.complete && summary.files >= listed as u64);
                assert!(summary.files < entries as u64, "{way}, after {after}");
                let latency = ended.saturating_sub(cancelled.load(Relaxed));
                longest = longest.max(Duration::from_nanos(latency));
            });
        }
        worst.push((way, longest));
    }
    worst
}

fn scope_has_no_order(way: &str) -> bool {
    way == "no order"
}

#[test]
fn a_hundred_thousand_entries_are_listed_and_left_in_the_middle() {
    watched(|| {
        let tree = crowd(100_000);
        for (way, scope) in ways(&Scope::new("").base(tree.path()).head(Some(10))) {
            let (listed, summary) = list(&scope);
            assert_eq!(listed.len(), 10, "{way}");
            if !scope_has_no_order(way) {
                assert_eq!(summary.files, 100_000, "{way}");
            }
        }
        // How soon is a figure of a release build: see `a_million_entries`.
        for (way, latency) in latencies(&tree, 100_000, &[1, 20_000]) {
            eprintln!("{way}: {latency:?}");
        }
    });
}

#[test]
#[ignore = "makes a million files; its figures count in a release build"]
fn a_million_entries() {
    watched_for(Duration::from_secs(300), 8 << 20, || {
        let tree = crowd(1_000_000);
        for (way, scope) in ways(&Scope::new("").base(tree.path()).head(Some(10))) {
            let begin = Instant::now();
            assert_eq!(list(&scope).0.len(), 10, "{way}");
            eprintln!("{way}: all of them in {:?}", begin.elapsed());
        }
        for after in [1, 100_000, 500_000, 900_000] {
            for (way, latency) in latencies(&tree, 1_000_000, &[after, after, after]) {
                eprintln!("{way}, cancelled after {after}: {latency:?}");
                assert!(latency < Duration::from_millis(500), "{way}: {latency:?}");
            }
        }
    });
}

/// A deadline is asked for as often as a cancellation.
#[test]
fn a_deadline_ends_the_walk_of_a_crowd() {
    watched(|| {
        let tree = crowd(50_000);
        for (way, scope) in ways(&Scope::new("").base(tree.path())) {
            let token = CancelToken::new().deadline_in(Duration::from_micros(500));
            let mut files = scope.files(&token).unwrap();
            let listed = files.by_ref().count() as u64;
            let summary = files.into_summary();
            assert_eq!(summary.stopped, Some(Stop::DeadlinePassed), "{way}");
            assert!(listed < 50_000 && listed == summary.files, "{way}");
        }
    });
}
