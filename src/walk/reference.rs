//! The walk that ripgrep does, on the `ignore` crate.

use super::filters::Filters;
use super::global::{self, GlobalRules};
use super::roots::{Root, RootKind, is_vcs_name};
use super::trouble::{Origin, Trouble};
use super::{FileEntry, Source, Way};
use crate::cancel::{CancelToken, Stop};
use crate::scope::{Order, SortBy};
use ignore::types::Types;
use ignore::{DirEntry, Walk, WalkBuilder, WalkState};
use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A tree of fewer entries is walked before the first helper thread would have started: 512
/// entries take about a millisecond, and starting threads to find nothing left to do a tenth of
/// that. A larger tree is begun again by all threads; the millisecond is then a few percent.
const SMALL_TREE_ENTRIES: usize = 512;

impl Filters {
    /// What is wrong with the named rule files.
    pub(super) fn named_rules(&self) -> Vec<Trouble> {
        let mut builder = WalkBuilder::empty();
        builder.current_dir(self.base());
        let rules = &self.scope.ignore;
        let named = rules.files.iter().map(|file| (Origin::NamedRules, file));
        let global = rules.global.iter().map(|file| (Origin::GlobalRules, file));
        named
            .chain(global)
            .filter_map(|(origin, file)| {
                let at = self.locate_rules(file);
                let error = builder.add_ignore(&at)?;
                Some(Trouble::rule_file(origin, file, at, error))
            })
            .collect()
    }

    fn walk_builder(&self, root: &Root) -> WalkBuilder {
        let rules = &self.scope.ignore;
        let everywhere = !rules.require_git || global::in_repository(&root.path);
        let as_named = everywhere && !rules.case_insensitive;
        let mut builder = self.builder(&root.path, everywhere);
        let global = rules.global.as_ref().filter(|_| !as_named).and_then(|file| {
            let file = self.locate_rules(file);
            let rules = GlobalRules::read(&file, &self.base(), rules.case_insensitive)?;
            Some(GlobalRules::new(rules, self.before_global(), &root.path, everywhere))
        });
        let prune_vcs = self.scope.prune_vcs;
        if prune_vcs || global.is_some() {
            builder.filter_entry(move |entry| {
                let pruned = prune_vcs && entry.depth() > 0 && is_vcs_name(entry.file_name());
                !pruned && global.as_ref().is_none_or(|global| global.keep(entry))
            });
        }
        builder
    }

    /// Those filters that have a say before the global rules.
    fn before_global(&self) -> Filters {
        let mut before = Filters { types: Types::empty(), ..self.clone() };
        before.scope.hidden = true;
        before.scope.max_depth = None;
        before.scope.ignore.files.clear();
        before
    }

    /// A builder with all rules, the global ones as named ones if they hold everywhere.
    pub(super) fn builder(&self, path: &Path, with_global: bool) -> WalkBuilder {
        let scope = &self.scope;
        let rules = &scope.ignore;
        let mut builder = WalkBuilder::new(path);
        builder
            // First of all: without it the crate would ask for the process's working directory.
            .current_dir(self.base())
            .overrides(self.overrides.clone())
            .types(self.types.clone())
            .hidden(!scope.hidden)
            .parents(rules.parents)
            .ignore(rules.dot)
            .git_ignore(rules.vcs)
            .git_exclude(rules.exclude)
            // It would be looked for through the environment.
            .git_global(false)
            .require_git(rules.require_git)
            .ignore_case_insensitive(rules.case_insensitive)
            .max_depth(scope.max_depth)
            .follow_links(scope.follow_links)
            .same_file_system(scope.one_file_system);
        if rules.dot {
            builder.add_custom_ignore_filename(".rgignore");
        }
        let global = rules.global.iter().filter(|_| with_global);
        // The last one added wins.
        for file in rules.files.iter().chain(global) {
            // What is wrong with it is told once for all roots.
            let _ = builder.add_ignore(self.locate_rules(file));
        }
        if self.in_path_order() {
            builder.sort_by_file_name(std::ffi::OsStr::cmp);
        }
        builder
    }

    /// Whether the walk itself has to come upon files in path order.
    fn in_path_order(&self) -> bool {
        self.scope.walk_in_order
            && (self.scope.sort_by, self.scope.order) == (SortBy::Path, Order::Ascending)
    }

