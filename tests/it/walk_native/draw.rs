//! Draws trees, and scopes that look at them.
//!
//! Mostly of what works, and of names that are there: a scope that lists nothing says nothing.

use super::plan::{Bytes, Entry, Kind, Plan, TOP};
use super::settings::Setting;
use crate::dice::Dice;
use bstr::ByteSlice;
use ingrep::{Order, SortBy};
use std::collections::BTreeSet;

type Name = &'static [u8];

const DIRS: &[Name] = &[
    b"a",
    b"b",
    b"c",
    b"A",
    b"src",
    b"target",
    b".hid",
    b"a.txt",
    b"-d",
    b"a b",
    b"\xffdir",
    b"..x",
    b"a-b",
    b"!d",
    b"caf\xc3\xa9",
];
const FILES: &[Name] = &[
    b"a",
    b"b",
    b"a.txt",
    b"A.TXT",
    b"b.txt",
    b"c.rs",
    b"C.rs",
    b"d.rs",
    b"main.py",
    b"x.log",
    b".x.rs",
    b".dot",
    b"-",
    b"-v",
    b"a b",
    b" a",
    b"a ",
    b"!x",
    b"#x",
    b"a\nb",
    b"\xff",
    b"\xff.rs",
    b"caf\xc3\xa9.txt",
    b"s*r",
    b"[a]",
    b"{b}",
    b"a\\b",
    b"x~",
    b"...",
    b"Makefile",
];
const VCS: &[Name] = &[b".svn", b".hg", b".bzr", b".jj", b".sl"];
const RULE_FILES: &[Name] = &[b".gitignore", b".gitignore", b".ignore", b".rgignore"];

/// Rule files that a scope may name. The global file of a scope is one of the first two, because
/// what the third takes back is heard in other places: see `ON_PURPOSE`.
const NAMED: &[Name] = &[b"rules", b"globals", GLOBALS_BACK];
pub(super) const GLOBALS_BACK: Name = b"globals-back";

/// Patterns of rules and globs; more are made from the names in a tree.
const PATTERNS: &[&str] = &[
    "*",
    "**",
    "*.txt",
    "*.rs",
    "*.TXT",
    "a",
    "b",
    "A",
    "a*",
    "?",
    "??*",
    "*a*",
    ".*",
    "[a-c]*",
    "[!a]*",
    "*.{rs,txt}",
    "{a,b}",
    "a/b",
    "a/*",
    "a/**",
    "**/a",
    "**/*.rs",
    "a/**/b",
    "a/*/*.txt",
    "src/**/*.rs",
    "*/b",
    "a**",
    "[[]a]",
    "\\!x",
    "\\#x",
    "a\\ ",
    "caf?.txt",
    "é",
    "target",
    "x~",
    "[a]",
    "s\\*r",
    "./a",
    "a//b",
    "../a",
    "src",
    ".hid",
];
const INVALID: &[&str] = &["[", "a[", "{a", "a}", "[z-a]", "a\\", "{a,{b}", "[]", "\\"];
const TYPES: &[&str] = &["rust", "rust", "py", "txt", "md", "c", "make", "all", "mine", "nope"];
const DEFINITIONS: &[&str] =
    &["mine:*.txt", "mine:[a-c]*", "mine:include:rust,py", "rust:*.log", "bad", "mine:{a"];

/// Directories below the one that tests are run in, for scopes without a base.
const HERE: &[&str] = &["src/walk", "./src/walk/", "src/rg/../walk", "src//wire", "nowhere"];

const TIMES: [SortBy; 3] = [SortBy::Modified, SortBy::Accessed, SortBy::Created];

/// More entries than any walk takes for a small tree.
const LARGE: usize = 600;

pub(super) struct Drawing {
    dice: Dice,
}

/// A tree as it grows.
struct Growing {
    entries: Vec<Entry>,
    dirs: Vec<Vec<u8>>,
    files: Vec<Vec<u8>>,
    taken: BTreeSet<Vec<u8>>,
    /// How many links to directories are left. With links followed, each may multiply the tree.
    links: usize,
}

