//! ripgrep's argv as a plain value: no file is opened, no environment or directory is looked at.
//!
//! The texts of the errors are those ripgrep 15.2 prints after `rg: `.

use std::ffi::OsString;
use std::fmt;

use super::flags::{self, Arity, Flag, FlagId, Polarity, Support};

/// Reads the arguments that follow the program's name.
///
/// The last flag wins wherever flags exclude each other. Values are checked as far as ripgrep checks
/// them while it reads its arguments; globs, types, patterns and paths are not looked into.
///
/// # Errors
///
/// The first argument ripgrep would object to, with its message.
///
/// ```
/// # use ingrep::rg::args::{Mode, Parsed, parse};
/// let argv = ["--json", "-A3", "--hidden", "fn main", "src"];
/// let Parsed::Args(args) = parse(argv.map(Into::into))? else { return Err("special".into()) };
/// assert_eq!(args.mode, Mode::Json);
/// assert_eq!(args.context.lines(), (0, 3));
/// assert_eq!(args.positional, ["fn main", "src"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse(argv: impl IntoIterator<Item = OsString>) -> Result<Parsed, ArgsError> {
    let mut args = Args::default();
    let mut special = None;
    let mut parser = lexopt::Parser::from_args(argv);
    while let Some(arg) = parser.next().map_err(|error| ArgsError::Syntax(error.to_string()))? {
        let (flag, name, polarity) = match arg {
            lexopt::Arg::Value(value) => {
                args.positional.push(value);
                continue;
            }
            lexopt::Arg::Short('h') => {
                special = Some(Special::ShortHelp);
                continue;
            }
            lexopt::Arg::Short('V') => {
                special = Some(Special::ShortVersion);
                continue;
            }
            // A letter after two dashes is that flag, except that `--h` and `--V` do nothing at all.
            lexopt::Arg::Long("help") => {
                special = Some(Special::LongHelp);
                continue;
            }
            lexopt::Arg::Long("version") => {
                special = Some(Special::LongVersion);
                continue;
            }
            lexopt::Arg::Long("pcre2-version") => {
                special = Some(Special::Pcre2Version);
                continue;
            }
            lexopt::Arg::Short(letter) => match flags::find_short(letter) {
                Some(flag) => (flag, format!("-{letter}"), Polarity::Positive),
                None => {
                    let name = format!("-{letter}");
                    return Err(ArgsError::UnknownFlag { name, similar: Vec::new() });
                }
            },
            lexopt::Arg::Long(name) => match flags::find_long(name) {
                Some((flag, polarity)) => {
                    let letter = flag.short.map(String::from).filter(|letter| letter == name);
                    let name = letter.map_or_else(|| format!("--{name}"), |it| format!("-{it}"));
                    (flag, name, polarity)
                }
                None => {
                    let similar = flags::similar(name);
                    return Err(ArgsError::UnknownFlag { name: format!("--{name}"), similar });
                }
            },
        };
        let set = match (flag.arity, polarity) {
            (_, Polarity::Negative) => args.set(flag, Given::Off),
            (Arity::Switch, Polarity::Positive) => args.set(flag, Given::On),
            (Arity::Value(_), Polarity::Positive) => {
                let value = parser.value().map_err(|error| ArgsError::MissingValue {
                    name: name.clone(),
                    reason: error.to_string(),
                })?;
                args.set(flag, Given::Value(value))
            }
        };
        set.map_err(|reason| ArgsError::BadValue { name, reason })?;
    }
    Ok(special.map_or_else(|| Parsed::Args(Box::new(args)), Parsed::Special))
}

/// Divides patterns from paths: without `-e` and `-f` the first positional is the pattern.
///
/// With `--files` and the other modes that do not search, every positional is a path and there are
/// no patterns, whatever `-e` and `-f` say. ripgrep does this after the flags are read and after it
/// has found its working directory.
///
/// # Errors
///
/// [`ArgsError::NoPattern`] and [`ArgsError::PatternNotUtf8`].
///
/// ```
/// # use ingrep::rg::args::{Args, Mode, PatternSource, operands};
/// let mut args = Args { positional: vec!["a".into(), "b".into()], ..Args::default() };
/// let found = operands(&args)?;
/// assert_eq!(found.patterns, [PatternSource::Positional("a".into())]);
/// assert_eq!(found.paths, ["b"]);
/// args.mode = Mode::Files;
/// assert_eq!(operands(&args)?.paths, ["a", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn operands(args: &Args) -> Result<Operands, ArgsError> {
    if !args.mode.searches() {
        return Ok(Operands { patterns: Vec::new(), paths: args.positional.clone() });
    }
    if !args.patterns.is_empty() {
        return Ok(Operands { patterns: args.patterns.clone(), paths: args.positional.clone() });
    }
    let Some((first, paths)) = args.positional.split_first() else {
        return Err(ArgsError::NoPattern);
    };
    let pattern = first.to_str().ok_or(ArgsError::PatternNotUtf8)?.to_owned();
    Ok(Operands { patterns: vec![PatternSource::Positional(pattern)], paths: paths.to_vec() })
}

/// Tells whether these arguments can be served.
///
/// Only what decides in the end counts: `--pre` with `--files` is fine, and without the crate's
/// feature `rg-text`, which text output needs, so is `-l --json`.
///
/// # Errors
///
/// The first flag that stands in the way. [`Unserved::Pcre2`] is special in that ripgrep itself
/// gives that answer, and gives it late: after paths, types and globs were looked at.
///
/// ```
/// # use ingrep::rg::args::{Args, Preprocess, check};
/// let args = Args { preprocess: Preprocess::Decompress, ..Args::default() };
/// assert!(check(&args).is_err_and(|why| why.to_string().starts_with("-z/--search-zip is not")));
/// ```
pub fn check(args: &Args) -> Result<(), Unserved> {
    // Quiet, the modes say no more than an exit code.
    if !args.quiet && !flags::TEXT {
        match args.mode {
            Mode::Text => return Err(Unserved::TextOutput),
            Mode::FilesWithMatches => return Err(refused(FlagId::FilesWithMatches)),
            Mode::FilesWithoutMatch => return Err(refused(FlagId::FilesWithoutMatch)),
            Mode::Count => return Err(refused(FlagId::Count)),
            Mode::CountMatches => return Err(refused(FlagId::CountMatches)),
            Mode::Files if args.is_coloured() => return Err(refused(FlagId::Color)),
            Mode::Files | Mode::Json | Mode::TypeList | Mode::Generate(_) => {}
        }
    }
    if let Mode::Generate(_) = args.mode {
        return Err(refused(FlagId::Generate));
    }
    if args.writes_hyperlinks() {
        return Err(refused(FlagId::HyperlinkFormat));
    }
    if !args.mode.searches() {
        return Ok(());
    }
    match args.preprocess {
        Preprocess::None => {}
        Preprocess::Command(_) => return Err(refused(FlagId::Pre)),
        Preprocess::Decompress => return Err(refused(FlagId::SearchZip)),
    }
    // With a limit of no matches ripgrep ends before it chooses an engine.
    if args.engine == Engine::Pcre2 && args.max_count != Some(0) {
        return Err(Unserved::Pcre2);
    }
    Ok(())
}

fn refused(id: FlagId) -> Unserved {
    let reason = match id.flag().support {
        Support::Refused(reason) | Support::NoEffect(reason) => reason,
        Support::Served => "not in this combination",
    };
    Unserved::Flag { flag: id, reason }
}

/// What an argv asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// To search or to list. Boxed, since the other answer is one byte.
    Args(Box<Args>),
    /// To show something about the program; everything else is disregarded.
    Special(Special),
}

/// What to show instead of searching. The last such flag wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Special {
    /// `-h`.
    ShortHelp,
    /// `--help`.
    LongHelp,
    /// `-V`.
    ShortVersion,
    /// `--version`.
    LongVersion,
    /// `--pcre2-version`. Without the engine ripgrep prints
    /// `PCRE2 is not available in this build of ripgrep.` to stdout and exits with 1.
    Pcre2Version,
}

