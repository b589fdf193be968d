//! What a failed call says, and what the types around it promise.

use crate::haystacks::Haystacks;
use ingrep::{
    CancelGuard, CancelToken, Diagnostic, Encoding, End, Error, ErrorCode, FileMatches, Files,
    IgnoreRules, Limits, Matches, MultiLine, Outcome, Pool, Progress, Query, Reason, Result, Scope,
    Search, SearchBuilder, Summary,
};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Default)]
struct Said<'a> {
    message: &'a str,
    path: Option<&'a Path>,
    span: Option<(usize, std::ops::Range<usize>)>,
}

fn said(message: &str) -> Said<'_> {
    Said { message, ..Said::default() }
}

#[track_caller]
fn check<T>(result: Result<T>, code: ErrorCode, expected: Said<'_>) -> ErrorCode {
    let error = result.err().expect("the call fails");
    assert_eq!(error.code(), code, "{error:?}");
    let message = error.message();
    assert!(message.contains(expected.message), "{message:?} says {:?}", expected.message);
    assert_eq!(error.path(), expected.path);
    assert_eq!(error.pattern_index().zip(error.span()), expected.span);
    assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{error:?} says what to try");
    assert!(!message.ends_with('.') && !message.contains('\n'), "{message:?}");
    assert!(!message.starts_with(char::is_uppercase) || error.path().is_some(), "{message:?}");
    if let Some(path) = error.path() {
        assert_eq!(error.to_string(), format!("{}: {message}", path.display()));
    }
    code
}

fn list(scope: Scope) -> Result<Files> {
    scope.files(&CancelToken::new())
}

#[test]
fn every_code_is_reached_and_says_what_happened_where_and_what_to_try() {
    use ErrorCode::*;
    let haystacks = Haystacks::new(&[("long", "x".repeat(200_000) + "\n")]);
    let (root, long) = (haystacks.root(), haystacks.path("long"));
    let at = |span| Some((0, span));
    let reached = [
        check(Query::new("").compile(), EmptyPattern, Said { span: at(0..0), ..said("empty") }),
        check(
            Query::many(["a", ""]).compile(),
            EmptyPattern,
            Said { span: Some((1, 0..0)), ..said("empty") },
        ),
        check(Query::many([""; 0]).compile(), EmptyPattern, said("no pattern")),
        check(
            Query::new("fn (").compile(),
            InvalidPattern,
            Said { span: at(3..4), ..said("regex parse error: unclosed group") },
        ),
        check(
            Query::many(["a", "é[b"]).compile(),
            InvalidPattern,
            Said { span: Some((1, 2..3)), ..said("unclosed character class") },
        ),
        check(
            Query::new("a{2,1}").compile(),
            InvalidPattern,
            Said { span: at(1..6), ..said("repetition") },
        ),
        check(
            Query::new("(?=a)").compile(),
            InvalidPattern,
            Said { span: at(0..3), ..said("look-around") },
        ),
        check(
            Query::new(r"\pZoo{").compile(),
            InvalidPattern,
            Said { span: at(5..6), ..said("repetition") },
        ),
        check(Query::new(r"a\nb").compile(), InvalidPattern, said("line terminator")),
        check(Query::new(r"a\x00").compile(), InvalidPattern, said("0x00")),
        check(Query::new("a{1000}{1000}").compile(), PatternTooLarge, said("max_regex_bytes")),
        check(
            Query::new("abc").limits(Limits::new().max_literal_bytes(2)).compile(),
            PatternTooLarge,
            said("the patterns have 3 bytes, over max_literal_bytes (2)"),
        ),
        check(list(Scope::new(root).glob("[")), InvalidGlob, said("[")),
        check(list(Scope::new(root).file_type("cobold")), UnknownType, said("cobold")),
        check(list(Scope::new(root).define_type("x")), InvalidTypeDefinition, said("")),
        check(
            Query::new("a").encoding(Encoding::Label("utf-99".to_string())).compile(),
            UnknownEncoding,
            said("unknown encoding: utf-99"),
        ),
        check(Query::new("a").passthru(true).context(1).compile(), InvalidOption, said("passthru")),
        check(
            Query::new("a").multi_line(MultiLine::On).stop_on_nonmatch(true).compile(),
            InvalidOption,
            said("stop_on_nonmatch"),
        ),
        check(
            Query::new("a").multi_line(MultiLine::On).invert(true).max_count(Some(1)).compile(),
            InvalidOption,
            said("max_count"),
        ),
        check(
            Query::new("a").compile().unwrap().collect(&CancelToken::new()),
            NoRoot,
            said("no scope"),
        ),
        check(list(Scope::many([""; 0])), NoRoot, said("no directory or file")),
        check(
            list(Scope::new(root.join("gone"))),
            RootNotFound,
            Said { path: Some(&root.join("gone")), ..said("No such file") },
        ),
        check(
            Query::new("a").compile().unwrap().search_file(root.join("gone")),
            RootNotFound,
            Said { path: Some(&root.join("gone")), ..said("No such file") },
        ),
        check(
            list(Scope::new(root.join("n".repeat(300)))),
            RootUnreadable,
            Said { path: Some(&root.join("n".repeat(300))), ..said("too long") },
        ),
        check(
            list(Scope::new("/dev/null")),
            SpecialFile,
            Said { path: Some(Path::new("/dev/null")), ..said("neither") },
        ),
        check(
            list(Scope::new("..").base(root).confine(root)),
            RootOutside,
            Said { path: Some(Path::new("..")), ..said("outside of the directory") },
        ),
        check(
            crate::hostile::stuck::threads_stuck(),
            ThreadsStuck,
            Said { path: None, ..said("1 threads are stuck") },
        ),
        check(
            Query::new("a").compile().unwrap().search_file("/dev/null"),
            SpecialFile,
            Said { path: Some(Path::new("/dev/null")), ..said("not a regular file") },
        ),
        check(
            Query::new("a").compile().unwrap().search_file(root.join("n".repeat(300))),
            Io,
            Said { path: Some(&root.join("n".repeat(300))), ..said("too long") },
        ),
        check(
            Query::new("a")
                .limits(Limits::new().max_line_buffer_bytes(100_000))
                .compile()
                .unwrap()
                .search_file(&long),
            LimitExceeded,
            Said { path: Some(&long), ..said("a line is over max_line_buffer_bytes (100000)") },
        ),
    ];
    let reached: BTreeSet<_> = reached.into_iter().collect();
    let mut all: BTreeSet<_> = ErrorCode::ALL.iter().copied().collect();
    // Only a fault of ours leads there.
    all.remove(&Internal);
    assert_eq!(reached, all);
}

