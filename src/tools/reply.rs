//! What the tools answer: text for a model, and the same as data.

use super::input::GrepOutput;
use super::preview::Preview;
use super::spill::Spilled;
use crate::error::{Diagnostics, Reason};
use crate::text::{path_bytes, printable};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// An answer for a harness: the text that a model reads, and the same result as JSON.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The data, in the form that [`definitions`](super::definitions) describes.
    pub data: Value,
}

/// The answer of `glob`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GlobReply {
    /// The text that a model reads.
    #[serde(skip)]
    pub text: String,
    /// The kept paths, in order.
    pub paths: Vec<ShownPath>,
    /// How many files there are in all.
    pub total: u64,
    /// How many files at the beginning were left out on request.
    pub offset: u64,
    /// Whether there are more files than were kept in the text.
    pub truncated: bool,
    /// How many of the paths in the text are not in `paths`, for `meta_max_bytes`.
    pub omitted: u64,
    /// Where the complete result is.
    pub saved: Option<Saved>,
    /// What was and was not looked at, and what is worth knowing.
    #[serde(flatten)]
    pub notes: Notes,
}

/// The answer of `grep`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GrepReply {
    /// The text that a model reads.
    #[serde(skip)]
    pub text: String,
    /// The kept matches, file by file, in order.
    pub files: Vec<FileGroup>,
    /// How many matching lines there are in all.
    pub total: u64,
    /// How many files they are in.
    pub total_files: u64,
    /// How many matches (or files) at the beginning were left out on request.
    pub offset: u64,
    /// Whether there are more matches (or files) than were kept in the text.
    pub truncated: bool,
    /// How many of the files in the text are not in `files`, for `meta_max_bytes`.
    pub omitted: u64,
    /// Where the complete result is.
    pub saved: Option<Saved>,
    /// What was and was not looked at, and what is worth knowing.
    #[serde(flatten)]
    pub notes: Notes,
}

/// What a reply says beside its result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Notes {
    /// How many files were listed by the walk.
    pub files_walked: u64,
    /// How many files were searched.
    pub files_searched: u64,
    /// How many searched files were left at a NUL byte.
    pub files_binary: u64,
    /// How many files and directories were skipped, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// The first few of them.
    pub skipped_first: Vec<String>,
    /// Facts that may explain the result.
    pub hints: Vec<String>,
    /// What went wrong without failing the call.
    pub warnings: Vec<String>,
}

/// A path as it is shown, and as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct ShownPath {
    /// The path as text, with control characters escaped.
    pub path: String,
    /// Its bytes in base64, when the text is not the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
}

impl ShownPath {
    pub(super) fn new(path: &Path) -> ShownPath {
        use base64::Engine as _;
        let bytes = path_bytes(path);
        let shown = printable(&bytes).into_owned();
        let path_base64 = (shown.as_bytes() != &*bytes)
            .then(|| base64::engine::general_purpose::STANDARD.encode(&bytes));
        ShownPath { path: shown, path_base64 }
    }
}

/// The matches of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileGroup {
    /// The file.
    #[serde(flatten)]
    pub path: ShownPath,
    /// How many matching lines it has in all.
    pub count: u64,
    /// The kept ones.
    pub matches: Vec<MatchLine>,
}

/// One matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MatchLine {
    /// Its number, from 1.
    pub line: u64,
    /// Its text, as in the reply's text.
    pub text: String,
    /// Where the matches are in it: pairs of byte offsets into `text`.
    pub spans: Vec<[usize; 2]>,
    /// Whether `text` is not all of it.
    pub truncated: bool,
}

impl MatchLine {
    pub(super) fn new(line: u64, preview: Preview) -> MatchLine {
        let Preview { text, spans, truncated } = preview;
        MatchLine { line, text, spans, truncated }
    }
}

/// Where a complete result was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Saved {
    /// Where it is.
    pub locator: String,
    /// How to get at it.
    pub hint: String,
}