/// Everything ripgrep's flags can say. [`Args::default`] is an empty argv.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// What kind of output is wanted. Default: [`Mode::Text`].
    pub mode: Mode,
    /// The patterns of `-e` and `-f` in the order given. Default: none.
    pub patterns: Vec<PatternSource>,
    /// The arguments that are not flags; [`operands`] tells what they are.
    pub positional: Vec<OsString>,

    /// Default: [`Case::Sensitive`].
    pub case: Case,
    /// What has to be around a match. Default: [`Boundary::None`].
    pub boundary: Boundary,
    /// Whether patterns are plain text. Default: false.
    pub fixed_strings: bool,
    /// Whether the lines that do not match are wanted. Default: false.
    pub invert_match: bool,
    /// Whether classes, case and word borders know Unicode. Default: true.
    pub unicode: bool,
    /// Default: [`Engine::Default`].
    pub engine: Engine,
    /// Default: [`LineTerminator::Lf`].
    pub line_terminator: LineTerminator,
    /// How far a match or a file's search may reach. Default: [`Reach::Line`].
    pub reach: Reach,
    /// Whether the dot matches newlines in [`Reach::MultiLine`]. Default: false.
    pub multiline_dotall: bool,
    /// The size limit of the compiled pattern in bytes. Default: the engine's.
    pub regex_size_limit: Option<usize>,
    /// The size limit of the lazy automaton in bytes. Default: the engine's.
    pub dfa_size_limit: Option<usize>,
    /// The number of matching lines after which a file is left. Default: no limit.
    pub max_count: Option<u64>,
    /// Default: [`Mmap::Auto`].
    pub mmap: Mmap,
    /// The number of threads; `None`, which `-j0` means too, leaves the choice to the program.
    pub threads: Option<usize>,
    /// Default: [`Encoding::Auto`].
    pub encoding: Encoding,
    /// Default: [`BinaryFiles::Auto`]. Without effect with [`LineTerminator::Nul`].
    pub binary: BinaryFiles,
    /// Default: no context.
    pub context: Context,
    /// The text of `-r`, with its `$` references. Default: none.
    pub replace: Option<String>,
    /// What is done to a file before it is searched. Default: [`Preprocess::None`].
    pub preprocess: Preprocess,
    /// The globs of `--pre-glob`.
    pub pre_globs: Vec<String>,

    /// The globs of `-g`. They come before [`Args::iglobs`], whatever the order they were given in.
    pub globs: Vec<String>,
    /// The globs of `--iglob`.
    pub iglobs: Vec<String>,
    /// Whether the globs of `-g` disregard case too. Default: false.
    pub glob_case_insensitive: bool,
    /// Changes to the file types and selections among them, in the order given.
    pub types: Vec<TypeChange>,
    /// Whether names that start with a dot are included. Default: false.
    pub hidden: bool,
    /// Whether symbolic links are followed. Default: false.
    pub follow: bool,
    /// Which ignore files are obeyed. Default: all.
    pub ignore: IgnoreSources,
    /// The files of `--ignore-file`; a later one takes precedence.
    pub ignore_files: Vec<OsString>,
    /// Whether ignore rules disregard case. Default: false.
    pub ignore_file_case_insensitive: bool,
    /// How many directories to go down. Default: no limit.
    pub max_depth: Option<usize>,
    /// The size in bytes above which walked files are left out. Default: no limit.
    pub max_filesize: Option<u64>,
    /// Whether the walk stays on the file system of each root. Default: false.
    pub one_file_system: bool,
    /// How often `-u` was given, at most 3. What it stands for is already in the other fields.
    pub unrestricted: u8,

    /// Whether nothing is written to stdout. Default: false.
    pub quiet: bool,
    /// Whether listed paths end with NUL. Default: false.
    pub null: bool,
    /// The byte written for the separator in paths. Default: the platform's.
    pub path_separator: Option<u8>,
    /// Default: unsorted.
    pub sort: Option<Sort>,
    /// `-n` and `-N`. Default: JSON has line numbers, text has them if there is a column.
    pub line_number: Option<bool>,
    /// Whether totals were asked for. Default: false.
    pub stats: bool,

    /// Whether files that cannot be read are reported. Default: true.
    pub messages: bool,
    /// Whether faults in ignore files are reported. Default: true.
    pub ignore_messages: bool,
    /// Whether a configuration file may be read. Default: true.
    pub config: bool,
    /// Default: [`Log::Off`].
    pub log: Log,

    /// How text output looks.
    pub text: TextLayout,
    /// Default: [`Color::Auto`].
    pub color: Color,
    /// Default: [`Buffering::Auto`].
    pub buffering: Buffering,
}

/// The flags that shape text output only.
#[derive(Clone, Debug, PartialEq)]
pub struct TextLayout {
    /// `-b`.
    pub byte_offset: bool,
    /// `--column`. Default: with `--vimgrep` only.
    pub column: Option<bool>,
    /// The specifications of `--colors`, checked, in the order given.
    pub colors: Vec<String>,
    /// The separator between groups of context lines, unescaped; `None` for none. Default: `--`.
    pub context_separator: Option<Vec<u8>>,
    /// The separator of the fields of a context line, unescaped. Default: `-`.
    pub field_context_separator: Vec<u8>,
    /// The separator of the fields of a matching line, unescaped. Default: `:`.
    pub field_match_separator: Vec<u8>,
    /// Whether paths stand above their matches. Default: the program chooses.
    pub heading: Option<bool>,
    /// `--hostname-bin`; an empty value means none.
    pub hostname_bin: Option<OsString>,
    /// The checked value of `--hyperlink-format`, an alias or a format.
    pub hyperlink_format: Option<String>,
    /// `--include-zero`.
    pub include_zero: bool,
    /// `-M`, with 0 for none.
    pub max_columns: Option<u64>,
    /// `--max-columns-preview`.
    pub max_columns_preview: bool,
    /// `-o`.
    pub only_matching: bool,
    /// `--trim`.
    pub trim: bool,
    /// `--vimgrep`.
    pub vimgrep: bool,
    /// `-H` and `-I`. Default: the program chooses.
    pub with_filename: Option<bool>,
}

/// The kind of output. The last flag that asks for one wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Matching lines as text: no mode flag.
    Text,
    /// `--json`.
    Json,
    /// `-l`.
    FilesWithMatches,
    /// `--files-without-match`.
    FilesWithoutMatch,
    /// `-c`.
    Count,
    /// `--count-matches`.
    CountMatches,
    /// `--files`.
    Files,
    /// `--type-list`.
    TypeList,
    /// `--generate`.
    Generate(Generate),
}

/// What `--generate` would write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Generate {
    /// `man`.
    Man,
    /// `complete-bash`.
    CompleteBash,
    /// `complete-zsh`.
    CompleteZsh,
    /// `complete-fish`.
    CompleteFish,
    /// `complete-powershell`.
    CompletePowershell,
}

/// Where patterns come from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PatternSource {
    /// The first positional argument.
    Positional(String),
    /// `-e`.
    Regexp(String),
    /// `-f`, with `-` for stdin.
    File(OsString),
}

/// Patterns and paths, told apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Operands {
    /// Where the patterns come from; empty in modes that do not search.
    pub patterns: Vec<PatternSource>,
    /// The paths as typed; empty means the default path.
    pub paths: Vec<OsString>,
}

/// How case is treated. The last of `-s`, `-i` and `-S` wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Case {
    /// Upper and lower case differ.
    Sensitive,
    /// Upper and lower case are the same.
    Insensitive,
    /// They differ if the patterns have an upper case letter.
    Smart,
}

/// What has to be around a match. The last of `-w` and `-x` wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Boundary {
    /// Anything.
    None,
    /// Word borders.
    Word,
    /// The ends of the line.
    Line,
}

/// Which engine was asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Engine {
    /// The engine of the regex crates.
    Default,
    /// PCRE2.
    Pcre2,
    /// PCRE2 where the default engine fails; without PCRE2 the same as [`Engine::Default`].
    Auto,
}

/// What ends a line. The last of `--crlf` and `--null-data` wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LineTerminator {
    /// LF.
    Lf,
    /// CR LF or LF.
    Crlf,
    /// NUL.
    Nul,
}

/// How far a match or the search of a file may reach.
///
/// The last of `-U` and `--stop-on-nonmatch` wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// A match is inside a line, and all lines are searched.
    Line,
    /// A match may span lines.
    MultiLine,
    /// A match is inside a line, and the first line without a match after one with ends the search.
    StopOnNonmatch,
}

/// Whether files are memory-mapped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mmap {
    /// For a few files named explicitly.
    Auto,
    /// Wherever possible.
    Always,
    /// Never.
    Never,
}

/// How bytes are decoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Encoding {
    /// By the byte-order mark, otherwise not at all.
    Auto,
    /// Not at all; a byte-order mark is text.
    Raw,
    /// From the encoding with this WHATWG label, which exists.
    Label(String),
}

/// What is done about NUL bytes. The last of `-a`, `--binary`, their negations and `-uuu` wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BinaryFiles {
    /// A walked file is left at its first NUL; an explicit one is searched on.
    Auto,
    /// Every file is searched on.
    Search,
    /// NUL is a byte like any other.
    Text,
}

/// The lines around matches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Context {
    /// All lines.
    Passthru,
    /// The values of `-B`, `-A` and `-C`, as far as given.
    Limited {
        /// `-B`.
        before: Option<usize>,
        /// `-A`.
        after: Option<usize>,
        /// `-C`, which stands behind the other two whatever the order.
        both: Option<usize>,
    },
}

/// What is done to a file before it is searched. The last of `--pre` and `-z` wins.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Preprocess {
    /// Nothing.
    None,
    /// It is replaced by the output of this command.
    Command(OsString),
    /// It is decompressed by another program.
    Decompress,
}

/// One change to the file types, or one selection among them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TypeChange {
    /// `--type-clear`.
    Clear(String),
    /// `--type-add`.
    Add(String),
    /// `-t`.
    Select(String),
    /// `-T`.
    Negate(String),
}

/// Which ignore files are obeyed; true means obeyed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IgnoreSources {
    /// `.ignore` and `.rgignore`.
    pub dot: bool,
    /// `.git/info/exclude`.
    pub exclude: bool,
    /// [`Args::ignore_files`].
    pub files: bool,
    /// `core.excludesFile`.
    pub global: bool,
    /// Ignore files above the roots.
    pub parent: bool,
    /// All of git's.
    pub vcs: bool,
    /// Git's only inside of repositories.
    pub require_git: bool,
}

