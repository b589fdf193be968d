//! A second opinion on the JSON of one file: ripgrep's own printer, run on the same searcher.
//!
//! The real rg is asked about random argv elsewhere; here there is no process in between, so that
//! many more haystacks and patterns are tried, and a difference is made small by proptest.

mod asked;

use crate::recorded;
use asked::{Asked, Terminator, lines, printed};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::rg_random::number("INGREP_RANDOM_ARGV").map_or(300, |count| count as u32),
        // A difference becomes a recorded case, or a case of its own below.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn one_file_is_printed_as_ripgreps_printer_does(asked in asked()) {
        // A panic of the printer is nothing to be like; that we do not panic there is the point.
        let theirs = catch_unwind(AssertUnwindSafe(|| printed(&asked)));
        let ours = lines(&asked);
        if let Ok(Some(theirs)) = theirs {
            prop_assert_eq!(shown(&ours), shown(&theirs));
        }
    }
}

/// Known to make the printer panic (ripgrep's issue 3180): a match that, looked for again with
/// what stands behind its lines cut off, ends behind them. We clamp it.
#[test]
fn a_match_that_ends_behind_its_lines_is_cut_off_where_the_printer_panics() {
    let asked = Asked {
        patterns: vec![r"(^|[^a-z])((([a-z]+)?)\s)?b(\s([a-z]+)?)($|[^a-z])".to_string()],
        haystack: b" b b b b b b b b\nc\n".to_vec(),
        multiline: true,
        ..Asked::plain()
    };
    assert!(catch_unwind(|| printed(&asked)).is_err());
    let ours = String::from_utf8(lines(&asked)).unwrap();
    assert!(ours.ends_with("}\n") && ours.contains("\"type\":\"end\""), "{ours}");
}

/// Found by fuzzing: the searcher that ripgrep has reads across lines in small pieces, into which the
/// transcoder does not get all of the U+FFFD for a last character of which half is missing.
///
/// The real rg says both of this file. It loses the end where it maps it as the first that a thread
/// searches, and has it whole with `--no-mmap`, or after a file of a few kilobytes on the same thread,
/// for the buffer from then on has room. We have one answer, the one in which nothing is lost.
#[test]
fn an_incomplete_last_character_of_utf_16_is_told_whole_where_the_printer_cuts_it() {
    let asked = Asked {
        patterns: vec![r"\s*".to_string()],
        haystack: b"\xff\xfe\0\0\0\nfoo".to_vec(),
        multiline: true,
        passthru: true,
        ..Asked::plain()
    };
    let (ours, theirs) = (shown(&lines(&asked)), shown(&printed(&asked).unwrap()));
    assert!(ours.contains("\"lines\":{\"text\":\"\\u0000\u{a00}\u{6f66}\u{fffd}\"}"), "{ours}");
    assert!(theirs.contains("\"lines\":{\"bytes\":\"AOCogOa9pu8=\"}"), "{theirs}");
}

fn shown(lines: &[u8]) -> String {
    String::from_utf8(recorded::without_times(lines)).unwrap()
}

fn asked() -> impl Strategy<Value = Asked> {
    let any = || prop::bool::ANY;
    let some = |percent: u32| prop::bool::weighted(f64::from(percent) / 100.0);
    let max_count = prop_oneof![4 => Just(None), 1 => (1..4_u64).prop_map(Some)];
    let terminator = prop_oneof![
        4 => Just(Terminator::Lf),
        2 => Just(Terminator::Crlf),
        1 => Just(Terminator::Nul)
    ];
    let replace =
        prop::sample::select(vec![None, None, Some(""), Some("<$0>"), Some("$1$n$$"), Some("\n")]);
    let boundary = prop::sample::select(vec![None, None, None, Some("-w"), Some("-x")]);
    let case = prop::sample::select(vec![None, None, Some("-i"), Some("-S")]);
    (
        (prop::collection::vec(pattern(), 1..3), haystack()),
        (any(), any(), some(20), some(15), 0..3_usize, 0..3_usize),
        (terminator, max_count, some(15), replace, boundary, case),
        (some(8), some(85), some(30), some(90), any()),
    )
        .prop_map(|((patterns, haystack), lines, what, how)| {
            let (multiline, dotall, invert, passthru, before, after) = lines;
            let (terminator, max_count, stop_on_nonmatch, replace, boundary, case) = what;
            let (fixed, unicode, text, numbers, whole) = how;
            Asked {
                patterns,
                haystack,
                multiline,
                dotall,
                invert,
                passthru,
                before,
                after,
                terminator,
                max_count,
                stop_on_nonmatch,
                replace,
                boundary,
                case,
                fixed,
                unicode,
                text,
                numbers,
                whole,
                regex_bytes: None,
            }
        })
}

fn haystack() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        &b"foo"[..],
        b"b",
        b"a",
        b"Foo",
        b" ",
        b"  ",
        b"\n",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xc3",
        "é".as_bytes(),
        "σΣ".as_bytes(),
        b"_1",
        b"-",
        b"\xef\xbb\xbf",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

fn pattern() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "foo",
        "a",
        "b",
        "o",
        ".",
        r"\w",
        r"\s",
        r"\s*",
        "[a-z]+",
        "[^a]",
        r"\b",
        r"\B",
        "^",
        "$",
        r"\n",
        r"\r",
        r"\r\n",
        r"(foo|b)",
        "(?P<n>o+)",
        "(?i)FOO",
        r"(?-u)\xff",
        r"(?-u:\xC3)",
        ".*",
        ".+?",
        r"\S+",
        r"\A",
        r"\z",
        "(?s).",
        "",
        "|",
        r"[\s\S]",
        "é",
        "σ",
        "(a)?",
        r"\x00",
        "(?-m)^",
        "(?-m)$",
        r"(^|\s)",
        r"($|\s)",
        r"\n+",
        r"\n*",
        r"\W",
        r"b\n",
    ]);
    prop::collection::vec(atom, 1..4).prop_map(|atoms| atoms.concat())
}
