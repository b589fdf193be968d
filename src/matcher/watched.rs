//! A matcher together with the token that can stop it: what searchers and printers are given.

use super::stepped::Memory;
use super::threads::NOWHERE;
use super::{Compiled, Matcher, Measured};
use crate::cancel::CancelToken;
use bstr::ByteSlice;
use grep_matcher::{ByteSet, Captures, LineMatchKind, LineTerminator, Match};
use grep_regex::{RegexCaptures, RegexMatcher};
use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

/// How far behind a match the engine can look: a character.
const LOOK_AHEAD_BYTES: usize = 4;

/// How much text is looked through for letters that are not ASCII, and how much for one match, before
/// the whole pattern is compiled after all: that takes some times as long.
const MAX_SIFTED: usize = 16 << 20;
const MAX_SIFTED_AT_ONCE: usize = 128 << 10;

/// How far from the end of what can be afforded a line end is looked for.
const MAX_TAIL_BYTES: usize = 4 << 10;

/// Fails once the token has stopped. A span that the engine is through with soon is left to it; a
/// longer one is cut where no match can be cut, or the engine is driven by hand.
pub(crate) struct Watched<'a> {
    matcher: &'a Matcher,
    token: &'a CancelToken,
    /// Who answers, as of the last question.
    compiled: Cell<&'a Compiled>,
    /// The longest span that the engine is given at once, as far as that is known.
    affordable: Cell<usize>,
    /// The bytes that have been searched since the token was asked.
    searched: Cell<usize>,
}

/// What the engine can be asked for.
trait Answer: Sized {
    /// Whether any end of a match in the right line will do.
    const ANY_END: bool;

    fn ask(engine: &RegexMatcher, haystack: &[u8], at: usize) -> Option<Self>;

    fn of_match(found: Match) -> Self;

    /// Up to where the haystack has been looked at.
    fn end(&self) -> usize;
}

impl Answer for Match {
    const ANY_END: bool = false;

    #[inline(always)]
    fn ask(engine: &RegexMatcher, haystack: &[u8], at: usize) -> Option<Match> {
        sure(grep_matcher::Matcher::find_at(engine, haystack, at))
    }

    fn of_match(found: Match) -> Match {
        found
    }

    fn end(&self) -> usize {
        Match::end(self)
    }
}

/// Where some match ends.
struct End(usize);

impl Answer for End {
    const ANY_END: bool = true;

    #[inline(always)]
    fn ask(engine: &RegexMatcher, haystack: &[u8], at: usize) -> Option<End> {
        sure(grep_matcher::Matcher::shortest_match_at(engine, haystack, at)).map(End)
    }

    fn of_match(found: Match) -> End {
        End(found.end())
    }

    fn end(&self) -> usize {
        self.0
    }
}

/// A line in which there is, or may be, a match.
struct Line(LineMatchKind);

impl Answer for Line {
    const ANY_END: bool = true;

    #[inline(always)]
    fn ask(engine: &RegexMatcher, haystack: &[u8], at: usize) -> Option<Line> {
        // This question has no place to begin at, so it is asked at the start of a line only: nothing
        // in a line depends on what stands before.
        if at > 0 && haystack[at - 1] != b'\n' {
            return End::ask(engine, haystack, at)
                .map(|End(end)| Line(LineMatchKind::Confirmed(end)));
        }
        let kind = sure(grep_matcher::Matcher::find_candidate_line(engine, &haystack[at..]));
        kind.map(|kind| {
            Line(match kind {
                LineMatchKind::Confirmed(place) => LineMatchKind::Confirmed(at + place),
                LineMatchKind::Candidate(place) => LineMatchKind::Candidate(at + place),
            })
        })
    }

    fn of_match(found: Match) -> Line {
        Line(LineMatchKind::Confirmed(found.end()))
    }

    fn end(&self) -> usize {
        match self.0 {
            LineMatchKind::Confirmed(place) | LineMatchKind::Candidate(place) => place,
        }
    }
}

pub(super) fn sure<T>(result: Result<T, grep_matcher::NoError>) -> T {
    result.expect("this engine's error type has no public way to be made")
}

impl Compiled {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        // It is as good as new after a panic: whoever uses it begins anew.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn groups(&self) -> Groups {
        let engine = sure(grep_matcher::Matcher::new_captures(&self.engine));
        Groups { engine, of_twin: self.is_twin, stepped: None }
    }
}

