//! Trees as plans, which can be printed and made smaller, and the trees made of them.

use crate::tree::{at, set_times};
use bstr::ByteSlice;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Stands in plans for the directory in which a tree is made.
pub(super) const TOP: &str = "$TOP";

/// The year 2100. A time of access that is later than all others is not changed by reading, and so
/// the second of two walks sees what the first one saw.
const ACCESSED: i64 = 4_102_444_800;

#[derive(Clone, Default)]
pub(super) struct Plan {
    /// A directory stands before what is in it.
    pub(super) entries: Vec<Entry>,
    /// Whether it is made on the disk, whose directories are read in another order.
    pub(super) on_disk: bool,
}

#[derive(Clone)]
pub(super) struct Entry {
    /// Relative to [`TOP`].
    pub(super) path: Bytes,
    pub(super) kind: Kind,
    /// Permissions other than the usual ones.
    pub(super) mode: Option<u32>,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Dir,
    File {
        content: Bytes,
        seconds: i64,
    },
    Link(Bytes),
    /// A link to a directory with a file, on another file system if there is one.
    Elsewhere,
    Fifo,
    Socket,
}

/// Bytes that are printed as a person would write them.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl Bytes {
    pub(super) fn resolved(&self, top: &Path) -> Vec<u8> {
        self.0.replace(TOP, top.as_os_str().as_encoded_bytes())
    }

    pub(super) fn resolved_path(&self, top: &Path) -> PathBuf {
        OsString::from_vec(self.resolved(top)).into()
    }
}

/// The plan as a table, an entry a line.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "tree{}:", if self.on_disk { " on the disk" } else { "" })?;
        for Entry { path, kind, mode } in &self.entries {
            match kind {
                Kind::Dir => write!(f, "  dir    {path:?}")?,
                Kind::File { content, seconds } => {
                    write!(f, "  file   {path:?} @ {seconds}: {content:?}")?;
                }
                Kind::Link(target) => write!(f, "  link   {path:?} -> {target:?}")?,
                Kind::Elsewhere => write!(f, "  link   {path:?} -> another file system")?,
                Kind::Fifo => write!(f, "  fifo   {path:?}")?,
                Kind::Socket => write!(f, "  socket {path:?}")?,
            }
            match mode {
                Some(mode) => writeln!(f, " mode {mode:03o}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}

/// A tree that is gone with this value.
pub(super) struct Made {
    top: PathBuf,
    /// Directories that cannot be removed as they are.
    closed: Vec<(PathBuf, u32)>,
    _dirs: Vec<tempfile::TempDir>,
}

impl Made {
    pub(super) fn new(plan: &Plan) -> Made {
        let dir = new_dir(plan.on_disk);
        // Two levels that only `..` leads to: no root and no link is to end up among the
        // temporary files of others, which come and go.
        let top = dir.path().join("above/top");
        fs::create_dir_all(&top).unwrap();
        let (mut closed, mut dirs) = (Vec::new(), vec![dir]);
        for entry in &plan.entries {
            let at = top.join(entry.path.resolved_path(&top));
            // A plan that has been made smaller may lack the line.
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            if entry.kind == Kind::Elsewhere {
                let elsewhere = new_dir(!plan.on_disk);
                fs::write(elsewhere.path().join("far.txt"), "").unwrap();
                symlink(elsewhere.path(), &at).unwrap();
                dirs.push(elsewhere);
            }
            make(&at, &entry.kind, &top);
            closed.extend(entry.mode.map(|mode| (at, mode)));
        }
        // Last, and the inner ones first: nothing can be made in a closed directory.
        for (at, mode) in closed.iter().rev() {
            fs::set_permissions(at, Permissions::from_mode(*mode)).unwrap();
        }
        Made { top, closed, _dirs: dirs }
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for (at, _) in &self.closed {
            // What cannot be opened is left behind, which is no fault of the walk.
            let _ = fs::set_permissions(at, Permissions::from_mode(0o700));
        }
    }
}

fn new_dir(on_disk: bool) -> tempfile::TempDir {
    let in_memory = if on_disk { None } else { tempfile::tempdir_in("/dev/shm").ok() };
    in_memory.unwrap_or_else(|| tempfile::tempdir().unwrap())
}

fn make(path: &Path, kind: &Kind, top: &Path) {
    let special = |kind| mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
    match kind {
        Kind::Dir => fs::create_dir_all(path).unwrap(),
        Kind::File { content, seconds } => {
            fs::write(path, content.resolved(top)).unwrap();
            let times = FileTimes::new().set_modified(at(*seconds));
            set_times(path, times.set_accessed(at(ACCESSED - seconds)));
        }
        Kind::Link(target) => symlink(target.resolved_path(top), path).unwrap(),
        Kind::Elsewhere => {}
        Kind::Fifo => special(FileType::Fifo),
        Kind::Socket => special(FileType::Socket),
    }
}
