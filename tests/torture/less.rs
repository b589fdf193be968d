//! Processes with little of what a process needs.

use crate::process::{self, Ended, command, run};
use crate::whole::{self, finds_all, lost_silently};
use crate::{Score, Size};
use ingrep::{CancelToken, Pool};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

const FILES: usize = 300;

/// Adds what a process of its own has come to: it passed, or says why not.
fn add(score: &mut Score, what: &str, ended: &Ended) {
    match ended.status {
        None => score.failed(format!("{what}: no end")),
        Some(status) => {
            score.check(status.success(), || format!("{what}: {status} {}", ended.said));
        }
    }
}

/// Only who is not the superuser has a limit of threads.
fn as_nobody(program: &mut Command, copy: &tempfile::TempDir, task: &str, at: &std::path::Path) {
    let path = copy.path().join("torture");
    if !path.exists() {
        let status = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&path).status();
        assert!(status.unwrap().success());
    }
    *program = Command::new(path);
    program.envs(command(task, at).get_envs().filter_map(|(key, value)| Some((key, value?))));
    if std::fs::metadata(copy.path()).unwrap().uid() == 0 {
        program.uid(65_534).gid(65_534);
    }
}

pub(crate) fn threads(size: &Size) -> Score {
    let mut score = Score::default();
    let tree = whole::tree(FILES);
    let copy = tempfile::tempdir().unwrap();
    for dir in [tree.path(), copy.path()] {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for round in 0..size.of(1) {
        for allowed in 1..=16 {
            let task = format!("threads {allowed}");
            let mut command = command(&task, tree.path());
            as_nobody(&mut command, &copy, &task, tree.path());
            add(&mut score, &format!("{task}, round {round}"), &run(command, PATIENCE));
        }
    }
    score.worst = "all files found in each".to_string();
    score
}

/// With one thread and so many more.
pub(crate) fn threads_child(allowed: usize) {
    let most = Some(allowed as u64);
    setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most }).unwrap();
    for wanted in [0, 1, 2, 4, 8, 16, 32] {
        let pool = Pool::new(wanted);
        assert!(finds_all(&process::tree(), &pool, &CancelToken::new(), FILES), "{wanted}");
        let soon = CancelToken::new().deadline_in(Duration::from_secs(40));
        assert!(finds_all(&process::tree(), &pool, &soon, FILES), "{wanted}, with a deadline");
        // The first is the caller's, and nobody had more than were allowed.
        assert!(pool.threads() <= allowed.max(1), "{wanted}: {}", pool.threads());
    }
}

pub(crate) fn descriptors(size: &Size) -> Score {
    let mut score = Score::default();
    let tree = whole::tree(FILES);
    let step = if size.scale < 1.0 { 8 } else { 1 };
    for allowed in (3..=64).step_by(step) {
        let task = format!("descriptors {allowed}");
        add(&mut score, &task, &run(command(&task, tree.path()), PATIENCE));
    }
    score.tried *= 4;
    score.worst = "nothing lost that was not told".to_string();
    score
}

/// With so many open files, on pools of each kind.
pub(crate) fn descriptors_child(allowed: usize) {
    let tree = process::tree();
    let pools = [Pool::inline(), Pool::new(1), Pool::new(2), Pool::new(8)];
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(allowed as u64), ..limit }).unwrap();
    for pool in &pools {
        let lost = lost_silently(&tree, pool, FILES);
        assert!(lost.is_empty(), "{}", print(&lost));
    }
    setrlimit(Resource::Nofile, limit).unwrap();
    assert!(finds_all(&tree, &pools[2], &CancelToken::new(), FILES), "and afterwards");
}

/// What a failed process has to say goes where it is read.
fn print(lost: &[String]) -> String {
    println!("{}", lost.join("; "));
    lost.join("; ")
}

/// From 16 MiB to 1 GiB.
const STEPS: u32 = 40;

pub(crate) fn memory(_: &Size) -> Score {
    let mut score = Score::default();
    let tree = whole::tree(FILES);
    let (mut found, mut aborted, mut enough) = (0, 0, 0);
    for step in 0..STEPS {
        let mib = (16.0 * 64_f64.powf(f64::from(step) / f64::from(STEPS - 1))) as u64;
        let task = format!("memory {mib}");
        let ended = run(command(&task, tree.path()), PATIENCE);
        let Some(status) = ended.status else {
            score.failed(format!("{mib} MiB: no end"));
            continue;
        };
        match (status.code(), status.signal()) {
            (Some(0), _) => {
                found += 1;
                score.passed();
            }
            // What std does when it cannot have memory, or the stack of a signal handler. In
            // address space that is less than what is promised to suffice it is nobody's fault.
            (_, Some(6)) | (Some(127), _) if mib < 512 => {
                aborted += 1;
                enough = enough.max(mib);
                score.passed();
            }
            other => score.failed(format!("{mib} MiB: {other:?} {}", ended.said)),
        }
    }
    score.worst = format!("{found} found all or told, {aborted} aborted, the last at {enough} MiB");
    score
}

pub(crate) fn memory_child(mib: usize) {
    let most = Some((mib as u64) << 20);
    setrlimit(Resource::As, Rlimit { current: most, maximum: most }).unwrap();
    for pool in [Pool::inline(), Pool::new(2), Pool::default()] {
        let lost = lost_silently(&process::tree(), &pool, FILES);
        assert!(lost.is_empty(), "{}", print(&lost));
    }
}
