//! Two tools for a model, `glob` and `grep`: bounded replies, saved complete results, typed errors.
//!
//! A harness registers what [`definitions`] returns and hands each call to [`Tools::call`]; or it
//! calls [`Tools::glob`] and [`Tools::grep`] with typed arguments and gets typed replies.
//!
//! ```
//! use ingrep::CancelToken;
//! use ingrep::tools::Tools;
//! use serde_json::json;
//!
//! let tools = Tools::new(env!("CARGO_MANIFEST_DIR"));
//! let arguments = json!({ "pattern": "^name = ", "path": "Cargo.toml" });
//! let reply = tools.call("grep", &arguments, &CancelToken::new())?;
//! assert!(reply.text.starts_with("Found "));
//! assert!(reply.text.contains("\n\nCargo.toml\nLine 2: name = \"ingrep\""));
//! assert_eq!(reply.data["files"][0]["path"], "Cargo.toml");
//! # Ok::<(), ingrep::tools::ToolError>(())
//! ```

mod anchor;
mod error;
mod explain;
mod glob;
mod grep;
mod input;
mod names;
mod preview;
mod reply;
mod schema;
mod spill;

pub use error::{ToolError, ToolErrorCode};
pub use input::{GlobInput, GrepInput, GrepOutput};
pub use preview::Window;
pub use reply::{FileGroup, GlobReply, GrepReply, MatchLine, Notes, Reply, Saved, ShownPath};
pub use schema::{Definition, definitions};
pub use spill::{DirSpill, SpillStore, Spilled};

use crate::cancel::{CancelToken, Stop};
use crate::duty::Duty;
use crate::error::Result;
use crate::limits::{Limits, WalkLimits};
use crate::matcher::PatternCache;
use crate::pool::Pool;
use crate::scope::{IgnoreRules, Order, Scope, SortBy};
use crate::text;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Why a reply says that the complete result could not be saved.
const NO_STORE: &str = "the complete result could not be saved: there is no spill store";

/// What a store has saved, if it has read all there was.
fn read_to_end(is_read: bool, spilled: Spilled) -> std::io::Result<Spilled> {
    match is_read {
        true => Ok(spilled),
        false => Err(std::io::Error::other("the store has not read all of it")),
    }
}

/// Which files the tools see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Walk {
    /// All but version control directories: hidden files, too, and whatever ignore files say.
    #[default]
    All,
    /// What a repository calls its files: ignore files are obeyed, hidden files left out.
    Repository,
    /// What a repository calls its files, and hidden ones that no ignore file excludes.
    RepositoryAndHidden,
}

/// The tools `glob` and `grep` over one working directory. Cheap to clone; usable from any thread.
///
/// Every option has the default that its method names.
#[derive(Clone)]
pub struct Tools {
    cwd: PathBuf,
    glob_max_results: u64,
    grep_max_matches: u64,
    grep_max_line_bytes: usize,
    raw_output_max_bytes: u64,
    meta_max_bytes: usize,
    timeout: Option<Duration>,
    sample_over_cap: bool,
    window: Window,
    walk: Walk,
    newest_first: bool,
    strict: bool,
    confine: Option<PathBuf>,
    spill: Option<Arc<dyn SpillStore>>,
    pool: Pool,
    limits: Limits,
    walk_limits: WalkLimits,
    cache: PatternCache,
}

