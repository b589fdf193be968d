//! The directory that a walk must not leave.

use crate::beneath::{self, Links};
use crate::error::{Error, ErrorCode, Result};
use crate::faults;
use crate::scope::Scope;
use crate::walk::roots::walked_name;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct Confinement {
    pub(super) dir: Arc<OwnedFd>,
    /// As it was named, and its real path.
    named: PathBuf,
    pub(super) real: PathBuf,
}

impl Confinement {
    /// `None` if the scope may go anywhere.
    pub(super) fn of(scope: &Scope) -> Result<Option<Confinement>> {
        let Some(dir) = &scope.confine else { return Ok(None) };
        let refused = |error: io::Error| {
            Error::new(ErrorCode::RootUnreadable, error.to_string())
                .with_path(dir)
                .with_hint("name a directory that can be read")
        };
        let named = scope.locate(dir);
        let opened = beneath::open_dir(&named).map_err(refused)?;
        let real = faults::real_path(&named).map_err(refused)?;
        Ok(Some(Confinement { dir: Arc::new(opened), named: walked_name(&named), real }))
    }

    /// The way from the directory to a place that the caller named. It need not exist.
    ///
    /// One outside is refused in the same words whether or not there is something.
    pub(super) fn way(&self, place: &Path) -> io::Result<Vec<u8>> {
        let place = walked_name(place);
        let below = place.strip_prefix(&self.named).or_else(|_| place.strip_prefix(&self.real));
        if let Ok(way) = below
            && !self.leads_out(way.as_os_str().as_bytes())
        {
            return Ok(way.as_os_str().as_bytes().to_vec());
        }
        // By another name, or by a way that leads out and back.
        let outside = || io::Error::from(Errno::XDEV);
        let real = faults::real_path(&place).map_err(|_| outside())?;
        let way = real.strip_prefix(&self.real).map_err(|_| outside())?;
        Ok(way.as_os_str().as_bytes().to_vec())
    }

    fn leads_out(&self, way: &[u8]) -> bool {
        let opened = beneath::open(self.dir.as_fd(), way, OFlags::PATH, Links::Inside);
        opened.is_err_and(|error| Errno::from_io_error(&error) == Some(Errno::XDEV))
    }

    /// Whether a place that the caller named lies outside, or behind a link that leads there.
    pub(super) fn is_outside(&self, place: &Path) -> bool {
        self.way(place).map_or(true, |way| self.leads_out(&way))
    }
}
