//! Small trees written as text, and the pools that every case is run on.

use ingrep::Pool;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More directories than a tree may have entries to be walked by one thread.
const GROWN: usize = 520;

/// A directory that is gone with this value.
pub(crate) struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    /// One entry a line:
    ///
    /// ```text
    /// a.txt               an empty file
    /// .ignore: *.log\nx   a file with this content
    /// old.txt @ -5        an empty file, modified 5 seconds before 1970
    /// sub/                a directory
    /// link -> sub/x       a symbolic link
    /// ```
    pub(crate) fn new(table: &str) -> Tree {
        // Hundreds of directories are made and removed much faster in memory, where there is such
        // a place.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let tree = Tree { dir };
        tree.add(table);
        tree
    }

    /// One on the disk, whose directories are read in another order.
    pub(crate) fn on_disk(table: &str) -> Tree {
        let tree = Tree { dir: tempfile::tempdir().unwrap() };
        tree.add(table);
        tree
    }

    pub(crate) fn add(&self, table: &str) {
        for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some((name, target)) = line.split_once(" -> ") {
                self.link(name, target);
            } else if let Some((name, seconds)) = line.split_once(" @ ") {
                let file = self.file(name, "");
                let time = at(seconds.parse().unwrap());
                set_times(&file, FileTimes::new().set_modified(time).set_accessed(time));
            } else if let Some((name, content)) = line.split_once(": ") {
                self.file(name, &content.replace("\\n", "\n").replace("\\r", "\r"));
            } else if let Some(name) = line.strip_suffix('/') {
                fs::create_dir_all(self.join(name)).unwrap();
            } else {
                self.file(line, "");
            }
        }
    }

    /// A file whose name no table can write.
    pub(crate) fn raw_file(&self, name: &[u8]) -> PathBuf {
        self.file(OsStr::from_bytes(name), "")
    }

    fn file(&self, name: impl AsRef<Path>, content: &str) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn link(&self, name: &str, target: &str) {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn fifo(&self, name: &str) {
        use rustix::fs::{CWD, Mode, mkfifoat};
        mkfifoat(CWD, self.join(name), Mode::RUSR | Mode::WUSR).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Adds so many directories that several threads walk this tree. They hold no file, so that no
    /// list of files is changed by them. Says whether they are new.
    pub(crate) fn grow(&self) -> bool {
        let is_new = !self.join("grown-0").exists();
        if is_new {
            (0..GROWN).for_each(|n| fs::create_dir(self.join(format!("grown-{n}"))).unwrap());
        }
        is_new
    }
}

/// So many seconds after 1970, or before.
pub(crate) fn at(seconds: i64) -> SystemTime {
    let distance = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
}

pub(crate) fn set_times(file: &Path, times: FileTimes) {
    File::options().write(true).open(file).unwrap().set_times(times).unwrap();
}

/// A name for each pool that must make no difference.
pub(crate) static POOLS: LazyLock<[(&str, Pool); 4]> = LazyLock::new(|| {
    [
        ("inline", Pool::inline()),
        ("1 thread", Pool::new(1)),
        ("2 threads", Pool::new(2)),
        ("8 threads", Pool::new(8)),
    ]
});
