//! The one table of ripgrep 15.2's flags, and everything that is derived from it: name look-up,
//! the list of similar names in an error, the help page and the compatibility page.

use std::collections::BTreeSet;

use Section::{Filter, Input, Logging, Modes, Other, Output, Search};

/// Every flag, in the order in which ripgrep knows them.
///
/// The order can be seen from outside: the similar names offered for a misspelt flag come in it.
pub const FLAGS: &[Flag] = &[
    value(FlagId::Regexp, "regexp", "PATTERN", Input, "a pattern to search for; repeatable")
        .short('e'),
    value(FlagId::File, "file", "PATTERNFILE", Input, "read patterns from a file, one a line")
        .short('f'),
    value(FlagId::AfterContext, "after-context", "NUM", Output, "lines of context after a match")
        .short('A'),
    value(
        FlagId::BeforeContext,
        "before-context",
        "NUM",
        Output,
        "lines of context before a match",
    )
    .short('B'),
    switch(FlagId::Binary, "binary", Filter, "search walked binary files instead of leaving them")
        .negated("no-binary"),
    switch(FlagId::BlockBuffered, "block-buffered", Output, "flush output in blocks")
        .negated("no-block-buffered")
        .no_effect(FLUSH),
    switch(FlagId::ByteOffset, "byte-offset", Output, "put the byte offset before a printed line")
        .short('b')
        .negated("no-byte-offset")
        .for_text(),
    switch(
        FlagId::CaseSensitive,
        "case-sensitive",
        Search,
        "upper and lower case differ (default)",
    )
    .short('s'),
    value(FlagId::Color, "color", "WHEN", Output, "never, auto (as never), always or ansi")
        .for_text(),
    value(FlagId::Colors, "colors", "COLOR_SPEC", Output, "choose colours").for_text(),
    switch(FlagId::Column, "column", Output, "put the column before a printed line")
        .negated("no-column")
        .for_text(),
    value(FlagId::Context, "context", "NUM", Output, "lines of context on both sides of a match")
        .short('C'),
    value(
        FlagId::ContextSeparator,
        "context-separator",
        "SEPARATOR",
        Output,
        "text between groups of context lines",
    )
    .negated("no-context-separator")
    .for_text(),
    switch(FlagId::Count, "count", Modes, "only the number of matching lines of each file")
        .short('c')
        .text_mode(),
    switch(FlagId::CountMatches, "count-matches", Modes, "only the number of matches of each file")
        .text_mode(),
    switch(FlagId::Crlf, "crlf", Search, "lines end with CR LF or LF").negated("no-crlf"),
    switch(FlagId::Debug, "debug", Logging, "log what is done").no_effect(LOG),
    value(FlagId::DfaSizeLimit, "dfa-size-limit", SIZE, Search, "memory for the lazy automaton"),
    value(FlagId::Encoding, "encoding", "ENCODING", Search, "encoding of the files, auto or none")
        .short('E')
        .negated("no-encoding"),
    value(
        FlagId::Engine,
        "engine",
        "ENGINE",
        Search,
        "regex engine: default, auto (pcre2 is absent)",
    ),
    value(
        FlagId::FieldContextSeparator,
        "field-context-separator",
        "SEPARATOR",
        Output,
        "text between the fields of a context line",
    )
    .for_text(),
    value(
        FlagId::FieldMatchSeparator,
        "field-match-separator",
        "SEPARATOR",
        Output,
        "text between the fields of a matching line",
    )
    .for_text(),
    switch(FlagId::Files, "files", Other, "list the files that would be searched"),
    switch(FlagId::FilesWithMatches, "files-with-matches", Modes, "only the paths with a match")
        .short('l')
        .text_mode(),
    switch(
        FlagId::FilesWithoutMatch,
        "files-without-match",
        Modes,
        "only the paths without a match",
    )
    .text_mode(),
    switch(FlagId::FixedStrings, "fixed-strings", Search, "patterns are plain text")
        .short('F')
        .negated("no-fixed-strings"),
    switch(FlagId::Follow, "follow", Filter, "follow symbolic links")
        .short('L')
        .negated("no-follow"),
    value(FlagId::Generate, "generate", "KIND", Other, "write a manual page or shell completions")
        .refused("there is no manual page or completion script to write"),
    value(FlagId::Glob, "glob", "GLOB", Filter, "include, or with ! exclude, matching paths")
        .short('g'),
    switch(
        FlagId::GlobCaseInsensitive,
        "glob-case-insensitive",
        Filter,
        "match every -g/--glob without regard to case",
    )
    .negated("no-glob-case-insensitive"),
    switch(FlagId::Heading, "heading", Output, "put the path above its matches")
        .negated("no-heading")
        .for_text(),
    switch(FlagId::Help, "help", Output, "show this page").short('h'),
    switch(FlagId::Hidden, "hidden", Filter, "include names that start with a dot")
        .short('.')
        .negated("no-hidden"),
    value(
        FlagId::HostnameBin,
        "hostname-bin",
        "COMMAND",
        Output,
        "program that prints the host name",
    )
    .no_effect("hyperlinks are not written, so the program is never needed or started"),
    value(
        FlagId::HyperlinkFormat,
        "hyperlink-format",
        "FORMAT",
        Output,
        "form of hyperlinks, which are not written",
    )
    .refused(NO_HYPERLINKS),
    value(FlagId::Iglob, "iglob", "GLOB", Filter, "like -g, without regard to case"),
    switch(FlagId::IgnoreCase, "ignore-case", Search, "upper and lower case are the same")
        .short('i'),
    value(FlagId::IgnoreFile, "ignore-file", "PATH", Filter, "one more file of ignore rules"),
    switch(
        FlagId::IgnoreFileCaseInsensitive,
        "ignore-file-case-insensitive",
        Filter,
        "match ignore rules without regard to case",
    )
    .negated("no-ignore-file-case-insensitive"),
    switch(FlagId::IncludeZero, "include-zero", Output, "with -c, also files without a match")
        .negated("no-include-zero")
        .for_text(),
    switch(FlagId::InvertMatch, "invert-match", Search, "report the lines that do not match")
        .short('v')
        .negated("no-invert-match"),
    switch(FlagId::Json, "json", Modes, "report the search as JSON, one message a line")
        .negated("no-json"),
    switch(FlagId::LineBuffered, "line-buffered", Output, "flush output after every line")
        .negated("no-line-buffered")
        .no_effect(FLUSH),
    switch(FlagId::LineNumber, "line-number", Output, "number the lines (default)").short('n'),
    switch(FlagId::NoLineNumber, "no-line-number", Output, "report no line numbers").short('N'),
    switch(FlagId::LineRegexp, "line-regexp", Search, "a match must be a whole line").short('x'),
    value(FlagId::MaxColumns, "max-columns", "NUM", Output, "leave out longer lines")
        .short('M')
        .for_text(),
    switch(
        FlagId::MaxColumnsPreview,
        "max-columns-preview",
        Output,
        "with -M, show their beginning",
    )
    .negated("no-max-columns-preview")
    .for_text(),
    value(FlagId::MaxCount, "max-count", "NUM", Search, "stop a file after NUM matching lines")
        .short('m'),
    value(FlagId::MaxDepth, "max-depth", "NUM", Filter, "go down at most NUM directories")
        .short('d')
        .aliases(&["maxdepth"]),
    value(
        FlagId::MaxFilesize,
        "max-filesize",
        SIZE,
        Filter,
        "leave out walked files that are larger",
    ),
    switch(FlagId::Mmap, "mmap", Search, "read files through memory maps if possible")
        .negated("no-mmap"),
    switch(FlagId::Multiline, "multiline", Search, "a match may span lines")
        .short('U')
        .negated("no-multiline"),
    switch(
        FlagId::MultilineDotall,
        "multiline-dotall",
        Search,
        "with -U, the dot matches newlines",
    )
    .negated("no-multiline-dotall"),
    switch(FlagId::NoConfig, "no-config", Other, "read no configuration file"),
    switch(FlagId::NoIgnore, "no-ignore", Filter, "obey no ignore file found on the way")
        .negated("ignore"),
    switch(FlagId::NoIgnoreDot, "no-ignore-dot", Filter, "obey no .ignore and .rgignore")
        .negated("ignore-dot"),
    switch(FlagId::NoIgnoreExclude, "no-ignore-exclude", Filter, "obey no .git/info/exclude")
        .negated("ignore-exclude"),
    switch(FlagId::NoIgnoreFiles, "no-ignore-files", Filter, "obey no --ignore-file")
        .negated("ignore-files"),
    switch(FlagId::NoIgnoreGlobal, "no-ignore-global", Filter, "obey no core.excludesFile")
        .negated("ignore-global"),
    switch(
        FlagId::NoIgnoreMessages,
        "no-ignore-messages",
        Logging,
        "do not report faults in ignore files",
    )
    .negated("ignore-messages"),
    switch(
        FlagId::NoIgnoreParent,
        "no-ignore-parent",
        Filter,
        "obey no ignore file above the searched directory",
    )
    .negated("ignore-parent"),
    switch(FlagId::NoIgnoreVcs, "no-ignore-vcs", Filter, "obey no ignore file of git")
        .negated("ignore-vcs"),
    switch(FlagId::NoMessages, "no-messages", Logging, "do not report files that cannot be read")
        .negated("messages"),
    switch(
        FlagId::NoRequireGit,
        "no-require-git",
        Filter,
        "obey .gitignore outside of repositories",
    )
    .negated("require-git"),
    switch(FlagId::NoUnicode, "no-unicode", Search, "classes and case are ASCII only")
        .negated("unicode"),
    switch(FlagId::Null, "null", Output, "end each listed path with NUL").short('0'),
    switch(FlagId::NullData, "null-data", Search, "lines end with NUL"),
    switch(
        FlagId::OneFileSystem,
        "one-file-system",
        Filter,
        "stay on the file system of each root",
    )
    .negated("no-one-file-system"),
    switch(FlagId::OnlyMatching, "only-matching", Output, "print the matches, not their lines")
        .short('o')
        .for_text(),
    value(
        FlagId::PathSeparator,
        "path-separator",
        "SEPARATOR",
        Output,
        "byte written for / in --files",
    ),
    switch(FlagId::Passthru, "passthru", Output, "report the other lines too")
        .aliases(&["passthrough"]),
    switch(FlagId::Pcre2, "pcre2", Search, "use the PCRE2 engine")
        .short('P')
        .negated("no-pcre2")
        .refused(NO_PCRE2),
    switch(FlagId::Pcre2Version, "pcre2-version", Other, "show the version of PCRE2")
        .refused(NO_PCRE2),
    value(FlagId::Pre, "pre", "COMMAND", Input, "search what COMMAND makes of each file")
        .negated("no-pre")
        .refused(NO_PROCESS),
    value(FlagId::PreGlob, "pre-glob", "GLOB", Input, "the files --pre is for")
        .no_effect("it acts with --pre only"),
    switch(FlagId::Pretty, "pretty", Output, "colours, headings and line numbers")
        .short('p')
        .for_text(),
    switch(FlagId::Quiet, "quiet", Output, "write nothing, the exit code tells").short('q'),
    value(FlagId::RegexSizeLimit, "regex-size-limit", SIZE, Search, "size of the compiled pattern"),
    value(FlagId::Replace, "replace", "REPLACEMENT", Output, "what a match would be replaced with")
        .short('r'),
    switch(FlagId::SearchZip, "search-zip", Input, "search inside compressed files")
        .short('z')
        .negated("no-search-zip")
        .refused(NO_PROCESS),
    switch(FlagId::SmartCase, "smart-case", Search, "case matters if a pattern has upper case")
        .short('S'),
    value(FlagId::Sort, "sort", "SORTBY", Output, "none, path, modified, accessed or created"),
    value(FlagId::Sortr, "sortr", "SORTBY", Output, "like --sort, the other way round"),
    switch(FlagId::Stats, "stats", Logging, "report totals at the end").negated("no-stats"),
    switch(FlagId::StopOnNonmatch, "stop-on-nonmatch", Search, "stop a file after its first run"),
    switch(FlagId::Text, "text", Search, "treat every file as text").short('a').negated("no-text"),
    value(FlagId::Threads, "threads", "NUM", Search, "number of threads, 0 to choose").short('j'),
    switch(FlagId::Trace, "trace", Logging, "log even more than --debug").no_effect(LOG),
    switch(FlagId::Trim, "trim", Output, "cut the white space before a printed line")
        .negated("no-trim")
        .for_text(),
    value(FlagId::Type, "type", "TYPE", Filter, "only files of this type").short('t'),
    value(FlagId::TypeNot, "type-not", "TYPE", Filter, "no files of this type").short('T'),
    value(FlagId::TypeAdd, "type-add", "TYPESPEC", Filter, "add a glob to a type (NAME:GLOB)"),
    value(FlagId::TypeClear, "type-clear", "TYPE", Filter, "forget the globs of a type"),
    switch(FlagId::TypeList, "type-list", Other, "list the file types"),
    switch(FlagId::Unrestricted, "unrestricted", Filter, "filter less; up to three times")
        .short('u'),
    switch(FlagId::Version, "version", Other, "show the version").short('V'),
    switch(FlagId::Vimgrep, "vimgrep", Output, "a line for every match").for_text(),
    switch(FlagId::WithFilename, "with-filename", Output, "put the path before a printed line")
        .short('H')
        .for_text(),
    switch(FlagId::NoFilename, "no-filename", Output, "put no path before a printed line")
        .short('I')
        .for_text(),
    switch(FlagId::WordRegexp, "word-regexp", Search, "a match must stand between word borders")
        .short('w'),
    switch(FlagId::AutoHybridRegex, "auto-hybrid-regex", Search, "old name of --engine=auto")
        .negated("no-auto-hybrid-regex"),
    switch(FlagId::NoPcre2Unicode, "no-pcre2-unicode", Search, "old name of --no-unicode")
        .negated("pcre2-unicode"),
    switch(FlagId::SortFiles, "sort-files", Output, "old name of --sort=path")
        .negated("no-sort-files"),
];

