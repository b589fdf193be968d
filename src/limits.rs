//! Every cap of this crate: its name, its default, and why that number.

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// How much a search may keep, hold and build.
///
/// Three kinds of cap stand here. *Result* caps cut what is kept of a run that goes on counting;
/// they are off by default. *Memory* caps bound what a hostile file or pattern can make a worker
/// allocate; a file over one is a [`Diagnostic`](crate::Diagnostic) that names it. *Build* caps
/// refuse a pattern before it costs much.
///
/// ```
/// use ingrep::{CancelToken, End, Limits, Query, Scope};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # std::fs::write(dir.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
/// # let root = dir.path();
/// let outcome = Query::new(r"\w+")
///     .scope(Scope::new(root))
///     .limits(Limits::new().max_lines(2))
///     .compile()?
///     .collect(&CancelToken::new())?;
/// assert_eq!(outcome.files[0].lines().count(), 2);
/// assert_eq!(outcome.summary.lines_matched, 3);
/// assert_eq!(outcome.summary.end, End::Limit);
/// assert_eq!(outcome.summary.limit, Some("max_lines"));
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) max_files: u64,
    pub(crate) max_lines: u64,
    pub(crate) max_lines_per_file: u64,
    pub(crate) max_output_bytes: u64,
    pub(crate) max_line_bytes: usize,
    pub(crate) max_file_result_bytes: usize,
    pub(crate) stop_early: bool,
    pub(crate) max_line_buffer_bytes: usize,
    pub(crate) max_multi_line_bytes: usize,
    pub(crate) max_unsized_bytes: u64,
    pub(crate) max_patterns: usize,
    pub(crate) max_pattern_bytes: usize,
    pub(crate) max_literal_bytes: usize,
    pub(crate) max_nesting: u32,
    pub(crate) max_context_lines: usize,
    pub(crate) max_regex_bytes: usize,
    pub(crate) max_dfa_bytes: usize,
    pub(crate) max_diagnostics: usize,
}

impl Limits {
    /// The defaults, which each method below names.
    pub fn new() -> Limits {
        Limits {
            max_files: u64::MAX,
            max_lines: u64::MAX,
            max_lines_per_file: u64::MAX,
            max_output_bytes: u64::MAX,
            max_line_bytes: MIB,
            max_file_result_bytes: 64 * MIB,
            stop_early: false,
            max_line_buffer_bytes: 16 * MIB,
            max_multi_line_bytes: 32 * MIB,
            max_unsized_bytes: 16 * MIB as u64,
            max_patterns: 100_000,
            max_pattern_bytes: 128 * KIB,
            max_literal_bytes: MIB,
            max_nesting: 100,
            max_context_lines: 10_000,
            max_regex_bytes: 10 * MIB,
            max_dfa_bytes: 10 * MIB,
            max_diagnostics: 100,
        }
    }

    /// The most files with matches that a collected result keeps. Default: no limit.
    pub fn max_files(mut self, files: u64) -> Limits {
        self.max_files = files;
        self
    }

    /// The most matched lines that a collected result keeps, over all files; context lines ride
    /// along with the matches they surround. Default: no limit.
    pub fn max_lines(mut self, lines: u64) -> Limits {
        self.max_lines = lines;
        self
    }

    /// The most matched lines kept of one file. Unlike [`Query::max_count`](crate::Query::max_count)
    /// the rest of the file is still searched and counted. Default: no limit.
    pub fn max_lines_per_file(mut self, lines: u64) -> Limits {
        self.max_lines_per_file = lines;
        self
    }

    /// The most bytes of lines and paths that a collected result keeps. Default: no limit.
    pub fn max_output_bytes(mut self, bytes: u64) -> Limits {
        self.max_output_bytes = bytes;
        self
    }

    /// The most bytes kept of one line; a longer one is [cut](crate::Line::cut), never inside a
    /// UTF-8 character. Default: 1 MiB, more than any line that somebody wrote, less than a
    /// minified bundle.
    pub fn max_line_bytes(mut self, bytes: usize) -> Limits {
        self.max_line_bytes = bytes;
        self
    }

    /// The most bytes of lines and spans held for one file before its further lines are counted
    /// only. Default: 64 MiB: one such file per worker stays affordable, and rarely does a
    /// result that is meant to be read come near it.
    pub fn max_file_result_bytes(mut self, bytes: usize) -> Limits {
        self.max_file_result_bytes = bytes;
        self
    }

    /// Ends a collected run at the first thing that a result cap drops, instead of counting on.
    /// The totals are then lower bounds. Default: off.
    pub fn stop_early(mut self, yes: bool) -> Limits {
        self.stop_early = yes;
        self
    }

