//! From a [`Scope`] to the files in it, in order, and what went wrong on the way.
//!
//! [`native`] and [`reference`] list the same: the one by descriptors of open directories, the other
//! with the `ignore` crate, which is what ripgrep does. [`roots`] looks at what the caller named
//! before anything is walked, [`filters`] is what decides about files, and [`order`] who comes
//! first.

mod ahead;
mod filters;
mod global;
mod haul;
#[cfg(target_os = "linux")]
mod listing;
#[cfg(target_os = "linux")]
mod native;
mod order;
mod reference;
mod roots;
#[cfg(target_os = "linux")]
mod sort;
mod trouble;

pub(crate) use order::compare_files as compare;
pub(crate) use reference::Event;
use trouble::Told;
pub(crate) use trouble::{Origin, Trouble};

use crate::cancel::{CancelToken, Stop};
use crate::duty::Duty;
use crate::error::{Diagnostics, Error, ErrorCode, Result};
use crate::haystack::Place;
use crate::scope::{Order, Scope, SortBy};
use haul::{Haul, Hauled};
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
    pub(crate) way: Way,
}

/// How a listed file is opened. It is no part of what makes two entries equal.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    ByPath,
    /// From an open directory, by what is left of the path without so many bytes.
    #[cfg(target_os = "linux")]
    Below(Arc<crate::haystack::Anchor>, usize),
}

impl PartialEq for Way {
    fn eq(&self, _: &Way) -> bool {
        true
    }
}

impl Eq for Way {}

impl FileEntry {
    /// A file that a walk has found, by its path.
    pub(crate) fn at(root: usize, path: &Path, time: Option<SystemTime>) -> FileEntry {
        FileEntry {
            path: path.to_path_buf(),
            root,
            explicit: false,
            time,
            bytes: None,
            source: Source::Regular,
            way: Way::ByPath,
        }
    }

    /// Where this file of the scope is.
    pub(crate) fn place(&self, scope: &Scope) -> Place<'_> {
        match &self.way {
            Way::ByPath => Place::Path(scope.locate(&self.path).into()),
            #[cfg(target_os = "linux")]
            Way::Below(anchor, skip) => {
                let path = self.path.as_os_str().as_encoded_bytes();
                Place::Below(anchor, &path[*skip..])
            }
        }
    }
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
    /// How many files were listed, and with [`Scope::head`], how many would have been.
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
    Ordered(Sorted),
    /// As it goes on, up to so many files.
    Streaming(Steps, usize),
}

/// The files of a walk that is over, in their order.
#[derive(Debug)]
enum Sorted {
    Entries(std::vec::IntoIter<FileEntry>),
    #[cfg(target_os = "linux")]
    Listed(listing::Listed),
    /// What a walk had found that was stopped, or whose sort was. It is sorted when somebody asks for
    /// it: a million files take longer than a stop may.
    #[cfg(target_os = "linux")]
    Unsorted(listing::Listing, SortBy, Order, Option<usize>),
}

impl Iterator for Sorted {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        match self {
            Sorted::Entries(files) => files.next(),
            #[cfg(target_os = "linux")]
            Sorted::Listed(files) => files.next(),
            #[cfg(target_os = "linux")]
            Sorted::Unsorted(listing, by, order, head) => {
                let mut listing = std::mem::take(listing);
                // The walk's token has stopped already, and nobody knows of this one.
                let _ = listing.sort(*by, *order, *head, &CancelToken::new());
                *self = Sorted::Listed(listing.into_files());
                self.next()
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Sorted::Entries(files) => files.size_hint(),
            #[cfg(target_os = "linux")]
            Sorted::Listed(files) => files.size_hint(),
            #[cfg(target_os = "linux")]
            Sorted::Unsorted(listing, _, _, head) => {
                let files = listing.len().min(head.unwrap_or(usize::MAX));
                (files, Some(files))
            }
        }
    }
}

/// A walk step by step.
enum Steps {
    Ahead(Box<ahead::Ahead>),
    Reference(Box<reference::Steps>),
    #[cfg(target_os = "linux")]
    Native(Box<native::Steps>),
}