impl Growing {
    /// False when the name is taken.
    fn add(&mut self, path: Vec<u8>, kind: Kind) -> bool {
        let is_new = self.taken.insert(path.clone());
        if is_new {
            match kind {
                Kind::Dir => self.dirs.push(path.clone()),
                Kind::File { .. } => self.files.push(path.clone()),
                _ => {}
            }
            self.entries.push(Entry { path: Bytes(path), kind, mode: None });
        }
        is_new
    }
}

impl Drawing {
    pub(super) fn new(seed: u64) -> Drawing {
        Drawing { dice: Dice::new(seed) }
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.dice.percent(chance)
    }

    fn below(&mut self, end: usize) -> usize {
        self.dice.below(end)
    }

    fn one_of(&mut self, names: &[Name]) -> Name {
        names[self.below(names.len())]
    }

    pub(super) fn tree(&mut self) -> Plan {
        let is_large = self.percent(2);
        let count = if is_large { LARGE + self.below(LARGE) } else { self.below(51) + 10 };
        let mut tree = Growing {
            entries: Vec::new(),
            dirs: vec![Vec::new()],
            files: Vec::new(),
            taken: BTreeSet::new(),
            links: if is_large { 1 } else { 3 },
        };
        for name in NAMED {
            let rules = self.rules(*name != NAMED[1]);
            tree.add(name.to_vec(), rules);
        }
        for name in RULE_FILES {
            if self.percent(30) {
                let rules = self.rules(true);
                tree.add(name.to_vec(), rules);
            }
        }
        while tree.entries.len() < count {
            let parent = self.dice.pick(&tree.dirs).clone();
            self.grow(&mut tree, &parent, is_large);
        }
        for entry in &mut tree.entries {
            if entry.kind == Kind::Dir && self.dice.percent(2) {
                entry.mode = Some(*self.dice.pick(&[0o000, 0o444, 0o111]));
            }
        }
        Plan { entries: tree.entries, on_disk: self.percent(10) }
    }

    fn grow(&mut self, tree: &mut Growing, parent: &[u8], is_large: bool) {
        let depth = parent.split_str("/").count();
        match self.below(100) {
            0..=19 if depth < 7 => {
                let name = self.name(DIRS, is_large);
                tree.add(join(parent, &name), Kind::Dir);
            }
            0..=66 => {
                let (name, bytes) = (self.name(FILES, is_large), self.below(5));
                let file = self.file(vec![b'x'; bytes]);
                tree.add(join(parent, &name), file);
            }
            67..=74 => self.link(tree, parent),
            75..=77 => {
                let name = self.name(FILES, is_large);
                let kind = if self.percent(60) { Kind::Fifo } else { Kind::Socket };
                tree.add(join(parent, &name), kind);
            }
            78..=88 => self.rule_file(tree, parent),
            _ => self.repository(tree, parent),
        }
    }

    fn name(&mut self, from: &[Name], numbered: bool) -> Vec<u8> {
        let mut name = match self.below(100) {
            0..=5 => self.any_name(),
            6 => b"long".iter().copied().cycle().take(self.below(55) + 200).collect(),
            _ => self.dice.pick(from).to_vec(),
        };
        if numbered && self.percent(90) {
            // A large tree would run out of names.
            name.truncate(200);
            name.extend(self.below(10_000).to_string().bytes());
        }
        name
    }

    fn any_name(&mut self) -> Vec<u8> {
        let bytes = 1 + self.below(4);
        let name: Vec<u8> = (0..bytes).map(|_| self.dice.next() as u8).collect();
        match &name[..] {
            b"." | b".." => b"..a".to_vec(),
            name if name.contains(&0) || name.contains(&b'/') => b"\x01\xfe".to_vec(),
            _ => name,
        }
    }

    fn file(&mut self, content: Vec<u8>) -> Kind {
        Kind::File { content: Bytes(content), seconds: self.below(4) as i64 - 1 }
    }

