//! Whatever of the caller's panics in the middle of a call: H5.

use super::here;
use super::watched::watched_for;
use crate::tree::{POOLS, Tree};
use ingrep::tools::{SpillStore, Spilled, Tools};
use ingrep::{CancelToken, End, Pool, Query, rg};
use std::any::Any;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A panic that says nothing on the standard error.
fn panic_quietly(point: usize) -> ! {
    resume_unwind(Box::new(point))
}

#[track_caller]
fn assert_is(payload: Box<dyn Any + Send>, point: usize) {
    assert_eq!(payload.downcast_ref::<usize>(), Some(&point), "the payload is the caller's");
}

fn tree() -> Tree {
    let table: String =
        (0..50).map(|n| format!("d{}/f{n}: needle\\nhay\\nneedle\n", n % 5)).collect();
    Tree::new(&table)
}

/// All is as it was, for the same search, the same pool and the same token.
#[track_caller]
fn assert_usable(tree: &Tree, pool: &Pool, token: &CancelToken) {
    let search = Query::new("needle").scope(here(tree).pool(pool)).compile().unwrap();
    let outcome = search.collect(token).unwrap();
    assert_eq!((outcome.summary.end, outcome.files.len()), (End::Complete, 50));
    assert_eq!(pool.stuck_threads(), 0);
}

#[test]
fn a_callback_may_panic_at_any_file() {
    watched_for(PATIENCE, 8 << 20, || {
        let tree = tree();
        let token = CancelToken::new();
        for point in 0..200 {
            let (_, pool) = &POOLS[point % 4];
            let search = Query::new("needle").scope(here(&tree).pool(pool)).compile().unwrap();
            let mut seen = 0;
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                search.for_each(&token, |_| {
                    if seen == point % 50 {
                        panic_quietly(point);
                    }
                    seen += 1;
                    ControlFlow::Continue(())
                })
            }));
            assert_is(panicked.unwrap_err(), point);
            // The same search, and its idle scanners.
            if point % 8 == 0 {
                assert_eq!(search.collect(&token).unwrap().files.len(), 50);
                assert_usable(&tree, pool, &token);
            }
        }
    });
}

/// Panics at the n-th call.
struct Breaks {
    left: usize,
    point: usize,
}

impl Breaks {
    fn count(&mut self) {
        if self.left == 0 {
            panic_quietly(self.point);
        }
        self.left -= 1;
    }
}

impl Write for Breaks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.count();
        Ok(())
    }
}

impl Read for Breaks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.count();
        buffer.fill(b'\n');
        Ok(buffer.len())
    }
}

#[test]
fn a_writer_may_panic_at_any_write() {
    watched_for(PATIENCE, 8 << 20, || {
        let tree = tree();
        let token = CancelToken::new();
        for point in 0..200 {
            let (_, pool) = &POOLS[point % 4];
            let argv: &[&str] = [&["--json", "needle"][..], &["needle"], &["--files"]][point % 3];
            let command = rg::Command::new(tree.path()).args(argv).pool(pool);
            let mut all = Breaks { left: usize::MAX, point };
            command.run(&mut all, &mut io::sink(), &token).unwrap();
            let calls = usize::MAX - all.left;
            let mut writer = Breaks { left: point % calls, point };
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                command.run(&mut writer, &mut io::sink(), &token).unwrap()
            }));
            assert_is(panicked.unwrap_err(), point);
            if point % 8 == 0 {
                assert_usable(&tree, pool, &token);
            }
        }
        // What is written to the standard error, likewise.
        let mut writer = Breaks { left: 0, point: 7 };
        let command = rg::Command::new(tree.path()).args(["(", "."]);
        let run = || command.run(&mut io::sink(), &mut writer, &token).unwrap();
        assert_is(catch_unwind(AssertUnwindSafe(run)).unwrap_err(), 7);
    });
}

/// A reader is read by a worker: its panic is one file's.
#[test]
fn a_reader_may_panic_at_any_read() {
    watched_for(PATIENCE, 8 << 20, || {
        let tree = tree();
        for point in 0..60 {
            let (_, pool) = &POOLS[point % 4];
            let command = rg::Command::new(tree.path()).args(["needle", "-", "d0"]).pool(pool);
            let reader = Breaks { left: point % 10, point };
            let output = command.stdin_reader(reader).output(&CancelToken::new()).unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.code == 2 && stderr.contains("internal error"), "{stderr}");
            assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 20);
            assert_usable(&tree, pool, &CancelToken::new());
        }
    });
}

/// Panics after so many reads of what it was to save.
struct BadStore(usize);

impl SpillStore for BadStore {
    fn save(&self, _: &str, content: &mut dyn Read) -> io::Result<Spilled> {
        let mut buffer = [0; 64];
        for _ in 0..self.0 % 20 {
            let _ = content.read(&mut buffer)?;
        }
        panic_quietly(self.0)
    }
}

#[test]
fn a_store_may_panic_at_any_read() {
    watched_for(PATIENCE, 8 << 20, || {
        let tree = tree();
        let token = CancelToken::new();
        for point in 0..60 {
            let (_, pool) = &POOLS[point % 4];
            let tools = Tools::new(tree.path()).pool(pool).timeout(Some(Duration::from_secs(60)));
            let bad = tools.clone().grep_max_matches(9).glob_max_results(9).spill(BadStore(point));
            for (name, pattern) in [("grep", "needle"), ("glob", "**/*")] {
                let arguments = serde_json::json!({ "pattern": pattern });
                let call = || bad.call(name, &arguments, &token).map(drop);
                let panicked = catch_unwind(AssertUnwindSafe(call));
                assert_is(panicked.expect_err(name), point);
                assert!(tools.call(name, &arguments, &token).is_ok());
            }
            assert_usable(&tree, pool, &token);
        }
    });
}
