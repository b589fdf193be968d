//! What can go wrong: [`Error`] ends a call, [`Diagnostic`] is trouble that a run survives.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why a call failed, as a value that never changes its meaning.
///
/// The strings of [`ErrorCode::as_str`] are stable for ever: new kinds of failure get new codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A pattern is empty, or there is none, and the query does not allow that.
    EmptyPattern,
    /// A pattern is not a valid regular expression.
    InvalidPattern,
    /// A pattern, or the program compiled from it, is over a limit.
    PatternTooLarge,
    /// A glob could not be parsed or compiled.
    InvalidGlob,
    /// A file type was selected that is not defined.
    UnknownType,
    /// A file type definition could not be parsed.
    InvalidTypeDefinition,
    /// An encoding label is not known.
    UnknownEncoding,
    /// Two options contradict each other, or an option has no meaning here.
    InvalidOption,
    /// There is nothing to search: the scope names no root.
    NoRoot,
    /// A search root does not exist.
    RootNotFound,
    /// A search root exists and cannot be read.
    RootUnreadable,
    /// A named file is a FIFO, a socket or a device.
    SpecialFile,
    /// A named file could not be opened or read.
    Io,
    /// A limit stops the call from being answered at all.
    LimitExceeded,
    /// A fault of ours. A worker's panic ends here.
    Internal,
    /// A search root lies outside of the directory that the scope is confined to.
    RootOutside,
    /// Too many threads are stuck in the system; see
    /// [`Pool::max_stuck_threads`](crate::Pool::max_stuck_threads).
    ThreadsStuck,
}

impl ErrorCode {
    /// Every code there is, in the order of their introduction.
    pub const ALL: &'static [ErrorCode] = &[
        ErrorCode::EmptyPattern,
        ErrorCode::InvalidPattern,
        ErrorCode::PatternTooLarge,
        ErrorCode::InvalidGlob,
        ErrorCode::UnknownType,
        ErrorCode::InvalidTypeDefinition,
        ErrorCode::UnknownEncoding,
        ErrorCode::InvalidOption,
        ErrorCode::NoRoot,
        ErrorCode::RootNotFound,
        ErrorCode::RootUnreadable,
        ErrorCode::SpecialFile,
        ErrorCode::Io,
        ErrorCode::LimitExceeded,
        ErrorCode::Internal,
        ErrorCode::RootOutside,
        ErrorCode::ThreadsStuck,
    ];

    /// The code as a word for logs and wire formats.
    ///
    /// ```
    /// assert_eq!(ingrep::ErrorCode::RootNotFound.as_str(), "ROOT_NOT_FOUND");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorCode::EmptyPattern => "EMPTY_PATTERN",
            ErrorCode::InvalidPattern => "INVALID_PATTERN",
            ErrorCode::PatternTooLarge => "PATTERN_TOO_LARGE",
            ErrorCode::InvalidGlob => "INVALID_GLOB",
            ErrorCode::UnknownType => "UNKNOWN_TYPE",
            ErrorCode::InvalidTypeDefinition => "INVALID_TYPE_DEFINITION",
            ErrorCode::UnknownEncoding => "UNKNOWN_ENCODING",
            ErrorCode::InvalidOption => "INVALID_OPTION",
            ErrorCode::NoRoot => "NO_ROOT",
            ErrorCode::RootNotFound => "ROOT_NOT_FOUND",
            ErrorCode::RootUnreadable => "ROOT_UNREADABLE",
            ErrorCode::SpecialFile => "SPECIAL_FILE",
            ErrorCode::Io => "IO",
            ErrorCode::LimitExceeded => "LIMIT_EXCEEDED",
            ErrorCode::Internal => "INTERNAL",
            ErrorCode::RootOutside => "ROOT_OUTSIDE",
            ErrorCode::ThreadsStuck => "THREADS_STUCK",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a call failed: a stable code, what happened, where, and what to try.
///
/// `Display` prints the place and the message, without the hint. The value is one word wide, so
/// that a `Result` stays small.
///
/// ```
/// use ingrep::{ErrorCode, Query};
///
/// let error = Query::new("fn (").compile().unwrap_err();
/// assert_eq!(error.code(), ErrorCode::InvalidPattern);
/// assert_eq!(error.span(), Some(3..4));
/// assert!(error.to_string().contains("unclosed group"));
/// assert!(error.hint().is_some());
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    code: ErrorCode,
    message: String,
    path: Option<PathBuf>,
    pattern: Option<usize>,
    span: Option<Range<usize>>,
    hint: Option<String>,
    /// What the regex engine itself said.
    engine: Option<String>,
}

/// What a function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            path: None,
            pattern: None,
            span: None,
            hint: None,
            engine: None,
        }))
    }

    pub(crate) fn with_path(mut self, path: impl Into<PathBuf>) -> Error {
        self.0.path = Some(path.into());
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_span(mut self, pattern: usize, span: Range<usize>) -> Error {
        self.0.pattern = Some(pattern);
        self.0.span = Some(span);
        self
    }

    pub(crate) fn with_engine_text(mut self, text: String) -> Error {
        self.0.engine = Some(text);
        self
    }

    /// The message in the words of the regex engine, where it comes from there.
    pub(crate) fn engine_text(&self) -> &str {
        self.0.engine.as_deref().unwrap_or(&self.0.message)
    }

    /// The stable kind of this failure.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// What happened: lower case, no full stop, the place not repeated.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file or directory it happened at, as the caller wrote it.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Which of the query's patterns was rejected, counted from 0.
    pub fn pattern_index(&self) -> Option<usize> {
        self.0.pattern
    }

    /// Where in that pattern, in bytes.
    pub fn span(&self) -> Option<Range<usize>> {
        self.0.span.clone()
    }

    /// What the caller could try next.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.path {
            Some(path) => write!(f, "{}: {}", path.display(), self.0.message),
            None => f.write_str(&self.0.message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("path", &self.0.path)
            .field("span", &self.0.span)
            .field("hint", &self.0.hint)
            .finish()
    }
}

