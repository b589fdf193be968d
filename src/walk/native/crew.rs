//! The walk of one root by several threads, in no order.
//!
//! Each thread has a stack of directories of its own, so that few are open at once, and gives half
//! of it away when another has nothing to do. One that has nothing to do takes half of another's,
//! too: the other may be waiting for the system. The first thread asks the pool for help when there is
//! something to help with; it never waits for a thread that has not begun, and not for ever for one
//! that does not come back.

use super::dir::{Kind, Names};
use super::rules::Rules;
use super::{Desk, ENTRIES_PER_LOOK, Judged, Node, Reading, Task, Walker};
use crate::cancel::Stop;
use crate::duty::Duty;
use crate::pool::panic_message;
use crate::scope::SortBy;
use crate::walk::Visitor;
use crate::walk::haul::{Haul, Part};
use crate::walk::listing::Found;
use crate::walk::trouble::{Told, Trouble};
use rustix::fd::{AsFd, BorrowedFd};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a thread without work looks whether another has some. It is told when there is, unless
/// the other waits for the system.
const LOOK_FOR_WORK: Duration = Duration::from_millis(20);

/// With so many directories in hand there is work for a second thread. Waking one takes about as
/// long as reading one directory.
const TASKS_WORTH_HELP: usize = 4;

/// As much work as those directories, if files are visited.
const FILES_WORTH_HELP: usize = 32;

/// How many files are visited before it is looked whether the walk has been stopped, or somebody has
/// nothing to do.
const FILES_PER_LOOK: usize = 8;

struct Crew {
    walker: Arc<Walker>,
    by: SortBy,
    haul: Arc<Haul>,
    shared: Mutex<Shared>,
    changed: Condvar,
    /// How many threads wait for work.
    idle: AtomicUsize,
    stacks: Mutex<Vec<Arc<Stack>>>,
}

/// What there is to do.
enum Work {
    Enter(Task),
    /// Files of one directory that are still to be visited, with whether they are links.
    Visit(Arc<Node>, Vec<(CString, bool, Found)>),
}

/// What one thread has still to do.
#[derive(Default)]
struct Stack(Mutex<Vec<Work>>);

impl Stack {
    fn lock(&self) -> MutexGuard<'_, Vec<Work>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The older half: those lead to more than the younger ones.
    fn half(&self) -> Vec<Work> {
        let mut tasks = self.lock();
        let half = tasks.len().div_ceil(2);
        tasks.drain(..half).collect()
    }
}

#[derive(Default)]
struct Shared {
    tasks: Vec<Work>,
    /// Threads that have work, or may find some.
    active: usize,
    /// Threads that have not handed over yet what they found.
    working: usize,
    is_over: bool,
    stopped: Option<Stop>,
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_stacks(&self) -> MutexGuard<'_, Vec<Arc<Stack>>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn take(&self) -> Option<Work> {
        let mut shared = self.lock();
        loop {
            if shared.is_over {
                return None;
            }
            if let Some(task) = shared.tasks.pop() {
                return Some(task);
            }
            shared.tasks = self.steal();
            if let Some(task) = shared.tasks.pop() {
                return Some(task);
            }
            shared.active -= 1;
            if shared.active == 0 {
                self.end(&mut shared);
                return None;
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
            let waited = self.changed.wait_timeout(shared, LOOK_FOR_WORK);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
            self.idle.fetch_sub(1, Ordering::Relaxed);
            shared.active += 1;
        }
    }

    /// Gives away half of a stack.
    fn share(&self, stack: &Stack) {
        let half = stack.half();
        self.lock().tasks.extend(half);
        self.changed.notify_one();
    }

    fn give(&self, work: Work) {
        self.lock().tasks.push(work);
        self.changed.notify_one();
    }

    /// Half of a stack that somebody has.
    fn steal(&self) -> Vec<Work> {
        let stacks = self.lock_stacks();
        stacks.iter().map(|stack| stack.half()).find(|half| !half.is_empty()).unwrap_or_default()
    }

    fn end(&self, shared: &mut Shared) {
        shared.is_over = true;
        shared.tasks.clear();
        self.lock_stacks().clear();
        self.changed.notify_all();
    }

    /// Works until nothing is left, and hands over what was found.
    fn work(self: &Arc<Self>, first: Option<Node>, duty: &Duty, threads: usize) {
        let stack = Arc::new(Stack::default());
        self.lock_stacks().push(Arc::clone(&stack));
        let mut worker = Worker {
            crew: self,
            desk: Desk::new(),
            stack,
            part: self.haul.begin_part(self.walker.gathering(self.by)),
            pending: Vec::new(),
            held_bytes: 0,
            told: self.haul.new_told(),
            stopped: None,
            duty,
            threads,
        };
        let mut done = catch_unwind(AssertUnwindSafe(|| worker.run(first)));
        let Worker { part, told, mut stopped, .. } = worker;
        if done.is_ok() && self.walker.stop().is_none() {
            done = catch_unwind(AssertUnwindSafe(|| {
                part.with(|files, _| stopped = stopped.or(files.sort().err()));
            }));
        }
        part.with(|_, all| all.add(told));
        self.haul.end_part(&part);
        if let Err(payload) = done {
            let message = format!("the walk panicked: {}", panic_message(&*payload));
            self.haul.tell(Trouble::panicked(&self.walker.root.written, message));
        }
        let mut shared = self.lock();
        let is_unfinished = stopped.is_some() || !shared.is_over;
        if is_unfinished {
            self.end(&mut shared);
        }
        shared.stopped = shared.stopped.or(stopped);
        shared.working -= 1;
        self.changed.notify_all();
    }

