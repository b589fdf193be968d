//! What goes wrong in a walk, kept as the `ignore` crate tells it until somebody asks for words.

use super::Source;
use super::reference::shown;
use super::roots::{Root, RootKind};
use crate::error::{Diagnostic, Diagnostics, Reason};
use std::io;
use std::path::{Path, PathBuf};

/// Where trouble comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An entry that could not be walked, or the rules above a root.
    Entry,
    /// The rules in a walked directory.
    Rules,
    /// Rules in a walked directory that ripgrep would have obeyed, or waited for.
    DroppedRules,
    /// The rules in a file that the caller named.
    NamedRules,
    /// The global rules, of which ripgrep says nothing.
    GlobalRules,
}

/// One error of a walk.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) origin: Origin,
    /// Where, if the cause itself does not say.
    place: PathBuf,
    cause: Cause,
}

#[derive(Clone, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "two are the native walk's"))]
enum Cause {
    Crate(ignore::Error),
    VcsRoot,
    SpecialRoot,
    Limit(String),
    Panicked(String),
    Stuck,
}

impl Trouble {
    pub(super) fn entry(root: &Root, error: ignore::Error) -> Trouble {
        Trouble {
            origin: Origin::Entry,
            place: root.written.clone(),
            cause: Cause::Crate(rewrite(root, error)),
        }
    }

    pub(super) fn rules(root: &Root, at: &Path, error: &ignore::Error) -> Trouble {
        let cause = Cause::Crate(rewrite(root, error.clone()));
        let origin = if is_ours(error) { Origin::DroppedRules } else { Origin::Rules };
        Trouble { origin, place: shown(root, at), cause }
    }

    /// A file of rules that the caller named, opened as `at`.
    pub(super) fn rule_file(
        origin: Origin,
        written: &Path,
        at: PathBuf,
        error: ignore::Error,
    ) -> Trouble {
        let kind = RootKind::File(Source::Regular);
        let file = Root { index: 0, written: written.to_path_buf(), path: at, kind };
        let cause = Cause::Crate(rewrite(&file, error));
        Trouble { origin, place: file.written, cause }
    }

    /// The system's refusal of something that would have been listed as `shown`.
    pub(super) fn io(shown: &Path, error: io::Error) -> Trouble {
        let error = ignore::Error::WithPath {
            path: shown.to_path_buf(),
            err: Box::new(ignore::Error::Io(error)),
        };
        let cause = Cause::Crate(error);
        Trouble { origin: Origin::Entry, place: shown.to_path_buf(), cause }
    }

    /// A fault of ours in the walk of a root.
    pub(super) fn panicked(written: &Path, message: String) -> Trouble {
        let place = written.to_path_buf();
        Trouble { origin: Origin::Entry, place, cause: Cause::Panicked(message) }
    }

    /// The system had not come back with something below a root when the walk had to end.
    pub(super) fn stuck(written: &Path) -> Trouble {
        let cause = Cause::Stuck;
        Trouble { origin: Origin::Entry, place: written.to_path_buf(), cause }
    }

    pub(super) fn vcs_root(written: &Path) -> Trouble {
        let cause = Cause::VcsRoot;
        Trouble { origin: Origin::Entry, place: written.to_path_buf(), cause }
    }

    pub(super) fn special(written: &Path) -> Trouble {
        let cause = Cause::SpecialRoot;
        Trouble { origin: Origin::Entry, place: written.to_path_buf(), cause }
    }

    /// Without the faults of rules above this root that are above the one before it as well, whose
    /// real name is given: ripgrep still knows those rules, and does not read them again.
    pub(super) fn without_known(self, before: &Path) -> Option<Trouble> {
        let Trouble { origin: Origin::Entry, place, cause: Cause::Crate(error) } = self else {
            return Some(self);
        };
        let cause = Cause::Crate(without_known(error, before)?);
        Some(Trouble { origin: Origin::Entry, place, cause })
    }

    /// As diagnostics: each part of the error has its own place.
    pub(super) fn diagnose(&self, diagnostics: &mut Diagnostics) {
        let reason = match self.origin {
            Origin::Entry => Reason::Io,
            Origin::Rules | Origin::DroppedRules | Origin::NamedRules | Origin::GlobalRules => {
                Reason::IgnoreRule
            }
        };
        let (reason, message) = match &self.cause {
            Cause::Crate(error) => return push_all(diagnostics, &self.place, reason, error),
            Cause::VcsRoot => (Reason::VcsRoot, VCS_ROOT),
            Cause::SpecialRoot => (Reason::SpecialFile, SPECIAL_ROOT),
            Cause::Limit(message) => (Reason::TooLarge, &**message),
            Cause::Panicked(message) => (Reason::Internal, &**message),
            Cause::Stuck => (Reason::Stuck, STUCK),
        };
        diagnostics.push(Diagnostic::new(&self.place, reason, message));
    }

    /// In the words of ripgrep, which differ with the walk that it would have used.
    pub(crate) fn text(&self, sequential: bool) -> String {
        let error = match &self.cause {
            Cause::Crate(error) => error,
            Cause::VcsRoot => return format!("{}: {VCS_ROOT}", self.place.display()),
            Cause::SpecialRoot => return format!("{}: {SPECIAL_ROOT}", self.place.display()),
            Cause::Stuck => return format!("{}: {STUCK}", self.place.display()),
            Cause::Limit(message) | Cause::Panicked(message) => {
                return format!("{}: {message}", self.place.display());
            }
        };
        match error {
            ignore::Error::WithPath { path, err } if sequential => match &**err {
                ignore::Error::Io(error) if self.origin == Origin::Entry => {
                    let path = path.display();
                    format!("{path}: IO error for operation on {path}: {error}")
                }
                _ => error.to_string(),
            },
            error => error.to_string(),
        }
    }
}

