//! The walk that ripgrep does, on the `ignore` crate.

use super::FileEntry;
use super::roots::{Root, is_vcs_name, walked_name};
use crate::cancel::{CancelToken, Stop};
use crate::error::{Diagnostic, Diagnostics, Error, ErrorCode, Reason, Result};
use crate::limits;
use crate::scope::{Scope, SortBy, TypeChange};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, Walk, WalkBuilder, WalkState};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A tree of fewer entries is walked before the first helper thread would have started: 512
/// entries take about a millisecond, and starting threads to find nothing left to do a tenth of
/// that. A larger tree is begun again by all threads; the millisecond is then a few percent.
const SMALL_TREE_ENTRIES: usize = 512;

/// A scope's filters, compiled.
#[derive(Clone, Debug)]
pub(super) struct Filters {
    scope: Scope,
    overrides: Override,
    types: Types,
}

impl Filters {
    pub(super) fn new(scope: &Scope) -> Result<Filters> {
        Ok(Filters { overrides: overrides(scope)?, types: types(scope)?, scope: scope.clone() })
    }

    /// A walk of one root, and what its named rule files had to say.
    fn walk_builder(&self, root: &Root, diagnostics: &mut Diagnostics) -> WalkBuilder {
        let scope = &self.scope;
        let rules = &scope.ignore;
        let mut builder = WalkBuilder::new(&root.path);
        builder
            // First of all: without it the crate would ask for the process's working directory.
            .current_dir(scope.base.clone().unwrap_or_default())
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
        let global =
            rules.global.iter().filter(|_| !rules.require_git || in_repository(&root.path));
        for file in global.chain(&rules.files) {
            if let Some(error) = builder.add_ignore(scope.locate(file)) {
                push_all(diagnostics, file, Reason::IgnoreRule, &error);
            }
        }
        if scope.prune_vcs {
            builder.filter_entry(|entry| entry.depth() == 0 || !is_vcs_name(entry.file_name()));
        }
        builder
    }

    /// What one step of a walk means: a file that passed all filters but the one on its
    /// size, or nothing.
    fn accept(
        &self,
        root: &Root,
        step: Result<DirEntry, ignore::Error>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Candidate> {
        let entry = match step {
            Ok(entry) => entry,
            Err(error) => {
                let error = RootedError { root, error }.shown();
                push_all(diagnostics, &root.written, Reason::Io, &error);
                return None;
            }
        };
        if let Some(error) = entry.error() {
            push_all(diagnostics, &shown(root, entry.path()), Reason::IgnoreRule, error);
        }
        // With links followed this is the type of the target.
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        (entry.depth() > 0 && is_file).then(|| Candidate::new(root, entry.into_path(), false))
    }

    /// Looks at the file, once, if its time or size counts.
    fn list(&self, candidate: Candidate) -> Option<FileEntry> {
        let Candidate { shown: path, at, root, explicit } = candidate;
        let by = self.scope.sort_by;
        let by_time = !matches!(by, SortBy::Path | SortBy::Nothing);
        let max_bytes = self.scope.max_file_bytes.filter(|_| !explicit);
        let look = by_time || max_bytes.is_some();
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
        Some(FileEntry { path, root, explicit, time, bytes })
    }
}

/// A file that has not been looked at yet.
struct Candidate {
    shown: PathBuf,
    /// As the walk reaches it.
    at: PathBuf,
    root: usize,
    explicit: bool,
}

impl Candidate {
    fn new(root: &Root, at: PathBuf, explicit: bool) -> Candidate {
        Candidate { shown: shown(root, &at), at, root: root.index, explicit }
    }
}

fn overrides(scope: &Scope) -> Result<Override> {
    if scope.globs.len() > limits::MAX_GLOBS {
        let message =
            format!("{} globs are over MAX_GLOBS ({})", scope.globs.len(), limits::MAX_GLOBS);
        return Err(
            Error::new(ErrorCode::InvalidGlob, message).with_hint("join some of them with `{a,b}`")
        );
    }
    let base = scope.glob_base.as_ref().map(|dir| scope.locate(dir)).or(scope.base.clone());
    let base = base.map(|dir| walked_name(&dir)).unwrap_or_default();
    let mut builder = OverrideBuilder::new(base);
    for glob in &scope.globs {
        if glob.glob.len() > limits::MAX_GLOB_BYTES {
            let message = format!(
                "a glob of {} bytes is over MAX_GLOB_BYTES ({})",
                glob.glob.len(),
                limits::MAX_GLOB_BYTES
            );
            return Err(Error::new(ErrorCode::InvalidGlob, message).with_hint("use a shorter glob"));
        }
        builder
            .case_insensitive(glob.case_insensitive)
            .and_then(|builder| builder.add(&glob.glob))
            .map_err(|error| invalid_glob(&error))?;
    }
    builder.build().map_err(|error| invalid_glob(&error))
}

fn invalid_glob(error: &ignore::Error) -> Error {
    Error::new(ErrorCode::InvalidGlob, error.to_string()).with_hint(
        "a literal `[`, `{`, `*` or `?` is written with a `\\` before it, or in brackets: `[[]`",
    )
}

fn types(scope: &Scope) -> Result<Types> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for change in &scope.types {
        match change {
            TypeChange::Add(definition) => builder.add_def(definition).map_err(|error| {
                Error::new(ErrorCode::InvalidTypeDefinition, error.to_string())
                    .with_hint("write `name:*.ext`, or `name:include:other,other`")
            })?,
            TypeChange::Clear(name) => _ = builder.clear(name),
            TypeChange::Select(name) => _ = builder.select(name),
            TypeChange::Negate(name) => _ = builder.negate(name),
        }
    }
    builder.build().map_err(|error| match error {
        ignore::Error::UnrecognizedFileType(_) => {
            Error::new(ErrorCode::UnknownType, error.to_string())
                .with_hint("define it as `name:*.ext`, or use a glob")
        }
        error => invalid_glob(&error),
    })
}

