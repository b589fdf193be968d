//! A system that does not answer: what waits for it is left behind, and the call comes back.

use super::{here, list};
use crate::tree::Tree;
use ingrep::{
    CancelToken, End, Error, ErrorCode, FilesSummary, Order, Pool, Query, Reason, Scope, SortBy,
    Stop, rg,
};
use rustix::fs::OFlags;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_millis(300);

/// Much longer than a call that keeps its promise takes on the busiest machine, and much shorter than
/// one that waits.
const NEVER: Duration = Duration::from_secs(10);

/// A mounted file system whose server does not say a word.
struct Dead {
    at: PathBuf,
    server: Option<File>,
}

impl Dead {
    /// `None` where nothing can be mounted.
    fn mount(at: PathBuf) -> Option<Dead> {
        let server = OpenOptions::new().read(true).write(true).open("/dev/fuse").ok()?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0\0", server.as_raw_fd());
        let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).unwrap();
        mount("none", &at, "fuse", MountFlags::empty(), options).ok()?;
        Some(Dead { at, server: Some(server) })
    }

    /// From now on everything there fails at once.
    fn bury(&mut self) {
        self.server = None;
    }
}

impl Drop for Dead {
    fn drop(&mut self) {
        self.bury();
        let _ = unmount(&self.at, UnmountFlags::DETACH);
    }
}

/// A tree of healthy directories, one that is dead, and more healthy ones.
fn dead_among_healthy() -> Option<(Tree, Dead)> {
    let table: String = (0..40).map(|n| format!("d{n:02}/f: needle\n")).collect();
    let tree = Tree::new(&table);
    tree.add("d20/dead/");
    match Dead::mount(tree.join("d20/dead")) {
        Some(dead) => Some((tree, dead)),
        None => {
            eprintln!("not checked: no file system can be mounted here");
            None
        }
    }
}

/// Runs a call under the deadline, and checks that it comes back by itself.
#[track_caller]
fn timed<T>(call: impl FnOnce(&CancelToken) -> T) -> T {
    let token = CancelToken::new().deadline_in(DEADLINE);
    let started = Instant::now();
    let answer = call(&token);
    let late = started.elapsed().saturating_sub(DEADLINE);
    println!("{} ms after its deadline", late.as_millis());
    assert!(late < NEVER, "it waits");
    answer
}

fn wait_for_nobody_stuck(pool: &Pool) {
    let started = Instant::now();
    while pool.stuck_threads() > 0 {
        assert!(started.elapsed() < NEVER, "{} threads are still stuck", pool.stuck_threads());
        thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
fn check_is_told(summary: &FilesSummary) {
    assert_eq!((summary.stopped, summary.complete), (Some(Stop::DeadlinePassed), false));
    assert_eq!(summary.diagnostics.count(Reason::Stuck), 1, "{:?}", summary.diagnostics);
}

#[test]
fn a_dead_file_system_does_not_keep_a_walk() {
    let Some((tree, mut dead)) = dead_among_healthy() else { return };
    for threads in [1, 2, 4] {
        for by in [SortBy::Modified, SortBy::Path, SortBy::Nothing] {
            let pool = Pool::new(threads);
            let scope = here(&tree).pool(&pool).sort(by, Order::Ascending);
            let (files, summary) = timed(|token| {
                let mut files = scope.files(token).unwrap();
                let names: Vec<_> = files.by_ref().map(|file| file.path).collect();
                (names, files.into_summary())
            });
            check_is_told(&summary);
            // A thread that found others before it got stuck has not lost them.
            let found = files.len();
            assert!(found <= 40 && summary.files == found as u64, "{threads} {by:?}: {found}");
            if threads > 1 && by != SortBy::Nothing {
                assert_eq!(found, 40, "{threads} {by:?}");
            }
            assert!(pool.stuck_threads() >= 1, "{threads} {by:?}");
            // The pool has other threads for other trees.
            let healthy =
                Scope::new("d00").base(tree.path()).pool(&pool).sort(by, Order::Ascending);
            let (listed, _) = list(&healthy);
            assert!(!listed.is_empty());
        }
    }
    // Once the system answers, be it with an error, nobody is stuck any more.
    let pool = Pool::new(2);
    timed(|token| here(&tree).pool(&pool).files(token).unwrap().count());
    assert!(pool.stuck_threads() >= 1);
    dead.bury();
    wait_for_nobody_stuck(&pool);
    let (listed, summary) = list(&here(&tree).pool(&pool));
    assert_eq!((listed.len(), summary.diagnostics.count(Reason::Io)), (40, 1));
}

#[test]
fn a_root_that_does_not_answer_is_named() {
    let tree = Tree::new("f: needle");
    tree.add("dead/");
    let Some(_dead) = Dead::mount(tree.join("dead")) else { return };
    let pool = Pool::new(2).max_stuck_threads(100);
    for by in [SortBy::Modified, SortBy::Nothing] {
        let scope = Scope::new(tree.join("dead/further")).pool(&pool).sort(by, Order::Ascending);
        let summary = timed(|token| {
            let mut files = scope.files(token).unwrap();
            assert_eq!(files.by_ref().count(), 0);
            files.into_summary()
        });
        check_is_told(&summary);
        let told = summary.diagnostics.iter().next().unwrap();
        assert_eq!(told.path.as_deref(), Some(&*tree.join("dead/further")));

        let search = Query::new("needle").scope(scope).compile().unwrap();
        let outcome = timed(|token| search.collect(token).unwrap());
        assert_eq!(outcome.summary.end, End::DeadlinePassed);
        assert_eq!(outcome.summary.diagnostics.count(Reason::Stuck), 1);
    }
    for (cwd, argv) in [
        ("", &["needle"][..]),
        ("", &["needle", "dead/further"]),
        ("", &["-f", "dead/patterns"]),
        ("dead/further", &["needle"]),
        ("", &["--files", "--sort", "path"]),
    ] {
        let output = timed(|token| {
            rg::Command::new(tree.join(cwd)).args(argv).pool(&pool).output(token).unwrap()
        });
        assert_eq!((output.code, output.stopped), (2, Some(Stop::DeadlinePassed)), "{argv:?}");
    }
}

#[test]
fn tools_come_back_from_a_dead_file_system() {
    let Some((tree, _dead)) = dead_among_healthy() else { return };
    let pool = Pool::new(2);
    let tools = ingrep::tools::Tools::new(tree.path()).pool(&pool).timeout(Some(DEADLINE));
    let one = |name: &str, path: &str| {
        let arguments = serde_json::json!({ "pattern": "needle", "path": path });
        let started = Instant::now();
        let error = tools.call(name, &arguments, &CancelToken::new()).unwrap_err();
        assert!(started.elapsed() < NEVER, "it waits");
        println!("{name} {path}: {:?} after {} ms", error.code(), started.elapsed().as_millis());
    };
    for name in ["grep", "glob"] {
        for path in [".", "d20/dead", "d20/dead/further"] {
            one(name, path);
        }
    }
}

/// A FIFO that the caller names is opened, as ripgrep does, and waits for somebody who writes.
fn waits_for_a_writer(tree: &Tree, pool: &Pool, token: &CancelToken) -> Result<rg::Output, Error> {
    rg::Command::new(tree.path()).args(["needle", "fifo", "f"]).pool(pool).output(token)
}

fn write_to_fifo(tree: &Tree) {
    let opened = || {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(tree.join("fifo"))
    };
    // Nobody may be waiting for it any more.
    drop(opened());
}

#[test]
fn what_others_have_found_is_not_lost_with_a_stuck_file() {
    let tree = Tree::new("f: needle");
    tree.fifo("fifo");
    let pool = Pool::new(2);
    let output = timed(|token| waits_for_a_writer(&tree, &pool, token).unwrap());
    assert_eq!((output.code, output.stopped), (2, Some(Stop::DeadlinePassed)));
    assert_eq!(output.stdout, b"f:needle\n");
    assert_eq!(pool.stuck_threads(), 1);
    write_to_fifo(&tree);
    wait_for_nobody_stuck(&pool);
}

#[test]
fn a_cancelled_call_without_a_deadline_leaves_a_stuck_file_behind() {
    let tree = Tree::new("f: needle");
    tree.fifo("fifo");
    let (pool, token) = (Pool::new(2), CancelToken::new());
    let canceller = token.clone();
    let cancel = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        canceller.cancel();
    });
    let started = Instant::now();
    let output = waits_for_a_writer(&tree, &pool, &token).unwrap();
    assert!(started.elapsed() < NEVER, "it waits");
    assert_eq!(output.stopped, Some(Stop::Cancelled));
    cancel.join().unwrap();
    write_to_fifo(&tree);
    wait_for_nobody_stuck(&pool);
}