/// The place that a call is about.
struct Found {
    root: PathBuf,
    is_file: bool,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl Tools {
    /// Tools that resolve paths against this directory, which should be absolute, and show paths
    /// relative to it.
    pub fn new(cwd: impl Into<PathBuf>) -> Tools {
        Tools {
            cwd: cwd.into(),
            glob_max_results: 100,
            grep_max_matches: 250,
            grep_max_line_bytes: 2_000,
            raw_output_max_bytes: 20_000_000,
            meta_max_bytes: 65_536,
            timeout: Some(Duration::from_secs(30)),
            sample_over_cap: false,
            window: Window::Head,
            walk: Walk::All,
            newest_first: false,
            strict: false,
            confine: None,
            spill: None,
            pool: Pool::default(),
            limits: Limits::new(),
            walk_limits: WalkLimits::new(),
            cache: PatternCache::new(),
        }
    }

    /// The most paths that one `glob` returns. Default: 100, as much as a model will look through.
    pub fn glob_max_results(mut self, paths: u64) -> Tools {
        self.glob_max_results = paths;
        self
    }

    /// The most matching lines that one `grep` returns. Default: 250.
    pub fn grep_max_matches(mut self, matches: u64) -> Tools {
        self.grep_max_matches = matches;
        self
    }

    /// The most bytes shown of one line; a cut never splits a character. Default: 2,000, so that
    /// 250 minified lines stay below half a megabyte.
    pub fn grep_max_line_bytes(mut self, bytes: usize) -> Tools {
        self.grep_max_line_bytes = bytes;
        self
    }

    /// The most bytes that the complete result may have, counted as ripgrep would have printed it:
    /// path and newline for `glob`, the `match` lines of `--json` for `grep`. Over it the call is
    /// [`RawOutputOverflow`](ToolErrorCode::RawOutputOverflow). Default: 20,000,000.
    pub fn raw_output_max_bytes(mut self, bytes: u64) -> Tools {
        self.raw_output_max_bytes = bytes;
        self
    }

    /// The most bytes of a reply's data as JSON; trailing files are left out of the data, not of
    /// the text, and counted. Default: 65,536.
    pub fn meta_max_bytes(mut self, bytes: usize) -> Tools {
        self.meta_max_bytes = bytes;
        self
    }

    /// How long one call may take. Default: 30 seconds.
    pub fn timeout(mut self, timeout: Option<Duration>) -> Tools {
        self.timeout = timeout;
        self
    }

    /// Whether a `glob` with too many results returns some from every top-level entry instead of
    /// the first ones. Default: no.
    pub fn sample_over_cap(mut self, yes: bool) -> Tools {
        self.sample_over_cap = yes;
        self
    }

    /// Which part of a long line is shown. Default: its [`Head`](Window::Head).
    pub fn window(mut self, window: Window) -> Tools {
        self.window = window;
        self
    }

    /// Which files the tools see. Default: [`Walk::All`].
    pub fn walk(mut self, walk: Walk) -> Tools {
        self.walk = walk;
        self
    }

    /// Whether results come newest modification first. Default: oldest first.
    pub fn newest_first(mut self, yes: bool) -> Tools {
        self.newest_first = yes;
        self
    }

    /// Whether a file or directory that cannot be read fails the call. Default: no, it is counted
    /// and named.
    pub fn strict(mut self, yes: bool) -> Tools {
        self.strict = yes;
        self
    }

    /// What a search may hold and build. Default: [`Limits::new`]. The caps on results are not for
    /// the tools, which have their own.
    pub fn limits(mut self, limits: Limits) -> Tools {
        self.limits = limits;
        self
    }

    /// How much a walk may read and hold. Default: [`WalkLimits::new`].
    pub fn walk_limits(mut self, limits: WalkLimits) -> Tools {
        self.walk_limits = limits;
        self
    }

    /// Where compiled patterns are kept from one call to the next. Default: a
    /// [cache](PatternCache::new) of their own, which clones share; one of
    /// [no patterns](PatternCache::max_patterns) keeps none.
    pub fn cache(mut self, cache: &PatternCache) -> Tools {
        self.cache = cache.clone();
        self
    }

    /// Refuses to search anything outside of this directory. Default: everything may be searched.
    ///
    /// Relative to the working directory. A `path` is resolved, links and all, before it is compared,
    /// and links inside the tree are not followed. On Linux this holds also against somebody who
    /// changes the tree during a search; see [`Scope::confine`].
    pub fn confine(mut self, root: impl Into<PathBuf>) -> Tools {
        self.confine = Some(self.cwd.join(root.into()));
        self
    }

    /// Where complete results are saved when a reply has no room for them. Default: nowhere.
    pub fn spill(mut self, store: impl SpillStore + 'static) -> Tools {
        self.spill = Some(Arc::new(store));
        self
    }

    /// The threads to work with. Default: those of [`Pool::default`].
    pub fn pool(mut self, pool: &Pool) -> Tools {
        self.pool = pool.clone();
        self
    }

    /// Lists files.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] of any code.
    ///
    /// ```
    /// use ingrep::CancelToken;
    /// use ingrep::tools::{GlobInput, Tools};
    ///
    /// let tools = Tools::new(env!("CARGO_MANIFEST_DIR"));
    /// let reply = tools.glob(&GlobInput::new("Cargo.*"), &CancelToken::new())?;
    /// assert!(reply.text.contains("Cargo.toml"));
    /// assert!(!reply.truncated);
    /// # Ok::<(), ingrep::tools::ToolError>(())
    /// ```
    pub fn glob(&self, input: &GlobInput, token: &CancelToken) -> Result<GlobReply, ToolError> {
        glob::glob(self, input, &self.limit_time(token))
    }

    /// Searches files.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] of any code.
    ///
    /// ```
    /// use ingrep::CancelToken;
    /// use ingrep::tools::{GrepInput, Tools};
    ///
    /// let tools = Tools::new(env!("CARGO_MANIFEST_DIR"));
    /// let input = GrepInput::new(r"pub struct \w+").path("src").include("*.rs");
    /// let reply = tools.grep(&input, &CancelToken::new())?;
    /// assert!(reply.total > 20);
    /// # Ok::<(), ingrep::tools::ToolError>(())
    /// ```
    pub fn grep(&self, input: &GrepInput, token: &CancelToken) -> Result<GrepReply, ToolError> {
        grep::grep(self, input, &self.limit_time(token))
    }

    /// Answers a call as a model makes it.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] of any code; a name that is no tool's is an
    /// [argument error](ToolErrorCode::InvalidArgument).
    pub fn call(
        &self,
        name: &str,
        arguments: &serde_json::Value,
        token: &CancelToken,
    ) -> Result<Reply, ToolError> {
        match name {
            "glob" => Ok(self.glob(&GlobInput::from_json(arguments)?, token)?.into_reply()),
            "grep" => Ok(self.grep(&GrepInput::from_json(arguments)?, token)?.into_reply()),
            _ => Err(ToolError::argument(format!("there is no tool `{name}`"))
                .next("The tools are `glob` and `grep`")),
        }
    }

    fn limit_time(&self, token: &CancelToken) -> CancelToken {
        match self.timeout {
            Some(timeout) => token.child().deadline_in(timeout),
            None => token.child(),
        }
    }

    /// Asks the system something, as long as there is time for it.
    fn in_time<T: Send + 'static>(
        &self,
        token: &CancelToken,
        ask: impl FnOnce(&Tools) -> T + Send + 'static,
    ) -> Result<Option<T>> {
        let duty = Duty::new(&self.pool, token)?;
        let tools = self.clone();
        duty.call(move || ask(&tools))
    }