const SIZE: &str = "NUM+SUFFIX?";
/// Whether text output is built in.
pub(super) const TEXT: bool = cfg!(feature = "rg-text");
const NO_TEXT_LAYOUT: &str = "it shapes text output only, which is not built in";
pub(super) const NO_TEXT: &str = "text output is not built in, use --json, --files or -q/--quiet";
const NO_HYPERLINKS: &str = "hyperlinks are not written (no effect without colours)";
const FLUSH: &str = "it changes when bytes are flushed, not which";
const LOG: &str = "there is no log on stderr";
const NO_PROCESS: &str = "no process is ever started (no effect with --files and --type-list)";
const NO_PCRE2: &str = "the PCRE2 engine is not built in";

/// One flag of ripgrep.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// What the flag sets.
    pub id: FlagId,
    /// The name after `--`.
    pub long: &'static str,
    /// The letter after `-`, if there is one.
    ///
    /// ripgrep takes the letter after two dashes as well (`--i`, `--A=3`), and so do we.
    pub short: Option<char>,
    /// Other long names with the same meaning.
    pub aliases: &'static [&'static str],
    /// The long name that takes the flag back. It never has a value.
    pub negated: Option<&'static str>,
    /// Whether a value follows.
    pub arity: Arity,
    /// Under which heading of the help page the flag stands.
    pub section: Section,
    /// What becomes of the flag in this crate.
    pub support: Support,
    /// One line of help.
    pub help: &'static str,
}

