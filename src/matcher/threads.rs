//! A simulation of an NFA, one byte after the other, that can be stopped at each of them. Slow, but
//! there is nothing that it cannot do.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;
use std::io;
use std::ops::Range;

/// A slot that holds no place.
pub(super) const NOWHERE: usize = usize::MAX;

/// What a simulation is to find.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The end of some match: the first at which there is one.
    AnyEnd,
    /// Start and end of the leftmost match.
    Leftmost,
    /// All groups of the match that begins where the span does.
    Groups,
}

/// The memory of a simulation. What is alive comes first in order of preference.
#[derive(Default)]
pub(super) struct Threads {
    now: List,
    next: List,
    stack: Vec<Step>,
    row: Vec<usize>,
}

#[derive(Default)]
struct List {
    /// States that wait for a byte, or are the end of a match.
    live: Vec<StateID>,
    /// What each of them has found so far, in rows of one length.
    slots: Vec<usize>,
    seen: Vec<StateID>,
    place_in_seen: Vec<u32>,
}

impl List {
    fn clear(&mut self, states: usize) {
        self.live.clear();
        self.slots.clear();
        self.seen.clear();
        self.place_in_seen.resize(states, 0);
    }

    /// Whether this is the first time.
    fn see(&mut self, id: StateID) -> bool {
        let place = self.place_in_seen[id.as_usize()] as usize;
        if self.seen.get(place) == Some(&id) {
            return false;
        }
        self.place_in_seen[id.as_usize()] = self.seen.len() as u32;
        self.seen.push(id);
        true
    }
}

enum Step {
    Enter(StateID),
    Restore(usize, usize),
}

impl Threads {
    /// The slots of the match: with [`Wanted::Groups`] two for each group, otherwise its start and
    /// its end. `ask` is called once in `bytes_per_look` bytes.
    pub(super) fn run(
        &mut self,
        nfa: &NFA,
        haystack: &[u8],
        span: Range<usize>,
        wanted: Wanted,
        bytes_per_look: usize,
        ask: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<Option<Vec<usize>>> {
        let groups = wanted == Wanted::Groups;
        let width = if groups { nfa.group_info().slot_len() } else { 1 };
        self.now.clear(nfa.states().len());
        self.next.clear(nfa.states().len());
        let mut found: Option<Vec<usize>> = None;
        for at in span.clone() {
            if (at - span.start).is_multiple_of(bytes_per_look) {
                ask()?;
            }
            let begins = found.is_none() && (!groups || at == span.start);
            if self.now.live.is_empty() && !begins {
                return Ok(found);
            }
            self.step(nfa, haystack, at, begins, width, &mut found);
            if wanted == Wanted::AnyEnd && found.is_some() {
                return Ok(found);
            }
        }
        let begins = found.is_none() && (!groups || span.is_empty());
        self.step(nfa, haystack, span.end, begins, width, &mut found);
        Ok(found)
    }

    /// Takes the byte at `at`, if there is one, after it has looked for what ends there.
    fn step(
        &mut self,
        nfa: &NFA,
        haystack: &[u8],
        at: usize,
        begins: bool,
        width: usize,
        found: &mut Option<Vec<usize>>,
    ) {
        if begins {
            self.row.clear();
            self.row.resize(width, NOWHERE);
            if width == 1 {
                self.row[0] = at;
            }
            enter(
                &mut self.now,
                &mut self.stack,
                &mut self.row,
                nfa,
                nfa.start_anchored(),
                haystack,
                at,
            );
        }
        self.next.clear(nfa.states().len());
        for (index, &id) in self.now.live.iter().enumerate() {
            let slots = &self.now.slots[index * width..][..width];
            let to = match nfa.state(id) {
                State::Match { .. } => {
                    let mut slots = slots.to_vec();
                    if width == 1 {
                        slots.push(at);
                    }
                    *found = Some(slots);
                    break;
                }
                State::ByteRange { trans } => trans.matches(haystack, at).then_some(trans.next),
                State::Sparse(transitions) => transitions.matches(haystack, at),
                State::Dense(transitions) => transitions.matches(haystack, at),
                _ => None,
            };
            if let Some(to) = to {
                self.row.clear();
                self.row.extend_from_slice(slots);
                enter(&mut self.next, &mut self.stack, &mut self.row, nfa, to, haystack, at + 1);
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }
}

/// Adds all that is reached from a state without a byte.
fn enter(
    list: &mut List,
    stack: &mut Vec<Step>,
    row: &mut [usize],
    nfa: &NFA,
    from: StateID,
    haystack: &[u8],
    at: usize,
) {
    stack.push(Step::Enter(from));
    while let Some(step) = stack.pop() {
        let id = match step {
            Step::Restore(slot, place) => {
                row[slot] = place;
                continue;
            }
            Step::Enter(id) => id,
        };
        if !list.see(id) {
            continue;
        }
        match nfa.state(id) {
            State::Fail => {}
            State::Look { look, next } => {
                if nfa.look_matcher().matches(*look, haystack, at) {
                    stack.push(Step::Enter(*next));
                }
            }
            State::Union { alternates } => {
                stack.extend(alternates.iter().rev().map(|&id| Step::Enter(id)));
            }
            &State::BinaryUnion { alt1, alt2 } => {
                stack.extend([Step::Enter(alt2), Step::Enter(alt1)]);
            }
            &State::Capture { next, slot, .. } => {
                let slot = slot.as_usize();
                if row.len() > 1 {
                    stack.push(Step::Restore(slot, row[slot]));
                    row[slot] = at;
                }
                stack.push(Step::Enter(next));
            }
            _ => {
                list.live.push(id);
                list.slots.extend_from_slice(row);
            }
        }
    }
}
