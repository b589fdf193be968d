//! ripgrep's command line, in process: an argv goes in, and what `rg` would have written comes out.
//!
//! [`flags`] is the one table of flags, [`args`] parses an argv, `plan` resolves it against the
//! working directory and the environment that the caller hands over, `run` carries it out, `print`
//! knows how ripgrep writes things down, and `layout` has ripgrep's own printers write text.

pub mod args;
pub mod flags;
mod git_excludes;
#[cfg(feature = "rg-text")]
mod guarded;
#[cfg_attr(not(feature = "rg-text"), path = "no_layout.rs")]
mod layout;
mod pattern_files;
mod plan;
mod print;
mod run;

use crate::cancel::{CancelToken, Stop};
use crate::error::Result;
use crate::limits::{Limits, WalkLimits};
use crate::matcher::PatternCache;
use crate::pool::Pool;
use crate::scope::Walker;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A run of ripgrep that starts no process; shaped like [`std::process::Command`].
///
/// Served is every kind of output, `--json` and `--files` as well as text (which the crate's feature
/// `rg-text` brings), but for a few flags that need another program or engine;
/// [`check`](Command::check) tells beforehand whether an argv is. The working directory and the
/// environment are what the caller passes in, nothing else is looked at. The output is no terminal:
/// without flags for it there are no headings, colours or line numbers.
///
/// ```
/// use ingrep::{CancelToken, rg::Command};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # std::fs::write(dir.path().join("a.txt"), "one\ntwo\n").unwrap();
/// let output = Command::new(dir.path()).args(["--files"]).output(&CancelToken::new())?;
/// assert_eq!((output.code, &output.stdout[..]), (0, &b"a.txt\n"[..]));
///
/// let output = Command::new(dir.path()).args(["--json", "t(w"]).output(&CancelToken::new())?;
/// assert_eq!(output.code, 2);
/// assert!(output.stderr.starts_with(b"rg: regex parse error:\n"));
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Command {
    cwd: PathBuf,
    argv: Vec<OsString>,
    env: HashMap<OsString, OsString>,
    stdin: Stdin,
    pool: Pool,
    limits: Limits,
    walk_limits: WalkLimits,
    walker: Walker,
    stdout_file: Option<FileId>,
    cache: Option<PatternCache>,
}

/// A file, whatever its name: device and inode.
type FileId = (u64, u64);

#[derive(Clone)]
enum Stdin {
    Null,
    Bytes(Arc<[u8]>),
    Reader(Arc<Mutex<dyn Read + Send>>),
}

impl std::fmt::Debug for Stdin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stdin::Null => "Null",
            Stdin::Bytes(_) => "Bytes",
            Stdin::Reader(_) => "Reader",
        })
    }
}

/// What a run wrote, and its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// 0: found; 1: nothing; 2: an error.
    pub code: u8,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The messages.
    pub stderr: Vec<u8>,
    /// Set when the token ended the run. Then the code is 2, and the output what had been found.
    pub stopped: Option<Stop>,
}

