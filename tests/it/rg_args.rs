//! The flag table and the parser against the real ripgrep.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::recorded::oracle;
use ingrep::rg::args::{
    Args, BinaryFiles, Boundary, Buffering, Case, Color, Context, Encoding, Engine, Generate,
    LineTerminator, Log, Mmap, Mode, Order, Parsed, PatternSource, Preprocess, Reach, SortKey,
    Special, TypeChange, operands, parse,
};
use ingrep::rg::flags::{Arity, FLAGS, Flag};

fn rg(cwd: &Path, argv: &[OsString]) -> Output {
    Command::new(oracle::program().unwrap())
        .args(argv)
        .current_dir(cwd)
        .env_clear()
        .env("HOME", cwd)
        .stdin(Stdio::null())
        .output()
        .expect("the oracle is a program")
}

fn rg_text(argv: &[&str]) -> String {
    let argv: Vec<OsString> = argv.iter().map(Into::into).collect();
    let cwd = tempfile::tempdir().unwrap();
    String::from_utf8(rg(cwd.path(), &argv).stdout).unwrap()
}

#[test]
fn the_oracle_is_the_right_one() {
    assert!(rg_text(&["--version"]).starts_with("ripgrep 15.2.0\n"));
}

#[test]
fn the_table_has_every_name_of_the_oracle_in_its_order() {
    let script = rg_text(&["--generate=complete-bash"]);
    let names = script.lines().find_map(|line| line.trim().strip_prefix("opts=\"--")).unwrap();
    let names: Vec<String> = format!("--{names}")
        .split(' ')
        .filter(|name| name.starts_with('-'))
        .map(str::to_owned)
        .collect();
    let mut ours = Vec::new();
    for flag in FLAGS {
        ours.push(format!("--{}", flag.long));
        ours.extend(flag.short.map(|letter| format!("-{letter}")));
        ours.extend(flag.negated.map(|name| format!("--{name}")));
    }
    assert_eq!(ours, names);
}

#[test]
fn the_table_has_every_flag_and_value_of_the_help_pages() {
    let expected = |page: &str, indent: &str| -> BTreeSet<(Option<char>, String, bool)> {
        let mut found = BTreeSet::new();
        for line in page.lines() {
            let Some(line) = line.strip_prefix(indent).filter(|line| line.starts_with('-')) else {
                continue;
            };
            let usage = line.split("  ").next().unwrap();
            let mut parts = usage.rsplit(", ");
            let long = parts.next().unwrap().strip_prefix("--").unwrap();
            let short = parts.next().map(|part| part.chars().nth(1).unwrap());
            let (name, value) = long.split_once('=').map_or((long, false), |(it, _)| (it, true));
            found.insert((short, name.to_owned(), value));
        }
        found
    };
    let ours: BTreeSet<_> = FLAGS
        .iter()
        .map(|flag| (flag.short, flag.long.to_owned(), flag.arity != Arity::Switch))
        .collect();
    assert_eq!(expected(&rg_text(&["-h"]), "  "), ours);
    assert_eq!(expected(&rg_text(&["--help"]), "    "), ours);
}

/// Compares one argv with the oracle: the same start-up error, or none on either side.
struct Comparison {
    cwd: tempfile::TempDir,
    special: Vec<(Special, Vec<u8>)>,
    seen: BTreeSet<Vec<OsString>>,
    counts: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

impl Comparison {
    fn new() -> Comparison {
        let cwd = tempfile::tempdir().unwrap();
        let special = [
            (Special::ShortHelp, "-h"),
            (Special::LongHelp, "--help"),
            (Special::ShortVersion, "-V"),
            (Special::LongVersion, "--version"),
            (Special::Pcre2Version, "--pcre2-version"),
        ]
        .map(|(special, flag)| (special, rg(cwd.path(), &[flag.into()]).stdout))
        .to_vec();
        Comparison {
            cwd,
            special,
            seen: BTreeSet::new(),
            counts: BTreeMap::new(),
            differences: Vec::new(),
        }
    }

