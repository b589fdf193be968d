//! Git's global rules in the repositories below a root that lies in none.
//!
//! ripgrep obeys those rules wherever git would, and that can begin in the middle of a walk. The
//! `ignore` crate would look for them through the environment; handed to it as a named file, they
//! hold everywhere. So such a walk goes without them, and what it comes upon in a repository is
//! looked at once more with them. The price: a global rule that takes something back (`!name`) is
//! not heard there.

use super::reference::Filters;
use ignore::{DirEntry, IncrementalIgnore};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The repositories below a root, as the walk comes upon them.
pub(super) struct Repositories {
    filters: Filters,
    root: PathBuf,
    /// For each directory, the outermost repository that it lies in.
    around: Mutex<HashMap<PathBuf, Option<Repository>>>,
}

type Repository = Arc<Mutex<IncrementalIgnore>>;

impl Repositories {
    pub(super) fn below(root: &Path, filters: Filters) -> Repositories {
        Repositories { filters, root: root.to_path_buf(), around: Mutex::default() }
    }

    /// Whether the rules leave this entry of the walk in it.
    pub(super) fn keep(&self, entry: &DirEntry) -> bool {
        let dir = if entry.depth() == 0 { None } else { entry.path().parent() };
        let Some(repository) = dir.and_then(|dir| self.around(dir)) else { return true };
        let mut rules = repository.lock().unwrap_or_else(PoisonError::into_inner);
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let path = entry.path().strip_prefix(rules.root()).map(Path::to_path_buf);
        path.map_or(true, |path| !rules.matched(path, is_dir).is_ignore())
    }

    fn around(&self, dir: &Path) -> Option<Repository> {
        let known = self.around.lock().unwrap_or_else(PoisonError::into_inner).get(dir).cloned();
        if let Some(known) = known {
            return known;
        }
        let outer = if dir == self.root { None } else { self.around(dir.parent()?) };
        let found = outer.or_else(|| is_repository(dir).then(|| self.rules_of(dir)).flatten());
        let mut around = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        around.insert(dir.to_path_buf(), found.clone());
        found
    }

    fn rules_of(&self, dir: &Path) -> Option<Repository> {
        let rules = self.filters.builder(dir, true).build_matchers().pop()?;
        Some(Arc::new(Mutex::new(rules)))
    }
}

/// Whether this or a directory above is a repository's.
pub(super) fn holds(dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    dir.ancestors().any(is_repository)
}

fn is_repository(dir: &Path) -> bool {
    dir.join(".git").exists() || dir.join(".jj").exists()
}
