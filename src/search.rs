//! The engine: a compiled [`Query`] over a [`Scope`], under [`Limits`].

use crate::cancel::{CancelToken, Stop};
use crate::chunks::{self, Help, Lend};
use crate::collect::{Collector, End, Outcome, Summary};
use crate::error::{Diagnostic, Error, ErrorCode, Reason, Result};
use crate::haystack::{self, OpenError, Place};
use crate::hunt::{Held, Hunt, Room, Size, Worked};
use crate::limits::Limits;
use crate::matcher::{Matcher, PatternCache};
use crate::matches::{FileMatches, LineKind};
use crate::ordered::{Lost, Ordered, Weigh};
use crate::pool::Pool;
use crate::query::Query;
use crate::scan::{Scanned, Scanner, Visit};
use crate::scope::{Order, Scope, SortBy};
use crate::walk::{self, FileEntry, Files};
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A query on its way to a [`Search`]: begun by [`Query::scope`] or [`Query::limits`], ended by
/// [`compile`](SearchBuilder::compile).
#[derive(Clone, Debug)]
pub struct SearchBuilder {
    query: Query,
    scope: Option<Scope>,
    limits: Limits,
    cache: Option<PatternCache>,
}

impl Query {
    /// Looks in this scope.
    pub fn scope(self, scope: Scope) -> SearchBuilder {
        SearchBuilder::new(self).scope(scope)
    }

    /// Looks under these limits.
    pub fn limits(self, limits: Limits) -> SearchBuilder {
        SearchBuilder::new(self).limits(limits)
    }

    /// Compiles a query without a scope, to search bytes and single files with.
    ///
    /// # Errors
    ///
    /// As for [`SearchBuilder::compile`].
    pub fn compile(self) -> Result<Search> {
        SearchBuilder::new(self).compile()
    }
}

impl SearchBuilder {
    fn new(query: Query) -> SearchBuilder {
        SearchBuilder { query, scope: None, limits: Limits::default(), cache: None }
    }

    /// Where to look. Default: nowhere; only single files and bytes can then be searched.
    pub fn scope(mut self, scope: Scope) -> SearchBuilder {
        self.scope = Some(scope);
        self
    }

    /// How much to keep, hold and build. Default: [`Limits::new`].
    pub fn limits(mut self, limits: Limits) -> SearchBuilder {
        self.limits = limits;
        self
    }

    /// Takes the compiled patterns from this cache if they are there, and else leaves them there.
    /// Default: none.
    pub fn cache(mut self, cache: &PatternCache) -> SearchBuilder {
        self.cache = Some(cache.clone());
        self
    }

    /// Compiles the patterns and checks the options. Nothing is read.
    ///
    /// # Errors
    ///
    /// [`EmptyPattern`](ErrorCode::EmptyPattern), [`InvalidPattern`](ErrorCode::InvalidPattern),
    /// [`PatternTooLarge`](ErrorCode::PatternTooLarge),
    /// [`UnknownEncoding`](ErrorCode::UnknownEncoding) and
    /// [`InvalidOption`](ErrorCode::InvalidOption).
    ///
    /// ```
    /// use ingrep::{ErrorCode, Query};
    ///
    /// let error = Query::new("a{1000}{1000}").compile().unwrap_err();
    /// assert_eq!(error.code(), ErrorCode::PatternTooLarge);
    /// ```
    pub fn compile(self) -> Result<Search> {
        self.query.check()?;
        self.compile_unchecked()
    }

    /// Compiles combinations of options, too, that the engine does not get right.
    pub(crate) fn compile_unchecked(self) -> Result<Search> {
        let SearchBuilder { query, scope, limits, cache } = self;
        if limits.max_line_buffer_bytes == 0 || limits.max_multi_line_bytes == 0 {
            let message = "with no room for a line nothing can be searched";
            return Err(Error::new(ErrorCode::InvalidOption, message)
                .with_hint("raise `Limits::max_line_buffer_bytes` or `max_multi_line_bytes`"));
        }
        let (context, max) =
            (query.before_context.max(query.after_context), limits.max_context_lines);
        if context > max {
            let message = format!("{context} context lines are over max_context_lines ({max})");
            return Err(Error::new(ErrorCode::InvalidOption, message)
                .with_hint("ask for fewer, or raise `Limits::max_context_lines`"));
        }
        let matcher = match cache {
            Some(cache) => cache.compile(&query, &limits)?,
            None => Matcher::compile(&query, &limits)?,
        };
        // The first scanner finds what else is wrong with the query, and is the first to be used.
        let scanner = Scanner::new(&query, &limits, matcher.clone())?;
        let engine = Engine { query, limits, matcher, idle: Mutex::new(vec![scanner]) };
        Ok(Search { engine: Arc::new(engine), scope })
    }
}

