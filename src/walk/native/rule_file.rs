//! One ignore file to compiled rules, at a bounded cost. A line that cannot be used costs itself,
//! never its neighbours.

use crate::cancel::CancelToken;
use crate::limits::WalkLimits;
use ignore::Error;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::str;
use std::sync::Arc;

/// What a rule costs, by measurement: one that is only a name, and one that becomes a regular
/// expression.
const NAME_BYTES: usize = 2 << 10;
const PATTERN_BYTES: usize = 8 << 10;

/// What each wildcard and class in a pattern costs beside, by measurement: any character is a dozen
/// states. A line of 4 KiB of them takes 2 MiB.
const CLASS_BYTES: usize = 512;

/// So many rules, or rules that take so many bytes, are compiled at a time: some 10 ms. Between
/// two times the token is asked.
const RULES_AT_A_TIME: usize = 200;
const BYTES_AT_A_TIME: usize = 2 << 20;

/// As often the token is asked while lines are parsed.
const LINES_PER_LOOK: usize = 64;

/// The rules of one file. In pieces, because one set of globs has a limit of its own, and because
/// compiling a large one takes long; the last piece has the first say.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSet {
    pieces: Arc<[Gitignore]>,
    /// The walk was stopped before all rules were compiled. Until it ends, nothing passes.
    is_closed: bool,
    /// About so much memory.
    pub(super) weight: usize,
}

impl RuleSet {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && !self.is_closed
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// `path` is relative to the directory of the rules. `Some(true)`: left out.
    pub(super) fn verdict(&self, path: &Path, is_dir: bool) -> Option<bool> {
        if self.is_closed {
            return Some(true);
        }
        self.pieces.iter().rev().find_map(|piece| match piece.matched(path, is_dir) {
            ignore::Match::None => None,
            ignore::Match::Ignore(_) => Some(true),
            ignore::Match::Whitelist(_) => Some(false),
        })
    }
}

/// Several errors as one, in the way of the `ignore` crate.
#[derive(Debug, Default)]
pub(super) struct Errors(Vec<Error>);

impl Errors {
    pub(super) fn push(&mut self, error: Option<Error>) {
        self.0.extend(error);
    }

    pub(super) fn into_one(mut self) -> Option<Error> {
        match self.0.len() {
            0 | 1 => self.0.pop(),
            _ => Some(Error::Partial(self.0)),
        }
    }
}

/// How rules are read.
pub(super) struct Reading<'a> {
    pub(super) limits: &'a WalkLimits,
    pub(super) token: &'a CancelToken,
    pub(super) case_insensitive: bool,
    /// What patterns are relative to, as a prefix of the paths they are held against.
    pub(super) relative_to: &'a Path,
}

