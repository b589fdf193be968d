//! Lets a test make any call of the file system fail. In every other build nothing is left of it.

use std::io::{self, Read};

/// Before each call that is made of the file system, once more for each time it is made again.
#[cfg(not(all(test, target_os = "linux")))]
#[inline(always)]
pub(crate) fn pass() -> Result<(), Fault> {
    Ok(())
}

/// An error that a test has put in the place of a call's own.
#[cfg(not(all(test, target_os = "linux")))]
pub(crate) enum Fault {}

#[cfg(not(all(test, target_os = "linux")))]
impl Fault {
    pub(crate) fn errno(self) -> i32 {
        match self {}
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> io::Error {
        io::Error::from_raw_os_error(fault.errno())
    }
}

/// [`Path::canonicalize`], which is one such call.
#[cfg(target_os = "linux")]
pub(crate) fn real_path(path: &std::path::Path) -> io::Result<std::path::PathBuf> {
    pass()?;
    path.canonicalize()
}

/// A reader each of whose reads is such a call.
pub(crate) struct Reads<R>(pub(crate) R);

impl<R: Read> Read for Reads<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        pass()?;
        self.0.read(buffer)
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(crate) use tests::{Fault, alone, pass};

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use crate::cancel::CancelToken;
    use crate::error::Diagnostics;
    use crate::limits::{Limits, WalkLimits};
    use crate::pool::Pool;
    use crate::query::Query;
    use crate::scope::{IgnoreRules, Order, Scope, SortBy, Walker};
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError, mpsc};
    use std::time::Duration;

    /// Which calls fail, and how.
    #[derive(Debug, Default)]
    struct Plan {
        made: AtomicUsize,
        /// The number of the first call that fails, and how many in a row.
        from: AtomicUsize,
        failing: AtomicUsize,
        errno: AtomicI32,
    }

    thread_local!(static PLAN: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) });

    #[derive(Debug)]
    pub(crate) struct Fault(i32);

    impl Fault {
        pub(crate) fn errno(self) -> i32 {
            self.0
        }
    }

    pub(crate) fn pass() -> Result<(), Fault> {
        PLAN.with_borrow(|plan| {
            let Some(plan) = plan else { return Ok(()) };
            let made = plan.made.fetch_add(1, Ordering::SeqCst) + 1;
            let from = plan.from.load(Ordering::SeqCst);
            let fails = (from..from + plan.failing.load(Ordering::SeqCst)).contains(&made);
            if fails { Err(Fault(plan.errno.load(Ordering::SeqCst))) } else { Ok(()) }
        })
    }

    /// For tests that care whether the process thinks that a system call is missing.
    pub(crate) fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    const ERRNOS: &[(&str, i32)] = &[
        ("EIO", 5),
        ("EACCES", 13),
        ("ENOENT", 2),
        ("ENOMEM", 12),
        ("EMFILE", 24),
        ("EINTR", 4),
        ("EAGAIN", 11),
        ("ENOSYS", 38),
        ("ELOOP", 40),
    ];

    /// More calls than any of these searches makes.
    const MAX_CALLS: usize = 1_000;

    /// What most scopes are tried with: one that is told as it is, one that may be passed over, one
    /// after which directories are closed, and one after which the call is made again.
    const FEW: &[(&str, i32)] = &[("EIO", 5), ("ENOENT", 2), ("EMFILE", 24), ("EINTR", 4)];

    /// A search takes a millisecond; one that hangs, for ever.
    const HANGS_AFTER: Duration = Duration::from_secs(300);

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        let at = |name: &str| tree.path().join(name);
        for dir in ["top/.git/info", "top/sub/deep/er", "top/other", "top/target"] {
            std::fs::create_dir_all(at(dir)).unwrap();
        }
        // More than is read at once, with something to find at either end.
        let large = format!("needle\n{}needle\n", "hay hay hay hay hay hay\n".repeat(4_000));
        for (name, content) in [
            (".ignore", "*.old\n"),
            ("named.rules", "*.named\n"),
            ("top/.ignore", "*.log\n"),
            ("top/.gitignore", "target/\n"),
            ("top/.git/info/exclude", "excluded\n"),
            ("top/a.txt", "needle\n"),
            ("top/a.old", "needle\n"),
            ("top/a.named", "needle\n"),
            ("top/b.log", "needle\n"),
            ("top/excluded", "needle\n"),
            ("top/large.txt", &large),
            ("top/sub/.ignore", "!*.log\n"),
            ("top/sub/c.txt", "needle\nhay\nneedle\n"),
            ("top/sub/c.log", "needle\n"),
            ("top/sub/deep/d.txt", "needle\n"),
            ("top/sub/deep/er/e.txt", "needle\n"),
            ("top/other/f.txt", "needle\n"),
            ("top/target/t.txt", "needle\n"),
        ] {
            std::fs::write(at(name), content).unwrap();
        }
        std::os::unix::fs::symlink("../other", at("top/sub/to-other")).unwrap();
        std::os::unix::fs::symlink("large.txt", at("top/to-large")).unwrap();
        tree
    }

    /// What a search has found, or why it did not begin, and what it complains of.
    #[derive(Debug)]
    struct Answer {
        /// Files with their number of lines.
        found: BTreeMap<PathBuf, u64>,
        complaints: Vec<(PathBuf, String)>,
    }

    fn search(scope: &Scope) -> Answer {
        let limits = Limits::new().max_diagnostics(MAX_CALLS);
        let search = Query::new("needle").scope(scope.clone()).limits(limits).compile().unwrap();
        match search.collect(&CancelToken::new()) {
            Ok(outcome) => Answer {
                found: outcome.files.iter().map(|f| (f.path.clone(), f.lines_matched)).collect(),
                complaints: complaints(&outcome.summary.diagnostics),
            },
            Err(error) => Answer {
                found: BTreeMap::new(),
                complaints: vec![(
                    error.path().expect("an error names the place").to_path_buf(),
                    error.to_string(),
                )],
            },
        }
    }

    fn complaints(diagnostics: &Diagnostics) -> Vec<(PathBuf, String)> {
        let complaint = |one: &crate::error::Diagnostic| {
            (one.path.clone().expect("a diagnostic names the place"), one.to_string())
        };
        // Of those beyond, it could not be said what they speak of.
        assert!(diagnostics.iter().count() < 100);
        diagnostics.iter().map(complaint).collect()
    }

    /// Whether a complaint of this place is one of this file: of it, of a directory above, or of
    /// rules that speak of it.
    fn covers(place: &Path, file: &Path) -> bool {
        let is_rules = |name: &str| {
            [".ignore", ".rgignore", ".gitignore", ".git", ".jj", "exclude", "named.rules"]
                .contains(&name)
        };
        let name = place.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if !is_rules(name) {
            return file.starts_with(place);
        }
        let mut dir = place.parent().unwrap();
        if name == "exclude" {
            dir = dir.ancestors().nth(2).unwrap();
        }
        file.starts_with(dir)
    }

    /// `errno` says what the rules may be: to a walk a file of rules that has gone is none,
    /// and a repository that it may not look at is none.
    fn check(wanted: &Answer, got: &Answer, errno: &str) -> Result<(), String> {
        let is_told = |file: &Path| got.complaints.iter().any(|(place, _)| covers(place, file));
        let without_rules = matches!(errno, "ENOENT" | "ELOOP" | "EACCES");
        for (file, lines) in &wanted.found {
            // Only a rule brings these back.
            if without_rules && file.extension().is_some_and(|end| end == "log") {
                continue;
            }
            if got.found.get(file) != Some(lines) && !is_told(file) {
                return Err(format!("{} is missing", file.display()));
            }
        }
        for file in got.found.keys() {
            if !wanted.found.contains_key(file) && !is_told(file) && !without_rules {
                return Err(format!("{} should have been left out", file.display()));
            }
        }
        Ok(())
    }

    /// Lets each call fail in turn, so many in a row, with each errno. Returns how many faults there
    /// were.
    fn tried(scope: Scope, pool: &Pool, errnos: &[(&str, i32)], row: usize) -> usize {
        let plan = Arc::new(Plan::default());
        let barrier = Arc::new(Barrier::new(pool.threads()));
        for _ in 0..if pool.is_inline() { 0 } else { pool.threads() } {
            let (plan, barrier) = (Arc::clone(&plan), Arc::clone(&barrier));
            let job = move || {
                PLAN.set(Some(plan));
                // So that no thread takes two of these.
                barrier.wait();
            };
            assert!(pool.spawn(|| (), job).is_ok());
        }
        PLAN.set(Some(Arc::clone(&plan)));
        let scope = scope.pool(pool);
        let wanted = search(&scope);
        assert!(!wanted.found.is_empty() && wanted.complaints.is_empty(), "{wanted:?}");
        let mut faults = 0;
        for (name, errno) in errnos {
            // Where a glob has named a directory, it is asked for, and need not be there.
            if *name == "ENOENT" && !scope.globs.is_empty() {
                continue;
            }
            plan.errno.store(*errno, Ordering::SeqCst);
            plan.failing.store(row, Ordering::SeqCst);
            for call in 1.. {
                plan.from.store(call, Ordering::SeqCst);
                plan.made.store(0, Ordering::SeqCst);
                let got = search(&scope);
                if plan.made.load(Ordering::SeqCst) < call {
                    break;
                }
                assert!(call < MAX_CALLS, "it does not end");
                faults += 1;
                if let Err(fault) = check(&wanted, &got, name) {
                    panic!("{row} calls from the {call}th: {name}: {fault}\n{scope:?}\n{got:#?}");
                }
            }
            plan.failing.store(0, Ordering::SeqCst);
            crate::beneath::forget();
        }
        PLAN.set(None);
        faults
    }

    /// On other threads than this one, so that a hang can be told.
    #[track_caller]
    fn try_all(errnos: &'static [(&'static str, i32)], row: usize) {
        let _alone = alone();
        let (sender, answers) = mpsc::channel();
        let tree = Arc::new(tree());
        let top = tree.path().join("top");
        let rules = IgnoreRules::ripgrep().file(tree.path().join("named.rules"));
        let plain = Scope::new(&top).ignore(rules).hidden(false).walker(Walker::Native);
        let sorted = plain.clone().sort(SortBy::Path, Order::Ascending);
        let scopes = [
            sorted.clone(),
            plain.clone().sort(SortBy::Nothing, Order::Ascending),
            plain.clone().sort(SortBy::Modified, Order::Descending).max_file_bytes(Some(1 << 20)),
            sorted.clone().follow_links(true),
            sorted.clone().confine(tree.path()),
            sorted.clone().confine(tree.path()).follow_links(true),
            sorted.clone().glob_base(&top).glob("sub/deep/*.txt"),
            sorted.clone().tolerant_roots(true).root(top.join("large.txt")),
            sorted.limits(WalkLimits::new().max_open_directories(1)),
        ];
        let mut expected = 0;
        for (index, scope) in scopes.into_iter().enumerate() {
            let errnos = if index == 0 || row > 2 { errnos } else { FEW };
            for threads in [0, 2] {
                expected += 1;
                let (sender, scope) = (sender.clone(), scope.clone());
                let tree = Arc::clone(&tree);
                std::thread::spawn(move || {
                    let _tree = tree;
                    let pool = if threads == 0 { Pool::inline() } else { Pool::new(threads) };
                    let _ = sender.send(tried(scope, &pool, errnos, row));
                });
            }
        }
        drop(sender);
        for done in 0..expected {
            match answers.recv_timeout(HANGS_AFTER) {
                Ok(faults) => assert!(faults > 30, "{faults}"),
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("a search hangs, {done} do not"),
                Err(mpsc::RecvTimeoutError::Disconnected) => panic!("a search fell, see above"),
            }
        }
    }

    #[test]
    fn what_one_failing_call_costs_is_told() {
        try_all(ERRNOS, 1);
    }

    #[test]
    fn what_two_failing_calls_cost_is_told() {
        try_all(FEW, 2);
    }

    #[test]
    fn when_every_further_call_fails_it_is_told() {
        // An interrupted call is made again, for as long as it is interrupted.
        try_all(&[("EIO", 5), ("EMFILE", 24), ("ENOSYS", 38)], MAX_CALLS);
    }

    /// The one fault of which nothing is told: whether there is a repository may not be known (`EACCES`).
    /// That counts as none, as in ripgrep, to which it does with any errno. All that it costs are git's own
    /// rules below, so files come back and none is lost. It is right not to tell: nobody may look only
    /// where a directory can be read but not be searched, and there every other file is told.
    #[test]
    fn only_a_repository_that_nobody_may_look_at_goes_untold() {
        let _alone = alone();
        let tree = tempfile::tempdir().unwrap();
        let at = |name: &str| tree.path().join(name);
        std::fs::create_dir_all(at("sub")).unwrap();
        std::fs::create_dir_all(at(".git/info")).unwrap();
        for (name, content) in [
            (".gitignore", "*.log\n"),
            (".git/info/exclude", "*.old\n"),
            (".ignore", "*.dot\n"),
            ("a.txt", "needle\n"),
            ("a.log", "needle\n"),
            ("a.dot", "needle\n"),
            ("sub/b.txt", "needle\n"),
            ("sub/b.old", "needle\n"),
        ] {
            std::fs::write(at(name), content).unwrap();
        }
        let rules = IgnoreRules::ripgrep().parents(false);
        let scope = Scope::new(tree.path()).ignore(rules).walker(Walker::Native);
        let scope = scope.pool(&Pool::inline());
        let names = |answer: &Answer| {
            let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
            answer.found.keys().map(name).collect::<Vec<_>>()
        };
        let plan = Arc::new(Plan::default());
        PLAN.set(Some(Arc::clone(&plan)));
        let wanted = search(&scope);
        assert_eq!(names(&wanted), ["a.txt", "b.txt"]);
        plan.failing.store(1, Ordering::SeqCst);
        for (errno, untold) in [(13, 1), (5, 0), (12, 0)] {
            plan.errno.store(errno, Ordering::SeqCst);
            let mut seen = 0;
            for call in 1..MAX_CALLS {
                plan.from.store(call, Ordering::SeqCst);
                plan.made.store(0, Ordering::SeqCst);
                let got = search(&scope);
                if plan.made.load(Ordering::SeqCst) < call {
                    break;
                }
                if got.complaints.is_empty() && got.found != wanted.found {
                    seen += 1;
                    assert_eq!(names(&got), ["a.log", "a.txt", "b.old", "b.txt"], "call {call}");
                }
            }
            assert_eq!(seen, untold, "errno {errno}");
        }
        PLAN.set(None);
    }
}
