//! Processes that may open hardly anything: H7.

use super::own_process::{OwnProcess, is_own};
use super::watched::watched;
use super::{list, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, IgnoreRules, Pool, Query, Scope, WalkLimits};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Forty directories side by side, a chain, and a comb: a chain at each of whose levels there is a
/// branch, and something after it.
fn wide_and_deep() -> (Tree, usize) {
    let tree = Tree::new("");
    let mut files = 0;
    let mut file = |path: String| {
        tree.add(&format!("{path}: needle"));
        files += 1;
    };
    for n in 0..40 {
        file(format!("side-{n}/file"));
    }
    file(format!("{}file", "chain/".repeat(50)));
    let mut at = String::from("comb/");
    for _ in 0..20 {
        // Whichever end of a directory is walked first: something deep, the branch, and a rest.
        file(format!("{at}b/{}file", "x/".repeat(8)));
        tree.add(&format!("{at}m/"));
        file(format!("{at}c/{}file", "x/".repeat(8)));
        at.push_str("m/");
    }
    file(format!("{at}file"));
    (tree, files)
}

fn allow_descriptors(count: u64) {
    let limit = Rlimit { current: Some(count), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count() - 1
}

#[test]
fn few_descriptors_lose_nothing_that_is_not_told() {
    OwnProcess::new("few_descriptors::in_its_own_there_are_few").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_there_are_few() {
    if !is_own() {
        return;
    }
    watched(|| {
        let (tree, files) = wide_and_deep();
        let pools = [Pool::inline(), Pool::new(8)];
        let _: Vec<_> = pools.iter().map(Pool::threads).collect();
        let before = open_descriptors();
        for count in [8, 12, 16, 32, 64] {
            for (at, pool) in pools.iter().enumerate() {
                for (way, scope) in ways(&Scope::new("").base(tree.path())) {
                    let scope = scope.pool(pool);
                    allow_descriptors(count);
                    let result = scope.files(&CancelToken::new()).map(|mut files| {
                        let listed = files.by_ref().count();
                        (listed, files.into_summary())
                    });
                    let search = Query::new("needle").scope(scope).compile().unwrap();
                    let outcome = search.collect(&CancelToken::new());
                    allow_descriptors(1_000);
                    let case = format!("{count} descriptors, pool {at}, {way}");
                    // Not even the root could be looked at: an error is no silence.
                    let Ok((listed, summary)) = result else { continue };
                    let told = summary.diagnostics.total();
                    assert!(listed == files || told > 0, "{case}: {listed}, and nothing is told");
                    assert!(listed <= files, "{case}");
                    let Ok(outcome) = outcome else { continue };
                    let told = outcome.summary.diagnostics.total();
                    let found = outcome.files.len();
                    assert!(found == files || told > 0, "{case}: {found}, and nothing is told");
                }
            }
        }
        assert_eq!(open_descriptors(), before, "none is left open");
    });
}

/// What the walk promises: no more than its limit, and nothing lost by it.
#[test]
fn the_limit_of_open_directories_loses_nothing() {
    OwnProcess::new("few_descriptors::in_its_own_the_walk_keeps_its_limit").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_the_walk_keeps_its_limit() {
    if !is_own() {
        return;
    }
    watched(|| {
        let (tree, files) = wide_and_deep();
        let limits = WalkLimits::new().max_open_directories(4);
        let scope = Scope::new("").base(tree.path()).limits(limits);
        for scope in [
            scope.clone(),
            scope.clone().follow_links(true),
            scope.clone().confine("").follow_links(true),
            scope.ignore(IgnoreRules::ripgrep().parents(false)),
        ] {
            for (way, scope) in ways(&scope) {
                let scope = scope.pool(&Pool::inline());
                // Four are open, as many are being read, and some are opened on the way.
                allow_descriptors(open_descriptors() as u64 + 16);
                let (listed, summary) = list(&scope);
                allow_descriptors(1_000);
                assert_eq!(summary.diagnostics.total(), 0, "{way}: {:?}", summary.diagnostics);
                assert_eq!(listed.len(), files, "{way}");
            }
        }
    });
}
