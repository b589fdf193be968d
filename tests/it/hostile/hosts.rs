//! Hosts with pools of their own, with many threads, and with an environment: H4, H10, H12, H14.

use super::own_process::{OwnProcess, is_own, peak_bytes};
use super::watched::watched_for;
use super::{here, ruled};
use crate::tree::Tree;
use ingrep::tools::Tools;
use ingrep::{CancelToken, End, Pool, Query, Search, rg};
use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn tree() -> Tree {
    let table: String = (0..60).map(|n| format!("d{}/f{n}: needle\n", n % 6)).collect();
    Tree::new(&table)
}

fn search(tree: &Tree, pool: &Pool) -> Search {
    Query::new("needle").scope(here(tree).pool(pool)).compile().unwrap()
}

#[track_caller]
fn check(search: &Search, token: &CancelToken) {
    let outcome = search.collect(token).unwrap();
    assert_eq!((outcome.summary.end, outcome.files.len()), (End::Complete, 60));
}

/// With and without a deadline: who waits for a worker, and who works along.
fn tokens() -> [CancelToken; 2] {
    [CancelToken::new(), CancelToken::new().deadline_in(Duration::from_secs(50))]
}

fn host_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn a_host_may_search_from_within_its_own_pool_of_one_thread() {
    watched_for(PATIENCE, 8 << 20, || {
        let (tree, host) = (tree(), host_pool(1));
        for pool in [Pool::inline(), Pool::new(1), Pool::new(3), Pool::default()] {
            for token in tokens() {
                host.install(|| check(&search(&tree, &pool), &token));
                // And again from jobs of jobs.
                host.install(|| {
                    rayon::join(
                        || check(&search(&tree, &pool), &token),
                        || rayon::scope(|_| check(&search(&tree, &pool), &token)),
                    )
                });
            }
        }
    });
}

/// A search from the callback of another, of the same pool; from its iterator; and from a reader that a
/// thread of the pool itself reads.
#[test]
fn a_search_may_start_another_one_on_the_same_pool() {
    watched_for(PATIENCE, 8 << 20, || {
        let tree = tree();
        for pool in [Pool::inline(), Pool::new(1), Pool::new(2)] {
            for token in tokens() {
                let outer = search(&tree, &pool);
                let summary = outer.for_each(&token, |_| {
                    check(&search(&tree, &pool), &token);
                    check(&outer, &token);
                    ControlFlow::Continue(())
                });
                assert_eq!(summary.unwrap().files_matched, 60);

                struct Searches(Search, CancelToken, usize);
                impl std::io::Read for Searches {
                    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                        check(&self.0, &self.1);
                        self.2 += 1;
                        buffer[0] = b'\n';
                        Ok(usize::from(self.2 < 4))
                    }
                }
                let inner = Searches(search(&tree, &pool), token.clone(), 0);
                let command = rg::Command::new("/").args(["-c", "^", "-"]).pool(&pool);
                let output = command.stdin_reader(inner).output(&token).unwrap();
                assert_eq!((&*output.stdout, output.stopped), (&b"3\n"[..], None));
            }
        }
    });
}

