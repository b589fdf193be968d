//! Ignore files that are no files: T1 and T5.

use super::own_process::{OwnProcess, assert_nobody, is_own};
use super::watched::watched;
use super::{check, list, ruled, ways};
use crate::tree::Tree;
use ingrep::{IgnoreRules, Reason, Scope};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;

const NAMES: [&str; 4] = [".rgignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// A repository whose healthy rules leave out `*.tmp`, and where one rule file is made by `make`.
/// All else is listed, and the file is told.
#[track_caller]
fn check_each(make: impl Fn(&Tree, &str), message: &str) {
    for hostile in NAMES {
        let healthy = if hostile == ".ignore" { ".rgignore" } else { ".ignore" };
        let table = format!(
            ".git/HEAD\n .git/info/\n a.log\n a.tmp\n sub/b.log\n sub/b.tmp\n {healthy}: *.tmp"
        );
        let tree = Tree::new(&table);
        make(&tree, hostile);
        let is_listed = fs::symlink_metadata(tree.join(hostile)).unwrap().is_file();
        let itself = if is_listed && !hostile.starts_with(".git/") { hostile } else { "" };
        let expected = format!("a.log sub/b.log {healthy} {itself}");
        check(&tree, &ruled(&tree), &expected, &format!("ignore_rule {hostile}: {message}"));
    }
}

#[test]
fn a_fifo_is_no_ignore_file() {
    watched(|| check_each(|tree, name| tree.fifo(name), "not a regular file"));
}

#[test]
fn a_socket_is_no_ignore_file() {
    let make = |tree: &Tree, name: &str| drop(UnixListener::bind(tree.join(name)).unwrap());
    watched(move || check_each(make, "not a regular file"));
}

#[test]
fn a_link_to_a_device_is_no_ignore_file() {
    for device in ["/dev/zero", "/dev/urandom", "/dev/full", "/dev/tty", "/dev/ptmx"] {
        if Path::new(device).exists() {
            let make = move |tree: &Tree, name: &str| symlink(device, tree.join(name)).unwrap();
            watched(move || check_each(make, "not a regular file"));
        }
    }
}

#[test]
fn a_link_to_a_fifo_or_socket_is_no_ignore_file() {
    watched(|| {
        let make = |tree: &Tree, name: &str| {
            tree.fifo(".git/fifo");
            symlink(tree.join(".git/fifo"), tree.join(name)).unwrap();
        };
        check_each(make, "not a regular file");
        let make = |tree: &Tree, name: &str| {
            drop(UnixListener::bind(tree.join(".git/socket")).unwrap());
            symlink(tree.join(".git/socket"), tree.join(name)).unwrap();
        };
        check_each(make, "not a regular file");
    });
}

/// A file by its type, but one whose every read fails.
#[test]
fn an_ignore_file_that_fails_when_it_is_read_is_told() {
    watched(|| {
        let make = |tree: &Tree, name: &str| symlink("/proc/self/mem", tree.join(name)).unwrap();
        check_each(make, "Input/output error");
    });
}

#[test]
fn an_ignore_file_of_a_terabyte_costs_no_memory() {
    let make = |tree: &Tree, name: &str| {
        File::create(tree.join(name)).unwrap().set_len(1 << 40).unwrap();
    };
    watched(move || check_each(make, "max_rule_file_bytes (1048576)"));
}

#[test]
fn ignore_files_that_lead_nowhere_are_none() {
    watched(|| {
        for target in ["nowhere", ".ignore", ".", "/dev/null/x"] {
            let tree = Tree::new(&format!(".ignore -> {target}\n a"));
            check(&tree, &ruled(&tree), "a", "");
        }
        let tree = Tree::new(".ignore/x\n .gitignore/y\n .git/info/exclude/z\n a");
        check(&tree, &ruled(&tree), "a .ignore/x .gitignore/y", "");
    });
}

#[test]
fn the_hosts_standard_input_is_not_eaten() {
    let mut own = OwnProcess::new("rule_files::in_its_own_a_rule_file_leads_to_stdin");
    let mut child = own.command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Not closed before the end: whoever read it would wait.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"*.log\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    drop(stdin);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_rule_file_leads_to_stdin() {
    if !is_own() {
        return;
    }
    for target in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        let make = move |tree: &Tree, name: &str| symlink(target, tree.join(name)).unwrap();
        watched(move || check_each(make, "not a regular file"));
    }
    let mut first = [0; 6];
    std::io::Read::read_exact(&mut std::io::stdin(), &mut first).unwrap();
    assert_eq!(&first, b"*.log\n");
}

#[test]
fn rule_files_above_the_root_and_named_ones_do_not_wait_either() {
    watched(|| {
        let tree = Tree::new("root/.git/HEAD\n root/a.log\n root/b");
        tree.fifo(".ignore");
        tree.fifo("named");
        tree.fifo("global");
        let rules = IgnoreRules::ripgrep().file("named").global_file("global");
        let scope = Scope::new("root").base(tree.path()).ignore(rules);
        let above = tree.join(".ignore");
        let trouble = format!(
            "ignore_rule {}: not a regular file\n ignore_rule named: not a regular file
            ignore_rule global: not a regular file",
            above.display()
        );
        check(&tree, &scope, "root/a.log root/b", &trouble);
    });
}

#[test]
fn an_ignore_file_that_may_not_be_read_is_told() {
    OwnProcess::of_nobody("rule_files::in_its_own_an_ignore_file_is_closed").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_an_ignore_file_is_closed() {
    if !is_own() {
        return;
    }
    assert_nobody();
    let make = |tree: &Tree, name: &str| {
        let path = tree.join(name);
        fs::write(&path, "*.log\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    };
    watched(move || check_each(make, "Permission denied"));
}

/// What a line costs that is wrong: itself. And it is told once, however many files there are.
#[test]
fn a_hostile_file_is_told_once_for_each_walk() {
    watched(|| {
        let names: String = (0..300).map(|n| format!("d{n}/f\n")).collect();
        let tree = Tree::new(&names);
        tree.fifo(".ignore");
        for (way, scope) in ways(&ruled(&tree)) {
            let (files, summary) = list(&scope);
            assert_eq!(files.len(), 300, "{way}");
            assert_eq!(summary.diagnostics.count(Reason::IgnoreRule), 1, "{way}");
        }
    });
}