    fn check(&mut self, argv: Vec<OsString>) {
        if !self.seen.insert(argv.clone()) {
            return;
        }
        let theirs = rg(self.cwd.path(), &argv);
        let stderr = String::from_utf8_lossy(&theirs.stderr);
        let logged = |line: &&str| line.starts_with("rg: DEBUG|") || line.starts_with("rg: TRACE|");
        let stderr: String = stderr.split_inclusive('\n').filter(|line| !logged(line)).collect();
        let parsed = parse(argv.clone());
        let error = match &parsed {
            Err(error) => Some(error.clone()),
            Ok(Parsed::Special(_)) => None,
            Ok(Parsed::Args(args)) => operands(args).err(),
        };
        let (kind, same) = match (&parsed, &error) {
            (_, Some(error)) => {
                ("refused", stderr == format!("rg: {error}\n") && theirs.status.code() == Some(2))
            }
            (Ok(Parsed::Special(special)), None) => {
                let shown = self.special.iter().find(|(it, _)| it == special).unwrap();
                ("special", theirs.stdout == shown.1)
            }
            _ => {
                let starts = [
                    "unrecognized flag ",
                    "missing value for flag ",
                    "error parsing flag ",
                    "invalid CLI arguments: ",
                    "ripgrep requires at least one pattern",
                    "pattern given is not valid UTF-8",
                ];
                let text = stderr.strip_prefix("rg: ").unwrap_or_default();
                ("accepted", !starts.iter().any(|start| text.starts_with(start)))
            }
        };
        *self.counts.entry(kind).or_default() += 1;
        if !same {
            self.differences.push(format!("{argv:?}\n  ours: {error:?}\n  rg:   {stderr}"));
        }
    }

    fn finish(self, what: &str) {
        println!("{what}: {:?}, {} differences", self.counts, self.differences.len());
        let shown = self.differences.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.differences.is_empty(), "{} differ\n{shown}", self.differences.len());
    }
}

fn os(bytes: impl AsRef<[u8]>) -> OsString {
    OsStr::from_bytes(bytes.as_ref()).to_owned()
}

fn join(parts: &[&[u8]]) -> OsString {
    OsString::from_vec(parts.concat())
}

/// Every spelling of a flag: long, alias, letter, letter after two dashes.
fn spellings(flag: &Flag) -> Vec<String> {
    let mut names: Vec<String> =
        [flag.long].iter().chain(flag.aliases).map(|name| format!("--{name}")).collect();
    names.extend(flag.short.map(|letter| format!("-{letter}")));
    names.extend(flag.short.map(|letter| format!("--{letter}")));
    names
}

/// Values that some flag takes and another does not. No number is so large that a number of threads
/// could do harm; the values that name programs name none that exist.
const VALUES: &[&[u8]] = &[
    b"",
    b"0",
    b"1",
    b"2",
    b"+2",
    b"007",
    b"-1",
    b"-",
    b"--",
    b"x",
    b" 3",
    b"3 ",
    b"1.5",
    b"1e3",
    b"0x1",
    b"18446744073709551616",
    b"99999999999999999999999K",
    b"34359738368G",
    b"5B",
    b"45k",
    b"1K",
    b"2M",
    b"3G",
    b"K",
    b"KK",
    b"1KK",
    b"+1K",
    b"17179869183G",
    b"17179869184G",
    b"\xff",
    b"a\xffb",
    "\u{e9}".as_bytes(),
    "\u{663}".as_bytes(),
    "1\u{e9}".as_bytes(),
    b"=",
    b"=1",
    b"--hidden",
    b"never",
    b"auto",
    b"always",
    b"ansi",
    b"Always",
    b"none",
    b"path",
    b"modified",
    b"accessed",
    b"created",
    b"Path",
    b"default",
    b"pcre2",
    b"utf-8",
    b"UTF-8",
    b" utf-8\n",
    b"utf-16",
    b"replacement",
    b"csiso2022kr",
    b"latin1",
    b"NONE",
    b"bogus",
    b"man",
    b"complete-bash",
    b"complete-zsh",
    b"complete-fish",
    b"complete-powershell",
    b"rust",
    b"rust:*.rs",
    b"\\n",
    b"\\x",
    b"\\x4",
    b"\\x41",
    b"\\x4g",
    b"\\xff\\xfe",
    b"\\q",
    b"\\",
    b"ab",
    b"\\n\\t",
    b"path:fg:red",
    b"path:bg:0x1F",
    b"line:style:bold",
    b"match:none",
    b"match:none:x",
    b"a:fg:red",
    b"path:x:red",
    b"path:fg",
    b"path:fg:",
    b"path:fg:256",
    b"path:fg:c",
    b"path:fg:0xg",
    b"path:fg:1,2,3",
    b"path:fg:1,2",
    b"path:fg:0x1,0xFF,+3",
    b"path:fg:1,2,3,4",
    b"path:fg:,,",
    b"path:fg:0x+1",
    b"path:fg:0xFFF",
    b"path:fg:-0",
    b"path:FG:Red",
    b"COLUMN:Style:NoItalic",
    b"path:style:x",
    b"path:style",
    b"::",
    b":::",
    b"path:",
    b"highlight:none:a:b",
    "path:fg:\u{e9}".as_bytes(),
    "path:fg:\u{e9},1,2".as_bytes(),
    "blac\u{212a}:fg:red".as_bytes(),
    "line:fg:blac\u{212a}".as_bytes(),
    b"path:fg: 1",
    b"path:fg:1,",
    b"path:fg:red,1,2",
    b"{path}",
    b"file://{path}",
    b"file://{path}:{line}:{column}",
    b"a:{path}{column}",
    b"a:{line}",
    b"{",
    b"}",
    b"{{",
    b"}}",
    b"{{path}}",
    b"a:{{{path}",
    b"{{a:{path}",
    b"a:{path}}}",
    b"a:{path}}",
    b"a:{{}}{path}",
    b"a{host}:{path}",
    b"{host}a:{path}",
    b":{path}",
    b"a_:{path}",
    b"a+.-9:{path}",
    b"a:{p}",
    b"a:{}",
    b"a:{path",
    b"a:{{path}",
    b"vscode",
    b"grep+",
    b"a:{path}{line}{wslprefix}",
    b"a:b:{path}",
    b"a{{:{path}",
    b"}}:{path}",
    b"a:x}{path}",
    "\u{e9}:{path}".as_bytes(),
];