/// Programs and logs know these words: a line may be added here, never changed or removed.
#[test]
fn the_words_for_codes_reasons_and_ends_stay() {
    let ends = [End::Complete, End::Limit, End::Stopped, End::Cancelled, End::DeadlinePassed];
    let words = ErrorCode::ALL
        .iter()
        .map(|code| format!("error {code}\n"))
        .chain(Reason::ALL.iter().map(|reason| format!("reason {}\n", reason.as_str())))
        .chain(ends.iter().map(|end| format!("end {}\n", end.as_str())));
    assert_eq!(words.collect::<String>(), include_str!("../../fixtures/codes.txt"));
}

#[test]
fn an_error_in_the_log_has_all_its_parts() {
    let error = Query::new("fn (").compile().unwrap_err();
    let debug = format!("{error:?}");
    for part in ["InvalidPattern", "unclosed group", "3..4", "hint"] {
        assert!(debug.contains(part), "{debug}");
    }
    let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
    assert_eq!(boxed.to_string(), "regex parse error: unclosed group");
}

#[test]
fn an_error_is_one_word_wide() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Error>>(), size_of::<usize>());
}

/// What async runtimes and bindings rely on, checked by the compiler.
#[test]
fn values_travel_between_threads() {
    fn everywhere<T: Send + Sync + Unpin + 'static>() {}
    fn anywhere<T: Send + Unpin + 'static>() {}
    everywhere::<Search>();
    everywhere::<SearchBuilder>();
    everywhere::<Query>();
    everywhere::<Scope>();
    everywhere::<IgnoreRules>();
    everywhere::<Limits>();
    everywhere::<Pool>();
    everywhere::<Progress>();
    everywhere::<CancelToken>();
    everywhere::<CancelGuard>();
    everywhere::<Error>();
    everywhere::<Diagnostic>();
    everywhere::<FileMatches>();
    everywhere::<Outcome>();
    everywhere::<Summary>();
    anywhere::<Matches>();
    anywhere::<Files>();
}
