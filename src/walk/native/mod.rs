//! Our own walk: by descriptors of open directories, so that it cannot be led astray, and with as
//! few system calls as the answer needs.
//!
//! What is known of one directory and its entries is here; [`crew`] walks on several threads in no
//! order, [`steps`] on the caller's thread in the order of the directories. Which files are found
//! is decided by the same filters as in the reference walk.

mod confine;
mod crew;
mod dir;
mod names;
mod rule_file;
mod rules;
mod steps;

pub(super) use dir::Time;
pub(super) use steps::Steps;

use super::filters::Filters;
use super::haul::Haul;
use super::listing::{Found, Gathering};
use super::reference::{Before, Candidate};
use super::roots::{Root, RootKind, is_vcs_name};
use super::trouble::{Origin, Trouble};
use super::{FileEntry, Source, Spot, Visitor, Way};
use crate::beneath::{self, Links};
use crate::cancel::{CancelToken, Stop};
use crate::duty::Duty;
use crate::error::Result;
use crate::faults;
use crate::haystack::{Anchor, Place, is_shortage};
use crate::scope::SortBy;
use crate::text;
use confine::Confinement;
use dir::{Id, Kind, Names, Stat};
use names::{Globs, Worth};
use rule_file::RuleSet;
use rules::{Confined, Layer, Present, Rules, Verdict};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::OFlags;
use std::collections::VecDeque;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Names that are gathered before the rules of their directory are looked for among them. In a
/// larger directory they are looked for by name, which costs five system calls.
const NAMES_BEFORE_RULES: usize = 1024;

/// How many entries are looked at before the token is asked again.
pub(super) const ENTRIES_PER_LOOK: usize = 64;

/// What is walked, and by which rules: what all walks of a scope share.
pub(super) struct Plan {
    filters: Arc<Filters>,
    named: Vec<RuleSet>,
    global: RuleSet,
    confinement: Option<Confinement>,
}

impl Plan {
    /// Reads the rules that the caller named. What is wrong with them comes beside.
    pub(super) fn new(filters: Arc<Filters>, token: &CancelToken) -> Result<(Plan, Vec<Trouble>)> {
        let scope = &filters.scope;
        let confinement = Confinement::of(scope)?;
        let (mut troubles, rules) = (Vec::new(), &scope.ignore);
        let base = filters.base();
        let mut read = |origin, file: &PathBuf| {
            let at = filters.locate_rules(file);
            let is_global = origin == Origin::GlobalRules;
            let reading = rule_file::Reading {
                limits: &scope.limits,
                token,
                // So it is in ripgrep.
                case_insensitive: is_global && rules.case_insensitive,
                relative_to: &base,
            };
            let special = !is_global && scope.roots_policy == crate::scope::RootsPolicy::AsRipgrep;
            let (set, error) = rules::read_named(&reading, &at, special);
            troubles.extend(error.map(|error| Trouble::rule_file(origin, file, at, error)));
            set
        };
        let named = rules.files.iter().map(|file| read(Origin::NamedRules, file)).collect();
        let global = rules.global.as_ref().map(|file| read(Origin::GlobalRules, file));
        let global = global.unwrap_or_default();
        Ok((Plan { filters, named, global, confinement }, troubles))
    }

    /// A file that the caller named, after a look at it if its time counts.
    fn list_named(
        &self,
        root: &Root,
        source: Source,
    ) -> std::result::Result<Option<FileEntry>, Trouble> {
        let listed = self.filters.list(Candidate::new(root, root.path.clone(), Some(source)));
        let Some(mut file) = listed else { return Ok(None) };
        if let (Some(confinement), Source::Regular) = (&self.confinement, source) {
            let failed = |error| Trouble::io(&root.written, error);
            let below = confinement.way(&root.path).map_err(failed)?;
            let dir = clone(&confinement.dir).map_err(failed)?;
            // It was inside when it was looked at first.
            beneath::open(dir.as_fd(), &below, OFlags::PATH, Links::Inside).map_err(failed)?;
            let skip = text::path_bytes(&file.path).len();
            let anchor = Anchor { dir, below, links: Links::Inside };
            file.way = Way::Below(Arc::new(anchor), skip);
        }
        Ok(Some(file))
    }