/// An order of files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sort {
    /// What is compared.
    pub key: SortKey,
    /// Which end comes first.
    pub order: Order,
}

/// What is compared in sorting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SortKey {
    /// The path.
    Path,
    /// The time of the last modification.
    Modified,
    /// The time of the last access.
    Accessed,
    /// The time of creation.
    Created,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// `--sort`: the smallest or oldest.
    Ascending,
    /// `--sortr`: the greatest or newest.
    Descending,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Color {
    /// Never.
    Never,
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Always, by escape sequences on Windows too.
    Ansi,
}

/// When output is flushed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Buffering {
    /// By line on a terminal, else by block.
    Auto,
    /// After every line.
    Line,
    /// When a block is full.
    Block,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Log {
    /// Nothing.
    Off,
    /// `--debug`.
    Debug,
    /// `--trace`.
    Trace,
}

/// An argv ripgrep would not start with. Its text is ripgrep's, without `rg: `.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ArgsError {
    /// There is no such flag.
    UnknownFlag {
        /// The flag with its dashes.
        name: String,
        /// Long names that resemble it.
        similar: Vec<&'static str>,
    },
    /// The argv ends where a value should be.
    MissingValue {
        /// The flag with its dashes.
        name: String,
        /// What the parser says.
        reason: String,
    },
    /// The flag does not take this value.
    BadValue {
        /// The flag with its dashes.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A value was attached to a flag without value.
    Syntax(String),
    /// No pattern was given, and the mode needs one.
    NoPattern,
    /// The pattern given as a positional is not UTF-8.
    PatternNotUtf8,
}

/// Why a valid argv is not served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unserved {
    /// The flag is understood, but what it asks for is not done here.
    Flag {
        /// The flag.
        flag: FlagId,
        /// Why.
        reason: &'static str,
    },
    /// No flag chose an output that is served.
    TextOutput,
    /// PCRE2 was asked for. The text is ripgrep's.
    Pcre2,
}

impl Default for Args {
    fn default() -> Args {
        Args {
            mode: Mode::Text,
            patterns: Vec::new(),
            positional: Vec::new(),
            case: Case::Sensitive,
            boundary: Boundary::None,
            fixed_strings: false,
            invert_match: false,
            unicode: true,
            engine: Engine::Default,
            line_terminator: LineTerminator::Lf,
            reach: Reach::Line,
            multiline_dotall: false,
            regex_size_limit: None,
            dfa_size_limit: None,
            max_count: None,
            mmap: Mmap::Auto,
            threads: None,
            encoding: Encoding::Auto,
            binary: BinaryFiles::Auto,
            context: Context::NONE,
            replace: None,
            preprocess: Preprocess::None,
            pre_globs: Vec::new(),
            globs: Vec::new(),
            iglobs: Vec::new(),
            glob_case_insensitive: false,
            types: Vec::new(),
            hidden: false,
            follow: false,
            ignore: IgnoreSources::default(),
            ignore_files: Vec::new(),
            ignore_file_case_insensitive: false,
            max_depth: None,
            max_filesize: None,
            one_file_system: false,
            unrestricted: 0,
            quiet: false,
            null: false,
            path_separator: None,
            sort: None,
            line_number: None,
            stats: false,
            messages: true,
            ignore_messages: true,
            config: true,
            log: Log::Off,
            text: TextLayout::default(),
            color: Color::Auto,
            buffering: Buffering::Auto,
        }
    }
}

impl Default for TextLayout {
    fn default() -> TextLayout {
        TextLayout {
            byte_offset: false,
            column: None,
            colors: Vec::new(),
            context_separator: Some(b"--".to_vec()),
            field_context_separator: b"-".to_vec(),
            field_match_separator: b":".to_vec(),
            heading: None,
            hostname_bin: None,
            hyperlink_format: None,
            include_zero: false,
            max_columns: None,
            max_columns_preview: false,
            only_matching: false,
            trim: false,
            vimgrep: false,
            with_filename: None,
        }
    }
}

impl Default for IgnoreSources {
    fn default() -> IgnoreSources {
        IgnoreSources {
            dot: true,
            exclude: true,
            files: true,
            global: true,
            parent: true,
            vcs: true,
            require_git: true,
        }
    }
}

impl IgnoreSources {
    /// `--no-ignore` leaves out `--ignore-file`, which was asked for explicitly.
    fn set_found(&mut self, obeyed: bool) {
        self.dot = obeyed;
        self.exclude = obeyed;
        self.global = obeyed;
        self.parent = obeyed;
        self.vcs = obeyed;
    }
}

impl Mode {
    /// Whether files are searched, so that a pattern is needed.
    ///
    /// ```
    /// # use ingrep::rg::args::Mode;
    /// assert!(Mode::Json.searches() && !Mode::Files.searches());
    /// ```
    pub fn searches(self) -> bool {
        !matches!(self, Mode::Files | Mode::TypeList | Mode::Generate(_))
    }
}

impl Context {
    /// No context.
    pub const NONE: Context = Context::Limited { before: None, after: None, both: None };

    /// The number of lines before and after a match; `(0, 0)` for [`Context::Passthru`].
    ///
    /// ```
    /// # use ingrep::rg::args::Context;
    /// let context = Context::Limited { before: None, after: Some(2), both: Some(1) };
    /// assert_eq!(context.lines(), (1, 2));
    /// ```
    pub fn lines(self) -> (usize, usize) {
        match self {
            Context::Passthru => (0, 0),
            Context::Limited { before, after, both } => {
                (before.or(both).unwrap_or(0), after.or(both).unwrap_or(0))
            }
        }
    }

    /// The values of `-B`, `-A` and `-C`, of which `--passthru` leaves none behind.
    fn limits(self) -> [Option<usize>; 3] {
        match self {
            Context::Passthru => [None; 3],
            Context::Limited { before, after, both } => [before, after, both],
        }
    }
}

impl fmt::Display for ArgsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgsError::UnknownFlag { name, similar } => {
                write!(out, "unrecognized flag {name}")?;
                for (index, known) in similar.iter().enumerate() {
                    let before =
                        if index == 0 { "\n\nsimilar flags that are available: " } else { ", " };
                    write!(out, "{before}--{known}")?;
                }
                Ok(())
            }
            ArgsError::MissingValue { name, reason } => {
                write!(out, "missing value for flag {name}: {reason}")
            }
            ArgsError::BadValue { name, reason } => {
                write!(out, "error parsing flag {name}: {reason}")
            }
            ArgsError::Syntax(reason) => write!(out, "invalid CLI arguments: {reason}"),
            ArgsError::NoPattern => {
                out.write_str("ripgrep requires at least one pattern to execute a search")
            }
            ArgsError::PatternNotUtf8 => out.write_str("pattern given is not valid UTF-8"),
        }
    }
}

impl std::error::Error for ArgsError {}

impl fmt::Display for Unserved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unserved::Flag { flag, reason } => {
                write!(out, "{} is not served: {reason}", flag.flag().name())
            }
            Unserved::TextOutput => out.write_str(flags::NO_TEXT),
            Unserved::Pcre2 => out.write_str("PCRE2 is not available in this build of ripgrep"),
        }
    }
}

impl std::error::Error for Unserved {}

/// How a flag was given.
enum Given {
    On,
    Off,
    Value(OsString),
}

impl Given {
    fn is_on(&self) -> bool {
        !matches!(self, Given::Off)
    }

    /// The value. A flag with a value that can be taken back asks for [`Given::Off`] first.
    fn bytes(self) -> OsString {
        match self {
            Given::Value(value) => value,
            Given::On | Given::Off => OsString::new(),
        }
    }

    fn text(self) -> Result<String, String> {
        self.bytes().into_string().map_err(|_| "value is not valid UTF-8".to_owned())
    }

    fn number<T: std::str::FromStr<Err = std::num::ParseIntError>>(self) -> Result<T, String> {
        self.text()?.parse().map_err(|error| format!("value is not a valid number: {error}"))
    }

    fn size(self) -> Result<u64, String> {
        size(&self.text()?).map_err(|reason| format!("invalid size: {reason}"))
    }

    fn memory(self) -> Result<usize, String> {
        let size = self.size()?;
        usize::try_from(size).map_err(|error| format!("size is too big: {error}"))
    }

    fn separator(self) -> Result<Vec<u8>, String> {
        let text = self.bytes().into_string().map_err(|_| {
            "separator must be valid UTF-8 (use escape sequences to provide a separator that is \
             not valid UTF-8)"
        })?;
        Ok(unescape(&text))
    }
}

impl Args {
    /// Whether text is coloured. The output is never a terminal to us.
    pub(super) fn is_coloured(&self) -> bool {
        matches!(self.color, Color::Always | Color::Ansi)
    }

    /// Whether there would be hyperlinks in the output, which are no more than a kind of colour.
    fn writes_hyperlinks(&self) -> bool {
        let format = self.text.hyperlink_format.as_deref().unwrap_or_default();
        let has_paths = !matches!(self.mode, Mode::Json | Mode::TypeList | Mode::Generate(_));
        self.is_coloured() && has_paths && !self.quiet && !["", "none"].contains(&format)
    }

    /// Whether the column of a match is shown.
    pub(super) fn shows_column(&self) -> bool {
        self.text.column.unwrap_or(self.text.vimgrep)
    }

