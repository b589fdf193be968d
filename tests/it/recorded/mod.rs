//! Recorded rg cases: the fixture files of `fixtures/rg`, run against any runner and compared.
//!
//! [`format`] says how a fixture file reads, [`tree`] makes the files of a case, [`program`] finds
//! the real rg and [`oracle`] runs it, [`coverage`] keeps the index of what the cases cover. This
//! file joins them: run, normalise, compare.
//!
//! A runner is `Fn(&Run, &Path) -> Result<RunOutput, String>`. It gets the run with `$DIR`
//! already replaced and the case directory; `Run::nonroot` tells it to give up root first.
//! Every run gets a fresh tree, so that no run sees what an earlier one left (access times,
//! appended output files).

pub(crate) mod coverage;
pub(crate) mod format;
pub(crate) mod oracle;
pub(crate) mod program;
pub(crate) mod tree;

use std::path::{Path, PathBuf};

use format::{Case, CaseFile, Run, RunOutput};

/// Where the fixture files are.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join("rg")
}

/// Every `*.cases` file of `dir`, by name.
///
/// # Errors
///
/// When the directory or a file cannot be read, or a file does not parse.
pub(crate) fn load(dir: &Path) -> Result<Vec<CaseFile>, String> {
    let listing = std::fs::read_dir(dir).map_err(|err| format!("{}: {err}", dir.display()))?;
    let mut paths = Vec::new();
    for entry in listing {
        let path = entry.map_err(|err| format!("{}: {err}", dir.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "cases") {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text =
            std::fs::read_to_string(path).map_err(|err| format!("{}: {err}", path.display()))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        format::parse(&name.unwrap_or_default(), text)
    };
    paths.iter().map(read).collect()
}

/// Makes the tree, gives the run to the runner, and returns the answer in its recorded form:
/// elapsed times zeroed, the case directory written as `$DIR`, unordered output put in order.
///
/// # Errors
///
/// When the tree cannot be made, the runner fails, or the answer depends on the length of the
/// case directory's name (printed bytes are counted) and so cannot be recorded.
pub(crate) fn answer(
    case: &Case,
    run: &Run,
    runner: &dyn Fn(&Run, &Path) -> Result<RunOutput, String>,
) -> Result<RunOutput, String> {
    let tree = tree::Tree::make(&case.tree)?;
    let dir = tree.dir();
    let output = tree.while_fed(|| runner(&run.resolved(dir), dir))?;
    if output.code == 101 {
        // Its message names a place of the machine rg was built on.
        return Err("the program panicked, which is no answer to record".to_string());
    }
    let mut output = RunOutput {
        code: output.code,
        stdout: without_dir(&without_times(&output.stdout), dir),
        stderr: without_dir(&output.stderr, dir),
    };
    if find(&output.stdout, b"$DIR").is_some() && find(&output.stdout, b"\"begin\"").is_some() {
        return Err("bytes_printed counts the name of the case directory; use a relative path, \
                    --files or -q"
            .to_string());
    }
    if run.unordered {
        output.stdout = in_order(&output.stdout);
        output.stderr = in_order(&output.stderr);
    }
    Ok(output)
}

/// Compares an answer with what was recorded: `None` when equal, else a message that names the
/// file, line, case and run, and shows what differs.
pub(crate) fn difference(
    file: &CaseFile,
    case: &Case,
    run: &Run,
    got: &RunOutput,
) -> Option<String> {
    if run.recorded.as_ref() == Some(got) {
        return None;
    }
    let title =
        format!("{}:{}: {}\n  run {}\n", file.name, run.line, case.name, run.shown.trim_end());
    let Some(recorded) = &run.recorded else {
        return Some(title + "  has no recorded answer\n");
    };
    let before: Vec<String> = format::shown_output(recorded);
    let after: Vec<String> = format::shown_output(got);
    Some(title + &changed_lines(&before, &after))
}

/// `-` lines are recorded, `+` lines are the new answer; equal lines at both ends are left out.
pub(crate) fn changed_lines(before: &[String], after: &[String]) -> String {
    let shorter = before.len().min(after.len());
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    let tail = tail.min(shorter - head);
    let mut text = String::new();
    if head > 0 {
        text.push_str(&format!("    ({head} equal)\n"));
    }
    for line in &before[head..before.len() - tail] {
        text.push_str(&format!("  - {line}\n"));
    }
    for line in &after[head..after.len() - tail] {
        text.push_str(&format!("  + {line}\n"));
    }
    if tail > 0 {
        text.push_str(&format!("    ({tail} equal)\n"));
    }
    text
}

/// Sets elapsed times to zero: in `end` and `summary` messages, and in the two `--stats` lines.
///
/// Only digits change. A time that has not rg's shape stays and shows up as a difference.
pub(crate) fn without_times(stdout: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(stdout.len());
    for line in stdout.split_inclusive(|&byte| byte == b'\n') {
        let is_end = line.starts_with(b"{\"type\":\"end\"");
        let is_summary = line.starts_with(b"{\"data\":{\"elapsed_total\"");
        if is_end || is_summary {
            let line = with_zeros(line, b"\"secs\":", &[Shape::Digits]);
            let line = with_zeros(&line, b"\"nanos\":", &[Shape::Digits]);
            let human = [Shape::Digits, Shape::Byte(b'.'), Shape::Six, Shape::Byte(b's')];
            clean.extend(with_zeros(&line, b"\"human\":\"", &human));
        } else if line.ends_with(b" seconds spent searching\n")
            || line.ends_with(b" seconds total\n")
        {
            clean.extend(with_zeros(line, b"", &[Shape::Digits, Shape::Byte(b'.'), Shape::Six]));
        } else {
            clean.extend(line);
        }
    }
    clean
}

/// A part of a printed time.
enum Shape {
    /// One or more digits, written back as one zero.
    Digits,
    /// Exactly six digits, written back as six zeros.
    Six,
    Byte(u8),
}

/// Writes zeros for every time of this shape that follows `key` (only at the start when `key`
/// is empty).
fn with_zeros(line: &[u8], key: &[u8], shapes: &[Shape]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = find(rest, key) {
        let (before, after) = rest.split_at(at + key.len());
        out.extend(before);
        rest = after;
        if let Some((zeros, length)) = zeroed(rest, shapes) {
            out.extend(zeros);
            rest = &rest[length..];
        }
        if key.is_empty() {
            break;
        }
    }
    out.extend(rest);
    out
}

fn zeroed(text: &[u8], shapes: &[Shape]) -> Option<(Vec<u8>, usize)> {
    let mut zeros = Vec::new();
    let mut at = 0;
    for shape in shapes {
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        match shape {
            Shape::Digits if digits > 0 => {
                zeros.push(b'0');
                at += digits;
            }
            Shape::Six if digits == 6 => {
                zeros.extend(b"000000");
                at += 6;
            }
            Shape::Byte(byte) if text.get(at) == Some(byte) => {
                zeros.push(*byte);
                at += 1;
            }
            _ => return None,
        }
    }
    Some((zeros, at))
}

/// Writes `$DIR` for the case directory.
pub(crate) fn without_dir(output: &[u8], dir: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    format::replaced(output, dir.as_os_str().as_bytes(), b"$DIR")
}

/// Sorts what may come in any order: whole blocks from `begin` to `end` in JSON, else paths or
/// lines. The summary is no block and keeps its place behind them.
pub(crate) fn in_order(output: &[u8]) -> Vec<u8> {
    let is_json = output.starts_with(b"{\"type\":\"begin\"");
    let terminator = if output.contains(&0) && !is_json { 0 } else { b'\n' };
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for line in output.split_inclusive(|&byte| byte == terminator) {
        let continues = is_json && !line.starts_with(b"{\"type\":\"begin\"");
        let is_summary = line.starts_with(b"{\"data\"");
        match blocks.last_mut() {
            Some(block) if continues && !is_summary => block.extend(line),
            _ => blocks.push(line.to_vec()),
        }
    }
    // `{"data"` sorts before `{"type"`, hence the explicit key.
    blocks.sort_by_key(|block| (block.starts_with(b"{\"data\""), block.clone()));
    blocks.concat()
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    bstr::ByteSlice::find(text, needle)
}
