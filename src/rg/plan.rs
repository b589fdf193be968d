//! From parsed arguments to a query, a scope, and how to write what they find.

use super::args::{self, Args, BinaryFiles, Context, Mmap, Mode, PatternSource, Reach, SortKey};
use super::layout::{Layout, PathLayout};
use super::{Command, SharedReader, flags, git_excludes, pattern_files};
use crate::limits::Limits;
use crate::pool::Pool;
use crate::query::{Binary, Boundary, Case, Encoding, MultiLine, Query, Terminator};
use crate::scope::{IgnoreRules, Order, RootsPolicy, Scope, SortBy};
use crate::walk::Origin;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// More threads than this are not started, whatever `-j` says.
const MAX_THREADS: usize = 256;

/// As many paths as ripgrep maps files for.
const MAX_MAPPED_PATHS: usize = 10;

/// Limits under which nothing but the hostile is answered otherwise than by ripgrep, which has
/// none. The cache of the engine has no part in the answer and stays small. The result of a file is
/// held until the file is searched, and `--vimgrep` makes one that grows with the square of a line.
pub(super) fn limits() -> Limits {
    Limits::new()
        .max_line_bytes(usize::MAX)
        .max_file_result_bytes(GIB)
        .max_line_buffer_bytes(256 * MIB)
        .max_multi_line_bytes(256 * MIB)
        .max_unsized_bytes(256 * MIB as u64)
        .max_patterns(usize::MAX)
        .max_pattern_bytes(16 * MIB)
        .max_literal_bytes(16 * MIB)
        .max_nesting(250)
        .max_context_lines(usize::MAX)
        .max_regex_bytes(100 * MIB)
}

/// A run, decided.
pub(super) struct Plan {
    pub(super) mode: Mode,
    pub(super) query: Query,
    pub(super) scope: Scope,
    /// The globs of `--pre-glob`, which have to be some.
    pub(super) pre_globs: Option<Scope>,
    pub(super) limits: Limits,
    /// Whether anything can match at all.
    pub(super) possible: bool,
    /// Whether nobody named a path.
    pub(super) implicit: bool,
    /// Whether that leaves a working directory that is gone, in which there is nothing.
    pub(super) nowhere: bool,
    /// Whether ripgrep would walk on one thread, which shows in its messages.
    pub(super) sequential: bool,
    /// Whether ripgrep would walk to the end before it does anything else.
    pub(super) collects: bool,
    /// Which files ripgrep would map.
    pub(super) mapped: Mapped,
    pub(super) quiet: bool,
    /// How the results of a search look as text, where text is wanted.
    pub(super) layout: Option<Layout>,
    /// Whether text totals follow.
    pub(super) stats: bool,
    pub(super) messages: bool,
    pub(super) ignore_messages: bool,
    /// How a listed path looks in colour, if it has some.
    pub(super) path_layout: Option<PathLayout>,
    /// What ends a listed path, and what stands between its names if not the usual.
    pub(super) path_end: u8,
    pub(super) path_separator: Option<u8>,
    pub(super) stdin: SharedReader,
}

impl Plan {
    /// Whether trouble of this kind is told before the pattern is looked at.
    pub(super) fn told_first(&self, origin: Origin) -> bool {
        let named = matches!(origin, Origin::NamedRules | Origin::GlobalRules);
        self.sequential && (self.collects || named)
    }

