//! Nothing here starts a process, and nothing needs threads: shown by taking the means away.

use super::own_process::{OwnProcess, is_own};
use super::watched::watched_for;
use super::{here, list, ways};
use crate::tree::Tree;
use ingrep::tools::{DirSpill, Tools};
use ingrep::{CancelToken, IgnoreRules, Pool, Query, rg};
use seccompiler::{BpfMap, apply_filter, compile_from_json};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// What kills a process that would become another one, or make one. A thread has the flag
/// `CLONE_THREAD`, 65536. The flags of `clone3` are out of a filter's sight: it is not there, as on an
/// old kernel, and `clone` is called in its place.
const KILLS: &str = r#"{
    "spawn": {
        "mismatch_action": "allow", "match_action": "kill_process",
        "filter": [
            { "syscall": "execve" }, { "syscall": "execveat" },
            FORKS
            { "syscall": "clone", "args": [
                { "index": 0, "type": "dword", "op": { "masked_eq": 65536 }, "val": 0 }
            ] }
        ]
    },
    "clone3": {
        "mismatch_action": "allow", "match_action": { "errno": 38 },
        "filter": [ { "syscall": "clone3" } ]
    }
}"#;

/// What lets no thread start.
const REFUSES: &str = r#"{
    "threads": {
        "mismatch_action": "allow", "match_action": { "errno": 1 },
        "filter": [ { "syscall": "clone" }, { "syscall": "clone3" } ]
    }
}"#;

/// Takes away from this thread, and from those that it will start. Says whether that can be done
/// here.
fn take_away(filters: &str) -> bool {
    // Newer machines have no calls of these names.
    let forks = r#"{ "syscall": "fork" }, { "syscall": "vfork" },"#;
    let filters = filters.replace("FORKS", if cfg!(target_arch = "x86_64") { forks } else { "" });
    let Ok(arch) = std::env::consts::ARCH.try_into() else { return false };
    let compiled: BpfMap = compile_from_json(filters.as_bytes(), arch).unwrap();
    compiled.values().all(|filter| apply_filter(filter).is_ok())
}

/// Everything there is to call, once.
fn whole_interface(pools: &[Pool]) {
    let table: String = (0..300).map(|n| format!("d{n}/f: needle\n")).collect();
    let tree = Tree::new(&table);
    tree.add(".ignore: *.log\n a.log: needle\n .git/HEAD\n spilled/");
    for pool in pools {
        let token = CancelToken::new().deadline_in(Duration::from_secs(50));
        let rules = IgnoreRules::ripgrep().parents(false);
        for (way, scope) in ways(&here(&tree).ignore(rules)) {
            for token in [&token, &CancelToken::new()] {
                let scope = scope.clone().pool(pool);
                // With the file of rules itself.
                assert_eq!(list(&scope).0.len(), 301, "{way}");
                let search = Query::new("needle").scope(scope).compile().unwrap();
                assert_eq!(search.collect(token).unwrap().files.len(), 300, "{way}");
                assert_eq!(search.stream(token).unwrap().take(2).count(), 2);
            }
        }
        for argv in [&["needle"][..], &["--json", "needle"], &["--files"], &["-c", "-j8", "needle"]]
        {
            let command = rg::Command::new(tree.path()).args(argv).pool(pool);
            let output = command.output(&token).unwrap();
            let lines = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
            assert!(output.code == 0 && lines >= 300, "{argv:?}: {lines}");
        }
        // What could start one in ripgrep is refused, and not tried.
        for argv in [&["-z", "needle"][..], &["--pre", "cat", "needle"], &["--hostname-bin=x", "x"]]
        {
            let _ = rg::Command::new(tree.path()).args(argv).pool(pool).output(&token);
        }
        let store = DirSpill::new(tree.join("spilled")).unwrap();
        let tools = Tools::new(tree.path())
            .pool(pool)
            .grep_max_matches(9)
            .glob_max_results(9)
            .spill(store.clone());
        for (name, pattern) in [("grep", "needle"), ("glob", "**/f")] {
            let arguments = serde_json::json!({ "pattern": pattern });
            let reply = tools.call(name, &arguments, &token).unwrap();
            assert!(reply.text.contains("results-"), "{}", reply.text);
        }
        assert_eq!(store.clean(Duration::ZERO).unwrap(), 2);
    }
}

#[test]
fn all_works_where_a_new_process_is_death() {
    OwnProcess::new("no_process::in_its_own_a_new_process_is_death").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_new_process_is_death() {
    if !is_own() {
        return;
    }
    watched_for(PATIENCE, 8 << 20, || {
        if !take_away(KILLS) {
            eprintln!("not checked: there are no filters here");
            return;
        }
        let pool = Pool::new(3);
        whole_interface(&[pool.clone(), Pool::inline(), Pool::default()]);
        assert_eq!(pool.threads(), 3, "threads can be had");
    });
}

/// The filter bites.
#[test]
fn a_new_process_is_death_there() {
    let mut own = OwnProcess::new("no_process::in_its_own_a_process_is_started");
    let output = own.command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&output.stderr);
    // SIGSYS.
    let killed = output.status.signal() == Some(31);
    assert!(killed || said.contains("there are no filters here"), "{:?} {said}", output.status);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_process_is_started() {
    if !is_own() {
        return;
    }
    watched_for(PATIENCE, 8 << 20, || match take_away(KILLS) {
        true => drop(Command::new("true").status()),
        false => eprintln!("not checked: there are no filters here"),
    });
}

#[test]
fn all_works_where_no_thread_may_start() {
    OwnProcess::new("no_process::in_its_own_no_thread_may_start").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_no_thread_may_start() {
    if !is_own() {
        return;
    }
    watched_for(PATIENCE, 8 << 20, || {
        if !take_away(REFUSES) {
            eprintln!("not checked: there are no filters here");
            return;
        }
        assert!(std::thread::Builder::new().spawn(|| ()).is_err(), "threads can be had");
        let pools = [0, 1, 2, 8, 16].map(Pool::new);
        for pool in &pools {
            assert_eq!((pool.threads(), pool.is_inline()), (1, true));
        }
        whole_interface(&pools);
        whole_interface(&[Pool::inline(), Pool::default()]);
    });
}

/// By the kernel's own account: the program is started, then threads, and nothing else.
#[test]
fn one_program_is_executed_and_threads_are_all_that_is_made() {
    let tree = Tree::new("");
    let log = tree.join("log");
    let test = "no_process::in_its_own_all_is_called";
    let Some(own) = OwnProcess::traced(test, &["-e", "trace=process"], &log) else { return };
    own.passes();
    let log = fs::read_to_string(log).unwrap();
    let calls = |name: &str| {
        let call = format!("{name}(");
        log.lines().filter(move |line| line.contains(&call)).count()
    };
    assert_eq!((calls("execve"), calls("execveat")), (1, 0), "{log}");
    assert_eq!((calls("fork"), calls("vfork"), calls("wait4")), (0, 0, 0), "{log}");
    let made: Vec<_> = log.lines().filter(|line| line.contains(" clone")).collect();
    assert!(made.iter().any(|line| line.contains("CLONE_THREAD")), "{log}");
    for line in made.iter().filter(|line| !line.contains("resumed>")) {
        assert!(line.contains("CLONE_THREAD"), "{line}");
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_all_is_called() {
    if is_own() {
        watched_for(PATIENCE, 8 << 20, || whole_interface(&[Pool::new(2), Pool::inline()]));
    }
}