/// What only the native walk tells.
#[cfg(target_os = "linux")]
impl Trouble {
    /// A link that leads back.
    pub(super) fn looped(root: &Root, ancestor: &Path, child: PathBuf) -> Trouble {
        let error = ignore::Error::Loop { ancestor: ancestor.to_path_buf(), child };
        Trouble { origin: Origin::Entry, place: root.written.clone(), cause: Cause::Crate(error) }
    }

    /// What is left out because of a limit that the message names.
    pub(super) fn limit(shown: &Path, message: String) -> Trouble {
        let place = shown.to_path_buf();
        Trouble { origin: Origin::Entry, place, cause: Cause::Limit(message) }
    }
}

/// The trouble of a walk, or of a part of it.
pub(super) struct Told {
    /// Each, for those who have to repeat it in full.
    pub(super) all: Option<Vec<Trouble>>,
    /// Else their number, and the first few.
    pub(super) counted: Diagnostics,
}

impl Told {
    pub(super) fn all() -> Told {
        Told { all: Some(Vec::new()), counted: Diagnostics::new(0) }
    }

    pub(super) fn counted(diagnostics: Diagnostics) -> Told {
        Told { all: None, counted: diagnostics }
    }

    pub(super) fn push(&mut self, trouble: Trouble) {
        match &mut self.all {
            Some(all) => all.push(trouble),
            None => trouble.diagnose(&mut self.counted),
        }
    }

    /// Nothing yet, to be added to this later.
    pub(super) fn new_part(&self) -> Told {
        let all = self.all.as_ref().map(|_| Vec::new());
        Told { all, counted: self.counted.new_part() }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn is_empty(&self) -> bool {
        self.all.as_ref().is_none_or(Vec::is_empty) && self.counted.total() == 0
    }

    #[cfg(target_os = "linux")]
    pub(super) fn add(&mut self, part: Told) {
        if let (Some(all), Some(more)) = (&mut self.all, part.all) {
            all.extend(more);
        }
        self.counted.merge(part.counted);
    }
}

fn without_known(error: ignore::Error, before: &Path) -> Option<ignore::Error> {
    match error {
        ignore::Error::Partial(errors) => {
            let errors: Vec<_> =
                errors.into_iter().filter_map(|error| without_known(error, before)).collect();
            (!errors.is_empty()).then_some(ignore::Error::Partial(errors))
        }
        ignore::Error::WithPath { path, err }
            if matches!(*err, ignore::Error::WithLineNumber { .. } | ignore::Error::Partial(_)) =>
        {
            let dir = path.parent().map(|dir| match dir.ends_with(".git/info") {
                true => dir.ancestors().nth(2).unwrap_or(dir),
                false => dir,
            });
            let known = dir.is_some_and(|dir| dir != before && before.starts_with(dir));
            (!known).then_some(ignore::Error::WithPath { path, err })
        }
        other => Some(other),
    }
}

/// Whether rules were dropped for a reason of ours: only then the error names no glob.
fn is_ours(error: &ignore::Error) -> bool {
    match error {
        ignore::Error::Partial(errors) => errors.iter().any(is_ours),
        ignore::Error::WithPath { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            is_ours(err)
        }
        ignore::Error::Glob { glob, .. } => glob.is_none(),
        _ => false,
    }
}

const STUCK: &str = "the system had not come back from here when the walk had to end";
const VCS_ROOT: &str = "the root lies in a version control directory, which is left out";
const SPECIAL_ROOT: &str = "neither a directory nor a regular file";

/// The error with the paths of the walk as the caller's root writes them, without depths, and with
/// the system's own errors where a crate below has wrapped them.
fn rewrite(root: &Root, error: ignore::Error) -> ignore::Error {
    let again = |error: Box<ignore::Error>| Box::new(rewrite(root, *error));
    match error {
        ignore::Error::WithPath { path, err } => {
            ignore::Error::WithPath { path: shown(root, &path), err: again(err) }
        }
        ignore::Error::WithDepth { err, .. } => *again(err),
        ignore::Error::WithLineNumber { line, err } => {
            ignore::Error::WithLineNumber { line, err: again(err) }
        }
        ignore::Error::Partial(errors) => {
            ignore::Error::Partial(errors.into_iter().map(|error| rewrite(root, error)).collect())
        }
        ignore::Error::Loop { ancestor, child } => {
            ignore::Error::Loop { ancestor: shown(root, &ancestor), child: shown(root, &child) }
        }
        ignore::Error::Io(error) => ignore::Error::Io(unwrapped(error)),
        other => other,
    }
}

fn unwrapped(error: io::Error) -> io::Error {
    let wrapped = error.get_ref().and_then(|inner| inner.source());
    let inner = wrapped.and_then(|source| source.downcast_ref::<io::Error>());
    match inner.and_then(io::Error::raw_os_error) {
        Some(number) => io::Error::from_raw_os_error(number),
        None => error,
    }
}

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
            diagnostics.push(Diagnostic::io(place, error));
        }
        ignore::Error::WithLineNumber { .. } | ignore::Error::Glob { .. } => {
            diagnostics.push(Diagnostic::new(place, Reason::IgnoreRule, error.to_string()));
        }
        other => diagnostics.push(Diagnostic::new(place, reason, other.to_string())),
    }
}
