//! From a [`Scope`] to the files in it, in order, and what went wrong on the way.
//!
//! [`reference`] walks with the `ignore` crate, which is what ripgrep does; [`roots`] looks at
//! what the caller named before anything is walked, and [`order`] decides who comes first.

mod global;
mod order;
mod reference;
mod roots;
mod trouble;

pub(crate) use reference::Event;
pub(crate) use trouble::{Origin, Trouble};

use crate::cancel::{CancelToken, Stop};
use crate::error::{Diagnostics, Result};
use crate::scope::{Order, Scope, SortBy};
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
    pub(crate) source: Source,
}

/// Where the bytes of a listed file come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A regular file; one of another kind that stands in its place is not opened.
    Regular,
    /// A FIFO, socket or device that the caller named.
    Special,
    /// The standard input that the caller handed over.
    Stdin,
}

/// How a walk went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilesSummary {
    /// How many files were listed.
    pub files: u64,
    /// Why the walk ended before its end.
    pub stopped: Option<Stop>,
    /// Whether the walk came to its end. Without an order it may not have been asked to.
    pub complete: bool,
    /// What was skipped, by reason.
    pub diagnostics: Diagnostics,
}

/// The files of a scope in its order; made by [`Scope::files`].
///
/// An iterator of [`FileEntry`]. What it lists after a cancellation is what had been found until
/// then.
#[derive(Debug)]
pub struct Files {
    walk: Walk,
    summary: FilesSummary,
}

#[derive(Debug)]
enum Walk {
    /// Over, and sorted.
    Ordered(std::vec::IntoIter<FileEntry>),
    /// As it goes on.
    Streaming(Box<reference::Steps>),
}

/// A walk's events as they come.
pub(crate) type Events = Box<dyn Iterator<Item = Event> + Send>;

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
        let roots = roots::check(self)?;
        let mut diagnostics = Diagnostics::new(self.max_diagnostics);
        filters.named_rules().iter().for_each(|trouble| trouble.diagnose(&mut diagnostics));
        let mut summary = FilesSummary { files: 0, stopped: None, complete: true, diagnostics };
        let walk = if self.sort_by == SortBy::Nothing {
            Walk::Streaming(Box::new(reference::Steps::new(filters, roots, token.clone())))
        } else {
            let mut files = Vec::new();
            summary.stopped = self.walk_all(&filters, &roots, token, |event| match event {
                Event::File(file) => files.push(file),
                Event::Trouble(trouble) => trouble.diagnose(&mut summary.diagnostics),
            });
            summary.complete = summary.stopped.is_none();
            order::sort(&mut files, self.sort_by, self.order);
            Walk::Ordered(files.into_iter())
        };
        Ok(Files { walk, summary })
    }

    /// Walks all roots to their end, in no order inside a root. Returns why that ended early.
    fn walk_all(
        &self,
        filters: &Arc<reference::Filters>,
        roots: &[roots::Root],
        token: &CancelToken,
        mut each: impl FnMut(Event),
    ) -> Option<Stop> {
        let threads = if self.pool.is_inline() { 1 } else { self.pool.threads() };
        let mut before = reference::Before::default();
        for root in roots {
            before.begin(root);
            let walked = match root.kind {
                roots::RootKind::Dir if self.walk_as_parallel && threads > 1 => {
                    reference::walk_parallel(filters, root, threads, token)
                }
                _ => reference::walk(filters, root, threads, token),
            };
            walked.events.into_iter().filter_map(|event| before.filter(event)).for_each(&mut each);
            if walked.stopped.is_some() {
                return walked.stopped;
            }
        }
        None
    }

    /// What comes of the walk in ripgrep's order: where it sorts by anything but ascending paths,
    /// all trouble comes before all files.
    pub(crate) fn events(&self, token: &CancelToken) -> Result<Events> {
        let filters = Arc::new(reference::Filters::new(self)?);
        let roots = roots::check(self)?;
        let named = filters.named_rules().into_iter().map(Event::Trouble);
        let in_order = matches!(
            (self.sort_by, self.order),
            (SortBy::Nothing, _) | (SortBy::Path, Order::Ascending)
        );
        // At the depth limit only the parallel walk still reads the rules of directories.
        let as_parallel =
            self.walk_as_parallel && self.max_depth.is_some() && !self.pool.is_inline();
        if in_order && !as_parallel {
            return Ok(Box::new(named.chain(reference::Steps::new(filters, roots, token.clone()))));
        }
        let (mut files, mut events) = (Vec::new(), Vec::from_iter(named));
        self.walk_all(&filters, &roots, token, |event| match event {
            Event::File(file) => files.push(file),
            trouble => events.push(trouble),
        });
        let by = if in_order { SortBy::Path } else { self.sort_by };
        order::sort(&mut files, by, self.order);
        events.extend(files.into_iter().map(Event::File));
        Ok(Box::new(events.into_iter()))
    }

    /// Finds fault with the types and globs of this scope, as listing its files would.
    pub(crate) fn check_filters(&self) -> Result<()> {
        reference::Filters::new(self).map(drop)
    }

    /// The file types of this scope with their globs, as changed by it, in the order of their names.
    pub(crate) fn type_definitions(&self) -> Result<Vec<(String, Vec<String>)>> {
        reference::type_definitions(self)
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
        let none = Diagnostics::new(0);
        let none = FilesSummary { files: 0, stopped: None, complete: false, diagnostics: none };
        let mut summary = std::mem::replace(&mut self.summary, none);
        match std::mem::replace(&mut self.walk, Walk::Ordered(Vec::new().into_iter())) {
            // What was found and not asked for has been listed all the same.
            Walk::Ordered(rest) => summary.files += rest.len() as u64,
            Walk::Streaming(walk) => {
                summary.stopped = walk.stopped();
                summary.complete = walk.is_over();
            }
        }
        summary
    }
}

impl Iterator for Files {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        let next = match &mut self.walk {
            Walk::Ordered(files) => files.next(),
            Walk::Streaming(walk) => walk.find_map(|event| match event {
                Event::File(file) => Some(file),
                Event::Trouble(trouble) => {
                    trouble.diagnose(&mut self.summary.diagnostics);
                    None
                }
            }),
        };
        self.summary.files += u64::from(next.is_some());
        next
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.walk {
            Walk::Ordered(files) => files.size_hint(),
            Walk::Streaming(_) => (0, None),
        }
    }
}