    /// Walks all roots to their end, in no order. Returns why that ended early.
    pub(super) fn walk_all(
        self: &Arc<Plan>,
        roots: &[Root],
        by: SortBy,
        (duty, token): (&Duty, &CancelToken),
        haul: &Arc<Haul>,
        visitor: Option<&Arc<dyn Visitor>>,
    ) -> Option<Stop> {
        let scope = &self.filters.scope;
        let threads = if scope.pool.is_inline() { 1 } else { scope.pool.threads() };
        let mut before = Before::default();
        for root in roots {
            if let Some(stop) = token.stop() {
                return Some(stop);
            }
            before.begin(root);
            match &root.kind {
                RootKind::Unusable(trouble) => haul.tell(trouble.clone()),
                RootKind::File(source) => {
                    let wish = (by, scope.order, scope.head);
                    match self.list_named(root, *source) {
                        Ok(Some(file)) => haul.add(Gathering::named(file, wish, token)),
                        Ok(None) => {}
                        Err(trouble) => haul.tell(trouble),
                    }
                }
                RootKind::Dir => {
                    let as_parallel = scope.walk_as_parallel && threads > 1;
                    match Walker::begin(
                        Arc::clone(self),
                        root,
                        as_parallel,
                        token,
                        visitor.cloned(),
                    ) {
                        Err(trouble) => haul.tell(trouble),
                        Ok(Begun { walker, root: node, trouble }) => {
                            let trouble =
                                trouble.and_then(|trouble| before.filter_trouble(trouble));
                            trouble.into_iter().for_each(|trouble| haul.tell(trouble));
                            let stopped = crew::walk(walker, node, by, (duty, threads), haul);
                            if stopped.is_some() {
                                return stopped;
                            }
                        }
                    }
                }
            }
        }
        None
    }

    /// Whether a place that the caller named may not be looked at.
    pub(super) fn forbids(&self, place: &Path) -> bool {
        self.confinement.as_ref().is_some_and(|confinement| confinement.is_outside(place))
    }
}

/// A walk that can go on.
struct Begun {
    walker: Arc<Walker>,
    root: Node,
    /// With the rules above the root.
    trouble: Option<Trouble>,
}

/// The walk of one root.
pub(super) struct Walker {
    plan: Arc<Plan>,
    root: Root,
    anchor: Arc<Anchor>,
    globs: Globs,
    rules: Option<Rules>,
    confined: Option<Confined>,
    /// The directories above the root, nearest first; known when links are followed.
    above_root: Vec<(Id, PathBuf)>,
    /// What is before the path from the root: as it is listed, and as globs see it.
    shown: Vec<u8>,
    walked: Vec<u8>,
    /// That of the root, if the walk stays on it.
    device: Option<u64>,
    /// Whether the rules of directories at the depth limit are told of.
    as_parallel: bool,
    /// Who may take files where they are found.
    visitor: Option<Arc<dyn Visitor>>,
    /// How many links to directories were followed.
    followed: AtomicU64,
    /// How many entries have been read, and how many bytes the listing takes.
    entries: AtomicU64,
    listed_bytes: AtomicUsize,
    /// Whether a limit has ended the walk.
    is_full: AtomicBool,
    token: CancelToken,
}

/// A directory of the walk. It has its name only: whole paths of a chain of directories would grow
/// with the square of its length.
pub(super) struct Node {
    /// `None` for the root.
    above: Option<Arc<Node>>,
    name: Box<[u8]>,
    /// How long the path from the root is, with the slash behind it.
    path_bytes: usize,
    depth: usize,
    /// `None` when it had to be closed to keep few open.
    fd: Mutex<Option<Arc<OwnedFd>>>,
    layer: Option<Arc<Layer>>,
    /// Known when links are followed, which must not lead back to it.
    id: Option<Id>,
}

