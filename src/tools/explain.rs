//! Failures of the engine in the words of a tool, and facts that explain an empty result.

use super::Tools;
use super::error::{ToolError, ToolErrorCode};
use super::names::names;
use crate::cancel::CancelToken;
use crate::error::{Error, ErrorCode};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How many entries of a directory are looked at to find a name in other letter case.
const MAX_NAMES_LOOKED_AT: usize = 10_000;

/// An error of the engine. `root` is the place that was to be searched.
pub(super) fn failure(
    (tools, token): (&Tools, &CancelToken),
    tool: &str,
    root: &Path,
    error: &Error,
) -> ToolError {
    let code = match error.code() {
        ErrorCode::InvalidPattern
        | ErrorCode::EmptyPattern
        | ErrorCode::PatternTooLarge
        | ErrorCode::InvalidGlob => ToolErrorCode::InvalidPattern,
        ErrorCode::InvalidOption | ErrorCode::UnknownEncoding => ToolErrorCode::InvalidArgument,
        _ => ToolErrorCode::Failed,
    };
    let message = match (error.span(), error.path()) {
        (Some(span), _) => {
            format!("{tool}: {} at byte {} of the pattern", error.message(), span.start)
        }
        (None, Some(path)) => format!("{tool}: {}: {}", path.display(), error.message()),
        (None, None) => format!("{tool}: {}", error.message()),
    };
    let mut told = ToolError::new(code, message);
    let place = root.to_path_buf();
    if error.code() == ErrorCode::RootNotFound
        && let Ok(Some(Some(other))) = tools.in_time(token, move |_| other_case(&place))
    {
        return told.next(format!("There is {}, in other letter case", other.display()));
    }
    // The engine's own hints may name what only a caller in Rust can change.
    match error.code() {
        ErrorCode::PatternTooLarge => {
            return told.next("Use smaller counted repetitions, or fewer alternatives");
        }
        ErrorCode::RootUnreadable | ErrorCode::SpecialFile | ErrorCode::Io => {
            told = told.next("Search another path");
        }
        _ => {}
    }
    if let Some(hint) = error.hint() {
        told = told.next(capitalized(hint));
    }
    told
}

fn capitalized(sentence: &str) -> String {
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// A path that exists and differs from this one, which does not, in letter case only.
fn other_case(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        let exact = found.join(part);
        if exact.symlink_metadata().is_ok() {
            found = exact;
            continue;
        }
        let wanted = part.as_os_str().to_str()?.to_lowercase();
        let mut names = names(&found).ok()?.take(MAX_NAMES_LOOKED_AT).filter_map(Result::ok);
        let is_wanted = |name: &OsString| name.to_str().is_some_and(|n| n.to_lowercase() == wanted);
        let name = names.find(is_wanted)?;
        found.push(name);
    }
    Some(found)
}

/// What may explain that a glob has matched nothing. `written` is the model's glob, `globs` what it
/// stands for below `root`.
pub(super) fn empty_glob(root: &Path, written: &str, globs: &[String]) -> Option<String> {
    let plain = || globs.iter().map(|glob| glob.trim_matches('/')).filter(|glob| !glob.is_empty());
    if let Some(glob) = plain().find(|glob| root.join(glob).is_dir()) {
        return Some(format!("{written} is a directory; its files are matched by {glob}/**"));
    }
    if let Some(link) = plain().find_map(|glob| link_on_the_way(root, glob)) {
        return Some(format!("{link} is a symbolic link, which is only followed as `path`"));
    }
    written.contains('\\').then(|| {
        String::from("in a glob a backslash escapes what follows it; directories are parted by /")
    })
}

/// The first directories of a glob, up to one that is a link.
fn link_on_the_way<'a>(root: &Path, glob: &'a str) -> Option<&'a str> {
    let ends = glob.match_indices('/').map(|(at, _)| &glob[..at]);
    ends.take_while(|names| !names.contains(['*', '?', '[', '{'])).find(|names| {
        let place = root.join(names);
        place.is_symlink() && place.is_dir()
    })
}
