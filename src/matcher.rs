//! From a [`Query`] to a compiled matcher, and from the engine's refusals to our errors.

use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;
use crate::query::{Binary, Boundary, Case, MultiLine, Query, Terminator};
use grep_matcher::{Captures as _, Matcher as _};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;

/// A compiled query. Clones share the program but not the caches that it runs with, so each
/// worker holds one of its own.
#[derive(Clone, Debug)]
pub(crate) struct Matcher(pub(crate) RegexMatcher);

impl Matcher {
    pub(crate) fn compile(query: &Query, limits: &Limits) -> Result<Matcher> {
        let pattern_bytes: usize = query.patterns.iter().map(String::len).sum();
        if pattern_bytes > limits.max_pattern_bytes {
            let limit = limits.max_pattern_bytes;
            return Err(Error::new(
                ErrorCode::PatternTooLarge,
                format!(
                    "the patterns have {pattern_bytes} bytes, over max_pattern_bytes ({limit})"
                ),
            )
            .with_hint("search for less at a time, or raise `Limits::max_pattern_bytes`"));
        }
        match builder(query, limits).build_many(&query.patterns) {
            Ok(matcher) => Ok(Matcher(matcher)),
            Err(error) => {
                let text = error.to_string();
                Err(refusal(query, limits, &error).with_engine_text(text))
            }
        }
    }

    /// Calls `found` with the start and end, in `haystack`, of each match from `at` on, until it
    /// says false.
    pub(crate) fn for_each_match(
        &self,
        haystack: &[u8],
        at: usize,
        mut found: impl FnMut(usize, usize) -> bool,
    ) {
        self.0
            .find_iter_at(haystack, at, |m| found(m.start(), m.end()))
            .expect("this engine's error type has no public way to be made");
    }

    /// Like [`for_each_match`](Matcher::for_each_match). What the template makes of the match is
    /// appended to `replaced` before `found` is called with it.
    pub(crate) fn for_each_replaced(
        &self,
        haystack: &[u8],
        at: usize,
        template: &[u8],
        replaced: &mut Vec<u8>,
        mut found: impl FnMut(usize, usize, &mut Vec<u8>) -> bool,
    ) {
        let never = "this engine's error type has no public way to be made";
        let mut groups = self.0.new_captures().expect(never);
        self.0
            .captures_iter_at(haystack, at, &mut groups, |groups| {
                let whole = groups.get(0).expect("group 0 is the match");
                let name = |name: &str| self.0.capture_index(name);
                groups.interpolate(name, haystack, template, replaced);
                found(whole.start(), whole.end(), replaced)
            })
            .expect(never);
    }
}

/// The engine as ripgrep sets it up. The order of calls counts: `crlf` sets the line terminator.
fn builder(query: &Query, limits: &Limits) -> RegexMatcherBuilder {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(query.unicode)
        .octal(false)
        .fixed_strings(query.fixed_strings)
        .size_limit(limits.max_regex_bytes)
        .dfa_size_limit(limits.max_dfa_bytes);
    match query.case {
        Case::Sensitive => builder.case_insensitive(false),
        Case::Insensitive => builder.case_insensitive(true),
        Case::Smart => builder.case_smart(true),
    };
    match query.boundary {
        Boundary::Anywhere => &mut builder,
        Boundary::Word => builder.word(true),
        Boundary::Line => builder.whole_line(true),
    };
    let crlf = query.terminator == Terminator::Crlf;
    if query.multi_line == MultiLine::Off {
        builder.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        if crlf {
            builder.crlf(true);
        }
        if query.terminator == Terminator::Nul {
            builder.line_terminator(Some(0));
        }
    } else {
        builder.dot_matches_new_line(query.multi_line == MultiLine::DotAll);
        if crlf {
            builder.crlf(true).line_terminator(None);
        }
    }
    // A NUL cannot be found where binary detection takes it for the end of the text.
    if query.binary != Binary::Text && query.terminator != Terminator::Nul {
        builder.ban_byte(Some(0));
    }
    builder
}

fn refusal(query: &Query, limits: &Limits, error: &grep_regex::Error) -> Error {
    match error.kind() {
        ErrorKind::NotAllowed(literal) => Error::new(
            ErrorCode::InvalidPattern,
            format!("the literal {literal:?} is a line terminator and cannot match within a line"),
        )
        .with_hint("search across lines with `multi_line`, or leave it out of the pattern"),
        ErrorKind::Banned(byte) => Error::new(
            ErrorCode::InvalidPattern,
            format!("the pattern contains {byte:#04x}, which cannot match while binary files are detected"),
        )
        .with_hint("search binary files as text with `Binary::Text`"),
        ErrorKind::Regex(message) if message.starts_with("compiled regex exceeds size limit") => {
            let limit = limits.max_regex_bytes;
            Error::new(
                ErrorCode::PatternTooLarge,
                format!("the compiled pattern is over max_regex_bytes ({limit})"),
            )
            .with_hint("use smaller counted repetitions, or raise `Limits::max_regex_bytes`")
        }
        ErrorKind::Regex(message) => syntax_error(query).unwrap_or_else(|| {
            Error::new(ErrorCode::InvalidPattern, message.clone())
        }),
        other => Error::new(ErrorCode::InvalidPattern, format!("{other:?}")),
    }
}

/// The engine tells a syntax error as a page of text, about all patterns joined into one. Parsing
/// them again one by one tells which it is, and where in it.
fn syntax_error(query: &Query) -> Option<Error> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .multi_line(true)
        .unicode(query.unicode)
        .crlf(query.terminator == Terminator::Crlf)
        .build();
    query.patterns.iter().enumerate().find_map(|(index, pattern)| {
        let error = parser.parse(pattern).err()?;
        let (span, kind, hint) = match &error {
            regex_syntax::Error::Parse(error) => {
                (error.span(), error.kind().to_string(), hint(error.kind()))
            }
            regex_syntax::Error::Translate(error) => (error.span(), error.kind().to_string(), None),
            _ => return None,
        };
        let hint =
            hint.unwrap_or("write special characters with a `\\`, or search for fixed strings");
        Some(
            Error::new(ErrorCode::InvalidPattern, format!("regex parse error: {kind}"))
                .with_span(index, span.start.offset..span.end.offset)
                .with_hint(hint),
        )
    })
}

fn hint(kind: &ast::ErrorKind) -> Option<&'static str> {
    use ast::ErrorKind::*;
    Some(match kind {
        UnsupportedLookAround | UnsupportedBackreference => {
            "look-around and back-references do not exist here; match more, and filter the lines"
        }
        RepetitionCountUnclosed
        | RepetitionCountInvalid
        | RepetitionCountDecimalEmpty
        | DecimalEmpty
        | DecimalInvalid => "a literal `{` is written `\\{`",
        RepetitionMissing => "a literal `*`, `+`, `?` or `{` is written with a `\\` before it",
        GroupUnclosed => "a literal `(` is written `\\(`",
        GroupUnopened => "a literal `)` is written `\\)`",
        ClassUnclosed => "a literal `[` is written `\\[`",
        EscapeUnrecognized => "a literal backslash is written `\\\\`",
        NestLimitExceeded(_) => "nest fewer groups",
        _ => return None,
    })
}
