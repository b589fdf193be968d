//! Where to look, and in which order: [`Scope`], plain data.

use crate::limits::WalkLimits;
use crate::pool::Pool;
use crate::progress::Progress;
use std::path::PathBuf;

/// What files are ordered by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SortBy {
    /// The time of the last modification.
    #[default]
    Modified,
    /// The time of the last access.
    Accessed,
    /// The time of creation, where the file system knows it.
    Created,
    /// The path, one component after another.
    Path,
    /// As the directories are read: nothing waits for the end of the walk.
    /// [`Search::collect`](crate::Search::collect), which does, sorts by paths.
    Nothing,
}

/// Which end of an order comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Oldest first; `a` before `b`.
    #[default]
    Ascending,
    /// Newest first; `b` before `a`.
    Descending,
}

/// Which of two walks lists the files. On every healthy tree both list the same files in the same
/// order, with the same diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Walker {
    /// [`Native`](Walker::Native) where there is one, else [`Reference`](Walker::Reference).
    #[default]
    Auto,
    /// The walk of the `ignore` crate, as ripgrep does it.
    Reference,
    /// Our own, by descriptors of open directories: faster, and safe on trees that somebody else
    /// can change. On Linux only; elsewhere the reference stands in for it.
    Native,
}

/// Which ignore files are obeyed. All are off in [`Scope::new`] and on, but for the named files,
/// in [`IgnoreRules::ripgrep`].
///
/// When several have a verdict on a file, the first in this list wins: `.rgignore`, `.ignore`,
/// `.gitignore`, `.git/info/exclude`, the [global file](IgnoreRules::global_file), the
/// [named files](IgnoreRules::file) with the last named first. In one kind of file the nearest
/// directory wins, and in one file the last line.
///
/// ```
/// use ingrep::{CancelToken, IgnoreRules, Scope};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let root = dir.path();
/// # let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
/// write(".ignore", "*.log\n");
/// write("a.log", "");
/// write("a.txt", "");
/// let scope = Scope::new(root).hidden(false).ignore(IgnoreRules::none().dot_ignore(true));
/// assert_eq!(scope.files(&CancelToken::new())?.count(), 1);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRules {
    pub(crate) dot: bool,
    pub(crate) vcs: bool,
    pub(crate) exclude: bool,
    pub(crate) parents: bool,
    pub(crate) require_git: bool,
    pub(crate) case_insensitive: bool,
    pub(crate) global: Option<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
}

impl IgnoreRules {
    /// No ignore file is read.
    pub fn none() -> IgnoreRules {
        IgnoreRules {
            dot: false,
            vcs: false,
            exclude: false,
            parents: false,
            require_git: true,
            case_insensitive: false,
            global: None,
            files: Vec::new(),
        }
    }

    /// What ripgrep does by default, except for the files that it finds through the environment:
    /// pass those to [`global_file`](IgnoreRules::global_file).
    pub fn ripgrep() -> IgnoreRules {
        IgnoreRules { dot: true, vcs: true, exclude: true, parents: true, ..IgnoreRules::none() }
    }

    /// `.ignore` and `.rgignore` files.
    pub fn dot_ignore(mut self, yes: bool) -> IgnoreRules {
        self.dot = yes;
        self
    }

    /// `.gitignore` files.
    pub fn vcs_ignore(mut self, yes: bool) -> IgnoreRules {
        self.vcs = yes;
        self
    }

    /// `.git/info/exclude`.
    pub fn git_exclude(mut self, yes: bool) -> IgnoreRules {
        self.exclude = yes;
        self
    }

    /// Rules from the directories above the root.
    pub fn parents(mut self, yes: bool) -> IgnoreRules {
        self.parents = yes;
        self
    }

    /// Whether git's files count only inside a repository. Default: yes.
    pub fn require_git(mut self, yes: bool) -> IgnoreRules {
        self.require_git = yes;
        self
    }

    /// Whether rules ignore case, but for those of the named files, which never do. Default: no.
    pub fn case_insensitive(mut self, yes: bool) -> IgnoreRules {
        self.case_insensitive = yes;
        self
    }

    /// A file of rules for everything, which git calls `core.excludesFile`. It is obeyed inside
    /// repositories, or everywhere without [`require_git`](IgnoreRules::require_git). Its patterns
    /// are relative to [`Scope::base`]. By the [reference](Walker::Reference) walk, a rule that takes
    /// something back (`!name`) is heard with regard to case, and not in a repository that begins
    /// below a root which is in none.
    pub fn global_file(mut self, file: impl Into<PathBuf>) -> IgnoreRules {
        self.global = Some(file.into());
        self
    }

