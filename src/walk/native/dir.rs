//! What is asked of the kernel about directories and their entries, always relative to an open
//! one.

use crate::beneath::ask;
use crate::faults;
use crate::scope::SortBy;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, StatxFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is read of a directory at a time. The token is asked once for each such piece; it holds
/// about two thousand names.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Dir,
    Link,
    /// A FIFO, socket or device.
    Special,
    /// The file system does not tell before it is asked for each.
    Unknown,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Kind {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Link,
            FileType::Unknown => Kind::Unknown,
            _ => Kind::Special,
        }
    }
}

/// Names in a directory, one behind the other in one buffer.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// Where each begins, and how long it is without the NUL behind it.
    entries: Vec<(usize, u32, Kind)>,
}

impl Names {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn push(&mut self, name: &CStr, kind: Kind) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
        self.entries.push((begin, name.count_bytes() as u32, kind));
    }

    pub(super) fn get(&self, index: usize) -> Option<(&CStr, Kind)> {
        let &(begin, len, kind) = self.entries.get(index)?;
        let name = &self.bytes[begin..=begin + len as usize];
        Some((CStr::from_bytes_with_nul(name).ok()?, kind))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&CStr, Kind)> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn sort(&mut self) {
        let Names { bytes, entries } = self;
        let name = |&(begin, len, _): &(usize, u32, Kind)| &bytes[begin..begin + len as usize];
        entries.sort_unstable_by(|a, b| name(a).cmp(name(b)));
    }
}

/// Reads one more piece of a directory. Says whether there may be more.
pub(super) fn read_piece(
    dir: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    names: &mut Names,
) -> io::Result<bool> {
    buffer.clear();
    buffer.reserve(PIECE_BYTES);
    let mut piece = RawDir::new(dir, buffer.spare_capacity_mut());
    loop {
        let next = match faults::pass() {
            Err(fault) if piece.is_buffer_empty() => Some(Err(fault.into())),
            _ => piece.next(),
        };
        match next {
            None => return Ok(false),
            Some(Err(Errno::INTR)) => continue,
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(entry)) => {
                let name = entry.file_name();
                if !matches!(name.to_bytes(), b"." | b"..") {
                    names.push(name, entry.file_type().into());
                }
            }
        }
        if piece.is_buffer_empty() {
            return Ok(true);
        }
    }
}

/// Opens a directory by its name in another. Nothing that stands in its place is opened.
pub(super) fn open(
    parent: BorrowedFd<'_>,
    name: &CStr,
    links: bool,
) -> rustix::io::Result<OwnedFd> {
    let links = if links { OFlags::empty() } else { OFlags::NOFOLLOW };
    ask(|| rustix::fs::openat(parent, name, dir_flags() | links, Mode::empty()))
}

pub(super) fn dir_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// A time of a file: seconds since 1970, and nanoseconds from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::walk) struct Time {
    pub(in crate::walk) seconds: i64,
    pub(in crate::walk) nanos: u32,
}

impl Time {
    pub(in crate::walk) fn of_system(time: SystemTime) -> Time {
        let (seconds, nanos) = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => (since.as_secs() as i64, since.subsec_nanos()),
            Err(before) => {
                let before = before.duration();
                match before.subsec_nanos() {
                    0 => (-(before.as_secs() as i64), 0),
                    nanos => (-(before.as_secs() as i64) - 1, 1_000_000_000 - nanos),
                }
            }
        };
        Time { seconds, nanos }
    }

    /// `None` for a time that the clock of this system cannot have.
    pub(in crate::walk) fn to_system(self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let base = match self.seconds {
            0.. => UNIX_EPOCH.checked_add(whole),
            _ => UNIX_EPOCH.checked_sub(whole),
        };
        base?.checked_add(Duration::from_nanos(self.nanos.into()))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Stat {
    pub(super) kind: Kind,
    pub(super) id: Id,
    pub(super) bytes: u64,
    /// The time that was asked for.
    pub(super) time: Option<Time>,
}

/// What makes a file the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// Looks at an entry; at what a link leads to with `follow`.
pub(super) fn stat(
    parent: BorrowedFd<'_>,
    name: &CStr,
    follow: bool,
    by: SortBy,
) -> io::Result<Stat> {
    stat_at(parent, name, if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW }, by)
}

/// Looks at what is open, if only to be looked at.
pub(super) fn stat_handle(fd: BorrowedFd<'_>, by: SortBy) -> io::Result<Stat> {
    stat_at(fd, c"", AtFlags::EMPTY_PATH, by)
}

fn stat_at(parent: BorrowedFd<'_>, name: &CStr, links: AtFlags, by: SortBy) -> io::Result<Stat> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::SIZE;
    let wanted = match by {
        SortBy::Modified => wanted | StatxFlags::MTIME,
        SortBy::Accessed => wanted | StatxFlags::ATIME,
        SortBy::Created => wanted | StatxFlags::BTIME,
        SortBy::Path | SortBy::Nothing => wanted,
    };
    match ask(|| rustix::fs::statx(parent, name, links, wanted)) {
        Ok(stat) => {
            let time = match by {
                SortBy::Modified => Some(stat.stx_mtime),
                SortBy::Accessed => Some(stat.stx_atime),
                SortBy::Created
                    if StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME) =>
                {
                    Some(stat.stx_btime)
                }
                _ => None,
            };
            Ok(Stat {
                kind: FileType::from_raw_mode(stat.stx_mode.into()).into(),
                id: Id {
                    device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
                    inode: stat.stx_ino,
                },
                bytes: stat.stx_size,
                time: time.map(|time| Time { seconds: time.tv_sec, nanos: time.tv_nsec }),
            })
        }
        // An old kernel, or a sandbox that has not heard of the call.
        Err(Errno::NOSYS | Errno::PERM) => {
            let stat = ask(|| rustix::fs::statat(parent, name, links))?;
            let time = match by {
                SortBy::Modified => Some((stat.st_mtime, stat.st_mtime_nsec)),
                SortBy::Accessed => Some((stat.st_atime, stat.st_atime_nsec)),
                _ => None,
            };
            Ok(Stat {
                time: time.map(|(seconds, nanos)| Time { seconds, nanos: nanos as u32 }),
                ..from(&stat)
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Looks at what is open.
pub(super) fn stat_open(fd: BorrowedFd<'_>) -> io::Result<Stat> {
    Ok(from(&ask(|| rustix::fs::fstat(fd))?))
}

fn from(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        kind: FileType::from_raw_mode(stat.st_mode).into(),
        id: Id { device: stat.st_dev, inode: stat.st_ino },
        bytes: stat.st_size.max(0) as u64,
        time: None,
    }
}

pub(super) fn c_name(name: &[u8]) -> Option<CString> {
    CString::new(name).ok()
}

/// Opens a directory only to open others from it. It need not be readable.
pub(super) fn open_handle(path: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    ask(|| rustix::fs::openat(rustix::fs::CWD, path.as_bytes(), flags, Mode::empty()))
}