/// So many searches at once, from threads, from a small pool of the host, and all with one matcher.
#[test]
fn hundreds_of_searches_at_once_find_the_same_in_little_memory() {
    OwnProcess::new("hosts::in_its_own_hundreds_search_at_once").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_hundreds_search_at_once() {
    if !is_own() {
        return;
    }
    watched_for(PATIENCE, 8 << 20, || {
        let tree = tree();
        let done = AtomicUsize::new(0);
        let pools = [Pool::default(), Pool::new(2), Pool::inline()];
        let shared: Vec<_> = pools.iter().map(|pool| search(&tree, pool)).collect();
        let one = |n: usize| {
            let own = search(&tree, &pools[n % 3]);
            for token in tokens() {
                check([&shared[n % 3], &own][n % 2], &token);
                if n.is_multiple_of(5) {
                    assert_eq!(own.stream(&token).unwrap().take(3).count(), 3);
                }
            }
            if n.is_multiple_of(4) {
                let command = rg::Command::new(tree.path()).args(["-c", "needle"]);
                let output = command.pool(&pools[n % 3]).output(&CancelToken::new()).unwrap();
                assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 60);
            }
            done.fetch_add(1, Relaxed);
        };
        thread::scope(|threads| {
            for n in 0..64 {
                threads.spawn(move || (0..4).for_each(|round| one(n + 64 * round)));
            }
        });
        let host = host_pool(2);
        let one = &one;
        host.scope(|jobs| (0..256).for_each(|n| jobs.spawn(move |_| one(n))));
        assert_eq!(done.load(Relaxed), 512);
        let peak = peak_bytes();
        println!("{} MiB at most", peak >> 20);
        // The stacks of 64 threads are hardly touched, and each of them has one search.
        assert!(peak < 256 << 20, "{peak}");
    });
}

/// Threads with nothing to do are not woken. One that looked every millisecond would have to.
#[test]
fn idle_threads_sleep() {
    OwnProcess::new("hosts::in_its_own_threads_have_nothing_to_do").passes();
}

/// How often the threads of our pools went to sleep.
fn times_slept() -> (usize, u64) {
    let (mut threads, mut times) = (0, 0);
    for task in fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok) {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        if field("Name:").is_some_and(|name| name.trim().starts_with("ingrep-")) {
            threads += 1;
            let slept = field("voluntary_ctxt_switches:").unwrap();
            times += slept.trim().parse::<u64>().unwrap();
        }
    }
    (threads, times)
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_threads_have_nothing_to_do() {
    if !is_own() {
        return;
    }
    let (tree, pool) = (tree(), Pool::new(8));
    for token in tokens() {
        check(&search(&tree, &pool), &token);
    }
    // After the last job they look for another one for a moment.
    thread::sleep(Duration::from_millis(300));
    let (threads, before) = times_slept();
    thread::sleep(Duration::from_secs(1));
    let (_, after) = times_slept();
    assert_eq!(threads, 8);
    assert!(after - before < 100, "woken {} times in a second", after - before);
}

/// What the host's environment says is for the host. Each of these would make ripgrep, or git's rules,
/// wait for ever.
#[test]
fn the_environment_of_the_host_is_not_read() {
    let tree = Tree::new("home/");
    tree.fifo("home/fifo");
    tree.fifo("home/.gitconfig");
    tree.add("home/git/");
    tree.fifo("home/git/ignore");
    let mut own = OwnProcess::new("hosts::in_its_own_the_environment_is_a_trap");
    for name in ["HOME", "XDG_CONFIG_HOME", "CDPATH", "GIT_DIR"] {
        own.command.env(name, tree.join("home"));
    }
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "RIPGREP_CONFIG_PATH"] {
        own.command.env(name, tree.join("home/fifo"));
    }
    own.passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_the_environment_is_a_trap() {
    if !is_own() {
        return;
    }
    watched_for(Duration::from_secs(20), 8 << 20, || {
        let tree = tree();
        tree.add(".git/HEAD");
        let token = CancelToken::new();
        let search = Query::new("needle").scope(ruled(&tree)).compile().unwrap();
        assert_eq!(search.collect(&token).unwrap().files.len(), 60);
        let output = rg::Command::new(tree.path()).arg("-lneedle").output(&token).unwrap();
        assert_eq!((output.code, output.stderr.len()), (0, 0));
        // What the caller passes on is read, if it is a file.
        let fifos = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];
        let passed = fifos.map(|name| (name, std::env::var_os(name).unwrap()));
        let command = rg::Command::new(tree.path()).arg("-lneedle").envs(passed);
        assert_eq!(command.output(&token).unwrap().code, 0);
        let arguments = serde_json::json!({ "pattern": "needle" });
        assert!(Tools::new(tree.path()).call("grep", &arguments, &token).is_ok());
    });
}