impl Steps {
    /// The same walk, but nobody waits for it longer than a deadline allows.
    fn ahead(self, scope: &Scope, duty: &Duty, token: &CancelToken) -> Steps {
        let ahead = ahead::Ahead::new(self, scope.roots.clone(), duty.clone(), token);
        Steps::Ahead(Box::new(ahead))
    }

    fn stopped(&self) -> Option<Stop> {
        match self {
            Steps::Ahead(steps) => steps.stopped(),
            Steps::Reference(steps) => steps.stopped(),
            #[cfg(target_os = "linux")]
            Steps::Native(steps) => steps.stopped(),
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Steps::Ahead(steps) => steps.is_over(),
            Steps::Reference(steps) => steps.is_over(),
            #[cfg(target_os = "linux")]
            Steps::Native(steps) => steps.is_over(),
        }
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}

impl Iterator for Steps {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self {
            Steps::Ahead(steps) => steps.next(),
            Steps::Reference(steps) => steps.next(),
            #[cfg(target_os = "linux")]
            Steps::Native(steps) => steps.next(),
        }
    }
}

/// The walk that a scope has chosen, with its filters and roots.
struct Chosen {
    roots: Vec<roots::Root>,
    /// What is wrong with the named rules.
    named: Vec<Trouble>,
    by: By,
}

enum By {
    Reference(Arc<filters::Filters>),
    #[cfg(target_os = "linux")]
    Native(Arc<native::Plan>),
}

/// What a walk found, in its order.
struct Gathered {
    files: Sorted,
    /// How many, also of those left out of the head.
    found: u64,
    told: Told,
    /// Why the walk, or the sort, ended early.
    stopped: Option<Stop>,
}

/// Takes files where the walk finds them, before anything is known of their place in the order.
///
/// Called by any thread of the walk.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only our own walk asks one"))]
pub(crate) trait Visitor: Send + Sync {
    /// Whether it may take any more files.
    fn wants_more(&self) -> bool;

    /// Whether it has taken this file. One that it has not is listed.
    fn visit(&self, spot: Spot<'_>) -> bool;
}

/// Where a file was found.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only our own walk makes one"))]
pub(crate) struct Spot<'a> {
    pub(crate) root: usize,
    /// As it would be listed.
    pub(crate) path: &'a Path,
    pub(crate) place: Place<'a>,
    /// Looks for the time that files are ordered by.
    pub(crate) time: &'a dyn Fn() -> Option<SystemTime>,
}

/// A walk's events as they come.
pub(crate) type Events = Box<dyn Iterator<Item = Event> + Send>;

/// What events come from.
enum Coming {
    /// A walk that goes on, after what is wrong with the named rules.
    Walking(Vec<Trouble>, Steps),
    Over(Events),
}

impl Coming {
    fn ahead(self, scope: &Scope, duty: &Duty, token: &CancelToken) -> Coming {
        match self {
            Coming::Walking(named, steps) => {
                Coming::Walking(named, steps.ahead(scope, duty, token))
            }
            over => over,
        }
    }

    fn into_events(self) -> Events {
        match self {
            Coming::Walking(named, steps) => {
                Box::new(named.into_iter().map(Event::Trouble).chain(steps))
            }
            Coming::Over(events) => events,
        }
    }
}