    /// Whether lines are numbered.
    pub(super) fn numbers_lines(&self) -> bool {
        self.line_number.unwrap_or(match self.mode {
            Mode::Json => true,
            Mode::Text => self.shows_column() || self.text.vimgrep,
            _ => false,
        })
    }

    /// The only place where a flag acts. The match has no default arm, so that a flag cannot be in
    /// the table and be forgotten here.
    fn set(&mut self, flag: &Flag, given: Given) -> Result<(), String> {
        let on = given.is_on();
        match flag.id {
            FlagId::Regexp => self.patterns.push(PatternSource::Regexp(given.text()?)),
            FlagId::File => self.patterns.push(PatternSource::File(given.bytes())),

            FlagId::CaseSensitive => self.case = Case::Sensitive,
            FlagId::IgnoreCase => self.case = Case::Insensitive,
            FlagId::SmartCase => self.case = Case::Smart,
            FlagId::WordRegexp => self.boundary = Boundary::Word,
            FlagId::LineRegexp => self.boundary = Boundary::Line,
            FlagId::FixedStrings => self.fixed_strings = on,
            FlagId::InvertMatch => self.invert_match = on,
            FlagId::NoUnicode | FlagId::NoPcre2Unicode => self.unicode = !on,
            FlagId::Engine => self.engine = engine(&given.text()?)?,
            FlagId::Pcre2 => self.engine = if on { Engine::Pcre2 } else { Engine::Default },
            FlagId::AutoHybridRegex => {
                self.engine = if on { Engine::Auto } else { Engine::Default };
            }
            FlagId::Crlf => match (on, self.line_terminator) {
                (true, _) => self.line_terminator = LineTerminator::Crlf,
                (false, LineTerminator::Crlf) => self.line_terminator = LineTerminator::Lf,
                (false, LineTerminator::Lf | LineTerminator::Nul) => {}
            },
            FlagId::NullData => self.line_terminator = LineTerminator::Nul,
            FlagId::Multiline => match (on, self.reach) {
                (true, _) => self.reach = Reach::MultiLine,
                (false, Reach::MultiLine) => self.reach = Reach::Line,
                (false, Reach::Line | Reach::StopOnNonmatch) => {}
            },
            FlagId::StopOnNonmatch => self.reach = Reach::StopOnNonmatch,
            FlagId::MultilineDotall => self.multiline_dotall = on,
            FlagId::RegexSizeLimit => self.regex_size_limit = Some(given.memory()?),
            FlagId::DfaSizeLimit => self.dfa_size_limit = Some(given.memory()?),
            FlagId::MaxCount => self.max_count = Some(given.number()?),
            FlagId::Mmap => self.mmap = if on { Mmap::Always } else { Mmap::Never },
            FlagId::Threads => self.threads = Some(given.number()?).filter(|&number| number > 0),
            FlagId::Encoding if !on => self.encoding = Encoding::Auto,
            FlagId::Encoding => self.encoding = encoding(given.text()?)?,
            FlagId::Binary => {
                self.binary = if on { BinaryFiles::Search } else { BinaryFiles::Auto }
            }
            FlagId::Text => self.binary = if on { BinaryFiles::Text } else { BinaryFiles::Auto },
            FlagId::AfterContext => {
                let [before, _, both] = self.context.limits();
                self.context = Context::Limited { before, after: Some(given.number()?), both };
            }
            FlagId::BeforeContext => {
                let [_, after, both] = self.context.limits();
                self.context = Context::Limited { before: Some(given.number()?), after, both };
            }
            FlagId::Context => {
                let [before, after, _] = self.context.limits();
                self.context = Context::Limited { before, after, both: Some(given.number()?) };
            }
            FlagId::Passthru => self.context = Context::Passthru,
            FlagId::Replace => self.replace = Some(given.text()?),
            FlagId::Pre => {
                let command = given.bytes();
                if !command.is_empty() {
                    self.preprocess = Preprocess::Command(command);
                } else if matches!(self.preprocess, Preprocess::Command(_)) {
                    self.preprocess = Preprocess::None;
                }
            }
            FlagId::PreGlob => self.pre_globs.push(given.text()?),
            FlagId::SearchZip => {
                if on {
                    self.preprocess = Preprocess::Decompress;
                } else if self.preprocess == Preprocess::Decompress {
                    self.preprocess = Preprocess::None;
                }
            }

            FlagId::Glob => self.globs.push(given.text()?),
            FlagId::Iglob => self.iglobs.push(given.text()?),
            FlagId::GlobCaseInsensitive => self.glob_case_insensitive = on,
            FlagId::Type => self.types.push(TypeChange::Select(given.text()?)),
            FlagId::TypeNot => self.types.push(TypeChange::Negate(given.text()?)),
            FlagId::TypeAdd => self.types.push(TypeChange::Add(given.text()?)),
            FlagId::TypeClear => self.types.push(TypeChange::Clear(given.text()?)),
            FlagId::Hidden => self.hidden = on,
            FlagId::Follow => self.follow = on,
            FlagId::NoIgnore => self.ignore.set_found(!on),
            FlagId::NoIgnoreDot => self.ignore.dot = !on,
            FlagId::NoIgnoreExclude => self.ignore.exclude = !on,
            FlagId::NoIgnoreFiles => self.ignore.files = !on,
            FlagId::NoIgnoreGlobal => self.ignore.global = !on,
            FlagId::NoIgnoreParent => self.ignore.parent = !on,
            FlagId::NoIgnoreVcs => self.ignore.vcs = !on,
            FlagId::NoRequireGit => self.ignore.require_git = !on,
            FlagId::IgnoreFile => self.ignore_files.push(given.bytes()),
            FlagId::IgnoreFileCaseInsensitive => self.ignore_file_case_insensitive = on,
            FlagId::MaxDepth => self.max_depth = Some(given.number()?),
            FlagId::MaxFilesize => self.max_filesize = Some(given.size()?),
            FlagId::OneFileSystem => self.one_file_system = on,
            FlagId::Unrestricted => {
                self.unrestricted = self.unrestricted.saturating_add(1);
                match self.unrestricted {
                    1 => self.ignore.set_found(false),
                    2 => self.hidden = true,
                    3 => self.binary = BinaryFiles::Search,
                    _ => return Err("flag can only be repeated up to 3 times".to_owned()),
                }
            }

            FlagId::Quiet => self.quiet = true,
            FlagId::Null => self.null = true,
            FlagId::PathSeparator => self.path_separator = path_separator(&given.text()?)?,
            FlagId::Sort => self.sort = sort(&given.text()?, Order::Ascending)?,
            FlagId::Sortr => self.sort = sort(&given.text()?, Order::Descending)?,
            FlagId::SortFiles => {
                self.sort = on.then_some(Sort { key: SortKey::Path, order: Order::Ascending });
            }
            FlagId::LineNumber => self.line_number = Some(true),
            FlagId::NoLineNumber => self.line_number = Some(false),

            FlagId::Json if on => self.mode = Mode::Json,
            FlagId::Json if self.mode == Mode::Json => self.mode = Mode::Text,
            FlagId::Json => {}
            FlagId::FilesWithMatches => self.mode = Mode::FilesWithMatches,
            FlagId::FilesWithoutMatch => self.mode = Mode::FilesWithoutMatch,
            FlagId::Count => self.mode = Mode::Count,
            FlagId::CountMatches => self.mode = Mode::CountMatches,
            FlagId::Files => self.mode = Mode::Files,
            FlagId::TypeList => self.mode = Mode::TypeList,
            FlagId::Generate => self.mode = Mode::Generate(generate(&given.text()?)?),

            FlagId::Stats => self.stats = on,
            FlagId::NoMessages => self.messages = !on,
            FlagId::NoIgnoreMessages => self.ignore_messages = !on,
            FlagId::NoConfig => self.config = !on,
            FlagId::Debug => self.log = Log::Debug,
            FlagId::Trace => self.log = Log::Trace,

            FlagId::Color => self.color = color(&given.text()?)?,
            FlagId::Pretty => {
                self.color = Color::Always;
                self.text.heading = Some(true);
                self.line_number = Some(true);
            }
            FlagId::LineBuffered => {
                self.buffering = if on { Buffering::Line } else { Buffering::Auto };
            }
            FlagId::BlockBuffered => {
                self.buffering = if on { Buffering::Block } else { Buffering::Auto };
            }
            FlagId::ByteOffset => self.text.byte_offset = on,
            FlagId::Column => self.text.column = Some(on),
            FlagId::Colors => {
                let spec = given.text()?;
                check_color_spec(&spec)?;
                self.text.colors.push(spec);
            }
            FlagId::ContextSeparator if !on => self.text.context_separator = None,
            FlagId::ContextSeparator => self.text.context_separator = Some(given.separator()?),
            FlagId::FieldContextSeparator => {
                self.text.field_context_separator = given.separator()?;
            }
            FlagId::FieldMatchSeparator => self.text.field_match_separator = given.separator()?,
            FlagId::Heading => self.text.heading = Some(on),
            FlagId::HostnameBin => {
                self.text.hostname_bin = Some(given.bytes()).filter(|command| !command.is_empty());
            }
            FlagId::HyperlinkFormat => {
                let format = given.text()?;
                check_hyperlink_format(&format)
                    .map_err(|reason| format!("invalid hyperlink format: {reason}"))?;
                self.text.hyperlink_format = Some(format);
            }
            FlagId::IncludeZero => self.text.include_zero = on,
            FlagId::MaxColumns => {
                self.text.max_columns = Some(given.number()?).filter(|&bytes| bytes > 0);
            }
            FlagId::MaxColumnsPreview => self.text.max_columns_preview = on,
            FlagId::OnlyMatching => self.text.only_matching = true,
            FlagId::Trim => self.text.trim = on,
            FlagId::Vimgrep => self.text.vimgrep = true,
            FlagId::WithFilename => self.text.with_filename = Some(true),
            FlagId::NoFilename => self.text.with_filename = Some(false),

            // `--h` and `--V`: ripgrep accepts them and does nothing.
            FlagId::Help | FlagId::Version | FlagId::Pcre2Version => {}
        }
        Ok(())
    }
}

