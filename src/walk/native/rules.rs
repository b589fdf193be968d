//! The ignore files of one directory and of those above it, and what they say together.
//!
//! Which file has the first say is ripgrep's order; see [`IgnoreRules`]. How they are found and
//! read is ours: only regular files, never waiting, at a bounded cost.

use super::dir::{self, Kind, Names};
use super::rule_file::{Errors, Reading, RuleSet, not_utf8, refused, split_lines, with_path};
use crate::beneath::{self, Links};
use crate::cancel::CancelToken;
use crate::faults::{self, Reads};
use crate::limits::WalkLimits;
use crate::scope::{IgnoreRules, SortBy};
use ignore::Error;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A `.git` file, and the file that its worktree is described in, has one line with one path.
const MAX_POINTER_BYTES: u64 = 4 << 10;

/// What rules say of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    None,
    Ignored,
    Listed,
}

/// The rules of one directory that has any, or that is a repository's.
pub(super) struct Layer {
    above: Option<Arc<Layer>>,
    /// How long the path of its directory is, with the slash behind it; of the absolute path, if
    /// it lies above the root.
    begin: usize,
    above_root: bool,
    is_repository: bool,
    in_repository: bool,
    /// Whether it is a repository to the global rules, for which it need not be asked for others.
    in_any_repository: bool,
    /// `.rgignore`, `.ignore`, `.gitignore`, `.git/info/exclude`.
    sets: [RuleSet; 4],
    weight: usize,
    /// The weight of all layers of the walk.
    total: Arc<AtomicUsize>,
}

const FIRST_OF_GIT: usize = 2;
const EXCLUDE: usize = 3;

impl Drop for Layer {
    fn drop(&mut self) {
        self.total.fetch_sub(self.weight, Ordering::Relaxed);
        // One after the other: ten thousand nested ones would overflow the stack.
        let mut above = self.above.take();
        while let Some(mut layer) = above.and_then(Arc::into_inner) {
            above = layer.above.take();
        }
    }
}

/// Which names that matter to rules are in a directory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Present {
    rgignore: bool,
    ignore: bool,
    gitignore: bool,
    git: bool,
    jj: bool,
}

impl Present {
    /// As the names say.
    pub(super) fn among(names: &Names) -> Present {
        let mut present = Present::default();
        for (name, _) in names.iter() {
            match name.to_bytes() {
                b".rgignore" => present.rgignore = true,
                b".ignore" => present.ignore = true,
                b".gitignore" => present.gitignore = true,
                b".git" => present.git = true,
                b".jj" => present.jj = true,
                _ => {}
            }
        }
        present
    }

    /// Each may be there.
    pub(super) fn unknown() -> Present {
        Present { rgignore: true, ignore: true, gitignore: true, git: true, jj: true }
    }
}

/// What holds for all rules of a walk.
pub(super) struct Rules {
    options: IgnoreRules,
    limits: WalkLimits,
    token: CancelToken,
    /// Whether the token stopped while rules were compiled.
    are_cut: AtomicBool,
    /// In the order in which they were named, with their patterns relative to the base.
    named: Vec<RuleSet>,
    global: RuleSet,
    base: PathBuf,
    /// What links and pointers must not lead out of, and how the root is called below it.
    confined: Option<Confined>,
    /// The real path of the root with a slash, if there are rules above it.
    absolute: Vec<u8>,
    total: Arc<AtomicUsize>,
}

/// The directory that a walk is confined to.
#[derive(Clone, Debug)]
pub(super) struct Confined {
    pub(super) dir: Arc<OwnedFd>,
    /// The way from there to the root, with a slash unless it is empty.
    pub(super) root: Vec<u8>,
    /// Its real path.
    pub(super) path: PathBuf,
}

/// A directory whose rules are read.
pub(super) struct Place<'a> {
    pub(super) fd: BorrowedFd<'a>,
    /// For messages.
    pub(super) shown: &'a Path,
    /// From the directory that the walk is confined to.
    pub(super) confined: &'a [u8],
}

impl Rules {
    /// `None` if there are none to be obeyed.
    pub(super) fn new(
        options: &IgnoreRules,
        limits: &WalkLimits,
        named: Vec<RuleSet>,
        global: RuleSet,
        base: PathBuf,
        confined: Option<Confined>,
        token: &CancelToken,
    ) -> Option<Rules> {
        let wanted = options.dot || options.vcs || options.exclude;
        if !wanted && named.is_empty() && options.global.is_none() {
            return None;
        }
        Some(Rules {
            options: options.clone(),
            limits: limits.clone(),
            token: token.clone(),
            are_cut: AtomicBool::new(false),
            named,
            global,
            base,
            confined,
            absolute: Vec::new(),
            total: Arc::default(),
        })
    }

