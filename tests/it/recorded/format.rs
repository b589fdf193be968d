//! The text of a fixture file: parsing it, and writing recorded answers back into it.
//!
//! ```text
//! # A comment; it stays where it is when answers are recorded.
//! case an ignored directory is not entered
//! covers F92 G36
//! file .ignore "b/\n"
//! file b/x
//! file big "head\n" 40000*"x\n"
//!
//! run --files --sort path
//!   in b
//! exit 0
//! out| x
//! ```
//!
//! A case is a name, what it `covers` (see [`super::coverage`]), a tree and one or more runs.
//!
//! Words are shell-like: `bare`, `'verbatim'`, `"with \n \t \r \0 \\ \" \xHH"`, or several of
//! these glued together. A bare word holds no quote and no backslash. `$DIR` stands for the case
//! directory in arguments, values of the environment, contents of files and targets of links.
//!
//! | tree line | makes |
//! |---|---|
//! | `file PATH [PIECE..]` | a file, of quoted pieces; `N*"x"` repeats one |
//! | `files N PATH [PIECE..]` | N files; `{}` in the path counts 0, 1, .. with leading zeros |
//! | `dir PATH` | an empty directory |
//! | `link PATH TARGET` | a symbolic link |
//! | `fifo PATH [PIECE..]` | a FIFO; with pieces, a writer gives them to the first reader |
//! | `socket PATH` | a unix socket |
//! | `mode OCTAL PATH..` | permissions, set last |
//! | `mtime SECONDS PATH..`, `atime ..` | times since the epoch; of the link itself for a link |
//!
//! Parent directories are made as needed. After `run ARGS`, one a line:
//!
//! | setting | means |
//! |---|---|
//! | `in PATH` | working directory, below the case directory |
//! | `env NAME=VALUE..` | environment; it is empty otherwise |
//! | `stdin PIECE..` | a pipe with these bytes; the default is `/dev/null` |
//! | `stdin-file PATH`, `stdin-socket PIECE..`, `stdin-open` | a file, a socket, a silent open pipe |
//! | `stdout-file PATH` | standard output is appended to this file of the tree |
//! | `nonroot` | must not run as root: permissions matter |
//! | `unordered` | files come in any order; recorded in byte order |
//! | `cwd-removed` | the working directory (`in`) does not exist any more |
//!
//! The answer: `exit CODE`, then `out| TEXT` and `err| TEXT` for a line, or `out "BYTES"` and
//! `err "BYTES"` for output that is not a plain line of text; the pieces are joined.

use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// One fixture file.
pub(crate) struct CaseFile {
    /// File name, for messages.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) cases: Vec<Case>,
}

/// A tree and the runs made in it.
pub(crate) struct Case {
    pub(crate) name: String,
    /// The index entries this case stands for, ranges expanded.
    pub(crate) covers: Vec<String>,
    pub(crate) tree: Vec<Entry>,
    pub(crate) runs: Vec<Run>,
}

/// One thing to make in the case directory. Contents and targets may hold `$DIR`.
pub(crate) enum Entry {
    File { path: Vec<u8>, content: Vec<u8> },
    Dir { path: Vec<u8> },
    Link { path: Vec<u8>, target: Vec<u8> },
    Fifo { path: Vec<u8>, fed: Vec<u8> },
    Socket { path: Vec<u8> },
    Mode { path: Vec<u8>, mode: u32 },
    Time { path: Vec<u8>, kind: TimeKind, seconds: i64 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeKind {
    Accessed,
    Modified,
}

/// What a run finds as its standard input.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// `/dev/null`, which rg does not search.
    Null,
    Pipe(Vec<u8>),
    Socket(Vec<u8>),
    /// A regular file of the tree.
    File(PathBuf),
    /// A pipe that stays open and silent: reading it hangs.
    Open,
}

/// One call of rg.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) line: usize,
    /// The arguments as the fixture shows them.
    pub(crate) shown: String,
    pub(crate) args: Vec<OsString>,
    /// Below the case directory; empty for the case directory itself.
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) stdin: Stdin,
    pub(crate) stdout_file: Option<PathBuf>,
    pub(crate) nonroot: bool,
    pub(crate) unordered: bool,
    pub(crate) cwd_removed: bool,
    pub(crate) recorded: Option<RunOutput>,
    /// The lines that hold the recorded answer; empty at the place where it belongs.
    recorded_lines: Range<usize>,
}

