//! Patterns and globs made to hurt whoever compiles them or searches with them, and texts for them.

use super::own_process::{OwnProcess, is_own, peak_bytes};
use super::watched::{watched, watched_for};
use super::{Tree, here};
use ingrep::{
    Binary, Boundary, CancelToken, Case, End, ErrorCode, Limits, MultiLine, Query, Scope,
    WalkLimits,
};
use std::thread;
use std::time::{Duration, Instant};

/// When a search is stopped that would otherwise take long.
const PATIENCE: Duration = Duration::from_millis(20);

/// Searches a tree with one file, and stops after a while; returns why the search ended, and how
/// long that took from the stop on.
fn stopped(query: Query, text: Vec<u8>) -> (End, Duration) {
    let tree = Tree::new("");
    std::fs::write(tree.path().join("text"), text).unwrap();
    watched(move || {
        let search = query.scope(here(&tree)).compile().unwrap();
        let token = CancelToken::new();
        let cancel = {
            let token = token.clone();
            thread::spawn(move || {
                thread::sleep(PATIENCE);
                token.cancel();
                Instant::now()
            })
        };
        let summary = search.collect(&token).unwrap().summary;
        let back = Instant::now();
        (summary.end, back.saturating_duration_since(cancel.join().unwrap()))
    })
}

fn line(piece: &str, bytes: usize) -> Vec<u8> {
    piece.as_bytes().iter().copied().cycle().take(bytes).collect()
}