    /// Adds a named file of rules, relative to [`Scope::base`] as are its patterns. A later one
    /// wins over an earlier one. One that cannot be read is a diagnostic.
    pub fn file(mut self, file: impl Into<PathBuf>) -> IgnoreRules {
        self.files.push(file.into());
        self
    }
}

/// Where to look, and in which order.
///
/// A new scope walks everything below its root that a person would call a file of the project:
/// hidden files included, ignore files disregarded, version control directories
/// (`.git .svn .hg .bzr .jj .sl`) left out, links not followed, oldest modification first. Every
/// piece has a switch; [`ripgrep`](Scope::ripgrep) sets them all to what `rg` does.
///
/// A root that is a file is always listed: no filter applies to what the caller named.
///
/// ```
/// use ingrep::{CancelToken, Order, Scope};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let root = dir.path();
/// # std::fs::create_dir(root.join("src")).unwrap();
/// # for name in ["src/a.rs", "src/b.md", "c.rs"] { std::fs::write(root.join(name), "").unwrap(); }
/// let files = Scope::new(root)
///     .glob("src/*.rs")
///     .glob_base(root)
///     .sort(ingrep::SortBy::Path, Order::Ascending)
///     .files(&CancelToken::new())?;
/// let paths: Vec<_> = files.map(|file| file.path).collect();
/// assert_eq!(paths, [root.join("src/a.rs")]);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scope {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) base: Option<PathBuf>,
    pub(crate) roots_policy: RootsPolicy,
    pub(crate) hidden: bool,
    pub(crate) prune_vcs: bool,
    pub(crate) ignore: IgnoreRules,
    pub(crate) globs: Vec<Glob>,
    pub(crate) glob_base: Option<PathBuf>,
    pub(crate) types: Vec<TypeChange>,
    pub(crate) max_depth: Option<usize>,
    pub(crate) max_file_bytes: Option<u64>,
    pub(crate) follow_links: bool,
    pub(crate) one_file_system: bool,
    pub(crate) walker: Walker,
    pub(crate) limits: WalkLimits,
    pub(crate) confine: Option<PathBuf>,
    pub(crate) head: Option<usize>,
    pub(crate) sort_by: SortBy,
    pub(crate) order: Order,
    pub(crate) max_diagnostics: usize,
    pub(crate) pool: Pool,
    pub(crate) progress: Option<Progress>,
    /// Whether a walk in path order comes upon files in that order, with trouble in its place.
    pub(crate) walk_in_order: bool,
    /// Whether a walk without an order tells the trouble that ripgrep's parallel walk tells.
    pub(crate) walk_as_parallel: bool,
}

/// What is done about a root that cannot be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootsPolicy {
    /// It is an error.
    Strict,
    /// It is a diagnostic.
    Tolerant,
    /// As ripgrep does: a special file is read, `-` is the standard input, all else is told when
    /// its turn comes.
    AsRipgrep,
}

#[derive(Clone, Debug)]
pub(crate) struct Glob {
    pub(crate) glob: String,
    pub(crate) case_insensitive: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeChange {
    Add(String),
    Clear(String),
    Select(String),
    Negate(String),
}

impl Scope {
    /// Everything below this directory, or this file.
    pub fn new(root: impl Into<PathBuf>) -> Scope {
        Scope::many([root])
    }

    /// Everything below several roots. The same root twice is listed twice.
    ///
    /// ```
    /// use ingrep::{CancelToken, ErrorCode, Scope};
    ///
    /// let nowhere = Scope::many([] as [&str; 0]);
    /// assert_eq!(nowhere.files(&CancelToken::new()).unwrap_err().code(), ErrorCode::NoRoot);
    /// ```
    pub fn many(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Scope {
        Scope {
            roots: roots.into_iter().map(Into::into).collect(),
            base: None,
            roots_policy: RootsPolicy::Strict,
            hidden: true,
            prune_vcs: true,
            ignore: IgnoreRules::none(),
            globs: Vec::new(),
            glob_base: None,
            types: Vec::new(),
            max_depth: None,
            max_file_bytes: None,
            follow_links: false,
            one_file_system: false,
            walker: Walker::default(),
            limits: WalkLimits::new(),
            confine: None,
            head: None,
            sort_by: SortBy::default(),
            order: Order::default(),
            max_diagnostics: 100,
            pool: Pool::default(),
            progress: None,
            walk_in_order: false,
            walk_as_parallel: false,
        }
    }

    /// Sets everything but roots and directories to ripgrep's defaults: hidden files off, ignore
    /// files on, version control directories not special, no order.
    ///
    /// ```
    /// use ingrep::{CancelToken, Scope};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # std::fs::write(dir.path().join(".hidden"), "").unwrap();
    /// let scope = Scope::new(dir.path());
    /// assert_eq!(scope.files(&CancelToken::new())?.count(), 1);
    /// assert_eq!(scope.ripgrep().files(&CancelToken::new())?.count(), 0);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn ripgrep(self) -> Scope {
        self.hidden(false)
            .prune_vcs(false)
            .ignore(IgnoreRules::ripgrep())
            .sort(SortBy::Nothing, Order::Ascending)
    }

