//! Draws trees and argv, as the lines of a fixture file.
//!
//! Mostly of what works: names that exist, patterns that occur. An argv of nonsense is refused by
//! its first word, and says nothing about the rest.

use crate::dice::Dice;
use crate::recorded::format::escaped;
use bstr::ByteSlice;
use ingrep::rg::flags::{Arity, FLAGS, Flag, FlagId, Support};
use std::collections::BTreeSet;

/// A case with one run, in parts that can be left out.
#[derive(Clone)]
pub(super) struct Drawn {
    /// Lines that make the tree.
    pub(super) tree: Vec<String>,
    pub(super) args: Vec<Vec<u8>>,
    /// Lines after `run`.
    pub(super) settings: Vec<String>,
    /// The flags that were drawn.
    pub(super) flags: Vec<FlagId>,
}

impl Drawn {
    pub(super) fn text(&self) -> String {
        let mut text = String::from("case TODO\ncovers X\n");
        self.tree.iter().for_each(|line| text += &format!("{line}\n"));
        text.push_str("run");
        self.args.iter().for_each(|arg| text += &format!(" {}", word(arg)));
        text.push('\n');
        self.settings.iter().for_each(|line| text += &format!("  {line}\n"));
        text
    }
}

/// A tree and what is in it.
#[derive(Clone, Default)]
pub(super) struct DrawnTree {
    lines: Vec<String>,
    dirs: Vec<Vec<u8>>,
    files: Vec<Vec<u8>>,
    links: Vec<Vec<u8>>,
}

/// Draws one thing after another; the same from the same seed.
pub(super) struct Drawing {
    dice: Dice,
    /// Whether nothing is drawn but searches that write text, as far as the first words of an argv
    /// decide.
    text_only: bool,
    /// Whether the tree may have lines that are longer than the line buffer, or else NULs that lie
    /// behind its first filling. With both, rg's answer depends on which thread comes upon which
    /// file: its buffer has grown with the line, and finds a NUL that would have come later.
    long_lines: bool,
}

type Bytes = &'static [u8];

