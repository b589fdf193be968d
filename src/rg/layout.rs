//! ripgrep's text output, through ripgrep's own printers: one page for each file.

use super::args::{Args, Context, LineTerminator, Mode};
use super::guarded::Guarded;
use super::print::Printed;
use crate::cancel::CancelToken;
use crate::matcher::Matcher;
use crate::scan::{Pending, Render};
use crate::wire::rg::Stats;
use grep_printer::{
    ColorSpecs, PathPrinterBuilder, StandardBuilder, SummaryBuilder, SummaryKind,
    default_color_specs,
};
use std::io::{self, Write};
use std::path::Path;
use termcolor::{Buffer, ColorSpec, WriteColor};

/// How many pieces are written before the token is asked again. With `--vimgrep` or `-o` one line
/// can become any number of them.
const WRITES_PER_LOOK: usize = 256;

/// How the results of a search look.
pub(super) struct Layout {
    kind: Kind,
    coloured: bool,
    /// What matches are replaced with.
    template: Vec<u8>,
    max_page_bytes: usize,
    /// The last byte of a line.
    line_end: u8,
    /// What stands between two files, with its line end.
    separator: Option<Vec<u8>>,
    /// Whether the printer would separate files, as on one thread, rather than who collects pages.
    sequential: bool,
}

enum Kind {
    Lines(StandardBuilder),
    Summary(SummaryBuilder),
}

impl Layout {
    /// `None` for what is no text.
    pub(super) fn new(
        args: &Args,
        one_file: bool,
        sequential: bool,
        max_page_bytes: usize,
    ) -> Option<Layout> {
        if args.quiet {
            return None;
        }
        let text = &args.text;
        let coloured = args.is_coloured();
        let with_filename = text.with_filename.unwrap_or(text.vimgrep || !one_file);
        let heading = text.heading == Some(true) && !text.vimgrep;
        let kind = match (args.mode, summary_kind(args)) {
            (Mode::Text, _) => Kind::Lines(lines(args, with_filename, heading)),
            (_, Some(kind)) => Kind::Summary(summary(args, kind, with_filename)),
            _ => return None,
        };
        let terminator: &[u8] = match args.line_terminator {
            LineTerminator::Lf => b"\n",
            LineTerminator::Crlf => b"\r\n",
            LineTerminator::Nul => b"\0",
        };
        let line_end = if terminator == b"\0" { 0 } else { b'\n' };
        let separator = match (args.mode, args.context) {
            (Mode::Text, _) if heading => Some(Vec::new()),
            (Mode::Text, Context::Limited { .. }) if args.context.lines() != (0, 0) => {
                text.context_separator.clone()
            }
            _ => None,
        };
        let separator_end = if sequential { terminator } else { b"\n" };
        let separator = separator.map(|separator| [&separator, separator_end].concat());
        let template = args.replace.clone().unwrap_or_default().into_bytes();
        Some(Layout { kind, coloured, template, max_page_bytes, line_end, separator, sequential })
    }

    /// An empty page for what is found in the file that is shown as `path`.
    pub(super) fn page<'a>(&'a self, path: &'a Path, token: &'a CancelToken) -> Page<'a> {
        Page { layout: self, path, token, printed: Printed::default() }
    }

    /// What stands before the totals if pages were written.
    pub(super) fn separator_of_totals(&self) -> &[u8] {
        self.separator.as_deref().filter(|_| !self.sequential).unwrap_or_default()
    }

    fn sheet<'a>(&self, token: &'a CancelToken) -> Sheet<'a> {
        let buffer = if self.coloured { Buffer::ansi() } else { Buffer::no_color() };
        Sheet { buffer, max_bytes: self.max_page_bytes, is_full: false, token, writes: 0 }
    }
}

fn summary_kind(args: &Args) -> Option<SummaryKind> {
    Some(match args.mode {
        Mode::FilesWithMatches => SummaryKind::PathWithMatch,
        Mode::FilesWithoutMatch => SummaryKind::PathWithoutMatch,
        // Inverted there are no matches to count, and of matches only there are no lines.
        Mode::CountMatches if args.invert_match => SummaryKind::Count,
        Mode::Count if args.text.only_matching => SummaryKind::CountMatches,
        Mode::Count => SummaryKind::Count,
        Mode::CountMatches => SummaryKind::CountMatches,
        _ => return None,
    })
}

fn colors(args: &Args) -> ColorSpecs {
    let mut specs = default_color_specs();
    // They were checked when the arguments were read.
    specs.extend(args.text.colors.iter().filter_map(|spec| spec.parse().ok()));
    ColorSpecs::new(&specs)
}

fn path_terminator(args: &Args) -> Option<u8> {
    args.null.then_some(0)
}

fn lines(args: &Args, with_filename: bool, heading: bool) -> StandardBuilder {
    let text = &args.text;
    let mut builder = StandardBuilder::new();
    builder
        .byte_offset(text.byte_offset)
        .color_specs(colors(args))
        .column(args.shows_column())
        .heading(heading)
        .max_columns(text.max_columns)
        .max_columns_preview(text.max_columns_preview)
        .only_matching(text.only_matching)
        .path(with_filename)
        .path_terminator(path_terminator(args))
        .per_match(text.vimgrep)
        .per_match_one_line(true)
        .replacement(args.replace.as_ref().map(|template| template.clone().into_bytes()))
        .separator_context(text.context_separator.clone())
        .separator_field_context(text.field_context_separator.clone())
        .separator_field_match(text.field_match_separator.clone())
        .separator_path(args.path_separator)
        .stats(args.stats)
        .trim_ascii(text.trim);
    builder
}

