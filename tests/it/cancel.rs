//! How a run is stopped, and what it returns then.

use crate::haystacks::{Haystacks, POOLS};
use ingrep::{CancelToken, End, Pool, Progress, Query, Scope, Search, Stop, Terminator};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[test]
fn a_token_stops_for_itself_its_ancestors_and_its_deadline() {
    let past = Instant::now();
    let far = Duration::from_secs(1_000_000);
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let parent = CancelToken::new();
    let (child, sibling) = (parent.child(), parent.child());
    let grandchild = child.child();
    child.cancel();
    let table: &[(&str, &CancelToken, Option<Stop>)] = &[
        ("new", &CancelToken::new(), None),
        ("default", &CancelToken::default(), None),
        ("cancelled", &cancelled, Some(Stop::Cancelled)),
        ("its clone", &cancelled.clone(), Some(Stop::Cancelled)),
        ("its child", &cancelled.child(), Some(Stop::Cancelled)),
        ("its grandchild", &cancelled.child().child(), Some(Stop::Cancelled)),
        ("parent of a cancelled one", &parent, None),
        ("sibling of a cancelled one", &sibling, None),
        ("child of a cancelled one, made before", &grandchild, Some(Stop::Cancelled)),
        ("deadline passed", &CancelToken::new().deadline(past), Some(Stop::DeadlinePassed)),
        (
            "no time at all",
            &CancelToken::new().deadline_in(Duration::ZERO),
            Some(Stop::DeadlinePassed),
        ),
        ("deadline to come", &CancelToken::new().deadline_in(far), None),
        ("longer than the clock", &CancelToken::new().deadline_in(Duration::MAX), None),
        (
            "two deadlines",
            &CancelToken::new().deadline(past).deadline_in(far),
            Some(Stop::DeadlinePassed),
        ),
        (
            "two deadlines, other order",
            &CancelToken::new().deadline_in(far).deadline(past),
            Some(Stop::DeadlinePassed),
        ),
        (
            "child of one with a deadline",
            &CancelToken::new().deadline(past).child(),
            Some(Stop::DeadlinePassed),
        ),
        (
            "child with a later deadline",
            &CancelToken::new().deadline(past).child().deadline_in(far),
            Some(Stop::DeadlinePassed),
        ),
        (
            "deadline of a child",
            &{
                let _ = parent.child().deadline(past);
                parent.clone()
            },
            None,
        ),
        (
            "deadline of a clone",
            &{
                let _ = sibling.clone().deadline(past);
                sibling.clone()
            },
            None,
        ),
        ("both", &cancelled.clone().deadline(past), Some(Stop::Cancelled)),
    ];
    for (name, token, stop) in table {
        assert_eq!(token.stop(), *stop, "{name}");
        assert_eq!(token.is_stopped(), stop.is_some(), "{name}");
    }
}

#[test]
fn a_guard_cancels_unless_it_is_disarmed() {
    let token = CancelToken::new();
    token.guard().disarm();
    assert!(!token.is_stopped());
    let guard = token.guard();
    assert!(!token.is_stopped());
    drop(guard);
    assert_eq!(token.stop(), Some(Stop::Cancelled));

    let token = CancelToken::new();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guard = token.guard();
        panic!("on purpose");
    }));
    assert!(unwound.is_err() && token.is_stopped());
}

#[test]
fn a_token_thousands_of_generations_down_is_dropped_without_recursion() {
    let first = CancelToken::new();
    let last = (0..5_000).fold(first.clone(), |token, _| token.child());
    first.cancel();
    assert!(last.is_stopped());
}

/// A small file with a match, and one that takes minutes: a hole of 64 GiB behind a match, which
/// costs no space.
fn endless() -> Haystacks {
    let haystacks = Haystacks::new(&[("a", "hit\0"), ("endless", "hit\0")]);
    let file = std::fs::File::options().write(true).open(haystacks.path("endless")).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.set_len(64 << 30).unwrap();
    file.set_modified(modified).unwrap();
    haystacks
}

fn search(scope: Scope, pool: &Pool) -> Search {
    Query::new("hit").terminator(Terminator::Nul).scope(scope.pool(pool)).compile().unwrap()
}

#[test]
#[cfg(unix)] // elsewhere the hole would be written
fn a_search_stopped_in_the_middle_of_a_file_returns_what_it_has() {
    let haystacks = endless();
    for pool in &*POOLS {
        let token = CancelToken::new();
        let progress = Progress::new();
        let search = search(Scope::new(haystacks.root()).progress(&progress), pool);
        let outcome = std::thread::scope(|threads| {
            threads.spawn(|| {
                while progress.files_searched() == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // Until the other file has been begun, most of the time.
                std::thread::sleep(Duration::from_millis(30));
                token.cancel();
            });
            search.collect(&token).unwrap()
        });
        let summary = &outcome.summary;
        assert_eq!((summary.end, summary.limit), (End::Cancelled, None));
        assert!(!summary.totals_exact);
        assert_eq!(summary.files_walked, 2);
        assert_eq!(outcome.files[0].path, haystacks.path("a"));
        assert!(outcome.files[0].complete);
        if let Some(endless) = outcome.files.get(1) {
            assert_eq!(endless.lines().next().unwrap().bytes, b"hit\0");
            assert!(!endless.complete, "most of it has not been searched");
        }
        assert_eq!(summary.diagnostics.total(), 0, "to be stopped is no trouble");
    }
}