    /// Whether the first success decides all: nothing is printed, and nothing counted.
    pub(super) fn ends_at_first(&self) -> bool {
        self.quiet && !self.stats && self.mode != Mode::Json
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapped {
    None,
    Named,
    All,
}

/// A configuration file would change the argv in ways that were not parsed.
pub(super) fn refuse_config(
    args: &Args,
    env: &HashMap<OsString, OsString>,
) -> Result<(), args::Unserved> {
    let named = env.get(OsStr::new("RIPGREP_CONFIG_PATH")).is_some_and(|path| !path.is_empty());
    if args.config && named {
        return Err(args::Unserved::Flag {
            flag: flags::FlagId::NoConfig,
            reason: "RIPGREP_CONFIG_PATH is set, and configuration files are not read; \
                     pass --no-config or leave the variable out",
        });
    }
    Ok(())
}

/// Resolves the arguments. On failure returns the text that ripgrep prints.
pub(super) fn plan(command: &Command, args: &Args) -> Result<Plan, String> {
    let cwd = working_directory(command)?;
    let stdin = command.stdin.open();
    let mut stdin_taken = false;
    let operands = args::operands(args).map_err(|error| error.to_string())?;
    let patterns = if args.mode.searches() {
        patterns(
            &operands.patterns,
            &cwd,
            &stdin,
            &mut stdin_taken,
            command.limits.max_pattern_bytes,
        )?
    } else {
        Vec::new()
    };
    let paths: Vec<_> = operands.paths.into_iter().map(PathBuf::from).collect();
    if stdin_taken && paths.iter().any(|path| path == Path::new("-")) {
        let message = "error: attempted to read patterns from stdin while also searching stdin";
        return Err(message.to_string());
    }
    let implicit = paths.is_empty();
    let paths = match implicit {
        false => paths,
        true if args.mode.searches() && command.stdin.is_readable() && !stdin_taken => {
            vec![PathBuf::from("-")]
        }
        true => vec![PathBuf::from("./")],
    };
    let one_file = match &paths[..] {
        // No name is not the name of the working directory.
        [path] if path.as_os_str().is_empty() => true,
        [path] => path == Path::new("-") || !cwd.join(path).is_dir(),
        _ => false,
    };
    let threads = match (args.sort, args.threads) {
        _ if one_file => 1,
        (Some(_), _) => 1,
        (None, Some(threads)) => threads,
        (None, None) => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mapped = match args.mmap {
        Mmap::Never => Mapped::None,
        Mmap::Always => Mapped::All,
        Mmap::Auto => {
            let all_files = paths.iter().all(|path| cwd.join(path).is_file());
            if paths.len() <= MAX_MAPPED_PATHS && all_files { Mapped::Named } else { Mapped::None }
        }
    };
    let mut limits = command.limits.clone();
    if let Some(bytes) = args.regex_size_limit {
        limits = limits.max_regex_bytes(bytes);
    }
    if let Some(bytes) = args.dfa_size_limit {
        limits = limits.max_dfa_bytes(bytes);
    }
    let layout = Layout::new(args, one_file, threads == 1, limits.max_file_result_bytes);
    Ok(Plan {
        mode: args.mode,
        layout,
        possible: args.max_count != Some(0) && (!patterns.is_empty() || args.invert_match),
        query: query(args, patterns),
        scope: scope(command, args, &cwd, paths, threads == 1),
        pre_globs: (!args.pre_globs.is_empty()).then(|| {
            args.pre_globs.iter().fold(Scope::new("").base(&cwd), |scope, glob| scope.glob(glob))
        }),
        limits,
        implicit,
        nowhere: implicit && !cwd.exists(),
        sequential: threads == 1,
        collects: args
            .sort
            .is_some_and(|sort| (sort.key, sort.order) != (SortKey::Path, args::Order::Ascending)),
        mapped,
        quiet: args.quiet,
        stats: args.stats && args.mode != Mode::Json,
        messages: args.messages,
        ignore_messages: args.ignore_messages,
        path_layout: PathLayout::new(args),
        path_end: if args.null { 0 } else { b'\n' },
        path_separator: args.path_separator,
        stdin,
    })
}

fn working_directory(command: &Command) -> Result<PathBuf, String> {
    let error = match std::fs::metadata(&command.cwd) {
        Ok(_) => return Ok(command.cwd.clone()),
        Err(error) => error,
    };
    match command.env_var("PWD") {
        Some(pwd) if !pwd.is_empty() => Ok(PathBuf::from(pwd)),
        _ => Err(format!(
            "failed to get current working directory: {error}\ndid your CWD get deleted?"
        )),
    }
}

fn patterns(
    sources: &[PatternSource],
    cwd: &Path,
    stdin: &SharedReader,
    stdin_taken: &mut bool,
    max_bytes: usize,
) -> Result<Vec<String>, String> {
    if let [PatternSource::Positional(pattern)] = sources {
        return Ok(vec![pattern.clone()]);
    }
    let mut all = Vec::new();
    for source in sources {
        match source {
            PatternSource::Positional(pattern) | PatternSource::Regexp(pattern) => {
                all.push(pattern.clone());
            }
            PatternSource::File(file) if file == "-" => {
                if std::mem::replace(stdin_taken, true) {
                    let message =
                        "error reading -f/--file from stdin: stdin has already been consumed";
                    return Err(message.to_string());
                }
                all.extend(pattern_files::read("<stdin>", stdin.clone(), max_bytes)?);
            }
            PatternSource::File(file) => {
                let name = Path::new(file).display().to_string();
                // No name is not the name of the working directory.
                let at = if file.is_empty() { PathBuf::new() } else { cwd.join(file) };
                let opened =
                    pattern_files::open(&at).map_err(|error| format!("{name}: {error}"))?;
                all.extend(pattern_files::read(&name, opened, max_bytes)?);
            }
        }
    }
    let mut seen = HashSet::new();
    all.retain(|pattern| seen.insert(pattern.clone()));
    Ok(all)
}

fn query(args: &Args, patterns: Vec<String>) -> Query {
    let (before, after) = args.context.lines();
    Query::many(patterns)
        .allow_empty(true)
        .fixed_strings(args.fixed_strings)
        .case(match args.case {
            args::Case::Sensitive => Case::Sensitive,
            args::Case::Insensitive => Case::Insensitive,
            args::Case::Smart => Case::Smart,
        })
        .boundary(match args.boundary {
            args::Boundary::None => Boundary::Anywhere,
            args::Boundary::Word => Boundary::Word,
            args::Boundary::Line => Boundary::Line,
        })
        .terminator(match args.line_terminator {
            args::LineTerminator::Lf => Terminator::Lf,
            args::LineTerminator::Crlf => Terminator::Crlf,
            args::LineTerminator::Nul => Terminator::Nul,
        })
        .multi_line(match (args.reach, args.multiline_dotall) {
            (Reach::MultiLine, true) => MultiLine::DotAll,
            (Reach::MultiLine, false) => MultiLine::On,
            _ => MultiLine::Off,
        })
        .stop_on_nonmatch(args.reach == Reach::StopOnNonmatch)
        .unicode(args.unicode)
        .invert(args.invert_match)
        .before_context(before)
        .after_context(after)
        .passthru(args.context == Context::Passthru)
        .max_count(args.max_count)
        .line_numbers(args.numbers_lines())
        .encoding(match &args.encoding {
            args::Encoding::Auto => Encoding::Auto,
            args::Encoding::Raw => Encoding::Raw,
            args::Encoding::Label(label) => Encoding::Label(label.clone()),
        })
        .binary(match args.binary {
            BinaryFiles::Auto => Binary::Auto,
            BinaryFiles::Search => Binary::Convert,
            BinaryFiles::Text => Binary::Text,
        })
        .replacement(args.replace.clone())
}

fn scope(
    command: &Command,
    args: &Args,
    cwd: &Path,
    paths: Vec<PathBuf>,
    sequential: bool,
) -> Scope {
    let sources = &args.ignore;
    let mut rules = IgnoreRules::none()
        .dot_ignore(sources.dot)
        .vcs_ignore(sources.vcs)
        .git_exclude(sources.vcs && sources.exclude)
        .parents(sources.parent)
        .require_git(sources.require_git)
        .case_insensitive(args.ignore_file_case_insensitive);
    if sources.vcs && sources.global {
        rules.global = git_excludes::find(command);
    }
    if sources.files {
        rules = args.ignore_files.iter().fold(rules, |rules, file| rules.file(file));
    }
    let mut scope = Scope::many(paths)
        .base(cwd)
        .prune_vcs(false)
        .hidden(args.hidden)
        .ignore(rules)
        .max_depth(args.max_depth)
        .max_file_bytes(args.max_filesize)
        .follow_links(args.follow)
        .one_file_system(args.one_file_system)
        .walker(command.walker)
        .limits(command.walk_limits.clone())
        .pool(&match args.threads {
            Some(1) => Pool::inline(),
            Some(threads) if threads <= MAX_THREADS => command.pool.beside(threads),
            _ => command.pool.clone(),
        });
    for glob in &args.globs {
        scope = match args.glob_case_insensitive {
            true => scope.iglob(glob),
            false => scope.glob(glob),
        };
    }
    scope = args.iglobs.iter().fold(scope, |scope, glob| scope.iglob(glob));
    for change in &args.types {
        scope = match change {
            args::TypeChange::Clear(name) => scope.clear_type(name),
            args::TypeChange::Add(definition) => scope.define_type(definition),
            args::TypeChange::Select(name) => scope.file_type(name),
            args::TypeChange::Negate(name) => scope.file_type_not(name),
        };
    }
    scope = match args.sort {
        None => scope.sort(SortBy::Nothing, Order::Ascending),
        Some(sort) => scope.sort(
            match sort.key {
                SortKey::Path => SortBy::Path,
                SortKey::Modified => SortBy::Modified,
                SortKey::Accessed => SortBy::Accessed,
                SortKey::Created => SortBy::Created,
            },
            match sort.order {
                args::Order::Ascending => Order::Ascending,
                args::Order::Descending => Order::Descending,
            },
        ),
    };
    scope.roots_policy = RootsPolicy::AsRipgrep;
    scope.walk_in_order = true;
    scope.walk_as_parallel = !sequential;
    scope
}