fn summary(args: &Args, kind: SummaryKind, with_filename: bool) -> SummaryBuilder {
    let mut builder = SummaryBuilder::new();
    builder
        .color_specs(colors(args))
        .exclude_zero(!args.text.include_zero)
        .kind(kind)
        .path(with_filename)
        .path_terminator(path_terminator(args))
        .separator_path(args.path_separator)
        .stats(args.stats);
    builder
}

/// How a listed path looks in colour.
pub(super) struct PathLayout(PathPrinterBuilder);

impl PathLayout {
    /// `None` where there are no colours, or no listing.
    pub(super) fn new(args: &Args) -> Option<PathLayout> {
        if args.mode != Mode::Files || !args.is_coloured() {
            return None;
        }
        let mut builder = PathPrinterBuilder::new();
        builder
            .color_specs(colors(args))
            .separator(args.path_separator)
            .terminator(path_terminator(args).unwrap_or(b'\n'));
        Some(PathLayout(builder))
    }

    pub(super) fn write(&self, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = Buffer::ansi();
        self.0.build(&mut buffer).write(path)?;
        out.write_all(buffer.as_slice())
    }
}

/// What is written for one file.
pub(super) struct Page<'a> {
    layout: &'a Layout,
    path: &'a Path,
    token: &'a CancelToken,
    printed: Printed,
}

impl Page<'_> {
    /// The page, once the search is over.
    ///
    /// On one thread the printer separates files, and does so before it knows whether it writes
    /// anything for the line that it was given.
    pub(super) fn finish(self, rendered: bool) -> Printed {
        let Page { layout, printed, .. } = self;
        let separates = if layout.sequential { rendered } else { !printed.lines.is_empty() };
        let separator = layout.separator.as_ref().filter(|_| separates);
        Printed { separator: separator.cloned().unwrap_or_default(), ..printed }
    }

    fn count(&mut self, matched: bool, stats: Option<&grep_printer::Stats>) {
        self.printed.matched = matched;
        self.printed.stats = stats.map(converted).unwrap_or_default();
    }
}

impl Render for Page<'_> {
    fn render(&mut self, matcher: &Matcher, search: Pending<'_>) -> io::Result<()> {
        let (layout, sheet) = (self.layout, self.layout.sheet(self.token));
        let max_bytes = layout.max_page_bytes;
        let watched = matcher.watched(self.token);
        let guarded = Guarded::new(&watched, self.token, &layout.template, max_bytes);
        let (result, sheet) = match &layout.kind {
            Kind::Lines(builder) => {
                let mut printer = builder.build(sheet);
                let mut sink = printer.sink_with_path(&guarded, self.path);
                let result = search(&mut sink);
                self.count(sink.has_match(), sink.stats());
                (result, printer.into_inner())
            }
            Kind::Summary(builder) => {
                let mut printer = builder.build(sheet);
                let mut sink = printer.sink_with_path(&guarded, self.path);
                let result = search(&mut sink);
                self.count(sink.has_match(), sink.stats());
                (result, printer.into_inner())
            }
        };
        let is_full = sheet.is_full || guarded.is_full();
        self.printed.lines = sheet.buffer.into_inner();
        if result.is_err() {
            // No half of a line is shown.
            let lines = &mut self.printed.lines;
            let last = lines.iter().rposition(|&byte| byte == layout.line_end);
            lines.truncate(last.map_or(0, |at| at + 1));
        }
        match is_full {
            true => {
                self.printed.cut = Some("max_file_result_bytes");
                Ok(())
            }
            false => result,
        }
    }
}

fn converted(stats: &grep_printer::Stats) -> Stats {
    Stats {
        elapsed: stats.elapsed().into(),
        searches: stats.searches(),
        searches_with_match: stats.searches_with_match(),
        bytes_searched: stats.bytes_searched(),
        bytes_printed: stats.bytes_printed(),
        matched_lines: stats.matched_lines(),
        matches: stats.matches(),
    }
}

/// What a printer writes to: memory with a limit. It asks the token now and then.
struct Sheet<'a> {
    buffer: Buffer,
    max_bytes: usize,
    is_full: bool,
    token: &'a CancelToken,
    writes: usize,
}

impl Write for Sheet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes += 1;
        if self.writes.is_multiple_of(WRITES_PER_LOOK) && self.token.is_stopped() {
            return Err(io::Error::other("stopped"));
        }
        if bytes.len() > self.max_bytes.saturating_sub(self.buffer.len()) {
            self.is_full = true;
            return Err(io::Error::other("full"));
        }
        self.buffer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteColor for Sheet<'_> {
    fn supports_color(&self) -> bool {
        self.buffer.supports_color()
    }

    fn set_color(&mut self, spec: &ColorSpec) -> io::Result<()> {
        self.buffer.set_color(spec)
    }

    fn reset(&mut self) -> io::Result<()> {
        self.buffer.reset()
    }
}