#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn every_flag_in_every_form_is_read_as_the_oracle_reads_it() {
    let mut comparison = Comparison::new();
    for flag in FLAGS {
        for name in spellings(flag) {
            let long = name.starts_with("--");
            let alone = |rest: &[&str]| {
                let mut argv = vec![os(&name)];
                argv.extend(rest.iter().map(os));
                argv
            };
            comparison.check(alone(&[]));
            comparison.check(alone(&["--files"]));
            comparison.check(alone(&["p"]));
            comparison.check(alone(&["p", "--json"]));
            comparison.check(alone(&["--", "p"]));
            comparison.check(vec![os("--files"), os(&name)]);
            if flag.arity == Arity::Switch {
                for value in [&b""[..], b"x", b"\xff", b"\"\n", "\u{e9}".as_bytes()] {
                    comparison.check(vec![os("--files"), join(&[name.as_bytes(), b"=", value])]);
                }
                if !long {
                    for tail in [&b"i"[..], b"X", b"A1", b"A", b"A=1", b"\xff", b"i=", b"h", b"-"] {
                        comparison.check(vec![os("--files"), join(&[name.as_bytes(), tail])]);
                    }
                }
                continue;
            }
            // The long name meets every value, the others meet a sample.
            let step = if name[2..] == *flag.long { 1 } else { 5 };
            for value in VALUES.iter().step_by(step) {
                comparison.check(vec![os("--files"), os(&name), os(value)]);
                comparison.check(vec![os("--files"), join(&[name.as_bytes(), b"=", value])]);
                if !long {
                    comparison.check(vec![os("--files"), join(&[name.as_bytes(), value])]);
                    comparison
                        .check(vec![os("--files"), join(&[b"-i", &name.as_bytes()[1..], value])]);
                }
            }
        }
        if let Some(negated) = flag.negated {
            comparison.check(vec![os(format!("--{negated}")), os("--files")]);
            comparison.check(vec![os(format!("--{negated}")), os("x"), os("--files")]);
            comparison.check(vec![os(format!("--{negated}=x")), os("--files")]);
            comparison.check(vec![os(format!("--{negated}=")), os("--files")]);
        } else {
            comparison.check(vec![os(format!("--no-{}", flag.long)), os("--files")]);
        }
        if let Some(rest) = flag.long.strip_prefix("no-") {
            comparison.check(vec![os(format!("--{rest}")), os("--files")]);
        }
        for &alias in flag.aliases {
            comparison.check(vec![os(format!("--no-{alias}")), os("--files")]);
        }
    }
    for byte in 0..=255u8 {
        if byte != 0 {
            comparison.check(vec![os("--files"), os([b'-', byte])]);
            comparison.check(vec![os("--files"), os([b'-', b'-', byte])]);
            comparison.check(vec![os("--files"), os([b'-', b'-', byte, b'=', b'1'])]);
        }
    }
    comparison.finish("systematic");
}

