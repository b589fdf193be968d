//! Failures of the engine in the words of a tool, and facts that explain an empty result.

use super::error::{ToolError, ToolErrorCode};
use crate::error::{Error, ErrorCode};
use std::path::{Path, PathBuf};

/// How many entries of a directory are looked at to find a name in other letter case.
const MAX_NAMES_LOOKED_AT: usize = 10_000;

/// An error of the engine. `root` is the place that was to be searched.
pub(super) fn failure(tool: &str, root: &Path, error: &Error) -> ToolError {
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
    if error.code() == ErrorCode::RootNotFound
        && let Some(other) = other_case(root)
    {
        return told.next(format!("There is {}, in other letter case", other.display()));
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
        let entry =
            std::fs::read_dir(&found).ok()?.take(MAX_NAMES_LOOKED_AT).filter_map(Result::ok).find(
                |entry| entry.file_name().to_str().is_some_and(|n| n.to_lowercase() == wanted),
            )?;
        found = entry.path();
    }
    Some(found)
}

/// What may explain that a glob has matched nothing. `written` is the model's glob, `globs` what it
/// stands for below `root`.
pub(super) fn empty_glob(root: &Path, written: &str, globs: &[String]) -> Option<String> {
    globs
        .iter()
        .map(|glob| glob.trim_start_matches('/').trim_end_matches('/'))
        .find(|glob| !glob.is_empty() && root.join(glob).is_dir())
        .map(|glob| format!("{written} is a directory; its files are matched by {glob}/**"))
}