impl<'a> Watched<'a> {
    pub(super) fn new(matcher: &'a Matcher, token: &'a CancelToken) -> Watched<'a> {
        // What is asked about the pattern the twin knows as well; so nobody compiles for that.
        let compiled = matcher.twin.as_ref().or_else(|| matcher.full().ok());
        let compiled = compiled.expect("a matcher without a twin has been compiled");
        let affordable = Cell::new(compiled.program.affordable_bytes());
        let compiled = Cell::new(compiled);
        Watched { matcher, token, compiled, affordable, searched: Cell::new(0) }
    }

    /// The twin as long as the text is known to be ASCII.
    #[inline(always)]
    fn compiled(&self) -> io::Result<&'a Compiled> {
        let compiled = self.compiled.get();
        match compiled.is_twin == self.matcher.is_ascii() {
            true => Ok(compiled),
            false => self.turn(),
        }
    }

    #[cold]
    fn turn(&self) -> io::Result<&'a Compiled> {
        let compiled = match &self.matcher.twin {
            Some(twin) if self.matcher.is_ascii() => twin,
            _ => self.matcher.full().map_err(io::Error::other)?,
        };
        self.affordable.set(compiled.program.affordable_bytes());
        self.compiled.set(compiled);
        Ok(compiled)
    }

    fn ask_token(&self) -> io::Result<()> {
        match self.token.is_stopped() {
            true => Err(io::Error::other("stopped")),
            false => Ok(()),
        }
    }

    /// After bytes have been searched: asks the token if it has not been asked for long.
    #[inline(always)]
    fn count(&self, bytes: usize) -> io::Result<()> {
        let searched = self.searched.get() + bytes;
        self.searched.set(searched);
        match searched <= self.affordable.get() {
            true => Ok(()),
            false => self.ask_at_last(),
        }
    }

    #[cold]
    fn ask_at_last(&self) -> io::Result<()> {
        self.searched.set(0);
        self.ask_token()
    }

    #[inline(always)]
    fn search<A: Answer>(&self, haystack: &[u8], at: usize) -> io::Result<Option<A>> {
        if self.compiled.get().is_twin
            && !self.matcher.is_ascii()
            && let Some(found) = self.sift(haystack, at)?
        {
            return Ok(found);
        }
        self.ask(self.compiled()?, haystack, at)
    }

    #[inline(always)]
    fn ask<A: Answer>(
        &self,
        compiled: &Compiled,
        haystack: &[u8],
        at: usize,
    ) -> io::Result<Option<A>> {
        match haystack.len() - at <= self.affordable.get() {
            true => self.search_near(compiled, haystack, at),
            false => self.search_far(compiled, haystack, at),
        }
    }

    /// Searches a text that has a few letters which are not ASCII, without the whole pattern as long as
    /// nothing in their lines may match: the twin answers for what is between these lines. `None` where
    /// the whole pattern has to answer, or would have been compiled in the meantime.
    #[cold]
    fn sift<A: Answer>(&self, haystack: &[u8], mut at: usize) -> io::Result<Option<Option<A>>> {
        let (Some(twin), false) = (&self.matcher.twin, self.matcher.is_full_compiled()) else {
            return Ok(None);
        };
        let Some(Cut::BeforeLf) = twin.program.cut else { return Ok(None) };
        // What stands before may be seen by an assertion.
        let mut start = haystack[..at].rfind_byte(b'\n').map_or(0, |end| end + 1);
        if !haystack[start..at].is_ascii() || haystack.len() - at > MAX_SIFTED_AT_ONCE {
            return Ok(None);
        }
        loop {
            let ascii = haystack[at..].find_non_ascii_byte().map(|place| at + place);
            let sifted = ascii.unwrap_or(haystack.len()) - start;
            if self.matcher.source.sifted.fetch_add(sifted, Ordering::Relaxed) > MAX_SIFTED {
                return Ok(None);
            }
            let Some(other) = ascii else {
                return self.ask(twin, haystack, at).map(Some);
            };
            if let Some(end) = haystack[at..other].rfind_byte(b'\n').map(|end| at + end) {
                if let Some(found) = self.ask(twin, &haystack[..end], at)? {
                    return Ok(Some(Some(found)));
                }
                at = end + 1;
            }
            let end = haystack[other..].find_byte(b'\n').map(|end| other + end);
            let line = &haystack[..end.unwrap_or(haystack.len())];
            let hint = self.matcher.source.hint();
            let may_match =
                |hint| sure(grep_matcher::Matcher::shortest_match_at(hint, line, at)).is_some();
            let is_long = line.len() - at > self.affordable.get();
            if is_long || hint.is_none_or(may_match) {
                return Ok(None);
            }
            self.count(line.len() - at)?;
            let Some(end) = end else { return Ok(Some(None)) };
            at = end + 1;
            start = at;
        }
    }

    #[inline(always)]
    fn search_near<A: Answer>(
        &self,
        compiled: &Compiled,
        haystack: &[u8],
        at: usize,
    ) -> io::Result<Option<A>> {
        // The beginning will do: to look at all of it each time would be too much.
        debug_assert!(!compiled.is_twin || haystack[at..].iter().take(1 << 10).all(u8::is_ascii));
        let found = A::ask(&compiled.engine, haystack, at);
        let end = found.as_ref().map_or(haystack.len(), A::end);
        self.count(end.saturating_sub(at))?;
        Ok(found)
    }

    /// From one line end to another, as many lines at a time as can be afforded. A long line goes
    /// through windows that overlap by the longest that a match, and what is looked at behind it, can
    /// be: what begins before the overlap is in the window with all that counts. If there is no such
    /// thing as the longest match, the rest is stepped through.
    #[cold]
    fn search_far<A: Answer>(
        &self,
        compiled: &Compiled,
        haystack: &[u8],
        mut at: usize,
    ) -> io::Result<Option<A>> {
        let program = &compiled.program;
        let &Measured { affordable_bytes: most, max_match_bytes, .. } = program.measured();
        self.affordable.set(most);
        let reach = max_match_bytes.map(|bytes| bytes.saturating_add(LOOK_AHEAD_BYTES));
        let reach = reach.filter(|&reach| reach <= most / 2);
        while haystack.len() - at > most {
            let end = at + most;
            if let Some(end) = program.cut.and_then(|cut| cut.last(haystack, at..end)) {
                if let Some(found) = self.search_near(compiled, &haystack[..end], at)? {
                    return Ok(Some(found));
                }
                at = end + 1;
            } else if let Some(reach) = reach {
                let found = self.search_near::<Match>(compiled, &haystack[..end], at)?;
                if let Some(found) = found.filter(|found| found.start() <= end - reach) {
                    return Ok(Some(A::of_match(found)));
                }
                at = end - reach + 1;
            } else if let Some(stepped) = program.stepped() {
                let memory = &mut *compiled.memory();
                let (span, ask) = (at..haystack.len(), || self.ask_token());
                let found = stepped.find(memory, haystack, span, A::ANY_END, &ask)?;
                return Ok(found.map(A::of_match));
            } else {
                break;
            }
        }
        self.search_near(compiled, haystack, at)
    }

    /// Finds the match first, so that the groups are sought in it alone.
    #[cold]
    fn captures_far(
        &self,
        compiled: &Compiled,
        haystack: &[u8],
        at: usize,
        groups: &mut Groups,
    ) -> io::Result<bool> {
        let found = self.search_far::<Match>(compiled, haystack, at)?;
        let Some(found) = found else { return Ok(false) };
        let most = compiled.program.measured().affordable_bytes;
        let end = haystack.len().min(found.end() + LOOK_AHEAD_BYTES);
        let stepped = compiled.program.stepped();
        if end - found.start() <= most || stepped.is_none() {
            let groups = &mut groups.engine;
            let engine = &compiled.engine;
            sure(grep_matcher::Matcher::captures_at(
                engine,
                &haystack[..end],
                found.start(),
                groups,
            ));
            // What is cut off can be taken for the end of the haystack.
            if groups.get(0) == Some(found) {
                return Ok(true);
            }
        }
        let Some(stepped) = stepped else { return Ok(false) };
        let memory = &mut *compiled.memory();
        groups.stepped = stepped.groups(memory, haystack, found, &|| self.ask_token())?;
        Ok(groups.stepped.is_some())
    }
}

