//! Lines of the real ripgrep: those recorded in `fixtures/wire`, and those it prints now.
//!
//! With `INGREP_RECORD=1` those of the second kind write the recorded lines anew. The files `rg-13.0.0.jsonl` and
//! `rg-14.1.1.jsonl` are of the versions in their names and are never written anew.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::recorded::oracle;
use ingrep::wire::rg::{Message, Reader};
use proptest::prelude::*;
use tempfile::TempDir;

type File = (&'static [u8], &'static [u8]);

struct Case {
    name: &'static str,
    files: &'static [File],
    args: &'static [&'static str],
    stdin: Option<&'static [u8]>,
}

const fn case(name: &'static str, files: &'static [File], args: &'static [&'static str]) -> Case {
    Case { name, files, args, stdin: None }
}

const PLAIN: &[File] = &[(b"a", b"foo\nbar\nfoo foo\nbaz\n"), (b"b", b"none\n")];
const INVALID: &[File] = &[(b"bad\xff.txt", b"foo\xff\n\xc3\xa9foo\n"), (b"b", b"\xffx\n")];
const CONTROLS: &[File] = &[(
    b"controls",
    b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\
      \x18\x19\x1a\x1b\x1c\x1d\x1e\x1f \" \\ / \x7f \xe2\x80\xa8 \xf0\x9f\x98\x80 foo\n",
)];

const CASES: &[Case] = &[
    case("match", PLAIN, &["foo"]),
    case("no-match", PLAIN, &["zzz"]),
    case("context", PLAIN, &["-C1", "bar"]),
    case("passthru", PLAIN, &["--passthru", "bar"]),
    case("invert-context", PLAIN, &["-v", "-C1", "foo"]),
    case("invert-replace", PLAIN, &["-v", "-C1", "-r", "x", "foo"]),
    case("replace", PLAIN, &["-r", "x$0\u{e9}", "foo"]),
    case("replace-empty", PLAIN, &["-r", "", "foo"]),
    case("no-line-number", PLAIN, &["-N", "foo"]),
    case("quiet", PLAIN, &["-q", "foo"]),
    case("max-count", PLAIN, &["-m1", "-A2", "foo"]),
    case("multiline", &[(b"f", b"a\nb\na\nb\n")], &["-U", r"a\nb\n"]),
    case("crlf", &[(b"f", b"foo\r\nbar\r\n")], &["--crlf", "foo$"]),
    case("no-final-newline", &[(b"f", b"noeol")], &["$"]),
    case("empty-pattern", &[(b"f", b"ab\n\n")], &[""]),
    case("null-data", &[(b"f", b"a\0b\0")], &["--null-data", "b"]),
    case("binary", &[(b"f", b"foo\nba\0r\nfoo\n")], &["foo", "f"]),
    case("binary-text", &[(b"f", b"foo\nba\0r\nfoo\n")], &["-a", "r|foo"]),
    case("controls", CONTROLS, &["foo"]),
    case("controls-each", CONTROLS, &["-r", "$0$0", "(?-u)[^a-z ]", "controls"]),
    case("not-utf8", INVALID, &["foo|x"]),
    case("not-utf8-replace", INVALID, &["-r", "<$0>", r"(?-u)[\x80-\xff]"]),
    case("cut-character", &[(b"f", b"\xc3\xa9\n")], &[r"(?-u)\xC3"]),
    case("utf16", &[(b"f", b"\xff\xfef\0o\0o\0\n\0")], &["foo"]),
    case("odd-names", &[(b"d/new\nline \"q\"", b"foo\n"), (b"d/\xc3\xa9", b"foo\n")], &["foo"]),
    Case { name: "stdin", files: &[], args: &["foo", "-"], stdin: Some(b"foo\n") },
];

/// Runs ripgrep where the files are and returns what it prints.
fn rg<S: AsRef<OsStr>>(directory: &Path, args: &[S], stdin: Option<&[u8]>) -> Vec<u8> {
    let program = oracle::program().unwrap();
    let mut child = Command::new(&program)
        .args(["--no-config", "--json", "--sort", "path"])
        .args(args)
        .current_dir(directory)
        .env_remove("RIPGREP_CONFIG_PATH")
        .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), stdin) {
        pipe.write_all(input).expect("ripgrep reads its standard input");
    }
    let output = child.wait_with_output().expect("ripgrep was started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{errors}");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", output.status);
    output.stdout
}