    fn link(&mut self, tree: &mut Growing, parent: &[u8]) {
        let name = self.name(FILES, false);
        let path = join(parent, &name);
        if tree.links > 0 && self.percent(12) {
            tree.links -= usize::from(tree.add(path, Kind::Elsewhere));
            return;
        }
        let (target, leads_to_a_directory) = match self.below(8) {
            0 => (name, false),
            1 => (b"nowhere".to_vec(), false),
            2 => (b"/dev/null".to_vec(), false),
            3 => (self.dice.pick(&[&b".."[..], b"."]).to_vec(), true),
            4 | 5 if !tree.files.is_empty() => {
                (at_top(&self.dice.pick(&tree.files).clone()), false)
            }
            _ => (at_top(&self.dice.pick(&tree.dirs).clone()), true),
        };
        if leads_to_a_directory && tree.links == 0 {
            return;
        }
        if tree.add(path, Kind::Link(Bytes(target))) && leads_to_a_directory {
            tree.links -= 1;
        }
    }

    /// A file of rules, or something else of its name. Never a FIFO, nor a link to one: the
    /// reference would wait for it.
    fn rule_file(&mut self, tree: &mut Growing, parent: &[u8]) {
        let path = join(parent, self.one_of(RULE_FILES));
        let kind = match self.below(20) {
            0 => Kind::Dir,
            1 => Kind::Link(Bytes(at_top(self.one_of(NAMED)))),
            2 => Kind::Link(Bytes(b"nowhere".to_vec())),
            _ => self.rules(true),
        };
        tree.add(path, kind);
    }

    /// A version control directory, or what stands for one.
    fn repository(&mut self, tree: &mut Growing, parent: &[u8]) {
        if self.percent(25) {
            let path = join(parent, self.one_of(VCS));
            let kind = if self.percent(80) { Kind::Dir } else { self.file(Vec::new()) };
            tree.add(path, kind);
            return;
        }
        let git = join(parent, b".git");
        match self.below(10) {
            0..=5 => {
                if tree.add(git.clone(), Kind::Dir) && self.percent(60) {
                    tree.add(join(&git, b"info"), Kind::Dir);
                    let rules = self.rules(true);
                    tree.add(join(&git, b"info/exclude"), rules);
                }
            }
            6 => {
                let garbage: &[Name] = &[
                    b"",
                    b"nonsense\n",
                    b"gitdir: $TOP/nowhere\n",
                    b"gitdir:$TOP/a\n",
                    b"\xff\xfe\n",
                    b"\ngitdir: $TOP/a\n",
                ];
                let content = self.dice.pick(garbage).to_vec();
                let file = self.file(content);
                tree.add(git, file);
            }
            _ => self.work_tree(tree, git),
        }
    }

    /// A second work tree of a repository: its `.git` is a file that says where the rest is. The
    /// pointers are absolute, because the two walks take others for relative to different places.
    fn work_tree(&mut self, tree: &mut Growing, git: Vec<u8>) {
        let common = join(&self.dice.pick(&tree.dirs).clone(), b"common.git");
        for dir in [&b""[..], b"info", b"worktrees", b"worktrees/w"] {
            tree.add(join(&common, dir), Kind::Dir);
        }
        let exclude = self.rules(true);
        tree.add(join(&common, b"info/exclude"), exclude);
        let content = match self.below(8) {
            0 => Vec::new(),
            1 => b"\xff\n".to_vec(),
            2 => [at_top(&common), b"\n".to_vec()].concat(),
            _ => b"../..\n".to_vec(),
        };
        let pointer = self.file(content);
        tree.add(join(&common, b"worktrees/w/commondir"), pointer);
        let end: &[u8] = if self.percent(90) { b"\n" } else { b"" };
        let pointer = [b"gitdir: ", &at_top(&common)[..], b"/worktrees/w", end].concat();
        let pointer = self.file(pointer);
        tree.add(git, pointer);
    }