    /// What one step of a walk means.
    fn accept(&self, root: &Root, step: Result<DirEntry, ignore::Error>) -> Step {
        let entry = match step {
            Ok(entry) => entry,
            Err(error) => return Step::Trouble(Trouble::entry(root, error)),
        };
        // The rules of a directory: it is walked all the same.
        if let Some(error) = entry.error() {
            return Step::Trouble(Trouble::rules(root, entry.path(), error));
        }
        // With links followed this is the type of the target.
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if entry.depth() == 0 || !is_file {
            return Step::Other;
        }
        Step::File(Candidate::new(root, entry.into_path(), None))
    }

    /// What comes of a step, after a look at the file if its time or size counts.
    fn finish(&self, step: Step) -> Option<Event> {
        match step {
            Step::File(candidate) => self.list(candidate).map(Event::File),
            Step::Trouble(trouble) => Some(Event::Trouble(trouble)),
            Step::Other => None,
        }
    }

    /// Looks at the file, once, if its time or size counts.
    pub(super) fn list(&self, candidate: Candidate) -> Option<FileEntry> {
        let Candidate { shown: path, at, root, named } = candidate;
        let by = self.scope.sort_by;
        let by_time = !matches!(by, SortBy::Path | SortBy::Nothing);
        let max_bytes = self.scope.max_file_bytes.filter(|_| named.is_none());
        let look = (by_time || max_bytes.is_some()) && named != Some(Source::Stdin);
        let metadata = look.then(|| std::fs::metadata(at).ok()).flatten();
        let bytes = metadata.as_ref().map(Metadata::len);
        if max_bytes.zip(bytes).is_some_and(|(max, bytes)| bytes > max) {
            return None;
        }
        let time = metadata.and_then(|metadata| match by {
            SortBy::Modified => metadata.modified().ok(),
            SortBy::Accessed => metadata.accessed().ok(),
            SortBy::Created => metadata.created().ok(),
            SortBy::Path | SortBy::Nothing => None,
        });
        if let Some(progress) = &self.scope.progress {
            progress.list_one();
        }
        let source = named.unwrap_or(Source::Regular);
        let explicit = named.is_some();
        Some(FileEntry { path, root, explicit, time, bytes, source, way: Way::ByPath })
    }
}

/// One step of a walk.
enum Step {
    /// A file that passed all filters but the one on its size.
    File(Candidate),
    Trouble(Trouble),
    /// Nothing to list.
    Other,
}

impl Step {
    fn path(&self) -> Option<&Path> {
        match self {
            Step::File(candidate) => Some(&candidate.shown),
            Step::Trouble(_) | Step::Other => None,
        }
    }
}

/// A file that has not been looked at yet.
pub(super) struct Candidate {
    shown: PathBuf,
    /// As the walk reaches it.
    at: PathBuf,
    root: usize,
    /// What the caller named. `None` for a file that the walk came upon.
    named: Option<Source>,
}

impl Candidate {
    pub(super) fn new(root: &Root, at: PathBuf, named: Option<Source>) -> Candidate {
        let shown = match named {
            // The name that ripgrep gives it, and sorts it by.
            Some(Source::Stdin) => PathBuf::from("<stdin>"),
            Some(_) => root.written.clone(),
            None => shown(root, &at),
        };
        Candidate { shown, at, root: root.index, named }
    }
}

/// A path of the walk as the caller's root writes it.
pub(super) fn shown(root: &Root, path: &Path) -> PathBuf {
    match path.strip_prefix(&root.path) {
        Ok(rest) if rest.as_os_str().is_empty() => root.written.clone(),
        Ok(rest) => root.written.join(rest),
        Err(_) => path.to_path_buf(),
    }
}

/// What comes of a walk, step by step.
pub(crate) enum Event {
    File(FileEntry),
    Trouble(Trouble),
}

impl Event {
    fn path(&self) -> Option<&Path> {
        match self {
            Event::File(file) => Some(&file.path),
            Event::Trouble(_) => None,
        }
    }
}

/// What a walk found, in no order.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) events: Vec<Event>,
    pub(super) stopped: Option<Stop>,
}

/// Walks one root to its end, on as many threads as the tree is worth.
pub(super) fn walk(
    filters: &Arc<Filters>,
    root: &Root,
    threads: usize,
    token: &CancelToken,
) -> Walked {
    let mut alone = Steps::new(Arc::clone(filters), vec![root.clone()], token.clone());
    let mut events = Vec::new();
    // Not looked at before it is clear that this walk, and not the next, will list them.
    let mut held = Vec::new();
    for _ in 0..if threads > 1 { SMALL_TREE_ENTRIES } else { usize::MAX } {
        match alone.step() {
            Some(step) if threads > 1 => held.push(step),
            Some(step) => events.extend(filters.finish(step)),
            None => {
                events.extend(held.into_iter().filter_map(|step| filters.finish(step)));
                return Walked { events, stopped: alone.stopped };
            }
        }
    }
    let mut walked = walk_parallel(filters, root, threads, token);
    if walked.stopped.is_some() {
        // It may not have come again upon what the walk before it had found.
        let found: HashSet<_> = walked.events.iter().filter_map(Event::path).collect();
        held.retain(|step| step.path().is_some_and(|path| !found.contains(path)));
        walked.events.extend(held.into_iter().filter_map(|step| filters.finish(step)));
    }
    walked
}

