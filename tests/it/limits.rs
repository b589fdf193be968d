//! What each limit leaves out, and how the result says so.

use crate::haystacks::{Haystacks, POOLS};
use ingrep::{
    CancelToken, Case, End, ErrorCode, Limits, LineKind, MultiLine, Order, Outcome, PatternCache,
    Query, Reason, Scope, SortBy,
};
use proptest::prelude::*;
use std::ops::ControlFlow;

/// The outcome, the same on every pool.
#[track_caller]
fn collect(query: &Query, limits: &Limits, haystacks: &Haystacks) -> Outcome {
    let outcomes = POOLS.each_ref().map(|pool| {
        let scope = Scope::new(haystacks.root()).pool(pool);
        let search = query.clone().scope(scope).limits(limits.clone()).compile().unwrap();
        let mut outcome = search.collect(&CancelToken::new()).unwrap();
        outcome.summary.elapsed = Default::default();
        outcome
    });
    for outcome in &outcomes[1..] {
        assert_eq!(*outcome, outcomes[0]);
    }
    let [outcome, ..] = outcomes;
    outcome
}

/// The kept lines of each file, without their ends.
fn kept(outcome: &Outcome) -> Vec<String> {
    let text = |found: &ingrep::FileMatches| {
        let lines: Vec<_> = found
            .lines()
            .map(|line| String::from_utf8_lossy(line.bytes).trim_end().to_string())
            .collect();
        lines.join(" ")
    };
    outcome.files.iter().map(text).collect()
}

#[track_caller]
fn check(
    query: &Query,
    limits: &Limits,
    haystacks: &Haystacks,
    expected: &[&str],
    limit: Option<&'static str>,
) {
    let all = collect(query, &Limits::new(), haystacks).summary;
    assert_eq!((all.end, all.limit), (End::Complete, None));

    let outcome = collect(query, limits, haystacks);
    let end = if limit.is_some() { End::Limit } else { End::Complete };
    let summary = &outcome.summary;
    assert_eq!(kept(&outcome), expected, "{limits:?}");
    assert_eq!((summary.end, summary.limit), (end, limit), "{limits:?}");
    // Everything has been counted all the same.
    assert!(summary.totals_exact);
    assert_eq!(summary.files_searched, all.files_searched);
    assert_eq!(summary.files_matched, all.files_matched);
    assert_eq!(summary.lines_matched, all.lines_matched);
    assert_eq!(summary.matches, all.matches);
    assert_eq!(summary.bytes_searched, all.bytes_searched);

    let early = collect(query, &limits.clone().stop_early(true), haystacks);
    assert_eq!(kept(&early), expected, "early, {limits:?}");
    assert_eq!((early.summary.end, early.summary.limit), (end, limit), "early, {limits:?}");
    assert_eq!(early.summary.totals_exact, limit.is_none(), "early, {limits:?}");
}

fn three() -> Haystacks {
    Haystacks::new(&[("a", "x1\nb\nx2\n"), ("b", "none\n"), ("c", "x3\nx4\nx5\n")])
}

#[test]
fn max_files_keeps_the_first_files() {
    let (query, haystacks) = (Query::new("x"), three());
    let limits = |files| Limits::new().max_files(files);
    check(&query, &limits(0), &haystacks, &[], Some("max_files"));
    check(&query, &limits(1), &haystacks, &["x1 x2"], Some("max_files"));
    check(&query, &limits(2), &haystacks, &["x1 x2", "x3 x4 x5"], None);
    check(&query, &limits(3), &haystacks, &["x1 x2", "x3 x4 x5"], None);
}

#[test]
fn max_lines_keeps_the_first_lines_over_all_files() {
    let (query, haystacks) = (Query::new("x"), three());
    let limits = |lines| Limits::new().max_lines(lines);
    let limit = Some("max_lines");
    check(&query, &limits(0), &haystacks, &[], limit);
    check(&query, &limits(1), &haystacks, &["x1"], limit);
    check(&query, &limits(2), &haystacks, &["x1 x2"], limit);
    check(&query, &limits(3), &haystacks, &["x1 x2", "x3"], limit);
    check(&query, &limits(4), &haystacks, &["x1 x2", "x3 x4"], limit);
    check(&query, &limits(5), &haystacks, &["x1 x2", "x3 x4 x5"], None);
    check(&query, &limits(6), &haystacks, &["x1 x2", "x3 x4 x5"], None);
}