    /// Whether the token stopped while rules were compiled, so that what they are about is left out.
    pub(super) fn are_cut(&self) -> bool {
        self.are_cut.load(Ordering::Relaxed)
    }

    /// Whether directories are looked into for rules at all.
    pub(super) fn are_in_directories(&self) -> bool {
        self.options.dot || self.options.vcs || self.options.exclude || self.seeks_repositories()
    }

    /// Whether it counts that a repository begins in a directory.
    fn seeks_repositories(&self) -> bool {
        let IgnoreRules { vcs, exclude, require_git, .. } = self.options;
        require_git && (vcs || exclude || !self.global.is_empty())
    }

    pub(super) fn named_or_global(&self) -> bool {
        !self.named.is_empty() || !self.global.is_empty()
    }

    /// Reads the rules of the directories above the root, whose real path is given.
    ///
    /// They are read also when they are not to be obeyed: a repository may begin there, and
    /// ripgrep tells of their faults.
    pub(super) fn read_above(
        &mut self,
        root: &Path,
        follow_links: bool,
    ) -> (Option<Arc<Layer>>, Option<Error>) {
        let IgnoreRules { parents, vcs, exclude, .. } = self.options;
        let present = if parents || vcs || exclude || follow_links {
            Present::unknown()
        } else if self.seeks_repositories() {
            Present { git: true, jj: true, ..Present::default() }
        } else {
            return (None, None);
        };
        let outermost = self.confined.as_ref().map(|confined| confined.path.clone());
        let mut above: Vec<_> = root.ancestors().skip(1).collect();
        if let Some(outermost) = &outermost {
            above.retain(|dir| dir.starts_with(outermost));
        }
        let mut layer: Option<Arc<Layer>> = None;
        let mut errors = Errors::default();
        let mut has_rules = false;
        for dir in above.into_iter().rev() {
            let opened = match (&self.confined, &outermost) {
                (Some(confined), Some(outermost)) => {
                    let Ok(way) = dir.strip_prefix(outermost) else { continue };
                    let flags = OFlags::PATH | OFlags::DIRECTORY;
                    let way = way.as_os_str().as_bytes();
                    beneath::open(confined.dir.as_fd(), way, flags, Links::Inside)
                }
                _ => dir::open_handle(dir.as_os_str()).map_err(io::Error::from),
            };
            let opened = match opened {
                Ok(opened) => opened,
                Err(error) if is_absent(&error) => continue,
                Err(error) => {
                    errors.push(Some(unread(dir, &error)));
                    continue;
                }
            };
            let confined = outermost.as_ref().and_then(|outer| dir.strip_prefix(outer).ok());
            let mut confined =
                confined.map_or(Vec::new(), |way| way.as_os_str().as_bytes().to_vec());
            if !confined.is_empty() {
                confined.push(b'/');
            }
            let place = Place { fd: opened.as_fd(), shown: dir, confined: &confined };
            let len = dir.as_os_str().len();
            let begin = if dir.as_os_str().as_bytes().ends_with(b"/") { len } else { len + 1 };
            let (next, error) = self.read_layer(&place, present, layer, begin, true);
            errors.push(error);
            layer = next;
        }
        let mut next = layer.as_deref();
        while let Some(layer) = next {
            has_rules |= layer.sets.iter().any(|set| !set.is_empty());
            next = layer.above.as_deref();
        }
        if parents && has_rules {
            self.absolute = root.as_os_str().as_bytes().to_vec();
            if !self.absolute.ends_with(b"/") {
                self.absolute.push(b'/');
            }
        }
        (layer, errors.into_one())
    }

    /// Reads the rules of a directory of the walk. `begin` is how long its path from the root is,
    /// with the slash behind it.
    pub(super) fn read(
        &self,
        place: &Place<'_>,
        present: Present,
        above: Option<Arc<Layer>>,
        begin: usize,
    ) -> (Option<Arc<Layer>>, Option<Error>) {
        self.read_layer(place, present, above, begin, false)
    }

