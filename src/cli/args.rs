//! The arguments, and the queries and scopes they stand for.

use clap::{Args, Parser, Subcommand, ValueEnum};
use ingrep::{
    Binary, Boundary, CancelToken, Case, Encoding, IgnoreRules, Limits, MultiLine, Order, Pool,
    Progress, Query, Result, Scope, Search, SortBy, Terminator,
};
use std::path::PathBuf;
use std::time::Duration;

/// Search files the way ripgrep does, without an rg binary.
///
/// Hidden files are searched, ignore files are not obeyed (see --repository), version control
/// directories are left out, and results come oldest modification first.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the lines that match a regular expression, file by file.
    ///
    /// Exit code 0: found; 1: everything was searched and nothing found; 2: an error, or the
    /// search was interrupted, or nothing was found and something could not be searched.
    Grep(Box<GrepArguments>),
    /// Print the paths of files that match a glob, one a line.
    ///
    /// Exit codes as for grep.
    Glob(Box<GlobArguments>),
    /// Do what ripgrep does with these arguments. See `ingrep rg --help`.
    #[command(disable_help_flag = true)]
    Rg,
}

#[derive(Args, Debug)]
pub(crate) struct WalkArguments {
    /// Where to look: a directory or a file; may be given several times. Default: here
    #[arg(short, long = "path", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Obey ignore files and skip hidden files, as rg does by default
    #[arg(long)]
    repository: bool,
    /// Skip files and directories whose name begins with a dot
    #[arg(long)]
    no_hidden: bool,
    /// Search .git, .svn, .hg, .bzr, .jj and .sl, too
    #[arg(long)]
    vcs: bool,
    /// Only files of this type (rust, py, ...); may be given several times
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// No files of this type; may be given several times
    #[arg(short = 'T', long = "type-not", value_name = "TYPE")]
    types_not: Vec<String>,
    /// How many levels below each path to look
    #[arg(short = 'd', long, value_name = "LEVELS")]
    max_depth: Option<usize>,
    /// No files of more than this many bytes
    #[arg(long, value_name = "BYTES")]
    max_filesize: Option<u64>,
    /// Follow links
    #[arg(short = 'L', long)]
    follow: bool,
    /// Stay on the file system of each path
    #[arg(long)]
    one_file_system: bool,
    /// What to order files by
    #[arg(long, value_name = "BY", default_value = "modified")]
    sort: Sort,
    /// The other way round: newest first, or z before a
    #[arg(long)]
    reverse: bool,
    /// Number of worker threads; 1 uses none but the main one. Default: as many as the machine
    /// has, up to 12
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Stop after this many seconds, with what was found until then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the reply that the model-facing tool of this name gives; with --json, as data
    #[arg(long)]
    pub(crate) reply: bool,
    /// Save complete results here when a reply has no room for them
    #[arg(long, value_name = "DIR", requires = "reply")]
    spill_dir: Option<PathBuf>,
    /// When to colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sort {
    Modified,
    Accessed,
    Created,
    Path,
    /// As directories are read: the first results come soonest
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Args, Debug)]
pub(crate) struct GrepArguments {
    /// The regular expression to look for
    #[arg(
        value_name = "PATTERN",
        allow_hyphen_values = true,
        required_unless_present = "more_patterns"
    )]
    pattern: Option<String>,
    /// Look for this, too, or instead of PATTERN; may be given several times
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    more_patterns: Vec<String>,
    /// Only files that match this glob, or with a leading ! none that do; may be given several
    /// times, the last match wins. A glob with a / is relative to --path
    #[arg(short = 'g', long = "include", value_name = "GLOB", allow_hyphen_values = true)]
    includes: Vec<String>,
    /// Take the pattern as plain text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Disregard case
    #[arg(short, long, conflicts_with = "smart_case")]
    ignore_case: bool,
    /// Disregard case unless the pattern has an upper-case letter
    #[arg(short = 'S', long)]
    smart_case: bool,
    /// Only whole words
    #[arg(short, long, conflicts_with = "line_regexp")]
    word_regexp: bool,
    /// Only whole lines
    #[arg(short = 'x', long)]
    line_regexp: bool,
    /// The lines that do not match
    #[arg(short = 'v', long)]
    invert_match: bool,
    /// Let a match span lines
    #[arg(short = 'U', long)]
    multiline: bool,
    /// Let a match span lines, and a dot match line ends
    #[arg(long)]
    multiline_dotall: bool,
    /// Lines of context after each match
    #[arg(short = 'A', long, value_name = "LINES")]
    after_context: Option<usize>,
    /// Lines of context before each match
    #[arg(short = 'B', long, value_name = "LINES")]
    before_context: Option<usize>,
    /// Lines of context around each match
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0, hide_default_value = true)]
    context: usize,
    /// All lines of the files, the matching ones marked
    #[arg(long)]
    passthru: bool,
    /// Stop searching a file after this many matching lines
    #[arg(short, long, value_name = "LINES")]
    max_count: Option<u64>,
    /// Print no more than this many matching lines, and count the rest
    #[arg(long, value_name = "LINES")]
    limit: Option<u64>,
    /// Print no more than this many bytes of a line. Default: 2,000, and with --json 1 MiB
    #[arg(long, value_name = "BYTES")]
    max_line_bytes: Option<usize>,
    /// Treat binary files as text
    #[arg(short = 'a', long)]
    text: bool,
    /// Treat \r\n as a line end, too
    #[arg(long, conflicts_with = "null_data")]
    crlf: bool,
    /// Treat NUL bytes as line ends
    #[arg(long)]
    null_data: bool,
    /// Decode files by this label (utf-16le, shift_jis, ...), or not at all (none)
    #[arg(short = 'E', long, value_name = "LABEL")]
    encoding: Option<String>,
    /// ASCII classes, case and word boundaries only
    #[arg(long)]
    no_unicode: bool,
    #[command(flatten)]
    pub(crate) walk: WalkArguments,
}

