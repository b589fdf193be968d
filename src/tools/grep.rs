//! The tool `grep`.

use super::anchor::Place;
use super::error::ToolError;
use super::explain;
use super::input::{GrepInput, GrepOutput};
use super::preview::preview;
use super::reply::{FileGroup, GrepReply, MatchLine, Notes, Saved, group_text};
use super::{Found, Tools};
use crate::cancel::{CancelToken, Stop};
use crate::collect::{End, Summary};
use crate::matches::{FileMatches, LineKind};
use crate::search::Matches;
use crate::text::path_bytes;
use crate::wire::rg::{LineRef, Submatch};
use std::collections::VecDeque;
use std::io::{self, Read, Write};

pub(super) fn grep(
    tools: &Tools,
    input: &GrepInput,
    token: &CancelToken,
) -> Result<GrepReply, ToolError> {
    input.check()?;
    let Some(Found { root, is_file }) = tools.find("grep", input.path.as_deref(), token)? else {
        let mut nothing = GrepReply::nothing(input.offset);
        nothing.render(input.output, false);
        return Err(tools.aborted_early("grep", token, nothing.into_reply()));
    };
    let mut scope = tools.scope(&root);
    if let Some(include) = &input.include {
        let place = Place { root: &root, cwd: &tools.cwd };
        scope = place.globs("grep", include)?.iter().fold(scope, |scope, glob| scope.glob(glob));
    }
    let told = |error| explain::failure((tools, token), "grep", &root, &error);
    // Lines are cut for the reply, not here: what is behind the cut may hold the match.
    let search = input.query.clone().scope(scope).limits(tools.limits.clone()).cache(&tools.cache);
    let search = search.compile().map_err(told)?;
    let matches = search.stream(token).map_err(told)?;
    let mut run = Run::new(tools, input, matches);
    run.fill_page();
    let saved = run.save_rest();
    let mut hints = Vec::new();
    // A file that is named is searched to its end.
    if let (Some(first), false) = (&run.first_left, is_file) {
        hints.push(match run.left {
            1 => format!("1 file was searched only up to its first NUL byte: {first}"),
            n => format!("{n} files were searched only up to their first NUL byte: {first}, ..."),
        });
    }
    if let (0, Some(summary)) = (run.total, &run.summary)
        && summary.files_walked == 0
    {
        hints.extend(tools.excluded(&root, token));
        let include = input.include.as_ref().filter(|_| hints.is_empty());
        hints.extend(include.map(|include| format!("no file here matches {include}")));
    }
    run.finish(saved, hints)
}

/// A search under way: the page so far, and the totals.
struct Run<'a> {
    tools: &'a Tools,
    input: &'a GrepInput,
    matches: Option<Matches>,
    /// The first file that the page had no room for, or not for all of it.
    rest: Option<FileGroup>,
    /// Whether anybody will read the lines of further files, or only their number.
    lines_wanted: bool,
    page: Vec<FileGroup>,
    total: u64,
    total_files: u64,
    raw_bytes: u64,
    /// How many files with matches have a NUL byte, behind which nothing is searched, and the
    /// first of them.
    left: u64,
    first_left: Option<String>,
    overflowed: bool,
    summary: Option<Summary>,
}

/// What became of the complete result.
#[derive(Default)]
struct SaveResult {
    saved: Option<Saved>,
    warning: Option<String>,
}

