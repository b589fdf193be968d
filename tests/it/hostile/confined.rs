//! What a confined scope reads of the world around it: nothing.

use super::watched::watched;
use super::{check, list, rest_of, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, ErrorCode, IgnoreRules, Order, Query, Reason, Scope, SortBy};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A directory `in` that scopes are confined to, and what is beside it.
fn beside() -> Tree {
    Tree::new(
        "in/a: needle\n in/sub/b: needle\n out/secret: needle\n out/.ignore: *\n other: needle",
    )
}

fn confined(tree: &Tree) -> Scope {
    Scope::new("").base(tree.join("in")).confine("")
}

#[test]
fn roots_that_are_outside_are_refused_however_they_are_written() {
    watched(|| {
        let tree = beside();
        tree.add("in/to-out -> ../out\n in/to-file -> ../other\n in/up -> ..\n inside -> in");
        symlink(tree.join("out"), tree.join("in/absolute")).unwrap();
        let absolute = tree.join("out").display().to_string();
        let outside = [
            "..",
            "../out",
            "../out/secret",
            "sub/../../out",
            "../in/../out",
            "to-out",
            "to-out/",
            "to-out/secret",
            "to-file",
            "absolute",
            "up",
            "up/out",
            "up/in/../out",
            "/",
            "/proc/self",
            &absolute,
        ];
        for root in outside {
            let scope = Scope::new(root).base(tree.join("in")).confine("");
            for (way, scope) in ways(&scope) {
                let error = scope.files(&CancelToken::new()).unwrap_err();
                assert_eq!(error.code(), ErrorCode::RootOutside, "{root}, {way}: {error}");
                assert_eq!(error.path(), Some(Path::new(root)), "{way}");
                let search = Query::new("needle").scope(scope.clone()).compile().unwrap();
                assert!(search.collect(&CancelToken::new()).is_err(), "{root}, {way}");
                // And with a root that is inside, the rest is searched.
                let (listed, summary) = list(&scope.tolerant_roots(true).root("sub"));
                assert_eq!(listed, ["sub/b"], "{root}, {way}");
                assert_eq!(summary.diagnostics.total(), 1, "{root}, {way}");
            }
        }
        let inside = ["", ".", "../in", "sub/..", "../inside", "up/in", "../out/../in", "sub/../."];
        for root in inside {
            let scope = Scope::new(root).base(tree.join("in")).confine("");
            let (listed, summary) = list(&scope);
            assert_eq!((listed.len(), summary.diagnostics.total()), (2, 0), "{root}: {listed:?}");
        }
    });
}

#[test]
fn links_that_lead_out_lead_nowhere() {
    watched(|| {
        let tree = beside();
        tree.add(
            "in/dir-out -> ../out\n in/file-out -> ../other\n in/sub/up-and-out -> ../../out
             in/way/down -> ../sub\n in/way/file -> ../sub/b\n in/way/back -> ../../in/sub
             in/two-steps -> dir-out\n in/magic -> /proc/self/root",
        );
        symlink(tree.join("out"), tree.join("in/absolute-out")).unwrap();
        symlink(tree.join("in/sub"), tree.join("in/absolute-in")).unwrap();
        check(&tree, &confined(&tree), "a sub/b", "");
        let listed = "a sub/b way/down/b way/file";
        // The last of them comes back, but it has been outside, as has an absolute one.
        let trouble = [
            "dir-out",
            "file-out",
            "sub/up-and-out",
            "two-steps",
            "magic",
            "absolute-out",
            "absolute-in",
            "way/back",
            "way/down/up-and-out",
        ];
        let trouble: String =
            trouble.iter().map(|name| format!("io {name}: Invalid cross-device link\n")).collect();
        check(&tree, &confined(&tree).follow_links(true), listed, &trouble);
    });
}