#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn misspelt_names_get_the_same_suggestions() {
    let mut random = Random(0x5eed);
    let mut comparison = Comparison::new();
    let names: Vec<&str> = FLAGS.iter().flat_map(Flag::long_names).collect();
    for name in &names {
        for end in 1..name.len() {
            if end % 3 == 0 || end + 3 > name.len() {
                comparison.check(vec![os(format!("--{}", &name[..end])), os("1")]);
            }
        }
        comparison.check(vec![os(format!("--{}", name.to_uppercase())), os("1")]);
        comparison.check(vec![os(format!("--{}", name.replace('-', "_"))), os("1")]);
        comparison.check(vec![os(format!("--{name}{name}")), os("1")]);
        comparison.check(vec![join(&[b"--", name.as_bytes(), b"\xff"]), os("1")]);
    }
    for _ in 0..1500 {
        let mut name = random.pick(&names).as_bytes().to_vec();
        if random.below(4) == 0 {
            let other = random.pick(&names);
            name.truncate(random.below(name.len()) + 1);
            name.extend_from_slice(&other.as_bytes()[random.below(other.len())..]);
        }
        for _ in 0..=random.below(3) {
            random.spoil(&mut name);
        }
        comparison.check(vec![join(&[b"--", &name])]);
    }
    comparison.finish("misspelt");
}

#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn random_argvs_are_read_as_the_oracle_reads_them() {
    let mut random = Random(0xfeed);
    let mut comparison = Comparison::new();
    for _ in 0..3000 {
        let argv = (0..=random.below(5)).flat_map(|_| random.argument()).collect();
        comparison.check(argv);
    }
    comparison.finish("random");
}

/// The meaning of an argv: it and the argv rebuilt from our reading of it must do the same.
#[test]
#[ignore = "asks the real rg thousands of times: CI does"]
fn the_reading_of_an_argv_means_the_same_as_the_argv() {
    let tree = tree();
    let mut random = Random(0xbeef);
    let mut differences = Vec::new();
    let mut counts = BTreeMap::<String, usize>::new();
    for _ in 0..1500 {
        let argv = random.meaningful_argv();
        let Ok(Parsed::Args(args)) = parse(argv.clone()) else {
            panic!("{argv:?} should be accepted");
        };
        let rebuilt = rebuild(&args);
        assert_eq!(parse(rebuilt.clone()).map(mode_of), Ok(mode_of(Parsed::Args(args.clone()))));
        let mut expected = comparable(rg(tree.path(), &argv));
        let mut actual = comparable(rg(tree.path(), &rebuilt));
        // A quiet search ends at its first match; what other threads have complained of by then is
        // chance.
        if args.quiet && expected.0 == 0 {
            expected.2.clear();
            actual.2.clear();
        }
        *counts.entry(format!("{:?} exit {}", args.mode, expected.0)).or_default() += 1;
        if expected != actual {
            differences.push(format!("{argv:?}\n{rebuilt:?}\n{expected:?}\n{actual:?}"));
        }
    }
    println!("meaning: {counts:?}, {} differences", differences.len());
    let shown = differences.iter().take(10).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(differences.is_empty(), "{} differ\n{shown}", differences.len());
}

fn mode_of(parsed: Parsed) -> Option<Mode> {
    match parsed {
        Parsed::Args(args) => Some(args.mode),
        Parsed::Special(_) => None,
    }
}