const DIRS: &[Bytes] = &[
    b"a",
    b"b",
    b"src",
    b"build",
    b"target",
    b".hid",
    b"d.x",
    b"-d",
    b"sp ace",
    b"\xffdir",
    b"..x",
    b"caf\xc3\xa9",
    b"a-b",
    b"A",
];
const FILES: &[Bytes] = &[
    b"a.rs",
    b"b.txt",
    b"c.o",
    b"x.log",
    b".dot",
    b".x.",
    b"-",
    b"-v",
    b"n\nl.txt",
    b"sp ace.c",
    b"\xff.txt",
    b"\xc3\xa9.txt",
    b"B.RS",
    b"Makefile",
    b"[a]",
    b"{b}",
    b"!bang",
    b"#hash",
    b"x~",
    b"back\\slash",
    b"s*r",
    b"z",
    b"a",
    b"main.py",
    b"tab\t.py",
    b"trail ",
    b"..y",
    b"1.c",
    b"2.c",
    b"README.md",
];
const WORDS: &[Bytes] = &[
    b"foo",
    b"bar",
    b"Foo",
    b"FOO",
    b"foobar",
    b"o",
    b"x1",
    b"_",
    b"-",
    b".",
    b" ",
    b"  ",
    b"\t",
    b"\xc3\xa9",
    b"\xc3\x9f",
    b"\xce\xa3\xcf\x83\xcf\x82",
    b"\xe2\x84\xaa",
    b"k",
    b"\xce\xb4",
    b"42",
    b"(",
    b"$",
    b"\\",
    b"\"",
    b"a b",
    b"foo bar foo",
    b"\x1b",
    b"\x7f",
    b"\xf0\x9f\x98\x80",
    b"\xe2\x80\xa8",
    b"\x0b",
    b"\r",
];
const BAD_WORDS: &[Bytes] = &[b"\xff", b"\xc3", b"foo\xff", b"\xe2\x82", b"\x80", b"\xfe\xff"];
const ATOMS: &[&str] = &[
    "foo",
    "bar",
    "o",
    "Foo",
    "FOO",
    "x1",
    "foobar",
    ".",
    r"\w",
    r"\d",
    r"\s",
    "[a-z]",
    "[^a]",
    r"\p{L}",
    r"\pN",
    r"\b",
    "^",
    "$",
    r"\B",
    "(foo|bar)",
    "(?P<n>o+)",
    "(?i)foo",
    "(?i:BAR)",
    r"(?-u)\xff",
    r"(?-u:\w)",
    r"(?-u:\xC3)",
    "x*",
    "o{1,2}",
    ".*",
    ".+?",
    r"\S+",
    "[[:alpha:]]",
    r"\A",
    r"\z",
    "(?s).",
    r"\<",
    r"\>",
    r"\b{start}",
    r"\x6f",
    "é",
    "ß",
    "σ",
    "k",
    "δ",
    r"\.",
    r"\(",
    "(b)(a)?",
    " ",
    "[éa]",
    r"[^\n]",
    r"\P{Greek}",
    r"[\p{Greek}--σ]",
    "(?m)^",
    "(?-m)^",
    "(?-m)$",
    "(?x) f o o",
    r"[\s\S]",
    "()",
    "|",
    r"\t",
    r"\u{e9}",
    r"(?R)$",
    "o??",
    "(?:fo){1}o?",
    r"\n",
    r"\r",
    r"\r?\n",
    r"\x00",
    "[^x]*",
    r"\W",
    r"\D+",
    "42|foo",
    "(a|ab)(c|bcd)?",
    "[ -~]+",
];
const BAD_PATTERNS: &[&str] = &[
    "(",
    ")",
    "[",
    "*",
    "a{2,1}",
    r"\",
    "(?P<1>a)",
    r"\p{Nope}",
    "{2}",
    "(?<n>a)(?<n>b)",
    "[z-a]",
    r"(?-u)\pL",
    "(?=a)",
    r"\1",
    "+",
    "(?z)",
    "[[:nope:]]",
    r"\xZZ",
    "(?-u)[é]",
    "a**",
    "x{99999}",
];
const TEMPLATES: &[Bytes] = &[
    b"",
    b"x",
    b"$0",
    b"<$1>",
    b"${n}",
    b"$n",
    b"$$",
    b"$nope",
    b"$1a",
    b"\\n",
    b"\xc3\xa9",
    b"${0}-${1}",
    b"$",
    b"${",
    b"\xff",
    b"a\nb",
    b"$0$0",
    b"$2$1",
];
const GLOBS: &[&str] = &[
    "*.rs",
    "*.txt",
    "*",
    "**",
    "a",
    "b",
    "src",
    "src/",
    "/src",
    "/a",
    "a/*",
    "a/**",
    "**/a",
    "**/*.c",
    "*.{c,o}",
    "{a,b}",
    "[a-c]*",
    "[!a]*",
    ".*",
    "build",
    "build/",
    "/build/**",
    "x.log",
    "*.log",
    "-*",
    "sp ace",
    "*.RS",
    "B.*",
    "?",
    "??*",
    "é*",
    r"\#hash",
    r"\!bang",
    "[[]a]",
    r"\[a\]",
    "a/b",
    "/*",
    "/*/*",
    "*/",
    "**/",
    "a**b",
    "***",
    "{,a}",
    "*~",
    "z",
    "..x",
    "./a",
    "a//b",
    "src/a.rs",
    r"back\\slash",
    "Makefile",
    "{a,{b,src}}",
    "[^.]*",
    "trail ",
    r"trail\ ",
    "main.py\t",
    "dir",
    "*dir/",
    "café",
    "d.x/**",
    "A",
    "target",
];
const BAD_GLOBS: &[&str] = &["{a", "a}", "[", "[a", "[z-a]", "\\", "a\\", "[]", "[!]", "{a,{b}"];
const ODD_GLOBS: &[&str] = &["", "!", "/", "#x", "!!", " ", "\t", "!/", "//", "\\ ", "a b "];

const IGNORE_FILES: &[&str] =
    &[".gitignore", ".gitignore", ".gitignore", ".ignore", ".ignore", ".rgignore"];

/// The first mode that writes text, among a hundred.
const TEXT_MODES: usize = 55;

/// What asks for something other than text.
const OTHER_MODES: &[&str] = &["--json", "--files", "-q", "--quiet", "--type-list", "-qc"];

/// Flags that change how text looks, or of which that shows most.
const TEXT_FLAGS: &[FlagId] = &[
    FlagId::AfterContext,
    FlagId::BeforeContext,
    FlagId::ByteOffset,
    FlagId::Color,
    FlagId::Colors,
    FlagId::Column,
    FlagId::Context,
    FlagId::ContextSeparator,
    FlagId::Count,
    FlagId::Crlf,
    FlagId::FieldContextSeparator,
    FlagId::FieldMatchSeparator,
    FlagId::Heading,
    FlagId::IncludeZero,
    FlagId::InvertMatch,
    FlagId::LineNumber,
    FlagId::MaxColumns,
    FlagId::MaxColumnsPreview,
    FlagId::MaxCount,
    FlagId::Multiline,
    FlagId::NoFilename,
    FlagId::NoLineNumber,
    FlagId::Null,
    FlagId::NullData,
    FlagId::OnlyMatching,
    FlagId::Passthru,
    FlagId::PathSeparator,
    FlagId::Pretty,
    FlagId::Replace,
    FlagId::Stats,
    FlagId::StopOnNonmatch,
    FlagId::Text,
    FlagId::Trim,
    FlagId::Vimgrep,
    FlagId::WithFilename,
];

