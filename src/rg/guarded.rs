//! A matcher that stops a loop over the matches of a line, where the loop is not ours.

use crate::cancel::CancelToken;
use grep_matcher::{ByteSet, Captures, LineTerminator, Match, Matcher};
use std::cell::Cell;
use std::io;

/// How often the engine is called before the token is asked again. One line can hold any number of
/// matches.
const CALLS_PER_LOOK: usize = 64;

/// Fails once the token stops, or once matches would be replaced with more bytes than there may be.
///
/// What is not passed on here, ripgrep's printers do not use, or an engine does as the trait does.
pub(super) struct Guarded<'a, M> {
    matcher: &'a M,
    token: &'a CancelToken,
    template: &'a [u8],
    max_replaced_bytes: usize,
    calls: Cell<usize>,
    replaced_bytes: Cell<usize>,
}

impl<'a, M: Matcher> Guarded<'a, M> {
    pub(super) fn new(
        matcher: &'a M,
        token: &'a CancelToken,
        template: &'a [u8],
        max_replaced_bytes: usize,
    ) -> Guarded<'a, M> {
        let (calls, replaced_bytes) = (Cell::new(0), Cell::new(0));
        Guarded { matcher, token, template, max_replaced_bytes, calls, replaced_bytes }
    }

    /// Whether the replacements were too much.
    pub(super) fn is_full(&self) -> bool {
        self.replaced_bytes.get() > self.max_replaced_bytes
    }

    fn go_on(&self) -> io::Result<()> {
        self.calls.set(self.calls.get() + 1);
        match self.calls.get().is_multiple_of(CALLS_PER_LOOK) && self.token.is_stopped() {
            true => Err(io::Error::other("stopped")),
            false => Ok(()),
        }
    }

    /// Counts what can become of a match at most: no group of it is longer than itself.
    fn replace(&self, match_bytes: usize) -> io::Result<()> {
        let groups = self.template.iter().filter(|&&byte| byte == b'$').count();
        let bytes = self.template.len().saturating_add(groups.saturating_mul(match_bytes));
        self.replaced_bytes.set(self.replaced_bytes.get().saturating_add(bytes));
        match self.is_full() {
            true => Err(io::Error::other("too much is replaced")),
            false => Ok(()),
        }
    }
}

impl<M: Matcher> Matcher for Guarded<'_, M> {
    type Captures = M::Captures;
    type Error = io::Error;

    fn find_at(&self, haystack: &[u8], at: usize) -> io::Result<Option<Match>> {
        self.go_on()?;
        self.matcher.find_at(haystack, at).map_err(told)
    }

    fn new_captures(&self) -> io::Result<M::Captures> {
        self.matcher.new_captures().map_err(told)
    }

    fn captures_at(
        &self,
        haystack: &[u8],
        at: usize,
        groups: &mut M::Captures,
    ) -> io::Result<bool> {
        self.go_on()?;
        let found = self.matcher.captures_at(haystack, at, groups).map_err(told)?;
        if found {
            self.replace(groups.get(0).map_or(0, |whole| whole.len()))?;
        }
        Ok(found)
    }

    fn capture_count(&self) -> usize {
        self.matcher.capture_count()
    }

    fn capture_index(&self, name: &str) -> Option<usize> {
        self.matcher.capture_index(name)
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.matcher.line_terminator()
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.matcher.non_matching_bytes()
    }
}

fn told(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}
