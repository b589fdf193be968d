//! The arguments of the tools: from JSON or from Rust, checked before anything is read.

use super::error::ToolError;
use crate::query::Query;
use serde_json::{Map, Value};

/// What a `grep` tells of the files with matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrepOutput {
    /// Each matching line.
    #[default]
    Matches,
    /// The paths only.
    FilesWithMatches,
    /// The paths with their number of matching lines.
    Counts,
}

/// The arguments of `glob`.
///
/// ```
/// use ingrep::tools::GlobInput;
///
/// let input = GlobInput::new("**/*.rs").path("src");
/// assert!(input.check().is_ok());
/// assert!(GlobInput::new("  ").check().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobInput {
    pub(super) pattern: String,
    pub(super) path: Option<String>,
    pub(super) offset: u64,
}

impl GlobInput {
    /// Lists files that match this glob.
    pub fn new(pattern: impl Into<String>) -> GlobInput {
        GlobInput { pattern: pattern.into(), path: None, offset: 0 }
    }

    /// The directory to look in. Default: the working directory of the tools.
    pub fn path(mut self, path: impl Into<String>) -> GlobInput {
        self.path = Some(path.into());
        self
    }

    /// Leaves out this many paths at the beginning, to page through a result. Nothing is spilled
    /// then. A model has no argument for it. Default: 0.
    pub fn offset(mut self, paths: u64) -> GlobInput {
        self.offset = paths;
        self
    }

    /// Takes the arguments from JSON.
    ///
    /// # Errors
    ///
    /// An [argument error](super::ToolErrorCode::InvalidArgument) for anything but an object of
    /// `pattern` and, at most, `path`, both strings.
    pub fn from_json(arguments: &Value) -> Result<GlobInput, ToolError> {
        let mut fields = Fields::new("glob", arguments, &["pattern", "path"])?;
        let mut input = GlobInput::new(fields.required("pattern")?);
        input.path = fields.optional("path")?;
        Ok(input)
    }

    /// Finds what is wrong with the arguments by themselves.
    ///
    /// # Errors
    ///
    /// An [argument error](super::ToolErrorCode::InvalidArgument).
    pub fn check(&self) -> Result<(), ToolError> {
        if self.pattern.trim().is_empty() {
            return Err(ToolError::argument("glob: `pattern` is blank")
                .next("Give a glob such as `**/*.rs`"));
        }
        check_path("glob", self.path.as_deref())
    }
}

/// The arguments of `grep`.
///
/// ```
/// use ingrep::tools::GrepInput;
///
/// assert!(GrepInput::new(" ").include("*.{ts,tsx}").check().is_ok());
/// assert!(GrepInput::new("x").include("*.ts,*.tsx").check().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepInput {
    pub(super) pattern: String,
    pub(super) path: Option<String>,
    pub(super) include: Option<String>,
    pub(super) offset: u64,
    pub(super) output: GrepOutput,
    pub(super) query: Query,
}

impl GrepInput {
    /// Looks for lines that match this regular expression.
    pub fn new(pattern: impl Into<String>) -> GrepInput {
        let pattern = pattern.into();
        GrepInput {
            query: Query::new(pattern.clone()),
            pattern,
            path: None,
            include: None,
            offset: 0,
            output: GrepOutput::Matches,
        }
    }

    /// The directory or file to look in. Default: the working directory of the tools.
    pub fn path(mut self, path: impl Into<String>) -> GrepInput {
        self.path = Some(path.into());
        self
    }

    /// Looks only in files that match this glob.
    pub fn include(mut self, include: impl Into<String>) -> GrepInput {
        self.include = Some(include.into());
        self
    }

    /// Leaves out this many matches (or files, in the other outputs) at the beginning, to page
    /// through a result. Nothing is spilled then. A model has no argument for it. Default: 0.
    pub fn offset(mut self, matches: u64) -> GrepInput {
        self.offset = matches;
        self
    }

    /// What is told. A model has no argument for it. Default: [`GrepOutput::Matches`].
    pub fn output(mut self, output: GrepOutput) -> GrepInput {
        self.output = output;
        self
    }

