//! One file, opened so that nothing that stands in its place can block or harm the host.

use crate::faults;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

#[cfg(target_os = "linux")]
use crate::beneath::{self, Links};

/// An open regular file.
pub(crate) struct Haystack {
    pub(crate) file: File,
    /// As of the opening.
    pub(crate) bytes: u64,
    pub(crate) modified: Option<SystemTime>,
}

pub(crate) enum OpenError {
    /// A FIFO, socket, device or directory.
    Special,
    Io(io::Error),
}

impl From<faults::Fault> for OpenError {
    fn from(fault: faults::Fault) -> OpenError {
        OpenError::Io(fault.into())
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        OpenError::Io(error)
    }
}

/// An open directory below which files are opened.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Anchor {
    pub(crate) dir: rustix::fd::OwnedFd,
    /// The way from there to where paths begin, with a slash unless it is empty.
    pub(crate) below: Vec<u8>,
    pub(crate) links: Links,
}

#[cfg(target_os = "linux")]
impl Anchor {
    pub(crate) fn open(
        &self,
        path: &[u8],
        flags: rustix::fs::OFlags,
    ) -> io::Result<rustix::fd::OwnedFd> {
        use rustix::fd::AsFd;
        let joined;
        let path = match self.below.is_empty() {
            true => path,
            false => {
                joined = [&self.below, path].concat();
                &joined
            }
        };
        beneath::open(self.dir.as_fd(), path, flags, self.links)
    }
}

/// Where a file is.
pub(crate) enum Place<'a> {
    Path(Cow<'a, Path>),
    /// Below an open directory, by a relative path.
    #[cfg(target_os = "linux")]
    Below(&'a Anchor, &'a [u8]),
    /// In an open directory, by its name; no link.
    #[cfg(target_os = "linux")]
    In(rustix::fd::BorrowedFd<'a>, &'a std::ffi::CStr),
}

pub(crate) fn open(place: Place<'_>) -> Result<Haystack, OpenError> {
    let file = match place {
        Place::Path(path) => open_any(&path)?,
        #[cfg(target_os = "linux")]
        Place::Below(anchor, path) => File::from(anchor.open(path, flags())?),
        #[cfg(target_os = "linux")]
        Place::In(dir, name) => {
            use rustix::fs::{Mode, OFlags, openat};
            let flags = flags() | OFlags::NOFOLLOW;
            let opened = beneath::ask(|| openat(dir, name, flags, Mode::empty()));
            File::from(opened.map_err(io::Error::from)?)
        }
    };
    // Asked of the descriptor: whatever a walk saw at this path may have been replaced since.
    faults::pass()?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(OpenError::Special);
    }
    Ok(Haystack { file, bytes: metadata.len(), modified: metadata.modified().ok() })
}

/// Whether there are too many open files.
#[cfg(unix)]
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// There is no such limit.
#[cfg(not(unix))]
pub(crate) fn is_shortage(_: &io::Error) -> bool {
    false
}

/// Without O_NONBLOCK a FIFO waits for a writer and a leased file for its holder; without
/// O_NOCTTY a terminal becomes the host's controlling one.
#[cfg(unix)]
fn flags() -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

#[cfg(unix)]
fn open_any(path: &Path) -> io::Result<File> {
    let open = || -> io::Result<_> {
        faults::pass()?;
        Ok(rustix::fs::open(path, flags(), rustix::fs::Mode::empty())?)
    };
    loop {
        match open() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            opened => return opened.map(File::from),
        }
    }
}

#[cfg(not(unix))]
fn open_any(path: &Path) -> io::Result<File> {
    faults::pass()?;
    File::open(path)
}
