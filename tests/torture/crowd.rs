//! Many calls in one process, most of which end before their end: nothing is left behind.

use crate::dice::Dice;
use crate::process::status;
use crate::whole::{self, finds_all, lost_silently};
use crate::{Score, Size, number};
use ingrep::tools::Tools;
use ingrep::{Binary, CancelToken, MultiLine, Order, Pool, Query, Scope, SortBy, rg};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const FILES: usize = 300;

/// Between what a process has at first and in the end, in KiB: an allocator never gives all back.
const DRIFT_KIB: u64 = 16 << 10;

/// What a process has of what it could leave behind.
#[derive(Clone, Copy, Debug)]
struct Held {
    threads: u64,
    descriptors: u64,
    rss_kib: u64,
}

fn held() -> Held {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    Held { threads: status("Threads"), descriptors, rss_kib: status("VmRSS") }
}

/// Threads that were told to end take a moment.
fn held_after(base: Held) -> Held {
    let begin = Instant::now();
    loop {
        let now = held();
        let settled = now.threads <= base.threads && now.descriptors <= base.descriptors;
        if settled || begin.elapsed() > Duration::from_secs(10) {
            return now;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn check_nothing_left(score: &mut Score, base: Held) {
    let now = held_after(base);
    score.check(now.threads <= base.threads, || format!("threads: {base:?}, then {now:?}"));
    score.check(now.descriptors <= base.descriptors, || format!("files: {base:?}, then {now:?}"));
    let drift = now.rss_kib.saturating_sub(base.rss_kib);
    score.check(drift <= DRIFT_KIB, || format!("memory: {base:?}, then {now:?}"));
    score.worst = format!("{} KiB more held in the end", drift);
}

/// Has it start its threads.
fn start(pool: &Pool) {
    pool.threads();
}

fn search(at: &Path, pool: &Pool, dice: &mut Dice) -> ingrep::Search {
    let by = *dice.pick(&[SortBy::Modified, SortBy::Path, SortBy::Nothing]);
    let scope = Scope::new("").base(at).pool(pool).sort(by, Order::Ascending);
    Query::new("needle").scope(scope).compile().unwrap()
}

pub(crate) fn at_once(size: &Size) -> Score {
    let tree = whole::tree(FILES);
    let pools = [Pool::default(), Pool::new(2), Pool::inline()];
    let count = AtomicU64::new(0);
    let failures = Mutex::new(Vec::new());
    let one = |n: usize| {
        let token = match n % 2 {
            0 => CancelToken::new(),
            _ => CancelToken::new().deadline_in(Duration::from_secs(600)),
        };
        count.fetch_add(1, Relaxed);
        if !finds_all(tree.path(), &pools[n % 3], &token, FILES) {
            failures.lock().unwrap_or_else(PoisonError::into_inner).push(format!("search {n}"));
        }
    };
    let begin = Instant::now();
    let rounds = size.of(4) as usize;
    thread::scope(|threads| {
        for n in 0..64 {
            let one = &one;
            threads.spawn(move || (0..rounds).for_each(|round| one(n + 64 * round)));
        }
    });
    let host = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let one = &one;
    host.scope(|jobs| (0..64 * rounds).for_each(|n| jobs.spawn(move |_| one(n))));
    let mut score = Score { tried: count.load(Relaxed), ..Score::default() };
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    score.failed = failures.len() as u64;
    score.failures = failures;
    let peak = status("VmHWM") >> 10;
    score.check(peak < 320, || format!("{peak} MiB at most"));
    score.worst = format!("{} s for all, {peak} MiB at most", begin.elapsed().as_secs());
    score
}

/// Begins something, and leaves it at a random point. Says what was wrong with it.
fn leave(at: &Path, pool: &Pool, dice: &mut Dice) -> Option<String> {
    let token = match dice.below(3) {
        0 => CancelToken::new(),
        1 => CancelToken::new().deadline_in(Duration::from_micros(dice.below(4_000) as u64)),
        _ => CancelToken::new().deadline_in(Duration::from_secs(600)),
    };
    let canceller = token.clone();
    let stop = dice.below(FILES);
    match dice.below(5) {
        0 => drop(search(at, pool, dice).stream(&token).ok()?.take(stop).count()),
        1 => drop(Scope::new("").base(at).pool(pool).files(&token).ok()?.take(stop).count()),
        2 => {
            let mut seen = 0;
            let summary = search(at, pool, dice).for_each(&token, |_| {
                seen += 1;
                match seen == stop {
                    true => {
                        canceller.cancel();
                        ControlFlow::Break(())
                    }
                    false => ControlFlow::Continue(()),
                }
            });
            summary.ok()?;
        }
        3 => {
            // Whoever writes has closed his end, or had enough.
            let mut left = stop;
            let mut out = Gate(|| {
                left = left.saturating_sub(1);
                left > 0
            });
            let command = rg::Command::new(at).args(["-n", "needle"]).pool(pool);
            command.run(&mut out, &mut std::io::sink(), &token).ok()?;
        }
        _ => {
            let after = Duration::from_micros(dice.below(3_000) as u64);
            let search = search(at, pool, dice);
            let begin = Instant::now();
            let ended = thread::scope(|threads| {
                threads.spawn(move || {
                    thread::sleep(after);
                    canceller.cancel();
                });
                search.collect(&token).is_ok()
            });
            if !ended || begin.elapsed() > Duration::from_secs(10) {
                return Some(format!("a cancelled search: {ended} {:?}", begin.elapsed()));
            }
        }
    }
    None
}

/// A writer that breaks when it is told to.
struct Gate<F>(F);

impl<F: FnMut() -> bool> std::io::Write for Gate<F> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match (self.0)() {
            true => Ok(bytes.len()),
            false => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const POINTS: u64 = 10_000;

pub(crate) fn half_way(size: &Size) -> Score {
    let tree = whole::tree(FILES);
    let mut dice = Dice::new(size.seed);
    let pools = [Pool::inline(), Pool::new(1), Pool::new(2), Pool::new(4)];
    let mut score = Score::default();
    for _ in 0..1_000 {
        leave(tree.path(), &pools[dice.below(4)], &mut dice);
    }
    let begin = Instant::now();
    while pools.iter().any(|pool| pool.stuck_threads() > 0) && begin.elapsed().as_secs() < 10 {
        thread::sleep(Duration::from_millis(5));
    }
    pools.iter().for_each(start);
    let base = held();
    for _ in 0..size.of(POINTS) {
        match leave(tree.path(), &pools[dice.below(4)], &mut dice) {
            None => score.passed(),
            Some(failure) => score.failed(failure),
        }
    }
    for pool in &pools {
        let found = finds_all(tree.path(), pool, &CancelToken::new(), FILES);
        score.check(found, || format!("{pool:?} is of no use afterwards"));
    }
    check_nothing_left(&mut score, base);
    score
}

/// One call of those that a host makes, with whatever token it has.
fn any_call(at: &Path, pool: &Pool, dice: &mut Dice) -> Option<String> {
    if dice.percent(50) {
        return leave(at, pool, dice);
    }
    let token = CancelToken::new();
    let arguments =
        serde_json::json!({ "pattern": if dice.percent(50) { "needle" } else { "d1*/**" } });
    let tools = Tools::new(at).pool(pool);
    match dice.below(6) {
        0 => drop(tools.call("grep", &arguments, &token)),
        1 => drop(tools.call("glob", &arguments, &token)),
        2 => {
            let argvs: [&[&str]; 6] = [
                &["--json", "needle"],
                &["-n", "-C2", "hay"],
                &["--files", "-g*1*"],
                &["-U", "needle\\nhay"],
                &["-c", "-tnone", "x"],
                &["(", "."],
            ];
            let argv = *dice.pick(&argvs);
            let output = rg::Command::new(at).args(argv).pool(pool).output(&token);
            if let Err(error) = output {
                return Some(format!("rg {argv:?}: {error}"));
            }
        }
        3 => {
            let query = Query::new(r"needle\s+hay").multi_line(MultiLine::On).binary(Binary::Text);
            let scope = Scope::new("").base(at).pool(pool);
            let outcome = query.scope(scope).compile().unwrap().collect(&token);
            if !outcome.as_ref().is_ok_and(|outcome| outcome.files.len() == FILES) {
                return Some(format!("across lines: {:?}", outcome.map(|outcome| outcome.summary)));
            }
        }
        _ => {
            if !finds_all(at, pool, &token, FILES) {
                return Some("not all is found".to_string());
            }
        }
    }
    None
}

const CALLS: u64 = 4_000;

/// So often it is looked at.
const SAMPLE: Duration = Duration::from_millis(500);

/// `INGREP_TORTURE_SECONDS` lets it go on for so long instead.
pub(crate) fn soak(size: &Size) -> Score {
    let tree = whole::tree(FILES);
    let pools = [Pool::inline(), Pool::new(2), Pool::new(3), Pool::default()];
    pools.iter().for_each(start);
    let (done, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let failures = Mutex::new(Vec::new());
    let seconds = number("INGREP_TORTURE_SECONDS").map(Duration::from_secs_f64);
    let calls = size.of(CALLS);
    let begin = Instant::now();
    let is_over = || match seconds {
        Some(time) => begin.elapsed() > time,
        None => done.load(Relaxed) >= calls,
    };
    let base = held();
    let mut samples = Vec::new();
    thread::scope(|threads| {
        for n in 0..8_u64 {
            let (tree, pools, done, over, failures) = (&tree, &pools, &done, &over, &failures);
            threads.spawn(move || {
                let mut dice = Dice::new(size.seed * 1_000 + n);
                while !over.load(Relaxed) {
                    let pool = &pools[dice.below(4)];
                    let call = || any_call(tree.path(), pool, &mut dice);
                    let failure = catch_unwind(AssertUnwindSafe(call));
                    let failure = failure.unwrap_or_else(|_| Some("a panic".to_string()));
                    if let Some(failure) = failure {
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                    }
                    done.fetch_add(1, Relaxed);
                }
            });
        }
        while !is_over() {
            thread::sleep(SAMPLE);
            let now = held();
            samples.push((begin.elapsed().as_secs_f64(), now));
            if samples.len().is_multiple_of(120) {
                println!(
                    "  {} s, {} calls: {now:?}",
                    begin.elapsed().as_secs(),
                    done.load(Relaxed)
                );
            }
        }
        over.store(true, Relaxed);
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut score = Score {
        tried: done.load(Relaxed),
        failed: failures.len() as u64,
        failures,
        ..Score::default()
    };
    check_nothing_left(&mut score, Held { rss_kib: u64::MAX, ..base });
    // The first third is for what is kept for the next call.
    let warm = &samples[samples.len() / 3..];
    let slope = slope(warm);
    let hours = begin.elapsed().as_secs_f64() / 3_600.0;
    let grown = (slope * hours) as i64;
    score.check(grown < DRIFT_KIB as i64, || format!("{grown} KiB more at its end"));
    let most = |of: fn(&Held) -> u64| samples.iter().map(|(_, held)| of(held)).max().unwrap_or(0);
    score.worst = format!(
        "{:.1} MiB/h, at most {} MiB, {} threads, {} files",
        slope / 1024.0,
        most(|held| held.rss_kib) >> 10,
        most(|held| held.threads),
        most(|held| held.descriptors),
    );
    score
}

/// How much more memory was held with every hour, in KiB, by the least squares.
fn slope(samples: &[(f64, Held)]) -> f64 {
    let count = samples.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let hours = |(seconds, _): &(f64, Held)| seconds / 3_600.0;
    let kib = |(_, held): &(f64, Held)| held.rss_kib as f64;
    let middle = samples.iter().map(hours).sum::<f64>() / count;
    let level = samples.iter().map(kib).sum::<f64>() / count;
    let both: f64 = samples.iter().map(|one| (hours(one) - middle) * (kib(one) - level)).sum();
    let own: f64 = samples.iter().map(|one| (hours(one) - middle).powi(2)).sum();
    if own > 0.0 { both / own } else { 0.0 }
}

const PANICS: u64 = 1_000;

pub(crate) fn panics(size: &Size) -> Score {
    let tree = whole::tree(FILES);
    let pools = [Pool::inline(), Pool::new(1), Pool::new(2), Pool::new(4)];
    let mut dice = Dice::new(size.seed);
    let mut score = Score::default();
    let token = CancelToken::new();
    let base = {
        pools.iter().for_each(start);
        held()
    };
    for point in 0..size.of(PANICS) {
        let pool = &pools[dice.below(4)];
        let mut left = dice.below(FILES) as i64;
        let mut count = || {
            left -= 1;
            if left < 0 {
                resume_unwind(Box::new(point));
            }
        };
        let panicked = catch_unwind(AssertUnwindSafe(|| match dice.percent(50) {
            true => {
                let search = search(tree.path(), pool, &mut dice);
                let each = |_| {
                    count();
                    ControlFlow::Continue(())
                };
                drop(search.for_each(&token, each));
            }
            false => {
                let mut out = Gate(|| {
                    count();
                    true
                });
                let command = rg::Command::new(tree.path()).args(["--json", "needle"]).pool(pool);
                drop(command.run(&mut out, &mut std::io::sink(), &token));
            }
        }));
        let is_own = panicked.is_err_and(|payload| payload.downcast_ref() == Some(&point));
        score.check(is_own, || format!("point {point}: the panic did not arrive"));
        if point.is_multiple_of(50) {
            let found = finds_all(tree.path(), pool, &token, FILES);
            score.check(found, || format!("point {point}: nothing works any more"));
        }
    }
    check_nothing_left(&mut score, base);
    score
}

/// Four who change the files, while they are searched in each way.
pub(crate) fn changing(size: &Size) -> Score {
    let tree = whole::tree(FILES);
    let over = AtomicBool::new(false);
    let mut score = Score::default();
    let changes = AtomicU64::new(0);
    let mut dice = Dice::new(size.seed);
    let pools = [Pool::inline(), Pool::new(2)];
    let (begin, mut longest) = (Instant::now(), Duration::ZERO);
    thread::scope(|threads| {
        for n in 0..4 {
            let (tree, over, changes) = (&tree, &over, &changes);
            threads.spawn(move || {
                let mut dice = Dice::new(n);
                while !over.load(Relaxed) {
                    change(tree.path(), n, &mut dice);
                    changes.fetch_add(1, Relaxed);
                }
            });
        }
        while begin.elapsed() < size.time(Duration::from_secs(20)) {
            let round = Instant::now();
            let pool = &pools[dice.below(2)];
            let called = catch_unwind(AssertUnwindSafe(|| {
                // Much is not there any more, and then nobody has to tell.
                drop(lost_silently(tree.path(), pool, FILES));
                let argv = *dice.pick(&["--mmap", "-U", "-a", "--no-mmap"]);
                let command = rg::Command::new(tree.path()).args([argv, "needle", "d1", "d19"]);
                command.pool(pool).output(&CancelToken::new()).is_ok()
            }));
            score.check(called.is_ok_and(|called| called), || "a call has panicked".to_string());
            // The churners write as fast as they can; nothing may go on as long as they do.
            let time = round.elapsed();
            longest = longest.max(time);
            score.check(time < Duration::from_secs(30), || format!("a round took {time:?}"));
        }
        over.store(true, Relaxed);
    });
    let changes = changes.load(Relaxed);
    score.worst = format!("{changes} changes, the longest round {} ms", longest.as_millis());
    score
}

/// Truncates and appends, replaces, forbids, or removes.
fn change(at: &Path, kind: u64, dice: &mut Dice) {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    let dir = at.join(format!("d{}/e{}", dice.below(20), dice.below(7)));
    let file = dir.join(format!("f{}", dice.below(FILES)));
    match kind {
        0 => {
            if let Ok(mut open) = std::fs::File::options().append(true).open(&file) {
                let _ = open.write_all(&b"needle\n".repeat(dice.below(20_000)));
                let _ = open.set_len(dice.below(4_000) as u64);
            }
        }
        1 => {
            let _ = std::fs::write(dir.join("new"), "needle\n".repeat(dice.below(100)));
            let _ = std::fs::rename(dir.join("new"), file);
        }
        2 => {
            for mode in [0o000, 0o755] {
                let _ = std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(mode));
            }
        }
        _ => {
            let _ = std::fs::remove_dir_all(&dir);
            let _ = std::fs::create_dir_all(&dir);
            let _ = std::fs::write(file, "needle\n");
        }
    }
}

/// The smallest stack on which a caller may stand.
const STACK: usize = 256 << 10;

pub(crate) fn small_stacks(size: &Size) -> Score {
    let tree = whole::tree(FILES);
    let mut score = Score::default();
    // An overflow would end the process here and now, table and all.
    for n in 0..size.of(20) {
        let at = tree.path().to_path_buf();
        let job = move || {
            let mut dice = Dice::new(n);
            let pool = if n.is_multiple_of(2) { Pool::inline() } else { Pool::new(2) };
            let lost = lost_silently(&at, &pool, FILES);
            for pattern in [&"(".repeat(240), &(")".to_string()), &(r"\w|".repeat(2_000))] {
                let nested = format!("{pattern}x{}", ")".repeat(pattern.matches('(').count()));
                let _ = Query::new(nested).compile().map(|search| search.search_slice("x", b"x"));
            }
            let fault = any_call(&at, &pool, &mut dice);
            lost.into_iter().chain(fault).collect::<Vec<_>>()
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn(job).unwrap();
        let lost = thread.join().unwrap_or_else(|_| vec!["a panic".to_string()]);
        score.check(lost.is_empty(), || lost.join("; "));
    }
    score.worst = "none overflowed".to_string();
    score
}
