//! A walk step by step that goes on elsewhere, a little ahead of who asks for its events, so that
//! they need not wait for a system that does not come back.

use super::{Event, Steps, Trouble};
use crate::cancel::{CancelToken, Stop};
use crate::duty::Duty;
use crate::pool::panic_message;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

/// So many events are asked for at a time: as many as take about a millisecond. The first few are
/// asked for alone.
const MAX_EVENTS: usize = 512;

const FIRST_EVENTS: usize = 16;

pub(super) struct Ahead {
    duty: Duty,
    token: CancelToken,
    /// Where the walk began, to be named if it does not come back.
    roots: Vec<PathBuf>,
    walk: Walk,
    ready: VecDeque<Event>,
    events: usize,
}

enum Walk {
    Here(Box<Steps>),
    Away(Receiver<Back>),
    Over { stopped: Option<Stop>, is_whole: bool },
}

/// Over, for a reason that is told as trouble.
const BROKEN: Walk = Walk::Over { stopped: None, is_whole: false };

/// What comes of a stretch of the walk: its events, and the walk if it goes on.
struct Back {
    events: VecDeque<Event>,
    next: Walk,
}

impl Ahead {
    pub(super) fn new(steps: Steps, roots: Vec<PathBuf>, duty: Duty, token: &CancelToken) -> Ahead {
        Ahead {
            duty,
            token: token.clone(),
            roots,
            walk: Walk::Here(Box::new(steps)),
            ready: VecDeque::new(),
            events: FIRST_EVENTS,
        }
    }

    pub(super) fn stopped(&self) -> Option<Stop> {
        match &self.walk {
            Walk::Here(steps) => steps.stopped(),
            Walk::Away(_) => None,
            Walk::Over { stopped, .. } => *stopped,
        }
    }

    /// Whether the walk has come to its end, and all its events have been asked for.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.walk, Walk::Over { is_whole: true, .. }) && self.ready.is_empty()
    }

    /// Sends the walk on its way.
    fn send(&mut self, mut steps: Box<Steps>) -> Receiver<Back> {
        let (sender, receiver) = channel();
        let most = self.events;
        self.events = (most * 2).min(MAX_EVENTS);
        let root = self.roots.first().cloned().unwrap_or_default();
        let job = move || {
            let mut events = VecDeque::new();
            let walked = catch_unwind(AssertUnwindSafe(|| {
                while events.len() < most {
                    match steps.next() {
                        Some(event) => events.push_back(event),
                        None => {
                            let (stopped, is_whole) = (steps.stopped(), steps.is_over());
                            return Walk::Over { stopped, is_whole };
                        }
                    }
                }
                Walk::Here(steps)
            }));
            let next = walked.unwrap_or_else(|payload| {
                let message = format!("the walk panicked: {}", panic_message(&*payload));
                events.push_back(Event::Trouble(Trouble::panicked(&root, message)));
                BROKEN
            });
            // Nobody listens any more when the caller has dropped the iterator.
            let _ = sender.send(Back { events, next });
        };
        if let Err(job) = self.duty.spawn(job) {
            job();
        }
        receiver
    }
}

impl Iterator for Ahead {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            // It goes on while what it has found is looked at.
            self.walk = match std::mem::replace(&mut self.walk, BROKEN) {
                Walk::Here(steps) => Walk::Away(self.send(steps)),
                walk => walk,
            };
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let Walk::Away(receiver) = &self.walk else { return None };
            match self.duty.wait(receiver) {
                Some(Back { events, next }) => (self.ready, self.walk) = (events, next),
                None => {
                    let stuck = |root: PathBuf| Event::Trouble(Trouble::stuck(&root));
                    self.ready = std::mem::take(&mut self.roots).into_iter().map(stuck).collect();
                    self.walk = Walk::Over { stopped: self.token.stop(), is_whole: false };
                }
            }
        }
    }
}