impl Node {
    fn fd(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.fd.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path from the root, with a slash behind it unless it is empty.
    fn path(&self) -> Vec<u8> {
        let mut path = vec![b'/'; self.path_bytes];
        self.write_path(&mut path);
        path
    }

    fn write_path(&self, path: &mut [u8]) {
        let (mut node, mut end) = (self, path.len());
        while let Some(above) = &node.above {
            path[end - 1] = b'/';
            let begin = end - 1 - node.name.len();
            path[begin..end - 1].copy_from_slice(&node.name);
            (node, end) = (above, begin);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // One after the other: see `Layer`.
        let mut above = self.above.take();
        while let Some(mut node) = above.and_then(Arc::into_inner) {
            above = node.above.take();
        }
    }
}

/// A directory that has been found and not been read.
pub(super) struct Task {
    parent: Arc<Node>,
    name: CString,
    /// Whether a link leads to it.
    is_link: bool,
}

/// A directory that is being read.
pub(super) struct Reading {
    node: Arc<Node>,
    /// Needed until all names have been read.
    fd: Option<Arc<OwnedFd>>,
    names: Names,
    /// Whether all names have been read.
    is_over: bool,
}

/// What an entry is.
enum Judged {
    Nothing,
    Dir(Task),
    File(Found),
    Trouble(Trouble),
}

/// What a thread needs again and again.
pub(super) struct Desk {
    buffer: Vec<u8>,
    spare: Vec<Names>,
    /// The directories that it has opened, in that order.
    open: VecDeque<Weak<Node>>,
    /// An entry's path, as it is listed, as globs see it, and its absolute one.
    path: Vec<u8>,
    walked: Vec<u8>,
    absolute: Vec<u8>,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            buffer: Vec::new(),
            spare: Vec::new(),
            open: VecDeque::new(),
            path: Vec::new(),
            walked: Vec::new(),
            absolute: Vec::new(),
        }
    }

    /// Closes all but the last few opened.
    fn close(&mut self, keep: usize) {
        self.open.retain(|node| node.strong_count() > 0);
        while self.open.len() > keep {
            if let Some(node) = self.open.pop_front().and_then(|node| node.upgrade()) {
                node.fd().take();
            }
        }
    }
}

impl Walker {
    /// Opens the root. Trouble with the rules above it comes beside.
    fn begin(
        plan: Arc<Plan>,
        root: &Root,
        as_parallel: bool,
        token: &CancelToken,
        visitor: Option<Arc<dyn Visitor>>,
    ) -> std::result::Result<Begun, Trouble> {
        let filters = &plan.filters;
        let scope = &filters.scope;
        let failed = |error: io::Error| Trouble::io(&root.written, error);
        let (fd, confined) = match &plan.confinement {
            None => (beneath::open_dir(&root.path).map_err(failed)?, None),
            Some(outer) => {
                let mut way = outer.way(&root.path).map_err(failed)?;
                let flags = dir::dir_flags();
                let fd =
                    beneath::open(outer.dir.as_fd(), &way, flags, Links::Inside).map_err(failed)?;
                if !way.is_empty() {
                    way.push(b'/');
                }
                let (dir, path) = (Arc::clone(&outer.dir), outer.real.clone());
                (fd, Some(Confined { dir, root: way, path }))
            }
        };
        let links = match (scope.follow_links, &confined) {
            (false, _) => Links::Refused,
            (true, None) => Links::Followed,
            (true, Some(_)) => Links::Inside,
        };
        let anchor = match &confined {
            // A link may lead to what is beside the root.
            Some(confined) if links == Links::Inside => Anchor {
                dir: clone(&confined.dir).map_err(failed)?,
                below: confined.root.clone(),
                links,
            },
            _ => Anchor { dir: clone(&fd).map_err(failed)?, below: Vec::new(), links },
        };
        let fd = Arc::new(fd);
        let mut rules = Rules::new(
            &scope.ignore,
            &scope.limits,
            plan.named.clone(),
            plan.global.clone(),
            filters.base(),
            confined.clone(),
            token,
        );
        let (mut layer, mut trouble) = (None, None);
        let look_above = rules.is_some() || scope.follow_links;
        let real = match look_above.then(|| faults::real_path(&root.path)) {
            Some(Ok(real)) => Some(real),
            None => None,
            Some(Err(error)) => {
                // Of what is above nothing is known then, neither rules nor where links lead back.
                let error = rules::unread(&root.path, &error);
                trouble = Some(Trouble::rules(root, &root.path, &error));
                None
            }
        };
        if let (Some(rules), Some(real)) = (&mut rules, &real) {
            let (above, error) = rules.read_above(real, scope.follow_links);
            layer = above;
            trouble = error.map(|error| Trouble::entry(root, error));
        }
        let id = dir::stat_open(fd.as_fd()).map_err(failed)?.id;
        let outermost = confined.as_ref().map_or(Path::new("/"), |confined| &confined.path);
        let above_root = match &real {
            Some(real) if scope.follow_links => ancestors(real, outermost),
            _ => Vec::new(),
        };
        let mut shown = text::path_bytes(&root.written).into_owned();
        if !shown.is_empty() && !shown.ends_with(b"/") {
            shown.push(b'/');
        }
        let node = Node {
            above: None,
            name: Box::default(),
            path_bytes: 0,
            depth: 0,
            fd: Mutex::new(Some(fd)),
            layer,
            id: scope.follow_links.then_some(id),
        };
        let walker = Walker {
            globs: Globs::new(filters, &root.path),
            walked: names::walked_prefix(&root.path),
            device: scope.one_file_system.then_some(id.device),
            followed: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            listed_bytes: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            token: token.clone(),
            root: root.clone(),
            anchor: Arc::new(anchor),
            rules,
            confined,
            above_root,
            shown,
            as_parallel,
            visitor,
            plan,
        };
        Ok(Begun { walker: Arc::new(walker), root: node, trouble })
    }