    /// A file of rules, which may take back what others leave out.
    fn rules(&mut self, may_take_back: bool) -> Kind {
        let mut content = Vec::new();
        if self.percent(5) {
            content.extend(b"\xef\xbb\xbf");
        }
        let line_end: &[u8] = if self.percent(10) { b"\r\n" } else { b"\n" };
        let lines = self.below(5);
        for line in 0..lines {
            content.extend(self.rule(may_take_back));
            if line + 1 < lines || self.percent(80) {
                content.extend(line_end);
            }
        }
        self.file(content)
    }

    fn rule(&mut self, may_take_back: bool) -> Vec<u8> {
        match self.below(40) {
            0 => return b"# a comment".to_vec(),
            1 => return Vec::new(),
            2 => return b"\xff*".to_vec(),
            3 => return self.dice.pick(INVALID).as_bytes().to_vec(),
            4 => return b"   ".to_vec(),
            _ => {}
        }
        let mut rule = String::new();
        if may_take_back && self.percent(25) {
            rule.push('!');
        }
        rule += *self.dice.pick(&["", "", "", "", "", "", "", "/", "/", "**/", "a/", "/a/"]);
        let name = self.dice.pick(FILES).to_str().map_or_else(|_| "a".to_string(), escaped);
        match self.percent(60) {
            true => rule += *self.dice.pick(PATTERNS),
            false => rule += &name,
        }
        rule +=
            *self.dice.pick(&["", "", "", "", "", "/", "/", "/**", "/*", " ", "  ", "\\ ", "\t"]);
        if self.percent(15) {
            rule = rule.to_uppercase();
        }
        rule.into_bytes()
    }

    pub(super) fn settings(&mut self, plan: &Plan) -> Vec<Setting> {
        let mut settings = Vec::new();
        if self.percent(25) {
            settings.push(Setting::Ripgrep);
        }
        self.places(plan, &mut settings);
        type Draw = fn(&mut Drawing) -> Setting;
        let chances: &[(usize, Draw)] = &[
            (20, |_| Setting::Hidden(false)),
            (10, |_| Setting::Hidden(true)),
            (15, |_| Setting::PruneVcs(false)),
            (5, |_| Setting::PruneVcs(true)),
            (12, |drawing| Setting::MaxDepth(drawing.below(6))),
            (12, |drawing| Setting::MaxFileBytes(drawing.below(30) as u64)),
            (20, |_| Setting::FollowLinks),
            (15, |_| Setting::OneFileSystem),
            (8, |drawing| Setting::MaxDiagnostics(drawing.below(5))),
            (1, |_| Setting::Cancelled),
        ];
        for (chance, setting) in chances {
            if self.percent(*chance) {
                settings.push(setting(self));
            }
        }
        self.ignore_rules(&mut settings);
        if self.percent(35) {
            self.globs(plan, &mut settings);
        }
        if self.percent(15) {
            self.types(&mut settings);
        }
        let order = if self.percent(50) { Order::Ascending } else { Order::Descending };
        match self.below(100) {
            // Whatever is the default.
            0..=14 => {}
            15..=39 => settings.push(Setting::Sort(SortBy::Path, order)),
            40..=64 => settings.push(Setting::Sort(SortBy::Nothing, order)),
            _ => settings.push(Setting::Sort(*self.dice.pick(&TIMES), order)),
        }
        settings.push(Setting::Pool(self.below(4)));
        settings
    }

