//! Which threads do the work: [`Pool`].

use std::fmt;
use std::sync::{Arc, OnceLock};

/// More threads than this make a directory walk slower, not faster; ripgrep stops there, too.
const MAX_DEFAULT_THREADS: usize = 12;

/// Starting thousands of threads takes a minute, and none of them gets to do anything.
const MAX_THREADS: usize = 256;

/// The threads that walk and search. Cheap to clone; clones share the threads.
///
/// The default pool is private to this crate, started by the first search that needs it, and as
/// wide as the machine up to 12 threads. Threads that cannot be had are done without, down to the
/// caller's own, so starting a pool never fails.
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
    workers: OnceLock<Option<rayon::ThreadPool>>,
}

impl Pool {
    /// A pool of this many threads, started when they are first needed. 0 stands for the machine's
    /// width, up to 12; more than 256 are never started. With 1 there is one worker beside the calling thread; see
    /// [`inline`](Pool::inline) for none.
    pub fn new(threads: usize) -> Pool {
        let wanted = match threads {
            0 => {
                std::thread::available_parallelism().map_or(1, usize::from).min(MAX_DEFAULT_THREADS)
            }
            threads => threads.min(MAX_THREADS),
        };
        Pool(Arc::new(Inner { wanted, workers: OnceLock::new() }))
    }

    /// No threads at all: everything happens on the thread that asks.
    pub fn inline() -> Pool {
        Pool(Arc::new(Inner { wanted: 0, workers: OnceLock::new() }))
    }

    /// How many threads work at once. Starts them, if that has not happened yet.
    pub fn threads(&self) -> usize {
        self.workers().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Whether work happens on the calling thread only: by wish, or because no thread could be
    /// started.
    pub fn is_inline(&self) -> bool {
        self.workers().is_none()
    }

    /// Hands a job to a worker. Gives it back when there is none.
    pub(crate) fn spawn<F: FnOnce() + Send + 'static>(&self, job: F) -> Result<(), F> {
        match self.workers() {
            Some(workers) => {
                workers.spawn(job);
                Ok(())
            }
            None => Err(job),
        }
    }

    fn workers(&self) -> Option<&rayon::ThreadPool> {
        let start = || (1..=self.0.wanted).rev().find_map(start_workers);
        self.0.workers.get_or_init(start).as_ref()
    }
}

fn start_workers(threads: usize) -> Option<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("ingrep-{index}"))
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
