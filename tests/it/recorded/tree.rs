//! Makes the files of a case in a fresh directory and takes them away again.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT, mknodat, utimensat,
};

use super::format::{Entry, TimeKind, replaced};

/// The files of one run; removed when dropped.
pub(crate) struct Tree {
    dir: PathBuf,
    /// FIFOs somebody writes to, and what.
    fed: Vec<(PathBuf, Vec<u8>)>,
}

impl Tree {
    /// Makes the entries in a new directory that any user may enter.
    ///
    /// # Errors
    ///
    /// When something cannot be made; the message names it.
    pub(crate) fn make(entries: &[Entry]) -> Result<Tree, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temp = std::env::temp_dir();
        if temp.to_string_lossy().contains(char::is_whitespace) {
            // `ignore` reads `core.excludesFile` up to the first space.
            return Err(format!("{}: cases need a place without spaces", temp.display()));
        }
        let name = format!("ingrep-case-{}-{count}", std::process::id());
        // Canonical, because answers that name the directory are compared by text.
        let dir = temp.canonicalize().map_err(|err| format!("{}: {err}", temp.display()))?;
        let mut tree = Tree { dir: dir.join(name), fed: Vec::new() };
        let made = fs::create_dir(&tree.dir)
            .and_then(|()| fs::set_permissions(&tree.dir, Permissions::from_mode(0o755)));
        made.map_err(|err| format!("{}: {err}", tree.dir.display()))?;
        let (last, first): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| {
            // A mode can forbid, and a later entry can change, what these set.
            matches!(entry, Entry::Mode { .. } | Entry::Time { .. })
        });
        for entry in first {
            tree.add(entry)?;
        }
        // Whatever the umask says, the user of `nonroot` runs can read what no `mode` forbids.
        open_up(&tree.dir);
        for entry in last {
            tree.add(entry)?;
        }
        Ok(tree)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Runs `job` while writers wait at the FIFOs that are fed.
    pub(crate) fn while_fed<T>(&self, job: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (path, bytes) in &self.fed {
                scope.spawn(|| feed(path, bytes, &done));
            }
            let result = job();
            done.store(true, Ordering::Relaxed);
            result
        })
    }

    fn add(&mut self, entry: &Entry) -> Result<(), String> {
        let (Entry::File { path, .. }
        | Entry::Dir { path }
        | Entry::Link { path, .. }
        | Entry::Fifo { path, .. }
        | Entry::Socket { path }
        | Entry::Mode { path, .. }
        | Entry::Time { path, .. }) = entry;
        let path = self.dir.join(OsStr::from_bytes(path));
        self.add_at(&path, entry).map_err(|err| format!("{}: {err}", path.display()))
    }

    fn add_at(&mut self, path: &Path, entry: &Entry) -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let dir = self.dir.as_os_str().as_bytes();
        match entry {
            Entry::File { content, .. } => fs::write(path, replaced(content, b"$DIR", dir)),
            Entry::Dir { .. } => fs::create_dir_all(path),
            Entry::Link { target, .. } => {
                symlink(OsStr::from_bytes(&replaced(target, b"$DIR", dir)), path)
            }
            Entry::Fifo { fed, .. } => {
                mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0)?;
                if !fed.is_empty() {
                    self.fed.push((path.to_path_buf(), fed.clone()));
                }
                Ok(())
            }
            Entry::Socket { .. } => {
                Ok(mknodat(CWD, path, FileType::Socket, Mode::from_raw_mode(0o644), 0)?)
            }
            Entry::Mode { mode, .. } => fs::set_permissions(path, Permissions::from_mode(*mode)),
            Entry::Time { kind, seconds, .. } => {
                let set = Timespec { tv_sec: *seconds, tv_nsec: 0 };
                let keep = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
                let times = match kind {
                    TimeKind::Accessed => Timestamps { last_access: set, last_modification: keep },
                    TimeKind::Modified => Timestamps { last_access: keep, last_modification: set },
                };
                Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        open_up(&self.dir);
        let removed = fs::remove_dir_all(&self.dir);
        // A second panic would hide the first.
        if let (Err(err), false) = (removed, std::thread::panicking()) {
            panic!("{}: {err}", self.dir.display());
        }
    }
}

/// Lets everybody read the directories and files, and their owner remove them.
fn open_up(dir: &Path) {
    // A failure shows up when the tree is used or removed.
    let _ = fs::set_permissions(dir, Permissions::from_mode(0o755));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => open_up(&entry.path()),
            Ok(kind) if kind.is_file() => {
                let _ = fs::set_permissions(entry.path(), Permissions::from_mode(0o644));
            }
            _ => {}
        }
    }
}

/// Writes to a FIFO once somebody reads it.
///
/// A blocking open would hang the test when the run never reads, hence the polling.
fn feed(path: &Path, bytes: &[u8], done: &AtomicBool) {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    while !done.load(Ordering::Relaxed) {
        let opened = OpenOptions::new().write(true).custom_flags(nonblocking).open(path);
        if let Ok(mut fifo) = opened {
            // The reader may stop early; that is its right.
            let _ = fifo.write_all(bytes);
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