impl<'a> Run<'a> {
    fn new(tools: &'a Tools, input: &'a GrepInput, matches: Matches) -> Run<'a> {
        Run {
            tools,
            input,
            matches: Some(matches),
            rest: None,
            lines_wanted: input.output == GrepOutput::Matches,
            page: Vec::new(),
            total: 0,
            total_files: 0,
            raw_bytes: 0,
            left: 0,
            first_left: None,
            overflowed: false,
            summary: None,
        }
    }

    /// The matches of the next file; none at the end, and once there are too many bytes.
    fn next_file(&mut self) -> Option<FileGroup> {
        loop {
            let next = self.matches.as_mut()?.next();
            let Some(found) = next else {
                self.summary = self.matches.take().map(Matches::into_summary);
                return None;
            };
            self.raw_bytes += raw_bytes(self.tools, &found);
            if self.raw_bytes > self.tools.raw_output_max_bytes {
                self.overflowed = true;
                self.summary = self.matches.take().map(Matches::into_summary);
                return None;
            }
            let group = self.group(&found);
            self.total += group.count;
            if group.count > 0 {
                self.total_files += 1;
                if found.binary_offset.is_some() {
                    self.left += 1;
                    self.first_left.get_or_insert_with(|| group.path.path.clone());
                }
                return Some(group);
            }
        }
    }

    fn group(&self, found: &FileMatches) -> FileGroup {
        let lines = || found.lines().filter(|line| line.kind == LineKind::Match);
        let told = |line| {
            let shown = preview(&line, self.tools.grep_max_line_bytes, self.tools.window);
            MatchLine::new(line.number.unwrap_or(0), shown)
        };
        FileGroup {
            path: self.tools.shown(&found.path),
            count: lines().count() as u64,
            matches: if self.lines_wanted { lines().map(told).collect() } else { Vec::new() },
        }
    }

    /// How many items of the chosen output a file has.
    fn items(&self, group: &FileGroup) -> u64 {
        match self.input.output {
            GrepOutput::Matches => group.matches.len() as u64,
            GrepOutput::FilesWithMatches | GrepOutput::Counts => 1,
        }
    }

    /// Reads files until the page has no room for the next match.
    fn fill_page(&mut self) {
        let mut skip = self.input.offset;
        let mut room = self.tools.grep_max_matches;
        while let Some(mut group) = self.next_file() {
            let items = self.items(&group);
            if skip >= items {
                skip -= items;
                continue;
            }
            let first = std::mem::take(&mut skip) as usize;
            group.matches.drain(..first.min(group.matches.len()));
            if self.items(&group) <= room {
                room -= self.items(&group);
                self.page.push(group);
                continue;
            }
            if room > 0 {
                let over = group.matches.split_off(room as usize);
                let rest = FileGroup { matches: over, ..group.clone() };
                self.page.push(group);
                self.rest = Some(rest);
            } else {
                self.rest = Some(group);
            }
            return;
        }
    }

    /// Saves the complete result, if the page is not it, while the rest of it is found; then counts
    /// what the store did not ask for.
    fn save_rest(&mut self) -> SaveResult {
        let mut result = SaveResult::default();
        let capped = self.rest.is_some() && self.input.offset == 0;
        match &self.tools.spill {
            Some(store) if capped => {
                let mut content = Complete::new(self);
                let saved = store.save("grep-results.txt", &mut content);
                match saved.and_then(|spilled| super::read_to_end(content.is_read(), spilled)) {
                    Ok(spilled) => result.saved = Some(Saved::from(spilled)),
                    Err(error) => {
                        let warning = format!("the complete result could not be saved: {error}");
                        result.warning = Some(warning);
                    }
                }
            }
            None if capped => result.warning = Some(super::NO_STORE.to_string()),
            _ => {}
        }
        self.lines_wanted = false;
        while self.next_file().is_some() {}
        result
    }

    fn finish(self, saved: SaveResult, hints: Vec<String>) -> Result<GrepReply, ToolError> {
        let tools = self.tools;
        if self.overflowed {
            return Err(tools.overflow("grep"));
        }
        let mut notes = Notes::default();
        let mut stopped = None;
        if let Some(summary) = &self.summary {
            notes.files_walked = summary.files_walked;
            notes.files_searched = summary.files_searched;
            notes.files_binary = summary.files_binary;
            notes.skip(&summary.diagnostics);
            stopped = match summary.end {
                End::Cancelled => Some(Stop::Cancelled),
                End::DeadlinePassed => Some(Stop::DeadlinePassed),
                _ => None,
            };
        }
        notes.warnings.extend(saved.warning);
        notes.hints.extend(hints);
        if stopped.is_none() {
            tools.check_strict("grep", &notes)?;
        }
        let truncated = self.rest.is_some();
        let mut reply = GrepReply {
            text: String::new(),
            files: self.page,
            total: self.total,
            total_files: self.total_files,
            offset: self.input.offset,
            truncated,
            omitted: 0,
            saved: saved.saved,
            notes,
        };
        reply.render(self.input.output, stopped.is_none());
        reply.fit(tools.meta_max_bytes);
        match stopped {
            None => Ok(reply),
            Some(stop) => Err(tools.aborted("grep", stop, reply.into_reply())),
        }
    }
}