#[test]
#[cfg(unix)] // elsewhere the hole would be written
fn a_deadline_ends_a_search_like_a_cancellation() {
    let haystacks = endless();
    for pool in &*POOLS {
        let search = search(Scope::new(haystacks.root()), pool);
        let token = CancelToken::new().deadline_in(Duration::from_millis(50));
        let outcome = search.collect(&token).unwrap();
        assert_eq!(outcome.summary.end, End::DeadlinePassed);
        assert!(!outcome.summary.totals_exact);
    }
}

#[test]
#[cfg(unix)] // elsewhere the hole would be written
fn a_stream_dropped_half_way_stops_the_workers() {
    let haystacks = endless();
    for pool in &*POOLS {
        let token = CancelToken::new();
        let mut matches = search(Scope::new(haystacks.root()), pool).stream(&token).unwrap();
        assert_eq!(matches.next().unwrap().path, haystacks.path("a"));
        drop(matches);
        assert!(!token.is_stopped(), "the caller's token is the caller's");
        // The worker that sat in the hole is free again: more searches than the pool has threads.
        for _ in 0..3 {
            let outcome =
                search(Scope::new(haystacks.path("a")), pool).collect(&CancelToken::new());
            assert_eq!(outcome.unwrap().summary.end, End::Complete);
        }
    }
}

fn many(files: usize) -> Haystacks {
    let names: Vec<String> = (0..files).map(|n| format!("{n:03}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "hit\0")).collect();
    Haystacks::new(&files)
}

#[test]
fn a_callback_that_breaks_ends_the_run_as_stopped() {
    let haystacks = many(100);
    for pool in &*POOLS {
        let mut seen: Vec<PathBuf> = Vec::new();
        let summary = search(Scope::new(haystacks.root()), pool)
            .for_each(&CancelToken::new(), |found| {
                seen.push(found.path);
                if seen.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!(seen, ["000", "001", "002"].map(|name| haystacks.path(name)));
        assert_eq!(summary.end, End::Stopped);
        assert!(!summary.totals_exact);
        assert_eq!((summary.files_walked, summary.files_matched), (100, 3));
    }
}

#[test]
fn a_callback_that_cancels_gets_no_more_than_was_on_its_way() {
    let haystacks = many(1_000);
    for pool in &*POOLS {
        let token = CancelToken::new();
        let mut seen = 0;
        let summary = search(Scope::new(haystacks.root()), pool)
            .for_each(&token, |_| {
                seen += 1;
                token.cancel();
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(summary.end, End::Cancelled);
        // A window is three batches of at most sixteen files per thread.
        assert!(seen <= 3 * 16 * 8, "{seen} files after the cancellation");
        assert_eq!(summary.files_matched, seen);
    }
}

#[test]
fn a_panic_in_the_callback_is_the_callers_and_the_engine_works_on() {
    let haystacks = many(100);
    for pool in &*POOLS {
        let search = search(Scope::new(haystacks.root()), pool);
        let caller = std::thread::current().id();
        let token = CancelToken::new();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            search.for_each(&token, |_| {
                assert_eq!(std::thread::current().id(), caller);
                std::panic::resume_unwind(Box::new("on purpose"));
            })
        }));
        assert_eq!(*panicked.unwrap_err().downcast::<&str>().unwrap(), "on purpose");
        let outcome = search.collect(&token).unwrap();
        assert_eq!((outcome.summary.end, outcome.files.len()), (End::Complete, 100));
    }
}

#[test]
fn a_stop_before_the_start_finds_nothing_and_says_so() {
    let haystacks = many(10);
    for pool in &*POOLS {
        let search = search(Scope::new(haystacks.root()), pool);
        let token = CancelToken::new();
        token.cancel();
        let outcome = search.collect(&token).unwrap();
        assert_eq!(outcome.summary.end, End::Cancelled);
        assert!(outcome.files.is_empty() && !outcome.summary.totals_exact);
        let late = CancelToken::new().deadline(Instant::now());
        assert_eq!(search.collect(&late).unwrap().summary.end, End::DeadlinePassed);
    }
}

#[test]
fn a_stop_that_comes_when_all_is_done_has_stopped_nothing() {
    let haystacks = many(10);
    for pool in &*POOLS {
        let search = search(Scope::new(haystacks.root()), pool);
        let token = CancelToken::new();
        let mut matches = search.stream(&token).unwrap();
        assert_eq!(matches.by_ref().count(), 10);
        token.cancel();
        assert!(matches.next().is_none());
        let summary = matches.into_summary();
        assert_eq!(summary.end, End::Complete);
        assert!(summary.totals_exact);
    }
}

#[test]
fn a_stream_not_read_to_its_end_was_stopped() {
    let haystacks = many(10);
    for pool in &*POOLS {
        let search = search(Scope::new(haystacks.root()), pool);
        let matches = search.stream(&CancelToken::new()).unwrap();
        assert_eq!(matches.into_summary().end, End::Stopped);
        let mut matches = search.stream(&CancelToken::new()).unwrap();
        matches.next().unwrap();
        let summary = matches.into_summary();
        assert_eq!((summary.end, summary.files_matched), (End::Stopped, 1));
    }
}