#[test]
fn a_stop_is_seen_within_one_line_whatever_the_pattern() {
    const MIB: usize = 1 << 20;
    let across = |pattern: &str| Query::new(pattern).multi_line(MultiLine::DotAll);
    let replaced = |pattern: &str| Query::new(pattern).replacement(Some("$1"));
    for (case, query, text) in [
        ("many places", Query::new("[ab]*a[ab]{20000}c"), line("ab", 4 * MIB)),
        ("many letters", Query::new("(?:a.{0,1000}){3}c"), line("ab", 4 * MIB)),
        ("many states", Query::new("[01]*1[01]{200}x"), line("0110100110010110", 8 * MIB)),
        ("no ASCII", Query::new(r"\b[éa]*a[éa]{3000}c"), line("éaaéé", 4 * MIB)),
        ("no bound", Query::new(r"(?:\w+\s*)+{50}x"), line("ab é", 8 * MIB)),
        ("many lines", Query::new("[ab]*a[ab]{20000}c"), line(&("ab".repeat(500) + "\n"), 8 * MIB)),
        (
            "long lines",
            Query::new("[ab]*a[ab]{20000}c"),
            line(&("ab".repeat(50_000) + "\n"), 8 * MIB),
        ),
        ("across lines", across("a.*b.{5000}c"), line("ab\n", 32 * MIB)),
        ("across lines, bounded", across("a.{5000}c"), line("ab\n", 32 * MIB)),
        (
            "a file",
            Query::new(r"[ab\n]*a[ab\n]{9000}c").multi_line(MultiLine::On),
            line("abb\n", 32 * MIB),
        ),
        ("a word", Query::new("[ab]*a[ab]{20000}c").boundary(Boundary::Word), line("ab", 4 * MIB)),
        ("inverted", Query::new("[ab]*a[ab]{20000}c").invert(true), line("ab", 4 * MIB)),
        ("groups", replaced("([ab]*)a[ab]{20000}c"), line("ab", 4 * MIB)),
        ("groups, found", replaced("([ab]|x)*(a)[ab]{9000}"), line("ab", 4 * MIB)),
    ] {
        let (end, late) = stopped(query.binary(Binary::Text), text);
        eprintln!("{case}: back {late:?} after the stop");
        assert_eq!(end, End::Cancelled, "{case}");
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn the_cache_of_the_engine_stays_small_itself() {
    if !is_own() {
        return;
    }
    let query = || Query::new("[01]*1[01]{200}");
    // Whether it is stopped or gets to the end by itself depends on the machine.
    stopped(query(), line("0110100110010110100101100110100", 1 << 24));
    let peak = peak_bytes();
    assert!(peak < 160 << 20, "{peak} bytes");
}

#[test]
fn the_cache_of_the_engine_stays_small() {
    OwnProcess::new("patterns::the_cache_of_the_engine_stays_small_itself").passes();
}

#[track_caller]
fn refused(query: Query, code: ErrorCode, word: &'static str) {
    let started = Instant::now();
    // With as much stack as the least thread has.
    let error = watched_for(Duration::from_secs(20), 256 << 10, move || {
        query.compile().map(|_| ()).unwrap_err()
    });
    assert_eq!(error.code(), code, "{error}");
    assert!(format!("{error:?}").contains(word), "{error:?} says {word}");
    eprintln!("{word}: refused after {:?}", started.elapsed());
}

#[test]
fn too_many_or_too_long_patterns_are_refused_before_they_are_parsed() {
    use ErrorCode::PatternTooLarge;
    let numbers = |n: usize| (0..n).map(|n| format!("{n:x}")).collect::<Vec<_>>();
    refused(Query::many(numbers(100_001)), PatternTooLarge, "max_patterns");
    let words = Query::many(numbers(50_000)).case(Case::Insensitive);
    refused(words.fixed_strings(true), PatternTooLarge, "max_pattern_bytes");
    refused(Query::new("x".repeat((1 << 20) + 1)), PatternTooLarge, "max_literal_bytes");
    refused(Query::new("|".repeat(1 << 20)), PatternTooLarge, "max_pattern_bytes");
    refused(Query::new(format!("[{}]", "é".repeat(1 << 20))), PatternTooLarge, "max_pattern_bytes");
    // Plain text may be longer.
    let search = watched(move || Query::many(numbers(100_000)).compile().unwrap());
    assert_eq!(search.search_slice("x", b"zz\nfff\n").unwrap().lines_matched, 1);
    refused(Query::new(r"\w{1000}".repeat(10)), PatternTooLarge, "max_regex_bytes");
}

#[test]
fn what_is_nested_too_deep_is_refused_and_what_is_not_fits_into_a_small_stack() {
    let nested = |n: usize| format!("{}a+{}", "(".repeat(n), ")*".repeat(n));
    refused(Query::new(nested(10_000)), ErrorCode::InvalidPattern, "max_nesting");
    // A group and its repetition are two levels.
    refused(Query::new(nested(60)), ErrorCode::InvalidPattern, "max_nesting");
    let deep = nested(45);
    let text = [line("a", 1 << 20), b"\n".to_vec()].concat();
    let lines = watched_for(Duration::from_secs(60), 256 << 10, move || {
        let found = Query::new(deep).compile().unwrap().search_slice("x", &text);
        found.unwrap().lines_matched
    });
    assert_eq!(lines, 1);
}

#[test]
fn repetitions_of_nothing_and_of_repetitions_are_searched_like_any_other() {
    for (pattern, expected) in [("(?:){4294967295}", 2), ("(x+x+)+y", 0), ("(a?){30}a{30}", 1)] {
        let found = watched(move || {
            let text = [line("x", 1 << 20), b"\n".to_vec(), line("a", 30)].concat();
            Query::new(pattern).compile().unwrap().search_slice("x", &text).unwrap().lines_matched
        });
        assert_eq!(found, expected, "{pattern}");
    }
}

/// Lists a deep tree under a glob.
fn listed(tree: &Tree, glob: String, limits: WalkLimits) -> Result<usize, ErrorCode> {
    let scope = Scope::new(tree.path()).glob(glob).limits(limits);
    watched(move || match scope.files(&CancelToken::new()) {
        Ok(files) => Ok(files.count()),
        Err(error) => Err(error.code()),
    })
}

#[test]
fn hostile_globs_are_matched_soon_or_refused() {
    let tree = Tree::new("");
    let deep = tree.path().join(vec!["a"; 1_900].join("/"));
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("b"), "").unwrap();
    let limits = WalkLimits::new();
    for (glob, expected) in [
        ("(**/a/)".repeat(500), Ok(0)),
        ("**/a/".repeat(800) + "b", Ok(1)),
        ("{".repeat(4_000), Err(ErrorCode::InvalidGlob)),
        ("{a,".repeat(1_000) + &"}".repeat(1_000), Err(ErrorCode::InvalidGlob)),
        ("?".repeat(4_096), Ok(0)),
        ("*".repeat(4_096), Ok(1)),
        ("*a".repeat(2_048), Ok(0)),
        (format!("[{}]", "a-z".repeat(1_300)), Ok(1)),
        ("?".repeat(4_097), Err(ErrorCode::InvalidGlob)),
    ] {
        let started = Instant::now();
        let found = listed(&tree, glob.clone(), limits.clone());
        eprintln!("{:.12}: {found:?} after {:?}", glob, started.elapsed());
        assert_eq!(found, expected, "{glob:.12}");
    }
    // A limit that is raised leaves it to the compiler of globs, which has one of its own.
    let raised = WalkLimits::new().max_glob_bytes(usize::MAX).max_glob_list_bytes(usize::MAX);
    assert_eq!(listed(&tree, "?".repeat(5_000), raised.clone()), Ok(0));
    assert_eq!(listed(&tree, "?".repeat(1 << 20), raised), Err(ErrorCode::InvalidGlob));
}

#[test]
fn what_the_engine_gets_wrong_is_refused_and_never_a_panic() {
    let text = "aaa\nbbb\n\n\nccc\nddd\n";
    let query = Query::new(r"\n\n").multi_line(MultiLine::On).invert(true).context(1);
    refused(query.max_count(Some(1)), ErrorCode::InvalidOption, "max_count");
    // ripgrep panics over this.
    let tree = Tree::new("");
    std::fs::write(tree.path().join("text"), text).unwrap();
    let argv = ["-U", "-v", "-C1", "-m1", r"\n\n", "text"];
    let command = ingrep::rg::Command::new(tree.path()).args(argv);
    let output = watched(move || command.output(&CancelToken::new()).unwrap());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.code, 2, "{told}");
    assert!(told.contains("text: "), "{told}");
}

#[test]
fn very_many_context_lines_are_refused_and_those_of_the_command_line_are_served() {
    for query in [Query::new("x").before_context(10_001), Query::new("x").after_context(usize::MAX)]
    {
        refused(query, ErrorCode::InvalidOption, "max_context_lines");
    }
    let text = "y\n".repeat(200_000) + "x\n" + &"y\n".repeat(200_000);
    let most = Query::new("x").context(10_000).compile().unwrap();
    assert_eq!(most.search_slice("x", text.as_bytes()).unwrap().lines().len(), 20_001);
    let all = Limits::new().max_context_lines(usize::MAX);
    let all = Query::new("x").context(1_000_000).limits(all).compile().unwrap();
    assert_eq!(all.search_slice("x", text.as_bytes()).unwrap().lines().len(), 400_001);
    let tree = Tree::new("");
    std::fs::write(tree.path().join("text"), &text).unwrap();
    let command = ingrep::rg::Command::new(tree.path()).args(["-C", "1000000", "x", "text"]);
    let output = watched(move || command.output(&CancelToken::new()).unwrap());
    assert_eq!((output.code, output.stdout.len()), (0, text.len()));
}