#[test]
fn max_lines_per_file_starts_anew_with_each_file() {
    let (query, haystacks) = (Query::new("x"), three());
    let limits = |lines| Limits::new().max_lines_per_file(lines);
    let limit = Some("max_lines_per_file");
    for (lines, expected, limit) in [
        (2, &["x1 x2", "x3 x4"][..], limit),
        (3, &["x1 x2", "x3 x4 x5"], None),
        (4, &["x1 x2", "x3 x4 x5"], None),
    ] {
        check(&query, &limits(lines), &haystacks, expected, limit);
    }
    let outcome = collect(&query, &limits(1), &haystacks);
    assert_eq!(kept(&outcome), ["x1", "x3"]);
    assert_eq!((outcome.summary.end, outcome.summary.limit), (End::Limit, limit));
    assert_eq!(outcome.files[0].limit, limit);
    assert_eq!((outcome.files[0].lines_matched, outcome.files[1].lines_matched), (2, 3));
    let nothing = collect(&query, &limits(0), &haystacks);
    assert_eq!(kept(&nothing), [""; 0]);
    assert_eq!((nothing.summary.end, nothing.summary.limit), (End::Limit, limit));
    assert_eq!(nothing.summary.lines_matched, 5);

    // Two limits: the one that leaves something out first is named.
    let both = limits(1).max_lines(2);
    assert_eq!(collect(&query, &both, &haystacks).summary.limit, limit);
    let both = limits(2).max_lines(2);
    assert_eq!(collect(&query, &both, &haystacks).summary.limit, Some("max_lines"));
    // Early means at the first thing left out, whatever would have come.
    let early = collect(&query, &limits(1).stop_early(true), &haystacks);
    assert_eq!(kept(&early), ["x1"]);
    assert_eq!((early.summary.end, early.summary.totals_exact), (End::Limit, false));
}

#[test]
fn max_output_bytes_counts_lines_and_paths() {
    let (query, haystacks) = (Query::new("x"), three());
    let path = haystacks.path("a").as_os_str().len() as u64;
    let limits = |bytes| Limits::new().max_output_bytes(bytes);
    let limit = Some("max_output_bytes");
    check(&query, &limits(0), &haystacks, &[], limit);
    check(&query, &limits(path + 2), &haystacks, &[], limit);
    check(&query, &limits(path + 3), &haystacks, &["x1"], limit);
    check(&query, &limits(path + 5), &haystacks, &["x1"], limit);
    check(&query, &limits(path + 6), &haystacks, &["x1 x2"], limit);
    check(&query, &limits(2 * path + 9), &haystacks, &["x1 x2", "x3"], limit);
    check(&query, &limits(2 * path + 14), &haystacks, &["x1 x2", "x3 x4"], limit);
    check(&query, &limits(2 * path + 15), &haystacks, &["x1 x2", "x3 x4 x5"], None);
    check(&query, &limits(2 * path + 16), &haystacks, &["x1 x2", "x3 x4 x5"], None);
    // A smaller file behind one that does not fit is no part of a head.
    let haystacks = Haystacks::new(&[("a", "x12345678\n"), ("b", "x\n")]);
    check(&query, &limits(path + 5), &haystacks, &[], limit);
}

#[test]
fn context_rides_along_with_kept_matches_only() {
    let haystacks = Haystacks::new(&[("a", "a\nx1\nb\nc\nd\ne\nx2\nf\n"), ("b", "g\nx3\n")]);
    let query = Query::new("x").context(1);
    let path = haystacks.path("a").as_os_str().len() as u64;
    let all: &[&str] = &["a x1 b e x2 f", "g x3"];
    check(&query, &Limits::new().max_lines(3), &haystacks, all, None);
    check(&query, &Limits::new().max_lines(2), &haystacks, &all[..1], Some("max_lines"));
    check(&query, &Limits::new().max_lines(1), &haystacks, &["a x1 b"], Some("max_lines"));
    let each = Limits::new().max_lines_per_file(1);
    let outcome = collect(&query, &each, &haystacks);
    assert_eq!(kept(&outcome), ["a x1 b", "g x3"]);
    // 2 for `a`, 3 for `x1`, 2 for `b`; 2 for `e` would fit where `e` and `x2` do not.
    for (bytes, expected) in [
        (path + 4, &[][..]),
        (path + 5, &["a x1"]),
        (path + 7, &["a x1 b"]),
        (path + 11, &["a x1 b"]),
        (path + 12, &["a x1 b e x2"]),
    ] {
        let limits = Limits::new().max_output_bytes(bytes);
        check(&query, &limits, &haystacks, expected, Some("max_output_bytes"));
    }
}

