//! The binary as people run it: what it prints, where, and with which exit code.

use crate::haystacks::Haystacks;
use std::io::Read;
use std::path::Path;
#[allow(clippy::disallowed_types)] // a test of a binary has to start it
use std::process::{Child, Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_ingrep");

#[allow(clippy::disallowed_types)] // a test of a binary has to start it
fn command(binary: &Path, dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary);
    command
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

#[allow(clippy::disallowed_types)] // a test of a binary has to start it
fn ran(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn run(haystacks: &Haystacks, arguments: &[&str]) -> Ran {
    ran(command(Path::new(BINARY), haystacks.root(), arguments).spawn().unwrap())
}

fn tree() -> Haystacks {
    Haystacks::new(&[
        ("src/main.rs", &b"fn main() {\n    greet();\n}\n\nfn greet() {\n    // fn\n}\n"[..]),
        ("notes.txt", b"no code\nfn is a word\n"),
        ("late.bin", &[b"fn\n", &b"0123456\n".repeat(20_000)[..], b"\0"].concat()),
        ("empty", b""),
    ])
}

/// The whole of what a run says, as one text.
fn said(arguments: &[&str]) -> String {
    let Ran { code, stdout, stderr } = run(&tree(), arguments);
    let code = code.unwrap();
    let seconds = regex::Regex::new(r#""elapsed_seconds":[0-9.e-]+"#).unwrap();
    let stdout = seconds.replace_all(&stdout, r#""elapsed_seconds":0"#);
    let stdout = stdout.replace('\x1b', "<ESC>");
    format!("$ ingrep {}\n{stdout}-- stderr\n{stderr}-- exit code {code}", arguments.join(" "))
}

/// Each run is a snapshot: a reviewer reads what a user will read.
#[test]
fn what_a_run_prints_is_known() {
    for (name, arguments) in [
        ("grep", &["grep", "fn"][..]),
        ("grep_context", &["grep", "fn", "-C1", "-g", "*.rs", "-A", "0"]),
        ("grep_json", &["grep", "greet", "--json"]),
        ("grep_json_nothing", &["grep", "nowhere", "--json"]),
        ("grep_limit", &["grep", "fn", "--limit", "2"]),
        ("grep_long_line", &["grep", "word", "--max-line-bytes", "7"]),
        ("grep_color", &["grep", "fn", "-g", "*.txt", "--color", "always"]),
        ("grep_bad_pattern", &["grep", "fn ("]),
        ("grep_no_such_path", &["grep", "fn", "--path", "gone"]),
        ("glob", &["glob", "*"]),
        ("glob_json", &["glob", "*.rs", "--json", "--sort", "path"]),
        ("glob_bad", &["glob", "["]),
        ("reply_grep", &["grep", "fn", "--reply"]),
        ("reply_grep_limit", &["grep", "fn", "--reply", "--limit", "1", "--max-line-bytes", "4"]),
        ("reply_grep_json", &["grep", "greet", "--reply", "--json", "--include", "*.rs"]),
        ("reply_grep_nothing", &["grep", "nowhere", "--reply"]),
        ("reply_grep_bad", &["grep", "fn (", "--reply"]),
        ("reply_glob", &["glob", "*", "--reply", "--reverse"]),
        ("reply_glob_json", &["glob", "*.rs", "--reply", "--json", "--path", "src"]),
        ("reply_glob_nothing", &["glob", "*.py", "--reply"]),
        ("grep_unknown_type", &["grep", "fn", "-t", "cobold"]),
    ] {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("cli_{name}"), said(arguments));
        });
    }
}

#[test]
fn the_exit_code_tells_found_from_nothing_from_trouble() {
    for (arguments, code) in [
        (&["grep", "fn"][..], 0),
        (&["grep", "nowhere"], 1),
        (&["grep", ""], 0),
        (&["grep", "fn", "-m", "0"], 1),
        (&["grep", "fn", "--limit", "0"], 0),
        (&["glob", "*.rs"], 0),
        (&["glob", "*.py"], 1),
        (&["grep", "("], 2),
        (&["grep", "fn", "--path", "gone"], 2),
        (&["glob", "["], 2),
        (&["grep", "fn", "--no-such-flag"], 2),
        (&["grep"], 2),
        (&["glob"], 2),
        (&["nothing-like-it"], 2),
        (&[], 2),
        (&["grep", "fn", "-w", "-x"], 2),
        (&["grep", "fn", "-i", "-S"], 2),
        (&["grep", "fn", "--passthru", "-C", "1"], 2),
        (&["grep", "fn", "-E", "utf-99"], 2),
        (&["grep", "fn", "--timeout", "0"], 2),
        (&["grep", "fn", "--timeout=-1"], 2),
        (&["grep", "fn", "--timeout", "nan"], 2),
        (&["grep", "-e", "fn"], 0),
        (&["--help"], 0),
        (&["--version"], 0),
    ] {
        let ran = run(&tree(), arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        let said = !ran.stderr.is_empty();
        // A limit that was reached is no refusal, but worth a word.
        let limited = arguments.contains(&"--limit");
        assert_eq!(said, code == 2 || limited, "{arguments:?} on stderr: {}", ran.stderr);
        if code == 2 && !arguments.contains(&"0") {
            assert_eq!(ran.stdout, "", "{arguments:?}: a refusal is no result");
        }
    }
}

#[test]
fn a_reply_is_refused_with_what_the_tools_do_not_have() {
    for (switch, told) in [
        (&["--no-hidden"][..], "--no-hidden cannot"),
        (&["--vcs"], "--vcs cannot"),
        (&["-t", "rust"], "--type cannot"),
        (&["-T", "rust"], "--type-not cannot"),
        (&["-d", "1"], "--max-depth cannot"),
        (&["--max-filesize", "9"], "--max-filesize cannot"),
        (&["-L"], "--follow cannot"),
        (&["--one-file-system"], "--one-file-system cannot"),
        (&["--sort", "path"], "--sort cannot"),
        (&["-p", "src", "-p", "."], "--path can be given once"),
        (&["--path", "gone"], "SEARCH_FAILED: "),
        (&["--path", " "], "INVALID_ARGUMENT: "),
        (&["--timeout", "0"], "SEARCH_ABORTED: "),
    ] {
        for tool in ["grep", "glob"] {
            let ran = run(&tree(), &[&[tool, "fn", "--reply"], switch].concat());
            assert_eq!(ran.code, Some(2), "{switch:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(told), "{switch:?}: {}", ran.stderr);
            assert_eq!(ran.stdout, "", "{switch:?}");
        }
    }
    for (switch, told) in [
        (&["--reply", "-C1"][..], "context lines cannot"),
        (&["--reply", "-A", "1"], "context lines cannot"),
        (&["--reply", "--passthru"], "context lines cannot"),
        (&["--reply", "-g", "*.a", "-g", "*.b"], "--include can be given once"),
        (&["--reply", "-g", "!*.a"], "INVALID_ARGUMENT: "),
        (&["--spill-dir", "x"], "--reply"),
    ] {
        let ran = run(&tree(), &[&["grep", "fn"], switch].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{switch:?}");
        assert!(ran.stderr.contains(told), "{switch:?}: {}", ran.stderr);
    }
}

#[test]
fn a_complete_reply_is_saved_where_it_was_asked_to_be() {
    let tree = tree();
    let all = run(&tree, &["grep", "fn", "--reply"]).stdout;
    let grep = ["grep", "fn", "--reply", "--limit", "1"];
    let saved = run(&tree, &[&grep[..], &["--spill-dir", "kept"]].concat());
    let told = saved.stdout.split_once("(Full grep result stored at: ").expect("it was saved").1;
    let file = told.split_once(". Read it").expect("a hint follows").0;
    let complete = std::fs::read_to_string(file).expect("it is there");
    let body = all.split_once("\n\n").unwrap().1;
    // Behind the matches the reply has its hints, and the file its totals.
    let groups = body.split("\n(").next().unwrap().trim_end();
    assert_eq!(complete, format!("{groups}\n\nFound 5 matches in 3 files\n"));
    assert!(!run(&tree, &grep).stdout.contains("stored at"));
    let refused = run(&tree, &[&grep[..], &["--spill-dir", "notes.txt"]].concat());
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
}

#[test]
fn threads_and_paths_and_order_change_nothing_but_what_they_say() {
    let tree = tree();
    let all = run(&tree, &["grep", "fn"]).stdout;
    for threads in ["0", "1", "2", "8"] {
        assert_eq!(run(&tree, &["grep", "fn", "-j", threads]).stdout, all);
    }
    let paths = |arguments: &[&str]| run(&tree, arguments).stdout.replace('\n', " ");
    assert_eq!(paths(&["glob", "*"]), "src/main.rs notes.txt late.bin empty ");
    assert_eq!(paths(&["glob", "*", "--reverse"]), "empty late.bin notes.txt src/main.rs ");
    assert_eq!(paths(&["glob", "*", "--sort", "path"]), "empty late.bin notes.txt src/main.rs ");
    assert_eq!(paths(&["glob", "src/*"]), "src/main.rs ");
    assert_eq!(paths(&["glob", "*.rs", "--path", "src"]), "src/main.rs ");
    assert_eq!(paths(&["glob", "*", "-T", "rust", "-d", "1"]), "notes.txt late.bin empty ");
}

#[test]
fn only_the_flag_colours_a_pipe() {
    let tree = tree();
    assert!(!run(&tree, &["grep", "fn"]).stdout.contains('\x1b'));
    assert!(!run(&tree, &["grep", "fn", "--color", "never"]).stdout.contains('\x1b'));
    assert!(run(&tree, &["glob", "*", "--color", "always"]).stdout.contains("\x1b[35m"));
    for value in ["", "1"] {
        let mut always =
            command(Path::new(BINARY), tree.root(), &["grep", "fn", "--color", "always"]);
        let ran = ran(always.env("NO_COLOR", value).spawn().unwrap());
        assert!(ran.stdout.contains("\x1b[1;31mfn\x1b[0m"), "a flag is stronger than a variable");
        let mut auto = command(Path::new(BINARY), tree.root(), &["grep", "fn"]);
        assert!(!self::ran(auto.env("NO_COLOR", value).spawn().unwrap()).stdout.contains('\x1b'));
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let haystacks = Haystacks::new(&[("a", "fn\n".repeat(500_000))]);
    for arguments in [&["grep", "fn"][..], &["grep", "fn", "--json"]] {
        let mut child = command(Path::new(BINARY), haystacks.root(), arguments).spawn().unwrap();
        let mut head = [0; 16];
        child.stdout.as_mut().unwrap().read_exact(&mut head).unwrap();
        drop(child.stdout.take());
        let ran = ran(child);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
#[cfg(unix)] // signals, and a hole in a file
#[allow(clippy::disallowed_types)] // std cannot send a signal
fn ctrl_c_ends_a_run_with_what_was_found() {
    // More than one buffer of output, and then a hole of 64 GiB.
    let haystacks = Haystacks::new(&[("a", "hit\0".repeat(10_000)), ("b", "hit\0".to_string())]);
    let endless = std::fs::File::options().write(true).open(haystacks.path("b")).unwrap();
    endless.set_len(64 << 30).unwrap();
    let arguments = ["grep", "hit", "--null-data", "--sort", "path"];
    let mut child = command(Path::new(BINARY), haystacks.root(), &arguments).spawn().unwrap();
    // Once there is output the handler has been installed.
    let mut head = [0; 16];
    child.stdout.as_mut().unwrap().read_exact(&mut head).unwrap();
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(sent.unwrap().success());
    let ran = ran(child);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stderr, "ingrep: interrupted; only what was found until then was printed\n");
}

#[test]
#[cfg(unix)] // permissions
fn what_cannot_be_read_is_counted_and_named() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let haystacks = Haystacks::new(&[("closed", "fn\n"), ("open", "fn\n")]);
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(haystacks.root(), 0o755);
    set(&haystacks.path("closed"), 0);
    // Root may read everything, so another user has to look, who may not reach the target
    // directory.
    let root = std::fs::metadata(haystacks.root()).unwrap().uid() == 0;
    let bin = Haystacks::new::<&str>(&[]);
    set(bin.root(), 0o755);
    crate::scope::copy_program(Path::new(BINARY), &bin.path("ingrep"));
    let run = |arguments: &[&str]| {
        let mut command = command(&bin.path("ingrep"), haystacks.root(), arguments);
        if root {
            command.uid(65_534);
        }
        ran(command.spawn().unwrap())
    };
    let skipped =
        "ingrep: 1 skipped: 1 permission_denied\n    ./closed: Permission denied (os error 13)\n";
    let found = run(&["grep", "fn"]);
    assert_eq!((found.code, found.stderr.as_str()), (Some(0), skipped));
    assert!(found.stdout.starts_with("open\n"), "{}", found.stdout);
    let nothing = run(&["grep", "nowhere"]);
    assert_eq!((nothing.code, nothing.stderr.as_str()), (Some(2), skipped));
    let named = run(&["grep", "fn", "--path", "closed"]);
    assert_eq!(named.code, Some(2), "{}", named.stderr);
}

#[test]
fn a_refusal_in_json_is_json() {
    let ran = run(&tree(), &["grep", "fn (", "--json"]);
    assert_eq!(ran.code, Some(2));
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["error"]["code"], "INVALID_PATTERN");
}

/// A full disk is not a reader that has gone: ripgrep says so for each file, and so do we.
#[test]
fn what_rg_cannot_write_is_an_error() {
    let tree = tree();
    for (arguments, said) in [
        (&["rg", "--json", "-j2", "fn"][..], "No space left on device (os error 28)"),
        (&["rg", "--files", "/usr/share"], "rg: No space left on device (os error 28)\n"),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ingrep"))
            .args(arguments)
            .current_dir(tree.path(""))
            .stdin(std::process::Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}