    fn read_layer(
        &self,
        place: &Place<'_>,
        present: Present,
        above: Option<Arc<Layer>>,
        begin: usize,
        above_root: bool,
    ) -> (Option<Arc<Layer>>, Option<Error>) {
        let IgnoreRules { dot, vcs, exclude, .. } = self.options;
        let mut errors = Errors::default();
        let git = if present.git && (exclude || self.seeks_repositories()) {
            self.look_at(place, c".git", &mut errors)
        } else {
            None
        };
        let is_marked = self.seeks_repositories()
            && (git.is_some()
                || (present.jj && self.look_at(place, c".jj", &mut errors).is_some()));
        let mut is_repository = (vcs || exclude) && is_marked;
        if above_root {
            // So it is in ripgrep.
            is_repository &= vcs;
        }
        let mut sets: [RuleSet; 4] = Default::default();
        let files = [
            (dot && present.rgignore, c".rgignore", 0),
            (dot && present.ignore, c".ignore", 1),
            (vcs && present.gitignore, c".gitignore", 2),
        ];
        for (wanted, name, at) in files {
            if wanted {
                let path = place.shown.join(OsStr::from_bytes(name.to_bytes()));
                let opened = self.open(place, name.to_bytes());
                sets[at] = self.read_file(opened, &path, &mut errors);
            }
        }
        if exclude && present.git {
            let is_pointer = git.is_some_and(|git| git.kind == Kind::File);
            let opened = match is_pointer {
                false => Some((self.open(place, b".git/info/exclude"), place.shown.join(".git"))),
                true => self.worktree(place, &mut errors),
            };
            if let Some((opened, git_dir)) = opened {
                let path = git_dir.join("info/exclude");
                sets[EXCLUDE] = self.read_file(opened, &path, &mut errors);
            }
        }
        let has_rules = sets.iter().any(|set| !set.is_empty());
        if !has_rules && !is_marked {
            return (above, errors.into_one());
        }
        let mut weight = sets.iter().map(|set| set.weight).sum();
        let before = self.total.fetch_add(weight, Ordering::Relaxed);
        let max = self.limits.max_rule_memory_bytes;
        if before + weight > max {
            self.total.fetch_sub(weight, Ordering::Relaxed);
            (sets, weight) = (Default::default(), 0);
            let message =
                format!("the rules of this directory are over max_rule_memory_bytes ({max})");
            errors.push(Some(with_path(place.shown, refused(message))));
        }
        let in_repository =
            is_repository || above.as_ref().is_some_and(|above| above.in_repository);
        let in_any_repository =
            is_marked || above.as_ref().is_some_and(|above| above.in_any_repository);
        let total = Arc::clone(&self.total);
        let layer = Layer {
            above,
            begin,
            above_root,
            is_repository,
            in_repository,
            in_any_repository,
            sets,
            weight,
            total,
        };
        (Some(Arc::new(layer)), errors.into_one())
    }

