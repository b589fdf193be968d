//! Everything there is to call, once, and what came of it.

use ingrep::tools::Tools;
use ingrep::{CancelToken, IgnoreRules, Order, Pool, Query, Scope, SortBy, rg};
use std::path::Path;

/// A tree of so many files in directories, with a rule that leaves one out.
pub(crate) fn tree(files: usize) -> crate::tree::Tree {
    let line = |n: usize| format!("d{}/e{}/f{n}: needle\\nhay\\n\n", n % 20, n % 7);
    let table: String = (0..files).map(line).collect();
    let tree = crate::tree::Tree::new(&table);
    tree.add(".ignore: *.log\n d0/a.log: needle");
    tree
}

/// Calls it all. What is not found must be told: otherwise it is named here.
pub(crate) fn lost_silently(at: &Path, pool: &Pool, files: usize) -> Vec<String> {
    let mut lost = Vec::new();
    let token = CancelToken::new();
    let rules = IgnoreRules::ripgrep().parents(false);
    for by in [SortBy::Modified, SortBy::Path, SortBy::Nothing] {
        let scope = Scope::new("").base(at).ignore(rules.clone()).pool(pool);
        let scope = scope.sort(by, Order::Ascending);
        if let Ok(mut listing) = scope.files(&token) {
            let listed = listing.by_ref().filter(|file| !file.path.starts_with(".ignore")).count();
            let told = listing.into_summary().diagnostics.total();
            if listed != files && told == 0 {
                lost.push(format!("files, {by:?}: {listed}"));
            }
        }
        let search = Query::new("needle").scope(scope).compile();
        if let Ok(outcome) = search.and_then(|search| search.collect(&token)) {
            let found = outcome.files.len();
            if found != files && outcome.summary.diagnostics.total() == 0 {
                lost.push(format!("search, {by:?}: {found}"));
            }
        }
    }
    for argv in [&["-c", "needle"][..], &["--files"], &["-l", "--json", "needle"]] {
        let command = rg::Command::new(at).args(argv).pool(pool);
        if let Ok(output) = command.output(&token) {
            let lines = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
            if lines < files && output.code != 2 {
                lost.push(format!("rg {argv:?}: {lines} lines, code {}", output.code));
            }
        }
    }
    let tools = Tools::new(at).pool(pool);
    for (name, pattern) in [("grep", "needle"), ("glob", "**/f*")] {
        let arguments = serde_json::json!({ "pattern": pattern });
        if let Ok(reply) = tools.call(name, &arguments, &token)
            && reply.text.starts_with("No ")
            && !reply.text.contains(" skipped: ")
        {
            lost.push(format!("tool {name}: {}", reply.text));
        }
    }
    lost
}

/// Whether all is found, and nothing else told.
pub(crate) fn finds_all(at: &Path, pool: &Pool, token: &CancelToken, files: usize) -> bool {
    let scope = Scope::new("").base(at).ignore(IgnoreRules::ripgrep().parents(false)).pool(pool);
    let search = Query::new("needle").scope(scope).compile().unwrap();
    search.collect(token).is_ok_and(|outcome| {
        outcome.files.len() == files && outcome.summary.diagnostics.total() == 0
    })
}