impl From<Spilled> for Saved {
    fn from(spilled: Spilled) -> Saved {
        Saved { locator: spilled.locator, hint: spilled.hint }
    }
}

const VCS_ROOT: &str = Reason::VcsRoot.as_str();

/// The text of a call that was stopped before it had found anything. Whether there is nothing is
/// not known.
const STOPPED: &str = "Nothing was found before the search was stopped";

/// How many skipped files and directories a reply names.
const NAMED_SKIPS: usize = 5;

impl Notes {
    pub(super) fn skip(&mut self, diagnostics: &Diagnostics) {
        self.skipped = diagnostics.counts().map(|(reason, n)| (reason.as_str(), n)).collect();
        let shown = |text: String| printable(text.as_bytes()).into_owned();
        if diagnostics.count(Reason::VcsRoot) > 0 {
            let hint = "the path lies in a version control directory, which is never searched";
            self.hints.push(hint.to_string());
        }
        self.skipped_first =
            diagnostics.iter().take(NAMED_SKIPS).map(|d| shown(d.to_string())).collect();
    }

    /// The lines that follow a result.
    fn tail(&self, text: &mut String) {
        for hint in &self.hints {
            text.push_str(&format!("\n({hint})"));
        }
        // A root that is left out is a hint of its own.
        let skipped = || self.skipped.iter().filter(|(reason, _)| **reason != VCS_ROOT);
        let total: u64 = skipped().map(|(_, n)| n).sum();
        if total > 0 {
            let reason = |(reason, n): (&&str, &u64)| format!("{n} {}", reason.replace('_', " "));
            let reasons: Vec<_> = skipped().map(reason).collect();
            text.push_str(&format!("\n({total} skipped: {})", reasons.join(", ")));
        }
    }
}

impl GlobReply {
    /// Of a call that has found nothing.
    pub(super) fn nothing(offset: u64) -> GlobReply {
        GlobReply {
            text: String::new(),
            paths: Vec::new(),
            total: 0,
            offset,
            truncated: false,
            omitted: 0,
            saved: None,
            notes: Notes::default(),
        }
    }

    /// Writes the text from the data. Called before any of the data is dropped. `ended`: the search
    /// was not stopped.
    pub(super) fn render(&mut self, ended: bool) {
        let mut text = String::new();
        if self.paths.is_empty() && self.total == 0 {
            text.push_str(if ended { "No files found" } else { STOPPED });
        } else if self.paths.is_empty() && !self.truncated {
            text.push_str(&format!("No more files: there are {}", self.total));
        }
        let paths: Vec<_> = self.paths.iter().map(|shown| shown.path.as_str()).collect();
        text.push_str(&paths.join("\n"));
        if self.truncated {
            let (kept, total) = (self.paths.len(), self.total);
            let rest = match &self.saved {
                Some(Saved { locator, hint }) => {
                    format!("Full sorted result stored at: {locator}. {hint}")
                }
                // Nobody tried to save it: it is being paged through.
                None if self.offset > 0 => next_page(self.offset + kept as u64),
                None => String::from(
                    "The complete result could not be saved; narrow pattern or path to see more.",
                ),
            };
            text.push_str(&format!("\n\n(Showing {kept} of {total} paths. {rest})"));
        }
        self.notes.tail(&mut text);
        self.text = text;
    }

    /// Drops trailing paths until the data has no more than this many bytes as JSON.
    pub(super) fn fit(&mut self, max_bytes: usize) {
        let whole = std::mem::take(&mut self.paths);
        self.omitted = whole.len() as u64;
        let base = size_of_json(self);
        (self.paths, self.omitted) = fitting(whole, base, max_bytes);
    }

    /// The reply without its types.
    pub fn into_reply(self) -> Reply {
        Reply { data: data_of(&self), text: self.text }
    }
}

