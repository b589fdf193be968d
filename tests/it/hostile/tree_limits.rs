//! How deep, how large and how long a tree may be: the limits of a walk by their names.

use super::{here, list, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, Order, Reason, Scope, SortBy, WalkLimits, rg};

/// Checks that some of a tree is listed under these limits, and that the limit is told once.
#[track_caller]
fn check_part(tree: &Tree, limits: WalkLimits, told: &str, least: usize, most: usize) {
    for (way, scope) in ways(&here(tree).limits(limits.clone())) {
        let (files, summary) = list(&scope);
        assert!((least..=most).contains(&files.len()), "{way}: {}", files.len());
        let all: Vec<_> = summary.diagnostics.iter().map(|told| &*told.message).collect();
        assert_eq!(all, [told], "{way}");
        assert_eq!(summary.diagnostics.count(Reason::TooLarge), 1, "{way}");
    }
    let output = rg::Command::new(tree.path())
        .args(["--files", "--sort", "modified"])
        .walk_limits(limits)
        .output(&CancelToken::new())
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.code == 2 && said.contains(told), "{said}");
}

#[test]
fn levels() {
    let tree = Tree::new("f\n a/f\n a/b/f\n a/b/c/f\n a/b/c/d/f\n x/f");
    let limits = WalkLimits::new().max_levels(2);
    check_part(&tree, limits, "the directory is over max_levels (2)", 4, 4);
    let (files, summary) = list(&here(&tree).limits(WalkLimits::new().max_levels(4)));
    assert_eq!((files.len(), summary.diagnostics.total()), (6, 0));
}

/// Ten directories with ten files each.
fn hundred() -> Tree {
    let table: String = (0..100).map(|n| format!("d{}/f{n}\n", n / 10)).collect();
    Tree::new(&table)
}

#[test]
fn entries() {
    let limits = WalkLimits::new().max_entries(50);
    check_part(&hundred(), limits, "the walk ends at max_entries (50)", 30, 60);
    let (files, summary) = list(&here(&hundred()).limits(WalkLimits::new().max_entries(110)));
    assert_eq!((files.len(), summary.diagnostics.total()), (100, 0));
}

#[test]
fn bytes_of_a_listing() {
    let tree = hundred();
    let few = WalkLimits::new().max_listing_bytes(2_000);
    for by in [SortBy::Path, SortBy::Modified] {
        let scope = here(&tree).sort(by, Order::Ascending);
        let (files, summary) = list(&scope.clone().limits(few.clone()));
        assert!((30..90).contains(&files.len()), "{}", files.len());
        assert_eq!(summary.diagnostics.count(Reason::TooLarge), 1);
        let told = summary.diagnostics.iter().next().unwrap();
        assert_eq!(told.message, "the walk ends at max_listing_bytes (2000)");
        // A head does not take more with every file.
        let table: String = (0..20_000).map(|n| format!("e{}/{n}\n", n / 1000)).collect();
        let large = Tree::new(&table);
        let scope = Scope::new("").base(large.path()).sort(by, Order::Ascending);
        let enough = WalkLimits::new().max_listing_bytes(600_000);
        let (files, summary) = list(&scope.clone().head(Some(10)).limits(enough.clone()));
        assert_eq!((files.len(), summary.files), (10, 20_000), "{:?}", summary.diagnostics);
        let (_, summary) = list(&scope.limits(enough));
        assert_eq!(summary.diagnostics.count(Reason::TooLarge), 1);
    }
    // As files are found, none is held.
    let unsorted = here(&tree).sort(SortBy::Nothing, Order::Ascending).limits(few);
    assert_eq!(list(&unsorted).0.len(), 100);
}