    /// The longest line, in bytes, that a worker will hold while it searches line by line. A file
    /// with a longer one is skipped from there on and reported. Default: 16 MiB, because the
    /// buffer lives once per worker.
    pub fn max_line_buffer_bytes(mut self, bytes: usize) -> Limits {
        self.max_line_buffer_bytes = bytes;
        self
    }

    /// The largest file, in bytes, that is searched across lines, since such a search holds it
    /// whole. A larger one is skipped and reported. Default: 32 MiB per worker.
    pub fn max_multi_line_bytes(mut self, bytes: usize) -> Limits {
        self.max_multi_line_bytes = bytes;
        self
    }

    /// How much is read of a file that says it holds nothing, as those in `/proc` do, some of which
    /// have no end. What is behind it is left out and reported. Any other file is read up to the size
    /// that it had when it was opened, and one block more: what is written to it meanwhile does not
    /// keep a search. Default: 16 MiB.
    pub fn max_unsized_bytes(mut self, bytes: u64) -> Limits {
        self.max_unsized_bytes = bytes;
        self
    }

    /// The most patterns of a query. Default: 100,000, as many as a dictionary has words.
    pub fn max_patterns(mut self, patterns: usize) -> Limits {
        self.max_patterns = patterns;
        self
    }

    /// The most bytes that all patterns of a query may have together, if they are more than plain
    /// text; see [`max_literal_bytes`](Limits::max_literal_bytes). Default: 128 KiB. Tens of thousands
    /// of Unicode classes took a gigabyte and some seconds before they were refused: lower this for
    /// patterns that nobody should trust.
    pub fn max_pattern_bytes(mut self, bytes: usize) -> Limits {
        self.max_pattern_bytes = bytes;
        self
    }

    /// The most bytes that all patterns of a query may have together if they are plain text, in which
    /// case counts. Default: 1 MiB. Compiling them takes some 30 bytes of memory for each, a tenth of
    /// what other patterns take.
    pub fn max_literal_bytes(mut self, bytes: usize) -> Limits {
        self.max_literal_bytes = bytes;
        self
    }

    /// How deep groups and repetitions may be nested, up to 250. Default: 100, which fits into a stack
    /// of 256 KiB in a debug build, too; the engine's compiler calls itself for each. ripgrep allows
    /// 250, for which 512 KiB were needed.
    pub fn max_nesting(mut self, levels: u32) -> Limits {
        self.max_nesting = levels.min(250);
        self
    }

    /// The most context lines on one side of a match. Default: 10,000: more is a way to have whole
    /// files.
    pub fn max_context_lines(mut self, lines: usize) -> Limits {
        self.max_context_lines = lines;
        self
    }

    /// The most bytes that the compiled pattern may have. Default: 10 MiB. ripgrep allows 100.
    pub fn max_regex_bytes(mut self, bytes: usize) -> Limits {
        self.max_regex_bytes = bytes;
        self
    }

    /// The most bytes, per worker, of the cache that the regex engine builds while it runs.
    /// Default: 10 MiB. ripgrep allows 1,000; on the worst patterns measured that was slower as
    /// well as larger. A pattern that is compiled for ASCII on its own has an eighth more for that.
    pub fn max_dfa_bytes(mut self, bytes: usize) -> Limits {
        self.max_dfa_bytes = bytes;
        self
    }

    /// The most diagnostics kept in full; all are counted. Default: 100, more than a person reads.
    pub fn max_diagnostics(mut self, diagnostics: usize) -> Limits {
        self.max_diagnostics = diagnostics;
        self
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::new()
    }
}

/// How much a walk may read, hold and follow, and how much a scope may ask of it. Set by
/// [`Scope::limits`](crate::Scope::limits). Of these the [reference walk](crate::Walker::Reference)
/// knows only those on globs.
///
/// What is over one of them is left out, and a [`Diagnostic`](crate::Diagnostic) names it; globs that
/// are over theirs are an [`Error`](crate::Error).
///
/// ```
/// use ingrep::{CancelToken, IgnoreRules, Reason, Scope, WalkLimits};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let root = dir.path();
/// std::fs::write(root.join(".ignore"), "*.log\n*.tmp\n")?;
/// std::fs::write(root.join("a.tmp"), "")?;
/// let scope = Scope::new(root)
///     .ignore(IgnoreRules::ripgrep())
///     .limits(WalkLimits::new().max_rules_per_file(1));
/// let mut files = scope.files(&CancelToken::new())?;
/// assert_eq!(files.by_ref().filter(|file| file.path.ends_with("a.tmp")).count(), 1);
/// let diagnostics = files.into_summary().diagnostics;
/// # if cfg!(target_os = "linux") {
/// assert_eq!(diagnostics.count(Reason::IgnoreRule), 1);
/// assert!(diagnostics.iter().next().unwrap().message.contains("max_rules_per_file"));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    pub(crate) max_rule_file_bytes: usize,
    pub(crate) max_rule_line_bytes: usize,
    pub(crate) max_rules_per_file: usize,
    pub(crate) max_rule_memory_bytes: usize,
    pub(crate) max_open_directories: usize,
    pub(crate) max_followed_directories: u64,
    pub(crate) max_levels: usize,
    pub(crate) max_entries: u64,
    pub(crate) max_listing_bytes: usize,
    pub(crate) max_globs: usize,
    pub(crate) max_glob_bytes: usize,
    pub(crate) max_glob_list_bytes: usize,
}