/// The bytes of the file's matches as ripgrep prints them.
fn raw_bytes(tools: &Tools, found: &FileMatches) -> u64 {
    let path = path_bytes(crate::text::relative(&found.path, &tools.cwd));
    let lines = found.lines().filter(|line| line.kind == LineKind::Match);
    lines
        .map(|line| {
            let mut told = LineRef::new(&path, line.bytes, line.offset);
            told.line_number = line.number;
            let submatches = line
                .spans
                .iter()
                .map(|span| Submatch::new(&line.bytes[span.range()], span.range()));
            let written = told.write_match(&mut io::sink(), submatches).unwrap_or(u64::MAX);
            // What the engine has cut off cannot be escaped, but it can be counted.
            written.saturating_add(line.full_bytes - line.bytes.len() as u64)
        })
        .fold(0, u64::saturating_add)
}

/// The complete result as it is read: what the page has, and then what is still found.
struct Complete<'r, 'a> {
    run: &'r mut Run<'a>,
    before: VecDeque<FileGroup>,
    text: Vec<u8>,
    at: usize,
    groups: u64,
    ended: bool,
}

impl<'r, 'a> Complete<'r, 'a> {
    fn new(run: &'r mut Run<'a>) -> Complete<'r, 'a> {
        let mut before: VecDeque<_> = run.page.iter().cloned().collect();
        if let Some(rest) = &run.rest {
            match before.back_mut() {
                // The page has the first matches of this file.
                Some(last) if last.path == rest.path => {
                    last.matches.extend(rest.matches.iter().cloned());
                }
                _ => before.push_back(rest.clone()),
            }
        }
        Complete { run, before, text: Vec::new(), at: 0, groups: 0, ended: false }
    }

    fn is_read(&self) -> bool {
        self.ended && self.at == self.text.len()
    }

    fn next_text(&mut self) -> io::Result<()> {
        let output = self.run.input.output;
        self.text.clear();
        self.at = 0;
        let next = match self.before.pop_front() {
            Some(group) => Some(group),
            None => self.run.next_file(),
        };
        if let Some(group) = next {
            let between = if output == GrepOutput::Matches { "\n\n" } else { "\n" };
            let between = if self.groups > 0 { between } else { "" };
            self.groups += 1;
            return write!(self.text, "{between}{}", group_text(&group, output));
        }
        self.ended = true;
        let summary = self.run.summary.as_ref();
        let stopped =
            summary.is_some_and(|s| matches!(s.end, End::Cancelled | End::DeadlinePassed));
        let failed = self.run.tools.strict && summary.is_some_and(|s| s.diagnostics.total() > 0);
        if self.run.overflowed || stopped || failed {
            return Err(io::Error::other("the search ended before its result was complete"));
        }
        let (total, files) = (self.run.total, self.run.total_files);
        writeln!(self.text, "\n\nFound {total} matches in {files} files")
    }
}

impl Read for Complete<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() && !self.ended {
            self.next_text()?;
        }
        let read = (&self.text[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}
