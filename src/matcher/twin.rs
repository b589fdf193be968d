//! The pattern of a query once more, for text that is all ASCII.
//!
//! A class such as `\w` has eight hundred ranges of characters, and compiling it takes milliseconds,
//! of which a search of some hundred small files has none. Of its ASCII part it takes microseconds.

use super::pattern;
use crate::limits::Limits;
use crate::query::{Boundary, Case, Encoding, Query};
use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind, Look};
use regex_syntax::utf8::Utf8Sequences;

/// With fewer bytes in the characters of its classes, a pattern is compiled about as fast itself.
const MIN_CLASS_BYTES: usize = 96;

/// Longer patterns are not parsed once more.
const MAX_PATTERN_BYTES: usize = 4 << 10;

/// A larger program is not left for later: nobody can stop those who wait for it.
const MAX_POSTPONED_BYTES: usize = 4 << 20;

/// What the engine's compiler takes at most for one byte of a character or text, while it works.
const BYTES_PER_BYTE: usize = 64;

/// What it takes at most for anything else: a repetition, a group, an assertion.
const BYTES_PER_PART: usize = 256;

/// What it takes for the smallest pattern, between assertions of the query.
const BYTES_AT_LEAST: usize = 2 << 10;

/// A query that finds in ASCII what this one does. `None` where it would not pay, and where the
/// pattern may be one that the engine refuses, which has to be told when it is compiled.
pub(super) fn of(query: &Query, limits: &Limits) -> Option<Query> {
    of_those_with(MIN_CLASS_BYTES, query, limits)
}

fn of_those_with(min_class_bytes: usize, query: &Query, limits: &Limits) -> Option<Query> {
    // Under a label, ASCII bytes can be the text of anything.
    let decoded = matches!(query.encoding, Encoding::Label(_));
    let is_long = query.patterns.iter().map(String::len).sum::<usize>() > MAX_PATTERN_BYTES;
    if !query.unicode || decoded || is_long || pattern::is_plain(query) {
        return None;
    }
    let hir = pattern::parse(query, limits.max_nesting)?;
    let weight = Weight::of(&hir);
    let pays = weight.class_bytes >= min_class_bytes;
    if !pays || weight.program_bytes() > MAX_POSTPONED_BYTES.min(limits.max_regex_bytes) {
        return None;
    }
    rewritten(Beyond::Nothing, &hir, query)
}

/// A query that finds something in each line in which this one does, and in some more: any bytes
/// beyond ASCII pass for any character there, and no border of words is one. It is only for queries that
/// have a twin.
pub(super) fn hint(query: &Query, limits: &Limits) -> Option<Query> {
    let hir = rewritten(Beyond::Anything, &pattern::parse(query, limits.max_nesting)?, query)?;
    let is_line = query.boundary == Boundary::Line;
    Some(hir.boundary(if is_line { Boundary::Line } else { Boundary::Anywhere }))
}

fn rewritten(beyond: Beyond, hir: &Hir, query: &Query) -> Option<Query> {
    let mut writer = Writer { beyond, text: String::new(), groups: 0 };
    writer.write(&pattern::strip(hir.clone(), pattern::terminators(query)))?;
    Some(Query {
        patterns: vec![writer.text],
        fixed_strings: false,
        case: Case::Sensitive,
        unicode: false,
        ..query.clone()
    })
}

/// What a class has beyond ASCII.
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    Nothing,
    Anything,
}

/// What a query's program takes at most, about.
pub(super) fn program_bytes(query: &Query, limits: &Limits) -> usize {
    let text: usize = query.patterns.iter().map(|text| text.len() + 1).sum();
    if pattern::is_plain(query) {
        return BYTES_AT_LEAST + BYTES_PER_BYTE * text;
    }
    let is_short = text <= MAX_PATTERN_BYTES;
    let hir = is_short.then(|| pattern::parse(query, limits.max_nesting)).flatten();
    let estimated = hir.map_or(usize::MAX, |hir| Weight::of(&hir).program_bytes());
    // Of more than that, only that it was not refused is known.
    if estimated > MAX_POSTPONED_BYTES { limits.max_regex_bytes } else { estimated }
}

