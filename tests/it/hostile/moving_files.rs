//! Files that grow, shrink or go while they are read, or that somebody else holds: T14, T20, T21.

use super::here;
use super::watched::watched_for;
use crate::tree::Tree;
use ingrep::{Binary, CancelToken, MultiLine, Pool, Query, Reason, rg};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Ends a thread, also when an assertion fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Searches the tree, and the file `m` in it by itself, in each way to read a file.
fn search_all(tree: &Tree, pool: &Pool) {
    let multi = Query::new(r"needle\n?").multi_line(MultiLine::On);
    for query in [Query::new("needle"), Query::new("needle").binary(Binary::Text), multi] {
        let scope = here(tree).pool(pool);
        let outcome = query.clone().scope(scope).compile().unwrap();
        let outcome = outcome.collect(&CancelToken::new()).unwrap();
        let healthy = |name: &str| outcome.files.iter().any(|file| file.path == Path::new(name));
        assert!(healthy("a") && healthy("z"), "{:?}", outcome.summary);
        assert_eq!(outcome.summary.diagnostics.count(Reason::Internal), 0);
        assert_eq!(outcome.summary.diagnostics.count(Reason::Stuck), 0);
        // It may be anything, but it ends.
        let _ = query.compile().unwrap().search_file(tree.join("m"));
    }
    for argv in [&["-c", "needle"][..], &["--mmap", "needle", "a", "m", "z"], &["-U", "needle\\n?"]]
    {
        let command = rg::Command::new(tree.path()).args(argv).pool(pool);
        let output = command.output(&CancelToken::new()).unwrap();
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let healthy = |name: &str| lines.lines().any(|line| line.starts_with(name));
        assert!(output.stopped.is_none() && healthy("a:") && healthy("z:"), "{argv:?}: {lines}");
    }
}

/// Runs `change` on the file `m`, again and again, while it is searched.
fn while_it_changes(rounds: usize, change: impl Fn(&Path, u64) + Sync) {
    let tree = Tree::new("a: needle\n z: needle");
    fs::write(tree.join("m"), "needle hay\n".repeat(100_000)).unwrap();
    let (over, changes) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|threads| {
        threads.spawn(|| {
            for round in 0.. {
                if over.load(Relaxed) {
                    return;
                }
                change(&tree.join("m"), round);
                changes.fetch_add(1, Relaxed);
            }
        });
        let _over = Over(&over);
        let pools = [Pool::inline(), Pool::new(2)];
        for round in 0..rounds {
            search_all(&tree, &pools[round % 2]);
        }
        assert!(changes.load(Relaxed) > 1, "nothing has changed");
    });
}

#[test]
fn a_file_that_is_cut_off_while_it_is_read_is_short_and_harms_nobody() {
    watched_for(PATIENCE, 8 << 20, || {
        while_it_changes(4, |path, round| {
            let file = File::options().write(true).open(path).unwrap();
            let bytes = [0, 1 << 20, 100, 300 << 10][round as usize % 4];
            file.set_len(bytes).unwrap();
            thread::sleep(Duration::from_micros(200));
        });
    });
}

#[test]
fn a_file_that_is_written_anew_or_replaced_while_it_is_read_harms_nobody() {
    watched_for(PATIENCE, 8 << 20, || {
        while_it_changes(4, |path, round| {
            let _ = match round % 3 {
                0 => fs::write(path, vec![b"n\n\0x"[round as usize % 4]; 200_000]),
                1 => fs::remove_file(path),
                _ => fs::write(path, "needle\n".repeat(50_000)),
            };
        });
    });
}

/// The descriptor of this process by which somebody else than `own` has the file open, and how far it
/// has been read by it.
fn reader_of(path: &Path, own: i32) -> Option<u64> {
    let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
    let mut open = open.filter(|fd| fs::read_link(fd.path()).is_ok_and(|at| at == path));
    let name = open.find(|fd| *fd.file_name() != *own.to_string())?.file_name();
    let info = fs::read_to_string(Path::new("/proc/self/fdinfo").join(name)).ok()?;
    info.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()
}

