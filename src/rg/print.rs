//! How ripgrep writes things down: JSON lines for a file, a listed path, a message.

use super::plan::Plan;
use crate::matches::{FileMatches, Line, LineKind};
use crate::scan::Follow;
use crate::text::path_bytes;
use crate::wire::rg::{Begin, End, LineRef, Message, Stats, Submatch, Summary};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// What a searched file comes to.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) lines: Vec<u8>,
    /// What stands before them if others were written.
    pub(super) separator: Vec<u8>,
    /// The limit for which these are not all lines.
    pub(super) cut: Option<&'static str>,
    pub(super) stats: Stats,
    /// Whether it makes the run a success.
    pub(super) matched: bool,
}

/// The JSON lines of a file, as far as they have been written.
#[derive(Default)]
pub(super) struct Json {
    lines: Vec<u8>,
    /// How many lines of the result they are.
    told: usize,
    printed: u64,
    failure: Option<io::Error>,
}

impl Json {
    fn tell(&mut self, found: &FileMatches) -> io::Result<()> {
        let path = path_bytes(&found.path);
        if self.told == 0 && !found.is_empty() {
            self.printed += Message::Begin(Begin::new(&*path)).write_line(&mut self.lines)?;
        }
        // About what a line takes beside its bytes and its path.
        let takes = |line: Line<'_>| line.bytes.len() + path.len() + 128 + 64 * line.spans.len();
        self.lines.reserve(found.lines_from(self.told).map(takes).sum());
        for line in found.lines_from(self.told) {
            let mut told = LineRef::new(&path, line.bytes, line.offset);
            told.line_number = line.number;
            let submatches = (0..line.spans.len()).map(|index| submatch(&line, index));
            self.printed += match line.kind {
                LineKind::Match => told.write_match(&mut self.lines, submatches)?,
                _ => told.write_context(&mut self.lines, submatches)?,
            };
        }
        self.told = found.lines().len();
        Ok(())
    }

    /// With the rest of the lines, and the counts. A search that failed half-way has no end message.
    pub(super) fn finish(
        mut self,
        found: &FileMatches,
        elapsed: Duration,
        failed: bool,
    ) -> io::Result<Printed> {
        self.follow(found);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut stats = stats(found, elapsed);
        stats.bytes_printed = self.printed;
        stats.matches = found.matches;
        if !found.is_empty() && !failed {
            let path = path_bytes(&found.path);
            let end = End::new(&*path, found.binary_offset, stats);
            Message::End(end).write_line(&mut self.lines)?;
        }
        Ok(Printed {
            lines: self.lines,
            stats,
            matched: found.lines_matched > 0,
            cut: found.limit,
            ..Printed::default()
        })
    }
}

impl Follow for Json {
    fn follow(&mut self, found: &FileMatches) {
        if self.failure.is_none() {
            self.failure = self.tell(found).err();
        }
    }

    fn forget(&mut self) {
        *self = Json::default();
    }
}

/// The counts of a file of which nothing is printed. ripgrep counts at least one match for each
/// thing it reports, and takes a file that it left as binary for one without a match.
pub(super) fn quiet(found: &FileMatches, elapsed: Duration, quits_at_binary: bool) -> Printed {
    let mut stats = stats(found, elapsed);
    stats.matches = found
        .lines()
        .filter(|line| line.kind == LineKind::Match)
        .map(|line| line.spans.len().max(1) as u64)
        .sum();
    let left = quits_at_binary && found.binary_offset.is_some();
    Printed { stats, matched: found.lines_matched > 0 && !left, ..Printed::default() }
}

fn stats(found: &FileMatches, elapsed: Duration) -> Stats {
    Stats {
        elapsed: elapsed.into(),
        searches: 1,
        searches_with_match: u64::from(found.lines_matched > 0),
        bytes_searched: found.bytes_searched,
        matched_lines: found.lines_matched,
        ..Stats::default()
    }
}

fn submatch<'a>(line: &Line<'a>, index: usize) -> Submatch<'a> {
    let span = line.spans[index];
    let submatch = Submatch::new(&line.bytes[span.range()], span.range());
    match line.replacement(index) {
        Some(replacement) => submatch.with_replacement(replacement),
        None => submatch,
    }
}

/// Adds the counts of a file to those of the run.
pub(super) fn add(total: &mut Stats, file: &Stats) {
    total.elapsed = (total.elapsed.duration() + file.elapsed.duration()).into();
    total.searches += file.searches;
    total.searches_with_match += file.searches_with_match;
    total.bytes_searched += file.bytes_searched;
    total.bytes_printed += file.bytes_printed;
    total.matched_lines += file.matched_lines;
    total.matches += file.matches;
}

pub(super) fn summary(out: &mut dyn Write, total: Stats, elapsed: Duration) -> io::Result<()> {
    Message::Summary(Summary::new(elapsed, total)).write_line(out).map(drop)
}

/// The totals as text.
pub(super) fn totals(out: &mut dyn Write, total: &Stats, elapsed: Duration) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "{} matches", total.matches)?;
    writeln!(out, "{} matched lines", total.matched_lines)?;
    writeln!(out, "{} files contained matches", total.searches_with_match)?;
    writeln!(out, "{} files searched", total.searches)?;
    writeln!(out, "{} bytes printed", total.bytes_printed)?;
    writeln!(out, "{} bytes searched", total.bytes_searched)?;
    let searching = total.elapsed.duration().as_secs_f64();
    writeln!(out, "{searching:.6} seconds spent searching")?;
    writeln!(out, "{:.6} seconds total", elapsed.as_secs_f64())
}

/// The path that is printed for a listed or searched file.
pub(super) fn shown<'a>(plan: &Plan, path: &'a Path) -> &'a Path {
    match plan.implicit {
        true => path.strip_prefix("./").unwrap_or(path),
        false => path,
    }
}

/// A listed path.
pub(super) fn path(plan: &Plan, path: &Path, out: &mut dyn Write) -> io::Result<()> {
    if let Some(layout) = &plan.path_layout {
        return layout.write(path, out);
    }
    let bytes = path_bytes(path);
    match plan.path_separator {
        None => out.write_all(&bytes)?,
        Some(separator) => {
            let names = bytes.iter().map(|&byte| if byte == b'/' { separator } else { byte });
            out.write_all(&names.collect::<Vec<_>>())?;
        }
    }
    out.write_all(&[plan.path_end])
}