impl WalkLimits {
    /// The defaults, which each method below names.
    pub fn new() -> WalkLimits {
        WalkLimits {
            max_rule_file_bytes: MIB,
            max_rule_line_bytes: 4 * KIB,
            max_rules_per_file: 10_000,
            max_rule_memory_bytes: 64 * MIB,
            max_open_directories: 32,
            max_followed_directories: 1 << 16,
            max_levels: 1 << 16,
            max_entries: 100_000_000,
            max_listing_bytes: 1 << 30,
            max_globs: 1_000,
            max_glob_bytes: 4 * KIB,
            max_glob_list_bytes: 256 * KIB,
        }
    }

    /// The most bytes read of one ignore file; its rules up to there hold. Default: 1 MiB, a hundred
    /// times the largest seen in use.
    pub fn max_rule_file_bytes(mut self, bytes: usize) -> WalkLimits {
        self.max_rule_file_bytes = bytes;
        self
    }

    /// The longest line of an ignore file, in bytes; a longer one is dropped. Default: 4 KiB, as
    /// long as a path can be. A line of 50 MB was seen to cost 3.6 GB.
    pub fn max_rule_line_bytes(mut self, bytes: usize) -> WalkLimits {
        self.max_rule_line_bytes = bytes;
        self
    }

    /// The most rules of one ignore file; those after it are dropped. Default: 10,000, which cost
    /// up to 80 MB and a quarter of a second.
    pub fn max_rules_per_file(mut self, rules: usize) -> WalkLimits {
        self.max_rules_per_file = rules;
        self
    }

    /// The most bytes, as estimated, that the rules in force at one time may take; the rules of a
    /// directory that would be over it are left out. Default: 64 MiB.
    pub fn max_rule_memory_bytes(mut self, bytes: usize) -> WalkLimits {
        self.max_rule_memory_bytes = bytes;
        self
    }

    /// How many directories one thread of a walk holds open; further ones are closed and opened
    /// again when they are needed. This costs time and loses nothing. Default: 32, deeper than
    /// most trees.
    pub fn max_open_directories(mut self, directories: usize) -> WalkLimits {
        self.max_open_directories = directories.max(2);
        self
    }

    /// How many directories that a link leads to are entered in the walk of one root; further
    /// ones are not. Default: 65,536. A dozen directories with three links each have half a million
    /// paths.
    pub fn max_followed_directories(mut self, directories: u64) -> WalkLimits {
        self.max_followed_directories = directories;
        self
    }

    /// How many directories inside one another are entered; those that lie deeper are not. Default:
    /// 65,536. No path that the system takes in one piece has more than 2,048.
    pub fn max_levels(mut self, levels: usize) -> WalkLimits {
        self.max_levels = levels;
        self
    }

    /// How many entries the walk of one root reads before it ends. Default: 100 million, some
    /// minutes. A file system that somebody makes up need not have an end.
    pub fn max_entries(mut self, entries: u64) -> WalkLimits {
        self.max_entries = entries;
        self
    }

    /// The most bytes that a sorted listing may take while it is gathered from one root; with it the
    /// walk ends. Default: 1 GiB, ten million files. Ten thousand directories inside one another,
    /// with a file in each, take 100 MB of paths.
    pub fn max_listing_bytes(mut self, bytes: usize) -> WalkLimits {
        self.max_listing_bytes = bytes;
        self
    }

    /// The most globs, and the most changes to file types, of one [`Scope`](crate::Scope). Default:
    /// 1,000. Matching costs time per glob and file.
    pub fn max_globs(mut self, globs: usize) -> WalkLimits {
        self.max_globs = globs;
        self
    }

    /// The longest glob or definition of a file type, in bytes. Default: 4 KiB. A hostile one of
    /// 4 MB was seen to cost 580 MB and two seconds.
    pub fn max_glob_bytes(mut self, bytes: usize) -> WalkLimits {
        self.max_glob_bytes = bytes;
        self
    }

    /// The most bytes of all globs, and of all definitions of file types, of one
    /// [`Scope`](crate::Scope) together. Default: 256 KiB. Compiled they were seen to take 500 times
    /// that.
    pub fn max_glob_list_bytes(mut self, bytes: usize) -> WalkLimits {
        self.max_glob_list_bytes = bytes;
        self
    }
}

impl Default for WalkLimits {
    fn default() -> WalkLimits {
        WalkLimits::new()
    }
}