    /// What stands in a directory under a name, followed if it is a link. `None` for one that leads
    /// out of what the walk is confined to: not even whether something is there may show.
    fn look_at(&self, place: &Place<'_>, name: &CStr, errors: &mut Errors) -> Option<dir::Stat> {
        let look = || match &self.confined {
            None => dir::stat(place.fd, name, true, SortBy::Nothing),
            Some(confined) => {
                let path = [place.confined, name.to_bytes()].concat();
                let opened =
                    beneath::open(confined.dir.as_fd(), &path, OFlags::PATH, Links::Inside)?;
                dir::stat_handle(opened.as_fd(), SortBy::Nothing)
            }
        };
        match look() {
            Ok(stat) => Some(stat),
            Err(error) if is_absent(&error) => None,
            // As in ripgrep. Who may not look here may not open what is here either, and that is told.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            Err(error) => {
                let message = format!("whether a repository begins here is not known: {error}");
                let path = place.shown.join(OsStr::from_bytes(name.to_bytes()));
                errors.push(Some(with_path(&path, refused(message))));
                None
            }
        }
    }

    /// Opens a file of rules, if it is one. `Ok(None)`: there is none.
    fn open(&self, place: &Place<'_>, name: &[u8]) -> io::Result<Option<File>> {
        let open = |flags| -> io::Result<OwnedFd> {
            match &self.confined {
                None => {
                    let name = OsStr::from_bytes(name);
                    Ok(beneath::ask(|| rustix::fs::openat(place.fd, name, flags, Mode::empty()))?)
                }
                Some(confined) => {
                    let path = [place.confined, name].concat();
                    beneath::open(confined.dir.as_fd(), &path, flags, Links::Inside)
                }
            }
        };
        // Looked at first: to open a device can do something.
        let looked = match open(OFlags::PATH | OFlags::CLOEXEC) {
            Ok(fd) => dir::stat_open(fd.as_fd())?,
            Err(error) => return absent(error),
        };
        match looked.kind {
            Kind::File => {}
            Kind::Dir => return Ok(None),
            _ => return Err(not_regular()),
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match open(flags) {
            Ok(fd) => File::from(fd),
            Err(error) => return absent(error),
        };
        faults::pass()?;
        match file.metadata()?.is_file() {
            true => Ok(Some(file)),
            false => Err(not_regular()),
        }
    }

    fn read_file(
        &self,
        opened: io::Result<Option<File>>,
        path: &Path,
        errors: &mut Errors,
    ) -> RuleSet {
        let file = match opened {
            Ok(Some(file)) => file,
            Ok(None) => return RuleSet::default(),
            Err(error) => {
                errors.push(Some(unread(path, &error)));
                return RuleSet::default();
            }
        };
        let reading = Reading {
            limits: &self.limits,
            token: &self.token,
            case_insensitive: self.options.case_insensitive,
            relative_to: Path::new(""),
        };
        let (rules, error) = reading.read(Reads(file), path);
        if rules.is_closed() {
            self.are_cut.store(true, Ordering::Relaxed);
        }
        // A lone line that is no text is passed over in silence, as ripgrep does. That what is
        // there could not be read is told.
        let is_silent = |error: &Error| error.is_io() && error.io_error().is_some_and(is_no_text);
        errors.push(error.filter(|error| !is_silent(error)));
        rules
    }

    /// The file of excluded names of the repository that a worktree's `.git` file points to, and
    /// where that repository is. `None` if the pointer leads nowhere.
    fn worktree(
        &self,
        place: &Place<'_>,
        errors: &mut Errors,
    ) -> Option<(io::Result<Option<File>>, PathBuf)> {
        let shown = place.shown.join(".git");
        let opened = self.open(place, b".git");
        if let Err(error) = opened {
            errors.push(Some(with_path(&shown, Error::Io(error))));
            return None;
        }
        let line = self.first_line(opened, &shown, errors)?;
        let git_dir = PathBuf::from(line.strip_prefix("gitdir: ")?);
        let pointer = git_dir.join("commondir");
        let opened = self.open_anywhere(place, &pointer);
        let line = self.first_line(opened, &pointer, errors)?;
        let common = match line.starts_with('.') {
            true => git_dir.join(line),
            false => PathBuf::from(line),
        };
        Some((self.open_anywhere(place, &common.join("info/exclude")), common))
    }

    /// Opens what a pointer names: anywhere, or inside of what the walk is confined to.
    fn open_anywhere(&self, place: &Place<'_>, path: &Path) -> io::Result<Option<File>> {
        let path = self.base.join(path);
        match &self.confined {
            None => {
                let root = rustix::fs::CWD;
                let place = Place { fd: root, shown: place.shown, confined: b"" };
                self.open(&place, path.as_os_str().as_bytes())
            }
            Some(confined) => {
                let Ok(inside) = path.strip_prefix(&confined.path) else { return Ok(None) };
                let place = Place { fd: confined.dir.as_fd(), shown: place.shown, confined: b"" };
                self.open(&place, inside.as_os_str().as_bytes())
            }
        }
    }

    fn first_line(
        &self,
        opened: io::Result<Option<File>>,
        path: &Path,
        errors: &mut Errors,
    ) -> Option<String> {
        let file = match opened {
            Ok(file) => file?,
            // ripgrep waits for it, or reads it until no memory is left.
            Err(error) if is_not_regular(&error) => {
                let message = format!("the pointer in it is not followed: {error}");
                errors.push(Some(with_path(path, refused(message))));
                return None;
            }
            Err(_) => return None,
        };
        let mut bytes = Vec::new();
        if let Err(error) = Reads(file).take(MAX_POINTER_BYTES).read_to_end(&mut bytes) {
            errors.push(Some(with_path(path, Error::Io(error))));
            return None;
        }
        let line = split_lines(&bytes).next()?;
        if line.len() as u64 == MAX_POINTER_BYTES {
            let message = format!("its first line is over MAX_POINTER_BYTES ({MAX_POINTER_BYTES})");
            errors.push(Some(with_path(path, refused(message))));
            return None;
        }
        match String::from_utf8(line.to_vec()) {
            Ok(line) => Some(line),
            Err(_) => {
                errors.push(Some(with_path(path, not_utf8())));
                None
            }
        }
    }

    /// What is before the path from the root in the absolute path that rules above the root are
    /// held against. Empty if there are none.
    pub(super) fn absolute(&self) -> &[u8] {
        &self.absolute
    }

    /// What the rules say of an entry: of its path from the root, that path as the walk writes it,
    /// and its absolute path, which may be empty if [`absolute`](Rules::absolute) is.
    pub(super) fn verdict(&self, layer: Option<&Layer>, entry: &Named<'_>) -> Verdict {
        let in_repository =
            !self.options.require_git || layer.is_some_and(|layer| layer.in_repository);
        let mut said: [Option<bool>; 4] = [None; 4];
        let mut left_repository = false;
        let mut next = layer;
        while let Some(layer) = next {
            next = layer.above.as_deref();
            let path = match layer.above_root {
                false => &entry.below_root[layer.begin..],
                true if self.absolute.is_empty() => break,
                true => &entry.absolute[layer.begin..],
            };
            let path = Path::new(OsStr::from_bytes(path));
            for (at, set) in layer.sets.iter().enumerate() {
                let obeyed = at < FIRST_OF_GIT || (in_repository && !left_repository);
                if obeyed && said[at].is_none() && !set.is_empty() {
                    said[at] = set.verdict(path, entry.is_dir);
                }
            }
            left_repository |= layer.is_repository;
        }
        let walked = || Path::new(OsStr::from_bytes(entry.walked));
        let global = || {
            let obeyed =
                !self.options.require_git || layer.is_some_and(|layer| layer.in_any_repository);
            (obeyed && !self.global.is_empty())
                .then(|| self.global.verdict(walked(), entry.is_dir))
                .flatten()
        };
        let named = || self.named.iter().rev().find_map(|set| set.verdict(walked(), entry.is_dir));
        match said.into_iter().flatten().next().or_else(global).or_else(named) {
            None => Verdict::None,
            Some(true) => Verdict::Ignored,
            Some(false) => Verdict::Listed,
        }
    }
}