fn unrecognized_choice<T>(choice: &str) -> Result<T, String> {
    Err(format!("choice '{choice}' is unrecognized"))
}

fn engine(choice: &str) -> Result<Engine, String> {
    match choice {
        "default" => Ok(Engine::Default),
        "pcre2" => Ok(Engine::Pcre2),
        "auto" => Ok(Engine::Auto),
        _ => Err(format!("unrecognized regex engine '{choice}'")),
    }
}

fn generate(choice: &str) -> Result<Generate, String> {
    match choice {
        "man" => Ok(Generate::Man),
        "complete-bash" => Ok(Generate::CompleteBash),
        "complete-zsh" => Ok(Generate::CompleteZsh),
        "complete-fish" => Ok(Generate::CompleteFish),
        "complete-powershell" => Ok(Generate::CompletePowershell),
        _ => unrecognized_choice(choice),
    }
}

fn color(choice: &str) -> Result<Color, String> {
    match choice {
        "never" => Ok(Color::Never),
        "auto" => Ok(Color::Auto),
        "always" => Ok(Color::Always),
        "ansi" => Ok(Color::Ansi),
        _ => unrecognized_choice(choice),
    }
}

fn sort(choice: &str, order: Order) -> Result<Option<Sort>, String> {
    let key = match choice {
        "none" => return Ok(None),
        "path" => SortKey::Path,
        "modified" => SortKey::Modified,
        "accessed" => SortKey::Accessed,
        "created" => SortKey::Created,
        _ => return unrecognized_choice(choice),
    };
    Ok(Some(Sort { key, order }))
}

/// `auto` and `none` are matched exactly; labels are trimmed and have no case. The encoding called
/// "replacement" and its aliases are unknown, since nothing can be decoded from it.
fn encoding(label: String) -> Result<Encoding, String> {
    match label.as_str() {
        "auto" => Ok(Encoding::Auto),
        "none" => Ok(Encoding::Raw),
        _ if encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()).is_some() => {
            Ok(Encoding::Label(label))
        }
        _ => Err(format!("grep config error: unknown encoding: {label}")),
    }
}

/// Digits and perhaps one of `K`, `M` and `G`, which are powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "invalid format for size '{text}', which should be a non-empty sequence of digits \
             followed by an optional 'K', 'M' or 'G' suffix"
        ));
    }
    let number: u64 = digits
        .parse()
        .map_err(|error| format!("invalid integer found in size '{text}': {error}"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("size too big in '{text}'"))
}

fn path_separator(text: &str) -> Result<Option<u8>, String> {
    match unescape(text)[..] {
        [] => Ok(None),
        [byte] => Ok(Some(byte)),
        ref bytes => Err(format!(
            "A path separator must be exactly one byte, but the given separator is {} bytes: \
             {text}\nIn some shells on Windows '/' is automatically expanded. Use '//' instead.",
            bytes.len()
        )),
    }
}

/// Replaces `\\`, `\n`, `\r`, `\t`, `\0` and `\xNN`. A backslash that begins none of these stays,
/// and so does the character that shows it: `\x\n` has no newline in it.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    let keep = |character: char, bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    };
    while let Some(character) = rest.next() {
        if character != '\\' {
            keep(character, &mut bytes);
            continue;
        }
        match rest.next() {
            None => bytes.push(b'\\'),
            Some('\\') => bytes.push(b'\\'),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('0') => bytes.push(0),
            Some('x') => match hex_pair(&mut rest) {
                Ok(byte) => bytes.push(byte),
                Err(seen) => {
                    bytes.extend_from_slice(b"\\x");
                    seen.into_iter().flatten().for_each(|character| keep(character, &mut bytes));
                }
            },
            Some(other) => {
                bytes.push(b'\\');
                keep(other, &mut bytes);
            }
        }
    }
    bytes
}

/// Two hexadecimal digits, or else the characters that were taken in looking for them.
fn hex_pair(rest: &mut std::str::Chars<'_>) -> Result<u8, [Option<char>; 2]> {
    let high = rest.next();
    let Some(high_digit) = high.and_then(|character| character.to_digit(16)) else {
        return Err([high, None]);
    };
    let low = rest.next();
    let Some(low_digit) = low.and_then(|character| character.to_digit(16)) else {
        return Err([high, low]);
    };
    u8::try_from(high_digit * 16 + low_digit).map_err(|_| [high, low])
}

/// Checks `TYPE:ATTRIBUTE:VALUE` as ripgrep does, although colours are never used.
fn check_color_spec(spec: &str) -> Result<(), String> {
    let invalid_format = || {
        Err(format!(
            "invalid color spec format: '{spec}'. Valid format is \
             '(path|line|column|match|highlight):(fg|bg|style):(value)'."
        ))
    };
    let pieces: Vec<&str> = spec.split(':').collect();
    let (target, attribute, value) = match pieces[..] {
        [target, attribute] => (target, attribute, None),
        [target, attribute, value] => (target, attribute, Some(value)),
        _ => return invalid_format(),
    };
    const TARGETS: [&str; 5] = ["path", "line", "column", "match", "highlight"];
    if !TARGETS.contains(&target.to_lowercase().as_str()) {
        let known = TARGETS.join(", ");
        return Err(format!("unrecognized output type '{target}'. Choose from: {known}."));
    }
    match (attribute.to_lowercase().as_str(), value) {
        ("none", _) => Ok(()),
        ("style", Some(value)) => check_style(value),
        ("fg" | "bg", Some(value)) => check_color(value),
        ("style" | "fg" | "bg", None) => invalid_format(),
        _ => {
            Err(format!("unrecognized spec type '{attribute}'. Choose from: fg, bg, style, none."))
        }
    }
}

fn check_style(value: &str) -> Result<(), String> {
    const STYLES: [&str; 8] = [
        "nobold",
        "bold",
        "nointense",
        "intense",
        "nounderline",
        "underline",
        "noitalic",
        "italic",
    ];
    if STYLES.contains(&value.to_lowercase().as_str()) {
        return Ok(());
    }
    let known = STYLES.join(", ");
    Err(format!("unrecognized style attribute '{value}'. Choose from: {known}."))
}

fn check_color(value: &str) -> Result<(), String> {
    const NAMES: [&str; 8] =
        ["black", "blue", "green", "red", "cyan", "magenta", "yellow", "white"];
    let is_byte = |number: &str| match number.strip_prefix("0x") {
        Some(hex) => u8::from_str_radix(hex, 16).is_ok(),
        None => number.parse::<u8>().is_ok(),
    };
    let parts: Vec<&str> = value.split(',').collect();
    if NAMES.contains(&value.to_lowercase().as_str())
        || matches!(parts.len(), 1 | 3) && parts.iter().all(|part| is_byte(part))
    {
        Ok(())
    } else if parts.len() > 1 {
        Err(format!(
            "unrecognized RGB color triple, should be '[0-255],[0-255],[0-255]' (or a hex \
             triple), but is '{value}'"
        ))
    } else if value.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Err(format!(
            "unrecognized ansi256 color number, should be '[0-255]' (or a hex number), but is \
             '{value}'"
        ))
    } else {
        let known = NAMES.join(", ");
        Err(format!("unrecognized color name '{value}'. Choose from: {known}"))
    }
}

/// Checks a hyperlink format as ripgrep does, although hyperlinks are never written.
fn check_hyperlink_format(format: &str) -> Result<(), String> {
    const ALIASES: [&str; 11] = [
        "default",
        "none",
        "cursor",
        "file",
        "grep+",
        "kitty",
        "macvim",
        "textmate",
        "vscode",
        "vscode-insiders",
        "vscodium",
    ];
    if format.is_empty() || ALIASES.contains(&format) {
        return Ok(());
    }
    let (variables, literal_start) = hyperlink_variables(format)?;
    let has = |name: &str| variables.contains(&name);
    if variables.is_empty() {
        let aliases = ALIASES.join(", ");
        return Err(format!(
            "at least a {{path}} variable is required in a hyperlink format, or otherwise use a \
             valid alias: {aliases}"
        ));
    }
    if !has("path") {
        return Err("the {path} variable is required in a hyperlink format".to_owned());
    }
    if has("column") && !has("line") {
        return Err(
            "the hyperlink format contains a {column} variable, but no {line} variable is \
                    present"
                .to_owned(),
        );
    }
    let is_scheme =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.');
    match literal_start.split_once(':') {
        Some((scheme, _)) if !scheme.is_empty() && scheme.chars().all(is_scheme) => Ok(()),
        _ => Err("the hyperlink format must start with a valid URL scheme, i.e., \
                  [0-9A-Za-z+-.]+:"
            .to_owned()),
    }
}