    /// Adds a root.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Scope {
        self.roots.push(root.into());
        self
    }

    /// The directory that relative roots, globs and rule files are relative to. Paths are still
    /// listed as the roots were written. Default: none; then the operating system resolves
    /// relative roots, and globs are matched against paths as they are listed. The process's
    /// working directory is never read. With a base, the root `""` is the base, and what is below
    /// it is listed without a prefix.
    pub fn base(mut self, dir: impl Into<PathBuf>) -> Scope {
        self.base = Some(dir.into());
        self
    }

    /// Whether a root that is missing, unreadable or no regular file is a diagnostic instead of an
    /// error. Default: an error, before anything is searched.
    pub fn tolerant_roots(mut self, yes: bool) -> Scope {
        self.roots_policy = if yes { RootsPolicy::Tolerant } else { RootsPolicy::Strict };
        self
    }

    /// Whether names that begin with a dot are walked. Default: yes.
    pub fn hidden(mut self, yes: bool) -> Scope {
        self.hidden = yes;
        self
    }

    /// Whether entries named `.git .svn .hg .bzr .jj .sl` are left out, and with them all of a
    /// directory root that lies in one. Default: yes.
    pub fn prune_vcs(mut self, yes: bool) -> Scope {
        self.prune_vcs = yes;
        self
    }

    /// Which ignore files are obeyed. Default: [`IgnoreRules::none`].
    ///
    /// Only regular files are read, and of those what the [limits](Scope::limits) allow. A line that
    /// cannot be used is dropped, and a diagnostic names it.
    pub fn ignore(mut self, rules: IgnoreRules) -> Scope {
        self.ignore = rules;
        self
    }

    /// Adds a glob: files it matches are listed, and with a leading `!`, left out, whatever ignore
    /// files and [`hidden`](Scope::hidden) say. The last glob that matches wins. As soon as one
    /// glob has no `!`, files that match none are left out.
    ///
    /// A glob without `/`, but for one at its end, is matched with the name at any depth; any
    /// other with the whole path relative to [`glob_base`](Scope::glob_base). `*` and `?` match no
    /// `/`; `**` spans directories; `{a,b}`, `[a-z]`, `[!a-z]` and `\` work as usual. At most
    /// 1,000 globs of at most 4 KiB each, and of 256 KiB together, are accepted.
    pub fn glob(self, glob: impl Into<String>) -> Scope {
        self.add_glob(glob.into(), false)
    }

    /// Adds a glob that disregards case; see [`glob`](Scope::glob).
    pub fn iglob(self, glob: impl Into<String>) -> Scope {
        self.add_glob(glob.into(), true)
    }

    fn add_glob(mut self, glob: String, case_insensitive: bool) -> Scope {
        self.globs.push(Glob { glob, case_insensitive });
        self
    }

    /// The directory that globs with a `/` are relative to, itself relative to
    /// [`base`](Scope::base). Default: the base.
    pub fn glob_base(mut self, dir: impl Into<PathBuf>) -> Scope {
        self.glob_base = Some(dir.into());
        self
    }

    /// Lists only files of this type, by name (`rust`, `py`, … or `all` for any known one); added
    /// to types selected before. The last selection or negation that matches a file wins.
    pub fn file_type(mut self, name: impl Into<String>) -> Scope {
        self.types.push(TypeChange::Select(name.into()));
        self
    }

    /// Leaves out files of this type.
    pub fn file_type_not(mut self, name: impl Into<String>) -> Scope {
        self.types.push(TypeChange::Negate(name.into()));
        self
    }

    /// Defines or widens a type: `name:glob`, or `name:include:other,other`.
    pub fn define_type(mut self, definition: impl Into<String>) -> Scope {
        self.types.push(TypeChange::Add(definition.into()));
        self
    }

    /// Forgets the globs of a type, to define it anew.
    pub fn clear_type(mut self, name: impl Into<String>) -> Scope {
        self.types.push(TypeChange::Clear(name.into()));
        self
    }

