//! What the caller named, looked at before anything is walked.

use super::Source;
use super::trouble::Trouble;
use crate::error::{Error, ErrorCode, Result};
use crate::faults::{self, Fault};
use crate::scope::{RootsPolicy, Scope};
use crate::text;
use bstr::ByteSlice;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

const VCS_NAMES: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

pub(super) fn is_vcs_name(name: &OsStr) -> bool {
    VCS_NAMES.iter().any(|vcs| name == *vcs)
}

/// One of the places the caller named, after a look at it.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// Its place among the roots of the scope.
    pub(super) index: usize,
    /// As the caller wrote it.
    pub(super) written: PathBuf,
    /// As it is walked.
    pub(super) path: PathBuf,
    pub(super) kind: RootKind,
}

#[derive(Clone, Debug)]
pub(super) enum RootKind {
    Dir,
    File(Source),
    Unusable(Trouble),
}

/// Looks at the roots, but for those that are forbidden. One that cannot be searched is an error, or
/// by the scope's wish unusable.
pub(super) fn check(scope: &Scope, forbids: &dyn Fn(&Path) -> bool) -> Result<Vec<Root>> {
    if scope.roots.is_empty() {
        return Err(Error::new(ErrorCode::NoRoot, "there is no directory or file to search")
            .with_hint("name at least one root"));
    }
    let roots = scope.roots.iter().enumerate();
    roots.map(|(index, written)| root(scope, index, written, forbids)).collect()
}

fn root(
    scope: &Scope,
    index: usize,
    written: &Path,
    forbids: &dyn Fn(&Path) -> bool,
) -> Result<Root> {
    let named = scope.locate(written);
    let examined = match forbids(&named) {
        true => Err(Unusable::Outside),
        false => examine(scope, written, &named),
    };
    let kind = match examined {
        Ok(RootKind::Dir) if scope.prune_vcs && lies_in_vcs(&named) => {
            RootKind::Unusable(Trouble::vcs_root(written))
        }
        Ok(kind) => kind,
        Err(unusable) if scope.roots_policy == RootsPolicy::Strict => {
            return Err(unusable.error(written));
        }
        Err(Unusable::Special) => RootKind::Unusable(Trouble::special(written)),
        Err(Unusable::Outside) => {
            RootKind::Unusable(Trouble::io(written, io::Error::other(OUTSIDE)))
        }
        Err(Unusable::Io(error)) => RootKind::Unusable(Trouble::io(written, error)),
    };
    let path = match kind {
        // The name as it was written decides: `file/` opens no file.
        RootKind::File(_) => named,
        _ if scope.roots_policy == RootsPolicy::AsRipgrep => literal_name(scope, written),
        _ => walked_name(&named),
    };
    Ok(Root { index, written: written.to_path_buf(), path, kind })
}

const OUTSIDE: &str = "the root lies outside of the directory that the scope is confined to";

enum Unusable {
    Special,
    Outside,
    Io(io::Error),
}

impl From<Fault> for Unusable {
    fn from(fault: Fault) -> Unusable {
        Unusable::Io(fault.into())
    }
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
            Unusable::Outside => Error::new(ErrorCode::RootOutside, OUTSIDE)
                .with_hint("name a directory or file inside of it"),
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
}

fn examine(scope: &Scope, written: &Path, named: &Path) -> Result<RootKind, Unusable> {
    let as_ripgrep = scope.roots_policy == RootsPolicy::AsRipgrep;
    if as_ripgrep && written == Path::new("-") {
        return Ok(RootKind::File(Source::Stdin));
    }
    // To ripgrep no name is no file. Here it is a way to have paths listed without their root.
    let unnamed = as_ripgrep && written.as_os_str().is_empty();
    faults::pass()?;
    let metadata = std::fs::metadata(if unnamed { written } else { named })?;
    if metadata.is_dir() {
        // Found out now, so that nothing is searched when one of several roots is closed.
        if !as_ripgrep {
            open_dir(named)?;
        }
        return Ok(RootKind::Dir);
    }
    match metadata.is_file() {
        true => Ok(RootKind::File(Source::Regular)),
        false if as_ripgrep => Ok(RootKind::File(Source::Special)),
        false => Err(Unusable::Special),
    }
}

/// `std::fs::ReadDir` would panic if its directory could not be closed.
#[cfg(target_os = "linux")]
fn open_dir(named: &Path) -> io::Result<()> {
    crate::beneath::open_dir(named).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn open_dir(named: &Path) -> io::Result<()> {
    std::fs::read_dir(named).map(drop)
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

/// The root as ripgrep walks it. Globs and named rules see it as it was written, but for two `./`
/// at its beginning: `a/b` does not match what is found below `a//`, `a/.` or `.//a`.
fn literal_name(scope: &Scope, written: &Path) -> PathBuf {
    let base = walked_name(scope.base.as_deref().unwrap_or(Path::new("")));
    let bytes = text::path_bytes(written);
    let mut rest = &*bytes;
    for _ in 0..2 {
        rest = if rest == b"." { b"" } else { rest.strip_prefix(b"./").unwrap_or(rest) };
    }
    if rest.is_empty() {
        return base;
    }
    if rest.len() == bytes.len() {
        return base.join(written);
    }
    // A rest that begins with a slash is below the base all the same.
    let mut name = base.into_os_string();
    name.push("/");
    name.push(rest.to_os_str_lossy());
    name.into()
}

fn lies_in_vcs(named: &Path) -> bool {
    text::lexical(named)
        .components()
        .any(|part| matches!(part, Component::Normal(name) if is_vcs_name(name)))
}