/// How large a pattern is when all its repetitions are written out.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// In the ranges of bytes that make up the characters of classes.
    class_bytes: usize,
    /// In texts.
    bytes: usize,
    parts: usize,
}

impl Weight {
    fn of(hir: &Hir) -> Weight {
        let one = Weight { parts: 1, ..Weight::default() };
        let sum = |parts: &[Hir]| {
            // What is too large already need not be known: a class takes as long as a short search.
            let add = |sum: Weight, part| match sum.program_bytes() > MAX_POSTPONED_BYTES {
                true => sum,
                false => sum.plus(Weight::of(part)),
            };
            parts.iter().fold(one, add)
        };
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => one,
            HirKind::Literal(literal) => Weight { bytes: literal.0.len(), ..one },
            HirKind::Class(Class::Bytes(class)) => Weight { bytes: class.ranges().len(), ..one },
            HirKind::Class(Class::Unicode(class)) => {
                let sequences = |range: &ClassUnicodeRange| {
                    Utf8Sequences::new(range.start(), range.end())
                        .map(|bytes| bytes.len())
                        .sum::<usize>()
                };
                Weight { class_bytes: class.ranges().iter().map(sequences).sum(), ..one }
            }
            HirKind::Capture(capture) => Weight::of(&capture.sub).plus(one).plus(one),
            HirKind::Repetition(repetition) => {
                let times = repetition.max.unwrap_or(0).max(repetition.min).saturating_add(1);
                Weight::of(&repetition.sub).plus(one).times(times as usize)
            }
            HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
        }
    }

    fn plus(self, other: Weight) -> Weight {
        Weight {
            class_bytes: self.class_bytes.saturating_add(other.class_bytes),
            bytes: self.bytes.saturating_add(other.bytes),
            parts: self.parts.saturating_add(other.parts),
        }
    }

    fn times(self, times: usize) -> Weight {
        Weight {
            class_bytes: self.class_bytes.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            parts: self.parts.saturating_mul(times),
        }
    }

    fn program_bytes(self) -> usize {
        let bytes = self.class_bytes.saturating_add(self.bytes).saturating_mul(BYTES_PER_BYTE);
        let parts = self.parts.saturating_mul(BYTES_PER_PART);
        bytes.saturating_add(parts).saturating_add(BYTES_AT_LEAST)
    }
}

/// What an engine refuses in a text or as all of a class, under this or that option.
fn may_be_refused(byte: u8) -> bool {
    matches!(byte, 0 | b'\r' | b'\n')
}

/// Of a class, by its ranges; it is refused when there is nothing else in it.
fn all_may_be_refused(mut ranges: impl Iterator<Item = (u32, u32)>) -> bool {
    ranges.all(|(start, end)| {
        (start..=end).all(|value| u8::try_from(value).is_ok_and(may_be_refused))
    })
}

/// Writes the pattern down again, without what is not in ASCII. regex-syntax would do that, but writes
/// `(?:a{2})?` as `a{2}?`.
struct Writer {
    beyond: Beyond,
    text: String,
    groups: u32,
}

