//! How far a run has come, readable from another thread: [`Progress`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that a walk and a search advance while they run. Clones share them.
///
/// ```
/// use ingrep::{CancelToken, Progress, Query, Scope};
///
/// let progress = Progress::new();
/// let scope = Scope::new("src").progress(&progress);
/// let outcome = Query::new("fn").scope(scope).compile()?.collect(&CancelToken::new())?;
/// assert_eq!(progress.files_listed(), outcome.summary.files_walked);
/// assert_eq!(progress.files_searched(), outcome.summary.files_searched);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    listed: AtomicU64,
    searched: AtomicU64,
}

impl Progress {
    /// Counters at zero.
    pub fn new() -> Progress {
        Progress::default()
    }

    /// How many files the walk has listed so far.
    pub fn files_listed(&self) -> u64 {
        self.0.listed.load(Ordering::Relaxed)
    }

    /// How many files have been searched so far.
    pub fn files_searched(&self) -> u64 {
        self.0.searched.load(Ordering::Relaxed)
    }

    pub(crate) fn list_one(&self) {
        self.0.listed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn search_one(&self) {
        self.0.searched.fetch_add(1, Ordering::Relaxed);
    }
}
