//! Scopes as lists of settings, which can be printed and made smaller.

use super::plan::Bytes;
use crate::tree::POOLS;
use ingrep::{IgnoreRules, Order, Scope, SortBy};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(super) enum Setting {
    /// ripgrep's defaults instead of our own. Comes before what changes them.
    Ripgrep,
    Base(Bytes),
    Root(Bytes),
    TolerantRoots,
    Hidden(bool),
    PruneVcs(bool),
    DotIgnore(bool),
    VcsIgnore(bool),
    GitExclude(bool),
    Parents(bool),
    RequireGit(bool),
    CaseInsensitive(bool),
    GlobalFile(Bytes),
    RuleFile(Bytes),
    Glob(String),
    Iglob(String),
    GlobBase(Bytes),
    FileType(String),
    FileTypeNot(String),
    DefineType(String),
    ClearType(String),
    MaxDepth(usize),
    MaxFileBytes(u64),
    FollowLinks,
    OneFileSystem,
    Sort(SortBy, Order),
    MaxDiagnostics(usize),
    /// Which of [`POOLS`] the native walk has. The reference walks on the caller's thread: that it
    /// lists the same on others is for another test, and starting threads takes longer than a walk.
    Pool(usize),
    /// The token says so before the walk begins.
    Cancelled,
}

impl Setting {
    pub(super) const KINDS: usize = 29;
}

/// The scope that these settings make.
pub(super) fn scope(settings: &[Setting], top: &Path) -> Scope {
    let (mut scope, mut rules) = (Scope::many([] as [PathBuf; 0]), IgnoreRules::none());
    for setting in settings {
        let path = |name: &Bytes| name.resolved_path(top);
        scope = match setting {
            Setting::Ripgrep => {
                rules = IgnoreRules::ripgrep();
                scope.ripgrep()
            }
            Setting::Base(dir) => scope.base(path(dir)),
            Setting::Root(root) => scope.root(path(root)),
            Setting::TolerantRoots => scope.tolerant_roots(true),
            Setting::Hidden(yes) => scope.hidden(*yes),
            Setting::PruneVcs(yes) => scope.prune_vcs(*yes),
            Setting::Glob(glob) => scope.glob(glob),
            Setting::Iglob(glob) => scope.iglob(glob),
            Setting::GlobBase(dir) => scope.glob_base(path(dir)),
            Setting::FileType(name) => scope.file_type(name),
            Setting::FileTypeNot(name) => scope.file_type_not(name),
            Setting::DefineType(definition) => scope.define_type(definition),
            Setting::ClearType(name) => scope.clear_type(name),
            Setting::MaxDepth(depth) => scope.max_depth(Some(*depth)),
            Setting::MaxFileBytes(bytes) => scope.max_file_bytes(Some(*bytes)),
            Setting::FollowLinks => scope.follow_links(true),
            Setting::OneFileSystem => scope.one_file_system(true),
            Setting::Sort(by, order) => scope.sort(*by, *order),
            Setting::MaxDiagnostics(max) => scope.max_diagnostics(*max),
            Setting::Pool(pool) => scope.pool(&POOLS[*pool].1),
            Setting::Cancelled => scope,
            rule => {
                rules = with_rule(rules, rule, top);
                scope
            }
        };
    }
    scope.ignore(rules)
}

fn with_rule(rules: IgnoreRules, setting: &Setting, top: &Path) -> IgnoreRules {
    match setting {
        Setting::DotIgnore(yes) => rules.dot_ignore(*yes),
        Setting::VcsIgnore(yes) => rules.vcs_ignore(*yes),
        Setting::GitExclude(yes) => rules.git_exclude(*yes),
        Setting::Parents(yes) => rules.parents(*yes),
        Setting::RequireGit(yes) => rules.require_git(*yes),
        Setting::CaseInsensitive(yes) => rules.case_insensitive(*yes),
        Setting::GlobalFile(file) => rules.global_file(file.resolved_path(top)),
        Setting::RuleFile(file) => rules.file(file.resolved_path(top)),
        other => unreachable!("{other:?} is no rule"),
    }
}

/// Whether every glob that lists something begins with the name of a directory, so that a walk need
/// not look into others.
pub(super) fn is_narrow(settings: &[Setting]) -> bool {
    let mut listing = settings
        .iter()
        .filter_map(|setting| match setting {
            Setting::Glob(glob) | Setting::Iglob(glob) => Some(glob),
            _ => None,
        })
        .filter(|glob| !glob.starts_with('!'))
        .peekable();
    listing.peek().is_some() && listing.all(|glob| begins_with_a_name(glob))
}

fn begins_with_a_name(glob: &str) -> bool {
    let below = glob.strip_prefix('/');
    let first = match (below, glob.split_once('/')) {
        (Some(below), _) => below.split('/').next().unwrap_or(below),
        // A slash at the end says only that a directory is meant, wherever it is.
        (None, Some((first, rest))) if !rest.is_empty() => first,
        _ => return false,
    };
    !first.contains(['*', '?', '[', '{'])
}