/// Whether a flag is followed by a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arity {
    /// No value.
    Switch,
    /// Exactly one value, shown under this name.
    Value(&'static str),
}

/// What becomes of a flag in this crate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Support {
    /// It does what it does in ripgrep.
    Served,
    /// It is accepted and its value is checked, but nothing we write depends on it.
    NoEffect(&'static str),
    /// It is understood and answered with an error.
    Refused(&'static str),
}

/// A heading of the help page. ripgrep groups its flags in the same way.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Section {
    /// Where patterns and text come from.
    Input,
    /// How a file is searched.
    Search,
    /// Which files are searched.
    Filter,
    /// How results are written.
    Output,
    /// Which kind of result is written.
    Modes,
    /// What is reported besides results.
    Logging,
    /// Anything else.
    Other,
}

/// Whether a flag was named by one of its own names or by its negation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Polarity {
    /// By its own name, an alias or its letter.
    Positive,
    /// By the name that takes it back.
    Negative,
}

/// The name of a flag in code.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(missing_docs)] // each name is its flag's long name, and the table says what that means
pub enum FlagId {
    Regexp,
    File,
    AfterContext,
    BeforeContext,
    Binary,
    BlockBuffered,
    ByteOffset,
    CaseSensitive,
    Color,
    Colors,
    Column,
    Context,
    ContextSeparator,
    Count,
    CountMatches,
    Crlf,
    Debug,
    DfaSizeLimit,
    Encoding,
    Engine,
    FieldContextSeparator,
    FieldMatchSeparator,
    Files,
    FilesWithMatches,
    FilesWithoutMatch,
    FixedStrings,
    Follow,
    Generate,
    Glob,
    GlobCaseInsensitive,
    Heading,
    Help,
    Hidden,
    HostnameBin,
    HyperlinkFormat,
    Iglob,
    IgnoreCase,
    IgnoreFile,
    IgnoreFileCaseInsensitive,
    IncludeZero,
    InvertMatch,
    Json,
    LineBuffered,
    LineNumber,
    NoLineNumber,
    LineRegexp,
    MaxColumns,
    MaxColumnsPreview,
    MaxCount,
    MaxDepth,
    MaxFilesize,
    Mmap,
    Multiline,
    MultilineDotall,
    NoConfig,
    NoIgnore,
    NoIgnoreDot,
    NoIgnoreExclude,
    NoIgnoreFiles,
    NoIgnoreGlobal,
    NoIgnoreMessages,
    NoIgnoreParent,
    NoIgnoreVcs,
    NoMessages,
    NoRequireGit,
    NoUnicode,
    Null,
    NullData,
    OneFileSystem,
    OnlyMatching,
    PathSeparator,
    Passthru,
    Pcre2,
    Pcre2Version,
    Pre,
    PreGlob,
    Pretty,
    Quiet,
    RegexSizeLimit,
    Replace,
    SearchZip,
    SmartCase,
    Sort,
    Sortr,
    Stats,
    StopOnNonmatch,
    Text,
    Threads,
    Trace,
    Trim,
    Type,
    TypeNot,
    TypeAdd,
    TypeClear,
    TypeList,
    Unrestricted,
    Version,
    Vimgrep,
    WithFilename,
    NoFilename,
    WordRegexp,
    AutoHybridRegex,
    NoPcre2Unicode,
    SortFiles,
}