/// Whether this or a directory above is a repository's.
fn in_repository(root: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    root.ancestors().any(|dir| dir.join(".git").exists() || dir.join(".jj").is_dir())
}

/// A path of the walk as the caller's root writes it.
fn shown(root: &Root, path: &Path) -> PathBuf {
    match path.strip_prefix(&root.path) {
        Ok(rest) if rest.as_os_str().is_empty() => root.written.clone(),
        Ok(rest) => root.written.join(rest),
        Err(_) => path.to_path_buf(),
    }
}

/// An error of the walk whose paths are still those of the walk.
struct RootedError<'a> {
    root: &'a Root,
    error: ignore::Error,
}

impl RootedError<'_> {
    fn shown(self) -> ignore::Error {
        let root = self.root;
        let again =
            |error: Box<ignore::Error>| Box::new(RootedError { root, error: *error }.shown());
        match self.error {
            ignore::Error::WithPath { path, err } => {
                ignore::Error::WithPath { path: shown(root, &path), err: again(err) }
            }
            ignore::Error::WithDepth { err, .. } => *again(err),
            ignore::Error::Partial(errors) => ignore::Error::Partial(
                errors.into_iter().map(|error| *again(Box::new(error))).collect(),
            ),
            ignore::Error::Loop { ancestor, child } => {
                ignore::Error::Loop { ancestor: shown(root, &ancestor), child: shown(root, &child) }
            }
            other => other,
        }
    }
}

/// Takes an error of the crate apart: each part is a diagnostic with its own place.
fn push_all(diagnostics: &mut Diagnostics, place: &Path, reason: Reason, error: &ignore::Error) {
    match error {
        ignore::Error::Partial(errors) => {
            errors.iter().for_each(|error| push_all(diagnostics, place, reason, error));
        }
        ignore::Error::WithPath { path, err } => push_all(diagnostics, path, reason, err),
        ignore::Error::WithDepth { err, .. } => push_all(diagnostics, place, reason, err),
        ignore::Error::Loop { ancestor, child } => {
            let message = format!("a link leads back to {}", ancestor.display());
            diagnostics.push(Diagnostic::new(child, Reason::Loop, message));
        }
        ignore::Error::Io(error) if reason == Reason::Io => {
            // The crate wraps the system's error; the number, if there is one, tells its kind.
            let plain = error.raw_os_error().map(std::io::Error::from_raw_os_error);
            diagnostics.push(Diagnostic::io(place, plain.as_ref().unwrap_or(error)));
        }
        ignore::Error::WithLineNumber { .. } | ignore::Error::Glob { .. } => {
            diagnostics.push(Diagnostic::new(place, Reason::IgnoreRule, error.to_string()));
        }
        other => diagnostics.push(Diagnostic::new(place, reason, other.to_string())),
    }
}

