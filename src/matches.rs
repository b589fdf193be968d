//! What was found in one file: [`FileMatches`] and its [`Line`]s.

use crate::text;
use std::path::{Path, PathBuf};

/// Where a match lies in its line, in bytes from the line's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span as a range, to index [`Line::bytes`] with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start..self.end
    }
}

/// Why a line is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LineKind {
    /// It matches.
    Match,
    /// It stands before a line that matches.
    Before,
    /// It stands after a line that matches.
    After,
    /// All lines were asked for.
    Passthru,
}

/// One reported line, or the lines that one match (or several that touch) spans.
///
/// ```
/// let search = ingrep::Query::new("b+").compile()?;
/// let found = search.search_slice("x", b"a\nabba b\n")?;
/// let line = found.lines().next().unwrap();
/// assert_eq!(line.number, Some(2));
/// assert_eq!(line.offset, 2);
/// assert_eq!(&line.bytes[line.spans[0].range()], b"bb");
/// assert_eq!(line.spans.len(), 2);
/// assert!(!line.cut);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line<'a> {
    /// The number of its first line, from 1. `None` when lines are not counted.
    pub number: Option<u64>,
    /// Where it begins, in bytes from the start of the searched text: behind a byte order mark,
    /// and after decoding.
    pub offset: u64,
    /// Its bytes with the terminator, or the first of them when [cut](Line::cut).
    pub bytes: &'a [u8],
    /// The matches in it, in order. Matches behind the cut are not here, one across it is clipped.
    pub spans: &'a [Span],
    /// Why it is reported.
    pub kind: LineKind,
    /// Whether `bytes` is less than all of it, for
    /// [`Limits::max_line_bytes`](crate::Limits::max_line_bytes).
    pub cut: bool,
    /// Its length in bytes before the cut.
    pub full_bytes: u64,
    /// The replacements of the matches, in one piece, and where each ends.
    replaced: &'a [u8],
    replaced_ends: &'a [usize],
}

impl<'a> Line<'a> {
    /// What [`Query::replacement`](crate::Query::replacement) makes of the match `spans[index]`.
    pub fn replacement(&self, index: usize) -> Option<&'a [u8]> {
        let end = *self.replaced_ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.replaced_ends[before]);
        Some(&self.replaced[start..end])
    }
}

/// What was found in one file. One buffer backs all its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMatches {
    /// The file, as the walk lists it.
    pub path: PathBuf,
    /// How many lines matched, kept here or not.
    pub lines_matched: u64,
    /// How many matches there were in them. 0 for an inverted search.
    pub matches: u64,
    /// How many bytes of the decoded file were searched.
    pub bytes_searched: u64,
    /// Where the first NUL byte was seen, when binary detection was on.
    pub binary_offset: Option<u64>,
    /// Whether the file was searched to its end, or to where the query says to stop. Otherwise
    /// the run was cancelled or the rest of the file could not be searched.
    pub complete: bool,
    /// The name of the limit for which lines were left out here.
    pub limit: Option<&'static str>,
    buffer: Vec<u8>,
    spans: Vec<Span>,
    replaced: Vec<u8>,
    replaced_ends: Vec<usize>,
    lines: Vec<Record>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    number: Option<u64>,
    offset: u64,
    bytes: std::ops::Range<usize>,
    spans: std::ops::Range<usize>,
    replaced: std::ops::Range<usize>,
    replaced_ends: std::ops::Range<usize>,
    kind: LineKind,
    full_bytes: u64,
}

/// The matches in a line, and what is made of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Located {
    pub(crate) spans: Vec<Span>,
    pub(crate) replaced: Vec<u8>,
    pub(crate) replaced_ends: Vec<usize>,
}

impl Located {
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.replaced.clear();
        self.replaced_ends.clear();
    }
}