#[test]
fn a_cut_line_is_no_limit_of_the_run() {
    let haystacks = Haystacks::new(&[("a", "x23456\n")]);
    let query = Query::new("x");
    for (bytes, expected) in [(6, "x23456"), (5, "x2345"), (7, "x23456"), (8, "x23456"), (0, "")] {
        let outcome = collect(&query, &Limits::new().max_line_bytes(bytes), &haystacks);
        assert_eq!(kept(&outcome), [expected]);
        assert_eq!((outcome.summary.end, outcome.summary.limit), (End::Complete, None));
        let line = outcome.files[0].lines().next().unwrap();
        assert_eq!((line.cut, line.full_bytes), (bytes < 7, 7));
    }
}

#[test]
fn max_file_result_bytes_bounds_what_one_file_holds() {
    let many = "x\n".repeat(1_000);
    let haystacks = Haystacks::new(&[("a", many.as_str()), ("b", "x\n")]);
    let query = Query::new("x");
    let limits = |bytes| Limits::new().max_file_result_bytes(bytes);
    let lines = |limits: &Limits| -> Vec<usize> {
        collect(&query, limits, &haystacks).files.iter().map(|file| file.lines().len()).collect()
    };
    let outcome = collect(&query, &limits(10_000), &haystacks);
    let limit = Some("max_file_result_bytes");
    assert_eq!((outcome.summary.end, outcome.summary.limit), (End::Limit, limit));
    assert_eq!((outcome.files[0].limit, outcome.files[1].limit), (limit, None));
    assert_eq!((outcome.summary.lines_matched, outcome.files[0].lines_matched), (1_001, 1_000));
    assert!((1..1_000).contains(&lines(&limits(10_000))[0]));
    assert_eq!(lines(&limits(10_000))[1], 1);

    // A line is kept as long as there is any room before it.
    assert_eq!(lines(&limits(1)), [1, 1]);
    let held = (40..200).find(|&bytes| lines(&limits(bytes))[0] == 2).unwrap() - 1;
    assert_eq!(lines(&limits(2 * held)), [2, 1]);
    assert_eq!(lines(&limits(2 * held + 1)), [3, 1]);
    let exact = collect(&query, &limits(held * 1_000), &haystacks).summary;
    assert_eq!((exact.end, exact.limit), (End::Complete, None));
    let short = collect(&query, &limits(held * 999), &haystacks).summary;
    assert_eq!((short.end, short.limit), (End::Limit, limit));

    let nothing = collect(&query, &limits(0), &haystacks);
    assert_eq!(kept(&nothing), [""; 0]);
    assert_eq!((nothing.summary.end, nothing.summary.limit), (End::Limit, limit));
}

#[test]
fn max_file_result_bytes_keeps_no_context_of_a_match_that_it_drops() {
    let haystacks = Haystacks::new(&[("a", "a\nx1\n\n\n\nb\nc\nd\nx2\n")]);
    let query = Query::new("x").before_context(3);
    for bytes in (0..2_000).step_by(16) {
        let outcome = collect(&query, &Limits::new().max_file_result_bytes(bytes), &haystacks);
        for file in &outcome.files {
            assert_eq!(file.lines().last().unwrap().kind, LineKind::Match, "{bytes} bytes");
        }
        if outcome.summary.end == End::Complete {
            assert!(bytes > 100);
            return;
        }
    }
    panic!("all of it fits into 2,000 bytes");
}

/// A file that may not be searched to its end between two that are.
#[track_caller]
fn check_too_large(query: &Query, limits: &Limits, middle: &str, message: Option<&str>) {
    let haystacks = Haystacks::new(&[("a", "x\n"), ("b", middle), ("c", "x\n")]);
    let outcome = collect(query, limits, &haystacks);
    let summary = &outcome.summary;
    let told: Vec<_> = summary.diagnostics.iter().collect();
    let matched: Vec<_> = outcome.files.iter().map(|file| file.path.clone()).collect();
    // What a file held is not all that was found, but no result cap has left it out.
    assert_eq!((summary.end, summary.limit), (End::Complete, None));
    match message {
        Some(message) => {
            assert_eq!(told.len(), 1, "{told:?}");
            assert_eq!((told[0].reason, told[0].message.as_str()), (Reason::TooLarge, message));
            assert_eq!(told[0].path.as_deref(), Some(&*haystacks.path("b")));
            assert!(
                matched.contains(&haystacks.path("a")) && matched.contains(&haystacks.path("c"))
            );
            let search = query.clone().limits(limits.clone()).compile().unwrap();
            let error = search.search_file(haystacks.path("b")).unwrap_err();
            assert_eq!((error.code(), error.message()), (ErrorCode::LimitExceeded, message));
        }
        None => {
            assert!(told.is_empty(), "{told:?}");
            assert_eq!(matched, ["a", "b", "c"].map(|name| haystacks.path(name)));
        }
    }
}