/// An entry as rules see it.
pub(super) struct Named<'a> {
    pub(super) below_root: &'a [u8],
    pub(super) walked: &'a [u8],
    pub(super) absolute: &'a [u8],
    pub(super) is_dir: bool,
}

fn is_no_text(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

/// ripgrep passes over a file of rules that is not there, and one that leads nowhere.
fn absent(error: io::Error) -> io::Result<Option<File>> {
    if is_absent(&error) { Ok(None) } else { Err(error) }
}

fn is_absent(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(
        Errno::from_io_error(error),
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV)
    )
}

/// What is told of rules that could not be read, in a file or in a directory above the root.
pub(super) fn unread(path: &Path, error: &io::Error) -> Error {
    with_path(path, refused(format!("the rules in it are not used: {error}")))
}

const NOT_REGULAR: &str = "it is not a regular file";

fn not_regular() -> io::Error {
    io::Error::other(NOT_REGULAR)
}

fn is_not_regular(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.to_string() == NOT_REGULAR)
}

/// Reads a file of rules that the caller named, or the global one.
pub(super) fn read_named(
    reading: &Reading<'_>,
    path: &Path,
    special: bool,
) -> (RuleSet, Option<Error>) {
    let open = || -> io::Result<File> {
        faults::pass()?;
        let kind = std::fs::metadata(path)?.file_type();
        if !special && !kind.is_file() && !kind.is_dir() {
            return Err(not_regular());
        }
        if special {
            return File::open(path);
        }
        // What has taken its place since is not waited for.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = beneath::ask(|| rustix::fs::open(path, flags, Mode::empty()))?;
        let file = File::from(file);
        faults::pass()?;
        let kind = file.metadata()?.file_type();
        // Reading a directory fails, in the words of ripgrep.
        match kind.is_file() || kind.is_dir() {
            true => Ok(file),
            false => Err(not_regular()),
        }
    };
    match open() {
        Ok(file) => reading.read(Reads(file), path),
        Err(error) => (RuleSet::default(), Some(with_path(path, Error::Io(error)))),
    }
}