fn directory_of<'f>(files: impl IntoIterator<Item = (&'f [u8], &'f [u8])>) -> TempDir {
    let directory = TempDir::new().expect("the temporary directory can be written");
    for (name, content) in files {
        let path = directory.path().join(OsStr::from_bytes(name));
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("as above");
        fs::write(path, content).expect("as above");
    }
    directory
}

/// Puts one fixed time in place of every elapsed time.
///
/// The keys stand in quotes of their own, which inside a string would be escaped.
fn with_fixed_times(output: &[u8]) -> Vec<u8> {
    let mut text = String::from_utf8(output.to_vec()).expect("JSON is UTF-8");
    for (key, end, fixed) in [
        ("\"secs\":", [',', '}'], "1"),
        ("\"nanos\":", [',', '}'], "234567891"),
        ("\"human\":", [',', '}'], "\"1.234568s\""),
    ] {
        let mut pieces = text.split(key);
        let mut fixed_text = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let rest = &piece[piece.find(end).expect("an object ends")..];
            fixed_text.extend([key, fixed, rest]);
        }
        text = fixed_text;
    }
    text.into_bytes()
}

/// Reads all lines, writes them again and compares. Returns the messages.
#[track_caller]
fn check_round_trip(output: &[u8], what: &str) -> Vec<Message<'static>> {
    let mut written = Vec::new();
    let mut messages = Vec::new();
    for message in Reader::new(output) {
        let message = message.unwrap_or_else(|error| panic!("{what}: {error}"));
        message.write_line(&mut written).expect("a vector takes everything");
        messages.push(message);
    }
    if written != output {
        let pairs = output.split(|&byte| byte == b'\n').zip(written.split(|&byte| byte == b'\n'));
        for (rg, ours) in pairs {
            let (rg, ours) = (String::from_utf8_lossy(rg), String::from_utf8_lossy(ours));
            assert_eq!(rg, ours, "{what}: rg left, ours right");
        }
        panic!("{what}: another number of lines");
    }
    messages
}

/// What holds between the messages of any output.
#[track_caller]
fn check_meaning(messages: &[Message<'_>], what: &str) {
    let mut bytes_printed = 0;
    let mut bytes_printed_total = 0;
    for message in messages {
        let written = message.write_line(&mut Vec::new()).expect("a vector takes everything");
        match message {
            Message::Begin(_) => bytes_printed = written,
            Message::Match(line) | Message::Context(line) => {
                bytes_printed += written;
                for submatch in &line.submatches {
                    let range = submatch.start..submatch.end;
                    assert_eq!(
                        &line.lines.as_bytes()[range],
                        submatch.matched.as_bytes(),
                        "{what}"
                    );
                }
            }
            Message::End(end) => {
                assert_eq!(end.stats.bytes_printed, bytes_printed, "{what}");
                bytes_printed_total += bytes_printed;
            }
            Message::Summary(summary) => {
                assert_eq!(summary.stats.bytes_printed, bytes_printed_total, "{what}");
            }
            other => panic!("{what}: {other:?}"),
        }
    }
    assert!(matches!(messages.last(), Some(Message::Summary(_))), "{what}");
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire")
}

#[test]
fn recorded_lines_are_written_as_they_were_read() {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(fixtures()).expect("the fixtures are there") {
        let path = entry.expect("the fixtures can be listed").path();
        let what = path.display().to_string();
        let messages = check_round_trip(&fs::read(&path).expect("a fixture can be read"), &what);
        check_meaning(&messages, &what);
        names.insert(path.file_stem().expect("a fixture has a name").to_owned());
    }
    let mut expected: BTreeSet<_> = CASES.iter().map(|case| OsString::from(case.name)).collect();
    expected.extend(["rg-13.0.0", "rg-14.1.1"].map(OsString::from));
    assert_eq!(names, expected);
}

#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn recorded_lines_are_what_ripgrep_prints() {
    let record = env::var_os("INGREP_RECORD").is_some_and(|value| value == "1");
    for case in CASES {
        let directory = directory_of(case.files.iter().copied());
        let output = with_fixed_times(&rg(directory.path(), case.args, case.stdin));
        let path = fixtures().join(case.name).with_extension("jsonl");
        if record {
            fs::write(&path, &output).expect("the fixtures can be written");
        }
        let recorded = fs::read(&path).unwrap_or_default();
        assert_eq!(
            String::from_utf8_lossy(&output),
            String::from_utf8_lossy(&recorded),
            "{}: ripgrep left, recorded right",
            case.name
        );
    }
}