/// What every worker of a search shares.
struct Engine {
    query: Query,
    limits: Limits,
    matcher: Matcher,
    /// Scanners that wait for work. A worker takes one, or makes one, and brings it back.
    idle: Mutex<Vec<Scanner>>,
}

impl Engine {
    fn with_scanner<T>(&self, work: impl FnOnce(&mut Scanner) -> T) -> Result<T> {
        let idle = lock(&self.idle).pop();
        let mut scanner = match idle {
            Some(scanner) => scanner,
            None => Scanner::new(&self.query, &self.limits, self.matcher.clone())?,
        };
        // A panic drops the scanner with whatever state it was left in.
        let done = work(&mut scanner);
        lock(&self.idle).push(scanner);
        Ok(done)
    }
}

impl Lend for Engine {
    fn lend(&self, work: impl FnOnce(&mut Scanner)) {
        // Without a scanner there is no help, and the search is only slower.
        let _ = self.with_scanner(work);
    }
}

/// A compiled search. Cheap to clone, usable from any thread, any number of times and by any
/// number of threads at once.
///
/// ```
/// use ingrep::{CancelToken, Query, Scope};
///
/// let search = Query::new(r"^pub struct \w+").scope(Scope::new("src").glob("*.rs")).compile()?;
/// let outcome = search.collect(&CancelToken::new())?;
/// assert!(outcome.files.iter().any(|file| file.path.ends_with("scope.rs")));
/// assert_eq!(outcome.summary.end, ingrep::End::Complete);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone)]
pub struct Search {
    engine: Arc<Engine>,
    scope: Option<Scope>,
}

impl Search {
    /// Searches the scope and keeps what the [`Limits`] have room for. The totals are of
    /// everything, unless [`stop_early`](Limits::stop_early) is on.
    ///
    /// A cancelled run, or one whose deadline passed, returns what it has found and says so in
    /// [`Summary::end`]. Files are searched where the walk finds them, so that need not be the
    /// beginning of what it would have found.
    ///
    /// In a scope without an order, the files of a result without limits come in the order of their
    /// paths. A run with [`stop_early`](Limits::stop_early) passes over files that come after all that
    /// it keeps; how many it has searched, and how many bytes, then depends on its threads.
    ///
    /// # Errors
    ///
    /// [`NoRoot`](ErrorCode::NoRoot) without a scope, and all that [`Scope::files`] can return.
    /// Trouble with a single file or directory is a diagnostic in the summary.
    pub fn collect(&self, token: &CancelToken) -> Result<Outcome> {
        let limits = &self.engine.limits;
        let head = Room::Head {
            files: limits.max_files,
            lines: limits.max_lines,
            bytes: limits.max_output_bytes,
        };
        let keeps_everything =
            [limits.max_files, limits.max_lines, limits.max_output_bytes] == [u64::MAX; 3];
        let mut matches = match (limits.stop_early, keeps_everything) {
            (true, _) => self.search(token, head)?,
            (false, true) => self.search(token, Room::All)?,
            (false, false) => self.stream(token)?,
        };
        let mut collector = Collector::new(&self.engine.limits);
        while let Some(found) = matches.next_told() {
            if collector.push(found).is_break() {
                break;
            }
            if collector.full().is_some() {
                matches.count_only.store(true, Ordering::Relaxed);
            }
        }
        Ok(collector.finish(matches.into_summary()))
    }

