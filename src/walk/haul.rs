//! What a walk has found so far, where whoever waits for the walk can take it, even if it does not
//! come back.

use super::FileEntry;
#[cfg(target_os = "linux")]
use super::listing::{Gathering, Listing};
use super::trouble::{Told, Trouble};
#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct Haul {
    hauled: Mutex<Hauled>,
    /// What threads are still adding to.
    #[cfg(target_os = "linux")]
    parts: Mutex<Vec<Arc<Part>>>,
}

/// What one thread has found. It is locked only while something is put in or taken out, never while
/// the system is asked for anything.
#[cfg(target_os = "linux")]
pub(super) struct Part(Mutex<Option<(Gathering, Told)>>);

pub(super) struct Hauled {
    /// What the reference walk found.
    pub(super) entries: Vec<FileEntry>,
    /// What the native walk found.
    #[cfg(target_os = "linux")]
    pub(super) listing: Listing,
    pub(super) told: Told,
}

impl Hauled {
    fn new(told: Told) -> Hauled {
        Hauled {
            entries: Vec::new(),
            #[cfg(target_os = "linux")]
            listing: Listing::default(),
            told,
        }
    }
}

impl Haul {
    pub(super) fn new(told: Told) -> Haul {
        Haul {
            hauled: Mutex::new(Hauled::new(told)),
            #[cfg(target_os = "linux")]
            parts: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Hauled> {
        self.hauled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add_entries(&self, files: Vec<FileEntry>) {
        self.lock().entries.extend(files);
    }

    pub(super) fn tell(&self, trouble: Trouble) {
        self.lock().told.push(trouble);
    }

    /// All of it, also what threads have found that are not done; nothing is left.
    pub(super) fn take(&self) -> Hauled {
        #[cfg(target_os = "linux")]
        for part in std::mem::take(&mut *self.lock_parts()) {
            part.take().into_iter().for_each(|(files, told)| self.put(files, told));
        }
        let mut hauled = self.lock();
        let nothing = Hauled::new(hauled.told.new_part());
        std::mem::replace(&mut hauled, nothing)
    }
}

#[cfg(target_os = "linux")]
impl Haul {
    pub(super) fn add(&self, files: Gathering) {
        self.lock().listing.add(files);
    }

    fn put(&self, files: Gathering, told: Told) {
        let mut hauled = self.lock();
        hauled.listing.add(files);
        hauled.told.add(told);
    }

    fn lock_parts(&self) -> MutexGuard<'_, Vec<Arc<Part>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something to be added to, beginning with nothing.
    pub(super) fn begin_part(&self, files: Gathering) -> Arc<Part> {
        let told = self.new_told();
        let part = Arc::new(Part(Mutex::new(Some((files, told)))));
        self.lock_parts().push(Arc::clone(&part));
        part
    }

    pub(super) fn end_part(&self, part: &Arc<Part>) {
        self.lock_parts().retain(|other| !Arc::ptr_eq(part, other));
        part.take().into_iter().for_each(|(files, told)| self.put(files, told));
    }

    /// Nothing yet, to be added to a part.
    pub(super) fn new_told(&self) -> Told {
        self.lock().told.new_part()
    }
}

#[cfg(target_os = "linux")]
impl Part {
    fn lock(&self) -> MutexGuard<'_, Option<(Gathering, Told)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<(Gathering, Told)> {
        self.lock().take()
    }

    /// Nothing more can be added once it has been taken.
    pub(super) fn with(&self, add: impl FnOnce(&mut Gathering, &mut Told)) {
        if let Some((files, told)) = &mut *self.lock() {
            add(files, told);
        }
    }
}