/// A writer that looks how far the reader is, and stays ahead.
#[test]
fn a_file_that_grows_as_fast_as_it_is_read_ends_where_it_ended() {
    const SIZE: u64 = 2 << 20;
    const MOST: u64 = 32 << 20;
    watched_for(PATIENCE, 8 << 20, || {
        let tree = Tree::new("");
        let path = tree.join("m");
        let line = b"needle n\n";
        let over = AtomicBool::new(false);
        let grown = AtomicU64::new(0);
        thread::scope(|threads| {
            threads.spawn(|| {
                let mut file = File::options().append(true).create(true).open(&path).unwrap();
                let own = file.as_raw_fd();
                while !over.load(Relaxed) {
                    let size = file.metadata().unwrap().len();
                    let Some(at) = reader_of(&path, own) else { continue };
                    if size < MOST && at + (1 << 20) > size {
                        file.write_all(&line.repeat(200_000)).unwrap();
                        grown.fetch_add(1, Relaxed);
                    }
                }
            });
            let _over = Over(&over);
            let search = Query::new(r"n\w*").compile().unwrap();
            let multi = Query::new(r"n\n?").multi_line(MultiLine::On).compile().unwrap();
            for round in 0..3 {
                let file = File::options().write(true).create(true).truncate(true).open(&path);
                file.unwrap().write_all(&line.repeat(SIZE as usize / line.len())).unwrap();
                let found = match round % 3 {
                    0 => search.search_file(&path).unwrap(),
                    1 => multi.search_file(&path).unwrap(),
                    _ => {
                        let argv = ["--mmap", "-c", "n\\w*", "m"];
                        let command = rg::Command::new(tree.path()).args(argv);
                        let output = command.output(&CancelToken::new()).unwrap();
                        let count = String::from_utf8(output.stdout).unwrap();
                        let lines: u64 = count.trim().parse().unwrap();
                        assert!(lines * (line.len() as u64) < MOST / 4, "{lines}");
                        continue;
                    }
                };
                assert!(found.complete && found.bytes_searched > SIZE - 16, "{}", round);
                assert!(found.bytes_searched < MOST / 4, "{}", found.bytes_searched);
            }
        });
        println!("{} times it was made longer while it was read", grown.load(Relaxed));
    });
}

/// Another process that has promised itself to be the only one who opens a file. Where a script can
/// be run that does it.
fn leased(path: &Path) -> Option<std::process::Child> {
    let script = "$SIG{IO} = 'IGNORE'; $| = 1; open(F, '+<', $ARGV[0]) or exit 1;
                  fcntl(F, 1024, 1) or exit 1; print \"held\\n\"; <STDIN>;";
    let mut holder = Command::new("perl")
        .args(["-e", script])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    if said == "held\n" {
        return Some(holder);
    }
    holder.wait().unwrap();
    None
}

/// The kernel lets who opens such a file wait for 45 seconds, or not at all.
#[test]
fn a_file_that_another_process_has_leased_is_an_error_at_once() {
    watched_for(Duration::from_secs(20), 8 << 20, || {
        let tree = Tree::on_disk("a: needle\n m: needle\n z: needle");
        let Some(mut holder) = leased(&tree.join("m")) else {
            eprintln!("not checked: no lease can be had here");
            return;
        };
        for pool in [Pool::inline(), Pool::new(2)] {
            let scope = here(&tree).pool(&pool);
            let search = Query::new("needle").scope(scope).compile().unwrap();
            let outcome = search.collect(&CancelToken::new()).unwrap();
            let found: Vec<_> = outcome.files.iter().map(|file| file.path.clone()).collect();
            assert!(found.len() == 2 && !found.contains(&"m".into()), "{found:?}");
            let told: Vec<_> = outcome.summary.diagnostics.iter().collect();
            assert_eq!((told.len(), told[0].reason), (1, Reason::Io), "{told:?}");
            assert_eq!(told[0].path.as_deref(), Some(Path::new("m")));
        }
        assert!(Query::new("x").compile().unwrap().search_file(tree.join("m")).is_err());
        for argv in [&["needle"][..], &["needle", "a", "m", "z"], &["-f", "m", "a"]] {
            let output = rg::Command::new(tree.path()).args(argv);
            let output = output.output(&CancelToken::new()).unwrap();
            assert_eq!(output.code, 2, "{argv:?}: {output:?}");
        }
        drop(holder.stdin.take());
        holder.wait().unwrap();
        // And when it is let go, it is a file like any other.
        let output = rg::Command::new(tree.path()).args(["-c", "needle"]);
        let output = output.output(&CancelToken::new()).unwrap();
        assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 3);
    });
}
