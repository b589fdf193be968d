//! Where complete results go that are too long for a reply: [`SpillStore`] and [`DirSpill`].

use super::names::names;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Where a saved result is, and how to get at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// A path, URL or name by which the reader of the reply finds it.
    pub locator: String,
    /// One sentence on how to read it.
    pub hint: String,
}

/// Keeps complete results for whoever reads the replies.
pub trait SpillStore: Send + Sync {
    /// Saves what is read from `content`, which comes while the search runs, under a name made
    /// from `name` (`glob-results.txt` or `grep-results.txt`).
    ///
    /// # Errors
    ///
    /// Whatever stands in the way; the search goes on without. When reading `content` fails, the
    /// search has failed or was stopped: nothing should be left behind.
    fn save(&self, name: &str, content: &mut dyn Read) -> io::Result<Spilled>;
}

/// A [`SpillStore`] of files in one directory of the embedder's.
///
/// Each result gets a name of its own and is readable by the owner only. It is written under a
/// temporary name and renamed when it is complete.
///
/// ```
/// use ingrep::tools::{DirSpill, SpillStore};
///
/// # let dir = tempfile::tempdir()?;
/// let store = DirSpill::new(dir.path())?;
/// let saved = store.save("grep-results.txt", &mut &b"a.txt\n"[..])?;
/// assert_eq!(std::fs::read(&saved.locator)?, b"a.txt\n");
/// assert_eq!(store.clean(std::time::Duration::ZERO)?, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DirSpill {
    dir: PathBuf,
    max_bytes: u64,
}

/// Results are counted before they are spilled, so this is a second fence: three times the default
/// of `raw_output_max_bytes`.
const MAX_BYTES: u64 = 64 << 20;

/// How the names of saved results begin.
const SAVED: [&str; 2] = ["glob-results-", "grep-results-"];

const HINT: &str = "Read it in parts, by line offset and limit.";

impl DirSpill {
    /// Keeps results in this directory, which is made if it is missing, for its owner only.
    ///
    /// # Errors
    ///
    /// When the directory cannot be made, or is something else.
    pub fn new(dir: impl Into<PathBuf>) -> io::Result<DirSpill> {
        let dir = dir.into();
        if !dir.is_dir() {
            make_private_dir(&dir)?;
        }
        // Readers of a reply have another idea of what a relative path is relative to.
        Ok(DirSpill { dir: dir.canonicalize()?, max_bytes: MAX_BYTES })
    }

    /// The most bytes of one result; a larger one is not saved. Default: 64 MiB.
    pub fn max_bytes(mut self, bytes: u64) -> DirSpill {
        self.max_bytes = bytes;
        self
    }

    /// Removes results that were saved at least this long ago, and returns how many.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read, or a result not be removed.
    pub fn clean(&self, age: Duration) -> io::Result<u64> {
        let mut removed = 0;
        let now = SystemTime::now();
        for name in names(&self.dir)? {
            let name = name?;
            let place = self.dir.join(&name);
            // The embedder may keep other things here.
            let name = name.to_string_lossy();
            let name = name.strip_prefix('.').unwrap_or(&name);
            if !SAVED.iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            let saved = match place.symlink_metadata() {
                Ok(metadata) if metadata.is_file() => metadata.modified()?,
                // Somebody else may clean at the same time.
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if now.duration_since(saved).unwrap_or_default() >= age {
                match fs::remove_file(&place) {
                    Ok(()) => removed += 1,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(removed)
    }
}

impl SpillStore for DirSpill {
    fn save(&self, name: &str, content: &mut dyn Read) -> io::Result<Spilled> {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "txt"));
        // Private from the start, and removed again unless it is kept.
        let mut file = tempfile::Builder::new()
            .prefix(&format!(".{stem}-"))
            .suffix(&format!(".{extension}"))
            .tempfile_in(&self.dir)?;
        let mut limited = content.take(self.max_bytes.saturating_add(1));
        let written = io::copy(&mut limited, file.as_file_mut())?;
        if written > self.max_bytes {
            let message = format!("the result is over max_bytes ({})", self.max_bytes);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        file.as_file_mut().flush()?;
        let hidden = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = self.dir.join(hidden.trim_start_matches('.'));
        file.persist_noclobber(&path)?;
        Ok(Spilled { locator: path.display().to_string(), hint: HINT.to_string() })
    }
}

#[cfg(unix)]
fn make_private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}