/// Flags that would be no comparison, each with the reason.
const LEFT_OUT: &[(FlagId, &str)] = &[
    (FlagId::Pre, "refused: no process is started"),
    (FlagId::SearchZip, "refused: no process is started"),
    (FlagId::Generate, "refused: there is nothing to generate"),
];

impl Drawing {
    pub(super) fn new(seed: u64, text_only: bool) -> Drawing {
        Drawing { dice: Dice::new(seed), text_only, long_lines: false }
    }

    fn below(&mut self, end: usize) -> usize {
        self.dice.below(end)
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.dice.percent(chance)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.dice.pick(from)
    }

    /// One of these, as owned bytes.
    fn one(&mut self, from: &[&str]) -> Vec<u8> {
        self.pick(from).as_bytes().to_vec()
    }

    pub(super) fn tree(&mut self) -> DrawnTree {
        let mut tree = DrawnTree { dirs: vec![Vec::new()], ..DrawnTree::default() };
        let mut taken = BTreeSet::new();
        self.long_lines = self.percent(50);
        for _ in 0..self.below(7) + 1 {
            let parent = self.pick(&tree.dirs).clone();
            let path = below(&parent, *self.pick(DIRS));
            if parent.iter().filter(|&&byte| byte == b'/').count() < 3 && taken.insert(path.clone())
            {
                tree.lines.push(format!("dir {}", word(&path)));
                tree.dirs.push(path);
            }
        }
        for _ in 0..self.below(16) + 3 {
            let parent = self.pick(&tree.dirs).clone();
            let path = below(&parent, *self.pick(FILES));
            if taken.insert(path.clone()) {
                let content = self.content();
                tree.lines.push(format!("file {} {content}", word(&path)));
                tree.files.push(path);
            }
        }
        self.rules(&mut tree, &mut taken);
        for _ in 0..self.below(4) {
            self.link(&mut tree, &mut taken);
        }
        self.times(&mut tree);
        tree
    }

    /// Repositories, and files of rules at any level.
    fn rules(&mut self, tree: &mut DrawnTree, taken: &mut BTreeSet<Vec<u8>>) {
        for dir in tree.dirs.clone() {
            let chance = if dir.is_empty() { 60 } else { 8 };
            if self.percent(chance) {
                let git = below(&dir, b".git");
                if self.percent(15) {
                    tree.lines.push(format!("file {} \"gitdir: nowhere\\n\"", word(&git)));
                    tree.files.push(git);
                } else {
                    tree.lines.push(format!("dir {}", word(&git)));
                    if self.percent(40) {
                        let exclude = below(&git, b"info/exclude");
                        self.rule_file(tree, exclude);
                    }
                    if self.percent(30) {
                        let config = below(&git, b"config");
                        tree.lines.push(format!("file {} \"foo\\n\"", word(&config)));
                        tree.files.push(config);
                    }
                }
            } else if self.percent(2) {
                tree.lines.push(format!("dir {}", word(&below(&dir, b".jj"))));
            }
            for _ in 0..if dir.is_empty() { 2 } else { 1 } {
                if self.percent(if dir.is_empty() { 50 } else { 25 }) {
                    let path = below(&dir, self.pick(IGNORE_FILES).as_bytes());
                    if taken.insert(path.clone()) {
                        self.rule_file(tree, path);
                    }
                }
            }
        }
        for name in ["ig", "ig2", "xdg/git/ignore", "excludes"] {
            if self.percent(60) {
                self.rule_file(tree, name.as_bytes().to_vec());
            }
        }
        if self.percent(60) {
            let value =
                *self.pick(&["$DIR/excludes", "~/excludes", "nope", "\\\"$DIR/excludes\\\""]);
            let key = *self.pick(&["excludesFile", "excludesfile", "\\texcludesFile "]);
            tree.lines.push(format!("file .gitconfig \"[core]\\n{key} = {value}\\n\""));
            tree.files.push(b".gitconfig".to_vec());
        }
        for name in ["pats", "pats2"] {
            let mut content = Vec::new();
            for _ in 0..self.below(4) {
                content.extend(self.pattern());
                content.extend(if self.percent(15) { &b"\r\n"[..] } else { b"\n" });
            }
            if self.percent(3) {
                content.extend(b"a\xff\\b\x01\n");
            }
            tree.lines.push(format!("file {name} {}", quoted(&content)));
            tree.files.push(name.as_bytes().to_vec());
        }
    }

