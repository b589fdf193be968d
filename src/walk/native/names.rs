//! The globs of a scope, asked the cheapest way that gives the answer of the `ignore` crate.

use super::rules::Verdict;
use crate::scope::{Glob, RootsPolicy, Scope};
use crate::text;
use crate::walk::filters::Filters;
use ignore::Match;
use ignore::overrides::Override;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// What the globs of a scope say of an entry.
pub(super) struct Globs {
    how: How,
    literal: Option<Literal>,
}

enum How {
    /// There are none.
    None,
    /// Each is `*.name`: the ends of listed files.
    Ends(Vec<Box<[u8]>>),
    /// They are matched with the name alone.
    Names(Override),
    /// They are matched with the whole path.
    Paths(Override),
}

impl Globs {
    pub(super) fn new(filters: &Filters, root: &Path) -> Globs {
        let (scope, overrides) = (&filters.scope, &filters.overrides);
        let how = if overrides.is_empty() {
            How::None
        } else if let Some(ends) = ends(&scope.globs) {
            How::Ends(ends)
        } else if scope.globs.iter().all(is_name) {
            How::Names(overrides.clone())
        } else {
            How::Paths(overrides.clone())
        };
        Globs { how, literal: Literal::new(scope, overrides.path(), root) }
    }

    /// Whether a verdict needs more of an entry than its name.
    pub(super) fn see_paths(&self) -> bool {
        matches!(self.how, How::Paths(_))
    }

    pub(super) fn verdict(&self, name: &[u8], walked: &[u8], is_dir: bool) -> Verdict {
        let (overrides, path) = match &self.how {
            How::None => return Verdict::None,
            How::Ends(ends) => {
                return match ends.iter().any(|end| name.ends_with(end)) {
                    true => Verdict::Listed,
                    false if is_dir => Verdict::None,
                    false => Verdict::Ignored,
                };
            }
            How::Names(overrides) => (overrides, name),
            How::Paths(overrides) => (overrides, walked),
        };
        match overrides.matched(Path::new(OsStr::from_bytes(path)), is_dir) {
            Match::None => Verdict::None,
            Match::Ignore(_) => Verdict::Ignored,
            Match::Whitelist(_) => Verdict::Listed,
        }
    }

    /// Whether there are directories that are not worth looking at.
    pub(super) fn are_literal(&self) -> bool {
        self.literal.is_some()
    }

    /// What of a directory, by its path from the root, is worth looking at.
    pub(super) fn worth(&self, below_root: &[u8]) -> Worth<'_> {
        self.literal.as_ref().map_or(Worth::All, |literal| literal.worth(below_root))
    }
}

/// The glob without what says that it holds in all directories. One without a slash does so, too.
fn anywhere(glob: &str) -> &str {
    glob.strip_prefix("**/").unwrap_or(glob)
}

fn is_name(glob: &Glob) -> bool {
    let glob = glob.glob.strip_prefix('!').unwrap_or(&glob.glob);
    !anywhere(glob).contains('/')
}

/// The ends, if each glob lists what ends so, and nothing else.
fn ends(globs: &[Glob]) -> Option<Vec<Box<[u8]>>> {
    let end = |glob: &Glob| {
        let end = anywhere(&glob.glob).strip_prefix('*')?;
        if matches!(end, "" | "*") {
            return Some(Box::default());
        }
        let rest = end.strip_prefix('.')?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_plain = !rest.is_empty() && rest.as_bytes().iter().all(is_plain);
        (is_plain && !glob.case_insensitive).then(|| end.as_bytes().into())
    };
    globs.iter().map(end).collect()
}

/// What of a directory can hold files that the globs list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worth<'a> {
    All,
    /// Only this entry.
    Only(&'a str),
    /// Only entries that are told by [`Globs::worth`] of themselves.
    Some,
    Nothing,
}

/// The names of directories with which all globs that list something begin.
struct Literal {
    /// Each glob's, in turn.
    globs: Vec<Vec<String>>,
    /// The root's own, from where the globs begin.
    root: Vec<Vec<u8>>,
}

impl Literal {
    /// `None` if there is a glob that can list files anywhere.
    fn new(scope: &Scope, base: &Path, root: &Path) -> Option<Literal> {
        // To ripgrep trouble in a directory is an error, also where nothing could match.
        if scope.roots_policy == RootsPolicy::AsRipgrep {
            return None;
        }
        let listing: Vec<_> =
            scope.globs.iter().filter(|glob| !glob.glob.starts_with('!')).collect();
        if listing.is_empty() {
            return None;
        }
        let globs = listing.into_iter().map(literal_names).collect::<Option<_>>()?;
        let is_here = |path: &Path| matches!(path.to_str(), Some("" | "."));
        let below = match is_here(base) {
            true => root,
            false => root.strip_prefix(base).ok()?,
        };
        let below = if is_here(below) { Path::new("") } else { below };
        let mut names = Vec::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => names.push(name.as_bytes().to_vec()),
                Component::CurDir => {}
                // Globs see `..` as a name, and an absolute path has nothing before it.
                _ => return None,
            }
        }
        Some(Literal { globs, root: names })
    }

    fn worth(&self, below_root: &[u8]) -> Worth<'_> {
        let below = below_root.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let dir: Vec<&[u8]> = self.root.iter().map(Vec::as_slice).chain(below).collect();
        let mut only = None;
        for glob in &self.globs {
            let same = dir.iter().zip(glob).all(|(name, literal)| *name == literal.as_bytes());
            match glob.get(dir.len()) {
                _ if !same => {}
                None => return Worth::All,
                Some(next) => match only {
                    None => only = Some(next.as_str()),
                    Some(other) if other == next => {}
                    Some(_) => return self.some(&dir),
                },
            }
        }
        only.map_or(Worth::Nothing, Worth::Only)
    }

    /// For a directory from which the globs go several ways, or end.
    fn some(&self, dir: &[&[u8]]) -> Worth<'static> {
        let holds_all = |glob: &Vec<String>| {
            glob.len() <= dir.len()
                && dir.iter().zip(glob).all(|(name, literal)| *name == literal.as_bytes())
        };
        if self.globs.iter().any(holds_all) { Worth::All } else { Worth::Some }
    }
}

/// The names that come before the first that is a pattern, or the last. `None` if there are none.
fn literal_names(glob: &Glob) -> Option<Vec<String>> {
    let text = glob.glob.strip_prefix('/').unwrap_or(&glob.glob);
    // What ends in a space, or begins as a comment, is not what it seems.
    if glob.case_insensitive || text.ends_with([' ', '/']) || glob.glob.starts_with('#') {
        return None;
    }
    let (dirs, _) = text.rsplit_once('/')?;
    let is_literal = |name: &&str| !name.contains(['*', '?', '[', ']', '{', '}', '\\', ',']);
    // An empty name, or one that is no name, makes a glob that means something else or nothing.
    if dirs.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return None;
    }
    let names: Vec<_> = dirs.split('/').take_while(is_literal).map(String::from).collect();
    (!names.is_empty()).then_some(names)
}

/// How an entry is called below what the `ignore` crate takes for its beginning.
pub(super) fn walked_prefix(root: &Path) -> Vec<u8> {
    let mut prefix = text::path_bytes(root).into_owned();
    if !prefix.ends_with(b"/") {
        prefix.push(b'/');
    }
    if prefix.starts_with(b"./") {
        prefix.drain(..2);
    }
    prefix
}