    /// Waits until all who joined have handed over. False if some have not, and had to be given up.
    fn is_joined(&self, duty: &Duty) -> bool {
        let mut patience = duty.less_patience();
        let mut shared = self.lock();
        while shared.working > 0 {
            let Some(time) = patience.left() else {
                self.end(&mut shared);
                drop(shared);
                duty.give_up();
                return false;
            };
            let waited = self.changed.wait_timeout(shared, time);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

struct Worker<'a> {
    crew: &'a Arc<Crew>,
    desk: Desk,
    stack: Arc<Stack>,
    /// What has been found; before that, what has been found among the names at hand, by their
    /// places.
    part: Arc<Part>,
    pending: Vec<(usize, Found)>,
    /// How many bytes the part takes.
    held_bytes: usize,
    told: Told,
    stopped: Option<Stop>,
    /// Whom to ask for help, and for how many until it has been asked for.
    duty: &'a Duty,
    threads: usize,
}

impl Worker<'_> {
    fn run(&mut self, first: Option<Node>) {
        if let Some(root) = first {
            let told = &mut self.told;
            let tell = &mut |trouble| told.push(trouble);
            let reading = self.crew.walker.enter_root(root, &mut self.desk, tell);
            self.read(reading);
        }
        while self.stopped.is_none() {
            let own = self.stack.lock().pop();
            let Some(task) = own.or_else(|| self.crew.take()) else { return };
            self.stopped = self.crew.walker.stop();
            if self.stopped.is_some() {
                return;
            }
            match task {
                Work::Enter(task) => {
                    let told = &mut self.told;
                    let tell = &mut |trouble| told.push(trouble);
                    let reading = self.crew.walker.enter(&task, &mut self.desk, tell);
                    drop(task);
                    self.read(reading);
                }
                Work::Visit(node, files) => self.visit_others(&node, files),
            }
            self.divide();
        }
    }

    /// Once.
    fn ask_for_help(&mut self) {
        for _ in 1..std::mem::replace(&mut self.threads, 1) {
            let (crew, duty) = (Arc::clone(self.crew), self.duty.clone());
            let job = move || {
                if crew.join() {
                    crew.work(None, &duty, 1);
                }
            };
            // Without help it takes longer.
            let _ = self.duty.spawn(job);
        }
    }

    /// Shares the work, if there are those who want some and enough of it.
    fn divide(&mut self) {
        let tasks = self.stack.lock().len();
        if tasks >= TASKS_WORTH_HELP {
            self.ask_for_help();
        }
        if tasks > 1 && self.crew.idle.load(Ordering::Relaxed) > 0 {
            self.crew.share(&self.stack);
        }
    }

    fn read(&mut self, reading: Option<Reading>) {
        let Some(mut reading) = reading else { return };
        let Some(fd) = reading.fd.clone() else { return };
        let walker = &self.crew.walker;
        walker.lay_out(&reading.node, &mut self.desk);
        let mut tasks = Vec::new();
        let mut has_entered = false;
        loop {
            for (index, (name, kind)) in reading.names.iter().enumerate() {
                if index % ENTRIES_PER_LOOK == ENTRIES_PER_LOOK - 1 {
                    self.stopped = walker.stop();
                    if self.stopped.is_some() {
                        break;
                    }
                }
                let from = (&reading.node, fd.as_fd());
                match walker.judge(from, name, kind, &mut self.desk) {
                    Judged::Nothing => {}
                    Judged::Dir(task) => tasks.push(Work::Enter(task)),
                    Judged::Trouble(trouble) => self.told.push(trouble),
                    Judged::File(found) => self.pending.push((index, found)),
                }
            }
            if let Some(visitor) = &walker.visitor {
                self.visit(&**visitor, (&reading, fd.as_fd()));
            }
            self.keep(&reading, &mut has_entered);
            if self.stopped.is_some() || walker.is_full() {
                break;
            }
            let told = &mut self.told;
            let tell = &mut |trouble| told.push(trouble);
            if !walker.read_more(&mut reading, &mut self.desk, tell) {
                break;
            }
            self.stopped = walker.stop();
            if self.stopped.is_some() {
                break;
            }
        }
        self.desk.spare.push(reading.names);
        // So that they are taken as they were read: one thread then tells trouble as ripgrep does.
        self.stack.lock().extend(tasks.into_iter().rev());
    }

    /// Shows the files at hand to a visitor, together with those threads that have nothing to do. What
    /// is to be listed of them stays.
    fn visit(&mut self, visitor: &dyn Visitor, (reading, fd): (&Reading, BorrowedFd<'_>)) {
        if self.pending.is_empty() {
            return;
        }
        let (walker, names) = (&self.crew.walker, &reading.names);
        let mut path = walker.listed_dir(&reading.node);
        let mut files = std::mem::take(&mut self.pending);
        if files.len() >= FILES_WORTH_HELP && visitor.wants_more() {
            self.ask_for_help();
        }
        let mut next = 0;
        while next < files.len() {
            if next.is_multiple_of(FILES_PER_LOOK) {
                self.stopped = self.stopped.or(walker.stop());
                if self.stopped.is_some() {
                    break;
                }
                let left = files.len() - next;
                if left > FILES_PER_LOOK && self.crew.idle.load(Ordering::Relaxed) > 0 {
                    let theirs = files.split_off(next + left / 2);
                    let named = theirs.into_iter().filter_map(|(index, found)| {
                        let (name, kind) = names.get(index)?;
                        Some((name.to_owned(), kind == Kind::Link, found))
                    });
                    self.crew.give(Work::Visit(Arc::clone(&reading.node), named.collect()));
                }
            }
            let (index, found) = files[next];
            next += 1;
            let Some((name, kind)) = names.get(index) else { continue };
            let file = (name, kind == Kind::Link, found);
            let found = walker.show_to(visitor, (&reading.node, fd), file, &mut path);
            self.pending.extend(found.map(|found| (index, found)));
        }
    }

    /// Shows files to the visitor that another thread has found.
    fn visit_others(&mut self, node: &Arc<Node>, files: Vec<(CString, bool, Found)>) {
        let walker = &self.crew.walker;
        let Some(visitor) = &walker.visitor else { return };
        let fd = match walker.reopen(node, &mut self.desk) {
            Ok(fd) => fd,
            Err(error) => return self.told.push(Trouble::io(&walker.show_dir(node), error)),
        };
        let mut path = walker.listed_dir(node);
        let mut names = Names::default();
        for (number, (name, is_link, found)) in files.into_iter().enumerate() {
            if number.is_multiple_of(FILES_PER_LOOK) {
                self.stopped = walker.stop();
                if self.stopped.is_some() {
                    break;
                }
            }
            let file = (&*name, is_link, found);
            let found = walker.show_to(&**visitor, (node, fd.as_fd()), file, &mut path);
            if let Some(found) = found {
                self.pending.push((names.len(), found));
                names.push(&name, Kind::File);
            }
        }
        let node = Arc::clone(node);
        self.keep(&Reading { node, fd: None, names, is_over: true }, &mut false);
    }

    /// Puts what has been found where it is not lost with this thread.
    fn keep(&mut self, reading: &Reading, has_entered: &mut bool) {
        if self.pending.is_empty() && self.told.is_empty() {
            return;
        }
        let (crew, pending) = (self.crew, &mut self.pending);
        let told = (!self.told.is_empty())
            .then(|| std::mem::replace(&mut self.told, crew.haul.new_told()));
        let mut held = None;
        self.part.with(|files, all| {
            told.into_iter().for_each(|told| all.add(told));
            if !pending.is_empty() && !std::mem::replace(has_entered, true) {
                files.enter(&crew.walker.listed_dir(&reading.node));
            }
            for (index, found) in pending.drain(..) {
                if let Some((name, _)) = reading.names.get(index) {
                    files.push(name.to_bytes(), found);
                }
            }
            held = Some(files.held_bytes());
        });
        // Somebody has done without this thread.
        pending.clear();
        let (before, after) = (self.held_bytes, held.unwrap_or(self.held_bytes));
        self.held_bytes = after;
        let told = &mut self.told;
        crew.walker.count_listed(before, after, &mut |trouble| told.push(trouble));
    }
}

/// Walks to the end, on so many threads. Returns why that ended early.
pub(in crate::walk) fn walk(
    walker: Arc<Walker>,
    root: Node,
    by: SortBy,
    (duty, threads): (&Duty, usize),
    haul: &Arc<Haul>,
) -> Option<Stop> {
    let crew = Arc::new(Crew {
        walker,
        by,
        haul: Arc::clone(haul),
        shared: Mutex::default(),
        changed: Condvar::new(),
        idle: AtomicUsize::new(0),
        stacks: Mutex::default(),
    });
    crew.join();
    crew.work(Some(root), duty, threads);
    if !crew.is_joined(duty) {
        haul.tell(Trouble::stuck(&crew.walker.root.written));
        return crew.walker.stop();
    }
    // No thread has noticed, if nothing was left to do.
    let are_cut = crew.walker.rules.as_ref().is_some_and(Rules::are_cut);
    crew.lock().stopped.or_else(|| crew.walker.stop().filter(|_| are_cut))
}
