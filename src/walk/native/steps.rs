//! The walk of roots on the caller's thread: one directory inside another, in the order in which
//! they are read or in path order.

use super::{Begun, Desk, Judged, Plan, Reading, Walker};
use crate::cancel::{CancelToken, Stop};
use crate::walk::listing::Found;
use crate::walk::reference::Before;
use crate::walk::roots::{Root, RootKind};
use crate::walk::trouble::Trouble;
use crate::walk::{Event, FileEntry, Source, Way};
use rustix::fd::AsFd;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

pub(in crate::walk) struct Steps {
    plan: Arc<Plan>,
    roots: std::vec::IntoIter<Root>,
    current: Option<Current>,
    before: Before,
    /// Told before the walk goes on.
    waiting: VecDeque<Trouble>,
    in_path_order: bool,
    token: CancelToken,
    stopped: Option<Stop>,
    desk: Desk,
}

struct Current {
    walker: Arc<Walker>,
    frames: Vec<Frame>,
    /// How many of the frames, from the root down, have been read to their end and closed.
    closed: usize,
}

struct Frame {
    reading: Reading,
    next: usize,
}

impl Steps {
    pub(in crate::walk) fn new(
        plan: Arc<Plan>,
        roots: Vec<Root>,
        in_path_order: bool,
        token: CancelToken,
    ) -> Steps {
        Steps {
            plan,
            roots: roots.into_iter(),
            current: None,
            before: Before::default(),
            waiting: VecDeque::new(),
            in_path_order,
            token,
            stopped: None,
            desk: Desk::new(),
        }
    }

    pub(in crate::walk) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Whether all roots have been walked to their end.
    pub(in crate::walk) fn is_over(&self) -> bool {
        self.stopped.is_none() && self.current.is_none() && self.roots.len() == 0
    }

    /// What comes of the whole walk, if it has no more than so many steps: entries, and directories
    /// that end.
    pub(in crate::walk) fn all_of_few(mut self, steps: usize) -> Option<Vec<Event>> {
        let mut events = Vec::new();
        for _ in 0..steps {
            match self.advance() {
                Some(event) => events.extend(event),
                None => return Some(events),
            }
        }
        None
    }

    /// One step, of which something may come. `None` at the end.
    fn advance(&mut self) -> Option<Option<Event>> {
        if self.stopped.is_none() {
            self.stopped = self.token.stop();
        }
        if self.stopped.is_some() {
            return None;
        }
        let event = if let Some(trouble) = self.waiting.pop_front() {
            Some(Event::Trouble(trouble))
        } else if let Some(mut current) = self.current.take() {
            match self.step(&mut current) {
                Some(event) => {
                    self.current = Some(current);
                    event
                }
                None => None,
            }
        } else {
            self.begin()?
        };
        Some(event.and_then(|event| self.before.filter(event)))
    }

    /// Goes to the next root. `None` when there is none.
    fn begin(&mut self) -> Option<Option<Event>> {
        let root = self.roots.next()?;
        self.before.begin(&root);
        match &root.kind {
            RootKind::File(source) => {
                return Some(match self.plan.list_named(&root, *source) {
                    Ok(file) => file.map(Event::File),
                    Err(trouble) => Some(Event::Trouble(trouble)),
                });
            }
            RootKind::Unusable(trouble) => return Some(Some(Event::Trouble(trouble.clone()))),
            RootKind::Dir => {}
        }
        let plan = Arc::clone(&self.plan);
        match Walker::begin(plan, &root, false, &self.token, None) {
            Err(trouble) => self.waiting.push_back(trouble),
            Ok(Begun { walker, root: node, trouble }) => {
                self.waiting.extend(trouble);
                let waiting = &mut self.waiting;
                let tell = &mut |trouble| waiting.push_back(trouble);
                let reading = walker.enter_root(node, &mut self.desk, tell);
                let mut current = Current { walker, frames: Vec::new(), closed: 0 };
                self.push(&mut current, reading);
                self.current = Some(current);
            }
        }
        Some(None)
    }

    fn push(&mut self, current: &mut Current, reading: Option<Reading>) {
        let Some(mut reading) = reading else { return };
        if self.in_path_order {
            self.finish(&current.walker, &mut reading);
            reading.names.sort();
        }
        current.walker.lay_out(&reading.node, &mut self.desk);
        current.frames.push(Frame { reading, next: 0 });
        // Of those far above the rest is read, so that they can be closed.
        let unfinished = current.walker.scope().limits.max_open_directories;
        while current.frames.len() - current.closed > unfinished {
            let frame = &mut current.frames[current.closed];
            self.finish(&current.walker, &mut frame.reading);
            current.closed += 1;
        }
    }

    /// Goes back to the directory above.
    fn pop(&mut self, current: &mut Current) {
        let Some(done) = current.frames.pop() else { return };
        self.desk.spare.push(done.reading.names);
        current.closed = current.closed.min(current.frames.len());
        if let Some(above) = current.frames.last() {
            current.walker.lay_out(&above.reading.node, &mut self.desk);
        }
    }

    /// Reads the rest of a directory.
    fn finish(&mut self, walker: &Walker, reading: &mut Reading) {
        let waiting = &mut self.waiting;
        let tell = &mut |trouble| waiting.push_back(trouble);
        walker.read_rest(reading, &mut self.desk, tell);
    }

    /// One step into the current root. `None` at its end.
    fn step(&mut self, current: &mut Current) -> Option<Option<Event>> {
        let walker = Arc::clone(&current.walker);
        let frame = current.frames.last_mut()?;
        let Some((name, kind)) = frame.reading.names.get(frame.next) else {
            let waiting = &mut self.waiting;
            let tell = &mut |trouble| waiting.push_back(trouble);
            frame.next = 0;
            if !walker.read_more(&mut frame.reading, &mut self.desk, tell) {
                self.pop(current);
            }
            return Some(None);
        };
        frame.next += 1;
        let fd = match walker.reopen(&frame.reading.node, &mut self.desk) {
            Ok(fd) => fd,
            Err(error) => {
                let path = walker.show_dir(&frame.reading.node);
                self.pop(current);
                return Some(Some(Event::Trouble(Trouble::io(&path, error))));
            }
        };
        match walker.judge((&frame.reading.node, fd.as_fd()), name, kind, &mut self.desk) {
            Judged::Nothing => Some(None),
            Judged::Trouble(trouble) => Some(Some(Event::Trouble(trouble))),
            Judged::File(found) => {
                let mut path = walker.listed_dir(&frame.reading.node);
                path.extend_from_slice(name.to_bytes());
                Some(Some(Event::File(walker.entry(path, found))))
            }
            Judged::Dir(task) => {
                let waiting = &mut self.waiting;
                let tell = &mut |trouble| waiting.push_back(trouble);
                let reading = walker.enter(&task, &mut self.desk, tell);
                self.push(current, reading);
                Some(None)
            }
        }
    }
}

impl Walker {
    fn entry(&self, path: Vec<u8>, found: Found) -> FileEntry {
        FileEntry {
            path: PathBuf::from(OsString::from_vec(path)),
            root: self.root.index,
            explicit: false,
            time: found.time.and_then(super::Time::to_system),
            bytes: found.bytes,
            source: Source::Regular,
            way: Way::Below(Arc::clone(&self.anchor), self.shown.len()),
        }
    }
}

/// What comes of the walk.
impl Iterator for Steps {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.advance()? {
                return Some(event);
            }
        }
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}