    /// The place that a call names. `None` if the system does not come back with it.
    fn find(
        &self,
        tool: &'static str,
        path: Option<&str>,
        token: &CancelToken,
    ) -> Result<Option<Found>, ToolError> {
        let path = path.map(String::from);
        let find = move |tools: &Tools| {
            let root = tools.resolve(tool, path.as_deref())?;
            let is_file = root.is_file();
            Ok(Found { root, is_file })
        };
        let found = self.in_time(token, find);
        match found
            .map_err(|error| ToolError::new(ToolErrorCode::Failed, format!("{tool}: {error}")))?
        {
            Some(found) => found.map(Some),
            None => Ok(None),
        }
    }

    /// The place that a call names, absolute and without `.` and `..`.
    fn resolve(&self, tool: &str, path: Option<&str>) -> Result<PathBuf, ToolError> {
        let Some(path) = path else {
            self.check_confined(tool, &self.cwd)?;
            return Ok(self.cwd.clone());
        };
        let named = self.cwd.join(path);
        self.check_confined(tool, &named)?;
        // Names alone cannot tell where `..` leads from behind a link.
        let climbs = named.components().any(|part| part == Component::ParentDir);
        let resolved = climbs.then(|| named.canonicalize().ok()).flatten();
        Ok(match resolved {
            Some(resolved) => match (resolved.strip_prefix(self.real_cwd()), &self.cwd) {
                (Ok(below), cwd) => text::lexical(&cwd.join(below)),
                (Err(_), _) => resolved,
            },
            // `file/` is no file: the path is kept as it was written.
            None => named,
        })
    }

    fn real_cwd(&self) -> PathBuf {
        self.cwd.canonicalize().unwrap_or_else(|_| self.cwd.clone())
    }