/// What a run answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunOutput {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Run {
    /// This run with `$DIR` replaced by the case directory.
    pub(crate) fn resolved(&self, dir: &Path) -> Run {
        let mut run = self.clone();
        for arg in &mut run.args {
            *arg = with_dir(arg, dir);
        }
        for (_, value) in &mut run.env {
            *value = with_dir(value, dir);
        }
        run
    }
}

/// Parses a fixture file.
///
/// # Errors
///
/// The file name, the line, and what is wrong there.
pub(crate) fn parse(name: &str, text: String) -> Result<CaseFile, String> {
    let mut cases: Vec<Case> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        parse_line(&mut cases, at, line).map_err(|err| format!("{name}:{}: {err}", at + 1))?;
    }
    Ok(CaseFile { name: name.to_string(), text, cases })
}

fn parse_line(cases: &mut Vec<Case>, at: usize, line: &str) -> Result<(), String> {
    let length = line.find(|c: char| c.is_whitespace() || c == '|').unwrap_or(line.len());
    let (keyword, rest) = line.split_at(length);
    if keyword == "case" {
        let name = rest.trim().to_string();
        let (covers, tree, runs) = (Vec::new(), Vec::new(), Vec::new());
        cases.push(Case { name, covers, tree, runs });
        return Ok(());
    }
    let case = cases.last_mut().ok_or("expected a case first")?;
    let mut words = Cursor { rest };
    if keyword == "covers" {
        for id in rest.split_whitespace() {
            case.covers.extend(super::coverage::expanded(id)?);
        }
        return Ok(());
    }
    if keyword == "run" {
        let mut args = Vec::new();
        while let Some(word) = words.word()? {
            args.push(OsString::from_vec(word));
        }
        case.runs.push(Run {
            line: at + 1,
            shown: rest.trim().to_string(),
            args,
            cwd: PathBuf::new(),
            env: Vec::new(),
            stdin: Stdin::Null,
            stdout_file: None,
            nonroot: false,
            unordered: false,
            cwd_removed: false,
            recorded: None,
            recorded_lines: at + 1..at + 1,
        });
        return Ok(());
    }
    match case.runs.last_mut() {
        None => parse_entry(&mut case.tree, keyword, words),
        Some(run) if matches!(keyword, "exit" | "out" | "err") => {
            run.recorded_lines.end = at + 1;
            parse_answer(run, keyword, rest)
        }
        Some(run) => {
            run.recorded_lines = at + 1..at + 1;
            parse_setting(run, keyword, words)
        }
    }
}

