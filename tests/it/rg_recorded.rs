//! The recorded rg cases: rg still answers so, we answer so, and nothing of the contract is left
//! out.

use crate::recorded::{self, coverage, format, oracle};
use ingrep::rg::Command;
use ingrep::{CancelToken, Walker};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn every_entry_of_the_contract_is_covered_or_explained() {
    let dir = recorded::fixtures();
    let files = recorded::load(&dir).unwrap();
    let reasons = coverage::unreachable(&dir).unwrap();
    let problems = coverage::problems(&files, &reasons);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let table = std::fs::read_to_string(dir.join("COVERAGE.md")).unwrap();
    assert!(
        table == coverage::table(&files, &reasons),
        "COVERAGE.md is old: run the recording command"
    );
}

#[test]
fn every_run_is_recorded_in_the_form_the_recorder_writes() {
    for file in recorded::load(&recorded::fixtures()).unwrap() {
        let mut answers = Vec::new();
        for case in &file.cases {
            assert!(!case.covers.is_empty(), "{}: {}: covers nothing", file.name, case.name);
            assert!(!case.runs.is_empty(), "{}: {}: has no run", file.name, case.name);
            for run in &case.runs {
                let answer = run.recorded.clone();
                answers.push(answer.unwrap_or_else(|| panic!("{}:{}", file.name, run.line)));
            }
        }
        assert_eq!(file.text, format::with_answers(&file, &answers), "{}", file.name);
    }
}

/// Two threads, or two machines, walk in different orders: a run that shows several files has to
/// sort, to use one thread, or to be compared without order.
#[test]
fn runs_that_show_several_files_say_their_order() {
    for file in recorded::load(&recorded::fixtures()).unwrap() {
        for (case, run) in
            file.cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run)))
        {
            let Some(recorded) = &run.recorded else {
                continue;
            };
            let stdout = String::from_utf8_lossy(&recorded.stdout);
            let is_json = stdout.starts_with('{');
            let is_listing = !is_json && run.args.iter().any(|arg| arg == "--files");
            let begins =
                |start: &str| stdout.lines().filter(|line| line.starts_with(start)).count();
            let shown = match is_json {
                true => begins("{\"type\":\"begin\""),
                false if is_listing => stdout.lines().count(),
                // In text, a file is where its path begins a line, whatever the colours before it.
                false => {
                    paths(case).filter(|path| begins(path) + begins(&coloured(path)) > 0).count()
                }
            };
            let says_order = |arg: &std::ffi::OsString| {
                let arg = arg.to_string_lossy();
                arg.starts_with("--sort") || arg == "-j1"
            };
            let ordered = run.unordered || run.args.iter().any(says_order);
            assert!(shown < 2 || ordered, "{}:{}: run {}", file.name, run.line, run.shown);
        }
    }
}

/// The paths of a case's files.
fn paths(case: &format::Case) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    case.tree.iter().filter_map(|entry| match entry {
        format::Entry::File { path, .. } => Some(String::from_utf8_lossy(path)),
        _ => None,
    })
}

fn coloured(path: &str) -> String {
    format!("\x1b[0m\x1b[35m{path}")
}

/// No fixture may name a place of the machine it was recorded on.
#[test]
fn fixtures_name_no_machine_path() {
    let temp = std::env::temp_dir().to_string_lossy().into_owned();
    for file in recorded::load(&recorded::fixtures()).unwrap() {
        for (at, line) in file.text.lines().enumerate() {
            let place = line.contains(&temp) || line.contains(".cargo/");
            assert!(!place, "{}:{}: {line}", file.name, at + 1);
        }
    }
}

mod form {
    use super::*;

    fn check(lines: &str, expected: &[&str]) {
        let text = format!("case c\ncovers X\nrun {lines}");
        let file = format::parse("test", text).unwrap();
        let args: Vec<_> = file.cases[0].runs[0].args.iter().collect();
        assert_eq!(args, expected);
    }