impl Command {
    /// A run in this directory, with no arguments, an empty environment and no standard input.
    pub fn new(cwd: impl Into<PathBuf>) -> Command {
        Command {
            cwd: cwd.into(),
            argv: Vec::new(),
            env: HashMap::new(),
            stdin: Stdin::Null,
            pool: Pool::default(),
            limits: plan::limits(),
            walk_limits: WalkLimits::new(),
            walker: Walker::default(),
            stdout_file: None,
            cache: None,
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Command {
        self.argv.push(arg.as_ref().to_os_string());
        self
    }

    /// Adds arguments, without the program's name.
    pub fn args(self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        args.into_iter().fold(self, Command::arg)
    }

    /// Sets an environment variable. Looked at are `HOME`, `XDG_CONFIG_HOME`, `GIT_CONFIG_GLOBAL`
    /// and `GIT_CONFIG_SYSTEM` for git's global excludes, `PWD` when the working directory is
    /// gone, and `RIPGREP_CONFIG_PATH`, which is refused.
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Command {
        self.env.insert(key.as_ref().to_os_string(), value.as_ref().to_os_string());
        self
    }

    /// Sets several environment variables.
    pub fn envs(
        self,
        vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Command {
        vars.into_iter().fold(self, |command, (key, value)| command.env(key, value))
    }

    /// Pipes these bytes in. They are searched when no path is named. Default: no input, as from
    /// `/dev/null`.
    ///
    /// ```
    /// use ingrep::{CancelToken, rg::Command};
    ///
    /// let piped = Command::new("/").args(["-q", "needle"]).stdin("hay\nneedle\n");
    /// assert_eq!(piped.output(&CancelToken::new())?.code, 0);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Command {
        self.stdin = Stdin::Bytes(bytes.into().into());
        self
    }

    /// Pipes in what is read from here, once it is asked for. A second run gets what the first has
    /// left.
    pub fn stdin_reader(mut self, reader: impl Read + Send + 'static) -> Command {
        self.stdin = Stdin::Reader(Arc::new(Mutex::new(reader)));
        self
    }

    /// The threads to work with. `-j1` works without any, and another `-j` with as many as it
    /// says. Default: those of [`Pool::default`].
    pub fn pool(mut self, pool: &Pool) -> Command {
        self.pool = pool.clone();
        self
    }

    /// Limits instead of those that keep this within ripgrep's answers: a line of 256 MiB, a file
    /// of 256 MiB where it has to be held whole or tells no size, a result of 1 GiB for one file,
    /// patterns of 16 MiB that compile to 100 MiB. A result over its limit is cut, which is told and makes the code 2.
    pub fn limits(mut self, limits: Limits) -> Command {
        self.limits = limits;
        self
    }

    /// Limits of the walk. Default: [`WalkLimits::new`]. What is over one is told and makes the code
    /// 2.
    pub fn walk_limits(mut self, limits: WalkLimits) -> Command {
        self.walk_limits = limits;
        self
    }

    /// Which walk lists the files. Default: [`Walker::Auto`].
    pub fn walker(mut self, walker: Walker) -> Command {
        self.walker = walker;
        self
    }

    /// The device and inode that the output goes to, so that a walk does not search it. Only a
    /// caller that redirects the output into a file needs it.
    pub fn stdout_file(mut self, device: u64, inode: u64) -> Command {
        self.stdout_file = Some((device, inode));
        self
    }

    /// Keeps compiled patterns for the next run with the same cache. Default: none.
    ///
    /// ```
    /// use ingrep::{CancelToken, PatternCache, rg::Command};
    ///
    /// let cache = PatternCache::new();
    /// for _ in 0..2 {
    ///     let piped = Command::new("/").args(["-q", "e+"]).stdin("hay\nneedle\n").cache(&cache);
    ///     assert_eq!(piped.output(&CancelToken::new())?.code, 0);
    /// }
    /// assert_eq!(cache.patterns(), 1);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn cache(mut self, cache: &PatternCache) -> Command {
        self.cache = Some(cache.clone());
        self
    }

    /// Whether this argv is served; if not, which flag stands in the way and why. An argv that
    /// ripgrep itself refuses is served: with ripgrep's message.
    ///
    /// ```
    /// use ingrep::rg::Command;
    ///
    /// assert!(Command::new("/").args(["--json", "x"]).check().is_ok());
    /// let refused = Command::new("/").args(["--json", "-z", "x"]).check().unwrap_err();
    /// assert!(refused.to_string().starts_with("-z/--search-zip is not served"));
    /// ```
    pub fn check(&self) -> std::result::Result<(), args::Unserved> {
        match args::parse(self.argv.iter().cloned()) {
            Ok(args::Parsed::Args(args)) => {
                plan::refuse_config(&args, &self.env)?;
                args::check(&args)
            }
            Ok(args::Parsed::Special(_)) | Err(_) => Ok(()),
        }
    }

    /// Runs to the end and returns what was written.
    ///
    /// # Errors
    ///
    /// None of what ripgrep would report: that is the output. [`ErrorCode::Internal`] for a fault
    /// of ours, [`ErrorCode::ThreadsStuck`] when too many threads wait for file systems that do not
    /// answer.
    ///
    /// [`ErrorCode::Internal`]: crate::ErrorCode::Internal
    /// [`ErrorCode::ThreadsStuck`]: crate::ErrorCode::ThreadsStuck
    pub fn output(&self, token: &CancelToken) -> Result<Output> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let (code, stopped) = run::run(self, &mut stdout, &mut stderr, token)?;
        Ok(Output { code, stdout, stderr, stopped })
    }

    /// Runs, writes as results come, and returns the exit code. When `stdout` breaks as a closed
    /// pipe does, the run ends quietly.
    ///
    /// # Errors
    ///
    /// As for [`output`](Command::output).
    pub fn run(
        &self,
        stdout: &mut dyn Write,
        stderr: &mut dyn Write,
        token: &CancelToken,
    ) -> Result<u8> {
        Ok(run::run(self, stdout, stderr, token)?.0)
    }

    fn env_var(&self, key: &str) -> Option<&OsStr> {
        self.env.get(OsStr::new(key)).map(OsString::as_os_str)
    }
}

impl Stdin {
    /// The standard input as something to read from, once in a run.
    fn open(&self) -> SharedReader {
        match self {
            Stdin::Null => SharedReader(Arc::new(Mutex::new(io::empty()))),
            Stdin::Bytes(bytes) => {
                SharedReader(Arc::new(Mutex::new(io::Cursor::new(Arc::clone(bytes)))))
            }
            Stdin::Reader(reader) => SharedReader(Arc::clone(reader)),
        }
    }

    /// Whether ripgrep would take it for something to search.
    fn is_readable(&self) -> bool {
        !matches!(self, Stdin::Null)
    }
}

/// The standard input of one run: who reads first gets it all, the next one its end.
#[derive(Clone)]
struct SharedReader(Arc<Mutex<dyn Read + Send>>);

impl Read for SharedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).read(buffer)
    }
}