    /// How many levels below a root are walked: 1 is the files right in it, 0 nothing. Default: no
    /// limit.
    pub fn max_depth(mut self, depth: Option<usize>) -> Scope {
        self.max_depth = depth;
        self
    }

    /// Leaves out files of more than this many bytes. One whose size cannot be told is kept.
    /// Default: no limit.
    pub fn max_file_bytes(mut self, bytes: Option<u64>) -> Scope {
        self.max_file_bytes = bytes;
        self
    }

    /// Whether links to files and directories are followed. Default: no. A root that is a link is
    /// always followed.
    pub fn follow_links(mut self, yes: bool) -> Scope {
        self.follow_links = yes;
        self
    }

    /// Whether a walk stays on the file system of its root. Default: no.
    pub fn one_file_system(mut self, yes: bool) -> Scope {
        self.one_file_system = yes;
        self
    }

    /// Which walk lists the files. Default: [`Walker::Auto`].
    ///
    /// ```
    /// use ingrep::{CancelToken, Scope, Walker};
    ///
    /// let list = |walker| Scope::new("src").walker(walker).files(&CancelToken::new());
    /// assert!(list(Walker::Native)?.eq(list(Walker::Reference)?));
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn walker(mut self, walker: Walker) -> Scope {
        self.walker = walker;
        self
    }

    /// Limits of the walk. Default: [`WalkLimits::new`].
    pub fn limits(mut self, limits: WalkLimits) -> Scope {
        self.limits = limits;
        self
    }

    /// Keeps the walk, and every file that is opened for a search, below this directory, whatever
    /// `..`, links and ignore files say and whoever swaps names meanwhile. Relative to
    /// [`base`](Scope::base). Default: no such directory.
    ///
    /// A root outside of it is an error, or with [`tolerant_roots`](Scope::tolerant_roots) a
    /// diagnostic. A link that leads out is like one that leads nowhere. Ignore files above the
    /// directory, and those that git keeps outside of it, are not read; the
    /// [global](IgnoreRules::global_file) and the [named](IgnoreRules::file) ones are, because the
    /// caller named them. Needs the [native](Walker::Native) walk.
    ///
    /// What was opened below the directory and is moved out of it meanwhile is still read.
    ///
    /// ```
    /// use ingrep::{CancelToken, ErrorCode, Scope};
    ///
    /// # if cfg!(target_os = "linux") {
    /// # let dir = tempfile::tempdir()?;
    /// # let project = dir.path().join("project");
    /// # std::fs::create_dir(&project)?;
    /// # std::fs::create_dir(dir.path().join("secret"))?;
    /// let scope = Scope::new("../secret").base(&project).confine(&project);
    /// let error = scope.files(&CancelToken::new()).unwrap_err();
    /// assert_eq!(error.code(), ErrorCode::RootOutside);
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn confine(mut self, dir: impl Into<PathBuf>) -> Scope {
        self.confine = Some(dir.into());
        self
    }

    /// Lists only the first so many files of the order. The others are counted in
    /// [`FilesSummary::files`](crate::FilesSummary::files) and take no memory. Default: all.
    ///
    /// ```
    /// use ingrep::{CancelToken, Scope};
    ///
    /// let mut files = Scope::new("src").glob("*.rs").head(Some(2)).files(&CancelToken::new())?;
    /// assert_eq!(files.by_ref().count(), 2);
    /// assert!(files.into_summary().files > 20);
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn head(mut self, files: Option<usize>) -> Scope {
        self.head = files;
        self
    }

    /// In which order files are listed and searched. Default: [`SortBy::Modified`], ascending.
    ///
    /// Equal times keep the order of the roots and, inside a root, path order, in both directions.
    /// A file whose time cannot be read comes last in ascending, first in descending order. Paths
    /// in ascending order keep the order of the roots; in descending order the roots are merged.
    pub fn sort(mut self, by: SortBy, order: Order) -> Scope {
        self.sort_by = by;
        self.order = order;
        self
    }

    /// The most diagnostics of a walk kept in full; all are counted. Default: 100.
    pub fn max_diagnostics(mut self, diagnostics: usize) -> Scope {
        self.max_diagnostics = diagnostics;
        self
    }

    /// Counters to advance while files are listed and searched. Default: none.
    pub fn progress(mut self, progress: &Progress) -> Scope {
        self.progress = Some(progress.clone());
        self
    }

    /// The threads that walk, and search. Default: those of [`Pool::default`].
    pub fn pool(mut self, pool: &Pool) -> Scope {
        self.pool = pool.clone();
        self
    }
}
