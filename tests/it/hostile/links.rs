//! Links that lead back, and links that multiply: T10 and T11.

use super::watched::watched;
use super::{check, here, list, ways};
use crate::tree::Tree;
use ingrep::{Reason, WalkLimits};

#[test]
fn links_that_lead_back_end_and_are_told() {
    watched(|| {
        let tree = Tree::new(
            "a\n self -> .\n sub/b\n sub/up -> ..\n sub/down -> deep\n sub/deep/c\n sub/deep/top -> ../..
             sub/me -> me\n ping -> pong\n pong -> ping",
        );
        check(&tree, &here(&tree), "a sub/b sub/deep/c", "");
        let trouble = "loop self: leads back\n loop sub/up: leads back
            loop sub/deep/top: leads back\n loop sub/down/top: leads back
            io sub/me: Too many\n io ping: Too many\n io pong: Too many";
        let files = "a sub/b sub/deep/c sub/down/c";
        check(&tree, &here(&tree).follow_links(true), files, trouble);
        check(&tree, &here(&tree).follow_links(true).confine(""), files, trouble);
    });
}

/// Two directories that link to each other, from outside of each other.
#[test]
fn links_that_lead_back_by_a_detour_end() {
    watched(|| {
        let tree = Tree::new("x/file\n x/to -> ../y\n y/file\n y/to -> ../x");
        let trouble = "loop x/to/to: leads back\n loop y/to/to: leads back";
        let files = "x/file y/file x/to/file y/to/file";
        check(&tree, &here(&tree).follow_links(true), files, trouble);
    });
}

/// Fourteen directories, each with three links to the next: five million paths, and no loop.
fn fan() -> Tree {
    let mut table = String::from("healthy\n 13/end\n");
    for n in 0..13 {
        for link in ["a", "b", "c"] {
            table.push_str(&format!("{n}/{link} -> ../{}\n", n + 1));
        }
    }
    Tree::new(&table)
}

#[test]
fn links_that_multiply_end_at_a_limit_that_is_told() {
    watched(|| {
        let tree = fan();
        let limits = WalkLimits::new().max_followed_directories(1_000);
        for confined in [false, true] {
            let scope = here(&tree).follow_links(true).limits(limits.clone());
            let scope = if confined { scope.confine("") } else { scope };
            for (way, scope) in ways(&scope) {
                let (listed, summary) = list(&scope);
                assert!(listed.iter().any(|file| file == "healthy"), "{way}");
                assert!(listed.iter().any(|file| file == "13/end"), "{way}");
                let told = summary.diagnostics.iter().next().unwrap();
                assert_eq!(told.reason, Reason::TooLarge, "{way}");
                assert!(told.message.contains("max_followed_directories (1000)"), "{told}");
                // What was found is what a thousand links lead to, at the most.
                assert!(listed.len() < 1_100, "{way}: {}", listed.len());
                assert!(summary.diagnostics.total() <= 3_000, "{:?}", summary.diagnostics);
            }
        }
    });
}

#[test]
fn links_that_multiply_end_by_default() {
    watched(|| {
        let tree = fan();
        let scope = &ways(&here(&tree).follow_links(true))[1].1;
        let (listed, summary) = list(scope);
        assert!(listed.iter().any(|file| file == "healthy"));
        assert!(listed.len() > 10_000 && listed.len() < 70_000, "{}", listed.len());
        assert!(summary.diagnostics.count(Reason::TooLarge) > 0);
    });
}

#[test]
fn links_are_not_followed_unless_told_to() {
    watched(|| {
        let tree = fan();
        check(&tree, &here(&tree), "healthy 13/end", "");
    });
}