impl std::error::Error for Error {}

/// The kind of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// A file or directory that was there a moment ago is gone, or a followed link leads nowhere.
    NotFound,
    /// A file or directory may not be read.
    PermissionDenied,
    /// A followed link leads back to a directory above it.
    Loop,
    /// Any other failure of a file system call.
    Io,
    /// A line of an ignore file was dropped, or the whole file could not be used.
    IgnoreRule,
    /// A root lies inside a version control directory, which this scope prunes.
    VcsRoot,
    /// A FIFO, socket or device stands where a regular file was listed.
    SpecialFile,
    /// A line, or a file searched across lines, is over its limit; or a walk is over one.
    TooLarge,
    /// A fault of ours while one file was searched.
    Internal,
    /// The system had not come back with it when the call had to.
    Stuck,
}

impl Reason {
    /// Every reason there is, in the order in which [`Diagnostics::counts`] lists them.
    pub const ALL: &'static [Reason] = &[
        Reason::NotFound,
        Reason::PermissionDenied,
        Reason::Loop,
        Reason::Io,
        Reason::IgnoreRule,
        Reason::VcsRoot,
        Reason::SpecialFile,
        Reason::TooLarge,
        Reason::Internal,
        Reason::Stuck,
    ];

    /// The reason as a word for logs and wire formats; stable like an error code.
    ///
    /// ```
    /// assert_eq!(ingrep::Reason::PermissionDenied.as_str(), "permission_denied");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::NotFound => "not_found",
            Reason::PermissionDenied => "permission_denied",
            Reason::Loop => "loop",
            Reason::Io => "io",
            Reason::IgnoreRule => "ignore_rule",
            Reason::VcsRoot => "vcs_root",
            Reason::SpecialFile => "special_file",
            Reason::TooLarge => "too_large",
            Reason::Internal => "internal",
            Reason::Stuck => "stuck",
        }
    }

    pub(crate) fn of_io(error: &std::io::Error) -> Reason {
        match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Reason::NotFound,
            std::io::ErrorKind::PermissionDenied => Reason::PermissionDenied,
            _ => Reason::Io,
        }
    }
}

/// One piece of trouble that a run survived: a file or directory that was skipped, or a rule that
/// was dropped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Where, as the path would have been listed. `None` when the trouble has no place.
    pub path: Option<PathBuf>,
    /// The kind of trouble.
    pub reason: Reason,
    /// What happened, in the words of the operating system or the parser.
    pub message: String,
}

impl Diagnostic {
    pub(crate) fn new(path: &Path, reason: Reason, message: impl Into<String>) -> Diagnostic {
        Diagnostic { path: Some(path.to_path_buf()), reason, message: message.into() }
    }

    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Diagnostic {
        Diagnostic::new(path, Reason::of_io(error), error.to_string())
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {}", path.display(), self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// All trouble of one run: exact counts by reason, and the first few in full.
///
/// "First" means first in path order, so that the kept ones are the same on any number of threads.
///
/// ```
/// use ingrep::{CancelToken, Scope};
///
/// let files = Scope::new(".").files(&CancelToken::new())?;
/// let summary = files.into_summary();
/// assert_eq!(summary.diagnostics.total(), 0);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    // Ordered, so that what is kept of a flood does not depend on who met it first.
    kept: BTreeSet<Diagnostic>,
    counts: [u64; Reason::ALL.len()],
    max: usize,
}

impl Diagnostics {
    pub(crate) fn new(max: usize) -> Diagnostics {
        Diagnostics { kept: BTreeSet::new(), counts: [0; Reason::ALL.len()], max }
    }

    /// None yet, with the same limit.
    pub(crate) fn new_part(&self) -> Diagnostics {
        Diagnostics::new(self.max)
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.counts[diagnostic.reason as usize] += 1;
        self.keep(diagnostic);
    }

    pub(crate) fn merge(&mut self, other: Diagnostics) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        other.kept.into_iter().for_each(|diagnostic| self.keep(diagnostic));
    }

    fn keep(&mut self, diagnostic: Diagnostic) {
        self.kept.insert(diagnostic);
        if self.kept.len() > self.max {
            self.kept.pop_last();
        }
    }

    /// The kept diagnostics, in path order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.kept.iter()
    }

    /// How often this reason was met, kept or not.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counts[reason as usize]
    }

    /// The reasons that were met at all, with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        Reason::ALL.iter().map(|&reason| (reason, self.count(reason))).filter(|&(_, n)| n > 0)
    }

    /// All diagnostics met, kept or not.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many were counted and not kept.
    pub fn dropped(&self) -> u64 {
        self.total().saturating_sub(self.kept.len() as u64)
    }
}