/// A tree on which most flags make a difference.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("a.rs", b"foo\nbar\nFoo bar\n  foobar\nbaz\nqux\nfoo.\n");
    write("b.py", b"foo\r\nbar foo\r\n\r\nx\r\n");
    write("c.txt", b"foo\nba\0r\nfoo\nx\n");
    write("n.txt", b"bar\0foo\0x\0foo bar\0");
    write("u.txt", b"\xff\xfef\0o\0o\0\n\0\xe9\0\n\0");
    write("l.txt", b"caf\xe9 foo\n");
    write("B.RS", b"foo\nbar\nbar\nfoo\nfoo\n");
    write(".hid/x.rs", b"foo\n");
    write(".dot", b"foo bar\n");
    write("sub/.git/info/exclude", b"excluded\n");
    write("sub/.gitignore", b"vcs\n");
    write("sub/.ignore", b"dotted\nLOUD\n");
    write("sub/deep/er/still.rs", b"foo\n");
    for name in ["vcs", "dotted", "excluded", "loud", "plain"] {
        write(&format!("sub/{name}"), b"foo\n");
    }
    write("norepo/.gitignore", b"vcs\n{bad\n");
    write("norepo/vcs", b"foo\n");
    write("big", &b"foo bar baz\n".repeat(200));
    write("rules", b"a.rs\nnorepo\n");
    write("patterns", b"bar\nba.\n");
    write(".gitconfig", b"[core]\nexcludesFile = ~/.global\n");
    write(".global", b"plain\n");
    std::os::unix::fs::symlink("sub", dir.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("broken")).unwrap();
    dir
}

/// Exit code, stdout lines and stderr lines without what differs between two runs.
fn comparable(output: Output) -> (i32, Vec<String>, Vec<String>) {
    let lines = |bytes: &[u8]| {
        let mut lines: Vec<String> = String::from_utf8_lossy(bytes)
            .split(['\n', '\0'])
            .map(|line| {
                let mut line = line.to_owned();
                for key in ["\"elapsed\":{", "\"elapsed_total\":{"] {
                    if let Some(start) = line.find(key) {
                        let end = start + line[start..].find('}').unwrap();
                        line.replace_range(start..end, "");
                    }
                }
                line
            })
            .collect();
        lines.sort();
        lines
    };
    let timed = |line: &String| !line.contains(" seconds ");
    let stdout = lines(&output.stdout).into_iter().filter(timed).collect();
    (output.status.code().unwrap_or(-1), stdout, lines(&output.stderr))
}

