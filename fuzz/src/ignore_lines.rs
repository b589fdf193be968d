//! Lines of ignore files, in every place that has some: both walks list the same by them.

use crate::{Bits, Choices, parts, tree};
use ingrep::{IgnoreRules, Order, Scope, SortBy};
use std::fs;

/// Two bytes of choices, then the files of [`PLACES`] in their order.
pub fn run(data: &[u8]) {
    if data.len() > 600 {
        return;
    }
    let (mut choices, rest) = Choices::cut(data, 2);
    let mut bits = Bits(choices.byte());
    let dir = tree::directory();
    tree::make(dir.path());
    if bits.next() {
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::create_dir(dir.path().join(".git/info")).unwrap();
    }
    for (place, lines) in PLACES.iter().zip(parts(rest, PLACES.len())) {
        let path = dir.path().join(place);
        if path.parent().is_some_and(|parent| parent.is_dir()) {
            fs::write(path, lines).unwrap();
        }
    }
    let mut rules = IgnoreRules::none()
        .dot_ignore(true)
        .vcs_ignore(bits.next())
        .git_exclude(true)
        .require_git(bits.next())
        .case_insensitive(bits.next());
    if bits.next() {
        rules = rules.file(dir.path().join("rules"));
    }
    let from = if bits.next() { "sub" } else { "" };
    if bits.next() {
        rules = rules.parents(true);
    }
    let hidden = bits.next();
    let mut bits = Bits(choices.byte());
    let mut scope = Scope::new(dir.path().join(from)).base(dir.path()).ignore(rules);
    scope = scope.sort(SortBy::Path, Order::Ascending).hidden(hidden).prune_vcs(bits.next());
    tree::alike(scope);
}

const PLACES: &[&str] =
    &[".ignore", ".gitignore", "sub/.ignore", "sub/.gitignore", ".git/info/exclude", "rules"];
