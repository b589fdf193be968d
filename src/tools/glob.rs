//! The tool `glob`.

use super::anchor::Place;
use super::error::{ToolError, ToolErrorCode};
use super::explain;
use super::input::GlobInput;
use super::reply::{GlobReply, Notes, Saved, ShownPath};
use super::{Found, Tools};
use crate::cancel::CancelToken;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

pub(super) fn glob(
    tools: &Tools,
    input: &GlobInput,
    token: &CancelToken,
) -> Result<GlobReply, ToolError> {
    input.check()?;
    let Some(Found { root, is_file }) = tools.find("glob", input.path.as_deref(), token)? else {
        let mut nothing = GlobReply::nothing(input.offset);
        nothing.render(false);
        return Err(tools.aborted_early("glob", token, nothing.into_reply()));
    };
    let place = Place { root: &root, cwd: &tools.cwd };
    let globs = place.globs("glob", &input.pattern)?;
    if is_file {
        let message = format!("glob: {} is a file, not a directory", tools.shown(&root).path);
        return Err(ToolError::new(ToolErrorCode::Failed, message)
            .next("Give the directory to look in, or search the file with `grep`"));
    }
    let scope = globs.iter().fold(tools.scope(&root), |scope, glob| scope.glob(glob));
    let told = |error| explain::failure((tools, token), "glob", &root, &error);
    let mut files = scope.files(token).map_err(told)?;
    let paths: Vec<PathBuf> = files.by_ref().map(|file| file.path).collect();
    let walked = files.into_summary();

    let shown: Vec<ShownPath> = paths.iter().map(|path| tools.shown(path)).collect();
    let raw: u64 = shown.iter().map(|shown| shown.path.len() as u64 + 1).sum();
    let mut notes = Notes { files_walked: walked.files, ..Notes::default() };
    notes.skip(&walked.diagnostics);
    if walked.stopped.is_none() {
        if raw > tools.raw_output_max_bytes {
            return Err(tools.overflow("glob"));
        }
        tools.check_strict("glob", &notes)?;
    }
    if shown.is_empty() {
        let (place, written) = (root.clone(), input.pattern.clone());
        let why = tools.in_time(token, move |_| explain::empty_glob(&place, &written, &globs));
        notes.hints.extend(why.ok().flatten().flatten());
        notes.hints.extend(tools.excluded(&root, token));
    }
    let total = shown.len() as u64;
    let kept = page(tools, input, &root, &paths);
    let truncated = input.offset.saturating_add(kept.len() as u64) < total;
    let mut reply = GlobReply {
        text: String::new(),
        paths: kept.iter().map(|&index| shown[index].clone()).collect(),
        total,
        offset: input.offset,
        truncated,
        omitted: 0,
        saved: None,
        notes,
    };
    if let Some(stop) = walked.stopped {
        reply.render(false);
        reply.fit(tools.meta_max_bytes);
        return Err(tools.aborted("glob", stop, reply.into_reply()));
    }
    if truncated && input.offset == 0 {
        match &tools.spill {
            Some(store) => {
                let mut content = Listing { paths: shown.iter(), line: Vec::new(), at: 0 };
                let saved = store.save("glob-results.txt", &mut content);
                match saved.and_then(|spilled| super::read_to_end(content.is_read(), spilled)) {
                    Ok(spilled) => reply.saved = Some(Saved::from(spilled)),
                    Err(error) => {
                        let warning = format!("the complete result could not be saved: {error}");
                        reply.notes.warnings.push(warning);
                    }
                }
            }
            None => reply.notes.warnings.push(super::NO_STORE.to_string()),
        }
    }
    reply.render(true);
    reply.fit(tools.meta_max_bytes);
    Ok(reply)
}

/// Which of the paths are kept, in order.
fn page(tools: &Tools, input: &GlobInput, root: &Path, paths: &[PathBuf]) -> Vec<usize> {
    let first = usize::try_from(input.offset).unwrap_or(usize::MAX).min(paths.len());
    let max = usize::try_from(tools.glob_max_results).unwrap_or(usize::MAX);
    if paths.len() - first <= max || !tools.sample_over_cap {
        return (first..paths.len()).take(max).collect();
    }
    // One from each top-level entry in turn, the entries in the order of their first file.
    let mut places: HashMap<OsString, usize> = HashMap::new();
    let mut entries: Vec<Vec<usize>> = Vec::new();
    for (index, path) in paths.iter().enumerate().skip(first) {
        let below = path.strip_prefix(root).unwrap_or(path);
        let name = below.components().next().map(|part| part.as_os_str().to_os_string());
        let next = entries.len();
        let place = *places.entry(name.unwrap_or_default()).or_insert(next);
        if place == next {
            entries.push(Vec::new());
        }
        entries[place].push(index);
    }
    let mut kept = Vec::with_capacity(max);
    for round in 0.. {
        let turn: Vec<_> = entries.iter().filter_map(|files| files.get(round).copied()).collect();
        if turn.is_empty() || kept.len() >= max {
            break;
        }
        kept.extend(turn.into_iter().take(max - kept.len()));
    }
    kept.sort_unstable();
    kept
}

/// The complete result, one path a line, as it is read.
struct Listing<'a> {
    paths: std::slice::Iter<'a, ShownPath>,
    line: Vec<u8>,
    at: usize,
}

impl Listing<'_> {
    fn is_read(&self) -> bool {
        self.paths.len() == 0 && self.at == self.line.len()
    }
}

impl Read for Listing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
            // Many lines at once: a store may write what it gets at each call.
            for shown in self.paths.by_ref() {
                self.line.extend_from_slice(shown.path.as_bytes());
                self.line.push(b'\n');
                if self.line.len() >= buffer.len() {
                    break;
                }
            }
        }
        let read = (&self.line[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}