    fn rule_file(&mut self, tree: &mut DrawnTree, path: Vec<u8>) {
        let mut content = Vec::new();
        if self.percent(5) {
            content.extend(b"\xef\xbb\xbf");
        }
        for _ in 0..self.below(5) {
            let mut line = match self.below(100) {
                0..4 => self.one(BAD_GLOBS),
                4..10 => self.one(ODD_GLOBS),
                10..14 => b"# comment".to_vec(),
                14..16 => b"\xff*".to_vec(),
                16..40 => {
                    let all: Vec<_> = tree.files.iter().chain(&tree.dirs).cloned().collect();
                    let mut path = self.pick(&all).clone();
                    if self.percent(50) {
                        path = path.rsplit(|&byte| byte == b'/').next().unwrap_or(b"").to_vec();
                    }
                    path
                }
                _ => self.one(GLOBS),
            };
            if self.percent(15) {
                line.insert(0, b'/');
            }
            if self.percent(25) {
                line.insert(0, b'!');
            }
            // Known: below a directory that is no repository, a repository does not hear global
            // rules that take back; see src/walk/global.rs.
            let is_global = path.ends_with(b"excludes") || path.ends_with(b"git/ignore");
            if is_global
                && !tree
                    .lines
                    .iter()
                    .any(|line| line == "dir .git" || line.starts_with("file .git "))
            {
                line.retain(|&byte| byte != b'!');
            }
            if self.percent(10) {
                line.extend(*self.pick(&[b"/".as_slice(), b" ", b"  ", b"\t", b"/**", b"/*"]));
            }
            content.extend(line);
            content.extend(if self.percent(10) { b"\r\n".as_slice() } else { b"\n" });
        }
        if self.percent(20) {
            content.pop();
        }
        tree.lines.push(format!("file {} {}", word(&path), quoted(&content)));
        tree.files.push(path);
    }

    fn link(&mut self, tree: &mut DrawnTree, taken: &mut BTreeSet<Vec<u8>>) {
        let parent = self.pick(&tree.dirs).clone();
        let name = self.pick(&[b"l".as_slice(), b"l2", b"l.rs", b".l", b"l\xff"]).to_vec();
        let path = below(&parent, &name);
        let target = match self.below(10) {
            0..3 => below(b"$DIR", self.pick(&tree.files)),
            3..5 => below(b"$DIR", self.pick(&tree.dirs)),
            5..7 => self.pick(FILES).to_vec(),
            7 => b"nowhere".to_vec(),
            8 => name,
            // Above the tree is everything else on this machine.
            _ if parent.is_empty() => b".".to_vec(),
            _ => b"..".to_vec(),
        };
        if taken.insert(path.clone()) {
            tree.lines.push(format!("link {} {}", word(&path), word(&target)));
            tree.links.push(path);
        }
    }