impl GrepReply {
    /// Of a call that has found nothing.
    pub(super) fn nothing(offset: u64) -> GrepReply {
        GrepReply {
            text: String::new(),
            files: Vec::new(),
            total: 0,
            total_files: 0,
            offset,
            truncated: false,
            omitted: 0,
            saved: None,
            notes: Notes::default(),
        }
    }

    /// Writes the text from the data. Called before any of the data is dropped. `ended`: the search
    /// was not stopped.
    pub(super) fn render(&mut self, output: GrepOutput, ended: bool) {
        let mut text = String::new();
        let kept: usize = match output {
            GrepOutput::Matches => self.files.iter().map(|group| group.matches.len()).sum(),
            GrepOutput::FilesWithMatches | GrepOutput::Counts => self.files.len(),
        };
        if self.total == 0 {
            text.push_str(if ended { "No matches found" } else { STOPPED });
        } else {
            let (total, noun) = match output {
                GrepOutput::Matches if self.total == 1 => (self.total, "match"),
                GrepOutput::Matches => (self.total, "matches"),
                _ if self.total_files == 1 => (self.total_files, "file"),
                _ => (self.total_files, "files"),
            };
            let part = self.truncated || self.offset > 0;
            let of = if part { format!("{kept} of ") } else { String::new() };
            text.push_str(&format!("Found {of}{total} {noun}"));
            if kept > 0 {
                text.push_str("\n\n");
            }
            let groups: Vec<_> = self.files.iter().map(|group| group_text(group, output)).collect();
            text.push_str(&groups.join(if output == GrepOutput::Matches { "\n\n" } else { "\n" }));
            if self.truncated {
                text.push_str("\n\n");
                text.push_str(&match &self.saved {
                    Some(Saved { locator, hint }) => {
                        format!("(Full grep result stored at: {locator}. {hint})")
                    }
                    None if self.offset > 0 => {
                        format!("({})", next_page(self.offset + kept as u64))
                    }
                    None => String::from(
                        "(The complete result could not be saved; narrow pattern, path, or include \
                         to see more.)",
                    ),
                });
            }
        }
        self.notes.tail(&mut text);
        self.text = text;
    }

    /// Drops trailing files until the data has no more than this many bytes as JSON.
    pub(super) fn fit(&mut self, max_bytes: usize) {
        let whole = std::mem::take(&mut self.files);
        self.omitted = whole.len() as u64;
        let base = size_of_json(self);
        (self.files, self.omitted) = fitting(whole, base, max_bytes);
    }

    /// The reply without its types.
    pub fn into_reply(self) -> Reply {
        Reply { data: data_of(&self), text: self.text }
    }
}

/// One file's part of the text.
pub(super) fn group_text(group: &FileGroup, output: GrepOutput) -> String {
    match output {
        GrepOutput::FilesWithMatches => group.path.path.clone(),
        GrepOutput::Counts => format!("{}: {}", group.path.path, group.count),
        GrepOutput::Matches => {
            let lines = group.matches.iter().map(|m| format!("\nLine {}: {}", m.line, m.text));
            group.path.path.clone() + &lines.collect::<String>()
        }
    }
}

fn next_page(offset: u64) -> String {
    format!("The result goes on at offset {offset}.")
}

fn size_of_json(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}

/// The first items that have room beside what takes `base` bytes without them, and how many others
/// there are.
fn fitting<T: Serialize>(mut items: Vec<T>, base: usize, max_bytes: usize) -> (Vec<T>, u64) {
    // The first item has no comma before it.
    let mut used = base.saturating_sub(",".len());
    let fits = |item| {
        used = used.saturating_add(size_of_json(item)).saturating_add(",".len());
        used <= max_bytes
    };
    let kept = items.iter().map(fits).take_while(|fits| *fits).count();
    let omitted = (items.len() - kept) as u64;
    items.truncate(kept);
    (items, omitted)
}

fn data_of(reply: &impl Serialize) -> Value {
    serde_json::to_value(reply).unwrap_or_default()
}
