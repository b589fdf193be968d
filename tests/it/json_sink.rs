//! A second opinion on the JSON of one file: ripgrep's own printer, run on the same searcher.
//!
//! The real rg is asked about random argv elsewhere; here there is no process in between, so that
//! many more haystacks and patterns are tried, and a difference is made small by proptest.

use crate::recorded;
use grep_printer::JSONBuilder;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ingrep::CancelToken;
use ingrep::rg::Command;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A search of one named file, in the words of ripgrep's flags.
#[derive(Clone, Debug)]
struct Asked {
    patterns: Vec<String>,
    haystack: Vec<u8>,
    multiline: bool,
    dotall: bool,
    invert: bool,
    passthru: bool,
    before: usize,
    after: usize,
    terminator: Terminator,
    max_count: Option<u64>,
    stop_on_nonmatch: bool,
    replace: Option<&'static str>,
    boundary: Option<&'static str>,
    case: Option<&'static str>,
    fixed: bool,
    unicode: bool,
    text: bool,
    numbers: bool,
    whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminator {
    Lf,
    Crlf,
    Nul,
}

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

impl Asked {
    fn plain() -> Asked {
        Asked {
            patterns: Vec::new(),
            haystack: Vec::new(),
            multiline: false,
            dotall: false,
            invert: false,
            passthru: false,
            before: 0,
            after: 0,
            terminator: Terminator::Lf,
            max_count: None,
            stop_on_nonmatch: false,
            replace: None,
            boundary: None,
            case: None,
            fixed: false,
            unicode: true,
            text: false,
            numbers: true,
            whole: true,
        }
    }

    fn args(&self) -> Vec<String> {
        let mut args = vec!["--json".to_string()];
        let mut push = |on: bool, arg: &str| args.extend(on.then(|| arg.to_string()));
        // Multi-line search and stopping rule each other out; the last one counts.
        push(self.stop_on_nonmatch, "--stop-on-nonmatch");
        push(self.multiline, "-U");
        push(self.dotall, "--multiline-dotall");
        push(self.invert, "-v");
        push(self.terminator == Terminator::Crlf, "--crlf");
        push(self.terminator == Terminator::Nul, "--null-data");
        push(self.fixed, "-F");
        push(!self.unicode, "--no-unicode");
        push(self.text, "-a");
        push(!self.numbers, "-N");
        push(!self.whole, "--no-mmap");
        push(self.passthru, "--passthru");
        if !self.passthru {
            args.extend([format!("-B{}", self.before), format!("-A{}", self.after)]);
        }
        args.extend(self.max_count.map(|count| format!("-m{count}")));
        args.extend(self.replace.map(|template| format!("--replace={template}")));
        args.extend(self.boundary.into_iter().chain(self.case).map(str::to_string));
        args.extend(self.patterns.iter().map(|pattern| format!("--regexp={pattern}")));
        args.push("f".to_string());
        args
    }
}

/// What ripgrep's printer writes. `None` when the pattern is refused.
fn printed(asked: &Asked) -> Option<Vec<u8>> {
    let mut matcher = RegexMatcherBuilder::new();
    matcher.multi_line(true).unicode(asked.unicode).octal(false).fixed_strings(asked.fixed);
    match asked.case {
        Some("-i") => matcher.case_insensitive(true),
        Some("-S") => matcher.case_smart(true),
        _ => &mut matcher,
    };
    match asked.boundary {
        Some("-x") => matcher.whole_line(true),
        Some("-w") => matcher.word(true),
        _ => &mut matcher,
    };
    if asked.multiline {
        matcher.dot_matches_new_line(asked.dotall);
        if asked.terminator == Terminator::Crlf {
            matcher.crlf(true).line_terminator(None);
        }
    } else {
        matcher.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        match asked.terminator {
            Terminator::Lf => &mut matcher,
            Terminator::Crlf => matcher.crlf(true),
            Terminator::Nul => matcher.line_terminator(Some(0)),
        };
    }
    let binary = !asked.text && asked.terminator != Terminator::Nul;
    if binary {
        matcher.ban_byte(Some(0));
    }
    let mut seen = Vec::new();
    asked.patterns.iter().for_each(|pattern| {
        if !seen.contains(pattern) {
            seen.push(pattern.clone());
        }
    });
    let matcher = matcher.build_many(&seen).ok()?;
    let mut searcher = SearcherBuilder::new();
    searcher
        .line_terminator(match asked.terminator {
            Terminator::Lf => grep_matcher::LineTerminator::byte(b'\n'),
            Terminator::Crlf => grep_matcher::LineTerminator::crlf(),
            Terminator::Nul => grep_matcher::LineTerminator::byte(0),
        })
        .max_matches(asked.max_count)
        .invert_match(asked.invert)
        .line_number(asked.numbers)
        .multi_line(asked.multiline)
        .stop_on_nonmatch(asked.stop_on_nonmatch && !asked.multiline)
        .passthru(asked.passthru)
        .before_context(if asked.passthru { 0 } else { asked.before })
        .after_context(if asked.passthru { 0 } else { asked.after });
    searcher.binary_detection(match binary {
        true => BinaryDetection::convert(0),
        false => BinaryDetection::none(),
    });
    let mut searcher = searcher.build();
    let template = asked.replace.map(|template| template.as_bytes().to_vec());
    let mut printer = JSONBuilder::new().replacement(template).build(Vec::new());
    let sink = printer.sink_with_path(&matcher, Path::new("f"));
    // An empty file is never mapped.
    let searched = match asked.whole && !asked.haystack.is_empty() {
        true => searcher.search_slice(&matcher, &asked.haystack, sink),
        false => searcher.search_reader(&matcher, &asked.haystack[..], sink),
    };
    searched.ok()?;
    Some(printer.into_inner())
}

/// What we write, without the summary.
fn lines(asked: &Asked) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), &asked.haystack).unwrap();
    let output = Command::new(dir.path()).args(asked.args()).output(&CancelToken::new()).unwrap();
    let summary = output.stdout.windows(2).rposition(|end| end == b"\n{").map_or(0, |at| at + 1);
    output.stdout[..summary].to_vec()
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