    fn scope(&self) -> &crate::scope::Scope {
        &self.plan.filters.scope
    }

    fn gathering(&self, by: SortBy) -> Gathering {
        let scope = self.scope();
        let anchor = Some((Arc::clone(&self.anchor), self.shown.len()));
        Gathering::new(self.root.index, anchor, (by, scope.order, scope.head), &self.token)
    }

    /// Begins to read the root.
    fn enter_root(
        &self,
        root: Node,
        desk: &mut Desk,
        tell: &mut dyn FnMut(Trouble),
    ) -> Option<Reading> {
        let fd = root.fd().take()?;
        if self.scope().max_depth == Some(0) {
            if self.as_parallel {
                self.tell_rules(&root, fd.as_fd(), tell);
            }
            return None;
        }
        self.read_first(root, fd, desk, tell)
    }

    /// Opens a directory and reads its rules and first names.
    fn enter(
        &self,
        task: &Task,
        desk: &mut Desk,
        tell: &mut dyn FnMut(Trouble),
    ) -> Option<Reading> {
        if self.is_full() {
            return None;
        }
        let show = || self.show_in(&task.parent, task.name.to_bytes());
        let fd = match self.open(task, desk) {
            Ok(fd) => Arc::new(fd),
            Err(error) => {
                tell(Trouble::io(&show(), error));
                return None;
            }
        };
        let mut id = None;
        if self.device.is_some() || task.parent.id.is_some() {
            match dir::stat_open(fd.as_fd()) {
                Ok(stat) => id = Some(stat.id),
                Err(error) => {
                    tell(Trouble::io(&show(), error));
                    return None;
                }
            }
        }
        let node = Node {
            above: Some(Arc::clone(&task.parent)),
            name: task.name.to_bytes().into(),
            path_bytes: task.parent.path_bytes + task.name.count_bytes() + 1,
            depth: task.parent.depth + 1,
            fd: Mutex::new(None),
            layer: task.parent.layer.clone(),
            id,
        };
        let is_foreign = self.device.zip(id).is_some_and(|(device, id)| device != id.device);
        let is_deepest = self.scope().max_depth.is_some_and(|max| node.depth >= max);
        if is_foreign || is_deepest {
            self.tell_rules(&node, fd.as_fd(), tell);
            return None;
        }
        self.read_first(node, fd, desk, tell)
    }

