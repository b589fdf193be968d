//! The engine once more, but driven by hand, so that it can be stopped within one line.

use super::pattern;
use super::threads::{Threads, Wanted};
use crate::query::Query;
use grep_matcher::Match;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind, Span};
use std::io;
use std::ops::Range;

/// How far the beginnings of a match are looked for before the token is asked again. Gigabytes take a
/// second.
const PREFIX_BYTES_PER_LOOK: usize = 1 << 20;

/// The programs. Building them takes about as long as compiling the pattern did.
pub(super) struct Stepped {
    nfa: NFA,
    /// Missing where a cache of the allowed size is too small.
    forward: Option<DFA>,
    backward: Option<DFA>,
    /// Finds the texts that every match begins with.
    prefix: Option<Prefilter>,
    bytes_per_look: usize,
}

/// The memory that the programs run with; a worker has its own.
#[derive(Default)]
pub(super) struct Memory {
    forward: Option<Cache>,
    backward: Option<Cache>,
    threads: Threads,
}

/// Why an automaton has no answer.
enum Break {
    Stopped(io::Error),
    /// There is a byte that it does not know what to do with: a word boundary of Unicode is near.
    Quit,
}

type Ask<'a> = &'a dyn Fn() -> io::Result<()>;

impl Stepped {
    /// `None` for what the engine refuses as well.
    pub(super) fn new(
        query: &Query,
        max_regex_bytes: usize,
        max_cache_bytes: usize,
        bytes_per_look: usize,
    ) -> Option<Stepped> {
        let hir = pattern::hir(query)?;
        let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(max_regex_bytes));
        let build = |config| NFA::compiler().configure(config).build_from_hir(&hir).ok();
        let nfa = build(config.clone())?;
        let reversed = config.reverse(true).which_captures(WhichCaptures::None);
        let prefix = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, &hir);
        let prefix = prefix.filter(Prefilter::is_fast);
        let automaton = |nfa: NFA, kind| {
            let config = Config::new()
                .match_kind(kind)
                .specialize_start_states(prefix.is_some() && kind == MatchKind::LeftmostFirst)
                .unicode_word_boundary(true)
                .cache_capacity(max_cache_bytes);
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        let forward = automaton(nfa.clone(), MatchKind::LeftmostFirst);
        let backward = build(reversed).and_then(|nfa| automaton(nfa, MatchKind::All));
        Some(Stepped { nfa, forward, backward, prefix, bytes_per_look })
    }

    /// The leftmost match in a span; only its end is right if `any_end`, and it may be the end of a
    /// shorter or later match of the same line.
    pub(super) fn find(
        &self,
        memory: &mut Memory,
        haystack: &[u8],
        span: Range<usize>,
        any_end: bool,
        ask: Ask<'_>,
    ) -> io::Result<Option<Match>> {
        match self.find_by_automata(memory, haystack, span.clone(), any_end, ask) {
            Ok(found) => return Ok(found),
            Err(Break::Stopped(error)) => return Err(error),
            Err(Break::Quit) => {}
        }
        let wanted = if any_end { Wanted::AnyEnd } else { Wanted::Leftmost };
        let (threads, looks) = (&mut memory.threads, self.bytes_per_look);
        let slots = threads.run(&self.nfa, haystack, span, wanted, looks, ask)?;
        Ok(slots.map(|slots| Match::new(slots[0], slots[1])))
    }

    /// The slots of the groups of a match that has been found.
    pub(super) fn groups(
        &self,
        memory: &mut Memory,
        haystack: &[u8],
        found: Match,
        ask: Ask<'_>,
    ) -> io::Result<Option<Vec<usize>>> {
        let (threads, looks) = (&mut memory.threads, self.bytes_per_look);
        threads.run(&self.nfa, haystack, found.start()..found.end(), Wanted::Groups, looks, ask)
    }

    fn find_by_automata(
        &self,
        memory: &mut Memory,
        haystack: &[u8],
        span: Range<usize>,
        any_end: bool,
        ask: Ask<'_>,
    ) -> Result<Option<Match>, Break> {
        let (Some(forward), Some(backward)) = (&self.forward, &self.backward) else {
            return Err(Break::Quit);
        };
        let cache = memory.forward.get_or_insert_with(|| forward.create_cache());
        let Some(end) = self.end(forward, cache, haystack, span.clone(), any_end, ask)? else {
            return Ok(None);
        };
        if any_end {
            return Ok(Some(Match::new(end, end)));
        }
        let cache = memory.backward.get_or_insert_with(|| backward.create_cache());
        let start = self.start(backward, cache, haystack, span.start..end, ask)?;
        start.map(|start| Some(Match::new(start, end))).ok_or(Break::Quit)
    }

    /// Where the leftmost match ends. An automaton tells of a match one byte late.
    fn end(
        &self,
        dfa: &DFA,
        cache: &mut Cache,
        haystack: &[u8],
        span: Range<usize>,
        any: bool,
        ask: Ask<'_>,
    ) -> Result<Option<usize>, Break> {
        let input = Input::new(haystack).span(span.clone());
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| Break::Quit)?;
        let (mut at, mut end) = (span.start, None);
        while at < span.end {
            ask().map_err(Break::Stopped)?;
            let mut pause = span.end.min(at + self.bytes_per_look);
            while at < pause {
                // What has been seen before, and decides nothing.
                while at < pause && !state.is_tagged() {
                    let next = dfa.next_state_untagged(cache, state, haystack[at]);
                    if next.is_tagged() {
                        break;
                    }
                    state = next;
                    at += 1;
                }
                if at == pause {
                    break;
                }
                if let (true, Some(prefix)) = (state.is_start(), &self.prefix) {
                    let begins = self.prefixed(prefix, haystack, at..span.end, ask)?;
                    let Some(begins) = begins else { return Ok(end) };
                    if begins > at {
                        at = begins;
                        let input = Input::new(haystack).span(at..span.end);
                        state = dfa.start_state_forward(cache, &input).map_err(|_| Break::Quit)?;
                        pause = span.end.min(at + self.bytes_per_look);
                    }
                }
                state = step(dfa, cache, state, haystack[at])?;
                if state.is_dead() {
                    return Ok(end);
                }
                if state.is_match() {
                    end = Some(at);
                    if any {
                        return Ok(end);
                    }
                }
                at += 1;
            }
        }
        state = match haystack.get(span.end) {
            Some(&byte) => step(dfa, cache, state, byte)?,
            None => dfa.next_eoi_state(cache, state).map_err(|_| Break::Quit)?,
        };
        Ok(if state.is_match() { Some(span.end) } else { end })
    }

    /// Where a match may begin.
    fn prefixed(
        &self,
        prefix: &Prefilter,
        haystack: &[u8],
        span: Range<usize>,
        ask: Ask<'_>,
    ) -> Result<Option<usize>, Break> {
        let overlap = prefix.max_needle_len().saturating_sub(1);
        let (mut start, mut end) = (span.start, span.start);
        while end < span.end {
            end = span.end.min(start + PREFIX_BYTES_PER_LOOK + overlap);
            if let Some(found) = prefix.find(haystack, Span { start, end }) {
                return Ok(Some(found.start));
            }
            ask().map_err(Break::Stopped)?;
            start = end - overlap.min(end - start);
        }
        Ok(None)
    }

    /// Where the longest match that ends with the span begins: it is the leftmost.
    fn start(
        &self,
        dfa: &DFA,
        cache: &mut Cache,
        haystack: &[u8],
        span: Range<usize>,
        ask: Ask<'_>,
    ) -> Result<Option<usize>, Break> {
        let input = Input::new(haystack).span(span.clone()).anchored(Anchored::Yes);
        let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| Break::Quit)?;
        let (mut at, mut start) = (span.end, None);
        while at > span.start {
            ask().map_err(Break::Stopped)?;
            let pause = span.start.max(at.saturating_sub(self.bytes_per_look));
            while at > pause {
                state = step(dfa, cache, state, haystack[at - 1])?;
                if state.is_dead() {
                    return Ok(start);
                }
                if state.is_match() {
                    start = Some(at);
                }
                at -= 1;
            }
        }
        state = match span.start.checked_sub(1) {
            Some(before) => step(dfa, cache, state, haystack[before])?,
            None => dfa.next_eoi_state(cache, state).map_err(|_| Break::Quit)?,
        };
        Ok(if state.is_match() { Some(span.start) } else { start })
    }
}

fn step(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> Result<LazyStateID, Break> {
    match dfa.next_state(cache, state, byte) {
        Ok(state) if !state.is_quit() => Ok(state),
        _ => Err(Break::Quit),
    }
}
