//! What is found, as text for a person or as one JSON document.

use super::args::Color;
use super::status::Status;
use ingrep::text::{path_bytes, printable};
use ingrep::wire::reply;
use ingrep::{FileEntry, FileMatches, FilesSummary, Line, LineKind, Summary};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;

const PATH: &str = "\x1b[35m";
const NUMBER: &str = "\x1b[32m";
const MATCH: &str = "\x1b[1;31m";
const PLAIN: &str = "\x1b[0m";

/// How to print, decided once.
pub(crate) struct Printer<'a> {
    json: bool,
    colored: bool,
    status: &'a Status,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(json: bool, color: Color, status: &'a Status) -> Printer<'a> {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Printer { json, colored, status }
    }

    pub(crate) fn output(self) -> Output<'a> {
        Output {
            to_terminal: io::stdout().is_terminal(),
            out: BufWriter::new(io::stdout().lock()),
            printer: self,
            items: 0,
            result: Ok(()),
        }
    }
}

/// A result on its way out. After a write has failed nothing more is tried.
pub(crate) struct Output<'a> {
    printer: Printer<'a>,
    out: BufWriter<StdoutLock<'static>>,
    to_terminal: bool,
    items: u64,
    result: io::Result<()>,
}

impl Output<'_> {
    /// Prints what was found in a file. False: nobody reads any more.
    pub(crate) fn file(&mut self, found: &FileMatches) -> bool {
        self.item(|output| {
            if output.printer.json {
                return output.json_item(&reply::File::from(found));
            }
            if output.items > 0 {
                writeln!(output.out)?;
            }
            output.path(&found.path)?;
            let in_context = found.lines().any(|line| line.kind != LineKind::Match);
            let mut before = None;
            for line in found.lines() {
                if in_context && before.is_some_and(|before| is_gap(&before, &line)) {
                    writeln!(output.out, "--")?;
                }
                output.line(&line)?;
                before = Some(line);
            }
            if let Some(offset) = found.binary_offset {
                writeln!(output.out, "(binary file: a NUL byte at offset {offset})")?;
            }
            if !found.complete {
                writeln!(output.out, "(the rest of this file was not searched)")?;
            }
            Ok(())
        })
    }

    /// Prints the path of a listed file. False: nobody reads any more.
    pub(crate) fn entry(&mut self, file: &FileEntry) -> bool {
        self.item(|output| match output.printer.json {
            true => output.json_item(&reply::Entry::from(file)),
            false => output.path(&file.path),
        })
    }

    /// Prints what follows the items, and tells whether all could be written.
    pub(crate) fn end(mut self, summary: &impl Footer) -> io::Result<()> {
        self.result?;
        if self.printer.json {
            let head: &[u8] = if self.items == 0 { b"{\"files\":[" } else { b"" };
            self.out.write_all(head)?;
            self.out.write_all(b"],\"summary\":")?;
            summary.json(&mut self.out)?;
            self.out.write_all(b"}\n")?;
        }
        self.out.flush()
    }

    fn item(&mut self, print: impl FnOnce(&mut Self) -> io::Result<()>) -> bool {
        if self.result.is_ok() {
            // Both streams may be the same terminal.
            let quiet = self.printer.status.hide();
            self.result = print(self).and_then(|()| match self.to_terminal {
                true => self.out.flush(),
                false => Ok(()),
            });
            drop(quiet);
            self.items += 1;
        }
        self.result.is_ok()
    }

    fn json_item(&mut self, item: &impl Serialize) -> io::Result<()> {
        let head: &[u8] = if self.items == 0 { b"{\"files\":[" } else { b"," };
        self.out.write_all(head)?;
        Ok(serde_json::to_writer(&mut self.out, item)?)
    }

    /// A path on a line of its own. On a terminal it is made safe to show; in a pipe it is the
    /// bytes that open the file.
    fn path(&mut self, path: &Path) -> io::Result<()> {
        // What the default root adds is not what a person would type.
        let path = path.strip_prefix("./").unwrap_or(path);
        let bytes = path_bytes(path);
        self.paint(PATH)?;
        if self.to_terminal {
            self.out.write_all(printable(&bytes).as_bytes())?;
        } else {
            self.out.write_all(&bytes)?;
        }
        self.paint(PLAIN)?;
        writeln!(self.out)
    }

    /// One reported line; a match across lines is several, each with its number.
    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mark = if line.kind == LineKind::Match { ":" } else { "-" };
        let mut start = 0;
        for (index, row) in line.bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if let Some(number) = line.number {
                self.paint(NUMBER)?;
                write!(self.out, "{}", number + index as u64)?;
                self.paint(PLAIN)?;
                write!(self.out, "{mark} ")?;
            }
            self.row(row, line, start)?;
            start += row.len();
            if line.cut && start == line.bytes.len() {
                write!(self.out, " (line truncated)")?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// The part of a line's bytes that begins at `start`, with its matches marked.
    fn row(&mut self, row: &[u8], line: &Line<'_>, start: usize) -> io::Result<()> {
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        let mut done = 0;
        let marked = if self.printer.colored { line.spans } else { &[] };
        for span in marked {
            let from = span.start.saturating_sub(start).clamp(done, row.len());
            let to = span.end.saturating_sub(start).clamp(from, row.len());
            if from < to {
                self.text(&row[done..from])?;
                self.paint(MATCH)?;
                self.text(&row[from..to])?;
                self.paint(PLAIN)?;
                done = to;
            }
        }
        self.text(&row[done..])
    }

    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.to_terminal {
            true => self.out.write_all(printable(bytes).as_bytes()),
            false => self.out.write_all(bytes),
        }
    }

    fn paint(&mut self, color: &str) -> io::Result<()> {
        match self.printer.colored {
            true => self.out.write_all(color.as_bytes()),
            false => Ok(()),
        }
    }
}

/// Whether lines were left out between two reported ones.
fn is_gap(before: &Line<'_>, after: &Line<'_>) -> bool {
    before.offset + before.full_bytes < after.offset
}

/// What is printed after the items.
pub(crate) trait Footer {
    fn json(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl Footer for Summary {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, &reply::SearchSummary::from(self))?)
    }
}

impl Footer for FilesSummary {
    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, &reply::WalkSummary::from(self))?)
    }
}