/// A walk of so few steps takes about a millisecond, so that it can be tried before all threads walk.
#[cfg(target_os = "linux")]
const SMALL_TREE_STEPS: usize = 512;

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
    /// assert_eq!(first.path, std::path::Path::new("src/beneath.rs"));
    /// assert_eq!(files.into_summary().stopped, None);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn files(&self, token: &CancelToken) -> Result<Files> {
        let duty = Duty::new(&self.pool, token)?;
        let haul = Arc::new(Haul::new(Told::counted(Diagnostics::new(self.max_diagnostics))));
        if !duty.is_hard() {
            return self.files_now((&duty, token), &haul);
        }
        let (scope, own, theirs) = (self.clone(), (duty.clone(), token.clone()), Arc::clone(&haul));
        match duty.call(move || scope.files_now((&own.0, &own.1), &theirs))? {
            Some(files) => files.map(|files| files.ahead(self, &duty, token)),
            None => Ok(self.files_so_far(token, &haul)),
        }
    }

    /// Whether files of this scope can be visited while it is walked.
    pub(crate) fn can_be_visited(&self) -> bool {
        cfg!(target_os = "linux")
            && self.walker != crate::scope::Walker::Reference
            && self.head.is_none()
    }

    /// Lists those files in order that the visitor has not taken. Files that the caller named are not
    /// shown to it.
    pub(crate) fn visit(&self, token: &CancelToken, visitor: Arc<dyn Visitor>) -> Result<Files> {
        let duty = Duty::new(&self.pool, token)?;
        let haul = Arc::new(Haul::new(Told::counted(Diagnostics::new(self.max_diagnostics))));
        let (scope, own, theirs) = (self.clone(), (duty.clone(), token.clone()), Arc::clone(&haul));
        let walk = move || {
            let mut chosen = scope.choose(&own.1)?;
            std::mem::take(&mut chosen.named).into_iter().for_each(|trouble| theirs.tell(trouble));
            let duty = (&own.0, &own.1);
            let stopped = scope.gather(&chosen, scope.sort_by, duty, &theirs, Some(&visitor));
            Ok(scope.files_of(theirs.take(), stopped, &own.1))
        };
        match duty.call(walk)? {
            Some(files) => files,
            None => Ok(self.files_so_far(token, &haul)),
        }
    }

    fn files_now(&self, (duty, token): (&Duty, &CancelToken), haul: &Arc<Haul>) -> Result<Files> {
        let mut chosen = self.choose(token)?;
        std::mem::take(&mut chosen.named).into_iter().for_each(|trouble| haul.tell(trouble));
        if self.sort_by == SortBy::Nothing {
            let head = self.head.unwrap_or(usize::MAX);
            let diagnostics = haul.take().told.counted;
            let summary = FilesSummary { files: 0, stopped: None, complete: true, diagnostics };
            return Ok(Files { walk: Walk::Streaming(self.steps(chosen, token), head), summary });
        }
        let stopped = self.gather(&chosen, self.sort_by, (duty, token), haul, None);
        Ok(self.files_of(haul.take(), stopped, token))
    }

    fn files_of(&self, hauled: Hauled, stopped: Option<Stop>, token: &CancelToken) -> Files {
        let Gathered { files, found, told, stopped } =
            self.sorted(hauled, self.sort_by, stopped, token);
        let complete = stopped.is_none();
        let diagnostics = told.counted;
        let summary = FilesSummary { files: found, stopped, complete, diagnostics };
        Files { walk: Walk::Ordered(files), summary }
    }

    /// What a walk that has not come back has found so far.
    fn files_so_far(&self, token: &CancelToken, haul: &Haul) -> Files {
        self.stuck_roots().for_each(|trouble| haul.tell(trouble));
        self.files_of(haul.take(), token.stop(), token)
    }

    fn stuck_roots(&self) -> impl Iterator<Item = Trouble> {
        self.roots.iter().map(|root| Trouble::stuck(root))
    }

    /// Compiles the filters and looks at the roots.
    fn choose(&self, token: &CancelToken) -> Result<Chosen> {
        let filters = Arc::new(filters::Filters::new(self)?);
        #[cfg(target_os = "linux")]
        if self.walker != crate::scope::Walker::Reference {
            let (plan, named) = native::Plan::new(filters, token)?;
            let roots = roots::check(self, &|place| plan.forbids(place))?;
            return Ok(Chosen { roots, named, by: By::Native(Arc::new(plan)) });
        }
        #[cfg(not(target_os = "linux"))]
        let _ = token;
        if self.confine.is_some() {
            let message = "a scope is confined by the native walk only";
            return Err(Error::new(ErrorCode::InvalidOption, message)
                .with_hint("leave the walker to `Walker::Auto`, on Linux"));
        }
        let roots = roots::check(self, &|_| false)?;
        let named = filters.named_rules();
        Ok(Chosen { roots, named, by: By::Reference(filters) })
    }

    fn steps(&self, chosen: Chosen, token: &CancelToken) -> Steps {
        match chosen.by {
            By::Reference(filters) => {
                let steps = reference::Steps::new(filters, chosen.roots, token.clone());
                Steps::Reference(Box::new(steps))
            }
            #[cfg(target_os = "linux")]
            By::Native(plan) => {
                let in_order = self.walk_in_order
                    && (self.sort_by, self.order) == (SortBy::Path, Order::Ascending);
                let steps = native::Steps::new(plan, chosen.roots, in_order, token.clone());
                Steps::Native(Box::new(steps))
            }
        }
    }

    /// Walks all roots to their end. Returns why that ended early.
    fn gather(
        &self,
        chosen: &Chosen,
        by: SortBy,
        (duty, token): (&Duty, &CancelToken),
        haul: &Arc<Haul>,
        visitor: Option<&Arc<dyn Visitor>>,
    ) -> Option<Stop> {
        // The reference walk is sorted later, and has threads of its own.
        #[cfg(not(target_os = "linux"))]
        let _ = (by, duty, visitor);
        match &chosen.by {
            By::Reference(filters) => {
                let mut files = Vec::new();
                let each = |event| match event {
                    Event::File(file) => files.push(file),
                    Event::Trouble(trouble) => haul.tell(trouble),
                };
                let stopped = self.walk_all(filters, &chosen.roots, token, each);
                haul.add_entries(files);
                stopped
            }
            #[cfg(target_os = "linux")]
            By::Native(plan) => plan.walk_all(&chosen.roots, by, (duty, token), haul, visitor),
        }
    }

    fn sorted(
        &self,
        hauled: Hauled,
        by: SortBy,
        stopped: Option<Stop>,
        token: &CancelToken,
    ) -> Gathered {
        #[cfg(target_os = "linux")]
        if hauled.listing.found > 0 {
            let Hauled { mut listing, told, .. } = hauled;
            let found = listing.found;
            let sorted = match stopped {
                Some(stop) => Err(stop),
                None => listing.sort(by, self.order, self.head, token),
            };
            let files = match sorted {
                Ok(()) => Sorted::Listed(listing.into_files()),
                Err(_) => Sorted::Unsorted(listing, by, self.order, self.head),
            };
            return Gathered { files, found, told, stopped: sorted.err() };
        }
        // Only the native walk is sorted later.
        #[cfg(not(target_os = "linux"))]
        let _ = token;
        let Hauled { entries: mut files, told, .. } = hauled;
        order::sort(&mut files, by, self.order);
        let found = files.len() as u64;
        files.truncate(self.head.unwrap_or(usize::MAX));
        Gathered { files: Sorted::Entries(files.into_iter()), found, told, stopped }
    }

    /// Walks all roots to their end, in no order inside a root. Returns why that ended early.
    fn walk_all(
        &self,
        filters: &Arc<filters::Filters>,
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
        let duty = Duty::new(&self.pool, token)?;
        if !duty.is_hard() {
            return Ok(self.events_now((&duty, token))?.into_events());
        }
        let (scope, own) = (self.clone(), (duty.clone(), token.clone()));
        match duty.call(move || scope.events_now((&own.0, &own.1)))? {
            Some(coming) => Ok(coming?.ahead(self, &duty, token).into_events()),
            None => {
                Ok(Box::new(self.stuck_roots().map(Event::Trouble).collect::<Vec<_>>().into_iter()))
            }
        }
    }

    fn events_now(&self, (duty, token): (&Duty, &CancelToken)) -> Result<Coming> {
        let mut chosen = self.choose(token)?;
        let named = std::mem::take(&mut chosen.named);
        let in_order = matches!(
            (self.sort_by, self.order),
            (SortBy::Nothing, _) | (SortBy::Path, Order::Ascending)
        );
        // At the depth limit only the parallel walk still reads the rules of directories.
        let as_parallel =
            self.walk_as_parallel && self.max_depth.is_some() && !self.pool.is_inline();
        if in_order && !as_parallel {
            return Ok(Coming::Walking(named, self.steps(chosen, token)));
        }
        let named = named.into_iter().map(Event::Trouble);
        // Of a small tree trouble is told in ripgrep's order, too.
        #[cfg(target_os = "linux")]
        if let (By::Native(plan), false) = (&chosen.by, self.walk_as_parallel) {
            let roots = chosen.roots.clone();
            let steps = native::Steps::new(Arc::clone(plan), roots, false, token.clone());
            if let Some(events) = steps.all_of_few(SMALL_TREE_STEPS) {
                let (mut files, mut told) = (Vec::new(), Vec::new());
                for event in events {
                    match event {
                        Event::File(file) => files.push(file),
                        trouble => told.push(trouble),
                    }
                }
                order::sort(&mut files, self.sort_by, self.order);
                let files = files.into_iter().map(Event::File);
                return Ok(Coming::Over(Box::new(named.chain(told).chain(files))));
            }
        }
        let haul = Arc::new(Haul::new(Told::all()));
        let by = if in_order { SortBy::Path } else { self.sort_by };
        let stopped = self.gather(&chosen, by, (duty, token), &haul, None);
        let gathered = self.sorted(haul.take(), by, stopped, token);
        let told = gathered.told.all.into_iter().flatten().map(Event::Trouble);
        // After a stop nobody takes more than one of them, for which all would be sorted.
        let files = gathered.stopped.is_none().then_some(gathered.files);
        let files = files.into_iter().flatten().map(Event::File);
        Ok(Coming::Over(Box::new(named.chain(told).chain(files))))
    }

    /// Finds fault with the types and globs of this scope, as listing its files would.
    pub(crate) fn check_filters(&self) -> Result<()> {
        filters::Filters::new(self).map(drop)
    }

    /// The file types of this scope with their globs, as changed by it, in the order of their names.
    pub(crate) fn type_definitions(&self) -> Result<Vec<(String, Vec<String>)>> {
        filters::type_definitions(self)
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
    fn ahead(self, scope: &Scope, duty: &Duty, token: &CancelToken) -> Files {
        let walk = match self.walk {
            Walk::Streaming(steps, head) => Walk::Streaming(steps.ahead(scope, duty, token), head),
            over => over,
        };
        Files { walk, ..self }
    }

    /// How the walk went. In a scope without an order, of what has been walked so far.
    pub fn into_summary(mut self) -> FilesSummary {
        self.take_summary()
    }

    /// Whether the walk was stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        self.summary.stopped.is_some()
    }

    /// The summary; the files are gone with it.
    pub(crate) fn take_summary(&mut self) -> FilesSummary {
        let none = Diagnostics::new(0);
        let none = FilesSummary { files: 0, stopped: None, complete: false, diagnostics: none };
        let mut summary = std::mem::replace(&mut self.summary, none);
        let nothing = Walk::Ordered(Sorted::Entries(Vec::new().into_iter()));
        if let Walk::Streaming(walk, _) = std::mem::replace(&mut self.walk, nothing) {
            summary.stopped = walk.stopped();
            summary.complete = walk.is_over();
        }
        summary
    }
}

impl Iterator for Files {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        match &mut self.walk {
            // They have been counted.
            Walk::Ordered(files) => files.next(),
            Walk::Streaming(_, 0) => None,
            Walk::Streaming(walk, head) => {
                let next = walk.find_map(|event| match event {
                    Event::File(file) => Some(file),
                    Event::Trouble(trouble) => {
                        trouble.diagnose(&mut self.summary.diagnostics);
                        None
                    }
                });
                self.summary.files += u64::from(next.is_some());
                *head -= usize::from(next.is_some());
                next
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.walk {
            Walk::Ordered(files) => files.size_hint(),
            Walk::Streaming(_, head) => (0, Some(*head)),
        }
    }
}