fn parse_entry(tree: &mut Vec<Entry>, keyword: &str, mut words: Cursor) -> Result<(), String> {
    match keyword {
        "file" => {
            tree.push(Entry::File { path: words.needed("path")?, content: words.pieces()? });
        }
        "files" => {
            let count: usize = words.number("count")?;
            let path = words.needed("path")?;
            let content = words.pieces()?;
            let width = count.saturating_sub(1).to_string().len();
            for index in 0..count {
                let path = replaced(&path, b"{}", format!("{index:0width$}").as_bytes());
                tree.push(Entry::File { path, content: content.clone() });
            }
        }
        "dir" => tree.push(Entry::Dir { path: words.needed("path")? }),
        "link" => {
            let (path, target) = (words.needed("path")?, words.needed("target")?);
            tree.push(Entry::Link { path, target });
        }
        "fifo" => tree.push(Entry::Fifo { path: words.needed("path")?, fed: words.pieces()? }),
        "socket" => tree.push(Entry::Socket { path: words.needed("path")? }),
        "mode" => {
            let mode = String::from_utf8_lossy(&words.needed("mode")?).into_owned();
            let mode = u32::from_str_radix(&mode, 8).map_err(|err| format!("{mode}: {err}"))?;
            while let Some(path) = words.word()? {
                tree.push(Entry::Mode { path, mode });
            }
        }
        "mtime" | "atime" => {
            let kind = if keyword == "mtime" { TimeKind::Modified } else { TimeKind::Accessed };
            let seconds = words.number("seconds")?;
            while let Some(path) = words.word()? {
                tree.push(Entry::Time { path, kind, seconds });
            }
        }
        _ => return Err(format!("unknown tree line {keyword:?}")),
    }
    words.end()
}

fn parse_setting(run: &mut Run, keyword: &str, mut words: Cursor) -> Result<(), String> {
    match keyword {
        "in" => run.cwd = path(words.needed("path")?),
        "env" => {
            while let Some(word) = words.word()? {
                let equals = word.iter().position(|&byte| byte == b'=');
                let equals = equals.ok_or("expected NAME=VALUE")?;
                let value = OsString::from_vec(word[equals + 1..].to_vec());
                run.env.push((OsString::from_vec(word[..equals].to_vec()), value));
            }
        }
        "stdin" => run.stdin = Stdin::Pipe(words.pieces()?),
        "stdin-socket" => run.stdin = Stdin::Socket(words.pieces()?),
        "stdin-file" => run.stdin = Stdin::File(path(words.needed("path")?)),
        "stdin-open" => run.stdin = Stdin::Open,
        "stdout-file" => run.stdout_file = Some(path(words.needed("path")?)),
        "nonroot" => run.nonroot = true,
        "unordered" => run.unordered = true,
        "cwd-removed" => run.cwd_removed = true,
        _ => return Err(format!("unknown setting {keyword:?}")),
    }
    words.end()
}

fn parse_answer(run: &mut Run, keyword: &str, rest: &str) -> Result<(), String> {
    let recorded = run.recorded.get_or_insert_default();
    if keyword == "exit" {
        recorded.code = rest.trim().parse().map_err(|_| "exit needs a number")?;
        return Ok(());
    }
    let stream = if keyword == "out" { &mut recorded.stdout } else { &mut recorded.stderr };
    match rest.strip_prefix('|') {
        Some(text) => {
            stream.extend(text.strip_prefix(' ').unwrap_or(text).as_bytes());
            stream.push(b'\n');
        }
        None => stream.extend(Cursor { rest }.pieces()?),
    }
    Ok(())
}

/// The file's text with new answers in the order of its runs. The same answers give the same
/// text: recording again without a change makes no difference.
pub(crate) fn with_answers(file: &CaseFile, answers: &[RunOutput]) -> String {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut text = String::with_capacity(file.text.len());
    let mut next = 0;
    let mut push = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let runs = file.cases.iter().flat_map(|case| &case.runs);
    for (run, answer) in runs.zip(answers) {
        lines[next..run.recorded_lines.start].iter().for_each(|line| push(line));
        shown_output(answer).iter().for_each(|line| push(line));
        next = run.recorded_lines.end;
    }
    lines[next..].iter().for_each(|line| push(line));
    text
}

/// An answer as fixture lines.
pub(crate) fn shown_output(output: &RunOutput) -> Vec<String> {
    let mut lines = vec![format!("exit {}", output.code)];
    for (name, stream) in [("out", &output.stdout), ("err", &output.stderr)] {
        for line in stream.split_inclusive(|&byte| byte == b'\n' || byte == 0) {
            match plain_line(line) {
                Some("") => lines.push(format!("{name}|")),
                Some(text) => lines.push(format!("{name}| {text}")),
                None => lines.push(format!("{name} \"{}\"", escaped(line))),
            }
        }
    }
    lines
}