#[derive(Args, Debug)]
pub(crate) struct GlobArguments {
    /// The glob to look for: without a / it is matched with names at any depth, with one it is
    /// relative to --path
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pattern: String,
    #[command(flatten)]
    pub(crate) walk: WalkArguments,
}

/// What a terminal shows of a line. A minified file has lines of megabytes.
const SHOWN_LINE_BYTES: usize = 2_000;

impl GrepArguments {
    pub(crate) fn patterns(&self) -> Vec<String> {
        self.pattern.iter().chain(&self.more_patterns).cloned().collect()
    }

    pub(crate) fn compile(&self, progress: &Progress) -> Result<Search> {
        let scope = self
            .includes
            .iter()
            .fold(self.walk.scope(progress), |scope, include| scope.glob(include));
        let mut limits = Limits::new().max_lines(self.limit.unwrap_or(u64::MAX));
        if let Some(bytes) = self.max_line_bytes.or((!self.walk.json).then_some(SHOWN_LINE_BYTES)) {
            limits = limits.max_line_bytes(bytes);
        }
        self.query().scope(scope).limits(limits).compile()
    }

    pub(crate) fn pattern(&self) -> String {
        self.patterns().into_iter().next().unwrap_or_default()
    }

    pub(crate) fn includes(&self) -> Vec<String> {
        self.includes.clone()
    }

    /// Whether lines are wanted that do not match.
    pub(crate) fn wants_context(&self) -> bool {
        self.passthru
            || self.context > 0
            || self.before_context.is_some()
            || self.after_context.is_some()
    }

    pub(crate) fn limit(&self) -> Option<u64> {
        self.limit
    }

    pub(crate) fn max_line_bytes(&self) -> Option<usize> {
        self.max_line_bytes
    }

    pub(crate) fn query(&self) -> Query {
        Query::many(self.patterns())
            .allow_empty(true)
            .fixed_strings(self.fixed_strings)
            .case(match (self.ignore_case, self.smart_case) {
                (true, _) => Case::Insensitive,
                (_, true) => Case::Smart,
                _ => Case::Sensitive,
            })
            .boundary(match (self.word_regexp, self.line_regexp) {
                (true, _) => Boundary::Word,
                (_, true) => Boundary::Line,
                _ => Boundary::Anywhere,
            })
            .terminator(match (self.crlf, self.null_data) {
                (true, _) => Terminator::Crlf,
                (_, true) => Terminator::Nul,
                _ => Terminator::Lf,
            })
            .multi_line(match (self.multiline_dotall, self.multiline) {
                (true, _) => MultiLine::DotAll,
                (_, true) => MultiLine::On,
                _ => MultiLine::Off,
            })
            .unicode(!self.no_unicode)
            .invert(self.invert_match)
            .before_context(self.before_context.unwrap_or(self.context))
            .after_context(self.after_context.unwrap_or(self.context))
            .passthru(self.passthru)
            .max_count(self.max_count)
            .encoding(match self.encoding.as_deref() {
                None => Encoding::Auto,
                Some("none") => Encoding::Raw,
                Some(label) => Encoding::Label(label.to_string()),
            })
            .binary(if self.text { Binary::Text } else { Binary::Auto })
    }
}