impl FileMatches {
    pub(crate) fn new(path: &Path) -> FileMatches {
        FileMatches {
            path: path.to_path_buf(),
            lines_matched: 0,
            matches: 0,
            bytes_searched: 0,
            binary_offset: None,
            complete: false,
            limit: None,
            buffer: Vec::new(),
            spans: Vec::new(),
            replaced: Vec::new(),
            replaced_ends: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// The kept lines, in the order of the file.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = Line<'_>> + DoubleEndedIterator {
        self.lines_from(0)
    }

    /// Without the first so many, which are not looked at.
    pub(crate) fn lines_from(
        &self,
        first: usize,
    ) -> impl ExactSizeIterator<Item = Line<'_>> + DoubleEndedIterator {
        self.lines[first..].iter().map(|record| Line {
            number: record.number,
            offset: record.offset,
            bytes: &self.buffer[record.bytes.clone()],
            spans: &self.spans[record.spans.clone()],
            kind: record.kind,
            cut: (record.bytes.len() as u64) < record.full_bytes,
            full_bytes: record.full_bytes,
            replaced: &self.replaced[record.replaced.clone()],
            replaced_ends: &self.replaced_ends[record.replaced_ends.clone()],
        })
    }

    /// Whether no line is kept.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn keep_line(
        &mut self,
        number: Option<u64>,
        offset: u64,
        bytes: &[u8],
        located: &Located,
        kind: LineKind,
        max_line_bytes: usize,
    ) {
        let kept = &bytes[..text::floor_char_boundary(bytes, max_line_bytes)];
        let cut = kept.len() < bytes.len();
        let (first_byte, first_span) = (self.buffer.len(), self.spans.len());
        let (first_replaced, first_end) = (self.replaced.len(), self.replaced_ends.len());
        self.buffer.extend_from_slice(kept);
        self.spans.extend(
            located
                .spans
                .iter()
                .take_while(|span| !cut || span.start < kept.len())
                .map(|span| Span { start: span.start, end: span.end.min(kept.len()) }),
        );
        self.replaced.extend_from_slice(&located.replaced);
        self.replaced_ends.extend_from_slice(&located.replaced_ends);
        self.lines.push(Record {
            number,
            offset,
            bytes: first_byte..self.buffer.len(),
            spans: first_span..self.spans.len(),
            replaced: first_replaced..self.replaced.len(),
            replaced_ends: first_end..self.replaced_ends.len(),
            kind,
            full_bytes: bytes.len() as u64,
        });
    }

    /// Keeps a line of another result, of what begins here, behind so many lines.
    pub(crate) fn keep_line_of(
        &mut self,
        part: &FileMatches,
        index: usize,
        offset: u64,
        lines: u64,
    ) {
        let record = &part.lines[index];
        fn add<T: Copy>(all: &mut Vec<T>, part: &[T]) -> std::ops::Range<usize> {
            let first = all.len();
            all.extend_from_slice(part);
            first..all.len()
        }
        self.lines.push(Record {
            number: record.number.map(|number| number + lines),
            offset: record.offset + offset,
            bytes: add(&mut self.buffer, &part.buffer[record.bytes.clone()]),
            spans: add(&mut self.spans, &part.spans[record.spans.clone()]),
            replaced: add(&mut self.replaced, &part.replaced[record.replaced.clone()]),
            replaced_ends: add(
                &mut self.replaced_ends,
                &part.replaced_ends[record.replaced_ends.clone()],
            ),
            kind: record.kind,
            full_bytes: record.full_bytes,
        });
    }

    /// How many bytes of memory the kept lines hold.
    pub(crate) fn held_bytes(&self) -> usize {
        self.buffer.len()
            + self.replaced.len()
            + self.replaced_ends.len() * size_of::<usize>()
            + self.spans.len() * size_of::<Span>()
            + self.lines.len() * size_of::<Record>()
    }

    /// Drops all lines from `keep` on, for a limit.
    pub(crate) fn truncate_lines(&mut self, keep: usize, limit: &'static str) {
        if keep >= self.lines.len() {
            return;
        }
        self.limit = Some(limit);
        let first = &self.lines[keep];
        self.buffer.truncate(first.bytes.start);
        self.spans.truncate(first.spans.start);
        self.replaced.truncate(first.replaced.start);
        self.replaced_ends.truncate(first.replaced_ends.start);
        self.lines.truncate(keep);
    }
}
