//! How a tool call fails: [`ToolError`].

use super::reply::Reply;
use std::fmt;

/// Why a tool call failed. The strings never change; new kinds get new codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorCode {
    /// The arguments are not those of the tool. Nothing was read.
    InvalidArgument,
    /// The regular expression or the glob was rejected.
    InvalidPattern,
    /// The place to search is missing or unreadable, or there was an internal fault.
    Failed,
    /// The complete result is over `raw_output_max_bytes`. No content is returned.
    RawOutputOverflow,
    /// The deadline passed, or the caller cancelled. What had been found is in
    /// [`ToolError::partial`].
    Aborted,
}

impl ToolErrorCode {
    /// Every code there is.
    pub const ALL: &'static [ToolErrorCode] = &[
        ToolErrorCode::InvalidArgument,
        ToolErrorCode::InvalidPattern,
        ToolErrorCode::Failed,
        ToolErrorCode::RawOutputOverflow,
        ToolErrorCode::Aborted,
    ];

    /// The code as a harness reports it.
    ///
    /// ```
    /// assert_eq!(ingrep::tools::ToolErrorCode::Aborted.as_str(), "SEARCH_ABORTED");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            ToolErrorCode::InvalidArgument => "INVALID_ARGUMENT",
            ToolErrorCode::InvalidPattern => "SEARCH_INVALID_PATTERN",
            ToolErrorCode::Failed => "SEARCH_FAILED",
            ToolErrorCode::RawOutputOverflow => "SEARCH_RAW_OUTPUT_OVERFLOW",
            ToolErrorCode::Aborted => "SEARCH_ABORTED",
        }
    }
}

/// A failed tool call: a stable code, what happened and where, and what to try next.
///
/// `Display` prints both sentences: it is what a model should read.
///
/// ```
/// use ingrep::CancelToken;
/// use ingrep::tools::{GrepInput, ToolErrorCode, Tools};
///
/// let tools = Tools::new(env!("CARGO_MANIFEST_DIR"));
/// let error = tools.grep(&GrepInput::new("fn ("), &CancelToken::new()).unwrap_err();
/// assert_eq!(error.code(), ToolErrorCode::InvalidPattern);
/// assert!(error.to_string().contains("unclosed group"));
/// ```
#[derive(Clone, Debug)]
pub struct ToolError(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: ToolErrorCode,
    message: String,
    next: Option<String>,
    partial: Option<Reply>,
}

impl ToolError {
    pub(super) fn new(code: ToolErrorCode, message: impl Into<String>) -> ToolError {
        let message = message.into();
        ToolError(Box::new(Inner { code, message, next: None, partial: None }))
    }

    pub(super) fn argument(message: impl Into<String>) -> ToolError {
        ToolError::new(ToolErrorCode::InvalidArgument, message)
    }

    pub(super) fn next(mut self, next: impl Into<String>) -> ToolError {
        self.0.next = Some(next.into());
        self
    }

    pub(super) fn with_partial(mut self, partial: Reply) -> ToolError {
        self.0.partial = Some(partial);
        self
    }

    /// The stable kind of this failure.
    pub fn code(&self) -> ToolErrorCode {
        self.0.code
    }

    /// What happened, and where.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to try next.
    pub fn next_step(&self) -> Option<&str> {
        self.0.next.as_deref()
    }

    /// What an aborted call had found.
    pub fn partial(&self) -> Option<&Reply> {
        self.0.partial.as_ref()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.0.message)?;
        match &self.0.next {
            Some(next) => write!(f, " {next}."),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ToolError {}
