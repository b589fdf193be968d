//! The structured form of our own results.
//!
//! Bytes are [`Data`]: an object of `text` when they are UTF-8, of `bytes` in base64 when not.
//! Counts and offsets are numbers, times are seconds since 1970 with a fraction, spans are pairs
//! of byte offsets `[start, end]` into the line.
//!
//! ```
//! use ingrep::wire::reply::File;
//!
//! let found = ingrep::Query::new("b").compile()?.search_slice("x", b"a\nb\n")?;
//! let json = serde_json::to_string(&File::from(&found)).unwrap();
//! assert!(json.starts_with(r#"{"path":{"text":"x"},"lines_matched":1,"matches":1,"#));
//! assert!(json.contains(r#"{"number":2,"offset":2,"kind":"match","content":{"text":"b\n"},"#));
//! # Ok::<(), ingrep::Error>(())
//! ```

use super::rg::Data;
use crate::cancel::Stop;
use crate::collect::{End, Summary};
use crate::error::Diagnostics;
use crate::matches::{FileMatches, LineKind};
use crate::walk::{FileEntry, FilesSummary};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// What was found in one file; mirrors [`FileMatches`].
#[derive(Debug, Serialize)]
pub struct File<'a> {
    path: Data<'a>,
    lines_matched: u64,
    matches: u64,
    bytes_searched: u64,
    binary_offset: Option<u64>,
    complete: bool,
    limit: Option<&'static str>,
    lines: Vec<Line<'a>>,
}

/// One reported line; mirrors [`crate::Line`].
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    number: Option<u64>,
    offset: u64,
    kind: &'static str,
    content: Data<'a>,
    spans: Vec<[usize; 2]>,
    cut: bool,
    full_bytes: u64,
}

impl<'a> From<&'a FileMatches> for File<'a> {
    fn from(found: &'a FileMatches) -> File<'a> {
        File {
            path: Data::from_path(&found.path),
            lines_matched: found.lines_matched,
            matches: found.matches,
            bytes_searched: found.bytes_searched,
            binary_offset: found.binary_offset,
            complete: found.complete,
            limit: found.limit,
            lines: found.lines().map(Line::from).collect(),
        }
    }
}

impl<'a> From<crate::matches::Line<'a>> for Line<'a> {
    fn from(line: crate::matches::Line<'a>) -> Line<'a> {
        Line {
            number: line.number,
            offset: line.offset,
            kind: match line.kind {
                LineKind::Match => "match",
                LineKind::Before => "before",
                LineKind::After => "after",
                LineKind::Passthru => "passthru",
            },
            content: Data::from(line.bytes),
            spans: line.spans.iter().map(|span| [span.start, span.end]).collect(),
            cut: line.cut,
            full_bytes: line.full_bytes,
        }
    }
}

/// A listed file; mirrors [`FileEntry`].
#[derive(Debug, Serialize)]
pub struct Entry<'a> {
    path: Data<'a>,
    time: Option<f64>,
    bytes: Option<u64>,
}

impl<'a> From<&'a FileEntry> for Entry<'a> {
    fn from(file: &'a FileEntry) -> Entry<'a> {
        Entry { path: Data::from_path(&file.path), time: file.time.map(seconds), bytes: file.bytes }
    }
}

fn seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// How a search went; mirrors [`Summary`].
#[derive(Debug, Serialize)]
pub struct SearchSummary<'a> {
    end: &'static str,
    limit: Option<&'static str>,
    totals_exact: bool,
    files_walked: u64,
    files_searched: u64,
    files_matched: u64,
    files_binary: u64,
    lines_matched: u64,
    matches: u64,
    bytes_searched: u64,
    elapsed_seconds: f64,
    skipped: Skipped<'a>,
}

impl<'a> From<&'a Summary> for SearchSummary<'a> {
    fn from(summary: &'a Summary) -> SearchSummary<'a> {
        SearchSummary {
            end: summary.end.as_str(),
            limit: summary.limit,
            totals_exact: summary.totals_exact,
            files_walked: summary.files_walked,
            files_searched: summary.files_searched,
            files_matched: summary.files_matched,
            files_binary: summary.files_binary,
            lines_matched: summary.lines_matched,
            matches: summary.matches,
            bytes_searched: summary.bytes_searched,
            elapsed_seconds: summary.elapsed.as_secs_f64(),
            skipped: Skipped::from(&summary.diagnostics),
        }
    }
}

/// How a walk went; mirrors [`FilesSummary`].
#[derive(Debug, Serialize)]
pub struct WalkSummary<'a> {
    end: &'static str,
    files: u64,
    skipped: Skipped<'a>,
}

impl<'a> From<&'a FilesSummary> for WalkSummary<'a> {
    fn from(summary: &'a FilesSummary) -> WalkSummary<'a> {
        WalkSummary {
            end: summary.stopped.map_or(End::Complete, |stop: Stop| stop.into()).as_str(),
            files: summary.files,
            skipped: Skipped::from(&summary.diagnostics),
        }
    }
}

/// What was skipped; mirrors [`Diagnostics`].
#[derive(Debug, Serialize)]
pub struct Skipped<'a> {
    total: u64,
    by_reason: BTreeMap<&'static str, u64>,
    first: Vec<Trouble<'a>>,
}

/// One piece of trouble; mirrors [`crate::Diagnostic`].
#[derive(Debug, Serialize)]
pub struct Trouble<'a> {
    reason: &'static str,
    path: Option<Data<'a>>,
    message: &'a str,
}

impl<'a> From<&'a Diagnostics> for Skipped<'a> {
    fn from(diagnostics: &'a Diagnostics) -> Skipped<'a> {
        Skipped {
            total: diagnostics.total(),
            by_reason: diagnostics.counts().map(|(reason, n)| (reason.as_str(), n)).collect(),
            first: diagnostics
                .iter()
                .map(|diagnostic| Trouble {
                    reason: diagnostic.reason.as_str(),
                    path: diagnostic.path.as_deref().map(Data::from_path),
                    message: &diagnostic.message,
                })
                .collect(),
        }
    }
}