    fn times(&mut self, tree: &mut DrawnTree) {
        let equal = self.percent(10);
        let mut order: Vec<usize> = (0..tree.files.len()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, self.below(at + 1));
        }
        for (file, place) in tree.files.clone().iter().zip(order) {
            let place = if equal { place / 3 } else { place };
            tree.lines.push(format!("mtime {} {}", 1_000_000_000 + place * 60, word(file)));
            // In the future, so that a file that is read keeps its time.
            let accessed = 2_500_000_000 - place * place % 37 * 1_000 - place;
            tree.lines.push(format!("atime {accessed} {}", word(file)));
        }
    }

    /// The bytes of a file, as the pieces of a fixture.
    fn content(&mut self) -> String {
        match self.below(100) {
            0..6 => String::new(),
            6..12 => {
                // UTF-16, with and without a mark, and now and then cut short.
                let text = String::from_utf8_lossy(&self.lines(b"\n", false)).into_owned();
                let little = self.percent(50);
                let mut bytes = match (self.percent(80), little) {
                    (false, _) => Vec::new(),
                    (true, true) => b"\xff\xfe".to_vec(),
                    (true, false) => b"\xfe\xff".to_vec(),
                };
                for unit in text.encode_utf16() {
                    bytes.extend(if little { unit.to_le_bytes() } else { unit.to_be_bytes() });
                }
                if self.percent(20) {
                    bytes.pop();
                }
                quoted(&bytes)
            }
            12..17 => {
                let lines = self.lines(b"\n", true);
                quoted(&[b"\xef\xbb\xbf", &lines[..]].concat())
            }
            17..24 => {
                // A NUL that is found at once.
                let (head, tail) = (self.lines(b"\n", false), self.lines(b"\n", false));
                quoted(&[&head[..], b"\0", &tail].concat())
            }
            24..28 if !self.long_lines => {
                // A NUL behind the first filling of the line buffer.
                let (head, tail) = (self.lines(b"\n", false), self.lines(b"\n", false));
                let count = 33_000 + self.below(70_000);
                format!("{} {count}*\"x\\n\" \"foo\\0o\\n\" {}", quoted(&head), quoted(&tail))
            }
            24..31 => {
                let (head, tail) = (self.lines(b"\n", true), self.lines(b"\n", true));
                let piece = match self.long_lines {
                    true => *self.pick(&["y", "x1 ", "foo "]),
                    false => *self.pick(&["foo\\n", "0123456789abcdef\\n", "\\n"]),
                };
                let count = if piece.starts_with("foo") { 300 } else { 7_000 + self.below(20_000) };
                // No mark of UTF-16 begins it: read as that, it has no lines.
                format!("\"_\" {} {count}*\"{piece}\" {}", quoted(&head), quoted(&tail))
            }
            31..36 => quoted(&self.lines(b"\0", false)),
            36..48 => quoted(&self.lines(b"\r\n", false)),
            48..55 => quoted(&self.lines(b"\n", true)),
            _ => quoted(&self.lines(b"\n", false)),
        }
    }

    fn lines(&mut self, end: &[u8], bad: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.below(9) {
            for _ in 0..self.below(5) {
                let word =
                    if bad && self.percent(30) { *self.pick(BAD_WORDS) } else { *self.pick(WORDS) };
                bytes.extend(word);
            }
            bytes.extend(if self.percent(95) { end } else { b"\n" });
        }
        if self.percent(20) {
            bytes.truncate(bytes.len().saturating_sub(end.len()));
        }
        bytes
    }

    fn pattern(&mut self) -> Vec<u8> {
        match self.below(100) {
            0..3 => self.one(BAD_PATTERNS),
            3..5 => Vec::new(),
            5..30 => self.pick(WORDS).to_vec(),
            30..60 => self.one(ATOMS),
            _ => {
                let mut pattern = Vec::new();
                for at in 0..self.below(3) + 2 {
                    if at > 0 && self.percent(15) {
                        pattern.push(b'|');
                    }
                    pattern.extend(self.one(ATOMS));
                    if self.percent(10) {
                        pattern.extend(self.one(&["*", "?", "+", "{2}", "*?"]));
                    }
                }
                pattern
            }
        }
    }

    fn glob(&mut self) -> Vec<u8> {
        let mut glob = match self.below(100) {
            0..2 => self.one(BAD_GLOBS),
            2..6 => self.one(ODD_GLOBS),
            _ => self.one(GLOBS),
        };
        if self.percent(40) {
            glob.insert(0, b'!');
        }
        glob
    }

    /// A run in the tree. The flag that is asked for is among those drawn.
    pub(super) fn argv(&mut self, tree: &DrawnTree, forced: Option<FlagId>) -> Drawn {
        let mut flags = Vec::new();
        let mut args: Vec<Vec<Vec<u8>>> = Vec::new();
        let cwd = if self.percent(65) { Vec::new() } else { self.pick(&tree.dirs).clone() };
        let first = if self.text_only { TEXT_MODES } else { 0 };
        let mode: &[&str] = match first + self.below(100 - first) {
            0..28 => &["--json"],
            28..42 => &["--files"],
            42..47 => &["-q"],
            47..49 => &["--quiet", "--stats"],
            49..51 => &["--json", "-q"],
            51..52 => &["--files", "-q"],
            52..53 => &["--type-list"],
            53..54 => &["-q", "--files-without-match"],
            54..TEXT_MODES => &["-qc"],
            TEXT_MODES..58 => &["-l"],
            58..61 => &["--files-without-match"],
            61..64 => &["-c"],
            64..67 => &["--count-matches"],
            67..70 => &["-o"],
            70..72 => &["--vimgrep"],
            72..74 => &["-p"],
            74..78 => &["--stats"],
            78..80 => &["--passthru"],
            _ => &[],
        };
        args.extend(mode.iter().map(|flag| vec![flag.as_bytes().to_vec()]));
        let is_text = mode.iter().all(|flag| !OTHER_MODES.contains(flag));
        // Without an order most listings, and most texts, can be compared as sets only.
        if self.percent(if is_text { 60 } else { 30 }) {
            let order = *self.pick(&["-j1", "--sort=path", "--sort=path", "--sortr=path"]);
            args.push(vec![order.as_bytes().to_vec()]);
        }
        let mut ids: Vec<FlagId> = forced.into_iter().collect();
        for _ in 0..self.below(if is_text { 4 } else { 6 }) {
            ids.push(self.pick(FLAGS).id);
        }
        for _ in 0..if is_text { self.below(6) } else { 0 } {
            ids.push(*self.pick(TEXT_FLAGS));
        }
        for (at, id) in ids.into_iter().enumerate() {
            let flag = id.flag();
            // What shows something else, or is refused, hides all else.
            let hides = matches!(id, FlagId::Help | FlagId::Version | FlagId::Pcre2Version);
            let is_forced = at == 0 && forced.is_some();
            let rare = hides || matches!(flag.support, Support::Refused(_));
            if LEFT_OUT.iter().any(|(left_out, _)| *left_out == id)
                || (!is_forced && rare && !self.percent(10))
            {
                continue;
            }
            flags.push(id);
            args.push(self.flag(flag, tree, &cwd));
        }
        // Every match shows its line again: of a line of 100 KiB that are gigabytes.
        let given = |name: &[u8]| args.iter().flatten().any(|arg| arg == name);
        if given(b"--vimgrep") && (self.long_lines || given(b"--null-data")) {
            args.push(vec![b"-q".to_vec()]);
        }
        if self.percent(4) {
            args.push(self.invalid());
        }
        let has_pattern = flags.iter().any(|id| matches!(id, FlagId::Regexp | FlagId::File));
        let lists = args.iter().flatten().any(|arg| arg == b"--files" || arg == b"--type-list");
        for at in (1..args.len()).rev() {
            args.swap(at, self.below(at + 1));
        }
        let mut operands = Vec::new();
        if (!has_pattern && !lists) || self.percent(2) {
            operands.push(self.pattern());
        }
        if self.percent(55) {
            for _ in 0..if self.percent(60) { 1 } else { self.below(4) } {
                operands.push(self.root(tree, &cwd));
            }
        }
        let mut args: Vec<Vec<u8>> = if self.percent(20) {
            // Flags between operands.
            let at = self.below(args.len() + 1);
            let tail = args.split_off(at);
            let mut first: Vec<Vec<u8>> = args.into_iter().flatten().collect();
            first.extend(operands.drain(..operands.len().min(1)));
            first.extend(tail.into_iter().flatten());
            first
        } else {
            args.into_iter().flatten().collect()
        };
        if operands.iter().any(|operand| operand.starts_with(b"-")) && self.percent(80)
            || self.percent(10)
        {
            args.push(b"--".to_vec());
        }
        args.extend(operands);
        let mut settings = Vec::new();
        if !cwd.is_empty() {
            settings.push(format!("in {}", word(&cwd)));
        }
        self.environment(&mut settings);
        match self.below(100) {
            // A text anchor holds at the beginning of whatever portion of a pipe rg has read, and
            // where a long one ends is up to the system. Of a long line `--vimgrep` makes gigabytes.
            0..8 if args.iter().any(|arg| has_text_anchor(arg) || arg == b"--vimgrep") => {
                settings.push(format!("stdin {}", quoted(&self.lines(b"\n", false))));
            }
            // No NUL comes late: which lines were read together with it is up to the system, too.
            0..8 => {
                let had = std::mem::replace(&mut self.long_lines, true);
                settings.push(format!("stdin {}", self.content()));
                self.long_lines = had;
            }
            8..10 => settings.push(format!("stdin-socket {}", quoted(&self.lines(b"\n", false)))),
            10..12 => {
                settings.push(format!("stdin-file {}", word(&self.pick(&tree.files).clone())))
            }
            _ => {}
        }
        Drawn { tree: tree.lines.clone(), args, settings, flags }
    }

    fn environment(&mut self, settings: &mut Vec<String>) {
        let home = *self.pick(&["$DIR", "$DIR", "$DIR/nowhere"]);
        settings.push(format!("env \"HOME={home}\""));
        if self.percent(15) {
            let place = *self.pick(&["$DIR/xdg", "", "$DIR"]);
            settings.push(format!("env \"XDG_CONFIG_HOME={place}\""));
        }
        if self.percent(10) {
            let name = *self.pick(&["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]);
            let place = *self.pick(&["$DIR/.gitconfig", "$DIR/nope", ""]);
            settings.push(format!("env \"{name}={place}\""));
        }
    }

    /// A root as somebody in `cwd` could write it.
    fn root(&mut self, tree: &DrawnTree, cwd: &[u8]) -> Vec<u8> {
        let path = match self.below(100) {
            0..8 => return b".".to_vec(),
            8..12 => return b"./".to_vec(),
            12..16 if !cwd.is_empty() => return self.one(&["..", "../", "../.", "./.."]),
            16..18 => return b"nope".to_vec(),
            18..19 => return Vec::new(),
            19..23 => return b"-".to_vec(),
            23..26 => return b"$DIR".to_vec(),
            26..36 if !tree.links.is_empty() => self.pick(&tree.links).clone(),
            36..60 => self.pick(&tree.files).clone(),
            _ => self.pick(&tree.dirs).clone(),
        };
        let path = match self.below(10) {
            0 => below(b"$DIR", &path),
            _ => relative(cwd, &path),
        };
        // Of roots of nothing but dots and slashes (`././.`, `.//`) ripgrep strips too little to
        // see that the rules of the root, or above it, mean what is in it. We see it.
        let dots = path.iter().all(|byte| b"./".contains(byte));
        match self.below(20) {
            1..=5 if dots => path,
            0 => [&path[..], b"/"].concat(),
            1 => [&path[..], b"//"].concat(),
            2 => [&path[..], b"/."].concat(),
            3 => [b"./", &path[..]].concat(),
            4 => [b".//", &path[..]].concat(),
            // Above the tree is everything else on this machine.
            5 if !matches!(file_name(&path), b"." | b".." | b"$DIR") => {
                [&path[..], b"/../", file_name(&path)].concat()
            }
            _ => path,
        }
    }

    /// The flag with a value that mostly is one, in any of the forms that ripgrep takes.
    fn flag(&mut self, flag: &Flag, tree: &DrawnTree, cwd: &[u8]) -> Vec<Vec<u8>> {
        let negated = if matches!(flag.arity, Arity::Switch) { 15 } else { 10 };
        if let Some(name) = flag.negated
            && self.percent(negated)
        {
            return vec![format!("--{name}").into_bytes()];
        }
        let long = match flag.aliases.first() {
            Some(alias) if self.percent(30) => *alias,
            _ => flag.long,
        };
        let short = flag.short.filter(|_| self.percent(60));
        let name = match short {
            Some(letter) => format!("-{letter}").into_bytes(),
            None => format!("--{long}").into_bytes(),
        };
        if matches!(flag.arity, Arity::Switch) {
            // One more letter behind it, and up to three times the one that counts.
            return match (flag.id, short) {
                (FlagId::Unrestricted, Some(_)) => {
                    vec![self.one(&["-u", "-uu", "-uuu", "-u", "-uu", "-uuuu"])]
                }
                (_, Some(_)) if self.percent(10) => {
                    vec![[&name[..], &self.one(&["i", "S", "n", "v", "L", "w"])].concat()]
                }
                _ => vec![name],
            };
        }
        let value = self.value(flag.id, tree, cwd);
        match (short, self.below(3)) {
            (_, 0) => vec![name, value],
            (Some(_), 1) => vec![[&name[..], &value].concat()],
            _ => vec![[&name[..], b"=", &value].concat()],
        }
    }

    fn value(&mut self, id: FlagId, tree: &DrawnTree, cwd: &[u8]) -> Vec<u8> {
        if self.percent(2) {
            return self.one(&["", "x", "-1", "99999999999999999999", "1.5", " 1"]);
        }
        match id {
            FlagId::Regexp => self.pattern(),
            FlagId::File => match self.below(20) {
                0 => b"nope".to_vec(),
                1 => b".".to_vec(),
                2..4 => b"-".to_vec(),
                _ => {
                    let name = *self.pick(&[&b"pats"[..], b"pats2"]);
                    relative(cwd, name)
                }
            },
            FlagId::AfterContext | FlagId::BeforeContext | FlagId::Context => {
                self.one(&["0", "1", "1", "2", "3", "1000"])
            }
            FlagId::Color => self.one(&["never", "auto", "never", "always", "ansi", "bad"]),
            FlagId::Colors => self.one(&[
                "path:fg:red",
                "path:none",
                "match:none",
                "match:fg:0xff,1,2",
                "match:bg:7",
                "match:style:nobold",
                "line:style:bold",
                "column:fg:cyan",
                "highlight:bg:yellow",
                "highlight:style:underline",
                "bad",
                "a:b:c",
            ]),
            FlagId::ContextSeparator
            | FlagId::FieldContextSeparator
            | FlagId::FieldMatchSeparator => {
                self.one(&["", "x", ":", "\\t", "|", "\\x00", "\\xff", "é", "\\n", "--", "a b"])
            }
            FlagId::DfaSizeLimit => self.one(&["10K", "1M", "0", "100", "1G", "5B"]),
            FlagId::RegexSizeLimit => self.one(&["10K", "1M", "100M", "0", "100", "5B"]),
            FlagId::Encoding => self.one(&[
                "utf-8",
                "utf-16",
                "utf-16le",
                "UTF-16BE",
                "latin1",
                "sjis",
                "none",
                "auto",
                "bogus",
                "csiso2022kr",
                "euc-jp",
                " utf8 ",
                "none",
                "auto",
                "gb18030",
                "x-user-defined",
            ]),
            FlagId::Engine => self.one(&["default", "auto", "pcre2", "default", "bogus"]),
            FlagId::Glob | FlagId::Iglob | FlagId::PreGlob => self.glob(),
            FlagId::HyperlinkFormat => self.one(&["none", "default", "file", "{path}", "x{line}"]),
            FlagId::IgnoreFile => {
                let name = self.one(&["ig", "ig2", "ig", "nope", "excludes", "a"]);
                relative(cwd, &name)
            }
            FlagId::MaxColumns => self.one(&["0", "1", "3", "5", "10", "20", "40", "150"]),
            FlagId::Threads => self.one(&["0", "1", "2", "3", "8"]),
            FlagId::MaxCount => self.one(&["1", "1", "2", "3", "100", "0"]),
            FlagId::MaxDepth => self.one(&["0", "1", "1", "2", "3", "100"]),
            FlagId::MaxFilesize => self.one(&["0", "10", "50", "1K", "70K", "1M", "5B", "1k"]),
            FlagId::PathSeparator => {
                self.one(&["/", "\\", "x", "", "ab", "\\x00", "\\t", "é", "|"])
            }
            FlagId::Replace => self.pick(TEMPLATES).to_vec(),
            FlagId::Sort | FlagId::Sortr => self.one(&[
                "path", "path", "modified", "modified", "accessed", "created", "none", "bogus",
            ]),
            FlagId::Type | FlagId::TypeNot => {
                self.one(&["rust", "rust", "py", "txt", "c", "c", "all", "w", "nope", "make", "md"])
            }
            FlagId::TypeClear => self.one(&["rust", "c", "nope", "w"]),
            FlagId::TypeAdd => self.one(&[
                "w:*.o",
                "w:*.{c,o}",
                "w:include:rust,py",
                "w:z",
                "rust:*.txt",
                "bad",
                "w:",
                ":*.x",
                "w:*.{a",
                "w-x:*.y",
                "w:include:nope",
                "all:*.z",
                "w:a:b",
            ]),
            _ => {
                let _ = tree;
                self.one(&["", "x", ":", "\\t"])
            }
        }
    }

    /// An argument that ripgrep refuses, mostly.
    fn invalid(&mut self) -> Vec<Vec<u8>> {
        let all: &[&[&[u8]]] = &[
            &[b"--bogus"],
            &[b"--hiden"],
            &[b"--files-with"],
            &[b"-Y"],
            &[b"--hidden=1"],
            &[b"--no-hidden=x"],
            &[b"--i"],
            &[b"--A=1"],
            &[b"--\xff"],
            &[b"-\xff"],
            &[b"--glob=\xff"],
            &[b"-e\xff"],
            &[b"--sort"],
            &[b"-A"],
            &[b"-i=1"],
            &[b"--"],
            &[b"---"],
            &[b"-"],
            &[b"-t", b"\xff"],
            &[b"--ignore-file=\xff"],
            &[b"-f", b"\xff"],
            &[b"-\xc3\xa9"],
            &[b"-uuuu"],
            &[b"\xff"],
            &[b"--no-json"],
            &[b"-E", b"\xff"],
            &[b"--path-separator", b"\xff"],
            &[b"-M\xff"],
        ];
        self.pick(all).iter().map(|arg| arg.to_vec()).collect()
    }
}

fn below(dir: &[u8], name: impl AsRef<[u8]>) -> Vec<u8> {
    match (dir, name.as_ref()) {
        (b"", name) => name.to_vec(),
        (dir, b"") => dir.to_vec(),
        (dir, name) => [dir, b"/", name].concat(),
    }
}

/// `path` of the tree as seen from `cwd`.
fn relative(cwd: &[u8], path: &[u8]) -> Vec<u8> {
    let (mut cwd, mut path): (Vec<&[u8]>, Vec<&[u8]>) = (parts(cwd), parts(path));
    let common = cwd.iter().zip(&path).take_while(|(a, b)| a == b).count();
    (cwd, path) = (cwd.split_off(common), path.split_off(common));
    let mut names = vec![&b".."[..]; cwd.len()];
    names.extend(path);
    match names.is_empty() {
        true => b".".to_vec(),
        false => names.join(&b'/'),
    }
}

fn parts(path: &[u8]) -> Vec<&[u8]> {
    path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).collect()
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

fn has_text_anchor(arg: &[u8]) -> bool {
    [&b"\\A"[..], b"\\z", b"(?-m)"].iter().any(|anchor| arg.contains_str(anchor))
}

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", escaped(bytes))
}

/// A word of a fixture, bare if it can be.
fn word(bytes: &[u8]) -> String {
    let bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,$".contains(byte);
    match !bytes.is_empty() && bytes.iter().all(bare) {
        true => String::from_utf8_lossy(bytes).into_owned(),
        false => quoted(bytes),
    }
}
