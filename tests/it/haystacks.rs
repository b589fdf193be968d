//! Files to search, in a directory that goes with the value.

use ingrep::Pool;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

pub(crate) struct Haystacks(tempfile::TempDir);

impl Haystacks {
    /// Files with increasing modification times, so that the default order is the order here.
    pub(crate) fn new<B: AsRef<[u8]>>(files: &[(&str, B)]) -> Haystacks {
        let haystacks = Haystacks(tempfile::tempdir().unwrap());
        for (age, (name, bytes)) in files.iter().enumerate() {
            let path = haystacks.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        }
        haystacks
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// No thread, one, a few, and more than this machine has.
pub(crate) static POOLS: LazyLock<[Pool; 4]> =
    LazyLock::new(|| [Pool::inline(), Pool::new(1), Pool::new(2), Pool::new(8)]);
