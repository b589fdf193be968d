//! A search that takes files where the walk finds them has the answer of one that first lists them:
//! the reference walk shows its files to nobody.

use crate::tree::{POOLS, Tree, at, set_times};
use ingrep::{CancelToken, End, Limits, Order, Outcome, Query, Scope, SortBy, Summary, Walker};
use proptest::prelude::*;
use std::fs::FileTimes;
use std::ops::ControlFlow;
use std::time::Duration;

/// A file: its directory, lines of which every third matches, its time, and what is odd about it.
type Entry = (u8, usize, i64, u8);

fn make(entries: &[Entry]) -> Tree {
    let tree = Tree::new("");
    for (number, &(dir, lines, seconds, oddity)) in entries.iter().enumerate() {
        let name = format!("{}/f{number}", ["d", "d/e", "d/e/f", "g"][usize::from(dir % 4)]);
        tree.add(&name);
        let mut text: String = (0..lines).map(|n| ["hit\n", "a\n", "b\n"][n % 3]).collect();
        match oddity {
            0 => text.insert(text.len() / 2, '\0'),
            // Of such a size that it waits for its turn.
            1 => text.push_str(&"nothing\n".repeat(140_000)),
            _ => {}
        }
        std::fs::write(tree.join(&name), text).unwrap();
        set_times(&tree.join(&name), FileTimes::new().set_modified(at(seconds)));
    }
    tree
}

fn orders() -> impl Strategy<Value = (SortBy, Order)> {
    let by = prop::sample::select(vec![SortBy::Modified, SortBy::Path]);
    (by, prop::sample::select(vec![Order::Ascending, Order::Descending]))
}

fn limits() -> impl Strategy<Value = Limits> {
    let few = || prop_oneof![2 => Just(u64::MAX), 3 => 0..12u64];
    (few(), few(), few(), prop_oneof![3 => Just(u64::MAX), 1 => 0..200u64], any::<bool>()).prop_map(
        |(files, lines, per_file, bytes, early)| {
            let limits = Limits::new().max_files(files).max_lines(lines);
            limits.max_lines_per_file(per_file).max_output_bytes(bytes).stop_early(early)
        },
    )
}

fn timeless(mut outcome: Outcome) -> Outcome {
    outcome.summary.elapsed = Duration::ZERO;
    outcome
}

/// What is counted of a run that ended early depends on how far its threads had got by then; what it
/// hands over does not.
fn told(summary: &Summary) -> (End, Option<&'static str>, u64, u64, u64) {
    let Summary { end, limit, files_matched, lines_matched, matches, .. } = *summary;
    (end, limit, files_matched, lines_matched, matches)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_finds_what_a_search_of_listed_files_finds(
        entries in prop::collection::vec((0..4u8, 0..9usize, 0..6i64, 0..40u8), 0..60),
        (by, order) in orders(),
        limits in limits(),
        context in 0..2usize,
    ) {
        let tree = make(&entries);
        let scope = Scope::many(["d", "g/f0", "d/e"]).base(tree.join("")).sort(by, order);
        tree.add("d/e/\ng/f0: a\\nhit\\n");
        let query = || Query::new("hit").context(context);
        let listed = scope.clone().walker(Walker::Reference).pool(&ingrep::Pool::inline());
        let compiled = |scope: Scope| query().scope(scope).limits(limits.clone()).compile().unwrap();
        let expected = timeless(compiled(listed).collect(&CancelToken::new()).unwrap());
        for (pool_name, pool) in &*POOLS {
            let search = compiled(scope.clone().pool(pool));
            let outcome = timeless(search.collect(&CancelToken::new()).unwrap());
            prop_assert_eq!(&outcome.files, &expected.files, "{}", pool_name);
            prop_assert_eq!(told(&outcome.summary), told(&expected.summary), "{}", pool_name);
            if expected.summary.totals_exact {
                prop_assert_eq!(&outcome.summary, &expected.summary, "{}", pool_name);
            }
        }
    }
}

#[test]
fn a_stream_of_more_than_waits_at_once_is_in_order_and_whole() {
    let tree = Tree::new("");
    let line = format!("hit{}\n", "x".repeat(600));
    for number in 0..600 {
        // Twelve megabytes, in an order that is not that of the names.
        let name = format!("{}/f{number}", number % 7);
        tree.add(&name);
        std::fs::write(tree.join(&name), line.repeat(33)).unwrap();
        set_times(
            &tree.join(&name),
            FileTimes::new().set_modified(at(i64::from(number * 7919 % 600))),
        );
    }
    for (name, pool) in &*POOLS {
        let scope = Scope::new(tree.join("")).pool(pool);
        let listed: Vec<_> =
            scope.files(&CancelToken::new()).unwrap().map(|file| file.path).collect();
        let search = Query::new("hit").scope(scope).compile().unwrap();
        let mut seen = Vec::new();
        let summary = search.for_each(&CancelToken::new(), |found| {
            assert_eq!(found.lines_matched, 33);
            seen.push(found.path);
            ControlFlow::Continue(())
        });
        assert!(seen == listed, "{name}: in another order");
        let summary = summary.unwrap();
        assert_eq!((summary.end, summary.files_walked), (End::Complete, 600), "{name}");
        assert_eq!((summary.files_searched, summary.lines_matched), (600, 19_800), "{name}");
    }
}

#[test]
fn what_is_collected_without_an_order_is_in_that_of_the_paths() {
    let tree = Tree::new("b/c: hit\n a: hit\n b-a: hit\n b/a: hit");
    for (name, pool) in &*POOLS {
        let scope = Scope::new("").base(tree.join("")).pool(pool);
        let scope = scope.sort(SortBy::Nothing, Order::Ascending);
        let search = Query::new("hit").scope(scope).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        let paths: Vec<_> = outcome.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["a", "b/a", "b/c", "b-a"], "{name}");
    }
}