impl Reading<'_> {
    /// Reads and compiles. `path` is for messages.
    pub(super) fn read(&self, file: impl Read, path: &Path) -> (RuleSet, Option<Error>) {
        let mut errors = Errors::default();
        let mut bytes = Vec::new();
        let max = self.limits.max_rule_file_bytes;
        let read = file.take(max as u64 + 1).read_to_end(&mut bytes);
        let is_cut = bytes.len() > max;
        if is_cut {
            let whole = bytes[..max].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            bytes.truncate(whole);
        }
        let mut lines = Vec::new();
        let mut weight = 0;
        let mut over = None;
        for (index, line) in split_lines(&bytes).enumerate() {
            if index % LINES_PER_LOOK == LINES_PER_LOOK - 1 && self.token.is_stopped() {
                break;
            }
            let number = index as u64 + 1;
            let line = match index {
                0 => trim_mark(line),
                _ => line,
            };
            let is_comment = line.starts_with(b"#");
            // One that is no text is told, as by ripgrep, which reads lines before it looks at them.
            if line.is_empty() || (is_comment && str::from_utf8(line).is_ok()) {
                continue;
            }
            if line.len() > self.limits.max_rule_line_bytes && !is_comment {
                let max = self.limits.max_rule_line_bytes;
                let message =
                    format!("a rule of {} bytes is over max_rule_line_bytes ({max})", line.len());
                errors.push(Some(tagged(path, number, refused(message))));
                continue;
            }
            let Ok(line) = str::from_utf8(line) else {
                errors.push(Some(tagged(path, number, not_utf8())));
                continue;
            };
            if lines.len() == self.limits.max_rules_per_file {
                let max = self.limits.max_rules_per_file;
                over = Some((number, format!("max_rules_per_file ({max})")));
                break;
            }
            // Before they are compiled: that alone would take it.
            if weight + weigh(line) > self.limits.max_rule_memory_bytes {
                let max = self.limits.max_rule_memory_bytes;
                over = Some((number, format!("max_rule_memory_bytes ({max})")));
                break;
            }
            match self.builder().add_line(None, line) {
                Ok(_) => {
                    weight += weigh(line);
                    lines.push((number, line));
                }
                Err(error) => errors.push(Some(tagged(path, number, error))),
            }
        }
        if let Err(error) = read {
            let number = split_lines(&bytes).count() as u64 + 1;
            errors.push(Some(tagged(path, number, Error::Io(error))));
        }
        if let Some((number, limit)) = over {
            let message = format!("the rules from here on are over {limit}");
            errors.push(Some(tagged(path, number, refused(message))));
        } else if is_cut {
            let message = format!("what follows is over max_rule_file_bytes ({max})");
            let number = split_lines(&bytes).count() as u64 + 1;
            errors.push(Some(tagged(path, number, refused(message))));
        }
        let mut pieces = Vec::new();
        let mut rest = &lines[..];
        while !rest.is_empty() && !self.token.is_stopped() {
            let (now, later) = rest.split_at(at_a_time(rest));
            self.compile(now, path, &mut pieces, &mut errors);
            rest = later;
        }
        let is_closed = self.token.is_stopped();
        (RuleSet { pieces: pieces.into(), is_closed, weight }, errors.into_one())
    }

    fn builder(&self) -> GitignoreBuilder {
        let mut builder = GitignoreBuilder::new(self.relative_to);
        // It cannot fail; the crate says so itself.
        let _ = builder.case_insensitive(self.case_insensitive);
        builder
    }

    /// As one set, or in halves where the set is refused.
    fn compile(
        &self,
        lines: &[(u64, &str)],
        path: &Path,
        pieces: &mut Vec<Gitignore>,
        errors: &mut Errors,
    ) {
        let mut builder = self.builder();
        for (_, line) in lines {
            // Each has been parsed before.
            let _ = builder.add_line(None, line);
        }
        match (builder.build(), lines) {
            (Ok(rules), _) if rules.is_empty() => {}
            (Ok(rules), _) => pieces.push(rules),
            (Err(error), [(number, _)]) => errors.push(Some(tagged(path, *number, error))),
            (Err(_), lines) => {
                let (first, second) = lines.split_at(lines.len() / 2);
                self.compile(first, path, pieces, errors);
                self.compile(second, path, pieces, errors);
            }
        }
    }
}

/// How many of these rules are compiled together: at least one.
fn at_a_time(lines: &[(u64, &str)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, line): &&(u64, &str)| {
        bytes += weigh(line);
        bytes <= BYTES_AT_A_TIME
    };
    lines.iter().take(RULES_AT_A_TIME).take_while(fits).count().max(1)
}

/// A message of ours in the form of the crate's.
pub(super) fn refused(message: String) -> Error {
    Error::Glob { glob: None, err: message }
}

fn weigh(line: &str) -> usize {
    if !line.contains(['*', '?', '[', '{', '\\']) {
        return line.len() + NAME_BYTES;
    }
    let classes = line.bytes().filter(|byte| matches!(byte, b'?' | b'*' | b'[' | b'{')).count();
    line.len() + PATTERN_BYTES + classes * CLASS_BYTES
}

/// What reading lines as text says of such a line.
pub(super) fn not_utf8() -> Error {
    Error::Io(io::Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

fn tagged(path: &Path, line: u64, error: Error) -> Error {
    let error = Error::WithLineNumber { line, err: Box::new(error) };
    match path.as_os_str().is_empty() {
        true => error,
        false => with_path(path, error),
    }
}

pub(super) fn with_path(path: &Path, error: Error) -> Error {
    Error::WithPath { path: path.to_path_buf(), err: Box::new(error) }
}

/// Lines without their ends, as the standard library takes them apart.
pub(super) fn split_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    })
}

/// The line without byte order marks at its beginning.
fn trim_mark(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf") {
        line = rest;
    }
    line
}
