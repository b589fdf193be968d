//! Who works: with an inline pool, and with ripgrep's `-j1`, nobody but the caller.

use crate::tree::Tree;
use ingrep::rg::Command;
use ingrep::{CancelToken, Pool, Query, Scope};

const CHILD: &str = "INGREP_TEST_ALONE";

/// The crate's own threads in this process. They stay once they are started.
fn workers() -> usize {
    let comm = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.map(comm).filter(|name| name.starts_with("ingrep-")).count()
}

/// Other tests start threads in this process, so the question is asked in one of its own.
#[test]
fn an_inline_pool_and_j1_start_no_thread() {
    let test = "threads::alone_in_a_process";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
}

#[test]
fn alone_in_a_process() {
    // Only the test above has a process for it.
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let tree = Tree::new("");
    // More than the walk looks at before it would ask for help.
    let many: String = (0..1_500).map(|n| format!("d{}/{n}: needle\n", n % 30)).collect();
    tree.add(&many);
    let token = CancelToken::new();
    let scope = Scope::new(tree.path());

    let alone = Query::new("needle").scope(scope.clone().pool(&Pool::inline())).compile().unwrap();
    assert_eq!(alone.collect(&token).unwrap().summary.lines_matched, 1_500);
    for args in [["-j1", "--json", "needle"], ["-j1", "--files", "--sort=modified"]] {
        assert_eq!(Command::new(tree.path()).args(args).output(&token).unwrap().code, 0);
    }
    assert_eq!(workers(), 0);

    // The same without that would start some: the question can be answered otherwise.
    let helped = Query::new("needle").scope(scope).compile().unwrap();
    assert_eq!(helped.collect(&token).unwrap().summary.lines_matched, 1_500);
    assert!(workers() > 0);
}

#[test]
fn more_threads_than_are_of_use_are_not_started() {
    assert_eq!(Pool::new(100_000).threads(), 256);
}