    /// Changes how the pattern is looked for: its case, words, and so on. Context lines are not
    /// told. A model has no argument for it.
    ///
    /// ```
    /// use ingrep::Case;
    /// use ingrep::tools::GrepInput;
    ///
    /// let input = GrepInput::new("todo").query(|query| query.case(Case::Insensitive));
    /// assert!(input.check().is_ok());
    /// ```
    pub fn query(mut self, change: impl FnOnce(Query) -> Query) -> GrepInput {
        self.query = change(self.query);
        self
    }

    /// Takes the arguments from JSON.
    ///
    /// # Errors
    ///
    /// An [argument error](super::ToolErrorCode::InvalidArgument) for anything but an object of
    /// `pattern` and, at most, `path` and `include`, all strings.
    pub fn from_json(arguments: &Value) -> Result<GrepInput, ToolError> {
        let mut fields = Fields::new("grep", arguments, &["pattern", "path", "include"])?;
        let mut input = GrepInput::new(fields.required("pattern")?);
        input.path = fields.optional("path")?;
        input.include = fields.optional("include")?;
        Ok(input)
    }

    /// Finds what is wrong with the arguments by themselves.
    ///
    /// # Errors
    ///
    /// An [argument error](super::ToolErrorCode::InvalidArgument).
    pub fn check(&self) -> Result<(), ToolError> {
        if self.pattern.is_empty() {
            return Err(ToolError::argument("grep: `pattern` is empty")
                .next("Give a regular expression; white space is one"));
        }
        check_path("grep", self.path.as_deref())?;
        let Some(include) = &self.include else { return Ok(()) };
        if include.trim().is_empty() {
            return Err(ToolError::argument("grep: `include` is blank")
                .next("Give a glob such as `*.rs`, or leave it out"));
        }
        if include.starts_with('!') {
            let message = format!("grep: `include` ({include}) excludes instead of including");
            return Err(ToolError::argument(message).next("Give one glob of files to search"));
        }
        if has_comma_outside_braces(include) {
            let message = format!("grep: `include` ({include}) is a list");
            return Err(ToolError::argument(message)
                .next("Give one glob; alternatives go into braces, as in `*.{ts,tsx}`"));
        }
        Ok(())
    }
}

fn check_path(tool: &str, path: Option<&str>) -> Result<(), ToolError> {
    match path {
        Some(path) if path.trim().is_empty() => {
            Err(ToolError::argument(format!("{tool}: `path` is blank"))
                .next("Give a path, or leave it out to search the working directory"))
        }
        Some(path) if path.contains('\0') => {
            Err(ToolError::argument(format!("{tool}: `path` holds a NUL character"))
                .next("Give a path of the file system"))
        }
        _ => Ok(()),
    }
}

fn has_comma_outside_braces(glob: &str) -> bool {
    let mut depth = 0_usize;
    let mut in_class = false;
    let mut characters = glob.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class => depth += 1,
            '}' if !in_class => depth = depth.saturating_sub(1),
            ',' if !in_class && depth == 0 => return true,
            _ => {}
        }
    }
    false
}

/// The fields of a JSON object, for one tool.
struct Fields<'a> {
    tool: &'static str,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    fn new(
        tool: &'static str,
        arguments: &'a Value,
        known: &[&str],
    ) -> Result<Fields<'a>, ToolError> {
        let shown = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let Some(object) = arguments.as_object() else {
            let message = format!("{tool}: the arguments are {}, not an object", kind(arguments));
            return Err(ToolError::argument(message).next(format!("Give an object of {}", shown())));
        };
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(ToolError::argument(format!("{tool}: there is no argument `{key}`"))
                .next(format!("The arguments are {}", shown()))),
            None => Ok(Fields { tool, object }),
        }
    }

    fn required(&mut self, name: &str) -> Result<String, ToolError> {
        self.optional(name)?.ok_or_else(|| {
            ToolError::argument(format!("{}: `{name}` is missing", self.tool))
                .next(format!("Give `{name}` as a string"))
        })
    }

    fn optional(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => {
                let message = format!("{}: `{name}` is {}, not a string", self.tool, kind(other));
                Err(ToolError::argument(message).next(format!("Give `{name}` as a string")))
            }
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
