//! The walk of one root by several threads, in no order.
//!
//! Each thread has a stack of directories of its own, so that few are open at once, and gives half
//! of it away when another has nothing to do. The caller's thread begins, and asks the pool for
//! help when there is something to help with; it never waits for a thread that has not begun.

use super::{Desk, ENTRIES_PER_LOOK, Judged, Node, Reading, Task, Walker};
use crate::cancel::Stop;
use crate::pool::{Pool, panic_message};
use crate::scope::SortBy;
use crate::walk::listing::Gathering;
use crate::walk::trouble::{Told, Trouble};
use rustix::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// With so many directories in hand there is work for a second thread. Waking one takes about as
/// long as reading one directory.
const TASKS_WORTH_HELP: usize = 4;

/// What a walk found, in no order.
#[derive(Default)]
pub(in crate::walk) struct Walked {
    pub(in crate::walk) files: Vec<Gathering>,
    pub(in crate::walk) stopped: Option<Stop>,
}

struct Crew {
    walker: Arc<Walker>,
    by: SortBy,
    shared: Mutex<Shared>,
    changed: Condvar,
    /// How many threads wait for work.
    idle: AtomicUsize,
}

#[derive(Default)]
struct Shared {
    tasks: Vec<Task>,
    /// Threads that have work, or may find some.
    active: usize,
    /// Threads that have not handed over yet what they found.
    working: usize,
    is_over: bool,
    walked: Walked,
    /// What the threads had to tell.
    told: Vec<Told>,
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins in. Says whether there is still something to do.
    fn join(&self) -> bool {
        let mut shared = self.lock();
        if !shared.is_over {
            shared.active += 1;
            shared.working += 1;
        }
        !shared.is_over
    }

    /// Waits for work. `None` when the walk is over.
    fn take(&self) -> Option<Task> {
        let mut shared = self.lock();
        loop {
            if shared.is_over {
                return None;
            }
            if let Some(task) = shared.tasks.pop() {
                return Some(task);
            }
            shared.active -= 1;
            if shared.active == 0 {
                self.end(&mut shared);
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            self.idle.fetch_sub(1, Ordering::Relaxed);
            shared.active += 1;
        }
    }

    /// Gives away the older half: those lead to more than the younger ones.
    fn share(&self, tasks: &mut Vec<Task>) {
        let half = tasks.len() / 2;
        self.lock().tasks.extend(tasks.drain(..half));
        self.changed.notify_one();
    }

    fn end(&self, shared: &mut Shared) {
        shared.is_over = true;
        shared.tasks.clear();
        self.changed.notify_all();
    }

    /// Works until nothing is left, and hands over what was found.
    fn work(self: &Arc<Self>, first: Option<Arc<Node>>, told: Told, pool: Option<(&Pool, usize)>) {
        let mut worker = Worker {
            crew: self,
            desk: Desk::new(),
            tasks: Vec::new(),
            files: self.walker.gathering(self.by),
            told,
            stopped: None,
            help: pool,
        };
        let done = catch_unwind(AssertUnwindSafe(|| worker.run(first)));
        if done.is_ok() {
            worker.files.sort();
        }
        let Worker { files, mut told, stopped, .. } = worker;
        let mut shared = self.lock();
        if let Err(payload) = done {
            let message = format!("the walk panicked: {}", panic_message(&*payload));
            told.push(Trouble::panicked(&self.walker.root, message));
        }
        let is_unfinished = stopped.is_some() || !shared.is_over;
        if is_unfinished {
            self.end(&mut shared);
        }
        shared.walked.files.push(files);
        shared.told.push(told);
        shared.walked.stopped = shared.walked.stopped.or(stopped);
        shared.working -= 1;
        self.changed.notify_all();
    }
}

struct Worker<'a> {
    crew: &'a Arc<Crew>,
    desk: Desk,
    tasks: Vec<Task>,
    files: Gathering,
    told: Told,
    stopped: Option<Stop>,
    /// Whom to ask for help, and for how many.
    help: Option<(&'a Pool, usize)>,
}

impl Worker<'_> {
    fn run(&mut self, first: Option<Arc<Node>>) {
        if let Some(root) = first {
            let told = &mut self.told;
            let tell = &mut |trouble| told.push(trouble);
            let reading = self.crew.walker.enter_root(root, &mut self.desk, tell);
            self.read(reading);
        }
        while self.stopped.is_none() {
            let Some(task) = self.tasks.pop().or_else(|| self.crew.take()) else { return };
            self.stopped = self.crew.walker.stop();
            if self.stopped.is_some() {
                return;
            }
            let told = &mut self.told;
            let tell = &mut |trouble| told.push(trouble);
            let reading = self.crew.walker.enter(&task, &mut self.desk, tell);
            drop(task);
            self.read(reading);
            self.divide();
        }
    }