#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn what_ripgrep_prints_is_written_as_it_was_read() {
    let haystacks: &[&[File]] = &[
        PLAIN,
        INVALID,
        CONTROLS,
        &[(b"empty", b""), (b"f", b"foo"), (b"sub/g", b"\nfoo\n\n")],
        &[(b"nul", b"foo\nx\0foo\n\0\nfoo\n"), (b"text", b"foo\n")],
        &[(b"crlf", b"foo\r\nbar\r\n\r\nfoo")],
        &[(b"utf16", b"\xff\xfef\0o\0o\0\n\0b\0\n\0"), (b"bom", b"\xef\xbb\xbffoo\n")],
        &[(b"n\"\\\n\t\x01\x7f", b"foo \xe2\x82 \xe2\x82\xac foo\n"), (b"\xc3\xa9", b"foo\n")],
    ];
    let patterns = ["foo", "", "$", r"(?-u)[\x00-\xff]", r"(?-u)\xC3|\xFF|\xE2", r"(?s).\n?."];
    let options: &[&[&str]] = &[
        &[],
        &["-r", "<$0>"],
        &["-r", ""],
        &["-r", "\u{1f600}\"\\"],
        &["-U"],
        &["-U", "--multiline-dotall", "-r", "$0$0"],
        &["-v"],
        &["-v", "-C1"],
        &["-v", "-C1", "-r", "y"],
        &["-v", "-N"],
        &["-C1"],
        &["-A2", "-m1"],
        &["--passthru"],
        &["--passthru", "-v"],
        &["-N"],
        &["-N", "-C9", "-r", "x"],
        &["-q"],
        &["-q", "-v"],
        &["--null-data"],
        &["-a"],
        &["-a", "-v", "-B1"],
        &["--binary"],
        &["--crlf"],
        &["-E", "none"],
        &["-E", "utf-8"],
        &["-i", "-w"],
        &["-x"],
        &["--no-mmap", "--stop-on-nonmatch"],
    ];

    let mut runs = 0;
    let mut messages = 0;
    for files in haystacks {
        let directory = directory_of(files.iter().copied());
        for pattern in patterns {
            for options in options {
                let crosses_lines = pattern.contains(r"\n") || pattern.contains(r"\x00");
                if crosses_lines && !options.contains(&"-U") {
                    continue;
                }
                // The one pattern with a NUL is refused where binary files are looked for.
                let mut args = options.to_vec();
                if pattern.contains(r"\x00") {
                    args.push("-a");
                }
                args.extend(["-e", pattern, "./"]);
                let what = format!("{args:?} in {:?}", Path::new(OsStr::from_bytes(files[0].0)));
                let output = rg(directory.path(), &args, None);
                let read = check_round_trip(&output, &what);
                check_meaning(&read, &what);
                runs += 1;
                messages += read.len();
            }
        }
    }
    // Guards against a filter above that leaves nothing to compare.
    assert!(runs > 700, "{runs} runs");
    assert!(messages > 2500, "{messages} messages");
    println!("{runs} runs, {messages} messages");
}

proptest! {
    // A run without the oracle fails too, and is no case to keep.
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    #[ignore = "asks the real rg thousands of times: CI does"]
    fn lines_that_ripgrep_prints_are_the_bytes_of_the_file(
        content in prop_oneof![
            proptest::collection::vec(any::<u8>(), 1..2000),
            "[a-z\"\\\\\u{0}-\u{20}\u{7f}-\u{ff}\u{2028}\u{1f600}\r\n]{1,300}"
                .prop_map(String::into_bytes),
        ],
        name in proptest::collection::vec(
            any::<u8>().prop_filter("no byte of a name", |&byte| byte != 0 && byte != b'/'),
            1..20,
        ),
    ) {
        // A name in front keeps `.` and `..` out, and what would hide the file.
        let name = [b"f", name.as_slice()].concat();
        let directory = directory_of([(name.as_slice(), content.as_slice())]);
        let args = ["-uu", "-a", "-E", "none", "--passthru", "-e", r"(?-u)[\x40-\xff]+"];
        let output = rg(directory.path(), &args, None);
        let messages = check_round_trip(&output, "a file of any bytes");
        check_meaning(&messages, "a file of any bytes");
        let mut lines = Vec::new();
        for message in &messages {
            if let Message::Match(line) | Message::Context(line) = message {
                prop_assert_eq!(line.absolute_offset, lines.len() as u64);
                prop_assert_eq!(line.path.to_path(), Path::new(OsStr::from_bytes(&name)));
                lines.extend_from_slice(line.lines.as_bytes());
            }
        }
        prop_assert_eq!(lines, content);
    }
}