#[test]
fn too_many_stuck_threads_are_an_error_until_they_come_back() {
    let tree = Tree::new("f: needle");
    tree.fifo("fifo");
    let pool = Pool::new(1).max_stuck_threads(2);
    for _ in 0..2 {
        timed(|token| waits_for_a_writer(&tree, &pool, token).unwrap());
    }
    assert_eq!(pool.stuck_threads(), 2);
    let search = Query::new("needle").scope(here(&tree).pool(&pool)).compile().unwrap();
    let refused = [
        here(&tree).pool(&pool).files(&CancelToken::new()).map(drop).unwrap_err(),
        search.collect(&CancelToken::new()).map(drop).unwrap_err(),
        timed(|token| waits_for_a_writer(&tree, &pool, token).map(drop).unwrap_err()),
    ];
    for error in refused {
        assert_eq!(error.code(), ErrorCode::ThreadsStuck);
        assert!(error.to_string().contains("max_stuck_threads is 2"), "{error}");
    }
    while pool.stuck_threads() > 0 {
        write_to_fifo(&tree);
    }
    assert_eq!(search.collect(&CancelToken::new()).unwrap().files.len(), 1);
}

/// A call that has no deadline finds its work done all the same when all threads are stuck with
/// that of others.
#[test]
fn others_are_not_kept_by_stuck_threads() {
    let tree = Tree::new("f: needle");
    tree.fifo("fifo");
    let pool = Pool::new(1);
    let stuck = CancelToken::new();
    thread::scope(|scope| {
        let waits = scope.spawn(|| waits_for_a_writer(&tree, &pool, &stuck));
        thread::sleep(Duration::from_millis(50));
        let search = Query::new("needle").scope(here(&tree).pool(&pool)).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        assert_eq!((outcome.files.len(), outcome.summary.end), (1, End::Complete));
        stuck.cancel();
        waits.join().unwrap().unwrap();
    });
    write_to_fifo(&tree);
    wait_for_nobody_stuck(&pool);
}

/// For the list of all errors.
pub(crate) fn threads_stuck() -> Result<(), Error> {
    let tree = Tree::new("f: needle");
    tree.fifo("fifo");
    let pool = Pool::new(1).max_stuck_threads(1);
    // The job may not have begun when the first call comes back.
    let refused = loop {
        let token = CancelToken::new().deadline_in(Duration::from_millis(50));
        if let Err(refused) = waits_for_a_writer(&tree, &pool, &token) {
            break Err(refused);
        }
    };
    while pool.stuck_threads() > 0 {
        write_to_fifo(&tree);
    }
    refused
}