impl Writer {
    /// `None` where the engine may refuse the pattern, and where a group would get another number.
    fn write(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => self.text.push_str("(?:)"),
            HirKind::Literal(literal) => match &*literal.0 {
                bytes if bytes.iter().copied().any(may_be_refused) => return None,
                bytes if bytes.is_ascii() || self.beyond == Beyond::Anything => {
                    bytes.iter().for_each(|&byte| self.byte(byte))
                }
                _ => self.text.push_str(NEVER),
            },
            HirKind::Class(Class::Unicode(class)) => {
                self.class(
                    class.ranges().iter().map(|range| (range.start().into(), range.end().into())),
                )?;
            }
            HirKind::Class(Class::Bytes(class)) => {
                self.class(
                    class.ranges().iter().map(|range| (range.start().into(), range.end().into())),
                )?;
            }
            HirKind::Look(look) => self.text.push_str(match self.beyond {
                Beyond::Anything if is_word_border(*look) => "(?:)",
                _ => assertion(*look),
            }),
            HirKind::Repetition(repetition) => {
                let sub = &*repetition.sub;
                match sub.kind() {
                    HirKind::Class(_) | HirKind::Capture(_) => self.write(sub)?,
                    _ => self.grouped("(?:", sub)?,
                }
                let max = repetition.max.map_or(String::new(), |max| max.to_string());
                let lazy = if repetition.greedy { "" } else { "?" };
                self.text.push_str(&format!("{{{},{max}}}{lazy}", repetition.min));
            }
            HirKind::Capture(capture) => {
                // A group in `(…){0}` is not there any more, and those behind it would move up.
                self.groups += 1;
                if capture.index != self.groups {
                    return None;
                }
                match &capture.name {
                    Some(name) => self.grouped(&format!("(?P<{name}>"), &capture.sub)?,
                    None => self.grouped("(", &capture.sub)?,
                }
            }
            HirKind::Concat(parts) => {
                for part in parts {
                    match part.kind() {
                        HirKind::Alternation(_) => self.grouped("(?:", part)?,
                        _ => self.write(part)?,
                    }
                }
            }
            HirKind::Alternation(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        self.text.push('|');
                    }
                    self.write(part)?;
                }
            }
        }
        Some(())
    }

    fn grouped(&mut self, begin: &str, hir: &Hir) -> Option<()> {
        self.text.push_str(begin);
        self.write(hir)?;
        self.text.push(')');
        Some(())
    }

    fn class(&mut self, ranges: impl Iterator<Item = (u32, u32)> + Clone) -> Option<()> {
        if all_may_be_refused(ranges.clone()) {
            return None;
        }
        let beyond = self.beyond == Beyond::Anything && ranges.clone().any(|(_, end)| end > 0x7f);
        if beyond {
            self.text.push_str(r"(?:[\x80-\xff]{1,4}|");
        }
        let ascii = ranges.filter(|&(start, _)| start < 0x80);
        match ascii.clone().next() {
            Some(_) => self.ascii(ascii.map(|(start, end)| (start, end.min(0x7f)))),
            None => self.text.push_str(NEVER),
        }
        if beyond {
            self.text.push(')');
        }
        Some(())
    }

    fn ascii(&mut self, ranges: impl Iterator<Item = (u32, u32)>) {
        self.text.push('[');
        for (start, end) in ranges {
            self.byte(start as u8);
            self.text.push('-');
            self.byte(end as u8);
        }
        self.text.push(']');
    }

    fn byte(&mut self, byte: u8) {
        match byte.is_ascii_alphanumeric() {
            true => self.text.push(byte.into()),
            false => self.text.push_str(&format!("\\x{byte:02x}")),
        }
    }
}

/// A class with nothing in it.
const NEVER: &str = "[a&&b]";

fn is_word_border(look: Look) -> bool {
    !matches!(
        look,
        Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF
    )
}