    /// Reads the rules of an open directory and its first names.
    fn read_first(
        &self,
        mut node: Node,
        fd: Arc<OwnedFd>,
        desk: &mut Desk,
        tell: &mut dyn FnMut(Trouble),
    ) -> Option<Reading> {
        let mut names = desk.spare.pop().unwrap_or_default();
        names.clear();
        let is_over;
        let mut present = Present::unknown();
        let worth = match self.globs.are_literal() {
            true => self.globs.worth(&node.path()),
            false => Worth::All,
        };
        match worth {
            Worth::Nothing => return None,
            Worth::Only(name) => {
                is_over = true;
                if let Some(name) = dir::c_name(name.as_bytes()) {
                    match dir::stat(fd.as_fd(), &name, false, SortBy::Nothing) {
                        Ok(stat) => names.push(&name, stat.kind),
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => {
                            let shown = self.show_in(&node, name.to_bytes());
                            tell(Trouble::io(&shown, error));
                        }
                    }
                }
            }
            Worth::All | Worth::Some => {
                let with_rules = self.rules.as_ref().is_some_and(Rules::are_in_directories);
                let enough = if with_rules { NAMES_BEFORE_RULES } else { 0 };
                is_over = loop {
                    let before = names.len();
                    let read = dir::read_piece(fd.as_fd(), &mut desk.buffer, &mut names);
                    self.count_entries(names.len() - before, tell);
                    match read {
                        Ok(true) if names.len() < enough => {}
                        Ok(more) => break !more || self.is_full(),
                        Err(error) => {
                            tell(Trouble::io(&self.show_dir(&node), error));
                            break true;
                        }
                    }
                };
                if is_over {
                    present = Present::among(&names);
                }
            }
        }
        if let Some(rules) = &self.rules
            && rules.are_in_directories()
        {
            node.layer = self.read_rules(rules, &node, fd.as_fd(), present, tell);
        }
        node.fd = Mutex::new(Some(Arc::clone(&fd)));
        let node = Arc::new(node);
        self.keep_few_open(&node, desk);
        Some(Reading { node, fd: Some(fd), names, is_over })
    }

    fn read_rules(
        &self,
        rules: &Rules,
        node: &Node,
        fd: BorrowedFd<'_>,
        present: Present,
        tell: &mut dyn FnMut(Trouble),
    ) -> Option<Arc<Layer>> {
        let path = node.path();
        let shown = self.show(trimmed(&path));
        let confined = match &self.confined {
            Some(outer) => [&*outer.root, &path].concat(),
            None => Vec::new(),
        };
        let place = rules::Place { fd, shown: &shown, confined: &confined };
        let (layer, error) = rules.read(&place, present, node.layer.clone(), node.path_bytes);
        if let Some(error) = error {
            tell(Trouble::rules(&self.root, &shown, &error));
        }
        layer
    }

    /// Tells what is wrong with the rules of a directory that is not read.
    fn tell_rules(&self, node: &Node, fd: BorrowedFd<'_>, tell: &mut dyn FnMut(Trouble)) {
        if let Some(rules) = &self.rules
            && rules.are_in_directories()
        {
            self.read_rules(rules, node, fd, Present::unknown(), tell);
        }
    }

    /// Reads more names, in place of those that were read before. Says whether there are any.
    fn read_more(
        &self,
        reading: &mut Reading,
        desk: &mut Desk,
        tell: &mut dyn FnMut(Trouble),
    ) -> bool {
        while !reading.is_over {
            reading.names.clear();
            self.read_piece(reading, desk, tell);
            if reading.names.len() > 0 {
                return true;
            }
        }
        false
    }

    /// Reads all further names, and closes the directory.
    fn read_rest(&self, reading: &mut Reading, desk: &mut Desk, tell: &mut dyn FnMut(Trouble)) {
        while !reading.is_over && self.stop().is_none() {
            self.read_piece(reading, desk, tell);
        }
        reading.fd = None;
    }

    fn read_piece(&self, reading: &mut Reading, desk: &mut Desk, tell: &mut dyn FnMut(Trouble)) {
        let Some(fd) = &reading.fd else {
            reading.is_over = true;
            return;
        };
        let before = reading.names.len();
        let read = dir::read_piece(fd.as_fd(), &mut desk.buffer, &mut reading.names);
        self.count_entries(reading.names.len() - before, tell);
        match read {
            Ok(more) => reading.is_over = !more || self.is_full(),
            Err(error) => {
                tell(Trouble::io(&self.show_dir(&reading.node), error));
                reading.is_over = true;
            }
        }
    }

    /// Notes that a directory has been opened, and closes others if there are too many.
    fn keep_few_open(&self, node: &Arc<Node>, desk: &mut Desk) {
        desk.open.push_back(Arc::downgrade(node));
        if desk.open.len() > self.scope().limits.max_open_directories {
            desk.close(self.scope().limits.max_open_directories / 2);
        }
    }

