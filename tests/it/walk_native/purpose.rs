//! Where the native walk is not to answer as the reference does: what it answers instead. See
//! `ON_PURPOSE`.

use super::within;
use crate::tree::{POOLS, Tree};
use ingrep::{CancelToken, IgnoreRules, Order, Scope, SortBy, Walker};
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

/// Checks what is listed, and where there was trouble.
#[track_caller]
fn check(tree: &Tree, scope: Scope, expected: &[&str], trouble: &[&str]) {
    for (name, pool) in POOLS.iter() {
        let scope = scope.clone().base(tree.path()).sort(SortBy::Path, Order::Ascending);
        let scope = scope.walker(Walker::Native).pool(pool);
        // The reference would wait for ever.
        let (listed, places) = within(LIMIT, move || {
            let mut files = scope.files(&CancelToken::new()).unwrap();
            let listed: Vec<_> = files.by_ref().map(|file| file.path).collect();
            let diagnostics = files.into_summary().diagnostics;
            let places = diagnostics.iter().map(|one| one.path.clone().unwrap());
            (listed, places.collect::<Vec<_>>())
        });
        assert_eq!(listed, paths(expected), "{name}");
        assert_eq!(places, paths(trouble), "{name}");
    }
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

fn obeying(rules: IgnoreRules) -> Scope {
    Scope::new("").ignore(rules)
}

#[test]
fn nothing_is_told_of_directories_in_which_no_glob_can_match() {
    let tree = Tree::new("a/.ignore: {a\n a/x.txt\n b/.ignore: {a\n b/x.txt");
    let scope = obeying(IgnoreRules::none().dot_ignore(true)).glob("a/*.txt");
    check(&tree, scope.clone(), &["a/x.txt"], &["a/.ignore"]);
    check(&tree, scope.glob("x*"), &["a/x.txt", "b/x.txt"], &["a/.ignore", "b/.ignore"]);
}

#[test]
fn a_global_rule_takes_back_in_a_repository_below_a_root_that_is_in_none() {
    let tree = Tree::new(
        "globals: !.env\\n!keep.log\n rules: *.log\n x.log\n keep.log\n .env
         repository/.git/\n repository/x.log\n repository/keep.log\n repository/.env",
    );
    let rules = IgnoreRules::none().vcs_ignore(true).global_file("globals").file("rules");
    let expected = &["globals", "repository/.env", "repository/keep.log", "rules"];
    check(&tree, obeying(rules).hidden(false), expected, &[]);
}

#[test]
fn a_global_rule_that_takes_back_disregards_case_where_all_rules_do() {
    let tree = Tree::new("globals: !KEEP.log\n rules: *.log\n .git/\n x.log\n keep.log");
    let rules = IgnoreRules::none().vcs_ignore(true).case_insensitive(true);
    let rules = rules.global_file("globals").file("rules");
    check(&tree, obeying(rules), &["globals", "keep.log", "rules"], &[]);
}

#[test]
fn a_relative_path_in_a_git_file_is_relative_to_the_base() {
    let tree = Tree::new(
        "main/.git/info/exclude: *.log\n main/.git/worktrees/w/commondir: ../..
         work/.git: gitdir: main/.git/worktrees/w\n work/x.log\n work/x.txt",
    );
    let rules = IgnoreRules::none().git_exclude(true);
    let scope = Scope::new("work").ignore(rules);
    check(&tree, scope, &["work/x.txt"], &[]);
}

#[test]
fn an_ignore_file_that_is_no_regular_file_is_told_and_not_read() {
    for special in ["fifo", "/dev/zero"] {
        let tree = Tree::new("x.txt\n .git/info/\n sub/x.log\n sub/.ignore: *.log");
        let names = [".git/info/exclude", ".gitignore", ".ignore", ".rgignore", "sub/.rgignore"];
        for name in names {
            match special {
                "fifo" => tree.fifo(name),
                device => tree.add(&format!("{name} -> {device}")),
            }
        }
        check(&tree, obeying(IgnoreRules::ripgrep()).hidden(false), &["x.txt"], &names);
    }
}

#[test]
fn a_rule_over_its_limit_costs_only_itself() {
    let tree = Tree::new("x.log\n x.txt\n y.log");
    tree.add(&format!(".ignore: x.log\\n{}\\ny.log", "?".repeat(200_000)));
    let scope = obeying(IgnoreRules::none().dot_ignore(true)).hidden(false);
    check(&tree, scope, &["x.txt"], &[".ignore"]);
}

#[test]
fn what_follows_an_ignored_directory_of_another_file_system_is_listed() {
    use std::os::unix::fs::MetadataExt;
    let (tree, far) = (Tree::new(""), Tree::on_disk("x"));
    let device = |tree: &Tree| tree.path().metadata().unwrap().dev();
    // Whichever is read last follows the link.
    for name in ["a", "b", "c", "d", "far", "m", "n", "o"] {
        match name {
            "far" => std::os::unix::fs::symlink(far.path(), tree.join("far")).unwrap(),
            name => tree.add(name),
        }
    }
    let scope = Scope::new("").glob("!far").follow_links(true).one_file_system(true);
    check(&tree, scope.clone(), &["a", "b", "c", "d", "m", "n", "o"], &[]);
    if device(&tree) != device(&far) {
        let scope = scope.base(tree.path()).walker(Walker::Reference);
        let listed = scope.files(&CancelToken::new()).unwrap().count();
        assert!(listed < 7, "the reference has learnt it: it can be compared again");
    }
}

#[test]
fn a_global_rule_with_a_class_disregards_case_where_all_rules_do() {
    let tree = Tree::new("globals: [!a]*/\n .git/\n A/x\n b/x");
    let rules = IgnoreRules::none().vcs_ignore(true).global_file("globals").case_insensitive(true);
    check(&tree, obeying(rules), &["A/x", "globals"], &[]);
}