#[test]
fn a_longer_line_than_the_buffer_skips_the_rest_of_its_file() {
    // Buffers begin at 64 KiB; below and above that the limit counts alike.
    for max in [100, 100_000] {
        let limits = Limits::new().max_line_buffer_bytes(max);
        let message = format!("a line is over max_line_buffer_bytes ({max})");
        let line = |bytes: usize| "x".repeat(bytes - 1) + "\n";
        let query = Query::new("x$");
        check_too_large(&query, &limits, &line(max - 1), None);
        check_too_large(&query, &limits, &line(max), None);
        check_too_large(&query, &limits, &line(max + 1), Some(&message));
        check_too_large(&query, &limits, &("a\nx\n".to_string() + &line(max)), None);
        check_too_large(&query, &limits, &("a\n".to_string() + &line(3 * max)), Some(&message));
    }
}

#[test]
fn a_larger_file_than_may_be_held_is_not_searched_across_lines() {
    for max in [100, 100_000] {
        let limits = Limits::new().max_multi_line_bytes(max);
        let message = format!("the file is over max_multi_line_bytes ({max})");
        let text = |bytes: usize| "a".repeat(bytes - 2) + "x\n";
        let query = Query::new(r"x\n").multi_line(MultiLine::On);
        check_too_large(&query, &limits, &text(max - 1), None);
        check_too_large(&query, &limits, &text(max), None);
        check_too_large(&query, &limits, &text(max + 1), Some(&message));
        check_too_large(&query, &limits, &text(10 * max), Some(&message));
        // What does not span lines is not held.
        let query = Query::new("x").multi_line(MultiLine::On);
        check_too_large(&query, &limits, &text(max + 1), None);
    }
}

#[test]
fn patterns_are_refused_over_their_limits_and_not_at_them() {
    let compile = |query: Query, limits| query.limits(limits).compile().map(|_| ());
    let bytes = |bytes| Limits::new().max_pattern_bytes(bytes);
    let two = || Query::many(["a.", "c"]);
    assert_eq!(compile(two(), bytes(2)).unwrap_err().code(), ErrorCode::PatternTooLarge);
    assert!(compile(two(), bytes(3)).is_ok() && compile(two(), bytes(4)).is_ok());

    // Plain text has a limit of its own, unless its case is disregarded.
    let literal = |bytes| Limits::new().max_literal_bytes(bytes).max_pattern_bytes(2);
    for text in [Query::many(["ab", "c"]), Query::many(["a.", "("]).fixed_strings(true)] {
        assert_eq!(
            compile(text.clone(), literal(2)).unwrap_err().code(),
            ErrorCode::PatternTooLarge
        );
        assert!(compile(text.clone(), literal(3)).is_ok());
        let insensitive = compile(text.case(Case::Insensitive), literal(3));
        assert_eq!(insensitive.unwrap_err().code(), ErrorCode::PatternTooLarge);
    }

    let patterns = |most| compile(two(), Limits::new().max_patterns(most)).map_err(|e| e.code());
    assert_eq!(patterns(1), Err(ErrorCode::PatternTooLarge));
    assert_eq!(patterns(2), Ok(()));

    let lines = |query: Query| compile(query, Limits::new().max_context_lines(2));
    for query in [Query::new("x").before_context(3), Query::new("x").after_context(3)] {
        assert_eq!(lines(query).unwrap_err().code(), ErrorCode::InvalidOption);
    }
    assert!(lines(Query::new("x").context(2)).is_ok());

    let big = || Query::new(r"\w{100}");
    let regex = |bytes| compile(big(), Limits::new().max_regex_bytes(bytes)).map_err(|e| e.code());
    assert_eq!(regex(100_000), Err(ErrorCode::PatternTooLarge));
    assert_eq!(regex(10 << 20), Ok(()));
    // The cache only makes it slower, however small it is.
    assert!(compile(big(), Limits::new().max_dfa_bytes(0)).is_ok());
}