impl grep_matcher::Matcher for Watched<'_> {
    type Captures = Groups;
    type Error = io::Error;

    #[inline]
    fn find_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<Match>> {
        self.search(haystack, at)
    }

    #[inline]
    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<usize>> {
        Ok(self.search(haystack, at)?.map(|End(end)| end))
    }

    #[inline]
    fn find_candidate_line(&self, haystack: &[u8]) -> io::Result<Option<LineMatchKind>> {
        Ok(self.search(haystack, 0)?.map(|Line(kind)| kind))
    }

    fn new_captures(&self) -> io::Result<Groups> {
        Ok(self.compiled.get().groups())
    }

    fn captures_at(&self, haystack: &[u8], at: usize, groups: &mut Groups) -> io::Result<bool> {
        let compiled = self.compiled()?;
        groups.stepped = None;
        if groups.of_twin != compiled.is_twin {
            *groups = compiled.groups();
        }
        if haystack.len() - at > self.affordable.get() {
            return self.captures_far(compiled, haystack, at, groups);
        }
        let (engine, inner) = (&compiled.engine, &mut groups.engine);
        let found = sure(grep_matcher::Matcher::captures_at(engine, haystack, at, inner));
        let end = inner.get(0).filter(|_| found).map_or(haystack.len(), |found| found.end());
        self.count(end - at)?;
        Ok(found)
    }

    fn capture_count(&self) -> usize {
        self.compiled.get().engine.capture_count()
    }

    fn capture_index(&self, name: &str) -> Option<usize> {
        self.compiled.get().engine.capture_index(name)
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.compiled.get().engine.line_terminator()
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.compiled.get().engine.non_matching_bytes()
    }
}