/// Among ASCII the words of Unicode are those of ASCII; and in the twin these are all there are.
fn assertion(look: Look) -> &'static str {
    match look {
        Look::Start => r"\A",
        Look::End => r"\z",
        Look::StartLF => "(?m-R:^)",
        Look::EndLF => "(?m-R:$)",
        Look::StartCRLF => "(?mR:^)",
        Look::EndCRLF => "(?mR:$)",
        Look::WordAscii | Look::WordUnicode => r"\b",
        Look::WordAsciiNegate | Look::WordUnicodeNegate => r"\B",
        Look::WordStartAscii | Look::WordStartUnicode => r"\b{start}",
        Look::WordEndAscii | Look::WordEndUnicode => r"\b{end}",
        Look::WordStartHalfAscii | Look::WordStartHalfUnicode => r"\b{start-half}",
        Look::WordEndHalfAscii | Look::WordEndHalfUnicode => r"\b{end-half}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::watched::sure;
    use crate::matcher::{Compiled, Matcher, WORK_PER_LOOK, builder};
    use crate::query::{Binary, MultiLine, Terminator};
    use grep_matcher::{Captures as _, Match, Matcher as _};
    use grep_regex::RegexMatcher;
    use proptest::prelude::*;

    fn pattern() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            3 => prop::sample::select(vec![
                "a", "k", "s", "K", "ab", "0", " ", "_", "-", "\\u{212a}", "é", "ſ", "ß", "i", "\\t",
                "\\r", "{", "\\x7f", "€|a", "xé",
            ]),
            5 => prop::sample::select(vec![
                ".", "\\w", "\\W", "\\s", "\\S", "\\d", "\\D", "\\pL", "\\PL", "\\p{Lu}", "\\p{Greek}",
                "[[:alpha:]]", "[^a]", "[^\\w]", "[a-zé]", "[^é]", "[\\w&&[^_]]", "[\\w--\\d]", "\\p{Ll}",
                "[k-ſ]", "[^\\x00-\\x7f]", "(?s:.)", "(?-u:\\w)", "(?-u:[^a])", "(?-u:\\xff)", "(?R:.)",
                "[\\r\\né]", "[\\x00é]", "[é]", "\\p{any}", "[~~a\\w]",
            ]),
            3 => prop::sample::select(vec![
                "^", "$", "\\b", "\\B", "\\A", "\\z", "(?-u:\\b)", "(?-m:^)", "(?-m:$)", "\\b{start}",
                "\\b{end}", "\\b{start-half}", "\\b{end-half}", "(?R:$)", "",
            ]),
            2 => prop::sample::select(vec![
                "(?i:k)", "(?i:s\\w)", "(?i:\\u{212a})", "(?i:ß)", "(?i:[k-s])", "(?i)", "(?-i:k)", "(?U)",
            ]),
        ];
        leaf.prop_map(String::from).prop_recursive(4, 12, 3, |inner| {
            prop_oneof![
                4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                2 => prop::collection::vec(inner.clone(), 2..3)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                3 => (inner.clone(), prop::sample::select(vec![
                    "*", "+", "?", "*?", "+?", "{2}", "{0,3}", "{1,2}?", "{2,}", "{0}",
                ]))
                    .prop_map(|(part, times)| format!("(?:{part}){times}")),
                2 => inner.prop_map(|part| format!("({part})")),
            ]
        })
    }

    fn query() -> impl Strategy<Value = Query> {
        let patterns = prop::collection::vec(pattern(), 1..3);
        let switches =
            (0..3_usize, 0..4, 0..3_usize, 0..4, any::<bool>(), any::<bool>(), any::<bool>());
        (patterns, switches).prop_map(|(mut patterns, switches)| {
            let (case, boundary, terminator, lines, fixed, text, named) = switches;
            if named {
                patterns[0] = format!("(?P<name>{})", patterns[0]);
            }
            Query::many(patterns)
                .allow_empty(true)
                .fixed_strings(fixed && lines == 3)
                .binary(if text { Binary::Text } else { Binary::Quit })
                .case([Case::Sensitive, Case::Insensitive, Case::Smart][case])
                .boundary(match boundary {
                    0 => Boundary::Word,
                    1 => Boundary::Line,
                    _ => Boundary::Anywhere,
                })
                .terminator([Terminator::Lf, Terminator::Crlf, Terminator::Nul][terminator])
                .multi_line(match lines {
                    0 => MultiLine::On,
                    1 => MultiLine::DotAll,
                    _ => MultiLine::Off,
                })
        })
    }

    fn text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a", "k", "K", "s", "S", "ab", "0", " ", "_", "-", "i", "\n", "\r\n", "\r", "\0", "\t",
            "\x7f", "x", "{", "k s", "\x0b",
        ]);
        prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    fn groups(engine: &RegexMatcher, text: &str) -> Vec<Vec<Option<Match>>> {
        let mut all = Vec::new();
        let mut groups = sure(engine.new_captures());
        sure(engine.captures_iter(text.as_bytes(), &mut groups, |groups| {
            all.push((0..engine.capture_count()).map(|group| groups.get(group)).collect());
            true
        }));
        all
    }

    proptest! {
        // `PROPTEST_CASES` says how many.
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            max_global_rejects: u32::MAX,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_twin_finds_in_ascii_what_the_pattern_finds(
            query in query(),
            texts in prop::collection::vec(text(), 6),
        ) {
            let limits = Limits::new();
            let twin = of_those_with(0, &query, &limits);
            let full = Compiled::new(WORK_PER_LOOK, &query, &limits);
            // Nothing is left for later that is refused, be the limit as low as the estimate.
            if twin.is_some() {
                prop_assert!(full.is_ok(), "{:?}", query);
                let hir = pattern::parse(&query, limits.max_nesting);
                let estimated = hir.map_or(0, |hir| Weight::of(&hir).program_bytes());
                let tight = builder(&query, &limits.clone().max_regex_bytes(estimated))
                    .build_many(&query.patterns);
                prop_assert!(tight.is_ok(), "{} {:?}", estimated, query);
            }
            let twin = twin.and_then(|twin| Compiled::twin(&twin, &limits));
            let (Some(twin), Ok(full)) = (twin, full) else { return Err(TestCaseError::reject("none")) };
            let (twin, full) = (&twin.engine, &full.engine);
            prop_assert_eq!(twin.line_terminator(), full.line_terminator(), "{:?}", query);
            prop_assert_eq!(twin.capture_count(), full.capture_count(), "{:?}", query);
            prop_assert_eq!(twin.capture_index("name"), full.capture_index("name"), "{:?}", query);
            let never = |engine: &RegexMatcher, byte| {
                engine.non_matching_bytes().is_some_and(|bytes| bytes.contains(byte))
            };
            for byte in *b"\n\r\0" {
                prop_assert_eq!(never(twin, byte), never(full, byte), "{} {:?}", byte, query);
            }
            for text in &texts {
                for at in 0..=text.len() {
                    let found = |engine: &RegexMatcher| sure(engine.find_at(text.as_bytes(), at));
                    let (ours, theirs) = (found(twin), found(full));
                    prop_assert_eq!(ours, theirs, "{:?} at {} {:?}", text, at, query);
                }
                prop_assert_eq!(groups(twin, text), groups(full, text), "{:?} {:?}", text, query);
            }
        }
    }

    fn mixed_text() -> impl Strategy<Value = String> {
        let other = prop::sample::select(vec!["é", "ſ", "\u{212a}", "\u{a0}", "É", "€"]);
        let piece = prop_oneof![4 => text(), 1 => other.prop_map(String::from)];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.join("\n"))
    }

    proptest! {
        // `PROPTEST_CASES` says how many.
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            max_global_rejects: u32::MAX,
            ..ProptestConfig::default()
        })]

        #[test]
        fn what_finds_without_the_whole_pattern_finds_what_it_finds(
            query in query(),
            texts in prop::collection::vec(mixed_text(), 2),
        ) {
            let limits = Limits::new();
            let twin = of_those_with(0, &query, &limits);
            let twin = twin.and_then(|twin| Compiled::twin(&twin, &limits));
            let Some(twin) = twin else { return Err(TestCaseError::reject("none")) };
            let full = Compiled::new(WORK_PER_LOOK, &query, &limits);
            let Ok(full) = full else { return Err(TestCaseError::fail("refused")) };
            let token = crate::cancel::CancelToken::new();
            let mut matcher = Matcher::with_twin(twin.clone(), &query, &limits);
            for text in &texts {
                // Line by line the searchers give no matcher more than one line.
                let by_line = query.terminator == Terminator::Nul;
                let lines: Vec<&str> = if by_line { text.split('\0').collect() } else { vec![text] };
                for text in lines {
                    for at in 0..=text.len() {
                        // Where it had to be compiled it would answer from then on.
                        if matcher.is_full_compiled() {
                            matcher = Matcher::with_twin(twin.clone(), &query, &limits);
                        }
                        let watched = matcher.watched(&token);
                        matcher.begin();
                        matcher.show(text.as_bytes());
                        let theirs = sure(full.engine.find_at(text.as_bytes(), at));
                        let ours = watched.find_at(text.as_bytes(), at).unwrap_or(None);
                        prop_assert_eq!(ours, theirs, "{:?} at {} {:?}", text, at, query);
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_that_is_not_ascii_and_surely_does_not_match_needs_no_more() {
        let query = Query::new(r"\w+_builder\b");
        let Ok(matcher) = Matcher::compile(&query, &Limits::new()) else {
            panic!("a good pattern")
        };
        let token = crate::cancel::CancelToken::new();
        let watched = matcher.watched(&token);
        let text = "a\n// naïve\nmy_builder()\n// größer\n".as_bytes();
        matcher.begin();
        matcher.show(text);
        assert_eq!(watched.find_at(text, 0).unwrap_or(None), Some(Match::new(12, 22)));
        assert_eq!(watched.find_at(text, 22).unwrap_or(None), None);
        assert!(matcher.source.full.get().is_none());
        let text = "größer_builder".as_bytes();
        assert_eq!(watched.find_at(text, 0).unwrap_or(None), Some(Match::new(0, 16)));
        assert!(matcher.source.full.get().is_some());
    }

    fn has_twin(query: &Query) -> bool {
        Matcher::compile(query, &Limits::new()).is_ok_and(|matcher| matcher.twin.is_some())
    }

    #[test]
    fn patterns_with_large_classes_have_a_twin() {
        for pattern in [r"\w+", r"fn \w+", r"^\s*def \w+\(self", r"\d{4}-\d{2}", r"\pL", r"\w{10}"]
        {
            assert!(has_twin(&Query::new(pattern)), "{pattern}");
        }
        assert!(has_twin(&Query::new("straße|\\w")));
    }

    #[test]
    fn what_is_fast_itself_or_may_be_refused_has_none() {
        let or_class = |pattern: &str| format!(r"{pattern}|\w+");
        for pattern in
            ["needle", "TODO|FIXME", "(?i)todo", r"\bfoo\b", "import .* from", r"(?-u)\w+"]
        {
            assert!(!has_twin(&Query::new(pattern)), "{pattern}");
        }
        for pattern in [r"\n", r"\x00", r"[\r\n]", r"(a){0}(b)"] {
            assert!(!has_twin(&Query::new(or_class(pattern))), "{pattern}");
        }
        assert!(!has_twin(&Query::new(r"\w{500}")));
        assert!(!has_twin(&Query::new(r"\w+").unicode(false)));
        let label = Encoding::Label("iso-2022-jp".into());
        assert!(!has_twin(&Query::new(r"\w+").encoding(label)));
    }

    #[test]
    fn the_pattern_itself_is_compiled_for_the_first_letter_that_is_not_ascii() {
        let query = Query::new(r"\w+!");
        let Ok(matcher) = Matcher::compile(&query, &Limits::new()) else {
            panic!("a good pattern")
        };
        let is_compiled = |matcher: &Matcher| matcher.source.full.get().is_some();
        let token = crate::cancel::CancelToken::new();
        let worker = matcher.clone();
        let watched = worker.watched(&token);
        let Ok(mut groups) = watched.new_captures() else { panic!("no groups") };
        let found = |text: &str| watched.find_at(text.as_bytes(), 0).unwrap_or(None);
        worker.begin();
        worker.show(b"a! ");
        assert_eq!(found("a! "), Some(Match::new(0, 2)));
        assert!(!is_compiled(&matcher), "before");
        worker.show("é!".as_bytes());
        worker.show(b"e!");
        assert_eq!(found("é! e!"), Some(Match::new(0, 3)));
        assert!(is_compiled(&matcher), "then");
        // Groups that were made for the one are good for the other.
        assert!(watched.captures_at("é!".as_bytes(), 0, &mut groups).unwrap_or(false));
        assert_eq!(groups.get(0), Some(Match::new(0, 3)));
        worker.begin();
        assert!(watched.captures_at(b" k!", 0, &mut groups).unwrap_or(false));
        assert_eq!(groups.get(0), Some(Match::new(1, 3)));
        // Of a text that nobody has shown, nothing is known.
        worker.end();
        assert_eq!(found("é!"), Some(Match::new(0, 3)));
    }
}