impl FlagId {
    /// The line of the table.
    ///
    /// ```
    /// # use ingrep::rg::flags::FlagId;
    /// assert_eq!(FlagId::AfterContext.flag().long, "after-context");
    /// ```
    pub fn flag(self) -> &'static Flag {
        // Both lists are in the same order; a test holds them to it.
        &FLAGS[self as usize]
    }
}

impl Flag {
    const fn short(mut self, letter: char) -> Flag {
        self.short = Some(letter);
        self
    }

    const fn aliases(mut self, aliases: &'static [&'static str]) -> Flag {
        self.aliases = aliases;
        self
    }

    const fn negated(mut self, name: &'static str) -> Flag {
        self.negated = Some(name);
        self
    }

    const fn no_effect(mut self, reason: &'static str) -> Flag {
        self.support = Support::NoEffect(reason);
        self
    }

    /// It shapes text output and nothing else.
    const fn for_text(self) -> Flag {
        if TEXT { self } else { self.no_effect(NO_TEXT_LAYOUT) }
    }

    /// It chooses a kind of text output.
    const fn text_mode(self) -> Flag {
        if TEXT { self } else { self.refused(NO_TEXT) }
    }

    const fn refused(mut self, reason: &'static str) -> Flag {
        self.support = Support::Refused(reason);
        self
    }

    /// The long names: the main one, the aliases, the negation.
    pub fn long_names(&self) -> impl Iterator<Item = &'static str> {
        [self.long].into_iter().chain(self.aliases.iter().copied()).chain(self.negated)
    }

    /// The names for a message: `-l/--files-with-matches`.
    pub fn name(&self) -> String {
        let letter = self.short.map(|letter| format!("-{letter}/")).unwrap_or_default();
        format!("{letter}--{}", self.long)
    }

    fn usage(&self) -> String {
        let mut usage = self.short.map(|letter| format!("-{letter}, ")).unwrap_or_default();
        usage.push_str("--");
        usage.push_str(self.long);
        if let Arity::Value(name) = self.arity {
            usage.push('=');
            usage.push_str(name);
        }
        usage
    }
}

