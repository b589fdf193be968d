//! Which threads do the work: [`Pool`].

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// More threads than this make a directory walk slower, not faster; ripgrep stops there, too.
const MAX_DEFAULT_THREADS: usize = 12;

/// Starting thousands of threads takes a minute, and none of them gets to do anything.
const MAX_THREADS: usize = 256;

/// What a worker stands on, whatever the process was started with: without a size the standard library
/// reads one from the environment (`RUST_MIN_STACK`), and with a small one there a worker's overflow
/// would end the host. It is the standard library's own default. What `Limits::max_nesting` lets through
/// needs an eighth of it.
const WORKER_STACK_BYTES: usize = 2 << 20;

/// So many threads, left behind in a file system that does not answer, are a leak that a host can
/// bear. More would be started and lost with every call.
const MAX_STUCK_THREADS: usize = 8;

/// The threads that walk and search. Cheap to clone; clones share the threads.
///
/// The default pool is private to this crate, started by the first search that needs it, and as
/// wide as the machine up to 12 threads. Threads that cannot be had are done without, down to the
/// caller's own, so starting a pool never fails.
///
/// When the last clone is dropped the threads are told to end, which they do by themselves within
/// moments, as soon as they are done with what they are at. Nobody waits for that: a process that ends
/// right afterwards may end with some of them still there.
///
/// ```
/// use ingrep::{CancelToken, Pool, Scope};
///
/// let alone = Pool::inline();
/// assert_eq!(alone.threads(), 1);
/// let files = Scope::new("src").pool(&alone).files(&CancelToken::new())?;
/// assert!(files.count() > 5);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    /// 0 for the caller's own thread.
    wanted: usize,
    workers: Mutex<Workers>,
    stuck: Arc<Stuck>,
}

struct Stuck {
    /// Workers that a call did not wait for, and that have not come back.
    now: AtomicUsize,
    most: AtomicUsize,
}

#[derive(Default)]
struct Workers {
    /// `Some(None)` if none could be started.
    started: Option<Option<Arc<rayon::ThreadPool>>>,
    /// The process that started them: a forked child has none of its parent's threads.
    process: u32,
}

impl Pool {
    /// A pool of this many threads, started when they are first needed. 0 stands for the machine's
    /// width, up to 12; more than 256 are never started. With 1 there is one worker beside the
    /// calling thread; see [`inline`](Pool::inline) for none.
    pub fn new(threads: usize) -> Pool {
        Pool::of(match threads {
            0 => {
                std::thread::available_parallelism().map_or(1, usize::from).min(MAX_DEFAULT_THREADS)
            }
            threads => threads.min(MAX_THREADS),
        })
    }

    /// No threads at all: everything happens on the thread that asks.
    pub fn inline() -> Pool {
        Pool::of(0)
    }

    fn of(wanted: usize) -> Pool {
        let stuck = Stuck { now: AtomicUsize::new(0), most: AtomicUsize::new(MAX_STUCK_THREADS) };
        Pool(Arc::new(Inner { wanted, workers: Mutex::default(), stuck: Arc::new(stuck) }))
    }

    /// Another pool, for one call on so many threads. What is stuck of it is stuck of this one.
    pub(crate) fn beside(&self, threads: usize) -> Pool {
        let (wanted, stuck) = (threads.min(MAX_THREADS), Arc::clone(&self.0.stuck));
        Pool(Arc::new(Inner { wanted, workers: Mutex::default(), stuck }))
    }

    /// How many threads work at once. Starts them, if that has not happened yet.
    pub fn threads(&self) -> usize {
        self.workers().map_or(1, |workers| workers.current_num_threads())
    }

    /// Whether work happens on the calling thread only: by wish, or because no thread could be
    /// started.
    pub fn is_inline(&self) -> bool {
        self.workers().is_none()
    }

    /// Whether this thread is one of the pool's own.
    pub(crate) fn is_called_by_a_worker(&self) -> bool {
        self.workers().is_some_and(|workers| workers.current_thread_index().is_some())
    }

    /// How many threads were left behind by calls whose deadline had passed, and have not come back
    /// since: they wait for a file system that does not answer. Others are started in their place.
    ///
    /// ```
    /// assert_eq!(ingrep::Pool::new(2).stuck_threads(), 0);
    /// ```
    pub fn stuck_threads(&self) -> usize {
        self.0.stuck.now.load(Ordering::Relaxed)
    }

    /// With so many threads left behind, further calls with a deadline are refused with
    /// [`ThreadsStuck`](crate::ErrorCode::ThreadsStuck). Default: 8. It holds for all clones of the pool.
    pub fn max_stuck_threads(self, threads: usize) -> Pool {
        self.0.stuck.most.store(threads, Ordering::Relaxed);
        self
    }

    pub(crate) fn may_get_stuck(&self) -> usize {
        self.0.stuck.most.load(Ordering::Relaxed)
    }

    /// Does without so many threads from now on, which are busy with jobs that nobody waits for any
    /// more. Jobs that come later get other ones.
    pub(crate) fn leave_behind(&self, threads: usize) {
        self.0.stuck.now.fetch_add(threads, Ordering::Relaxed);
        let left = self.lock().started.take();
        drop(left);
    }

    /// One of those is done.
    pub(crate) fn has_come_back(&self) {
        self.0.stuck.now.fetch_sub(1, Ordering::Relaxed);
    }

    /// Hands a job to a worker, which holds what `begin` returns as long as it is at work. Gives the
    /// job back when there is no worker.
    pub(crate) fn spawn<F: FnOnce() + Send + 'static, G>(
        &self,
        begin: impl FnOnce() -> G + Send + 'static,
        job: F,
    ) -> Result<(), F> {
        match self.workers() {
            Some(workers) => {
                workers.spawn(move || {
                    let _at_work = begin();
                    job();
                });
                Ok(())
            }
            None => Err(job),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Workers> {
        self.0.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn workers(&self) -> Option<Arc<rayon::ThreadPool>> {
        if self.0.wanted == 0 {
            return None;
        }
        let mut workers = self.lock();
        let process = process();
        if workers.process != process {
            // To end them would be to wait for threads that are not there.
            std::mem::forget(workers.started.take());
            workers.process = process;
        }
        let start = || (1..=self.0.wanted).rev().find_map(start_workers).map(Arc::new);
        workers.started.get_or_insert_with(start).clone()
    }
}

/// Only where a process can fork is there another number to expect; on WASI to ask for it is a panic.
fn process() -> u32 {
    if cfg!(unix) { std::process::id() } else { 0 }
}

fn start_workers(threads: usize) -> Option<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(WORKER_STACK_BYTES)
        .thread_name(|index| format!("ingrep-{index}"))
        // Jobs catch what they panic with and tell it; without a handler the process would end if
        // one did not.
        .panic_handler(drop)
        .build()
        .ok()
}

impl Default for Pool {
    fn default() -> Pool {
        static SHARED: OnceLock<Pool> = OnceLock::new();
        SHARED.get_or_init(|| Pool::new(0)).clone()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("wanted", &self.0.wanted).finish_non_exhaustive()
    }
}

/// What a job panicked with.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
        .to_string()
}
