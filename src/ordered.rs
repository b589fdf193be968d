//! A parallel map whose results leave in the order of its input, on any number of threads.
//!
//! It knows nothing of searching. Items are taken from an iterator on the caller's thread, worked
//! on by a [`Pool`] in batches, and handed back one by one. At most a window of batches is on its
//! way at once, so what waits for an earlier, slower item is bounded. A panic in the work becomes
//! a value.

use crate::pool::{Pool, panic_message};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Handing a batch over costs about as much as searching one small file, so full batches hold
/// several. The first ones are short: the first result should not wait for a full batch.
const MAX_BATCH: usize = 16;

/// Batches on their way, per worker. One is worked on, one waits behind it, and one more covers
/// for a slow head.
const WINDOW_PER_THREAD: usize = 3;

/// Batches that come back heavier than this shrink to one item, so that a window of them is not
/// `MAX_BATCH` times as heavy as it needs to be.
const HEAVY_BATCH_BYTES: usize = 1 << 20;

/// What the work on an item panicked with.
#[derive(Debug)]
pub(crate) struct Panicked(pub(crate) String);

type Done<T, R> = (T, Result<R, Panicked>);

type Work<T, R> = Arc<dyn Fn(&T) -> R + Send + Sync>;

/// A batch that has been worked on, with its number.
type Numbered<T, R> = (u64, Vec<Done<T, R>>);

pub(crate) trait Weigh {
    /// How many bytes this result holds on to.
    fn weight(&self) -> usize;
}

pub(crate) struct Ordered<I: Iterator, R> {
    items: I,
    work: Work<I::Item, R>,
    pool: Pool,
    window: usize,
    batch: usize,
    /// The number of the next batch to hand out, and of the next one to hand back.
    next_out: u64,
    next_back: u64,
    early: BTreeMap<u64, Vec<Done<I::Item, R>>>,
    ready: VecDeque<Done<I::Item, R>>,
    sender: Sender<Numbered<I::Item, R>>,
    receiver: Receiver<Numbered<I::Item, R>>,
}

impl<I, R> Ordered<I, R>
where
    I: Iterator,
    I::Item: Send + 'static,
    R: Weigh + Send + 'static,
{
    pub(crate) fn new(
        items: I,
        pool: Pool,
        work: impl Fn(&I::Item) -> R + Send + Sync + 'static,
    ) -> Ordered<I, R> {
        let (sender, receiver) = channel();
        Ordered {
            items,
            work: Arc::new(work),
            // Asking an inline pool for its width starts nothing.
            window: if pool.is_inline() { 0 } else { pool.threads() * WINDOW_PER_THREAD },
            pool,
            batch: 1,
            next_out: 0,
            next_back: 0,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            sender,
            receiver,
        }
    }

    pub(crate) fn items(&mut self) -> &mut I {
        &mut self.items
    }

    /// Hands out batches until the window is full or the items have run out.
    fn hand_out(&mut self) {
        while self.next_out - self.next_back < self.window as u64 {
            let batch: Vec<_> = self.items.by_ref().take(self.batch).collect();
            if batch.is_empty() {
                return;
            }
            let number = self.next_out;
            let (work, sender) = (Arc::clone(&self.work), self.sender.clone());
            let job = move || {
                let done = batch.into_iter().map(|item| do_work(&*work, item)).collect();
                // Nobody listens any more when the caller has dropped the iterator.
                let _ = sender.send((number, done));
            };
            self.next_out += 1;
            if let Err(job) = self.pool.spawn(job) {
                job();
            }
        }
    }

    /// Waits for the next batch in order.
    fn hand_back(&mut self) {
        let done = loop {
            if let Some(done) = self.early.remove(&self.next_back) {
                break done;
            }
            let (number, done) = self.receiver.recv().expect("this value keeps a sender alive");
            self.early.insert(number, done);
        };
        self.next_back += 1;
        let weight: usize =
            done.iter().filter_map(|(_, result)| result.as_ref().ok()).map(Weigh::weight).sum();
        self.batch = if weight > HEAVY_BATCH_BYTES { 1 } else { (self.batch * 2).min(MAX_BATCH) };
        self.ready.extend(done);
    }
}

fn do_work<T, R>(work: &(dyn Fn(&T) -> R + Send + Sync), item: T) -> Done<T, R> {
    // The work owns or locks nothing that a panic could leave half changed; see `search`.
    let result = catch_unwind(AssertUnwindSafe(|| work(&item)));
    (item, result.map_err(|payload| Panicked(panic_message(&*payload))))
}

impl<I, R> Iterator for Ordered<I, R>
where
    I: Iterator,
    I::Item: Send + 'static,
    R: Weigh + Send + 'static,
{
    type Item = Done<I::Item, R>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.window == 0 {
            return self.items.next().map(|item| do_work(&*self.work, item));
        }
        loop {
            if let Some(done) = self.ready.pop_front() {
                return Some(done);
            }
            self.hand_out();
            if self.next_back == self.next_out {
                return None;
            }
            self.hand_back();
            // Refill before the caller is busy with what has just come back.
            self.hand_out();
        }
    }
}
