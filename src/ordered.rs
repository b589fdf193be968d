//! A parallel map whose results leave in the order of its input, on any number of threads.
//!
//! It knows nothing of searching. Items are taken from an iterator on the caller's thread, worked
//! on by a [`Pool`](crate::pool::Pool) in batches, and handed back one by one. At most a window of
//! batches is on its way at once, so what waits for an earlier, slower item is bounded. A panic in
//! the work becomes a value, and so does work that does not come back when the call has to.

use crate::cancel::CancelToken;
use crate::duty::Duty;
use crate::error::Result as Answer;
use crate::pool::{Pool, panic_message};
use std::collections::VecDeque;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handing a batch over costs about as much as searching one small file, so full batches hold
/// several. The first ones are short: the first result should not wait for a full batch.
const MAX_BATCH: usize = 16;

/// Batches on their way, per worker. One is worked on, one waits behind it, and one more covers
/// for a slow head.
const WINDOW_PER_THREAD: usize = 3;

/// Batches that come back heavier than this shrink to one item, so that a window of them is not
/// `MAX_BATCH` times as heavy as it needs to be.
const HEAVY_BATCH_BYTES: usize = 1 << 20;

/// Why there is no result for an item.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The work on it panicked with this.
    Panicked(String),
    /// The work on it had not come back when the call had to.
    Stuck,
    /// The call was over before its turn.
    NotBegun,
}

/// An item with what came of it.
type Done<T, R> = (Handed<T, R>, Result<R, Lost>);

type Work<T, R> = Arc<dyn Fn(&T) -> R + Send + Sync>;

pub(crate) trait Weigh {
    /// How many bytes this result holds on to.
    fn weight(&self) -> usize;
}

pub(crate) struct Ordered<I: Iterator, R> {
    items: I,
    work: Work<I::Item, R>,
    duty: Duty,
    window: usize,
    batch: usize,
    /// Handed out and not yet handed back, in order.
    out: VecDeque<Arc<Batch<I::Item, R>>>,
    ready: VecDeque<Done<I::Item, R>>,
    /// Nothing is waited for any more.
    given_up: bool,
    /// Something is sent whenever a batch is done.
    sender: Sender<()>,
    receiver: Receiver<()>,
}

pub(crate) struct Batch<T, R> {
    items: Vec<T>,
    state: Mutex<State<R>>,
}

struct State<R> {
    begun: bool,
    /// Of the first items, one each.
    results: Vec<Result<R, Lost>>,
}

/// An item that has been worked on.
pub(crate) enum Handed<T, R> {
    Own(T),
    Shared(Arc<Batch<T, R>>, usize),
}

impl<T, R> Deref for Handed<T, R> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Handed::Own(item) => item,
            Handed::Shared(batch, index) => &batch.items[*index],
        }
    }
}

impl<T, R> Batch<T, R> {
    fn new(items: Vec<T>) -> Batch<T, R> {
        let results = Vec::with_capacity(items.len());
        Batch { items, state: Mutex::new(State { begun: false, results }) }
    }

    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_done(&self) -> bool {
        self.lock().results.len() == self.items.len()
    }

    /// Works on all items, unless somebody else does.
    fn work_off(&self, work: &(dyn Fn(&T) -> R + Send + Sync)) {
        if std::mem::replace(&mut self.lock().begun, true) {
            return;
        }
        for item in &self.items {
            let result = do_work(work, item);
            self.lock().results.push(result);
        }
    }
}

impl<I, R> Ordered<I, R>
where
    I: Iterator,
    I::Item: Send + Sync + 'static,
    R: Weigh + Send + 'static,
{
    /// # Errors
    ///
    /// As for [`Duty::new`].
    pub(crate) fn new(
        items: I,
        pool: &Pool,
        token: &CancelToken,
        work: impl Fn(&I::Item) -> R + Send + Sync + 'static,
    ) -> Answer<Ordered<I, R>> {
        let (sender, receiver) = channel();
        Ok(Ordered {
            items,
            work: Arc::new(work),
            duty: Duty::new(pool, token)?,
            // Asking an inline pool for its width starts nothing.
            window: if pool.is_inline() { 0 } else { pool.threads() * WINDOW_PER_THREAD },
            batch: 1,
            out: VecDeque::new(),
            ready: VecDeque::new(),
            given_up: false,
            sender,
            receiver,
        })
    }

    pub(crate) fn items(&mut self) -> &mut I {
        &mut self.items
    }

    /// Whether some work did not come back. What is still handed back is there already.
    pub(crate) fn has_given_up(&self) -> bool {
        self.given_up
    }

    /// Hands out batches until the window is full or the items have run out.
    fn hand_out(&mut self) {
        while self.out.len() < self.window && !self.given_up {
            let items: Vec<_> = self.items.by_ref().take(self.batch).collect();
            if items.is_empty() {
                return;
            }
            let batch = Arc::new(Batch::new(items));
            self.out.push_back(Arc::clone(&batch));
            let (work, sender) = (Arc::clone(&self.work), self.sender.clone());
            let job = move || {
                batch.work_off(&*work);
                // Nobody listens any more when the caller has dropped the iterator.
                let _ = sender.send(());
            };
            if let Err(job) = self.duty.spawn(job) {
                job();
            }
        }
    }

    /// Waits for the next batch in order.
    fn hand_back(&mut self) {
        let Some(batch) = self.out.pop_front() else { return };
        let mut patience = self.duty.patience();
        while !self.given_up && !batch.is_done() {
            let Some(time) = patience.left() else {
                self.given_up = true;
                self.duty.give_up();
                break;
            };
            if self.receiver.recv_timeout(time).is_err() && !self.duty.is_hard() {
                // If the workers have not got to it by now, they may be stuck with something of
                // somebody else.
                batch.work_off(&*self.work);
            }
        }
        let mut state = batch.lock();
        let mut results = std::mem::take(&mut state.results);
        let begun = state.begun;
        drop(state);
        let weight: usize =
            results.iter().filter_map(|result| result.as_ref().ok()).map(Weigh::weight).sum();
        self.batch = if weight > HEAVY_BATCH_BYTES { 1 } else { (self.batch * 2).min(MAX_BATCH) };
        if results.len() < batch.items.len() {
            results.push(Err(if begun { Lost::Stuck } else { Lost::NotBegun }));
        }
        results.resize_with(batch.items.len(), || Err(Lost::NotBegun));
        let handed = |(index, result)| (Handed::Shared(Arc::clone(&batch), index), result);
        self.ready.extend(results.into_iter().enumerate().map(handed));
    }
}

fn do_work<T, R>(work: &(dyn Fn(&T) -> R + Send + Sync), item: &T) -> Result<R, Lost> {
    // The work owns or locks nothing that a panic could leave half changed; see `search`.
    catch_unwind(AssertUnwindSafe(|| work(item)))
        .map_err(|payload| Lost::Panicked(panic_message(&*payload)))
}

impl<I, R> Iterator for Ordered<I, R>
where
    I: Iterator,
    I::Item: Send + Sync + 'static,
    R: Weigh + Send + 'static,
{
    type Item = Done<I::Item, R>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.window == 0 {
            let item = self.items.next()?;
            let result = do_work(&*self.work, &item);
            return Some((Handed::Own(item), result));
        }
        loop {
            if let Some(done) = self.ready.pop_front() {
                return Some(done);
            }
            self.hand_out();
            if self.out.is_empty() {
                return None;
            }
            self.hand_back();
            // Refill before the caller is busy with what has just come back.
            self.hand_out();
        }
    }
}
