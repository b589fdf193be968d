//! Processes of their own, for what may end badly: this program once more.

use crate::{engine, less};
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What such a process is to do, in words with a space between them.
const MARK: &str = "INGREP_TORTURE_CHILD";

/// Where its tree is.
const AT: &str = "INGREP_TORTURE_TREE";

pub(crate) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

pub(crate) fn child() {
    let task = std::env::var(MARK).unwrap();
    let words: Vec<&str> = task.split(' ').collect();
    let number = |at: usize| words.get(at).map_or(0, |word| word.parse().unwrap());
    match words[0] {
        "pattern" => engine::pattern_child(number(1), number(2)),
        "threads" => less::threads_child(number(1)),
        "descriptors" => less::descriptors_child(number(1)),
        "memory" => less::memory_child(number(1)),
        other => panic!("{other} is no task"),
    }
}

/// The tree that this process was given.
pub(crate) fn tree() -> std::path::PathBuf {
    std::env::var_os(AT).unwrap().into()
}

pub(crate) struct Ended {
    /// `None` if it did not end by itself.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) said: String,
}

/// This program with this task.
pub(crate) fn command(task: &str, tree: &std::path::Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(MARK, task).env(AT, tree);
    command
}

/// Runs it for at most so long.
pub(crate) fn run(mut command: Command, patience: Duration) -> Ended {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut said = String::new();
        let _ = out.read_to_string(&mut said);
        said
    });
    let status = wait(&mut child, patience);
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    Ended { status, said: reader.join().unwrap() }
}

fn wait(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begin.elapsed() > patience {
            return None;
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// A line of `/proc/self/status`, as a number.
pub(crate) fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}