/// The groups of a match, whoever has found them.
#[derive(Debug)]
pub(crate) struct Groups {
    engine: RegexCaptures,
    of_twin: bool,
    /// Two slots for each group.
    stepped: Option<Vec<usize>>,
}

impl Captures for Groups {
    fn len(&self) -> usize {
        self.engine.len()
    }

    fn get(&self, group: usize) -> Option<Match> {
        match &self.stepped {
            None => self.engine.get(group),
            Some(slots) => match slots.get(2 * group..2 * group + 2)? {
                &[start, end] if start != NOWHERE && end != NOWHERE => Some(Match::new(start, end)),
                _ => None,
            },
        }
    }
}

/// The place at which lines end, for a pattern of which no match holds a line end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cut {
    BeforeLf,
    /// Before a `\r\n` as well: `$` is where the `\r` stands, and not between the two.
    BeforeCrlf,
}

impl Cut {
    /// The last line end in the span, behind its first byte. It is not looked for long: whoever asks
    /// for one match of a long line after the other asks for this each time.
    fn last(self, haystack: &[u8], span: Range<usize>) -> Option<usize> {
        let start = span.start.max(span.end.saturating_sub(MAX_TAIL_BYTES)) + 1;
        let mut end = span.end;
        while let Some(place) = haystack.get(start..end)?.rfind_byte(b'\n') {
            if is_clean(haystack, start + place) {
                return Some(self.before(haystack, start + place));
            }
            end = start + place;
        }
        None
    }

    fn before(self, haystack: &[u8], place: usize) -> usize {
        match self {
            Cut::BeforeCrlf if haystack[..place].ends_with(b"\r") => place - 1,
            _ => place,
        }
    }
}