    /// Searches the scope and hands over each file with reported lines, in the order of the scope,
    /// on the calling thread. Break ends the run with [`End::Stopped`].
    ///
    /// Files are searched while the scope is walked, until 4 MiB of results wait for their place in the
    /// order; the others when it is their turn. So memory does not grow with the result.
    ///
    /// # Errors
    ///
    /// As for [`collect`](Search::collect).
    ///
    /// ```
    /// use ingrep::{CancelToken, End, Query, Scope};
    /// use std::ops::ControlFlow;
    ///
    /// let search = Query::new("fn").scope(Scope::new("src")).compile()?;
    /// let summary = search.for_each(&CancelToken::new(), |found| {
    ///     assert!(found.lines_matched > 0);
    ///     ControlFlow::Break(())
    /// })?;
    /// assert_eq!(summary.end, End::Stopped);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn for_each(
        &self,
        token: &CancelToken,
        mut each: impl FnMut(FileMatches) -> ControlFlow<()>,
    ) -> Result<Summary> {
        let mut matches = self.stream(token)?;
        for found in matches.by_ref() {
            if each(found).is_break() {
                break;
            }
        }
        Ok(matches.into_summary())
    }

    /// Searches the scope as the returned iterator is asked, and part of it before, as
    /// [`for_each`](Search::for_each) does. Dropping it stops the search.
    ///
    /// # Errors
    ///
    /// As for [`collect`](Search::collect).
    ///
    /// ```
    /// use ingrep::{CancelToken, Query, Scope};
    ///
    /// let search = Query::new("fn").scope(Scope::new("src")).compile()?;
    /// let mut matches = search.stream(&CancelToken::new())?;
    /// let first = matches.next().unwrap();
    /// assert!(first.lines().count() > 0);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn stream(&self, token: &CancelToken) -> Result<Matches> {
        self.search(token, Room::Bytes(STREAM_HELD_BYTES))
    }

    /// Searches while the scope is walked as long as there is room for what is found, then file by
    /// file as the returned iterator is asked.
    fn search(&self, token: &CancelToken, room: Room) -> Result<Matches> {
        let started = Instant::now();
        let Some(scope) = &self.scope else {
            return Err(Error::new(ErrorCode::NoRoot, "the search has no scope")
                .with_hint("give the query a scope before it is compiled"));
        };
        let own = token.child();
        let worker = Arc::new(Worker {
            engine: Arc::clone(&self.engine),
            scope: scope.clone(),
            token: own.clone(),
            count_only: Arc::default(),
        });
        let count_only = Arc::clone(&worker.count_only);
        let mut summary = Summary::new(self.engine.limits.max_diagnostics);
        let (mut held, mut files) = (Vec::new(), None);
        let mut ends_with_token = false;
        let scope = match (scope.sort_by, room) {
            // Who waits for everything can have it in an order.
            (SortBy::Nothing, Room::All) => scope.clone().sort(SortBy::Path, scope.order),
            _ => scope.clone(),
        };
        if scope.can_be_visited() && scope.sort_by != SortBy::Nothing {
            let hunter =
                Hunter { worker: Arc::clone(&worker), passed: Mutex::new(summary.clone()) };
            let hunter = Arc::new(hunter);
            let theirs = Arc::clone(&hunter);
            let hunt = Hunt::new((scope.sort_by, scope.order), room, move |place, path| {
                theirs.hunt(place, path)
            });
            let hunt = Arc::new(hunt);
            let visitor: Arc<Hunt<Searched>> = Arc::clone(&hunt);
            let left = scope.visit(token, visitor)?;
            // What a stopped walk has found is handed over; who stops later has had enough.
            ends_with_token = !left.has_stopped() && matches!(room, Room::Bytes(_));
            files = Some(left);
            held = hunt.take();
            summary.add_counts(&lock(&hunter.passed));
            summary.files_walked = hunt.taken();
        }
        let files = match files {
            Some(files) => files,
            None => scope.files(token)?,
        };
        // What is held only has to be handed over.
        let is_over = !held.is_empty() && files.size_hint().1 == Some(0);
        let pool = if is_over { Pool::inline() } else { scope.pool.clone() };
        let sorted = (scope.sort_by, scope.order);
        let feed = Feed::new(held, files, sorted, (own.clone(), ends_with_token));
        let results =
            Ordered::new(feed, &pool, &own, move |quarry: &Quarry| quarry.search(&worker))?;
        Ok(Matches { results, own, count_only, stopped: None, ended: false, summary, started })
    }

    /// Searches bytes in memory under the given name, as a file that the caller named.
    ///
    /// # Errors
    ///
    /// [`LimitExceeded`](ErrorCode::LimitExceeded) when a line, or for a search across lines all
    /// of it, is over its limit and has to be decoded first;
    /// [`Internal`](ErrorCode::Internal) for a fault of ours.
    pub fn search_slice(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<FileMatches> {
        self.search_one(name.as_ref(), |scanner, visit| scanner.scan_slice(bytes, visit))
    }

    /// Searches one file, named by a path that the operating system can resolve.
    ///
    /// # Errors
    ///
    /// [`RootNotFound`](ErrorCode::RootNotFound), [`RootUnreadable`](ErrorCode::RootUnreadable),
    /// [`SpecialFile`](ErrorCode::SpecialFile), [`Io`](ErrorCode::Io),
    /// [`LimitExceeded`](ErrorCode::LimitExceeded) and [`Internal`](ErrorCode::Internal).
    ///
    /// ```
    /// let search = ingrep::Query::new("^name").compile()?;
    /// let found = search.search_file("Cargo.toml")?;
    /// assert_eq!(found.lines().next().unwrap().bytes, b"name = \"ingrep\"\n");
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn search_file(&self, path: impl AsRef<Path>) -> Result<FileMatches> {
        let path = path.as_ref();
        self.search_one(path, |scanner, visit| scanner.scan_file(Place::Path(path.into()), visit))
    }

    /// Lets a scanner of this search work.
    pub(crate) fn with_scanner<T>(&self, work: impl FnOnce(&mut Scanner) -> T) -> Result<T> {
        self.engine.with_scanner(work)
    }

    /// Lets one scanner of this search work on a file, and others of them help on this pool.
    pub(crate) fn scan_file(
        &self,
        scanner: &mut Scanner,
        at: Place<'_>,
        visit: &mut Visit<'_>,
        pool: &Pool,
    ) -> Scanned {
        chunks::scan_file(scanner, at, visit, &Help { pool, lender: &self.engine })
    }

    fn search_one(
        &self,
        path: &Path,
        scan: impl FnOnce(&mut Scanner, &mut Visit<'_>) -> Scanned,
    ) -> Result<FileMatches> {
        let token = CancelToken::new();
        let mut visit = Visit::new(path, true, &token);
        let scanned = self.engine.with_scanner(|scanner| scan(scanner, &mut visit))?;
        match scanned.trouble {
            None => Ok(scanned.found),
            Some(trouble) => Err(refused(trouble, scanned.opened)),
        }
    }
}

/// What a run survives, but a call for one file does not.
fn refused(trouble: Diagnostic, opened: bool) -> Error {
    let (code, hint) = match trouble.reason {
        Reason::NotFound if !opened => (ErrorCode::RootNotFound, "check the spelling"),
        Reason::PermissionDenied if !opened => (ErrorCode::RootUnreadable, "check its permissions"),
        Reason::SpecialFile => (ErrorCode::SpecialFile, "only regular files are read"),
        Reason::TooLarge => (ErrorCode::LimitExceeded, "raise the limit that the message names"),
        Reason::Internal => (ErrorCode::Internal, "please report this"),
        _ => (ErrorCode::Io, "the message is the operating system's"),
    };
    let error = Error::new(code, trouble.message).with_hint(hint);
    match trouble.path {
        Some(path) => error.with_path(path),
        None => error,
    }
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search")
            .field("query", &self.engine.query)
            .field("scope", &self.scope)
            .field("limits", &self.engine.limits)
            .finish()
    }
}