impl Section {
    const ALL: [(Section, &'static str); 7] = [
        (Section::Input, "INPUT"),
        (Section::Search, "SEARCH"),
        (Section::Filter, "FILTER"),
        (Section::Output, "OUTPUT"),
        (Section::Modes, "OUTPUT MODES"),
        (Section::Logging, "MESSAGES"),
        (Section::Other, "OTHER"),
    ];
}

const fn switch(id: FlagId, long: &'static str, section: Section, help: &'static str) -> Flag {
    Flag {
        id,
        long,
        short: None,
        aliases: &[],
        negated: None,
        arity: Arity::Switch,
        section,
        support: Support::Served,
        help,
    }
}

const fn value(
    id: FlagId,
    long: &'static str,
    name: &'static str,
    section: Section,
    help: &'static str,
) -> Flag {
    let mut flag = switch(id, long, section, help);
    flag.arity = Arity::Value(name);
    flag
}

/// The flag with this letter.
///
/// ```
/// # use ingrep::rg::flags::{FlagId, find_short};
/// assert_eq!(find_short('A').map(|flag| flag.id), Some(FlagId::AfterContext));
/// assert!(find_short('X').is_none());
/// ```
pub fn find_short(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.short == Some(letter))
}

/// The flag with this name after two dashes, and which way round it was named.
///
/// ```
/// # use ingrep::rg::flags::{FlagId, Polarity, find_long};
/// let (flag, polarity) = find_long("no-hidden").ok_or("no such flag")?;
/// assert_eq!((flag.id, polarity), (FlagId::Hidden, Polarity::Negative));
/// # Ok::<(), &str>(())
/// ```
pub fn find_long(name: &str) -> Option<(&'static Flag, Polarity)> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return find_short(letter).map(|flag| (flag, Polarity::Positive));
    }
    FLAGS.iter().find_map(|flag| {
        if flag.negated == Some(name) {
            Some((flag, Polarity::Negative))
        } else if flag.long == name || flag.aliases.contains(&name) {
            Some((flag, Polarity::Positive))
        } else {
            None
        }
    })
}