pub(super) fn walk_parallel(
    filters: &Filters,
    root: &Root,
    threads: usize,
    token: &CancelToken,
) -> Walked {
    let mut builder = filters.walk_builder(root);
    builder.threads(threads);
    let shared = Mutex::new(Walked::default());
    builder.build_parallel().run(|| {
        let mut mine = Gathering { walked: Walked::default(), shared: &shared };
        Box::new(move |step| {
            mine.walked.stopped = token.stop();
            if mine.walked.stopped.is_some() {
                return WalkState::Quit;
            }
            mine.walked.events.extend(filters.finish(filters.accept(root, step)));
            WalkState::Continue
        })
    });
    shared.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What one thread gathers; handed over when the thread is done.
struct Gathering<'a> {
    walked: Walked,
    shared: &'a Mutex<Walked>,
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.events.append(&mut self.walked.events);
        shared.stopped = shared.stopped.or(self.walked.stopped);
    }
}

/// The sequential walk of a scope, root after root and step by step, as the caller asks.
pub(super) struct Steps {
    filters: Arc<Filters>,
    roots: std::vec::IntoIter<Root>,
    current: Option<(Root, Walk)>,
    before: Before,
    token: CancelToken,
    stopped: Option<Stop>,
}

/// The real name of the root before the current one, if both are directories.
#[derive(Default)]
pub(super) struct Before {
    before: Option<PathBuf>,
    current: Option<PathBuf>,
}

impl Before {
    /// Goes on to the next root. To the standard input no rules belong.
    pub(super) fn begin(&mut self, root: &Root) {
        if let RootKind::File(Source::Stdin) = root.kind {
            return;
        }
        self.before = self.current.take();
        if let RootKind::Dir = root.kind {
            self.current = root.path.canonicalize().ok();
        }
    }

    /// An event of the current root, unless it was told of the one before.
    pub(super) fn filter(&self, event: Event) -> Option<Event> {
        match event {
            Event::Trouble(trouble) => self.filter_trouble(trouble).map(Event::Trouble),
            event => Some(event),
        }
    }

    pub(super) fn filter_trouble(&self, trouble: Trouble) -> Option<Trouble> {
        match &self.before {
            Some(before) => trouble.without_known(before),
            None => Some(trouble),
        }
    }
}

impl Steps {
    pub(super) fn new(filters: Arc<Filters>, roots: Vec<Root>, token: CancelToken) -> Steps {
        let (roots, before) = (roots.into_iter(), Before::default());
        Steps { filters, roots, current: None, before, token, stopped: None }
    }

    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Whether all roots have been walked to their end.
    pub(super) fn is_over(&self) -> bool {
        self.stopped.is_none() && self.current.is_none() && self.roots.len() == 0
    }

    /// The next step of the walk. `None` at the end.
    fn step(&mut self) -> Option<Step> {
        loop {
            if self.stopped.is_none() {
                self.stopped = self.token.stop();
            }
            if self.stopped.is_some() {
                return None;
            }
            if let Some((root, walk)) = &mut self.current {
                match walk.next() {
                    Some(step) => return Some(self.filters.accept(root, step)),
                    None => self.current = None,
                }
            }
            let root = self.roots.next()?;
            self.before.begin(&root);
            match root.kind {
                RootKind::File(source) => {
                    let at = root.path.clone();
                    return Some(Step::File(Candidate::new(&root, at, Some(source))));
                }
                RootKind::Dir => {
                    let walk = self.filters.walk_builder(&root).build();
                    self.current = Some((root, walk));
                }
                RootKind::Unusable(trouble) => return Some(Step::Trouble(trouble)),
            }
        }
    }
}

/// What comes of the walk. The steps of which nothing comes are passed over.
impl Iterator for Steps {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            let step = self.step()?;
            let event = self.filters.finish(step).and_then(|event| self.before.filter(event));
            if event.is_some() {
                return event;
            }
        }
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").field("filters", &self.filters).finish_non_exhaustive()
    }
}