/// A file of more bytes than that is searched when it is its turn: a walk goes on meanwhile. Opening it
/// again is nothing against searching it.
const LARGE_BYTES: u64 = 1 << 20;

/// How many bytes of results wait for their place in the order before files are only listed, to be
/// searched when it is their turn: so a stream of rare matches never waits for files to be opened by
/// their paths, and one of frequent matches holds little.
const STREAM_HELD_BYTES: usize = 4 << 20;

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a worker needs to search a listed file.
struct Worker {
    engine: Arc<Engine>,
    scope: Scope,
    token: CancelToken,
    count_only: Arc<AtomicBool>,
}

enum Searched {
    Scanned(Box<Scanned>),
    /// The token had stopped before the file's turn.
    NotBegun(Stop),
    Failed(Error),
}

impl Worker {
    fn scan(&self, file: &FileEntry) -> Searched {
        if let Some(stop) = self.token.stop() {
            return Searched::NotBegun(stop);
        }
        let mut visit = Visit::new(&file.path, file.explicit, &self.token);
        visit.count_only = self.count_only.load(Ordering::Relaxed).then_some("max_lines");
        let place = file.place(&self.scope);
        let help = Help { pool: &self.scope.pool, lender: &self.engine };
        let scan = |scanner: &mut Scanner| chunks::scan_file(scanner, place, &mut visit, &help);
        self.searched(self.engine.with_scanner(scan))
    }

    fn searched(&self, scanned: Result<Scanned>) -> Searched {
        match scanned {
            Ok(scanned) => {
                if let (true, Some(progress)) = (scanned.opened, &self.scope.progress) {
                    progress.search_one();
                }
                Searched::Scanned(Box::new(scanned))
            }
            Err(error) => Searched::Failed(error),
        }
    }
}

