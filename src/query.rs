//! What to look for: [`Query`], plain data.

use crate::error::{Error, ErrorCode, Result};

/// Which letters are the same letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Case {
    /// `a` is not `A`.
    #[default]
    Sensitive,
    /// `a` is `A`, by Unicode's simple case folding unless [`Query::unicode`] is off.
    Insensitive,
    /// Insensitive when the patterns hold a literal letter and no upper-case one.
    Smart,
}

/// Where a match has to begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Boundary {
    /// Anywhere.
    #[default]
    Anywhere,
    /// At word boundaries.
    Word,
    /// At the beginning and the end of a line.
    Line,
}

/// What ends a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Terminator {
    /// `\n`. A `\r` before it is part of the line.
    #[default]
    Lf,
    /// `\n` or `\r\n`; `$` matches before either.
    Crlf,
    /// The NUL byte, as in lists made by `find -print0`. Turns binary detection off.
    Nul,
}

/// Whether a match may span lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MultiLine {
    /// No: a pattern that asks for a line terminator is an error.
    #[default]
    Off,
    /// Yes. `.` still stops at a line's end.
    On,
    /// Yes, and `.` matches line ends, too.
    DotAll,
}

/// How the bytes of a file become the bytes that are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// A UTF-8 or UTF-16 byte order mark is obeyed and removed; everything else is searched as
    /// it is.
    #[default]
    Auto,
    /// Every file is decoded by this WHATWG label, unless a byte order mark says otherwise.
    Label(String),
    /// The raw bytes, byte order mark and all.
    Raw,
}

/// What to do about a file that holds a NUL byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binary {
    /// [`Quit`](Binary::Quit) for files met in a walk, [`Convert`](Binary::Convert) for named ones.
    #[default]
    Auto,
    /// Stop searching the file at the first NUL.
    Quit,
    /// Treat NULs as line terminators and search on.
    Convert,
    /// Binary files are text.
    Text,
}

/// What to look for, and how: patterns and every switch that changes which lines match or which
/// lines around them are told. It is plain data; nothing is compiled before
/// [`compile`](Query::compile).
///
/// ```
/// use ingrep::{Case, Query};
///
/// let search = Query::new("todo").case(Case::Insensitive).compile()?;
/// let found = search.search_slice("notes", b"first\nTODO: write\n")?;
/// let line = found.lines().next().unwrap();
/// assert_eq!((line.number, line.bytes), (Some(2), &b"TODO: write\n"[..]));
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub(crate) patterns: Vec<String>,
    pub(crate) allow_empty: bool,
    pub(crate) fixed_strings: bool,
    pub(crate) case: Case,
    pub(crate) boundary: Boundary,
    pub(crate) terminator: Terminator,
    pub(crate) multi_line: MultiLine,
    pub(crate) unicode: bool,
    pub(crate) invert: bool,
    pub(crate) before_context: usize,
    pub(crate) after_context: usize,
    pub(crate) passthru: bool,
    pub(crate) max_count: Option<u64>,
    pub(crate) stop_on_nonmatch: bool,
    pub(crate) line_numbers: bool,
    pub(crate) encoding: Encoding,
    pub(crate) binary: Binary,
    pub(crate) replacement: Option<Vec<u8>>,
}

impl Query {
    /// Looks for one pattern, a regular expression in the syntax of the `regex` crate.
    pub fn new(pattern: impl Into<String>) -> Query {
        Query::many([pattern])
    }

