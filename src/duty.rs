//! What one call gives to a [`Pool`], and how long it waits for it: [`Duty`].

use crate::cancel::{CancelToken, Stop};
use crate::error::{Error, ErrorCode, Result};
use crate::pool::{Pool, panic_message};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after a deadline a call still waits for its workers, which look at the token much more
/// often. What they hold by then is lost, so it is as long as the promise of 100 ms allows.
const GRACE: Duration = Duration::from_millis(75);

/// What a worker gets to hand over what it holds, however late somebody asks for it.
const LEAST_GRACE: Duration = Duration::from_millis(20);

/// Nobody has set a time for a cancelled call, so it can wait for workers on a busy machine.
const GRACE_OF_CANCELLED: Duration = Duration::from_secs(1);

/// How often a call that waits looks whether it has been cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// The jobs of one call.
///
/// They own what they need, so that the call can come back without one that does not. The thread of
/// such a job counts as stuck until it is done, and the pool starts another in its place. Clones are
/// of the same call.
#[derive(Clone)]
pub(crate) struct Duty {
    token: CancelToken,
    jobs: Arc<Jobs>,
}

struct Jobs {
    pool: Pool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: usize,
    given_up: bool,
}

impl Duty {
    /// # Errors
    ///
    /// [`ThreadsStuck`](ErrorCode::ThreadsStuck)
    pub(crate) fn new(pool: &Pool, token: &CancelToken) -> Result<Duty> {
        let (stuck, most) = (pool.stuck_threads(), pool.may_get_stuck());
        if stuck > 0 && stuck >= most {
            let message =
                format!("{stuck} threads are stuck in the system, max_stuck_threads is {most}");
            return Err(Error::new(ErrorCode::ThreadsStuck, message).with_hint(
                "a file system does not answer: leave it out, or raise `Pool::max_stuck_threads`",
            ));
        }
        let jobs = Jobs { pool: pool.clone(), state: Mutex::default() };
        Ok(Duty { token: token.clone(), jobs: Arc::new(jobs) })
    }

    /// Whether the call has to come back at a time, whatever becomes of its work. The caller's
    /// thread then does nothing that could wait for the system. A worker of the same pool cannot
    /// wait for workers: it may be the only one.
    pub(crate) fn is_hard(&self) -> bool {
        let (pool, wants) = (&self.jobs.pool, self.token.deadline_at().is_some());
        wants && !pool.is_inline() && !pool.is_called_by_a_worker()
    }

    /// Hands a job to a worker. Gives it back when there is none.
    pub(crate) fn spawn<F: FnOnce() + Send + 'static>(&self, job: F) -> Result<(), F> {
        let jobs = Arc::clone(&self.jobs);
        self.jobs.pool.spawn(move || Running::begin(jobs), job)
    }

    /// Lets a worker do something, if the call is [hard](Duty::is_hard), and else does it here.
    /// `None` if it has not come back in time.
    ///
    /// # Errors
    ///
    /// [`Internal`](ErrorCode::Internal) if it panicked.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>> {
        if !self.is_hard() {
            return Ok(Some(work()));
        }
        let (sender, receiver) = channel();
        let job = move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            // Nobody listens any more when the caller has given up.
            let _ = sender.send(done);
        };
        if let Err(job) = self.spawn(job) {
            job();
        }
        match self.wait(&receiver) {
            Some(Ok(done)) => Ok(Some(done)),
            Some(Err(payload)) => {
                let message = format!("a worker panicked: {}", panic_message(&*payload));
                Err(Error::new(ErrorCode::Internal, message).with_hint("please report this"))
            }
            None => Ok(None),
        }
    }

    /// What a job has sent. `None` once the token has stopped and nothing came for a while, in which
    /// case the jobs are [given up](Duty::give_up).
    pub(crate) fn wait<T>(&self, receiver: &Receiver<T>) -> Option<T> {
        // What is there is taken, however late it is.
        if let Ok(sent) = receiver.try_recv() {
            return Some(sent);
        }
        let mut patience = self.patience();
        while let Some(time) = patience.left() {
            match receiver.recv_timeout(time) {
                Ok(sent) => return Some(sent),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.give_up();
        None
    }

    /// How long to wait for the jobs.
    pub(crate) fn patience(&self) -> Patience<'_> {
        Patience { token: &self.token, until: None, share: 1 }
    }

    /// Half as long: for a job that waits for others while the call waits for it.
    pub(crate) fn less_patience(&self) -> Patience<'_> {
        Patience { token: &self.token, until: None, share: 2 }
    }

    /// Does without the jobs that are still running.
    pub(crate) fn give_up(&self) {
        let mut state = self.jobs.lock();
        if !std::mem::replace(&mut state.given_up, true) && state.running > 0 {
            self.jobs.pool.leave_behind(state.running);
        }
    }
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job at work.
struct Running(Arc<Jobs>, bool);

impl Running {
    fn begin(jobs: Arc<Jobs>) -> Running {
        let mut state = jobs.lock();
        // One that begins late sees that the token has stopped, and is no loss.
        let counts = !state.given_up;
        state.running += usize::from(counts);
        drop(state);
        Running(jobs, counts)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Running(jobs, counts) = self;
        if !*counts {
            return;
        }
        let mut state = jobs.lock();
        state.running -= 1;
        if state.given_up {
            jobs.pool.has_come_back();
        }
    }
}

/// How long a call goes on waiting: until its token stops, and a little longer.
pub(crate) struct Patience<'a> {
    token: &'a CancelToken,
    until: Option<Instant>,
    share: u32,
}

impl Patience<'_> {
    /// For how long to wait before this is asked again. `None` when it is time to give up.
    pub(crate) fn left(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let deadline = self.token.deadline_at();
        if self.until.is_none() {
            let late =
                deadline.map(|at| (at + GRACE / self.share).max(now + LEAST_GRACE / self.share));
            self.until = match self.token.stop() {
                None => {
                    let next = deadline.map_or(LOOK, |at| at.saturating_duration_since(now));
                    return Some(next.min(LOOK));
                }
                Some(Stop::DeadlinePassed) => late,
                Some(Stop::Cancelled) => {
                    let patient = now + GRACE_OF_CANCELLED / self.share;
                    Some(late.map_or(patient, |late| late.min(patient)))
                }
            };
        }
        let left = self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        (!left.is_zero()).then_some(left)
    }
}
