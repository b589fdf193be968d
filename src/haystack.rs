//! One file, opened so that nothing that stands in its place can block or harm the host.

use std::fs::File;
use std::io;
use std::path::Path;

/// An open regular file.
pub(crate) struct Haystack {
    pub(crate) file: File,
    /// As of the opening.
    pub(crate) bytes: u64,
}

pub(crate) enum OpenError {
    /// A FIFO, socket, device or directory.
    Special,
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        OpenError::Io(error)
    }
}

pub(crate) fn open(path: &Path) -> Result<Haystack, OpenError> {
    let file = open_any(path)?;
    // Asked of the descriptor: whatever a walk saw at this path may have been replaced since.
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(OpenError::Special);
    }
    Ok(Haystack { file, bytes: metadata.len() })
}

/// Without O_NONBLOCK a FIFO waits for a writer and a leased file for its holder; without
/// O_NOCTTY a terminal becomes the host's controlling one.
#[cfg(unix)]
fn open_any(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_any(path: &Path) -> io::Result<File> {
    File::open(path)
}
