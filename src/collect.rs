//! A pure fold of what files held into a bounded [`Outcome`]: the head is kept, the rest counted.

use crate::cancel::Stop;
use crate::error::Diagnostics;
use crate::limits::Limits;
use crate::matches::{FileMatches, LineKind};
use std::ops::ControlFlow;
use std::time::Duration;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// Everything was searched, and everything found is here. A result that exactly fits its
    /// limits is complete.
    Complete,
    /// A limit, which [`Summary::limit`] names, left something out of the result.
    Limit,
    /// The caller had enough.
    Stopped,
    /// The token was cancelled.
    Cancelled,
    /// The token's deadline passed.
    DeadlinePassed,
}

impl End {
    /// The end as a word for logs and wire formats; stable like an error code.
    ///
    /// ```
    /// assert_eq!(ingrep::End::DeadlinePassed.as_str(), "deadline_passed");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            End::Complete => "complete",
            End::Limit => "limit",
            End::Stopped => "stopped",
            End::Cancelled => "cancelled",
            End::DeadlinePassed => "deadline_passed",
        }
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> End {
        match stop {
            Stop::Cancelled => End::Cancelled,
            Stop::DeadlinePassed => End::DeadlinePassed,
        }
    }
}

/// How a search went. All counts are of the whole run, whatever a result keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Why it ended.
    pub end: End,
    /// The name of the first limit that left something out.
    pub limit: Option<&'static str>,
    /// Whether the counts are of everything there was. Not after a stop of any kind.
    pub totals_exact: bool,
    /// How many files the walk listed.
    pub files_walked: u64,
    /// How many of them were opened and searched, wholly or in part.
    pub files_searched: u64,
    /// How many of them had a matched line.
    pub files_matched: u64,
    /// How many of them were given up at a NUL byte before anything in them matched.
    pub files_binary: u64,
    /// How many lines matched.
    pub lines_matched: u64,
    /// How many matches there were in them.
    pub matches: u64,
    /// How many bytes were searched.
    pub bytes_searched: u64,
    /// What was skipped, by reason.
    pub diagnostics: Diagnostics,
    /// How long it took.
    pub elapsed: Duration,
}

impl Summary {
    pub(crate) fn new(max_diagnostics: usize) -> Summary {
        Summary {
            end: End::Complete,
            limit: None,
            totals_exact: true,
            files_walked: 0,
            files_searched: 0,
            files_matched: 0,
            files_binary: 0,
            lines_matched: 0,
            matches: 0,
            bytes_searched: 0,
            diagnostics: Diagnostics::new(max_diagnostics),
            elapsed: Duration::ZERO,
        }
    }

    /// Adds what others have counted.
    pub(crate) fn add_counts(&mut self, other: &Summary) {
        self.files_walked += other.files_walked;
        self.files_searched += other.files_searched;
        self.files_matched += other.files_matched;
        self.files_binary += other.files_binary;
        self.lines_matched += other.lines_matched;
        self.matches += other.matches;
        self.bytes_searched += other.bytes_searched;
    }

    pub(crate) fn count(&mut self, found: &FileMatches) {
        self.files_matched += u64::from(found.lines_matched > 0);
        self.files_binary += u64::from(found.binary_offset.is_some() && found.lines_matched == 0);
        self.lines_matched += found.lines_matched;
        self.matches += found.matches;
        self.bytes_searched += found.bytes_searched;
    }
}

/// What a collected search returns: the kept matches by file, and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The files with reported lines, in the order of the scope.
    pub files: Vec<FileMatches>,
    /// How the search went.
    pub summary: Summary,
}

/// The fold: files go in, in order; the kept head comes out.
pub(crate) struct Collector {
    files: Vec<FileMatches>,
    files_left: u64,
    matches_left: u64,
    bytes_left: u64,
    stop_early: bool,
    /// The limit that leaves out everything from here on.
    full: Option<&'static str>,
    /// The limit that left something out first.
    first: Option<&'static str>,
}

impl Collector {
    pub(crate) fn new(limits: &Limits) -> Collector {
        Collector {
            files: Vec::new(),
            files_left: limits.max_files,
            matches_left: limits.max_lines,
            bytes_left: limits.max_output_bytes,
            stop_early: limits.stop_early,
            full: None,
            first: None,
        }
    }

    /// The limit for which nothing more will be kept.
    pub(crate) fn full(&self) -> Option<&'static str> {
        self.full
    }

    /// Takes what fits of a file with lines. Break: something did not fit, and the caller does not
    /// want the rest counted.
    pub(crate) fn push(&mut self, mut found: FileMatches) -> ControlFlow<()> {
        if self.full.is_none() {
            self.full = self.cut(&mut found);
            self.first = self.first.or(self.full).or(found.limit);
            if !found.is_empty() {
                self.files_left -= 1;
                self.files.push(found);
            }
        }
        if self.stop_early && self.first.is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Cuts the file down to what there is room for. Returns the limit that left out lines of it,
    /// unless that limit starts anew with the next file.
    fn cut(&mut self, found: &mut FileMatches) -> Option<&'static str> {
        let all = found.lines().len();
        let (keep, limit) =
            if self.files_left == 0 { (0, Some("max_files")) } else { self.fit(found) };
        if let Some(limit) = limit
            && keep < all
        {
            found.truncate_lines(keep, limit);
        }
        // The search of this one file has already left out what no result has room for.
        limit.or(found.limit.filter(|&limit| limit == "max_lines"))
    }

    /// How many lines of the file there is room for, and what there is no room for more.
    fn fit(&mut self, found: &FileMatches) -> (usize, Option<&'static str>) {
        let path_bytes = found.path.as_os_str().len() as u64;
        let (mut matches, mut bytes) = (self.matches_left, self.bytes_left);
        let mut limit = None;
        // Lines before a match are kept with it or not at all.
        let mut whole = 0;
        for (index, line) in found.lines().enumerate() {
            let cost = line.bytes.len() as u64 + if index == 0 { path_bytes } else { 0 };
            if line.kind == LineKind::Match && matches == 0 {
                limit = Some("max_lines");
            } else if cost > bytes {
                limit = Some("max_output_bytes");
            }
            if limit.is_some() {
                break;
            }
            bytes -= cost;
            matches -= u64::from(line.kind == LineKind::Match);
            if line.kind != LineKind::Before {
                whole = index + 1;
                (self.matches_left, self.bytes_left) = (matches, bytes);
            }
        }
        (whole, limit)
    }

    pub(crate) fn finish(self, mut summary: Summary) -> Outcome {
        if self.first.is_some() {
            summary.limit = self.first;
            // Being stopped is the stronger reason: it leaves out what nobody has counted.
            if summary.end == End::Complete || self.stop_early {
                summary.end = End::Limit;
            }
        }
        Outcome { files: self.files, summary }
    }
}
