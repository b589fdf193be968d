//! The names in a directory.

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// `std::fs::ReadDir` would panic if its directory could not be closed.
#[cfg(target_os = "linux")]
pub(super) fn names(dir: &Path) -> io::Result<impl Iterator<Item = io::Result<OsString>> + use<>> {
    crate::beneath::names(dir)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn names(dir: &Path) -> io::Result<impl Iterator<Item = io::Result<OsString>> + use<>> {
    Ok(std::fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name())))
}