/// The long names that resemble a misspelt one, in table order.
///
/// Two names are alike when at least two fifths of all the three-byte pieces they are made of are
/// common to both. That is ripgrep's measure, found by asking it about several thousand names.
///
/// ```
/// # use ingrep::rg::flags::similar;
/// assert_eq!(similar("hiden"), ["hidden"]);
/// ```
pub fn similar(name: &str) -> Vec<&'static str> {
    let given = pieces(name);
    FLAGS
        .iter()
        .flat_map(Flag::long_names)
        .filter(|known| {
            let known = pieces(known);
            let common = given.intersection(&known).count();
            let all = given.len() + known.len() - common;
            common > 0 && 5 * common >= 2 * all
        })
        .collect()
}

fn pieces(name: &str) -> BTreeSet<&[u8]> {
    name.as_bytes().windows(3).collect()
}

/// The help page.
///
/// ```
/// # use ingrep::rg::flags::help;
/// assert!(help().contains("--after-context=NUM"));
/// ```
pub fn help() -> String {
    let mut page = String::from(
        "Search files the way ripgrep does, without starting it.\n\n\
         USAGE:\n\
         \x20 rg [OPTIONS] PATTERN [PATH ...]\n\
         \x20 rg [OPTIONS] -e PATTERN ... -f PATTERNFILE ... [PATH ...]\n\
         \x20 rg --files [OPTIONS] [PATH ...]\n\
         \x20 rg --type-list [OPTIONS]\n",
    );
    let width = FLAGS.iter().map(|flag| flag.usage().len()).max().unwrap_or(0);
    for (section, title) in Section::ALL {
        page.push_str(&format!("\n{title}:\n"));
        for flag in FLAGS.iter().filter(|flag| flag.section == section) {
            let remark = match flag.support {
                Support::Served => "",
                Support::NoEffect(_) => " [no effect]",
                Support::Refused(_) => " [refused]",
            };
            page.push_str(&format!("  {:width$}  {}{remark}\n", flag.usage(), flag.help));
        }
    }
    page
}

