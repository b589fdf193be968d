//! A small tree of files, and what is listed in it by either walk.

use ingrep::{CancelToken, Pool, Reason, Scope, Walker};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Names that mean something to a glob, to an ignore file, or to nobody.
const FILES: &[&[u8]] = &[
    b"a",
    b"a.txt",
    b"b.rs",
    b"A.TXT",
    b".hidden",
    b"#hash",
    b"!bang",
    b"-dash",
    b"sp ace ",
    b"[a]",
    b"{a,b}",
    b"a*b",
    b"a?b",
    b"back\\slash",
    b"caf\xc3\xa9.txt",
    b"bad\xff.txt",
    b"a.txt.bak",
    b"sub/a",
    b"sub/a.txt",
    b"sub/.ignored",
    b"sub/deep/a.txt",
    b"sub/deep/b.rs",
    b"sub/deep/er/c.txt",
    b"target/b.rs",
    b".dir/a.txt",
    b"a.dir/a.txt",
    b"foo/bar/foo/bar",
];

/// Where a tree is made: in memory, if there is such a place.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Makes the tree in this directory.
pub(crate) fn make(dir: &Path) {
    for name in FILES {
        let path = dir.join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
}

/// What a walk answers, in a form that can be compared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    Files { files: Vec<PathBuf>, trouble: BTreeSet<Told>, counts: BTreeMap<Reason, u64> },
    Refused(String),
}

type Told = (Option<PathBuf>, Reason, String);

pub(crate) fn listed(scope: &Scope) -> Listed {
    let mut files = match scope.files(&CancelToken::new()) {
        Ok(files) => files,
        Err(error) => return Listed::Refused(format!("{error:?}")),
    };
    let paths = files.by_ref().map(|file| file.path).collect();
    let diagnostics = files.into_summary().diagnostics;
    let told = diagnostics.iter().map(|one| (one.path.clone(), one.reason, one.message.clone()));
    Listed::Files { files: paths, trouble: told.collect(), counts: diagnostics.counts().collect() }
}

/// Checks that both walks list the same, and returns it.
pub(crate) fn alike(scope: Scope) -> Listed {
    let scope = scope.pool(&Pool::inline());
    let native = listed(&scope.clone().walker(Walker::Native));
    let reference = listed(&scope.walker(Walker::Reference));
    assert_eq!(native, reference, "native on the left, reference on the right");
    native
}