/// What a walk of one root found.
pub(super) struct Walked {
    pub(super) files: Vec<FileEntry>,
    pub(super) diagnostics: Diagnostics,
    pub(super) stopped: Option<Stop>,
}

/// Walks one root to its end, in no order, on as many threads as the tree is worth.
pub(super) fn walk(
    filters: &Arc<Filters>,
    root: &Root,
    threads: usize,
    token: &CancelToken,
) -> Walked {
    let mut alone = Steps::new(Arc::clone(filters), vec![root.clone()], token.clone());
    let mut files = Vec::new();
    // Not looked at before it is clear that this walk, and not the next, will list them.
    let mut held = Vec::new();
    for _ in 0..if threads > 1 { SMALL_TREE_ENTRIES } else { usize::MAX } {
        match alone.step() {
            Some(step) if threads > 1 => held.extend(step),
            Some(step) => files.extend(step.and_then(|candidate| filters.list(candidate))),
            None => {
                files.extend(held.into_iter().filter_map(|candidate| filters.list(candidate)));
                return Walked { files, diagnostics: alone.diagnostics, stopped: alone.stopped };
            }
        }
    }
    walk_parallel(filters, root, threads, token)
}

fn walk_parallel(filters: &Filters, root: &Root, threads: usize, token: &CancelToken) -> Walked {
    let mut walked = Walked {
        files: Vec::new(),
        diagnostics: Diagnostics::new(filters.scope.max_diagnostics),
        stopped: None,
    };
    let mut builder = filters.walk_builder(root, &mut walked.diagnostics);
    builder.threads(threads);
    let shared = Mutex::new(walked);
    builder.build_parallel().run(|| {
        let mut mine = Gathering {
            files: Vec::new(),
            diagnostics: Diagnostics::new(filters.scope.max_diagnostics),
            stopped: None,
            shared: &shared,
        };
        Box::new(move |step| {
            mine.stopped = token.stop();
            if mine.stopped.is_some() {
                return WalkState::Quit;
            }
            let candidate = filters.accept(root, step, &mut mine.diagnostics);
            mine.files.extend(candidate.and_then(|candidate| filters.list(candidate)));
            WalkState::Continue
        })
    });
    shared.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What one thread gathers; handed over when the thread is done.
struct Gathering<'a> {
    files: Vec<FileEntry>,
    diagnostics: Diagnostics,
    stopped: Option<Stop>,
    shared: &'a Mutex<Walked>,
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.files.append(&mut self.files);
        shared.stopped = shared.stopped.or(self.stopped);
        let none = Diagnostics::new(0);
        shared.diagnostics.merge(std::mem::replace(&mut self.diagnostics, none));
    }
}

/// The sequential walk of a scope, root after root and step by step, as the caller asks.
pub(super) struct Steps {
    filters: Arc<Filters>,
    roots: std::vec::IntoIter<Root>,
    current: Option<(Root, Walk)>,
    token: CancelToken,
    stopped: Option<Stop>,
    diagnostics: Diagnostics,
}

impl Steps {
    pub(super) fn new(filters: Arc<Filters>, roots: Vec<Root>, token: CancelToken) -> Steps {
        let diagnostics = Diagnostics::new(filters.scope.max_diagnostics);
        Steps {
            filters,
            roots: roots.into_iter(),
            current: None,
            token,
            stopped: None,
            diagnostics,
        }
    }

    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    pub(super) fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// The next step of the walk, which may come upon a file. `None` at the end.
    fn step(&mut self) -> Option<Option<Candidate>> {
        loop {
            if self.stopped.is_none() {
                self.stopped = self.token.stop();
            }
            if self.stopped.is_some() {
                return None;
            }
            if let Some((root, walk)) = &mut self.current {
                match walk.next() {
                    Some(step) => {
                        return Some(self.filters.accept(root, step, &mut self.diagnostics));
                    }
                    None => self.current = None,
                }
            }
            let root = self.roots.next()?;
            if !root.is_dir {
                let at = root.path.clone();
                return Some(Some(Candidate::new(&root, at, true)));
            }
            let walk = self.filters.walk_builder(&root, &mut self.diagnostics).build();
            self.current = Some((root, walk));
        }
    }
}

/// The files of the walk. The steps that list none are passed over.
impl Iterator for Steps {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        loop {
            let step = self.step()?;
            let listed = step.and_then(|candidate| self.filters.list(candidate));
            if listed.is_some() {
                return listed;
            }
        }
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").field("filters", &self.filters).finish_non_exhaustive()
    }
}
