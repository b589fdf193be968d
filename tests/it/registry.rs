//! The binary over a real tree, the sources that cargo has unpacked, against the most naive search
//! there is.

use regex::bytes::Regex;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file is left as binary when a NUL is among its first bytes. What happens with a later one is
/// a matter of buffers, and tested elsewhere.
const BINARY_BYTES: usize = 1 << 16;

type Found = BTreeMap<PathBuf, Vec<u64>>;

fn registry() -> PathBuf {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.expect("cargo has a home").join("registry").join("src");
    assert!(
        sources.is_dir(),
        "{} is not there, and this test was built from it",
        sources.display()
    );
    sources
}

fn naive_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        let vcs = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];
        if vcs.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if kind.is_dir() {
            naive_files(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}

/// The lines that match, by file; and the files that this search is too naive for.
fn naive_search(files: &[PathBuf], pattern: &str) -> (Found, Vec<PathBuf>) {
    let regex = Regex::new(pattern).unwrap();
    let (mut found, mut left_out) = (Found::new(), Vec::new());
    for file in files {
        let bytes = std::fs::read(file).unwrap();
        let nul = bytes.iter().position(|&byte| byte == 0);
        if nul.is_some_and(|at| at >= BINARY_BYTES)
            || bytes.starts_with(b"\xff\xfe")
            || bytes.starts_with(b"\xfe\xff")
        {
            left_out.push(file.clone());
        } else if nul.is_none() {
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
            let lines = text.split_inclusive(|&byte| byte == b'\n');
            let numbers: Vec<u64> = (1..)
                .zip(lines)
                .filter(|(_, line)| regex.is_match(line.strip_suffix(b"\n").unwrap_or(line)))
                .map(|(number, _)| number)
                .collect();
            if !numbers.is_empty() {
                found.insert(file.clone(), numbers);
            }
        }
    }
    (found, left_out)
}

fn our_search(root: &Path, pattern: &str) -> Found {
    let output = Command::new(env!("CARGO_BIN_EXE_ingrep"))
        .args(["grep", "--json", "-e", pattern, pattern, "--path"])
        .arg(root)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["summary"]["end"], "complete");
    let number = |line: &serde_json::Value| line["number"].as_u64().unwrap();
    let file = |file: &serde_json::Value| {
        let data = serde_json::from_value::<ingrep::wire::rg::Data>(file["path"].clone()).unwrap();
        let path = PathBuf::from(OsStr::from_bytes(data.as_bytes()));
        (path, file["lines"].as_array().unwrap().iter().map(number).collect())
    };
    document["files"].as_array().unwrap().iter().map(file).collect()
}

#[test]
#[ignore = "reads a hundred megabytes five times: CI does"]
fn the_sources_of_cargo_are_searched_as_by_the_naive_twin() {
    let root = registry();
    let mut files = Vec::new();
    naive_files(&root, &mut files);
    for pattern in
        ["unsafe", r"fn main\(", r"(?i)todo|fixme", r"^\s*pub struct \w+", "[^\\x00-\\x7F]"]
    {
        let (expected, left_out) = naive_search(&files, pattern);
        let mut ours = our_search(&root, pattern);
        left_out.iter().for_each(|file| _ = ours.remove(file));
        let lines: usize = ours.values().map(Vec::len).sum();
        println!("{pattern}: {} of {} files, {lines} lines", ours.len(), files.len());
        assert!(ours == expected, "{pattern}: {:?}", first_difference(&ours, &expected));
        assert!(!ours.is_empty(), "{pattern} is found nowhere, which compares nothing");
    }
}

fn first_difference(ours: &Found, expected: &Found) -> Option<(PathBuf, Vec<u64>, Vec<u64>)> {
    let files = ours.keys().chain(expected.keys());
    let of = |found: &Found, file: &PathBuf| found.get(file).cloned().unwrap_or_default();
    files.map(|file| (file.clone(), of(ours, file), of(expected, file))).find(|(_, a, b)| a != b)
}