/// An argv with each field of `Args` said once, in an order of our own.
fn rebuild(args: &Args) -> Vec<OsString> {
    let mut argv = Vec::new();
    let mut flag = |name: &str| argv.push(os(name));
    let each = |name: &str, given: bool, flag: &mut dyn FnMut(&str)| {
        if given {
            flag(name);
        }
    };
    each("-F", args.fixed_strings, &mut flag);
    each("-v", args.invert_match, &mut flag);
    each("--no-unicode", !args.unicode, &mut flag);
    each("--multiline-dotall", args.multiline_dotall, &mut flag);
    each("--glob-case-insensitive", args.glob_case_insensitive, &mut flag);
    each("--hidden", args.hidden, &mut flag);
    each("--follow", args.follow, &mut flag);
    each("--no-ignore-dot", !args.ignore.dot, &mut flag);
    each("--no-ignore-exclude", !args.ignore.exclude, &mut flag);
    each("--no-ignore-files", !args.ignore.files, &mut flag);
    each("--no-ignore-global", !args.ignore.global, &mut flag);
    each("--no-ignore-parent", !args.ignore.parent, &mut flag);
    each("--no-ignore-vcs", !args.ignore.vcs, &mut flag);
    each("--no-require-git", !args.ignore.require_git, &mut flag);
    each("--ignore-file-case-insensitive", args.ignore_file_case_insensitive, &mut flag);
    each("--one-file-system", args.one_file_system, &mut flag);
    each("-q", args.quiet, &mut flag);
    each("-0", args.null, &mut flag);
    each("--stats", args.stats, &mut flag);
    each("--no-messages", !args.messages, &mut flag);
    each("--no-ignore-messages", !args.ignore_messages, &mut flag);
    each("--no-config", !args.config, &mut flag);
    each("-b", args.text.byte_offset, &mut flag);
    each("--column", args.text.column == Some(true), &mut flag);
    each("--no-column", args.text.column == Some(false), &mut flag);
    each("--no-context-separator", args.text.context_separator.is_none(), &mut flag);
    each("--include-zero", args.text.include_zero, &mut flag);
    each("--max-columns-preview", args.text.max_columns_preview, &mut flag);
    each("-o", args.text.only_matching, &mut flag);
    each("--trim", args.text.trim, &mut flag);
    each("--vimgrep", args.text.vimgrep, &mut flag);
    match args.case {
        Case::Sensitive => {}
        Case::Insensitive => flag("-i"),
        Case::Smart => flag("-S"),
    }
    match args.boundary {
        Boundary::None => {}
        Boundary::Word => flag("-w"),
        Boundary::Line => flag("-x"),
    }
    match args.engine {
        Engine::Default => {}
        Engine::Pcre2 => flag("--engine=pcre2"),
        Engine::Auto => flag("--engine=auto"),
    }
    match args.line_terminator {
        LineTerminator::Lf => {}
        LineTerminator::Crlf => flag("--crlf"),
        LineTerminator::Nul => flag("--null-data"),
    }
    match args.reach {
        Reach::Line => {}
        Reach::MultiLine => flag("--multiline"),
        Reach::StopOnNonmatch => flag("--stop-on-nonmatch"),
    }
    match args.mmap {
        Mmap::Auto => {}
        Mmap::Always => flag("--mmap"),
        Mmap::Never => flag("--no-mmap"),
    }
    match args.binary {
        BinaryFiles::Auto => {}
        BinaryFiles::Search => flag("--binary"),
        BinaryFiles::Text => flag("--text"),
    }
    match args.color {
        Color::Never => flag("--color=never"),
        Color::Auto => {}
        Color::Always => flag("--color=always"),
        Color::Ansi => flag("--color=ansi"),
    }
    match args.buffering {
        Buffering::Auto => {}
        Buffering::Line => flag("--line-buffered"),
        Buffering::Block => flag("--block-buffered"),
    }
    match args.log {
        Log::Off => {}
        Log::Debug => flag("--debug"),
        Log::Trace => flag("--trace"),
    }
    match args.text.heading {
        None => {}
        Some(true) => flag("--heading"),
        Some(false) => flag("--no-heading"),
    }
    match args.line_number {
        None => {}
        Some(true) => flag("-n"),
        Some(false) => flag("-N"),
    }
    match args.text.with_filename {
        None => {}
        Some(true) => flag("-H"),
        Some(false) => flag("-I"),
    }
    match args.mode {
        Mode::Text => {}
        Mode::Json => flag("--json"),
        Mode::FilesWithMatches => flag("-l"),
        Mode::FilesWithoutMatch => flag("--files-without-match"),
        Mode::Count => flag("-c"),
        Mode::CountMatches => flag("--count-matches"),
        Mode::Files => flag("--files"),
        Mode::TypeList => flag("--type-list"),
        Mode::Generate(kind) => flag(match kind {
            Generate::Man => "--generate=man",
            Generate::CompleteBash => "--generate=complete-bash",
            Generate::CompleteZsh => "--generate=complete-zsh",
            Generate::CompleteFish => "--generate=complete-fish",
            Generate::CompletePowershell => "--generate=complete-powershell",
        }),
    }
    if let Some(sort) = args.sort {
        let name = if sort.order == Order::Ascending { "--sort" } else { "--sortr" };
        let key = match sort.key {
            SortKey::Path => "path",
            SortKey::Modified => "modified",
            SortKey::Accessed => "accessed",
            SortKey::Created => "created",
        };
        flag(&format!("{name}={key}"));
    }
    match args.context {
        Context::Passthru => flag("--passthru"),
        Context::Limited { before, after, both } => {
            for (name, lines) in [("-B", before), ("-A", after), ("-C", both)] {
                if let Some(lines) = lines {
                    flag(&format!("{name}{lines}"));
                }
            }
        }
    }
    let numbers = [
        ("--regex-size-limit", args.regex_size_limit.map(|it| it as u64)),
        ("--dfa-size-limit", args.dfa_size_limit.map(|it| it as u64)),
        ("--max-count", args.max_count),
        ("--threads", args.threads.map(|it| it as u64)),
        ("--max-depth", args.max_depth.map(|it| it as u64)),
        ("--max-filesize", args.max_filesize),
        ("--max-columns", args.text.max_columns),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            flag(&format!("{name}={number}"));
        }
    }
    let escaped =
        |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect() };
    if let Some(separator) = &args.text.context_separator {
        flag(&format!("--context-separator={}", escaped(separator)));
    }
    flag(&format!("--field-context-separator={}", escaped(&args.text.field_context_separator)));
    flag(&format!("--field-match-separator={}", escaped(&args.text.field_match_separator)));
    if let Some(byte) = args.path_separator {
        flag(&format!("--path-separator={}", escaped(&[byte])));
    }
    let mut texts: Vec<(&str, OsString)> = Vec::new();
    texts.extend(args.replace.iter().map(|it| ("--replace=", it.into())));
    match &args.encoding {
        Encoding::Auto => {}
        Encoding::Raw => texts.push(("--encoding=", "none".into())),
        Encoding::Label(label) => texts.push(("--encoding=", label.into())),
    }
    match &args.preprocess {
        Preprocess::None => {}
        Preprocess::Command(command) => texts.push(("--pre=", command.clone())),
        Preprocess::Decompress => texts.push(("--search-zip", OsString::new())),
    }
    texts.extend(args.pre_globs.iter().map(|it| ("--pre-glob=", it.into())));
    texts.extend(args.iglobs.iter().map(|it| ("--iglob=", it.into())));
    texts.extend(args.globs.iter().map(|it| ("--glob=", it.into())));
    texts.extend(args.types.iter().map(|change| match change {
        TypeChange::Clear(name) => ("--type-clear=", name.into()),
        TypeChange::Add(spec) => ("--type-add=", spec.into()),
        TypeChange::Select(name) => ("--type=", name.into()),
        TypeChange::Negate(name) => ("--type-not=", name.into()),
    }));
    texts.extend(args.ignore_files.iter().map(|it| ("--ignore-file=", it.clone())));
    texts.extend(args.text.colors.iter().map(|it| ("--colors=", it.into())));
    texts.extend(args.text.hostname_bin.iter().map(|it| ("--hostname-bin=", it.clone())));
    texts.extend(args.text.hyperlink_format.iter().map(|it| ("--hyperlink-format=", it.into())));
    let operands = operands(args).unwrap();
    let first = match &operands.patterns[..] {
        [PatternSource::Positional(pattern)] => Some(os(pattern)),
        patterns => {
            texts.extend(patterns.iter().map(|source| match source {
                PatternSource::Positional(_) => unreachable!("it is the only one"),
                PatternSource::Regexp(pattern) => ("--regexp=", pattern.into()),
                PatternSource::File(path) => ("--file=", path.clone()),
            }));
            None
        }
    };
    argv.extend(texts.iter().map(|(name, value)| join(&[name.as_bytes(), value.as_bytes()])));
    argv.push(os("--"));
    argv.extend(first);
    argv.extend(operands.paths);
    argv
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn spoil(&mut self, name: &mut Vec<u8>) {
        let at = self.below(name.len() + 1);
        match self.below(4) {
            0 => name.insert(at, b"abcdefghijklmnopqrstuvwxyz-0"[self.below(28)]),
            1 if at < name.len() && name.len() > 1 => {
                name.remove(at);
            }
            2 if at + 1 < name.len() => name.swap(at, at + 1),
            3 if self.below(3) == 0 => {
                let end = (at + 4).min(name.len());
                let copy = name[at..end].to_vec();
                name.splice(at..at, copy);
            }
            _ if at < name.len() => name[at] = *self.pick(b"aeiost-\xff"),
            _ => {}
        }
    }

    /// Anything that can stand on a command line.
    fn argument(&mut self) -> Vec<OsString> {
        let flag = self.pick(FLAGS);
        let names = spellings(flag);
        let name = self.pick(&names).clone();
        let value = *self.pick(VALUES);
        match self.below(12) {
            0 => vec![os(self.pick(&["p", "-", "--", "dir/", "", "--files", "--json"]))],
            1 => vec![os(value)],
            2 => {
                let mut letters = b"-".to_vec();
                for _ in 0..=self.below(4) {
                    let short = self.pick(FLAGS).short.unwrap_or('i');
                    letters.extend_from_slice(short.to_string().as_bytes());
                }
                if self.below(3) == 0 {
                    letters.extend_from_slice(value);
                }
                vec![OsString::from_vec(letters)]
            }
            3 => flag.negated.map(|name| os(format!("--{name}"))).into_iter().collect(),
            4 if self.below(3) == 0 => {
                let mut name = name.into_bytes();
                self.spoil(&mut name);
                vec![OsString::from_vec(name)]
            }
            _ if flag.arity == Arity::Switch => vec![os(&name)],
            5..=7 => vec![os(&name), os(value)],
            8 if !name.starts_with("--") => vec![join(&[name.as_bytes(), value])],
            _ => vec![os(&name), os(self.pick(&["1", "2", "path", "auto", "none", "1K"]))],
        }
    }

    /// Flags with values they take, so that the search starts; patterns and paths that exist.
    fn meaningful_argv(&mut self) -> Vec<OsString> {
        // With one thread, what is reported before a quiet run ends does not vary.
        let mut argv = vec![os("-j1")];
        let mode = ["--json", "--files", "--json", "--files", "-c", "-l", "-n"];
        argv.push(os(self.pick(&mode)));
        let mut unrestricted = 0;
        for _ in 0..self.below(9) {
            let flag = self.pick(FLAGS);
            // A log differs from run to run; the others start programs or are compared elsewhere.
            let skipped = ["debug", "trace", "help", "version", "pcre2-version", "pre", "generate"];
            if skipped.contains(&flag.long) {
                continue;
            }
            unrestricted += usize::from(flag.long == "unrestricted");
            if flag.long == "unrestricted" && unrestricted > 3 {
                continue;
            }
            match flag.negated {
                Some(negated) if self.below(2) == 0 => argv.push(os(format!("--{negated}"))),
                _ => {
                    argv.push(os(format!("--{}", flag.long)));
                    let values: &[&str] = match flag.long {
                        "regexp" => &["foo", "ba.", "o\\s*b", "Foo", "^$"],
                        "file" => &["patterns"],
                        "color" => &["never", "auto", "always", "ansi"],
                        "colors" => &["path:fg:green", "match:none"],
                        "context-separator"
                        | "field-context-separator"
                        | "field-match-separator" => &["", "\\t", "#", "\\x41\\q", "\\x4"],
                        "path-separator" => &["", "\\x41", ":"],
                        "dfa-size-limit" | "regex-size-limit" => &["1M", "2G", "50"],
                        "max-filesize" => &["1K", "3", "40", "1M"],
                        "encoding" => &["auto", "none", "utf-8", "latin1", "utf-16"],
                        "engine" => &["default", "auto", "pcre2"],
                        "glob" | "iglob" => &["*.rs", "!*.rs", "*.RS", "sub/**", "!sub", "!.*"],
                        "pre-glob" => &["*.rs"],
                        "hostname-bin" => &[""],
                        "hyperlink-format" => &["none", "file://{path}"],
                        "ignore-file" => &["rules", "missing"],
                        "replace" => &["X", "[$0]", ""],
                        "sort" | "sortr" => &["none", "path", "modified"],
                        "type" | "type-not" => &["rust", "py", "all", "own"],
                        "type-add" => &["own:*.txt", "rust:*.py"],
                        "type-clear" => &["rust", "own"],
                        _ => &["0", "1", "2", "3"],
                    };
                    if flag.arity != Arity::Switch {
                        argv.push(os(self.pick(values)));
                    }
                }
            }
        }
        if self.below(8) == 0 {
            argv.push(os(self.pick(&["--files", "--json", "--no-json", "--type-list", "-c"])));
        }
        argv.push(os(self.pick(&["foo", "ba[rz]", "a.rs", "."])));
        if self.below(2) == 0 {
            argv.push(
                os(self.pick(&["a.rs", "sub", ".", "c.txt", "sub/deep", "missing", "n.txt"])),
            );
        }
        argv
    }
}

/// The table of the README is made from the flag table. `INGREP_RECORD=1` writes it anew.
#[test]
fn the_readme_has_the_compatibility_table() {
    const BEGIN: &str =
        "<!-- made by the test of this name: the_readme_has_the_compatibility_table -->\n";
    const END: &str = "<!-- end of the table -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let begin = readme.find(BEGIN).expect("the table begins") + BEGIN.len();
    let end = readme.find(END).expect("the table ends");
    let table = ingrep::rg::flags::compatibility_table();
    if std::env::var_os("INGREP_RECORD").is_some() {
        let new = format!("{}{table}{}", &readme[..begin], &readme[end..]);
        std::fs::write(&path, new).unwrap();
        return;
    }
    assert_eq!(readme[begin..end], table);
}
