//! Opening what lies below an open directory, so that nobody who swaps names for links meanwhile
//! can lead us elsewhere.
//!
//! The kernel does it in one call where it knows `openat2`. Where it does not, or a sandbox denies
//! the call, the path is walked name by name.

use crate::faults::{self, Fault};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What may be done about symbolic links on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// There must be none.
    Refused,
    /// They are followed, as long as the way stays below the directory.
    Inside,
    /// They are followed anywhere.
    Followed,
}

/// The kernel takes no longer path in one call; a longer one is opened in several.
const MAX_PATH_BYTES: usize = 4095;

/// As many links as the kernel follows for one path.
const MAX_LINKS: usize = 40;

/// How often the kernel is asked again when something was renamed while it looked.
const RETRIES: usize = 16;

/// A directory that is only passed through. It need not be readable.
const PASS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Whether `openat2` was missing or denied. That does not change while a process lives.
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Asks the kernel, again when a signal to the host came in between: on a network file system it may.
pub(crate) fn ask<T>(call: impl Fn() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match faults::pass().map_err(Errno::from).and_then(|()| call()) {
            Err(Errno::INTR) => {}
            answer => return answer,
        }
    }
}

impl From<Fault> for Errno {
    fn from(fault: Fault) -> Errno {
        Errno::from_raw_os_error(fault.errno())
    }
}

/// Opens the directory at a path of the caller's; links are followed.
pub(crate) fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(ask(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?)
}

/// The names in the directory at a path of the caller's.
pub(crate) fn names(path: &Path) -> io::Result<impl Iterator<Item = io::Result<OsString>> + use<>> {
    let dir = rustix::fs::Dir::new(open_dir(path)?)?;
    let name = |entry: rustix::fs::DirEntry| OsStr::from_bytes(entry.file_name().to_bytes()).into();
    let entries = dir.map(move |entry| entry.map(name).map_err(io::Error::from));
    Ok(entries
        .filter(|name: &io::Result<OsString>| !matches!(name, Ok(n) if n == "." || n == "..")))
}

/// Opens what the relative `path` leads to from `dir`.
pub(crate) fn open(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    links: Links,
) -> io::Result<OwnedFd> {
    let (mut held, mut rest): (Option<OwnedFd>, _) = (None, path);
    while rest.len() > MAX_PATH_BYTES {
        let cut = rest[..MAX_PATH_BYTES].iter().rposition(|byte| *byte == b'/');
        // A name of 4 KiB: the kernel has the words for it.
        let Some(cut) = cut else { break };
        let from = held.as_ref().map_or(dir, AsFd::as_fd);
        held = Some(open_part(from, &rest[..cut], PASS, links)?);
        rest = &rest[cut + 1..];
    }
    Ok(open_part(held.as_ref().map_or(dir, AsFd::as_fd), rest, flags, links)?)
}

fn open_part(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    links: Links,
) -> rustix::io::Result<OwnedFd> {
    let path = if path.is_empty() { b"." } else { path };
    let flags = flags | OFlags::CLOEXEC;
    let resolve = match links {
        Links::Followed => return ask(|| rustix::fs::openat(dir, path, flags, Mode::empty())),
        Links::Inside => ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS,
        Links::Refused => ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    };
    for _ in 0..RETRIES {
        if NO_OPENAT2.load(Ordering::Relaxed) {
            break;
        }
        match ask(|| rustix::fs::openat2(dir, path, flags, Mode::empty(), resolve)) {
            Err(Errno::NOSYS | Errno::PERM) => NO_OPENAT2.store(true, Ordering::Relaxed),
            Err(Errno::AGAIN) if links == Links::Inside => {}
            done => return done,
        }
    }
    open_by_name(dir, path, flags, links)
}

/// As the kernel would, name by name.
fn open_by_name(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    links: Links,
) -> rustix::io::Result<OwnedFd> {
    // The directories passed through, so that `..` leads back the way that was come.
    let mut passed: Vec<OwnedFd> = Vec::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    push(&mut names, path);
    let mut followed = 0;
    loop {
        let here = passed.last().map_or(dir, AsFd::as_fd);
        let Some(name) = names.pop() else {
            return ask(|| rustix::fs::openat(here, ".", flags, Mode::empty()));
        };
        if name == b".." {
            passed.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        let is_last = names.is_empty();
        let flags = if is_last { flags } else { PASS } | OFlags::NOFOLLOW;
        let name = OsStr::from_bytes(&name);
        match ask(|| rustix::fs::openat(here, name, flags, Mode::empty())) {
            // A link: told by one of these, depending on whether a directory was asked for.
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) if links == Links::Inside => {
                let Ok(target) = ask(|| rustix::fs::readlinkat(here, name, Vec::new())) else {
                    return Err(error);
                };
                follow(&mut names, target.to_bytes(), &mut followed)?;
            }
            Err(error) => return Err(error),
            // To be looked at only, a link is opened as itself.
            Ok(opened) if is_last && is_link(&opened)? => {
                let target = match links {
                    Links::Inside => ask(|| rustix::fs::readlinkat(&opened, "", Vec::new()))?,
                    _ => return Err(Errno::LOOP),
                };
                follow(&mut names, target.to_bytes(), &mut followed)?;
            }
            Ok(opened) if is_last => return Ok(opened),
            Ok(opened) => passed.push(opened),
        }
    }
}