    fn check_confined(&self, tool: &str, named: &Path) -> Result<(), ToolError> {
        let Some(root) = &self.confine else { return Ok(()) };
        let outside = || {
            let (named, root) = (named.display(), root.display());
            let message =
                format!("{tool}: {named} is outside of {root}, where searches are confined to");
            ToolError::new(ToolErrorCode::Failed, message).next("Give a path inside of it")
        };
        let root = root.canonicalize().map_err(|_| outside())?;
        match named.canonicalize() {
            Ok(real) if real.starts_with(&root) => Ok(()),
            Ok(_) => Err(outside()),
            // What does not exist is told as such, if it would lie inside.
            Err(_) if self.would_lie_in(named, &root) => Ok(()),
            Err(_) => Err(outside()),
        }
    }

    fn would_lie_in(&self, named: &Path, real_root: &Path) -> bool {
        // Behind a link that leads out, nothing may be said about what exists there.
        let real = named.ancestors().find_map(|above| above.canonicalize().ok());
        let named = text::lexical(named);
        let written = self.confine.as_deref().map(text::lexical);
        let inside =
            named.starts_with(real_root) || written.is_some_and(|root| named.starts_with(root));
        inside && real.is_some_and(|real| real.starts_with(real_root))
    }

    /// Says so when a place has files, and the walk leaves out all of them.
    fn excluded(&self, root: &Path, token: &CancelToken) -> Option<String> {
        if self.walk == Walk::All {
            return None;
        }
        let all = self.confined(Scope::new(root)).sort(SortBy::Nothing, Order::Ascending);
        let mut seen = self.scope(root).files(token).ok()?;
        let has_files = all.files(token).ok()?.next().is_some();
        (seen.next().is_none() && has_files)
            .then(|| String::from("all files here are excluded by ignore rules or hidden"))
    }

    /// The walk of a place.
    fn scope(&self, root: &Path) -> Scope {
        let order = if self.newest_first { Order::Descending } else { Order::Ascending };
        let scope = Scope::new(root).base(&self.cwd).glob_base(root).sort(SortBy::Modified, order);
        let scope = self.confined(scope);
        match self.walk {
            Walk::All => scope,
            Walk::Repository => scope.ignore(IgnoreRules::ripgrep()).hidden(false),
            Walk::RepositoryAndHidden => scope.ignore(IgnoreRules::ripgrep()),
        }
    }

    /// A scope of this tool, which stays where searches are confined to.
    fn confined(&self, scope: Scope) -> Scope {
        let scope = scope.pool(&self.pool).limits(self.walk_limits.clone());
        match &self.confine {
            // Elsewhere there is no walk that can promise it.
            Some(root) if cfg!(target_os = "linux") => scope.confine(root),
            _ => scope,
        }
    }

    /// A path as a reply shows it.
    fn shown(&self, path: &Path) -> ShownPath {
        ShownPath::new(text::relative(path, &self.cwd))
    }

    /// The error of a call whose walk or search had to skip something, if that is one.
    fn check_strict(&self, tool: &str, notes: &Notes) -> Result<(), ToolError> {
        match notes.skipped_first.first() {
            Some(first) if self.strict => {
                let total: u64 = notes.skipped.values().sum();
                let message = format!(
                    "{tool}: {total} files or directories were skipped, the first: {first}"
                );
                Err(ToolError::new(ToolErrorCode::Failed, message)
                    .next("Search where everything can be read"))
            }
            _ => Ok(()),
        }
    }

    fn overflow(&self, tool: &str) -> ToolError {
        let max = self.raw_output_max_bytes;
        let message = format!("{tool}: the complete result is over {max} bytes");
        ToolError::new(ToolErrorCode::RawOutputOverflow, message)
            .next("Narrow the pattern, the path or the files to include, and try again")
    }

    /// Stopped before anything was found.
    fn aborted_early(&self, tool: &str, token: &CancelToken, nothing: Reply) -> ToolError {
        self.aborted(tool, token.stop().unwrap_or(Stop::DeadlinePassed), nothing)
    }

    fn aborted(&self, tool: &str, stop: Stop, partial: Reply) -> ToolError {
        let why = match (stop, self.timeout) {
            (Stop::DeadlinePassed, Some(timeout)) => {
                format!("{tool}: the search was stopped at its deadline ({timeout:?} at most)")
            }
            (Stop::DeadlinePassed, None) => {
                format!("{tool}: the search was stopped at its deadline")
            }
            (Stop::Cancelled, _) => format!("{tool}: the search was cancelled"),
        };
        ToolError::new(ToolErrorCode::Aborted, why)
            .next("Narrow the pattern or the path, and try again")
            .with_partial(partial)
    }
}
