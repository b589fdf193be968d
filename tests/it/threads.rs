//! Who works: with an inline pool, and with ripgrep's `-j1`, nobody but the caller.

use crate::tree::Tree;
use ingrep::rg::Command;
use ingrep::{CancelToken, Pool, Query, Scope};
use std::process::Command as Process;
use std::time::{Duration, Instant};

const CHILD: &str = "INGREP_TEST_ALONE";

/// The crate's own threads in this process. They stay once they are started.
fn workers() -> usize {
    let comm = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.map(comm).filter(|name| name.starts_with("ingrep-")).count()
}

/// Other tests start threads in this process, so the questions are asked in ones of their own.
#[track_caller]
fn passes_in_its_own_process(test: &str) {
    let output = Process::new(std::env::current_exe().unwrap())
        .args([&format!("threads::{test}"), "--exact", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
}

fn is_own() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn an_inline_pool_and_j1_start_no_thread() {
    passes_in_its_own_process("alone_in_a_process");
}

#[test]
fn alone_in_a_process() {
    // Only the test above has a process for it.
    if !is_own() {
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
fn a_dropped_pool_leaves_no_thread() {
    passes_in_its_own_process("pools_are_dropped_in_a_process");
}

/// All threads of this process, also those that have not got as far as to give themselves a name.
fn tasks() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Threads of a pool end by themselves, soon after it was dropped. On a machine where others are busy
/// that takes its time; a thread that stayed would stay for ever.
#[track_caller]
fn no_more_than(base: usize) {
    let begin = Instant::now();
    while tasks() > base {
        assert!(begin.elapsed() < Duration::from_secs(60), "{} threads, then {}", base, tasks());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn pools_are_dropped_in_a_process() {
    if !is_own() {
        return;
    }
    let table: String = (0..100).map(|n| format!("d{}/{n}: needle\n", n % 10)).collect();
    let tree = Tree::new(&table);
    let rg = |pool: &Pool, args: &[&str], token: &CancelToken| {
        Command::new(tree.path()).args(args).pool(pool).output(token).unwrap()
    };
    let calls: [fn(&Scope, &CancelToken); 4] = [
        |scope, token| {
            let search = Query::new("needle").scope(scope.clone()).compile().unwrap();
            assert_eq!(search.collect(token).unwrap().files.len(), 100);
        },
        // Left half way.
        |scope, token| {
            let search = Query::new("needle").scope(scope.clone()).compile().unwrap();
            assert_eq!(search.stream(token).unwrap().take(3).count(), 3);
        },
        |scope, token| assert_eq!(scope.files(token).unwrap().take(3).count(), 3),
        |scope, _| drop(scope.files(&CancelToken::new().deadline_in(Duration::ZERO))),
    ];
    let base = tasks();
    for round in 0..10 {
        for token in [CancelToken::new(), CancelToken::new().deadline_in(Duration::from_secs(600))]
        {
            for call in calls {
                let pool = Pool::new(1 + round);
                assert_eq!(pool.threads(), 1 + round);
                assert!(tasks() > base + round, "the question can be answered otherwise");
                call(&Scope::new(tree.path()).pool(&pool), &token);
            }
            // These start one for the call alone.
            let pool = Pool::inline();
            assert_eq!(rg(&pool, &["-j22", "--json", "needle"], &token).code, 0);
            assert_eq!(rg(&pool, &["-j22", "--files"], &token).code, 0);
            assert_eq!(rg(&pool, &["-j22", "("], &token).code, 2);
        }
        no_more_than(base);
    }
}

/// The standard library lets this variable say how large the stacks of threads are, if nobody else
/// does. That is the host's, and with little a worker would overflow, which ends the process.
#[test]
fn the_stacks_of_workers_are_not_the_environments_to_choose() {
    let tree = Tree::new("a: one two three needle\n b: needle\n c: needle\n d: needle");
    let output = Process::new(env!("CARGO_BIN_EXE_ingrep"))
        .args(["rg", "-j4", "-c", r"(\w+\s+){0,5}needle\b"])
        .current_dir(tree.path())
        .env("RUST_MIN_STACK", "4096")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 4);
}

#[test]
fn more_threads_than_are_of_use_are_not_started() {
    assert_eq!(Pool::new(100_000).threads(), 256);
}
