//! Trees that are changed while they are walked: T23.

use super::watched::{watched, watched_for};
use super::{here, list, rest_of, ruled, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, Order, Query, Reason, Scope, SortBy, WalkLimits};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Changes a tree once more; called with the number of the round.
type Churner = fn(&Tree, u64);

/// Walks and searches for so long, while each of `churners` goes on again and again. What is in
/// `still` must always be found.
fn churn(tree: &Tree, time: Duration, still: usize, churners: &[Churner]) -> u64 {
    let over = AtomicBool::new(false);
    let mut walks = 0;
    thread::scope(|threads| {
        for churner in churners {
            let over = &over;
            threads.spawn(move || {
                for round in 0.. {
                    if over.load(Relaxed) {
                        return;
                    }
                    churner(tree, round);
                }
            });
        }
        let guard = Over(&over);
        let begin = Instant::now();
        let small = WalkLimits::new().max_open_directories(2);
        let scopes = [
            here(tree),
            ruled(tree),
            here(tree).follow_links(true),
            here(tree).confine("").follow_links(true),
            here(tree).limits(small),
        ];
        while begin.elapsed() < time {
            for (way, scope) in ways(&scopes[walks as usize % scopes.len()]) {
                let (listed, summary) = list(&scope);
                let found = listed.iter().filter(|path| is_still(path)).count();
                assert_eq!(found, still, "{way}: {:?}", summary.diagnostics);
                assert_eq!(summary.diagnostics.count(Reason::Internal), 0);
                assert_eq!(summary.stopped, None);
                let search = Query::new("needle").scope(scope).compile().unwrap();
                let outcome = search.collect(&CancelToken::new()).unwrap();
                let found = outcome
                    .files
                    .iter()
                    .filter(|file| is_still(&file.path.to_string_lossy()))
                    .count();
                assert_eq!(found, still, "{way}: {:?}", outcome.summary);
                assert_eq!(outcome.summary.diagnostics.count(Reason::Internal), 0);
            }
            walks += 1;
        }
        drop(guard);
    });
    walks
}

/// One of those that nobody touches. Through a link a churner may add others beside them.
fn is_still(path: &str) -> bool {
    path.starts_with("still-") && path.matches('/').count() == 1
}

/// Ends the churners, also when an assertion fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn restless() -> Tree {
    let tree = Tree::new("");
    for n in 0..20 {
        tree.add(&format!("still-{n}/file: needle\n m-{n}/a/b/c/file: needle\n m-{n}/.ignore: x"));
    }
    tree
}

fn rename(tree: &Tree, round: u64) {
    let n = round % 20;
    let _ = fs::rename(tree.join(format!("m-{n}/a")), tree.join(format!("m-{n}/z")));
    let _ = fs::rename(tree.join(format!("m-{n}/z")), tree.join(format!("m-{}/a", (n + 1) % 20)));
}

fn remove(tree: &Tree, round: u64) {
    let at = tree.join(format!("m-{}", round % 20));
    let _ = fs::remove_dir_all(&at);
    let _ = fs::create_dir_all(at.join("a/b/c"));
    let _ = fs::write(at.join("a/b/c/file"), "needle\n");
}

fn close(tree: &Tree, round: u64) {
    let at = tree.join(format!("m-{}", round % 20));
    let _ = fs::set_permissions(&at, Permissions::from_mode(0o000));
    let _ = fs::set_permissions(&at, Permissions::from_mode(0o755));
}

fn swap(tree: &Tree, round: u64) {
    let at = tree.join(format!("m-{}/a/b", round % 20));
    let aside = tree.join("aside");
    if fs::rename(&at, &aside).is_ok() {
        let _ = symlink(tree.join("still-1"), &at);
        let _ = fs::remove_file(&at);
        let _ = symlink("..", &at);
        let _ = fs::remove_file(&at);
        let _ = fs::rename(&aside, &at);
    }
    let _ = fs::remove_dir_all(&aside);
}