/// Puts the names of a path before those that are still to come.
fn push(names: &mut Vec<Vec<u8>>, path: &[u8]) {
    let parts = path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
    names.extend(parts.rev().map(<[u8]>::to_vec));
}

fn follow(names: &mut Vec<Vec<u8>>, target: &[u8], followed: &mut usize) -> rustix::io::Result<()> {
    *followed += 1;
    if *followed > MAX_LINKS {
        return Err(Errno::LOOP);
    }
    if target.starts_with(b"/") {
        return Err(Errno::XDEV);
    }
    push(names, target);
    Ok(())
}

fn is_link(opened: &OwnedFd) -> rustix::io::Result<bool> {
    let mode = ask(|| rustix::fs::fstat(opened))?.st_mode;
    Ok(FileType::from_raw_mode(mode) == FileType::Symlink)
}

/// What was learned from calls that a test made fail.
#[cfg(test)]
pub(crate) fn forget() {
    NO_OPENAT2.store(false, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Both ways to open give the same inode, or fail alike.
    #[test]
    fn the_kernel_and_the_walk_by_name_agree() {
        let _alone = faults::alone();
        let tree = tempfile::tempdir().unwrap();
        let at = |name: &str| tree.path().join(name);
        std::fs::create_dir_all(at("in/deep/er")).unwrap();
        std::fs::write(at("in/deep/file"), "").unwrap();
        std::fs::write(at("outside"), "").unwrap();
        symlink("deep/er", at("in/down")).unwrap();
        symlink("../deep/../down/..", at("in/deep/round")).unwrap();
        symlink("../../outside", at("in/deep/out")).unwrap();
        symlink(at("in/deep"), at("in/absolute")).unwrap();
        symlink("me", at("in/me")).unwrap();
        symlink("nowhere", at("in/broken")).unwrap();
        let dir = open_dir(&at("in")).unwrap();
        let ino = |opened: rustix::io::Result<OwnedFd>| match opened {
            Ok(fd) => Ok(rustix::fs::fstat(fd).unwrap().st_ino),
            Err(error) => Err(error),
        };
        let mut opened = 0;
        for path in [
            "",
            ".",
            "deep",
            "deep/er",
            "deep/file",
            "deep/file/x",
            "down",
            "down/..",
            "deep/round",
            "deep/round/er",
            "deep/out",
            "absolute",
            "absolute/er",
            "me",
            "broken",
            "..",
            "deep/../..",
            "deep/../deep/er",
            "gone",
            "gone/x",
        ] {
            for links in [Links::Refused, Links::Inside] {
                for flags in
                    [OFlags::RDONLY, OFlags::RDONLY | OFlags::DIRECTORY, PASS, OFlags::PATH]
                {
                    let path = path.as_bytes();
                    let kernel = ino(open_part(dir.as_fd(), path, flags, links));
                    let walked = ino(open_by_name(dir.as_fd(), path, flags, links));
                    let what = format!("{:?} {links:?} {flags:?}", OsStr::from_bytes(path));
                    match (kernel, walked) {
                        (Ok(a), Ok(b)) => assert_eq!(a, b, "{what}"),
                        (Err(_), Err(_)) => continue,
                        other => panic!("{what}: {other:?}"),
                    }
                    opened += 1;
                }
            }
        }
        assert!(opened > 30, "{opened}");
        assert!(!NO_OPENAT2.load(Ordering::Relaxed), "the kernel was asked");
    }

    #[test]
    fn a_path_longer_than_one_call_takes_is_opened() {
        let tree = tempfile::tempdir().unwrap();
        let mut dir = open_dir(tree.path()).unwrap();
        let name = "d".repeat(200);
        let mut path = Vec::new();
        for _ in 0..60 {
            rustix::fs::mkdirat(&dir, name.as_str(), Mode::RWXU).unwrap();
            dir = open(dir.as_fd(), name.as_bytes(), OFlags::RDONLY, Links::Refused).unwrap();
            path.extend_from_slice(name.as_bytes());
            path.push(b'/');
        }
        path.pop();
        let root = open_dir(tree.path()).unwrap();
        for links in [Links::Refused, Links::Inside, Links::Followed] {
            let opened = open(root.as_fd(), &path, OFlags::RDONLY, links).unwrap();
            let ino = |fd: &OwnedFd| rustix::fs::fstat(fd).unwrap().st_ino;
            assert_eq!(ino(&opened), ino(&dir));
        }
        // What cannot be removed by path is removed from inside.
        drop((dir, root));
        std::fs::remove_dir_all(tree.path()).unwrap();
    }
}