/// What is refused is not opened either, when it takes the place of what was listed.
#[test]
fn a_listed_file_that_becomes_a_link_out_is_not_read() {
    watched(|| {
        for follow in [false, true] {
            for directory in [false, true] {
                let tree = beside();
                // Files of such a size are not searched before the walk is over.
                fs::write(tree.join("in/sub/b"), "needle\n".repeat(200_000)).unwrap();
                let scope = confined(&tree).follow_links(follow);
                for (way, scope) in &ways(&scope)[..2] {
                    let token = CancelToken::new();
                    let files: Vec<_> = scope.files(&token).unwrap().collect();
                    assert_eq!(files.len(), 2);
                    // The same in a search: it lists, and opens when it is asked for more.
                    let pool = ingrep::Pool::inline();
                    let search = Query::new("needle").scope(scope.clone().pool(&pool)).compile();
                    let stream = search.unwrap().stream(&token).unwrap();
                    let (victim, target) = match directory {
                        false => ("in/sub/b", "../../other"),
                        true => ("in/sub", "../out"),
                    };
                    fs::rename(tree.join(victim), tree.join("aside")).unwrap();
                    if directory {
                        fs::write(tree.join("out/b"), "needle\n").unwrap();
                    }
                    symlink(target, tree.join(victim)).unwrap();
                    let found: Vec<_> = stream.map(|file| file.path).collect();
                    assert_eq!(found, [Path::new("a")], "{way}, follow: {follow}, {directory}");
                    fs::remove_file(tree.join(victim)).unwrap();
                    fs::rename(tree.join("aside"), tree.join(victim)).unwrap();
                }
            }
        }
    });
}

/// A root that is looked at before anything is walked, and changed before its turn comes.
#[test]
fn a_named_file_that_becomes_a_link_out_is_told() {
    watched(|| {
        for target in [Some("../other"), None] {
            let tree = beside();
            let scope = Scope::many(["sub", "a"])
                .base(tree.join("in"))
                .confine("")
                .sort(SortBy::Nothing, Order::Ascending);
            let files = scope.files(&CancelToken::new()).unwrap();
            fs::remove_file(tree.join("in/a")).unwrap();
            if let Some(target) = target {
                symlink(target, tree.join("in/a")).unwrap();
            }
            let (listed, summary) = rest_of(files);
            assert_eq!(listed, ["sub/b"], "{target:?}");
            let told: Vec<_> = summary.diagnostics.iter().collect();
            assert_eq!(told.len(), 1, "{target:?}: {told:?}");
            assert_eq!(told[0].path.as_deref(), Some(Path::new("a")));
        }
    });
}

#[test]
fn rules_outside_are_not_read() {
    watched(|| {
        let tree = beside();
        tree.add(
            ".ignore: a\n .gitignore: a\n .rgignore: a\n .git/HEAD\n .git/info/exclude: a
             in/.gitignore: x\n in/x",
        );
        let rules = || Scope::new("").base(tree.join("in")).ignore(IgnoreRules::ripgrep());
        // Unconfined, they hold: the tree is one where it counts.
        check(&tree, &rules(), ".gitignore sub/b", "");
        let scope = rules().confine("");
        // The repository above is not seen either, so that git's own rules are not in force.
        check(&tree, &scope, ".gitignore a sub/b x", "");
        let scope = rules().ignore(IgnoreRules::ripgrep().require_git(false)).confine("");
        check(&tree, &scope, ".gitignore a sub/b", "");
    });
}

#[test]
fn rules_between_the_directory_and_the_root_are_read() {
    watched(|| {
        let tree = beside();
        tree.add("in/.ignore: b\n .ignore: c\n in/sub/c");
        let scope = Scope::new("sub").base(tree.join("in")).confine("");
        check(&tree, &scope.ignore(IgnoreRules::ripgrep()), "sub/c", "");
    });
}

#[test]
fn rule_files_that_are_links_out_are_not_read() {
    watched(|| {
        for name in [".ignore", ".rgignore", ".gitignore", ".git/info/exclude"] {
            let tree = beside();
            tree.add("rules: *\n in/.git/info/\n in/.git/HEAD");
            symlink(tree.join("rules"), tree.join("in").join(name)).unwrap();
            let rules = IgnoreRules::ripgrep();
            let free = Scope::new("").base(tree.join("in")).ignore(rules.clone());
            check(&tree, &free, "", "");
            check(&tree, &free.confine(""), "a sub/b", "");
        }
    });
}