/// The compatibility page: a Markdown table with a line for every flag.
///
/// ```
/// # use ingrep::rg::flags::compatibility_table;
/// assert!(compatibility_table().contains("| `--hidden`, `--no-hidden`, `-.` | served |  |"));
/// ```
pub fn compatibility_table() -> String {
    let mut table = String::from("| flag | status | reason |\n|---|---|---|\n");
    for flag in FLAGS {
        let mut names: Vec<String> = flag.long_names().map(|name| format!("`--{name}`")).collect();
        names.extend(flag.short.map(|letter| format!("`-{letter}`")));
        let (status, reason) = match flag.support {
            Support::Served => ("served", ""),
            Support::NoEffect(reason) => ("no effect", reason),
            Support::Refused(reason) => ("refused", reason),
        };
        table.push_str(&format!("| {} | {status} | {reason} |\n", names.join(", ")));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_flags() {
        let mut names = BTreeSet::new();
        let mut letters = BTreeSet::new();
        let mut ids = BTreeSet::new();
        for flag in FLAGS {
            assert!(ids.insert(flag.id), "{:?}", flag.id);
            assert_eq!(flag.id.flag().long, flag.long);
            for name in flag.long_names() {
                assert!(names.insert(name), "--{name}");
                assert!(name.len() > 1, "--{name} would hide a letter");
            }
            if let Some(letter) = flag.short {
                assert!(letters.insert(letter), "-{letter}");
            }
        }
    }

    #[test]
    fn help_lines_are_short_and_name_every_flag() {
        let page = help();
        for flag in FLAGS {
            assert!(page.contains(&format!("--{}", flag.long)), "{}", flag.long);
        }
        for line in page.lines() {
            assert!(line.len() <= 100, "{line}");
        }
    }

    #[test]
    fn similar_names_use_bytes_a_set_and_an_inclusive_limit() {
        fn check(name: &str, expected: &[&str]) {
            assert_eq!(similar(name), expected, "{name}");
        }
        check("", &[]);
        check("je", &[]);
        check("fil", &["file"]);
        check("sorts", &["sort", "sortr"]);
        check("HIDDEN", &[]);
        check("hidden\u{fffd}", &["hidden", "no-hidden"]);
        check("context-", &["after-context", "context", "context-separator"]);
        check("passthroug", &["passthru", "passthrough"]);
    }
}
