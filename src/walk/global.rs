//! Git's global rules, where they are more than one more named file of rules.
//!
//! The `ignore` crate would look for them through the environment. Handed to it as a named file,
//! they hold everywhere, and with regard to case. ripgrep obeys them in repositories, also in one
//! that begins in the middle of a walk, and disregards case in them if it does so in all rules.
//! Where that makes a difference, what the walk lists is held against them here as well. The price:
//! a global rule that takes something back (`!name`) is not heard in a repository that begins in
//! the middle of a walk, and is heard with regard to case.

use super::filters::Filters;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, IncrementalIgnore};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The global rules for the walk of one root.
pub(super) struct GlobalRules {
    rules: Gitignore,
    /// What has a say before them.
    before: Filters,
    root: PathBuf,
    /// Whether the root itself is where they begin to hold.
    everywhere: bool,
    /// For each directory, the outermost one around it in which they hold.
    around: Mutex<HashMap<PathBuf, Option<Repository>>>,
}

type Repository = Arc<Mutex<IncrementalIgnore>>;

impl GlobalRules {
    /// The rules in `file`, whose patterns begin at `base`. `None` when it cannot be read.
    pub(super) fn read(file: &Path, base: &Path, case_insensitive: bool) -> Option<Gitignore> {
        // Opening the file of a FIFO's name would wait.
        file.metadata().ok().filter(|metadata| metadata.is_file())?;
        let mut builder = GitignoreBuilder::new(base);
        builder.case_insensitive(case_insensitive).ok()?;
        // What is wrong with a line is not told of these.
        let _ = builder.add(file);
        builder.build().ok()
    }

    pub(super) fn new(
        rules: Gitignore,
        before: Filters,
        root: &Path,
        everywhere: bool,
    ) -> GlobalRules {
        let root = root.to_path_buf();
        GlobalRules { rules, before, root, everywhere, around: Mutex::default() }
    }

    /// Whether an entry of the walk stays in it.
    pub(super) fn keep(&self, entry: &DirEntry) -> bool {
        let path = entry.path();
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        let dir = if entry.depth() == 0 { None } else { path.parent() };
        if dir.is_none() || !self.rules.matched(path, is_dir).is_ignore() {
            return true;
        }
        let Some(repository) = dir.and_then(|dir| self.around(dir)) else { return true };
        let mut before = repository.lock().unwrap_or_else(PoisonError::into_inner);
        let below = path.strip_prefix(before.root()).map(Path::to_path_buf);
        below.is_ok_and(|below| before.matched(below, is_dir).is_whitelist())
    }

    fn around(&self, dir: &Path) -> Option<Repository> {
        let known = self.around.lock().unwrap_or_else(PoisonError::into_inner).get(dir).cloned();
        if let Some(known) = known {
            return known;
        }
        let found = if dir == self.root {
            self.everywhere.then(|| self.rules_before(dir)).flatten()
        } else {
            let outer = self.around(dir.parent()?);
            outer.or_else(|| is_repository(dir).then(|| self.rules_before(dir)).flatten())
        };
        let mut around = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        around.insert(dir.to_path_buf(), found.clone());
        found
    }

    fn rules_before(&self, dir: &Path) -> Option<Repository> {
        let rules = self.before.builder(dir, false).build_matchers().pop()?;
        Some(Arc::new(Mutex::new(rules)))
    }
}

/// Whether this or a directory above is a repository's.
pub(super) fn in_repository(dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    dir.ancestors().any(is_repository)
}

fn is_repository(dir: &Path) -> bool {
    dir.join(".git").exists() || dir.join(".jj").exists()
}