#[test]
fn diagnostics_over_their_limit_are_counted() {
    let long = "x".repeat(50) + "\n";
    let files: Vec<_> = ["a", "b", "c", "d"].map(|name| (name, long.as_str())).into();
    let haystacks = Haystacks::new(&files);
    for (max, told) in [(0, 0), (3, 3), (4, 4), (5, 4)] {
        let limits = Limits::new().max_line_buffer_bytes(10).max_diagnostics(max);
        let diagnostics = collect(&Query::new("x"), &limits, &haystacks).summary.diagnostics;
        assert_eq!(diagnostics.total(), 4);
        assert_eq!(diagnostics.count(Reason::TooLarge), 4);
        assert_eq!(diagnostics.counts().collect::<Vec<_>>(), [(Reason::TooLarge, 4)]);
        assert_eq!(diagnostics.dropped(), 4 - told);
        let places: Vec<_> = diagnostics.iter().map(|one| one.path.clone().unwrap()).collect();
        let first = &["a", "b", "c", "d"][..told as usize];
        assert_eq!(places, first.iter().map(|name| haystacks.path(name)).collect::<Vec<_>>());
    }
}

#[test]
fn a_stream_that_leaves_lines_out_says_so() {
    let haystacks = three();
    let limits = Limits::new().max_lines_per_file(1);
    let search = Query::new("x").scope(Scope::new(haystacks.root())).limits(limits).compile();
    let mut lines = 0;
    let summary = search
        .unwrap()
        .for_each(&CancelToken::new(), |found| {
            lines += found.lines().len();
            assert_eq!(found.limit, Some("max_lines_per_file"));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((lines, summary.lines_matched), (2, 5));
    assert_eq!((summary.end, summary.limit), (End::Limit, Some("max_lines_per_file")));
    assert!(summary.totals_exact);
}

/// The limits that cut a collected result; `None` for no limit.
#[derive(Clone, Copy, Debug)]
struct Caps {
    files: Option<u64>,
    lines: Option<u64>,
    per_file: Option<u64>,
    bytes: Option<u64>,
}

/// Lines before a match and the match, or one line after it: what is kept or dropped as one.
type Unit = Vec<(LineKind, Vec<u8>)>;

fn units(file: &ingrep::FileMatches) -> Vec<Unit> {
    let mut units = vec![Unit::new()];
    for line in file.lines() {
        units.last_mut().unwrap().push((line.kind, line.bytes.to_vec()));
        if line.kind != LineKind::Before {
            units.push(Unit::new());
        }
    }
    assert_eq!(units.pop(), Some(Unit::new()), "nothing stands before no match");
    units
}

/// What should be kept of everything, and the limits that could be named for the rest.
fn cut(files: &[Vec<Unit>], paths: &[u64], caps: Caps) -> (Vec<Vec<Unit>>, Vec<&'static str>) {
    let most = |cap: Option<u64>| cap.unwrap_or(u64::MAX);
    let (mut lines, mut bytes) = (most(caps.lines), most(caps.bytes));
    let (mut kept, mut reasons) = (Vec::new(), Vec::new());
    for (units, path) in files.iter().zip(paths) {
        let mut head: Vec<Unit> = Vec::new();
        let mut in_file = 0;
        for unit in units {
            let matches = unit.iter().filter(|(kind, _)| *kind == LineKind::Match).count() as u64;
            let cost = unit.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>()
                + if head.is_empty() { *path } else { 0 };
            let mut over = Vec::new();
            if in_file + matches > most(caps.per_file) {
                over.push("max_lines_per_file");
            }
            if matches > lines {
                over.push("max_lines");
            }
            if cost > bytes {
                over.push("max_output_bytes");
            }
            if head.is_empty() && kept.len() as u64 >= most(caps.files) {
                over.push("max_files");
            }
            if !over.is_empty() {
                let here = over.contains(&"max_lines_per_file");
                if reasons.is_empty() {
                    reasons = over;
                }
                if here {
                    break;
                }
                kept.extend((!head.is_empty()).then_some(head));
                return (kept, reasons);
            }
            in_file += matches;
            lines -= matches;
            bytes -= cost;
            head.push(unit.clone());
        }
        kept.extend((!head.is_empty()).then_some(head));
    }
    (kept, reasons)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_is_the_head_that_fits(
        texts in prop::collection::vec("([a-z]{0,3}x?\n){0,8}", 0..6),
        before in 0..3_usize,
        after in 0..3_usize,
        files in prop::option::of(0..4_u64),
        lines in prop::option::of(0..8_u64),
        per_file in prop::option::of(0..4_u64),
        bytes in prop::option::of(0..120_u64),
    ) {
        let caps = Caps { files, lines, per_file, bytes };
        let names: Vec<String> = (0..texts.len()).map(|n| n.to_string()).collect();
        let named: Vec<_> = names.iter().map(String::as_str).zip(&texts).collect();
        let haystacks = Haystacks::new(&named);
        let most = |cap: Option<u64>| cap.unwrap_or(u64::MAX);
        // Relative paths keep the budget of bytes small.
        let scope = Scope::new("").base(haystacks.root()).sort(SortBy::Path, Order::Ascending);
        let query = Query::new("x").before_context(before).after_context(after);
        let run = |limits: Limits, scope: Scope| {
            let search = query.clone().scope(scope).limits(limits).compile().unwrap();
            search.collect(&CancelToken::new()).unwrap()
        };
        let everything = run(Limits::new(), scope.clone());
        let all: Vec<_> = everything.files.iter().map(units).collect();
        let paths: Vec<_> =
            everything.files.iter().map(|file| file.path.as_os_str().len() as u64).collect();
        let (expected, reasons) = cut(&all, &paths, caps);

        let limits = Limits::new()
            .max_files(most(files))
            .max_lines(most(lines))
            .max_lines_per_file(most(per_file))
            .max_output_bytes(most(bytes));
        for pool in &*POOLS {
            let outcome = run(limits.clone(), scope.clone().pool(pool));
            prop_assert_eq!(outcome.files.iter().map(units).collect::<Vec<_>>(), expected.clone());
            let summary = &outcome.summary;
            prop_assert_eq!(summary.lines_matched, everything.summary.lines_matched);
            prop_assert_eq!(summary.end == End::Limit, !reasons.is_empty());
            prop_assert_eq!(summary.limit.is_some(), !reasons.is_empty());
            if let Some(limit) = summary.limit {
                prop_assert!(reasons.contains(&limit), "{} of {:?}", limit, reasons);
            }
        }
    }
}

#[test]
fn with_no_room_for_a_line_nothing_is_searched_and_that_is_said() {
    for limits in [Limits::new().max_line_buffer_bytes(0), Limits::new().max_multi_line_bytes(0)] {
        let error = Query::new("x").limits(limits).compile().unwrap_err();
        assert_eq!(error.code(), ingrep::ErrorCode::InvalidOption);
    }
}

/// A short template over a long line is a large result: it is cut by the limit on one file.
#[test]
fn replacements_are_cut_like_lines() {
    let search = Query::new("(.)")
        .replacement(Some("$1".repeat(1_000)))
        .limits(Limits::new().max_file_result_bytes(10_000))
        .compile()
        .unwrap();
    let found = search.search_slice("x", &[b'z'; 100_000]).unwrap();
    let line = found.lines().next().unwrap();
    assert_eq!(line.replacement(0).map(<[u8]>::len), Some(1_000));
    let kept: usize =
        (0..line.spans.len()).filter_map(|i| line.replacement(i)).map(<[u8]>::len).sum();
    assert!(kept <= 10_000, "{kept}");
    assert_eq!(found.matches, 100_000);
}

#[test]
fn kept_patterns_take_no_more_than_is_said_of_them() {
    let words = "[A-Z][a-z]+".repeat(40);
    let names = (0..2_000).map(|at| format!("name{}", at * 7_919)).collect::<Vec<_>>();
    for query in [
        Query::new("needle"),
        Query::new(r"(\w+)_builder(\w+)"),
        Query::new(r"\w{8}\s+\d{4}"),
        Query::new(r"(?i)\bfn\b.*\{$"),
        Query::new(r"a{500}"),
        Query::new("[ab]*a[ab]{8}"),
        Query::new(words),
        Query::many(names),
    ] {
        let cache = PatternCache::new();
        let held = allocation_counter::measure(|| {
            let search = query.clone().limits(Limits::new()).cache(&cache).compile().unwrap();
            // What is compiled for this text only is kept as well.
            search.search_slice("a", "é\n".as_bytes()).unwrap();
        });
        let (held, said) = (held.bytes_current.max(0) as usize, cache.bytes());
        assert!(held <= said, "{held} bytes are over {said}: {:?}", cache);
    }
}