/// The variables of a format, and the text before the first of them with its braces undoubled.
fn hyperlink_variables(format: &str) -> Result<(Vec<&str>, String), String> {
    const VARIABLES: [&str; 5] = ["path", "line", "column", "host", "wslprefix"];
    let mut variables = Vec::new();
    let mut literal_start = String::new();
    let mut rest = format;
    while let Some(position) = rest.find(['{', '}']) {
        let (text, from_brace) = rest.split_at(position);
        if variables.is_empty() {
            literal_start.push_str(text);
        }
        if let Some(after) = from_brace.strip_prefix("{{").or_else(|| from_brace.strip_prefix("}}"))
        {
            if variables.is_empty() {
                literal_start.push_str(&from_brace[..1]);
            }
            rest = after;
        } else if let Some(inside) = from_brace.strip_prefix('{') {
            let Some((name, after)) = inside.split_once('}') else {
                return Err("unclosed variable: found '{' without a corresponding '}' following \
                            it"
                .to_owned());
            };
            if !VARIABLES.contains(&name) {
                let known = VARIABLES.join(", ");
                return Err(format!(
                    "invalid hyperlink format variable: '{name}', choose from: {known}"
                ));
            }
            variables.push(name);
            rest = after;
        } else {
            return Err(
                "unopened variable: found '}' without a corresponding '{' preceding it".to_owned()
            );
        }
    }
    if variables.is_empty() {
        literal_start.push_str(rest);
    }
    Ok((variables, literal_start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that differ from an empty argv, in the words of `Debug`.
    fn said(args: &Args) -> String {
        let empty = Args::default();
        let mut said = Vec::new();
        macro_rules! compare {
            ($($($field:ident).+),* $(,)?) => {$(
                if args.$($field).+ != empty.$($field).+ {
                    said.push(format!("{}: {:?}", stringify!($($field).+), args.$($field).+));
                }
            )*};
        }
        compare!(
            mode,
            patterns,
            positional,
            case,
            boundary,
            fixed_strings,
            invert_match,
            unicode,
            engine,
            line_terminator,
            reach,
            multiline_dotall,
            regex_size_limit,
            dfa_size_limit,
            max_count,
            mmap,
            threads,
            encoding,
            binary,
            context,
            replace,
            preprocess,
            pre_globs,
            globs,
            iglobs,
            glob_case_insensitive,
            types,
            hidden,
            follow,
            ignore.dot,
            ignore.exclude,
            ignore.files,
            ignore.global,
            ignore.parent,
            ignore.vcs,
            ignore.require_git,
            ignore_files,
            ignore_file_case_insensitive,
            max_depth,
            max_filesize,
            one_file_system,
            unrestricted,
            quiet,
            null,
            path_separator,
            sort,
            line_number,
            stats,
            messages,
            ignore_messages,
            config,
            log,
            text.byte_offset,
            text.column,
            text.colors,
            text.context_separator,
            text.field_context_separator,
            text.field_match_separator,
            text.heading,
            text.hostname_bin,
            text.hyperlink_format,
            text.include_zero,
            text.max_columns,
            text.max_columns_preview,
            text.only_matching,
            text.trim,
            text.vimgrep,
            text.with_filename,
            color,
            buffering,
        );
        said.join("; ")
    }

    fn words(line: &str) -> impl Iterator<Item = OsString> {
        line.split_whitespace().map(OsString::from)
    }

    #[test]
    fn flags_mean_what_they_mean_to_ripgrep() {
        #[track_caller]
        fn check(line: &str, expected: &str) {
            match parse(words(line)) {
                Ok(Parsed::Args(args)) => assert_eq!(said(&args), expected, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
        check("foo", r#"positional: ["foo"]"#);
        check("-- -foo", r#"positional: ["-foo"]"#);
        check("foo -- --json", r#"positional: ["foo", "--json"]"#);
        check("-", r#"positional: ["-"]"#);
        check("-e foo", r#"patterns: [Regexp("foo")]"#);
        check("-e foo -e bar", r#"patterns: [Regexp("foo"), Regexp("bar")]"#);
        check("-f p -e foo -f -", r#"patterns: [File("p"), Regexp("foo"), File("-")]"#);
        check("-efoo", r#"patterns: [Regexp("foo")]"#);
        check("-e=foo", r#"patterns: [Regexp("foo")]"#);
        check("--regexp=foo", r#"patterns: [Regexp("foo")]"#);
        check("--regexp foo src", r#"patterns: [Regexp("foo")]; positional: ["src"]"#);
        check("-e --json", r#"patterns: [Regexp("--json")]"#);
        check("-i", "case: Insensitive");
        check("-i -s", "");
        check("-s -i", "case: Insensitive");
        check("-S -i -S", "case: Smart");
        check("-iS", "case: Smart");
        check("-w", "boundary: Word");
        check("-w -x", "boundary: Line");
        check("-x -w", "boundary: Word");
        check("-wx", "boundary: Line");
        check("-iwn", "case: Insensitive; boundary: Word; line_number: Some(true)");
        check(
            "-niw -A3",
            "case: Insensitive; boundary: Word; context: Limited { before: None, after: Some(3), both: None }; line_number: Some(true)",
        );
        check(
            "-inA3",
            "case: Insensitive; context: Limited { before: None, after: Some(3), both: None }; line_number: Some(true)",
        );
        check(
            "-inA=3",
            "case: Insensitive; context: Limited { before: None, after: Some(3), both: None }; line_number: Some(true)",
        );
        check("-F", "fixed_strings: true");
        check("-F --no-fixed-strings", "");
        check("-v", "invert_match: true");
        check("-v --no-invert-match", "");
        check("--no-unicode", "unicode: false");
        check("--no-unicode --unicode", "");
        check("--no-pcre2-unicode", "unicode: false");
        check("--no-unicode --pcre2-unicode", "");
        check("-P", "engine: Pcre2");
        check("-P --no-pcre2", "");
        check("--engine=auto -P", "engine: Pcre2");
        check("-P --engine=auto", "engine: Auto");
        check("--engine auto --engine default", "");
        check("--auto-hybrid-regex", "engine: Auto");
        check("--auto-hybrid-regex --no-pcre2", "");
        check("-P --no-auto-hybrid-regex", "");
        check("--crlf", "line_terminator: Crlf");
        check("--crlf --no-crlf", "");
        check("--null-data", "line_terminator: Nul");
        check("--crlf --null-data", "line_terminator: Nul");
        check("--null-data --crlf", "line_terminator: Crlf");
        check("--null-data --no-crlf", "line_terminator: Nul");
        check("--crlf --null-data --no-crlf", "line_terminator: Nul");
        check("--null-data --crlf --no-crlf", "");
        check("-U", "reach: MultiLine");
        check("-U --no-multiline", "");
        check("--stop-on-nonmatch", "reach: StopOnNonmatch");
        check("-U --stop-on-nonmatch", "reach: StopOnNonmatch");
        check("--stop-on-nonmatch -U", "reach: MultiLine");
        check("--stop-on-nonmatch --no-multiline", "reach: StopOnNonmatch");
        check("--stop-on-nonmatch -U --no-multiline", "");
        check("--multiline-dotall", "multiline_dotall: true");
        check("--multiline-dotall --no-multiline-dotall", "");
        check("--regex-size-limit 10M", "regex_size_limit: Some(10485760)");
        check("--dfa-size-limit=2G", "dfa_size_limit: Some(2147483648)");
        check("--dfa-size-limit 0", "dfa_size_limit: Some(0)");
        check("-m3", "max_count: Some(3)");
        check("-m 3 -m 0", "max_count: Some(0)");
        check("--max-count=+7", "max_count: Some(7)");
        check("--mmap", "mmap: Always");
        check("--mmap --no-mmap", "mmap: Never");
        check("--no-mmap --mmap", "mmap: Always");
        check("-j4", "threads: Some(4)");
        check("-j4 -j0", "");
        check("--threads 2", "threads: Some(2)");
        check("-E utf-16", r#"encoding: Label("utf-16")"#);
        check("-E none", "encoding: Raw");
        check("-Eutf-8 -E auto", "");
        check("-E latin1 --no-encoding", "");
        check("-E Shift_JIS", r#"encoding: Label("Shift_JIS")"#);
        check("-a", "binary: Text");
        check("-a --binary", "binary: Search");
        check("--binary -a", "binary: Text");
        check("--binary --no-binary", "");
        check("-a --no-binary", "");
        check("--binary --no-text", "");
        check("-A3", "context: Limited { before: None, after: Some(3), both: None }");
        check("-A 3", "context: Limited { before: None, after: Some(3), both: None }");
        check("-A=3", "context: Limited { before: None, after: Some(3), both: None }");
        check("--after-context 3", "context: Limited { before: None, after: Some(3), both: None }");
        check("--after-context=3", "context: Limited { before: None, after: Some(3), both: None }");
        check("-A1 -A2", "context: Limited { before: None, after: Some(2), both: None }");
        check("-B2", "context: Limited { before: Some(2), after: None, both: None }");
        check("-C5", "context: Limited { before: None, after: None, both: Some(5) }");
        check("-C1 -A2", "context: Limited { before: None, after: Some(2), both: Some(1) }");
        check("-A2 -C1", "context: Limited { before: None, after: Some(2), both: Some(1) }");
        check("-A1 -B2 -C3", "context: Limited { before: Some(2), after: Some(1), both: Some(3) }");
        check("--passthru", "context: Passthru");
        check("--passthrough", "context: Passthru");
        check("--passthru -A1", "context: Limited { before: None, after: Some(1), both: None }");
        check("-A1 --passthru", "context: Passthru");
        check(
            "-C5 --passthru -B1",
            "context: Limited { before: Some(1), after: None, both: None }",
        );
        check("-C1 -C0", "context: Limited { before: None, after: None, both: Some(0) }");
        check("-r $1", r#"replace: Some("$1")"#);
        check("-r x --replace=y", r#"replace: Some("y")"#);
        check("--replace=", r#"replace: Some("")"#);
        check("--pre cat", r#"preprocess: Command("cat")"#);
        check("--pre cat --no-pre", "");
        check("--pre cat --pre=", "");
        check("-z", "preprocess: Decompress");
        check("-z --no-search-zip", "");
        check("--pre cat -z", "preprocess: Decompress");
        check("-z --pre cat", r#"preprocess: Command("cat")"#);
        check("-z --pre=", "preprocess: Decompress");
        check("-z --no-pre", "preprocess: Decompress");
        check("--pre cat --no-search-zip", r#"preprocess: Command("cat")"#);
        check("--pre-glob *.gz", r#"pre_globs: ["*.gz"]"#);
        check("-g *.rs -g !x", r#"globs: ["*.rs", "!x"]"#);
        check("-g *.rs --iglob *.PY -g !x", r#"globs: ["*.rs", "!x"]; iglobs: ["*.PY"]"#);
        check("--glob-case-insensitive", "glob_case_insensitive: true");
        check("--glob-case-insensitive --no-glob-case-insensitive", "");
        check("-t rust -T py", r#"types: [Select("rust"), Negate("py")]"#);
        check(
            "--type-add a:*.a --type-clear b -ta -Tb",
            r#"types: [Add("a:*.a"), Clear("b"), Select("a"), Negate("b")]"#,
        );
        check("-T=c", r#"types: [Negate("c")]"#);
        check("-.", "hidden: true");
        check("--hidden --no-hidden", "");
        check("-L", "follow: true");
        check("-L --no-follow", "");
        check(
            "-u",
            "ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 1",
        );
        check(
            "-uu",
            "hidden: true; ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 2",
        );
        check(
            "-uuu",
            "binary: Search; hidden: true; ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 3",
        );
        check(
            "-u -u -u",
            "binary: Search; hidden: true; ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 3",
        );
        check(
            "-uuu -a",
            "binary: Text; hidden: true; ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 3",
        );
        check(
            "-a -uuu",
            "binary: Search; hidden: true; ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 3",
        );
        check(
            "-uu --no-hidden",
            "ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false; unrestricted: 2",
        );
        check(
            "-u --ignore-vcs",
            "ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; unrestricted: 1",
        );
        check("-u --ignore -u", "hidden: true; unrestricted: 2");
        check(
            "--no-ignore",
            "ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false",
        );
        check("--no-ignore --ignore", "");
        check(
            "--ignore --no-ignore",
            "ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false",
        );
        check(
            "--no-ignore --ignore-dot",
            "ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false",
        );
        check(
            "--no-ignore-vcs --no-ignore",
            "ignore.dot: false; ignore.exclude: false; ignore.global: false; ignore.parent: false; ignore.vcs: false",
        );
        check("--no-ignore-dot", "ignore.dot: false");
        check("--no-ignore-exclude", "ignore.exclude: false");
        check("--no-ignore-files", "ignore.files: false");
        check("--no-ignore --no-ignore-files --ignore", "ignore.files: false");
        check("--no-ignore-files --ignore-files", "");
        check("--no-ignore-global", "ignore.global: false");
        check("--no-ignore-parent", "ignore.parent: false");
        check("--no-ignore-parent --ignore-parent", "");
        check("--no-ignore-vcs", "ignore.vcs: false");
        check("--no-require-git", "ignore.require_git: false");
        check("--no-require-git --require-git", "");
        check("--ignore-file a --ignore-file=b", r#"ignore_files: ["a", "b"]"#);
        check("--ignore-file-case-insensitive", "ignore_file_case_insensitive: true");
        check("-d2", "max_depth: Some(2)");
        check("--max-depth 2 --maxdepth=3", "max_depth: Some(3)");
        check("--d 1", "max_depth: Some(1)");
        check("--max-filesize 5", "max_filesize: Some(5)");
        check("--max-filesize=4K", "max_filesize: Some(4096)");
        check("--max-filesize 1M", "max_filesize: Some(1048576)");
        check("--max-filesize 17179869183G", "max_filesize: Some(18446744072635809792)");
        check("--one-file-system", "one_file_system: true");
        check("--one-file-system --no-one-file-system", "");
        check("-q", "quiet: true");
        check("-0", "null: true");
        check("--null", "null: true");
        check(r#"--path-separator \x5c"#, "path_separator: Some(92)");
        check("--path-separator / --path-separator=", "");
        check("--sort path", "sort: Some(Sort { key: Path, order: Ascending })");
        check("--sortr modified", "sort: Some(Sort { key: Modified, order: Descending })");
        check(
            "--sort path --sortr created",
            "sort: Some(Sort { key: Created, order: Descending })",
        );
        check(
            "--sortr path --sort accessed",
            "sort: Some(Sort { key: Accessed, order: Ascending })",
        );
        check("--sort path --sort none", "");
        check("--sort path --sortr=none", "");
        check("--sort-files", "sort: Some(Sort { key: Path, order: Ascending })");
        check("--sort-files --no-sort-files", "");
        check("--sort created --no-sort-files", "");
        check("--sortr path --sort-files", "sort: Some(Sort { key: Path, order: Ascending })");
        check("-n", "line_number: Some(true)");
        check("-N", "line_number: Some(false)");
        check("-n -N", "line_number: Some(false)");
        check("-N -n", "line_number: Some(true)");
        check("-N -p", "line_number: Some(true); text.heading: Some(true); color: Always");
        check("--stats", "stats: true");
        check("--stats --no-stats", "");
        check("--no-messages", "messages: false");
        check("--no-messages --messages", "");
        check("--no-ignore-messages", "ignore_messages: false");
        check("--no-ignore-messages --ignore-messages", "");
        check("--no-config", "config: false");
        check("--debug", "log: Debug");
        check("--debug --trace", "log: Trace");
        check("--trace --debug", "log: Debug");
        check("--json", "mode: Json");
        check("--json --no-json", "");
        check("--json -l", "mode: FilesWithMatches");
        check("-l --json", "mode: Json");
        check("-l --no-json", "mode: FilesWithMatches");
        check("--json -l --no-json", "mode: FilesWithMatches");
        check("--files --json", "mode: Json");
        check("--json --files", "mode: Files");
        check("--files --no-json", "mode: Files");
        check("--files -l", "mode: FilesWithMatches");
        check("--files-without-match -c", "mode: Count");
        check("-c --count-matches", "mode: CountMatches");
        check("--count-matches -c", "mode: Count");
        check("--type-list", "mode: TypeList");
        check("--files --type-list", "mode: TypeList");
        check("--type-list --files", "mode: Files");
        check("--generate man", "mode: Generate(Man)");
        check("--generate complete-zsh --json", "mode: Json");
        check("--color always", "color: Always");
        check("--color=never", "color: Never");
        check("-p", "line_number: Some(true); text.heading: Some(true); color: Always");
        check("-p --color auto --no-heading", "line_number: Some(true); text.heading: Some(false)");
        check(
            "--color ansi -p",
            "line_number: Some(true); text.heading: Some(true); color: Always",
        );
        check("--line-buffered", "buffering: Line");
        check("--line-buffered --block-buffered", "buffering: Block");
        check("--block-buffered --line-buffered", "buffering: Line");
        check("--line-buffered --no-block-buffered", "");
        check("-b", "text.byte_offset: true");
        check("--byte-offset --no-byte-offset", "");
        check("--column --no-column --column", "text.column: Some(true)");
        check(
            "--colors path:fg:red --colors=match:none",
            r#"text.colors: ["path:fg:red", "match:none"]"#,
        );
        check(r#"--context-separator=\t"#, "text.context_separator: Some([9])");
        check("--no-context-separator", "text.context_separator: None");
        check(
            "--no-context-separator --context-separator x",
            "text.context_separator: Some([120])",
        );
        check("--context-separator x --no-context-separator", "text.context_separator: None");
        check(r#"--field-context-separator \x41\q"#, "text.field_context_separator: [65, 92, 113]");
        check(
            r#"--field-match-separator=\x4\n"#,
            "text.field_match_separator: [92, 120, 52, 92, 110]",
        );
        check("--heading", "text.heading: Some(true)");
        check("--heading --no-heading", "text.heading: Some(false)");
        check("--hostname-bin h", r#"text.hostname_bin: Some("h")"#);
        check("--hostname-bin h --hostname-bin=", "");
        check("--hyperlink-format vscode", r#"text.hyperlink_format: Some("vscode")"#);
        check(
            "--hyperlink-format file://{host}{path}",
            r#"text.hyperlink_format: Some("file://{host}{path}")"#,
        );
        check("--include-zero", "text.include_zero: true");
        check("-M80", "text.max_columns: Some(80)");
        check("-M80 -M0", "");
        check("--max-columns-preview", "text.max_columns_preview: true");
        check("-o", "text.only_matching: true");
        check("--trim", "text.trim: true");
        check("--trim --no-trim", "");
        check("--vimgrep", "text.vimgrep: true");
        check("-H", "text.with_filename: Some(true)");
        check("-H -I", "text.with_filename: Some(false)");
        check("-I -H", "text.with_filename: Some(true)");
        check("-HI", "text.with_filename: Some(false)");
        check("--h --V", "");
        check("--i --0 --.", "case: Insensitive; hidden: true; null: true");
        check("--A 1 --A=2", "context: Limited { before: None, after: Some(2), both: None }");
        check(
            "foo -i src -w lib",
            r#"positional: ["foo", "src", "lib"]; case: Insensitive; boundary: Word"#,
        );
        check("foo -- -i", r#"positional: ["foo", "-i"]"#);
        check("-e - -", r#"patterns: [Regexp("-")]; positional: ["-"]"#);
        check(
            "-A3 --json --hidden fn src",
            r#"mode: Json; positional: ["fn", "src"]; context: Limited { before: None, after: Some(3), both: None }; hidden: true"#,
        );
    }

    #[test]
    fn special_flags_win_over_everything_but_errors() {
        #[track_caller]
        fn check(line: &str, expected: Special) {
            assert_eq!(parse(words(line)), Ok(Parsed::Special(expected)), "{line}");
        }
        check("-h", Special::ShortHelp);
        check("--help foo --files", Special::LongHelp);
        check("-iV", Special::ShortVersion);
        check("-h --version", Special::LongVersion);
        check("--version -h", Special::ShortHelp);
        check("-V --pcre2-version", Special::Pcre2Version);
        assert!(parse(words("-h --bogus")).is_err());
    }

    #[test]
    fn faults_are_told_in_the_words_of_ripgrep() {
        #[track_caller]
        fn check(line: &str, expected: &str) {
            let error = parse(words(line)).expect_err(line);
            assert_eq!(error.to_string(), expected, "{line}");
        }
        check("--bogus", "unrecognized flag --bogus");
        check("-X", "unrecognized flag -X");
        check("-iX", "unrecognized flag -X");
        check("--hiden", "unrecognized flag --hiden\n\nsimilar flags that are available: --hidden");
        check("--=x", "unrecognized flag --");
        check("-A", "missing value for flag -A: missing argument for option '-A'");
        check("--A", "missing value for flag -A: missing argument for option '--A'");
        check("--sort", "missing value for flag --sort: missing argument for option '--sort'");
        check(
            "--hidden=x",
            "invalid CLI arguments: unexpected argument for option '--hidden': \"x\"",
        );
        check("-i=x", "invalid CLI arguments: unexpected argument for option '-i': \"x\"");
        check("-uuuu", "error parsing flag -u: flag can only be repeated up to 3 times");
        check(
            "-dx",
            "error parsing flag -d: value is not a valid number: invalid digit found in string",
        );
        check(
            "--maxdepth=",
            "error parsing flag --maxdepth: value is not a valid number: \
             cannot parse integer from empty string",
        );
        check("--sort x", "error parsing flag --sort: choice 'x' is unrecognized");
        check("--engine x", "error parsing flag --engine: unrecognized regex engine 'x'");
        check("-Ex", "error parsing flag -E: grep config error: unknown encoding: x");
        check(
            "--max-filesize 34359738368G",
            "error parsing flag --max-filesize: invalid size: \
             size too big in '34359738368G'",
        );
        check(
            "--max-filesize 45k",
            "error parsing flag --max-filesize: invalid size: invalid \
             format for size '45k', which should be a non-empty sequence of digits followed by an \
             optional 'K', 'M' or 'G' suffix",
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_paths_and_programs_may_be_other_than_utf8() {
        use std::os::unix::ffi::OsStringExt;
        let bad = || OsString::from_vec(b"a\xff".to_vec());
        for flag in flags::FLAGS.iter().filter(|flag| flag.arity != Arity::Switch) {
            let name = format!("--{}", flag.long);
            let error = parse([OsString::from(&name), bad()]).err().map(|error| error.to_string());
            let expected = match flag.id {
                FlagId::File | FlagId::IgnoreFile | FlagId::Pre | FlagId::HostnameBin => None,
                FlagId::ContextSeparator
                | FlagId::FieldContextSeparator
                | FlagId::FieldMatchSeparator => Some(
                    "separator must be valid UTF-8 (use escape sequences to provide a separator \
                     that is not valid UTF-8)",
                ),
                _ => Some("value is not valid UTF-8"),
            };
            let expected = expected.map(|reason| format!("error parsing flag {name}: {reason}"));
            assert_eq!(error, expected);
        }
        let args = Args { positional: vec![bad()], ..Args::default() };
        assert_eq!(operands(&args), Err(ArgsError::PatternNotUtf8));
        let args = Args { mode: Mode::Files, ..args };
        assert_eq!(operands(&args).map(|found| found.paths), Ok(vec![bad()]));
    }

    #[test]
    fn the_first_positional_is_the_pattern_unless_there_are_others() {
        #[track_caller]
        fn check(line: &str, patterns: usize, paths: &[&str]) {
            let Ok(Parsed::Args(args)) = parse(words(line)) else { panic!("{line}") };
            let found = operands(&args).expect(line);
            assert_eq!(
                (found.patterns.len(), found.paths),
                (patterns, words(&paths.join(" ")).collect())
            );
        }
        check("a b c", 1, &["b", "c"]);
        check("a -e x b", 1, &["a", "b"]);
        check("a -f x -e y", 2, &["a"]);
        check("--files a b", 0, &["a", "b"]);
        check("--files -e x a", 0, &["a"]);
        check("--type-list a", 0, &["a"]);
        check("--json a", 1, &[]);
        assert_eq!(operands(&Args::default()), Err(ArgsError::NoPattern));
    }

    #[test]
    fn what_is_not_served_is_named() {
        #[track_caller]
        fn check(line: &str, expected: &str) {
            let Ok(Parsed::Args(args)) = parse(words(line)) else { panic!("{line}") };
            let unserved = super::check(&args).err().map(|why| why.to_string()).unwrap_or_default();
            assert_eq!(unserved, expected, "{line}");
        }
        let process = "no process is ever started (no effect with --files and --type-list)";
        let pcre2 = "PCRE2 is not available in this build of ripgrep";
        let links = "--hyperlink-format is not served: hyperlinks are not written (no effect without colours)";
        check("--json foo", "");
        check("--files", "");
        check("-q foo", "");
        check("--type-list", "");
        check("-l --json foo", "");
        check("-q -l foo", "");
        check("-q --count-matches --stats foo", "");
        check("--json --pre cat foo", &format!("--pre is not served: {process}"));
        check("--files --pre cat", "");
        check("--json --pre cat --no-pre foo", "");
        check("--json --pre-glob *.gz foo", "");
        check("-q -z foo", &format!("-z/--search-zip is not served: {process}"));
        check("--files -z", "");
        check("--json -P foo", pcre2);
        check("--json --engine=pcre2 foo", pcre2);
        check("--json -P -m0 foo", "");
        check("--json -P --no-pcre2 foo", "");
        check("--json --engine=auto foo", "");
        check("--files -P", "");
        check("--json -o --column --stats --color=always -p foo", "");
        check("--json -p --hyperlink-format=file foo", "");
        if flags::TEXT {
            check("foo", "");
            check("-c foo", "");
            check("--files --color=ansi", "");
            check("--hyperlink-format=file foo", "");
            check("--hyperlink-format=none -p foo", "");
            check("--hyperlink-format=file -p foo", links);
            check("--hyperlink-format=file --files --color=always", links);
        } else {
            let text = "text output is not built in, use --json, --files or -q/--quiet";
            check("foo", text);
            check("--json --no-json foo", text);
            check("-l foo", &format!("-l/--files-with-matches is not served: {text}"));
            check(
                "--files-without-match x",
                &format!("--files-without-match is not served: {text}"),
            );
            check("-c foo", &format!("-c/--count is not served: {text}"));
            check("--json --count-matches x", &format!("--count-matches is not served: {text}"));
            let layout = "it shapes text output only, which is not built in";
            check("--files --color=ansi", &format!("--color is not served: {layout}"));
        }
        check("--files -p -q", "");
        check(
            "--generate man",
            "--generate is not served: there is no manual page or completion \
             script to write",
        );
    }

    #[test]
    fn escapes_that_are_none_stay_as_they_are() {
        #[track_caller]
        fn check(text: &str, expected: &[u8]) {
            assert_eq!(unescape(text), expected, "{text}");
        }
        check("", b"");
        check(r"\n\r\t\0", b"\n\r\t\0");
        check(r"\x41\xff\xFf", b"A\xff\xff");
        check(r"\x4", br"\x4");
        check(r"\x", br"\x");
        check(r"\xg1", br"\xg1");
        check(r"\x4\x41", br"\x4\x41");
        check(r"\x\n", br"\x\n");
        check(r"\q\\", br"\q\");
        check("a\\", b"a\\");
        check("\\\u{e9}", "\\\u{e9}".as_bytes());
    }
}
