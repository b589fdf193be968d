//! From a [`Scope`] to the files in it, in order, and what went wrong on the way.
//!
//! [`reference`] walks with the `ignore` crate, which is what ripgrep does; [`roots`] looks at
//! what the caller named before anything is walked, and [`order`] decides who comes first.

mod order;
mod reference;
mod roots;

use crate::cancel::{CancelToken, Stop};
use crate::error::{Diagnostics, Result};
use crate::scope::{Scope, SortBy};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// A file that a scope lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileEntry {
    /// The root as it was written, and the way from there.
    pub path: PathBuf,
    /// Which root it was found under, counted from 0.
    pub root: usize,
    /// Whether the caller named this file itself. No filter was applied to it.
    pub explicit: bool,
    /// The time that files are ordered by. `None` when they are not ordered by time, and when it
    /// cannot be read.
    pub time: Option<SystemTime>,
    /// Its size in bytes, when it had to be looked at for a time or a size limit.
    pub bytes: Option<u64>,
}

/// How a walk went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilesSummary {
    /// How many files were listed.
    pub files: u64,
    /// Why the walk ended before its end.
    pub stopped: Option<Stop>,
    /// What was skipped, by reason.
    pub diagnostics: Diagnostics,
}

/// The files of a scope in its order; made by [`Scope::files`].
///
/// An iterator of [`FileEntry`]. What it lists after a cancellation is what had been found until
/// then.
#[derive(Debug)]
pub struct Files {
    source: Source,
    summary: FilesSummary,
}

#[derive(Debug)]
enum Source {
    Ordered(std::vec::IntoIter<FileEntry>),
    Streaming(Box<reference::Steps>),
}

impl Scope {
    /// Lists the files of this scope.
    ///
    /// With an order, the walk is over when this returns; on a tree of more than a few hundred
    /// entries it is done by all threads of the pool. Without one, files are found as the iterator
    /// is asked for them.
    ///
    /// # Errors
    ///
    /// [`NoRoot`](crate::ErrorCode::NoRoot), [`RootNotFound`](crate::ErrorCode::RootNotFound),
    /// [`RootUnreadable`](crate::ErrorCode::RootUnreadable) and
    /// [`SpecialFile`](crate::ErrorCode::SpecialFile) for the roots,
    /// [`InvalidGlob`](crate::ErrorCode::InvalidGlob),
    /// [`UnknownType`](crate::ErrorCode::UnknownType) and
    /// [`InvalidTypeDefinition`](crate::ErrorCode::InvalidTypeDefinition) for the filters. Trouble
    /// below a root is a diagnostic.
    ///
    /// ```
    /// use ingrep::{CancelToken, Order, Scope, SortBy};
    ///
    /// let mut files = Scope::new("src")
    ///     .glob("*.rs")
    ///     .sort(SortBy::Path, Order::Ascending)
    ///     .files(&CancelToken::new())?;
    /// let first = files.next().unwrap();
    /// assert_eq!(first.path, std::path::Path::new("src/cancel.rs"));
    /// assert_eq!(files.into_summary().stopped, None);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn files(&self, token: &CancelToken) -> Result<Files> {
        let filters = Arc::new(reference::Filters::new(self)?);
        let mut diagnostics = Diagnostics::new(self.max_diagnostics);
        let roots = roots::check(self, &mut diagnostics)?;
        let mut summary = FilesSummary { files: 0, stopped: None, diagnostics };
        let source = if self.sort_by == SortBy::Nothing {
            Source::Streaming(Box::new(reference::Steps::new(filters, roots, token.clone())))
        } else {
            let threads = if self.pool.is_inline() { 1 } else { self.pool.threads() };
            let mut found = Vec::new();
            for root in &roots {
                summary.stopped = token.stop();
                if summary.stopped.is_some() {
                    break;
                }
                let walked = reference::walk(&filters, root, threads, token);
                found.extend(walked.files);
                summary.diagnostics.merge(walked.diagnostics);
                if walked.stopped.is_some() {
                    summary.stopped = walked.stopped;
                    break;
                }
            }
            order::sort(&mut found, self.sort_by, self.order);
            Source::Ordered(found.into_iter())
        };
        Ok(Files { source, summary })
    }

    /// The path by which a listed file is opened.
    pub(crate) fn locate(&self, path: &Path) -> PathBuf {
        match &self.base {
            Some(base) => base.join(path),
            None => path.to_path_buf(),
        }
    }
}

impl Files {
    /// How the walk went. In a scope without an order, of what has been walked so far.
    pub fn into_summary(mut self) -> FilesSummary {
        self.take_summary()
    }

    /// The summary; the files are gone with it.
    pub(crate) fn take_summary(&mut self) -> FilesSummary {
        let none = FilesSummary { files: 0, stopped: None, diagnostics: Diagnostics::new(0) };
        let mut summary = std::mem::replace(&mut self.summary, none);
        match std::mem::replace(&mut self.source, Source::Ordered(Vec::new().into_iter())) {
            // What was found and not asked for has been listed all the same.
            Source::Ordered(rest) => summary.files += rest.len() as u64,
            Source::Streaming(walk) => {
                summary.stopped = walk.stopped();
                summary.diagnostics.merge(walk.into_diagnostics());
            }
        }
        summary
    }
}

impl Iterator for Files {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        let next = match &mut self.source {
            Source::Ordered(files) => files.next(),
            Source::Streaming(walk) => walk.next(),
        };
        self.summary.files += u64::from(next.is_some());
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.source {
            Source::Ordered(files) => files.size_hint(),
            Source::Streaming(_) => (0, None),
        }
    }
}