    /// Shares the work, if there are those who want some and enough of it.
    fn divide(&mut self) {
        if self.tasks.len() >= TASKS_WORTH_HELP
            && let Some((pool, threads)) = self.help.take()
        {
            for _ in 1..threads {
                let (crew, told) = (Arc::clone(self.crew), self.told.new_part());
                let job = move || {
                    if crew.join() {
                        crew.work(None, told, None);
                    }
                };
                // Without help it takes longer.
                let _ = pool.spawn(job);
            }
        }
        if self.tasks.len() > 1 && self.crew.idle.load(Ordering::Relaxed) > 0 {
            self.crew.share(&mut self.tasks);
        }
    }

    fn read(&mut self, reading: Option<Reading>) {
        let Some(mut reading) = reading else { return };
        let Some(fd) = reading.fd.clone() else { return };
        let walker = &self.crew.walker;
        walker.lay_out(&reading.node, &mut self.desk);
        let tasks_before = self.tasks.len();
        let mut has_entered = false;
        loop {
            for (index, (name, kind)) in reading.names.iter().enumerate() {
                if index % ENTRIES_PER_LOOK == ENTRIES_PER_LOOK - 1 {
                    self.stopped = walker.stop();
                    if self.stopped.is_some() {
                        return;
                    }
                }
                let from = (&reading.node, fd.as_fd());
                match walker.judge(from, name, kind, &mut self.desk) {
                    Judged::Nothing => {}
                    Judged::Dir(task) => self.tasks.push(task),
                    Judged::Trouble(trouble) => self.told.push(trouble),
                    Judged::File(found) => {
                        if !has_entered {
                            has_entered = true;
                            self.files.enter(&walker.listed_dir(&reading.node));
                        }
                        self.files.push(name.to_bytes(), found);
                    }
                }
            }
            let told = &mut self.told;
            let tell = &mut |trouble| told.push(trouble);
            if !walker.read_more(&mut reading, &mut self.desk, tell) {
                break;
            }
            self.stopped = walker.stop();
            if self.stopped.is_some() {
                return;
            }
        }
        self.desk.spare.push(reading.names);
        // So that they are taken as they were read: one thread then tells trouble as ripgrep does.
        self.tasks[tasks_before..].reverse();
    }
}

/// Walks to the end, on so many threads.
pub(in crate::walk) fn walk(
    walker: Arc<Walker>,
    root: Arc<Node>,
    by: SortBy,
    (pool, threads): (&Pool, usize),
    told: &mut Told,
) -> Walked {
    let crew = Arc::new(Crew {
        walker,
        by,
        shared: Mutex::default(),
        changed: Condvar::new(),
        idle: AtomicUsize::new(0),
    });
    crew.join();
    crew.work(Some(root), told.new_part(), (threads > 1).then_some((pool, threads)));
    let mut shared = crew.lock();
    while shared.working > 0 {
        shared = crew.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
    }
    std::mem::take(&mut shared.told).into_iter().for_each(|part| told.add(part));
    std::mem::take(&mut shared.walked)
}
