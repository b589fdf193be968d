//! A walk and the work on its files in one pass: a file is worked on where the walk finds it, and
//! only what comes of it is brought into order.
//!
//! That saves a look at every file for its time, opening it by its whole path, and the wait for the
//! end of the walk. What is found waits here, as much of it as there is room for.

use crate::haystack::Place;
use crate::ordered::Weigh;
use crate::scope::{Order, SortBy};
use crate::walk::{self, FileEntry, Spot, Visitor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// How much of what is found has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// All of it.
    All,
    /// So many bytes; what the walk finds then is listed, to be worked on later.
    Bytes(usize),
    /// The first that go over one of these. A file that comes after them is passed over.
    Head { files: u64, lines: u64, bytes: u64 },
}

/// What counts of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) files: u64,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    /// Nothing behind it is wanted, however small it is.
    pub(crate) is_last: bool,
}

impl Size {
    fn add(&mut self, other: Size) {
        self.files = self.files.saturating_add(other.files);
        self.lines = self.lines.saturating_add(other.lines);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.is_last |= other.is_last;
    }
}

/// What came of the work on a file.
pub(crate) enum Worked<R> {
    /// It has to be listed, for it could not be worked on now.
    Later,
    /// Nothing that anybody will ask for.
    Nothing,
    Something {
        result: R,
        size: Size,
        /// When the file was changed last, if it was opened.
        modified: Option<SystemTime>,
    },
}

/// A file with its result.
pub(crate) struct Held<R> {
    pub(crate) file: FileEntry,
    pub(crate) result: R,
    size: Size,
}

type Work<R> = Box<dyn Fn(Place<'_>, &Path) -> Worked<R> + Send + Sync>;

pub(crate) struct Hunt<R> {
    work: Work<R>,
    by: SortBy,
    order: Order,
    room: Room,
    pile: Mutex<Pile<R>>,
    /// No file is wanted any more.
    is_full: AtomicBool,
    /// Some files need not be worked on, because of their place in the order.
    is_bounded: AtomicBool,
    /// How many files were taken from the walk.
    taken: AtomicU64,
}

struct Pile<R> {
    held: Vec<Held<R>>,
    total: Size,
    weight: usize,
    /// What comes after this file is not wanted.
    bound: Option<FileEntry>,
    /// How many results there are when it is looked for the head again.
    look_at: usize,
}

impl<R: Weigh> Hunt<R> {
    /// `by` must be an order.
    pub(crate) fn new(
        (by, order): (SortBy, Order),
        room: Room,
        work: impl Fn(Place<'_>, &Path) -> Worked<R> + Send + Sync + 'static,
    ) -> Hunt<R> {
        let pile =
            Pile { held: Vec::new(), total: Size::default(), weight: 0, bound: None, look_at: 0 };
        Hunt {
            work: Box::new(work),
            by,
            order,
            room,
            pile: Mutex::new(pile),
            is_full: AtomicBool::new(false),
            is_bounded: AtomicBool::new(false),
            taken: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pile<R>> {
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All results, in order. What is still being worked on has no room any more.
    pub(crate) fn take(&self) -> Vec<Held<R>> {
        self.is_full.store(true, Ordering::Relaxed);
        let mut held = std::mem::take(&mut self.lock().held);
        self.sort(&mut held);
        held
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    fn sort(&self, held: &mut [Held<R>]) {
        held.sort_unstable_by(|a, b| walk::compare(&a.file, &b.file, self.by, self.order));
    }

    fn is_over(&self, size: Size) -> bool {
        match self.room {
            Room::Head { files, lines, bytes } => {
                size.is_last || size.files > files || size.lines > lines || size.bytes > bytes
            }
            Room::All | Room::Bytes(_) => false,
        }
    }

    /// Whether the file comes after all that is wanted.
    fn is_behind(&self, file: &FileEntry) -> bool {
        let pile = self.lock();
        let behind = |bound| walk::compare(file, bound, self.by, self.order).is_gt();
        pile.bound.as_ref().is_some_and(behind)
    }

    fn put(&self, held: Held<R>) {
        let mut pile = self.lock();
        pile.total.add(held.size);
        pile.weight += held.result.weight() + size_of::<Held<R>>();
        pile.held.push(held);
        match self.room {
            Room::All => {}
            Room::Bytes(max) => self.is_full.store(pile.weight > max, Ordering::Relaxed),
            Room::Head { .. } => {
                if pile.held.len() >= pile.look_at && self.is_over(pile.total) {
                    self.keep_head(&mut pile);
                }
            }
        }
    }

    /// Forgets what is behind the head.
    fn keep_head(&self, pile: &mut Pile<R>) {
        self.sort(&mut pile.held);
        let mut total = Size::default();
        let last = pile.held.iter().position(|held| {
            total.add(held.size);
            self.is_over(total)
        });
        let Some(last) = last else { return };
        pile.held.truncate(last + 1);
        pile.bound = Some(pile.held[last].file.clone());
        // Some are let in before they are sorted, so that each costs little.
        pile.look_at = 2 * pile.held.len() + 16;
        pile.total = total;
        self.is_bounded.store(true, Ordering::Relaxed);
    }
}

impl<R: Weigh + Send> Visitor for Hunt<R> {
    fn wants_more(&self) -> bool {
        !self.is_full.load(Ordering::Relaxed)
    }

    fn visit(&self, spot: Spot<'_>) -> bool {
        let is_bounded = self.is_bounded.load(Ordering::Relaxed);
        let by_time = !matches!(self.by, SortBy::Path | SortBy::Nothing);
        // Times of other kinds are not among what an open file is asked for.
        let is_looked_at = by_time && (is_bounded || self.by != SortBy::Modified);
        let time = if is_looked_at { (spot.time)() } else { None };
        if is_bounded && self.is_behind(&FileEntry::at(spot.root, spot.path, time)) {
            self.taken.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        // A panic comes again when the file has been listed, and is told then.
        let work = AssertUnwindSafe(|| (self.work)(spot.place, spot.path));
        let worked = catch_unwind(work).unwrap_or(Worked::Later);
        if matches!(worked, Worked::Later) {
            return false;
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        if let Worked::Something { result, size, modified } = worked {
            let time = match by_time && !is_looked_at {
                true => modified.or_else(|| (spot.time)()),
                false => time,
            };
            self.put(Held { file: FileEntry::at(spot.root, spot.path, time), result, size });
        }
        true
    }
}