/// Searches files where a walk finds them.
struct Hunter {
    worker: Arc<Worker>,
    /// What there is to tell of the files without lines.
    passed: Mutex<Summary>,
}

impl Hunter {
    fn hunt(&self, place: Place<'_>, path: &Path) -> Worked<Searched> {
        let worker = &self.worker;
        let mut modified = None;
        let scanned = match haystack::open(place) {
            // There are fewer files open when the walk is over.
            Err(OpenError::Io(error)) if haystack::is_shortage(&error) => return Worked::Later,
            Err(error) => Ok(Scanned::unopened(path, &error)),
            // Nobody should wait for it whose turn is before it.
            Ok(haystack) if haystack.bytes > LARGE_BYTES => return Worked::Later,
            Ok(haystack) => {
                modified = haystack.modified;
                let mut visit = Visit::new(path, false, &worker.token);
                worker.engine.with_scanner(|scanner| scanner.scan_open(&haystack, &mut visit))
            }
        };
        let searched = worker.searched(scanned);
        let Searched::Scanned(scanned) = &searched else {
            return Worked::Something { result: searched, size: Size::default(), modified };
        };
        let found = &scanned.found;
        let is_told = scanned.trouble.is_some() || scanned.stopped.is_some();
        if found.is_empty() && found.limit.is_none() && !is_told {
            let mut passed = lock(&self.passed);
            passed.files_searched += u64::from(scanned.opened);
            passed.count(found);
            return Worked::Nothing;
        }
        let bytes: usize = found.lines().map(|line| line.bytes.len()).sum();
        let size = Size {
            files: u64::from(!found.is_empty()),
            lines: found.lines().filter(|line| line.kind == LineKind::Match).count() as u64,
            bytes: (bytes + path.as_os_str().len()) as u64,
            is_last: found.limit.is_some(),
        };
        Worked::Something { result: searched, size, modified }
    }
}

impl Weigh for Searched {
    fn weight(&self) -> usize {
        match self {
            Searched::Scanned(scanned) => scanned.found.held_bytes(),
            Searched::NotBegun(_) | Searched::Failed(_) => 0,
        }
    }
}

/// A file to be searched, or that has been searched during the walk.
struct Quarry {
    file: FileEntry,
    held: Mutex<Option<Searched>>,
}

impl Quarry {
    fn new(file: FileEntry, held: Option<Searched>) -> Quarry {
        Quarry { file, held: Mutex::new(held) }
    }

    fn search(&self, worker: &Worker) -> Searched {
        let held = lock(&self.held).take();
        held.unwrap_or_else(|| worker.scan(&self.file))
    }
}

/// The files of the walk, until the token stops, and between them what was found during the walk.
struct Feed {
    held: Peekable<std::vec::IntoIter<Held<Searched>>>,
    files: Files,
    next: Option<FileEntry>,
    sorted: (SortBy, Order),
    token: CancelToken,
    /// Whether what is held is not handed over any more, either, when the token stops.
    ends_with_token: bool,
    left_undone: Option<Stop>,
}

impl Feed {
    fn new(
        held: Vec<Held<Searched>>,
        files: Files,
        sorted: (SortBy, Order),
        (token, ends_with_token): (CancelToken, bool),
    ) -> Feed {
        let held = held.into_iter().peekable();
        Feed { held, files, next: None, sorted, token, ends_with_token, left_undone: None }
    }

    fn next_file(&mut self) -> Option<FileEntry> {
        if self.left_undone.is_some() {
            return None;
        }
        // A stop that comes when all is done has stopped nothing; so it is asked about when there is
        // a file, and before that only if one is known to be there.
        if self.files.size_hint().0 > 0 {
            self.left_undone = self.token.stop();
            if self.left_undone.is_some() {
                return None;
            }
        }
        let file = self.files.next()?;
        self.left_undone = self.token.stop();
        self.left_undone.is_none().then_some(file)
    }
}

impl Iterator for Feed {
    type Item = Quarry;

    fn next(&mut self) -> Option<Quarry> {
        self.next = self.next.take().or_else(|| self.next_file());
        if self.ends_with_token
            && self.held.peek().is_some()
            && let Some(stop) = self.token.stop()
        {
            self.left_undone = self.left_undone.or(Some(stop));
            self.held = Vec::new().into_iter().peekable();
        }
        let (by, order) = self.sorted;
        let held = self.held.next_if(|held| match &self.next {
            Some(file) => walk::compare(&held.file, file, by, order).is_lt(),
            None => true,
        });
        match held {
            Some(Held { file, result, .. }) => Some(Quarry::new(file, Some(result))),
            None => Some(Quarry::new(self.next.take()?, None)),
        }
    }
}