/// The global file and the named ones are the caller's own.
#[test]
fn rule_files_that_the_caller_named_may_be_outside() {
    watched(|| {
        let tree = beside();
        tree.add("global: a\n named: b");
        let rules = IgnoreRules::ripgrep().require_git(false).global_file("../global");
        check(&tree, &confined(&tree).ignore(rules.clone()), "sub/b", "");
        check(&tree, &confined(&tree).ignore(rules.file("../named")), "", "");
    });
}

#[test]
fn git_pointers_that_lead_out_are_not_followed() {
    watched(|| {
        let tree = beside();
        tree.add("repo/.git/worktrees/w/commondir: ../..\n repo/.git/info/exclude: a");
        let pointer = format!("gitdir: {}\n", tree.join("repo/.git/worktrees/w").display());
        fs::write(tree.join("in/.git"), &pointer).unwrap();
        let free = Scope::new("").base(tree.join("in")).ignore(IgnoreRules::ripgrep());
        check(&tree, &free, "sub/b", "");
        check(&tree, &free.clone().confine(""), "a sub/b", "");
        // By `..`, which is as long as it is inside by its letters.
        let inside = tree.join("in/sub/../../repo/.git/worktrees/w");
        fs::write(tree.join("in/.git"), format!("gitdir: {}\n", inside.display())).unwrap();
        check(&tree, &free, "sub/b", "");
        check(&tree, &free.clone().confine(""), "a sub/b", "");
        // A description inside that leads out.
        tree.add("in/sub/w/commondir: x");
        let repo = tree.join("repo/.git");
        fs::write(tree.join("in/sub/w/commondir"), repo.to_str().unwrap()).unwrap();
        let pointer = format!("gitdir: {}\n", tree.join("in/sub/w").display());
        fs::write(tree.join("in/.git"), pointer).unwrap();
        check(&tree, &free, "sub/b sub/w/commondir", "");
        check(&tree, &free.clone().confine(""), "a sub/b sub/w/commondir", "");
        // And one that stays inside is obeyed.
        tree.add("in/sub/common/info/exclude: a");
        let common = tree.join("in/sub/common");
        fs::write(tree.join("in/sub/w/commondir"), common.to_str().unwrap()).unwrap();
        check(&tree, &free.confine(""), "sub/b sub/common/info/exclude sub/w/commondir", "");
    });
}

/// Whether something outside exists must not show in what is listed.
#[test]
fn a_git_link_that_leads_out_makes_no_repository() {
    watched(|| {
        for name in [".git", ".jj"] {
            for target in ["../out", "../nowhere"] {
                let tree = beside();
                tree.add("in/.gitignore: a");
                symlink(target, tree.join("in").join(name)).unwrap();
                let scope = confined(&tree).ignore(IgnoreRules::ripgrep());
                check(&tree, &scope, ".gitignore a sub/b", "");
            }
            // One that leads to a directory inside makes one.
            let tree = beside();
            tree.add("in/.gitignore: a");
            symlink("sub", tree.join("in").join(name)).unwrap();
            let scope = confined(&tree).ignore(IgnoreRules::ripgrep());
            check(&tree, &scope, ".gitignore sub/b", "");
        }
    });
}

/// What is told of a root outside must not depend on what is there.
#[test]
fn the_refusal_of_a_root_does_not_tell_what_is_outside() {
    watched(|| {
        let tree = beside();
        tree.fifo("fifo");
        tree.add("in/link -> ../nowhere");
        for root in ["../out", "../other", "../nowhere", "../fifo", "link", "/nowhere/at/all"] {
            let scope = Scope::new(root).base(tree.join("in")).confine("");
            let error = scope.files(&CancelToken::new()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::RootOutside, "{root}: {error}");
        }
    });
}

#[test]
fn the_directory_itself_may_be_a_link_and_may_not_be_missing() {
    watched(|| {
        let tree = beside();
        tree.add("inside -> in");
        for dir in ["inside", "in/../in", "in/sub/.."] {
            let scope = Scope::new(tree.join("in")).base(tree.path()).confine(dir);
            assert_eq!(list(&scope).0.len(), 2, "{dir}");
        }
        for dir in ["nowhere", "other", "in/a"] {
            let scope = Scope::new("in").base(tree.path()).confine(dir);
            let error = scope.files(&CancelToken::new()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::RootUnreadable, "{dir}: {error}");
        }
        let _ = Reason::Io;
    });
}