/// Whether the line behind this line end begins with a character. If it begins with the rest of one,
/// then the engine looks for the beginning before it, and sees no line of its own.
fn is_clean(haystack: &[u8], line_end: usize) -> bool {
    haystack.get(line_end + 1).is_none_or(|byte| !(0x80..0xc0).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;
    use crate::limits::Limits;
    use crate::query::{Binary, Boundary, Case, MultiLine, Query, Terminator};
    use grep_matcher::Matcher as _;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::sync::{Arc, OnceLock};

    /// Small enough that hardly a span is given to the engine as it is.
    const LITTLE_WORK: [usize; 4] = [1, 20, 60, 300];

    fn pattern() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            4 => prop::sample::select(vec!["a", "b", "ab", "é", "A", "0", " ", "_", "\\r", "aa|a"]),
            3 => prop::sample::select(vec![
                ".", "\\w", "\\s", "\\S", "\\d", "[ab]", "[^a]", "\\W", "[[:alpha:]]", "(?-u:\\w)",
                "(?s:.)", "\\pL", "(?-u:\\xff)",
            ]),
            2 => prop::sample::select(vec![
                "^", "$", "\\b", "\\B", "\\A", "\\z", "(?-u:\\b)", "(?-u:\\B)", "(?-m:^)", "(?-m:$)",
                "\\b{start}", "\\b{end-half}", "(?i:a)", "",
            ]),
        ];
        leaf.prop_map(String::from).prop_recursive(4, 12, 3, |inner| {
            prop_oneof![
                4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                2 => prop::collection::vec(inner.clone(), 2..3)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                3 => (inner.clone(), prop::sample::select(vec![
                    "*", "+", "?", "*?", "+?", "{2}", "{0,3}", "{1,2}?", "{2,}",
                ]))
                    .prop_map(|(part, times)| format!("(?:{part}){times}")),
                2 => inner.prop_map(|part| format!("({part})")),
            ]
        })
    }

    fn query() -> impl Strategy<Value = Query> {
        let patterns = prop::collection::vec(pattern(), 1..3);
        let switches = (any::<bool>(), 0..3_usize, 0..4, 0..3_usize, 0..4, any::<bool>());
        (patterns, switches).prop_map(|(patterns, switches)| {
            let (unicode, case, boundary, terminator, lines, fixed) = switches;
            Query::many(patterns)
                .allow_empty(true)
                .unicode(unicode)
                .fixed_strings(fixed && lines == 3)
                .binary(Binary::Text)
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

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "a", "b", "ab", "aa", "A", "é", "É", "0", " ", "_", "\n", "\n", "\r\n", "\r", "\0", "ſ",
        ]);
        let piece = prop_oneof![
            9 => piece.prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::sample::select(vec![vec![0xff], vec![0xc3], vec![0xa9]]),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    /// The pattern itself, with nothing left for later.
    fn source(work_per_look: usize, query: &Query) -> Option<Arc<Source>> {
        let limits = Limits::new();
        let mut full = Compiled::new(work_per_look, query, &limits).ok()?;
        Arc::get_mut(&mut full.program)?.surely_affordable = 0;
        Some(Arc::new(Source::new(work_per_look, query, &limits, OnceLock::from(Ok(full)))))
    }

    fn compile(work: usize, query: &Query) -> Option<Matcher> {
        Some(Matcher::of(None, source(work, query)?))
    }

    /// What a searcher does with a matcher that tells of lines: those that it reports.
    fn lines<M: grep_matcher::Matcher>(
        matcher: &M,
        query: &Query,
        text: &[u8],
    ) -> Vec<(u64, usize)> {
        use grep_searcher::{SearcherBuilder, sinks::Bytes};
        let terminator = match query.terminator {
            Terminator::Lf => LineTerminator::byte(b'\n'),
            Terminator::Crlf => LineTerminator::crlf(),
            Terminator::Nul => LineTerminator::byte(0),
        };
        let found = RefCell::new(Vec::new());
        let sink = Bytes(|number, line| {
            found.borrow_mut().push((number, line.len()));
            Ok(true)
        });
        SearcherBuilder::new()
            .line_terminator(terminator)
            .multi_line(query.multi_line != MultiLine::Off)
            .build()
            .search_slice(matcher, text, sink)
            .unwrap_or_else(|error| panic!("{error}"));
        found.into_inner()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 400,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_watched_matcher_finds_what_the_engine_finds(
            query in query(),
            texts in prop::collection::vec(text(), 4),
        ) {
            let token = CancelToken::new();
            for work in LITTLE_WORK {
                let Some(matcher) = compile(work, &query) else { return Ok(()) };
                let watched = matcher.watched(&token);
                let full = matcher.full().map_err(|error| TestCaseError::fail(error.to_owned()))?;
                let engine = &full.engine;
                for text in &texts {
                    let case = || format!("{work} {query:?} {:?}", text.as_bstr());
                    // Line by line the searchers give no matcher more than one line.
                    let by_line = query.terminator == Terminator::Nul;
                    let texts: Vec<&[u8]> = match by_line {
                        true => text.split(|&byte| byte == 0).collect(),
                        false => vec![text],
                    };
                    for text in texts {
                        for at in 0..=text.len() {
                            let expected = sure(engine.find_at(text, at));
                            let found = watched.find_at(text, at).unwrap_or(None);
                            prop_assert_eq!(found, expected, "find at {}, {}", at, case());
                            let is_some = watched.shortest_match_at(text, at).unwrap_or(None).is_some();
                            prop_assert_eq!(is_some, expected.is_some(), "any at {}, {}", at, case());
                        }
                        check_groups(&watched, engine, text).map_err(TestCaseError::fail)?;
                    }
                    // In two cases the engine's own answer depends on how much of a text the
                    // searcher happens to show it: where a line begins with the rest of a character,
                    // and for the ends of a text among lines that end with a NUL.
                    let clean = (0..text.len()).all(|at| text[at] != b'\n' || is_clean(text, at));
                    if clean && !(by_line && engine.line_terminator().is_none()) {
                        let (ours, theirs) = (lines(&watched, &query, text), lines(engine, &query, text));
                        prop_assert_eq!(ours, theirs, "lines, {}", case());
                    }
                }
            }
        }
    }

    fn check_groups(
        watched: &Watched<'_>,
        engine: &RegexMatcher,
        text: &[u8],
    ) -> Result<(), String> {
        let places = |groups: &dyn Fn(usize) -> Option<Match>| -> Vec<Option<Match>> {
            (0..engine.capture_count()).map(groups).collect()
        };
        let mut ours = Vec::new();
        let mut groups = watched.new_captures().map_err(|error| error.to_string())?;
        let all = watched.captures_iter_at(text, 0, &mut groups, |groups| {
            ours.push(places(&|group| groups.get(group)));
            true
        });
        all.map_err(|error| error.to_string())?;
        let mut theirs = Vec::new();
        let mut groups = sure(engine.new_captures());
        sure(engine.captures_iter_at(text, 0, &mut groups, |groups| {
            theirs.push(places(&|group| groups.get(group)));
            true
        }));
        match ours == theirs {
            true => Ok(()),
            false => Err(format!("{ours:?} are not {theirs:?} in {:?}", text.as_bstr())),
        }
    }

    /// Both automata and the simulation, each on its own.
    #[test]
    fn what_an_automaton_cannot_do_the_simulation_does() {
        let query = Query::new(r"\bé+\b|(x)(y)?");
        let Some(matcher) = compile(1, &query) else { panic!("a good pattern") };
        let token = CancelToken::new();
        let watched = matcher.watched(&token);
        for text in ["aé éé x", "é", "xyé", "éa", "", "ééx\né"] {
            let found = watched.find_at(text.as_bytes(), 0).unwrap_or(None);
            assert_eq!(
                found,
                matcher.full().ok().and_then(|full| sure(full.engine.find_at(text.as_bytes(), 0))),
                "{text}"
            );
        }
    }

    #[test]
    fn a_stopped_token_is_seen_wherever_the_search_is() {
        let token = CancelToken::new();
        token.cancel();
        for (pattern, text) in [
            (r"[ab]*a[ab]{20000}c", "ab".repeat(2_000)),  // automata
            (r"\b[éa]*a[éa]{2000}c", "éa".repeat(2_000)), // the simulation
            (r"a{900}c", "a".repeat(1 << 20)),            // windows
            (r"a*c", "a\n".repeat(1 << 20)),              // pieces
        ] {
            let Some(matcher) = compile(1 << 20, &Query::new(pattern)) else { panic!("{pattern}") };
            let watched = matcher.watched(&token);
            assert!(watched.find_at(text.as_bytes(), 0).is_err(), "{pattern}");
            assert!(watched.shortest_match_at(text.as_bytes(), 0).is_err(), "{pattern}");
            assert!(watched.find_candidate_line(text.as_bytes()).is_err(), "{pattern}");
        }
    }

    #[test]
    fn the_width_read_off_the_text_is_not_below_the_measured_one() {
        for pattern in
            ["", "a", r"\w\S.", "(?i)kelvin", r"(((a)))", "a|b|c|ab", "[^a]*x+?", "^$", "é"]
        {
            for query in [Query::new(pattern), Query::new(pattern).fixed_strings(true)] {
                for query in [query.clone(), query.case(Case::Insensitive).boundary(Boundary::Word)]
                {
                    let width = crate::matcher::pattern::hir(&query)
                        .map(|hir| crate::matcher::pattern::width(&hir));
                    assert!(width <= crate::matcher::pattern::width_at_most(&query), "{pattern}");
                }
            }
        }
    }
}