    /// The base, and roots relative to it.
    fn places(&mut self, plan: &Plan, settings: &mut Vec<Setting>) {
        if self.percent(85) {
            settings.push(Setting::TolerantRoots);
        }
        let roots = [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4][self.below(12)];
        if self.percent(3) {
            let here = Bytes(self.dice.pick(HERE).as_bytes().to_vec());
            settings.push(Setting::Root(here));
            return;
        }
        let base = match self.below(100) {
            0..=49 => Some(Vec::new()),
            50..=84 => self.entry(plan, |kind| *kind == Kind::Dir),
            _ => None,
        };
        if let Some(base) = &base {
            let written = self.written(&at_top(base));
            settings.push(Setting::Base(Bytes(written)));
        }
        for _ in 0..roots {
            let root = self.root(plan, base.as_deref());
            let root = if self.percent(25) { self.written(&root) } else { root };
            settings.push(Setting::Root(Bytes(root.clone())));
            if self.percent(5) {
                settings.push(Setting::Root(Bytes(root)));
            }
        }
        if self.percent(15) {
            let dir = self.entry(plan, |kind| *kind == Kind::Dir).unwrap_or_default();
            settings.push(Setting::GlobBase(Bytes(relative(&dir, base.as_deref()))));
        }
    }

    fn root(&mut self, plan: &Plan, base: Option<&[u8]>) -> Vec<u8> {
        let here = base.map_or_else(|| at_top(b""), |_| self.dice.pick(&[&b""[..], b"."]).to_vec());
        let found = match self.below(100) {
            0..=39 => return here,
            40..=79 => self.entry(plan, |kind| *kind == Kind::Dir),
            80..=91 => self.entry(plan, |_| true),
            92..=95 => self.entry(plan, |kind| matches!(kind, Kind::Link(_))),
            96 => Some(b"nowhere".to_vec()),
            // Up and down again, as far as the top.
            _ => {
                let down = self.entry(plan, |_| true).unwrap_or_default();
                let Some(base) = base else { return at_top(&down) };
                let levels = join(base, b"x").split_str("/").count() - 1;
                return [b"../".repeat(levels), down].concat();
            }
        };
        found.map_or(here, |found| relative(&found, base))
    }

    fn entry(&mut self, plan: &Plan, is_wanted: impl Fn(&Kind) -> bool) -> Option<Vec<u8>> {
        let wanted: Vec<_> = plan.entries.iter().filter(|entry| is_wanted(&entry.kind)).collect();
        (!wanted.is_empty()).then(|| self.dice.pick(&wanted).path.0.clone())
    }

    /// The same place, written in another way.
    fn written(&mut self, path: &[u8]) -> Vec<u8> {
        let is_absolute = path.starts_with(TOP.as_bytes());
        let (up, name) = path.rsplit_once_str("/").unwrap_or((b"", path));
        match self.below(7) {
            0 if !is_absolute => [b"./", path].concat(),
            1 if !is_absolute => [b".//", path].concat(),
            2 if !path.is_empty() => [path, b"/"].concat(),
            3 if !path.is_empty() => [path, b"//"].concat(),
            4 if !path.is_empty() => [path, b"/."].concat(),
            5 if !up.is_empty() && name != b".." => [up, b"//", name].concat(),
            6 if !up.is_empty() && name != b".." => [path, b"/../", name].concat(),
            _ => path.to_vec(),
        }
    }

    fn ignore_rules(&mut self, settings: &mut Vec<Setting>) {
        if self.percent(25) {
            return;
        }
        // How often it is set, and how often to yes.
        type Switch = fn(bool) -> Setting;
        let switches: [(usize, usize, Switch); 6] = [
            (50, 80, Setting::DotIgnore),
            (50, 80, Setting::VcsIgnore),
            (50, 80, Setting::GitExclude),
            (50, 70, Setting::Parents),
            (40, 30, Setting::RequireGit),
            (25, 80, Setting::CaseInsensitive),
        ];
        for (chance, yes, switch) in switches {
            if self.percent(chance) {
                let yes = self.percent(yes);
                settings.push(switch(yes));
            }
        }
        for _ in 0..[0, 0, 0, 0, 0, 0, 1, 1, 1, 2][self.below(10)] {
            let file = self.named_rules(NAMED);
            settings.push(Setting::RuleFile(file));
        }
        if self.percent(20) {
            let file = self.named_rules(&NAMED[1..]);
            settings.push(Setting::GlobalFile(file));
        }
    }