/// The results of a search in the order of its scope; made by [`Search::stream`].
///
/// An iterator of [`FileMatches`]: the files with reported lines. After it ended, and at any time
/// before, [`into_summary`](Matches::into_summary) tells how the run went.
pub struct Matches {
    results: Ordered<Feed, Searched>,
    /// Stopped when this value goes: nobody wants the rest.
    own: CancelToken,
    count_only: Arc<AtomicBool>,
    stopped: Option<Stop>,
    ended: bool,
    summary: Summary,
    started: Instant,
}

impl Matches {
    /// How the run went, up to here. A run that was not read to its end was
    /// [stopped](End::Stopped).
    ///
    /// ```
    /// use ingrep::{CancelToken, End, Query, Scope};
    ///
    /// let search = Query::new("no such thing").scope(Scope::new("Cargo.toml")).compile()?;
    /// let mut matches = search.stream(&CancelToken::new())?;
    /// assert!(matches.next().is_none());
    /// let summary = matches.into_summary();
    /// assert_eq!((summary.end, summary.files_searched), (End::Complete, 1));
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn into_summary(mut self) -> Summary {
        let feed = self.results.items();
        self.stopped = self.stopped.or(feed.left_undone);
        let mut summary = std::mem::replace(&mut self.summary, Summary::new(0));
        let walk = feed.files.take_summary();
        summary.files_walked += walk.files;
        summary.diagnostics.merge(walk.diagnostics);
        let stopped = self.stopped.or(walk.stopped);
        summary.end = match stopped {
            Some(stop) => stop.into(),
            None if !self.ended => End::Stopped,
            None if summary.limit.is_some() => End::Limit,
            None => End::Complete,
        };
        summary.totals_exact = stopped.is_none() && self.ended;
        summary.elapsed = self.started.elapsed();
        summary
    }

    fn take(&mut self, file: &FileEntry, searched: Searched) -> Option<FileMatches> {
        let scanned = match searched {
            Searched::Scanned(scanned) => *scanned,
            Searched::NotBegun(stop) => {
                self.stopped = self.stopped.or(Some(stop));
                return None;
            }
            Searched::Failed(error) => {
                self.fault(&file.path, error.to_string());
                return None;
            }
        };
        self.stopped = self.stopped.or(scanned.stopped);
        self.summary.files_searched += u64::from(scanned.opened);
        if let Some(trouble) = scanned.trouble {
            self.summary.diagnostics.push(trouble);
        }
        self.summary.count(&scanned.found);
        self.summary.limit = self.summary.limit.or(scanned.found.limit);
        Some(scanned.found)
    }

    /// The next file with reported lines, or with lines that a limit left out.
    fn next_told(&mut self) -> Option<FileMatches> {
        loop {
            let Some((quarry, searched)) = self.results.next() else {
                self.ended = true;
                return None;
            };
            let file = &quarry.file;
            let found = match searched {
                Ok(searched) => self.take(file, searched),
                Err(lost) => {
                    self.lose(&file.path, lost);
                    None
                }
            };
            if let Some(found) = found
                && (!found.is_empty() || found.limit.is_some())
            {
                return Some(found);
            }
        }
    }

    fn lose(&mut self, path: &Path, lost: Lost) {
        match lost {
            Lost::Panicked(message) => self.fault(path, format!("the search panicked: {message}")),
            Lost::Stuck => {
                self.stopped = self.stopped.or(self.own.stop());
                let message = "the system had not come back with it when the search had to end";
                self.summary.diagnostics.push(Diagnostic::new(path, Reason::Stuck, message));
            }
            Lost::NotBegun => self.stopped = self.stopped.or(self.own.stop()),
        }
    }

    fn fault(&mut self, path: &Path, message: String) {
        self.summary.diagnostics.push(Diagnostic::new(path, Reason::Internal, message));
    }
}

impl Iterator for Matches {
    type Item = FileMatches;

    fn next(&mut self) -> Option<FileMatches> {
        loop {
            let found = self.next_told()?;
            if !found.is_empty() {
                return Some(found);
            }
        }
    }
}

impl Drop for Matches {
    fn drop(&mut self) {
        self.own.cancel();
    }
}

impl std::fmt::Debug for Matches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matches").field("summary", &self.summary).finish_non_exhaustive()
    }
}