    fn open(&self, task: &Task, desk: &mut Desk) -> io::Result<OwnedFd> {
        let mut tried = false;
        loop {
            let parent = self.reopen(&task.parent, desk);
            let opened = parent.and_then(|parent| match (&self.confined, task.is_link) {
                (Some(confined), true) => {
                    let path = join(&task.parent, task.name.to_bytes());
                    let way = [&confined.root, &*path].concat();
                    beneath::open(confined.dir.as_fd(), &way, dir::dir_flags(), Links::Inside)
                }
                _ => Ok(dir::open(parent.as_fd(), &task.name, task.is_link)?),
            });
            match opened {
                Err(error) if !tried && is_shortage(&error) => {
                    desk.close(0);
                    tried = true;
                }
                opened => return opened,
            }
        }
    }

    /// The descriptor of a directory, opened again if it had been closed.
    fn reopen(&self, node: &Arc<Node>, desk: &mut Desk) -> io::Result<Arc<OwnedFd>> {
        let opened = {
            let mut fd = node.fd();
            if let Some(fd) = &*fd {
                return Ok(Arc::clone(fd));
            }
            let opened = Arc::new(self.anchor.open(trimmed(&node.path()), dir::dir_flags())?);
            *fd = Some(Arc::clone(&opened));
            opened
        };
        // It counts again: a tree in the form of a comb would keep one open for each of its teeth.
        self.keep_few_open(node, desk);
        Ok(opened)
    }

    /// Makes the desk ready for entries of this directory.
    fn lay_out(&self, node: &Node, desk: &mut Desk) {
        let Desk { path, walked, absolute, .. } = desk;
        if self.rules.is_none() && !self.globs.see_paths() {
            return;
        }
        path.clear();
        path.resize(node.path_bytes, b'/');
        node.write_path(path);
        let lay = |into: &mut Vec<u8>, prefix: &[u8]| {
            into.clear();
            into.extend_from_slice(prefix);
            into.extend_from_slice(path);
        };
        lay(walked, &self.walked);
        match self.rules.as_ref().map_or(&b""[..], Rules::absolute) {
            b"" => absolute.clear(),
            prefix => lay(absolute, prefix),
        }
    }

    /// The path of a directory of files, as it is listed, with a slash behind it.
    fn listed_dir(&self, node: &Node) -> Vec<u8> {
        let mut dir = self.shown.clone();
        dir.resize(dir.len() + node.path_bytes, b'/');
        node.write_path(&mut dir[self.shown.len()..]);
        dir
    }

