//! How a run is stopped from outside: [`CancelToken`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a token stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// Somebody called [`CancelToken::cancel`] on the token or on one it descends from.
    Cancelled,
    /// The earliest deadline of the token and its ancestors has passed.
    DeadlinePassed,
}

/// A flag, and perhaps a deadline, that every long operation of this crate looks at: per directory
/// entry, per file, per buffer read, per matched line, and within a line as often as its pattern may be
/// slow.
///
/// Clones share the flag. A [child](CancelToken::child) stops with its parent, and can be stopped
/// or given a deadline without touching it. Setting the flag is one atomic store, so it may be
/// done from a signal handler.
///
/// A deadline is kept even if the system is not: a call whose token has one returns within 100 ms
/// of it, and leaves threads behind that wait for a file system which does not answer. For this its
/// [`Pool`](crate::Pool) must have threads.
///
/// ```
/// use ingrep::{CancelToken, Stop};
/// use std::time::Duration;
///
/// let session = CancelToken::new();
/// let call = session.child().deadline_in(Duration::from_secs(30));
/// assert_eq!(call.stop(), None);
///
/// session.cancel();
/// assert_eq!(call.stop(), Some(Stop::Cancelled));
/// ```
#[derive(Clone, Debug)]
pub struct CancelToken {
    own: Arc<AtomicBool>,
    // The flags of all ancestors, flat: a token made a thousand generations down is dropped
    // without recursion.
    above: Arc<[Arc<AtomicBool>]>,
    deadline: Option<Instant>,
}

impl CancelToken {
    /// A token that nobody has cancelled and that has no deadline.
    pub fn new() -> CancelToken {
        CancelToken { own: Arc::default(), above: Arc::new([]), deadline: None }
    }

    /// A token that stops when this one does, and can be stopped alone.
    ///
    /// ```
    /// let parent = ingrep::CancelToken::new();
    /// let child = parent.child();
    /// child.cancel();
    /// assert!(child.is_stopped() && !parent.is_stopped());
    /// ```
    pub fn child(&self) -> CancelToken {
        let above = self.above.iter().chain([&self.own]).cloned().collect();
        CancelToken { own: Arc::default(), above, deadline: self.deadline }
    }

    /// The same token with a deadline, which can only come earlier: the sooner of two wins.
    /// Clones made before keep their own.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let token = ingrep::CancelToken::new().deadline(Instant::now());
    /// assert_eq!(token.stop(), Some(ingrep::Stop::DeadlinePassed));
    /// ```
    pub fn deadline(mut self, at: Instant) -> CancelToken {
        self.deadline = Some(self.deadline.map_or(at, |before| before.min(at)));
        self
    }

    /// Like [`deadline`](CancelToken::deadline), counted from now. A duration too long for the
    /// clock is no deadline.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// assert!(ingrep::CancelToken::new().deadline_in(Duration::ZERO).is_stopped());
    /// assert!(!ingrep::CancelToken::new().deadline_in(Duration::MAX).is_stopped());
    /// ```
    pub fn deadline_in(self, after: Duration) -> CancelToken {
        match Instant::now().checked_add(after) {
            Some(at) => self.deadline(at),
            None => self,
        }
    }

    /// Asks everything that runs under this token, its clones and its children to stop.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether, and why, work under this token should stop. A cancellation is told before a
    /// deadline.
    pub fn stop(&self) -> Option<Stop> {
        if self.own.load(Ordering::Relaxed)
            || self.above.iter().any(|flag| flag.load(Ordering::Relaxed))
        {
            return Some(Stop::Cancelled);
        }
        match self.deadline {
            Some(at) if Instant::now() >= at => Some(Stop::DeadlinePassed),
            _ => None,
        }
    }

    pub(crate) fn deadline_at(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether work under this token should stop.
    pub fn is_stopped(&self) -> bool {
        self.stop().is_some()
    }

    /// A value that cancels this token when it is dropped: a search cannot outlive the scope that
    /// asked for it.
    ///
    /// ```
    /// let token = ingrep::CancelToken::new();
    /// {
    ///     let _guard = token.guard();
    /// }
    /// assert!(token.is_stopped());
    /// ```
    pub fn guard(&self) -> CancelGuard {
        CancelGuard { token: Some(self.clone()) }
    }
}

impl Default for CancelToken {
    fn default() -> CancelToken {
        CancelToken::new()
    }
}

/// Cancels its token when dropped; made by [`CancelToken::guard`].
#[derive(Debug)]
#[must_use = "a guard that is dropped at once cancels at once"]
pub struct CancelGuard {
    token: Option<CancelToken>,
}

impl CancelGuard {
    /// Lets the token live on.
    ///
    /// ```
    /// let token = ingrep::CancelToken::new();
    /// token.guard().disarm();
    /// assert!(!token.is_stopped());
    /// ```
    pub fn disarm(mut self) {
        self.token = None;
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            token.cancel();
        }
    }
}