    fn named_rules(&mut self, from: &[Name]) -> Bytes {
        match self.below(20) {
            0 => Bytes(b"nowhere".to_vec()),
            1 => Bytes(TOP.into()),
            // There, if the base is the top.
            2..=6 => Bytes(self.dice.pick(from).to_vec()),
            _ => Bytes(at_top(self.one_of(from))),
        }
    }

    fn globs(&mut self, plan: &Plan, settings: &mut Vec<Setting>) {
        for _ in 0..[1, 1, 1, 2, 2, 3][self.below(6)] {
            let mut glob = String::new();
            if self.percent(30) {
                glob.push('!');
            }
            let hit = self.hit(plan);
            glob += match self.below(50) {
                0 => *self.dice.pick(INVALID),
                1 => *self.dice.pick(&["", "!", "/", "#x", " ", "//", "!/"]),
                2..=24 => *self.dice.pick(PATTERNS),
                25..=31 => *self.dice.pick(&[
                    "/a", "/a/*", "/src/**", "/*.txt", "**/a/**", "/*", "*", "**/*", "**/*.txt",
                    "!**/a",
                ]),
                _ => &hit,
            };
            glob += *self.dice.pick(&["", "", "", "", "", "/", "/**", "/*"]);
            settings.push(match self.percent(15) {
                true => Setting::Iglob(glob),
                false => Setting::Glob(glob),
            });
        }
    }

    /// A glob that matches something in the tree: a name or a path, with a wildcard or without.
    fn hit(&mut self, plan: &Plan) -> String {
        let found = self.entry(plan, |_| true).unwrap_or_default();
        let Ok(path) = found.to_str() else { return "*".to_string() };
        let (up, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (up, name) = (escaped(up), escaped(name));
        let extension =
            name.rsplit_once('.').map_or("*".to_string(), |(_, end)| format!("*.{end}"));
        match self.below(6) {
            0 => name,
            1 => extension,
            2 => format!("{up}/{name}"),
            3 => format!("{up}/{extension}"),
            4 => format!("{up}/**/{extension}"),
            _ => format!("{}/**", up.split('/').next().unwrap_or("a")),
        }
    }

    fn types(&mut self, settings: &mut Vec<Setting>) {
        for _ in 0..self.below(2) {
            // Some are no definitions: a scope is refused for that as early as for a bad glob.
            let definitions = if self.percent(90) { &DEFINITIONS[..4] } else { DEFINITIONS };
            let definition = self.dice.pick(definitions).to_string();
            settings.push(Setting::DefineType(definition));
        }
        if self.percent(10) {
            settings.push(Setting::ClearType("rust".to_string()));
        }
        for _ in 0..1 + self.below(2) {
            // The last ones are not always known.
            let names = if self.percent(80) { &TYPES[..8] } else { TYPES };
            let name = self.dice.pick(names).to_string();
            settings.push(match self.percent(70) {
                true => Setting::FileType(name),
                false => Setting::FileTypeNot(name),
            });
        }
    }
}

fn join(parent: &[u8], name: &[u8]) -> Vec<u8> {
    match (parent, name) {
        (b"", name) => name.to_vec(),
        (parent, b"") => parent.to_vec(),
        _ => [parent, b"/", name].concat(),
    }
}

fn at_top(path: &[u8]) -> Vec<u8> {
    join(TOP.as_bytes(), path)
}

/// As somebody writes it who stands in the base; from its beginning if it lies elsewhere.
fn relative(path: &[u8], base: Option<&[u8]>) -> Vec<u8> {
    match base {
        Some(b"") => path.to_vec(),
        Some(base) if path == base => b".".to_vec(),
        Some(base) => match path.strip_prefix(base).and_then(|rest| rest.strip_prefix(b"/")) {
            Some(rest) => rest.to_vec(),
            None => at_top(path),
        },
        None => at_top(path),
    }
}

/// As a glob that means only itself.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for character in name.chars() {
        if "*?[]{}\\!#".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