    /// Whether an entry comes of a directory, and what. The desk has been laid out for it.
    fn judge(
        &self,
        reading: (&Arc<Node>, BorrowedFd<'_>),
        name: &CStr,
        mut kind: Kind,
        desk: &mut Desk,
    ) -> Judged {
        let (node, fd) = reading;
        let scope = self.scope();
        let bytes = name.to_bytes();
        if kind == Kind::Unknown {
            match dir::stat(fd, name, false, SortBy::Nothing) {
                Ok(stat) => kind = stat.kind,
                Err(error) => {
                    return Judged::Trouble(Trouble::io(&self.show_in(node, bytes), error));
                }
            }
        }
        let mut looked = None;
        let is_link = kind == Kind::Link;
        if is_link {
            if !scope.follow_links {
                return Judged::Nothing;
            }
            match self.follow(node, fd, name) {
                Ok(stat) => {
                    kind = stat.kind;
                    looked = Some(stat);
                }
                Err(error) => {
                    return match self.passes(node, bytes, false, desk) {
                        true => Judged::Trouble(Trouble::io(&self.show_in(node, bytes), error)),
                        false => Judged::Nothing,
                    };
                }
            }
            if kind == Kind::Dir
                && let Some(stat) = looked
                && let Some(ancestor) = self.loops(node, stat.id)
            {
                let child = self.show_in(node, bytes);
                return Judged::Trouble(Trouble::looped(&self.root, &ancestor, child));
            }
        }
        let is_dir = match kind {
            Kind::Dir => true,
            Kind::File => false,
            _ => return Judged::Nothing,
        };
        if (scope.prune_vcs && is_vcs_name(OsStr::from_bytes(bytes)))
            || !self.passes(node, bytes, is_dir, desk)
        {
            return Judged::Nothing;
        }
        match is_dir {
            true => self.descend(node, name, is_link),
            false => self.list((fd, name), looked),
        }
    }

    fn descend(&self, node: &Arc<Node>, name: &CStr, is_link: bool) -> Judged {
        let scope = self.scope();
        let is_too_deep = scope.max_depth.is_some_and(|max| node.depth + 1 >= max);
        if is_too_deep && !(self.as_parallel && self.rules.is_some()) {
            return Judged::Nothing;
        }
        let max = scope.limits.max_levels;
        if node.depth >= max {
            let at = self.show_in(node, name.to_bytes());
            let message = format!("the directory is over max_levels ({max})");
            return Judged::Trouble(Trouble::limit(&at, message));
        }
        if is_link {
            let max = scope.limits.max_followed_directories;
            if self.followed.fetch_add(1, Ordering::Relaxed) >= max {
                let at = self.show_in(node, name.to_bytes());
                let message = format!("the link is over max_followed_directories ({max})");
                return Judged::Trouble(Trouble::limit(&at, message));
            }
        }
        Judged::Dir(Task { parent: Arc::clone(node), name: name.to_owned(), is_link })
    }

    /// Shows a file to a visitor. Says what is listed of it, unless it has been taken.
    fn show_to(
        &self,
        visitor: &dyn Visitor,
        (node, fd): (&Node, BorrowedFd<'_>),
        (name, is_link, found): (&CStr, bool, Found),
        path: &mut Vec<u8>,
    ) -> Option<Found> {
        let time = || found.time.or_else(|| self.time(fd, name));
        if visitor.wants_more() {
            path.truncate(self.shown.len() + node.path_bytes);
            path.extend_from_slice(name.to_bytes());
            let spot = Spot {
                root: self.root.index,
                path: Path::new(OsStr::from_bytes(path)),
                place: match is_link {
                    true => Place::Below(&self.anchor, &path[self.shown.len()..]),
                    false => Place::In(fd, name),
                },
                time: &|| time().and_then(Time::to_system),
            };
            if visitor.visit(spot) {
                return None;
            }
        }
        Some(Found { time: time(), ..found })
    }

    /// The time of a file, if it is ordered by one.
    fn time(&self, fd: BorrowedFd<'_>, name: &CStr) -> Option<Time> {
        let by = self.scope().sort_by;
        match by {
            SortBy::Path | SortBy::Nothing => None,
            _ => dir::stat(fd, name, false, by).ok()?.time,
        }
    }

    /// Whether files are shown to a visitor, who looks for their time if it counts.
    fn is_visited(&self) -> bool {
        self.visitor.as_ref().is_some_and(|visitor| visitor.wants_more())
    }

    /// Looks at a file, once, if its time or size counts.
    fn list(&self, (fd, name): (BorrowedFd<'_>, &CStr), looked: Option<Stat>) -> Judged {
        let scope = self.scope();
        let by_time = !matches!(scope.sort_by, SortBy::Path | SortBy::Nothing)
            && (looked.is_some() || !self.is_visited());
        let mut found = Found::default();
        if by_time || scope.max_file_bytes.is_some() {
            let stat = match looked {
                Some(stat) => Some(stat),
                None => dir::stat(fd, name, false, scope.sort_by).ok(),
            };
            found.bytes = stat.map(|stat| stat.bytes);
            found.time = stat.and_then(|stat| stat.time);
            if scope.max_file_bytes.zip(found.bytes).is_some_and(|(max, bytes)| bytes > max) {
                return Judged::Nothing;
            }
        }
        if let Some(progress) = &scope.progress {
            progress.list_one();
        }
        Judged::File(found)
    }

    /// What a link leads to.
    fn follow(&self, node: &Node, fd: BorrowedFd<'_>, name: &CStr) -> io::Result<Stat> {
        let by = self.scope().sort_by;
        let Some(confined) = &self.confined else { return dir::stat(fd, name, true, by) };
        let way = [&*confined.root, &join(node, name.to_bytes())].concat();
        let flags = OFlags::PATH;
        let opened = beneath::open(confined.dir.as_fd(), &way, flags, Links::Inside)?;
        dir::stat_handle(opened.as_fd(), by)
    }

    /// Whether globs, rules, types and the dot at its beginning let an entry pass.
    fn passes(&self, node: &Node, name: &[u8], is_dir: bool, desk: &mut Desk) -> bool {
        let scope = self.scope();
        let types = &self.plan.filters.types;
        let has_rules = self.rules.is_some();
        if has_rules || self.globs.see_paths() {
            replace_name(&mut desk.walked, self.walked.len() + node.path_bytes, name);
        }
        match self.globs.verdict(name, &desk.walked, is_dir) {
            Verdict::Ignored => return false,
            Verdict::Listed => return true,
            Verdict::None => {}
        }
        let mut is_listed = false;
        if let Some(rules) = &self.rules
            && (node.layer.is_some() || rules.named_or_global())
        {
            replace_name(&mut desk.path, node.path_bytes, name);
            if !desk.absolute.is_empty() {
                replace_name(&mut desk.absolute, rules.absolute().len() + node.path_bytes, name);
            }
            let entry = rules::Named {
                below_root: &desk.path,
                walked: &desk.walked,
                absolute: &desk.absolute,
                is_dir,
            };
            match rules.verdict(node.layer.as_deref(), &entry) {
                Verdict::Ignored => return false,
                Verdict::Listed => is_listed = true,
                Verdict::None => {}
            }
        }
        if !types.is_empty() {
            match types.matched(Path::new(OsStr::from_bytes(name)), is_dir) {
                ignore::Match::Ignore(_) => return false,
                ignore::Match::Whitelist(_) => is_listed = true,
                ignore::Match::None => {}
            }
        }
        is_listed || scope.hidden || !name.starts_with(b".")
    }

    /// A path from the root as it is listed.
    fn show(&self, path: &[u8]) -> PathBuf {
        let root = &self.root.written;
        if path.is_empty() { root.clone() } else { root.join(OsStr::from_bytes(path)) }
    }

    fn show_dir(&self, node: &Node) -> PathBuf {
        self.show(trimmed(&node.path()))
    }

    fn show_in(&self, node: &Node, name: &[u8]) -> PathBuf {
        self.show(&join(node, name))
    }

    /// The directory above that a link leads back to.
    fn loops(&self, node: &Arc<Node>, id: Id) -> Option<PathBuf> {
        let mut next = Some(node);
        while let Some(node) = next {
            if node.id == Some(id) {
                return Some(self.show_dir(node));
            }
            next = node.above.as_ref();
        }
        let above = self.above_root.iter().find(|(above, _)| *above == id);
        above.map(|(_, path)| path.clone())
    }

    fn stop(&self) -> Option<Stop> {
        self.token.stop()
    }

    /// Whether a limit has ended the walk. What is in hand is still listed.
    fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    fn count_entries(&self, more: usize, tell: &mut dyn FnMut(Trouble)) {
        let max = self.scope().limits.max_entries;
        let entries = self.entries.fetch_add(more as u64, Ordering::Relaxed) + more as u64;
        if entries > max {
            self.fill(format!("the walk ends at max_entries ({max})"), tell);
        }
    }

    /// The listing takes more bytes than before, or fewer.
    fn count_listed(&self, before: usize, after: usize, tell: &mut dyn FnMut(Trouble)) {
        let max = self.scope().limits.max_listing_bytes;
        let more = after.wrapping_sub(before);
        let listed = self.listed_bytes.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
        if listed > max {
            self.fill(format!("the walk ends at max_listing_bytes ({max})"), tell);
        }
    }

    fn fill(&self, message: String, tell: &mut dyn FnMut(Trouble)) {
        if !self.is_full.swap(true, Ordering::Relaxed) {
            tell(Trouble::limit(&self.root.written, message));
        }
    }
}

fn replace_name(path: &mut Vec<u8>, dir: usize, name: &[u8]) {
    path.truncate(dir);
    path.extend_from_slice(name);
}

fn join(dir: &Node, name: &[u8]) -> Vec<u8> {
    let mut path = dir.path();
    path.extend_from_slice(name);
    path
}

/// The path of a directory without the slash behind it.
fn trimmed(path: &[u8]) -> &[u8] {
    path.strip_suffix(b"/").unwrap_or(path)
}

fn clone(fd: &OwnedFd) -> io::Result<OwnedFd> {
    faults::pass()?;
    fd.try_clone()
}

/// The real directories above the real path of a root up to one, nearest first.
fn ancestors(real: &Path, outermost: &Path) -> Vec<(Id, PathBuf)> {
    let above = real.ancestors().skip(1).take_while(|dir| dir.starts_with(outermost));
    above
        .filter_map(|path| {
            let dir = dir::open_handle(path.as_os_str()).ok()?;
            Some((dir::stat_open(dir.as_fd()).ok()?.id, path.to_path_buf()))
        })
        .collect()
}