    /// Looks for lines that match any of several patterns.
    ///
    /// ```
    /// let search = ingrep::Query::many(["fn", "struct"]).compile()?;
    /// assert_eq!(search.search_slice("x", b"fn\nenum\nstruct\n")?.lines_matched, 2);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn many(patterns: impl IntoIterator<Item = impl Into<String>>) -> Query {
        Query {
            patterns: patterns.into_iter().map(Into::into).collect(),
            allow_empty: false,
            fixed_strings: false,
            case: Case::default(),
            boundary: Boundary::default(),
            terminator: Terminator::default(),
            multi_line: MultiLine::default(),
            unicode: true,
            invert: false,
            before_context: 0,
            after_context: 0,
            passthru: false,
            max_count: None,
            stop_on_nonmatch: false,
            line_numbers: true,
            encoding: Encoding::default(),
            binary: Binary::default(),
            replacement: None,
        }
    }

    /// Adds a pattern. A line matches when any pattern does.
    pub fn pattern(mut self, pattern: impl Into<String>) -> Query {
        self.patterns.push(pattern.into());
        self
    }

    /// Allows an empty pattern, which matches every line, and an empty list of patterns, which
    /// matches none. Default: off, because in a program both are usually a missing value.
    pub fn allow_empty(mut self, yes: bool) -> Query {
        self.allow_empty = yes;
        self
    }

    /// Takes the patterns as plain text. Default: off.
    pub fn fixed_strings(mut self, yes: bool) -> Query {
        self.fixed_strings = yes;
        self
    }

    /// Which letters are the same letter. Default: [`Case::Sensitive`].
    pub fn case(mut self, case: Case) -> Query {
        self.case = case;
        self
    }

    /// Where a match has to begin and end. Default: [`Boundary::Anywhere`].
    pub fn boundary(mut self, boundary: Boundary) -> Query {
        self.boundary = boundary;
        self
    }

    /// What ends a line. Default: [`Terminator::Lf`].
    pub fn terminator(mut self, terminator: Terminator) -> Query {
        self.terminator = terminator;
        self
    }

    /// Whether a match may span lines. Default: [`MultiLine::Off`]. A file is then held in memory
    /// whole, up to [`Limits::max_multi_line_bytes`](crate::Limits::max_multi_line_bytes).
    pub fn multi_line(mut self, multi_line: MultiLine) -> Query {
        self.multi_line = multi_line;
        self
    }

    /// Whether classes, case and word boundaries follow Unicode rather than ASCII. Default: on.
    pub fn unicode(mut self, yes: bool) -> Query {
        self.unicode = yes;
        self
    }

    /// Reports the lines that do not match. Default: off.
    pub fn invert(mut self, yes: bool) -> Query {
        self.invert = yes;
        self
    }

    /// How many lines before each match to report with it. Default: 0.
    pub fn before_context(mut self, lines: usize) -> Query {
        self.before_context = lines;
        self
    }

    /// How many lines after each match to report with it. Default: 0.
    pub fn after_context(mut self, lines: usize) -> Query {
        self.after_context = lines;
        self
    }

    /// The same number of lines on both sides.
    pub fn context(self, lines: usize) -> Query {
        self.before_context(lines).after_context(lines)
    }

    /// Reports every line of every searched file, as context where it does not match. Default:
    /// off. Together with context lines it is [`ErrorCode::InvalidOption`].
    pub fn passthru(mut self, yes: bool) -> Query {
        self.passthru = yes;
        self
    }

    /// Stops searching a file after this many matched lines (or matches that span lines). The
    /// lines after the last one are still reported as context. Default: no limit. 0 searches
    /// nothing.
    pub fn max_count(mut self, matches: Option<u64>) -> Query {
        self.max_count = matches;
        self
    }

    /// Stops searching a file at the first line that does not match after one that did. Default:
    /// off.
    pub fn stop_on_nonmatch(mut self, yes: bool) -> Query {
        self.stop_on_nonmatch = yes;
        self
    }

    /// Whether lines are counted. Default: on.
    pub fn line_numbers(mut self, yes: bool) -> Query {
        self.line_numbers = yes;
        self
    }

    /// How bytes are decoded. Default: [`Encoding::Auto`].
    pub fn encoding(mut self, encoding: Encoding) -> Query {
        self.encoding = encoding;
        self
    }

    /// What to do about NUL bytes. Default: [`Binary::Auto`].
    pub fn binary(mut self, binary: Binary) -> Query {
        self.binary = binary;
        self
    }

    /// Tells for each match what this template makes of it; no line and no file is changed. `$1`
    /// and `$name` stand for groups, `${1}a` parts one from what follows, `$$` is a dollar sign.
    /// Default: none.
    ///
    /// ```
    /// let search = ingrep::Query::new(r"(\w+)=(\w+)").replacement(Some("$2=$1")).compile()?;
    /// let found = search.search_slice("x", b"a=b, c=d\n")?;
    /// let line = found.lines().next().unwrap();
    /// assert_eq!(line.replacement(1), Some(&b"d=c"[..]));
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn replacement(mut self, template: Option<impl Into<Vec<u8>>>) -> Query {
        self.replacement = template.map(Into::into);
        self
    }

    /// Finds what no regular expression engine needs to be asked about.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.allow_empty {
            if self.patterns.is_empty() {
                return Err(Error::new(ErrorCode::EmptyPattern, "there is no pattern")
                    .with_hint("add a pattern, or allow an empty list with `allow_empty`"));
            }
            if let Some(index) = self.patterns.iter().position(String::is_empty) {
                return Err(Error::new(ErrorCode::EmptyPattern, "the pattern is empty")
                    .with_span(index, 0..0)
                    .with_hint("an empty pattern matches every line; `allow_empty` permits that"));
            }
        }
        let context = self.before_context > 0 || self.after_context > 0;
        if self.passthru && context {
            return Err(contradiction("passthru already reports every line")
                .with_hint("drop `passthru` or the context lines"));
        }
        let multi_line = self.multi_line != MultiLine::Off;
        if multi_line && self.stop_on_nonmatch {
            return Err(contradiction("stop_on_nonmatch has no meaning across lines")
                .with_hint("drop `stop_on_nonmatch` or `multi_line`"));
        }
        // grep-searcher 0.1.17 loses count in this combination: it reports lines past the limit,
        // and with context it panics.
        if multi_line && self.invert && self.max_count.is_some() {
            return Err(contradiction("max_count cannot be kept for inverted multi-line matches")
                .with_hint("drop `max_count`, `invert` or `multi_line`"));
        }
        Ok(())
    }
}

fn contradiction(message: &str) -> Error {
    Error::new(ErrorCode::InvalidOption, message)
}