impl GlobArguments {
    pub(crate) fn pattern(&self) -> &str {
        &self.pattern
    }

    pub(crate) fn scope(&self, progress: &Progress) -> Result<Scope> {
        Ok(self.walk.scope(progress).glob(&self.pattern))
    }
}

impl WalkArguments {
    fn scope(&self, progress: &Progress) -> Scope {
        let here = self.paths.is_empty();
        let paths = if here { vec![PathBuf::from(".")] } else { self.paths.clone() };
        // A glob is relative to the place that is searched, where there is one such place.
        let glob_base = match &paths[..] {
            [path] if path.is_dir() => path.clone(),
            _ => PathBuf::from("."),
        };
        let mut scope = Scope::many(paths).glob_base(glob_base);
        if let Ok(cwd) = std::env::current_dir() {
            scope = scope.base(cwd);
        }
        if self.repository {
            let mut rules = IgnoreRules::ripgrep();
            if let Some(file) = global_ignore_file() {
                rules = rules.global_file(file);
            }
            scope = scope.ignore(rules).hidden(false);
        }
        if self.no_hidden {
            scope = scope.hidden(false);
        }
        scope = self.types.iter().fold(scope, |scope, name| scope.file_type(name));
        scope = self.types_not.iter().fold(scope, |scope, name| scope.file_type_not(name));
        scope
            .prune_vcs(!self.vcs)
            .max_depth(self.max_depth)
            .max_file_bytes(self.max_filesize)
            .follow_links(self.follow)
            .one_file_system(self.one_file_system)
            .sort(self.sort.into(), if self.reverse { Order::Descending } else { Order::Ascending })
            .pool(&self.pool())
            .progress(progress)
    }

    pub(crate) fn pool(&self) -> Pool {
        if self.threads == 1 { Pool::inline() } else { Pool::new(self.threads) }
    }

    /// A switch that was given and that the model-facing tools do not have.
    pub(crate) fn switch_without_reply(&self) -> Option<&'static str> {
        [
            (self.no_hidden, "--no-hidden"),
            (self.vcs, "--vcs"),
            (!self.types.is_empty(), "--type"),
            (!self.types_not.is_empty(), "--type-not"),
            (self.max_depth.is_some(), "--max-depth"),
            (self.max_filesize.is_some(), "--max-filesize"),
            (self.follow, "--follow"),
            (self.one_file_system, "--one-file-system"),
            (!matches!(self.sort, Sort::Modified), "--sort"),
        ]
        .into_iter()
        .find_map(|(given, switch)| given.then_some(switch))
    }

    /// The paths as the tools take them.
    pub(crate) fn path_texts(&self) -> std::result::Result<Vec<String>, String> {
        let text = |path: &PathBuf| match path.to_str() {
            Some(text) => Ok(text.to_string()),
            None => Err(format!("{}: with --reply a path has to be UTF-8", path.display())),
        };
        self.paths.iter().map(text).collect()
    }

    pub(crate) fn repository(&self) -> bool {
        self.repository
    }

    pub(crate) fn reverse(&self) -> bool {
        self.reverse
    }

    pub(crate) fn spill_dir(&self) -> Option<&std::path::Path> {
        self.spill_dir.as_deref()
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    pub(crate) fn limit_time(&self, token: &CancelToken) -> CancelToken {
        match self.timeout {
            Some(timeout) => token.child().deadline_in(timeout),
            None => token.child(),
        }
    }
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| String::from("it has to be a number"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// The file that git reads rules for every repository from, unless its configuration says
/// otherwise.
fn global_ignore_file() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|dir| !dir.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")))?;
    Some(config.join("git/ignore")).filter(|file| file.is_file())
}

impl From<Sort> for SortBy {
    fn from(sort: Sort) -> SortBy {
        match sort {
            Sort::Modified => SortBy::Modified,
            Sort::Accessed => SortBy::Accessed,
            Sort::Created => SortBy::Created,
            Sort::Path => SortBy::Path,
            Sort::None => SortBy::Nothing,
        }
    }
}