    #[test]
    fn words_are_split_like_a_shell_does() {
        check("a  'b c' \"d\\n\"", &["a", "b c", "d\n"]);
        check(r#"'\d' x'y'"z" ''"#, &[r"\d", "xyz", ""]);
        check(r#""\x41\\\"""#, &["A\\\""]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let parse = |text: &str| format::parse("t.cases", text.to_string()).err();
        let expected = |text: &str| Some(text.to_string());
        assert_eq!(parse("file a"), expected("t.cases:1: expected a case first"));
        assert_eq!(parse("case c\nfiel a"), expected("t.cases:2: unknown tree line \"fiel\""));
        assert_eq!(parse("case c\nrun 'x"), expected("t.cases:2: a ' is not closed"));
        let backslash = "t.cases:2: a backslash outside of quotes";
        assert_eq!(parse("case c\nrun \\d"), expected(backslash));
    }

    #[test]
    fn any_bytes_survive_being_written_and_read() {
        let output = format::RunOutput {
            code: 1,
            stdout: b"plain\n\ntab\tx\n\xff\0end \nno newline".to_vec(),
            stderr: "\u{feff}é\n".into(),
        };
        let file = format::parse("t", "case c\ncovers X\nrun\n".to_string()).unwrap();
        let text = format::with_answers(&file, std::slice::from_ref(&output));
        let again = format::parse("t", text.clone()).unwrap();
        assert_eq!(again.cases[0].runs[0].recorded.as_ref(), Some(&output));
        assert_eq!(format::with_answers(&again, &[output]), text);
    }
}

/// Runs every recorded case and collects what differs.
#[track_caller]
fn check_all(
    wanted: impl Fn(&format::Run) -> bool,
    runner: &dyn Fn(&format::Run, &Path) -> Result<format::RunOutput, String>,
) {
    let (mut differences, mut compared) = (Vec::new(), 0);
    for file in &recorded::load(&recorded::fixtures()).unwrap() {
        for case in &file.cases {
            for run in case.runs.iter().filter(|run| wanted(run)) {
                compared += 1;
                match recorded::answer(case, run, runner) {
                    Ok(answer) => {
                        differences.extend(recorded::difference(file, case, run, &answer));
                    }
                    Err(err) => differences.push(format!("{}:{}: {err}", file.name, run.line)),
                }
            }
        }
    }
    let count = differences.len();
    assert!(count == 0, "{count} of {compared} differ:\n{}", differences.join("\n"));
    assert!(compared > 0, "nothing was compared");
}

/// Asks the real rg again. A difference means a new rg, new crates, or a machine that matters.
#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn oracle_still_says_so() {
    let program = oracle::program().unwrap();
    check_all(|_| true, &|run, dir| oracle::run(&program, run, dir));
}

#[test]
fn the_library_answers_as_recorded_by_either_walk() {
    // What belongs to a process of its own is asked of the binary.
    let ours = |run: &format::Run| !run.nonroot && !run.cwd_removed && run.stdout_file.is_none();
    for walker in [Walker::Native, Walker::Reference] {
        check_all(ours, &|run, dir| run_by(walker, run, dir));
    }
}

/// The binary is what it is called: a link named `rg` is all that a caller needs to change.
#[test]
fn the_binary_under_the_name_rg_answers_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    // Runs as another user have to get to it.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("rg");
    std::fs::copy(env!("CARGO_BIN_EXE_ingrep"), &program).unwrap();
    let program = program.into_os_string();
    check_all(|_| true, &|run, dir| oracle::run(&program, run, dir));
}

/// The run as a call of the library.
pub(crate) fn run_in_process(run: &format::Run, dir: &Path) -> Result<format::RunOutput, String> {
    run_by(Walker::Auto, run, dir)
}

fn run_by(walker: Walker, run: &format::Run, dir: &Path) -> Result<format::RunOutput, String> {
    let command = Command::new(dir.join(&run.cwd))
        .walker(walker)
        .args(&run.args)
        .envs(run.env.iter().map(|(key, value)| (key, value)));
    let command = match &run.stdin {
        format::Stdin::Null => command,
        format::Stdin::Pipe(bytes) | format::Stdin::Socket(bytes) => command.stdin(bytes.clone()),
        format::Stdin::File(path) => {
            command.stdin(std::fs::read(dir.join(path)).map_err(|err| err.to_string())?)
        }
        format::Stdin::Open => command.stdin_reader(std::io::empty()),
    };
    let output = command.output(&CancelToken::new()).map_err(|err| err.to_string())?;
    let code = output.code.into();
    Ok(format::RunOutput { code, stdout: output.stdout, stderr: output.stderr })
}