/// The line's text when a reader sees exactly what it is: UTF-8, ended by `\n`, nothing invisible.
fn plain_line(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    (!text.chars().any(is_invisible) && !text.ends_with(' ')).then_some(text)
}

fn is_invisible(c: char) -> bool {
    c.is_control() || (c.is_whitespace() && c != ' ') || c == '\u{feff}'
}

/// The inside of a `"…"`.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\0' => text.push_str("\\0"),
                '"' | '\\' => text.extend(['\\', c]),
                _ if is_invisible(c) => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        text.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                _ => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Reads words and pieces off the front of a line.
struct Cursor<'a> {
    rest: &'a str,
}

impl Cursor<'_> {
    /// The next word, or `None` at the end of the line.
    fn word(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let mut word = Vec::new();
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' => word.extend(self.quoted()?),
                '\'' => {
                    let inner = &self.rest[1..];
                    let length = inner.find('\'').ok_or("a ' is not closed")?;
                    word.extend(&inner.as_bytes()[..length]);
                    self.rest = &inner[length + 1..];
                }
                '\\' => return Err("a backslash outside of quotes".to_string()),
                _ if c.is_whitespace() => break,
                _ => {
                    let mut buffer = [0; 4];
                    word.extend(c.encode_utf8(&mut buffer).as_bytes());
                    self.rest = &self.rest[c.len_utf8()..];
                }
            }
        }
        Ok(Some(word))
    }

    /// A `"…"` with escapes; the cursor stands on the opening quote.
    fn quoted(&mut self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut chars = self.rest[1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 2..];
                    return Ok(bytes);
                }
                '\\' => match chars.next().map(|(_, escape)| escape) {
                    Some('n') => bytes.push(b'\n'),
                    Some('t') => bytes.push(b'\t'),
                    Some('r') => bytes.push(b'\r'),
                    Some('0') => bytes.push(0),
                    Some(c @ ('"' | '\\')) => bytes.push(c as u8),
                    Some('x') => {
                        let digits: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                        let byte = u8::from_str_radix(&digits, 16);
                        bytes.push(byte.map_err(|_| format!("\\x{digits}: no byte"))?);
                    }
                    other => return Err(format!("unknown escape {other:?}")),
                },
                _ => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Err("a \" is not closed".to_string())
    }

    /// All pieces up to the end of the line, joined.
    fn pieces(&mut self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() {
                return Ok(bytes);
            }
            let mut count = 1;
            if let Some((number, rest)) = self.rest.split_once('*')
                && let Ok(number) = number.parse()
            {
                count = number;
                self.rest = rest;
            }
            if !self.rest.starts_with('"') {
                return Err(format!("expected a quoted piece at {:?}", self.rest));
            }
            bytes.extend(self.quoted()?.repeat(count));
        }
    }

    fn needed(&mut self, what: &str) -> Result<Vec<u8>, String> {
        self.word()?.ok_or_else(|| format!("expected a {what}"))
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, String> {
        let word = String::from_utf8_lossy(&self.needed(what)?).into_owned();
        word.parse().map_err(|_| format!("{word:?} is no {what}"))
    }

    fn end(&mut self) -> Result<(), String> {
        match self.word()? {
            None => Ok(()),
            Some(word) => Err(format!("{:?} is too much", String::from_utf8_lossy(&word))),
        }
    }
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

fn with_dir(text: &OsString, dir: &Path) -> OsString {
    OsString::from_vec(replaced(text.as_bytes(), b"$DIR", dir.as_os_str().as_bytes()))
}

/// `text` with every `from` replaced by `to`.
pub(crate) fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = bstr::ByteSlice::find(rest, from) {
        out.extend(&rest[..at]);
        out.extend(to);
        rest = &rest[at + from.len()..];
    }
    out.extend(rest);
    out
}
