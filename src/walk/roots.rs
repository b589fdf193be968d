//! What the caller named, looked at before anything is walked.

use crate::error::{Diagnostic, Diagnostics, Error, ErrorCode, Reason, Result};
use crate::scope::Scope;
use crate::text;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

const VCS_NAMES: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

pub(super) fn is_vcs_name(name: &OsStr) -> bool {
    VCS_NAMES.iter().any(|vcs| name == *vcs)
}

/// A root that exists and can be read.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// Its place among the roots of the scope.
    pub(super) index: usize,
    /// As the caller wrote it.
    pub(super) written: PathBuf,
    /// As it is opened.
    pub(super) path: PathBuf,
    pub(super) is_dir: bool,
}

/// The usable roots. One that is not is an error, or with tolerant roots a diagnostic.
pub(super) fn check(scope: &Scope, diagnostics: &mut Diagnostics) -> Result<Vec<Root>> {
    if scope.roots.is_empty() {
        return Err(Error::new(ErrorCode::NoRoot, "there is no directory or file to search")
            .with_hint("name at least one root"));
    }
    let mut usable = Vec::with_capacity(scope.roots.len());
    for (index, written) in scope.roots.iter().enumerate() {
        match examine(scope, index, written) {
            Ok(root) if root.is_dir && scope.prune_vcs && lies_in_vcs(scope, written) => {
                let message = "the root lies in a version control directory, which is left out";
                diagnostics.push(Diagnostic::new(written, Reason::VcsRoot, message));
            }
            Ok(root) => usable.push(root),
            Err(unusable) if scope.tolerant_roots => diagnostics.push(unusable.diagnostic(written)),
            Err(unusable) => return Err(unusable.error(written)),
        }
    }
    Ok(usable)
}

enum Unusable {
    Special,
    Io(io::Error),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Unusable {
        Unusable::Io(error)
    }
}

impl Unusable {
    fn error(self, written: &Path) -> Error {
        let error = match self {
            Unusable::Special => {
                Error::new(ErrorCode::SpecialFile, "neither a directory nor a regular file")
                    .with_hint("a FIFO, socket or device is never read; copy its content to a file")
            }
            Unusable::Io(error) => {
                let (code, hint) = match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => (
                        ErrorCode::RootNotFound,
                        "check the spelling, and what relative paths are relative to",
                    ),
                    io::ErrorKind::PermissionDenied => (
                        ErrorCode::RootUnreadable,
                        "check its permissions and those of the directories above",
                    ),
                    _ => (ErrorCode::RootUnreadable, "the message is the operating system's"),
                };
                Error::new(code, error.to_string()).with_hint(hint)
            }
        };
        error.with_path(written)
    }

    fn diagnostic(self, written: &Path) -> Diagnostic {
        match self {
            Unusable::Special => Diagnostic::new(
                written,
                Reason::SpecialFile,
                "neither a directory nor a regular file",
            ),
            Unusable::Io(error) => Diagnostic::io(written, &error),
        }
    }
}

fn examine(scope: &Scope, index: usize, written: &Path) -> Result<Root, Unusable> {
    let named = scope.locate(written);
    // The name as it was written decides: `file/` names no file.
    let metadata = std::fs::metadata(&named)?;
    if metadata.is_dir() {
        // Found out now, so that nothing is searched when one of several roots is closed.
        std::fs::read_dir(&named)?;
    } else if !metadata.is_file() {
        return Err(Unusable::Special);
    }
    Ok(Root {
        index,
        written: written.to_path_buf(),
        path: walked_name(&named),
        is_dir: metadata.is_dir(),
    })
}

/// The root without `.` and doubled slashes, so that what is below it begins with it and globs see
/// the names that a person would write. `..` stays: it may stand behind a link.
pub(super) fn walked_name(named: &Path) -> PathBuf {
    let mut name: PathBuf = named.components().filter(|part| *part != Component::CurDir).collect();
    if name.as_os_str().is_empty() {
        name.push(".");
    }
    // The `ignore` crate takes a lone dash for the standard input.
    if name == Path::new("-") {
        name = Path::new(".").join(name);
    }
    name
}

fn lies_in_vcs(scope: &Scope, written: &Path) -> bool {
    text::lexical(&scope.locate(written))
        .components()
        .any(|part| matches!(part, Component::Normal(name) if is_vcs_name(name)))
}