fn exchange(tree: &Tree, round: u64) {
    // A directory, a file, a FIFO and nothing, one after the other under one name.
    let at = tree.join(format!("m-{}/x", round % 20));
    let _ = fs::create_dir(&at);
    let _ = fs::remove_dir(&at);
    let _ = fs::write(&at, "needle\n");
    let _ = fs::remove_file(&at);
    let _ = rustix::fs::mkfifoat(rustix::fs::CWD, &at, rustix::fs::Mode::RUSR);
    let _ = fs::remove_file(&at);
    let _ = symlink("x", &at);
    let _ = fs::remove_file(&at);
}

const CHURNERS: [Churner; 5] = [rename, remove, close, swap, exchange];

#[test]
fn what_stands_still_is_found_while_all_else_moves() {
    watched_for(Duration::from_secs(40), 8 << 20, || {
        let walks = churn(&restless(), Duration::from_secs(2), 20, &CHURNERS);
        assert!(walks >= 5, "{walks}");
        eprintln!("{walks} times each walk and search");
    });
}

#[test]
#[ignore = "a minute of the same"]
fn what_stands_still_is_found_for_a_minute() {
    watched_for(Duration::from_secs(120), 8 << 20, || {
        let walks = churn(&restless(), Duration::from_secs(60), 20, &CHURNERS);
        eprintln!("{walks} times each walk and search");
    });
}

/// A chain that is cut above the place where the walk is. It closes directories that are far
/// above, and cannot open them again; then it can.
#[test]
fn a_walk_whose_way_back_is_cut_tells_what_it_lost() {
    watched(|| {
        for cut in 1..12 {
            let tree = Tree::new("");
            let mut dir = String::new();
            for level in 0..40 {
                // Something to do before and after the chain, in whatever order names are read.
                for name in ["a", "b", "c", "x", "y", "z"] {
                    if name == "x" {
                        tree.add(&format!("{dir}chain/"));
                    }
                    tree.add(&format!("{dir}{name}{level}/f\n {dir}{name}{level}f"));
                }
                dir.push_str("chain/");
            }
            tree.add(&format!("{dir}deepest"));
            let scope = Scope::new("")
                .base(tree.path())
                .sort(SortBy::Nothing, Order::Ascending)
                .limits(WalkLimits::new().max_open_directories(4));
            let mut files = scope.files(&CancelToken::new()).unwrap();
            let mut listed = 0;
            let deepest = files.by_ref().find(|file| {
                listed += 1;
                file.path.ends_with("deepest")
            });
            assert!(deepest.is_some());
            let way = |levels: usize| tree.join("chain/".repeat(levels).trim_end_matches('/'));
            fs::rename(way(cut), tree.join("aside")).unwrap();
            let rest = files.by_ref().count();
            let summary = files.into_summary();
            let all = 40 * 12 + 1;
            assert_eq!(summary.diagnostics.count(Reason::Internal), 0);
            assert_eq!(summary.stopped, None);
            // What is missing is told, by the directory that it is in.
            if listed + rest < all {
                assert!(summary.diagnostics.count(Reason::NotFound) > 0, "{cut}");
            }
            assert!(listed + rest <= all && rest > 0, "{cut}: {listed} and {rest}");
        }
    });
}

/// A root that goes away between the look at it and the walk.
#[test]
fn a_root_that_goes_away_before_its_turn_is_told() {
    watched(|| {
        for confined in [false, true] {
            let tree = Tree::new("a/x\n b/y\n c/z");
            let scope = Scope::many(["a", "b", "c"]).base(tree.path());
            let scope = if confined { scope.confine("") } else { scope };
            let scope = scope.sort(SortBy::Nothing, Order::Ascending);
            for replace in [false, true] {
                let files = scope.files(&CancelToken::new()).unwrap();
                fs::remove_dir_all(tree.join("b")).unwrap();
                if replace {
                    fs::write(tree.join("b"), "").unwrap();
                }
                let (listed, summary) = rest_of(files);
                assert_eq!(listed, ["a/x", "c/z"]);
                assert_eq!(summary.diagnostics.count(Reason::NotFound), 1);
                let told = summary.diagnostics.iter().next().unwrap();
                assert_eq!(told.path.as_deref(), Some(Path::new("b")));
                let _ = fs::remove_file(tree.join("b"));
                tree.add("b/y");
            }
        }
    });
}
