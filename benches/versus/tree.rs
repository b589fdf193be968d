//! What is searched: trees that are made from a fixed seed and kept between runs, and cargo's
//! registry as it is.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Written beside a tree when it is complete. A new form of trees gets a new number, so that old
/// trees are not taken for it.
const FORM: &str = "form 1\n";

const DIRS_PER_AREA: usize = 25;

/// A tree has so many parts of equal size: one of them is what a literal prefix names.
const PARTS: usize = 10;

/// Sizes in bytes, each for a tenth of the files. Their mean is 5 KB, as in a tree of sources, and
/// the large files hold most of the bytes.
const SIZES: [usize; 10] = [150, 400, 800, 1_300, 2_000, 3_000, 4_500, 7_000, 11_000, 20_000];

/// Extensions and how many of 100 files have them.
const EXTENSIONS: [(&str, u64); 5] =
    [("ts", 28), ("rs", 24), ("json", 20), ("md", 18), ("txt", 10)];

/// A tree, and what to look for in it.
pub(crate) struct Tree {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    pub(crate) files: usize,
    pub(crate) kind: Kind,
    /// In less than 250 lines.
    pub(crate) rare: &'static str,
    /// In some thousand lines.
    pub(crate) medium: &'static str,
    /// In every tenth line.
    pub(crate) frequent: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Directories of a few sources, no two with the same time.
    Sources,
    /// The same with ignore files, in a git repository.
    Repository,
    /// What cargo has unpacked. Many files have the same time.
    Registry,
    /// Empty files in one directory.
    OneDirectory,
    /// One log.
    OneFile,
}

impl Tree {
    /// The tree of this name: a number of files (`236`, `100k`), `repository`, `registry`,
    /// `million` or `gigabyte`. It is made if it is not there. `None` for the registry of somebody
    /// who has none.
    pub(crate) fn open(name: &str) -> Result<Option<Tree>, String> {
        if name == "registry" {
            return Ok(registry());
        }
        let (kind, files) = match name {
            "repository" => (Kind::Repository, 20_000),
            "million" => (Kind::OneDirectory, 1_000_000),
            "gigabyte" => (Kind::OneFile, 1),
            number => (Kind::Sources, parse_number(number).ok_or(format!("no tree {name}"))?),
        };
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("versus");
        let root = home.join(name);
        let made = home.join(format!("{name}.made"));
        if fs::read_to_string(&made).is_ok_and(|form| form == FORM) {
            return Ok(Some(tree(name, root, files, kind)));
        }
        eprintln!("making the tree {name}");
        let make = || {
            if root.exists() {
                fs::remove_dir_all(&root)?;
            }
            fs::create_dir_all(&root)?;
            match kind {
                Kind::OneDirectory => make_one_directory(&root, files)?,
                Kind::OneFile => make_one_file(&root.join("big.log"))?,
                _ => make_sources(&root, files)?,
            }
            if kind == Kind::Repository {
                make_rules(&root)?;
            }
            fs::write(&made, FORM)
        };
        make().map_err(|err: io::Error| format!("{}: {err}", root.display()))?;
        Ok(Some(tree(name, root, files, kind)))
    }
}

fn parse_number(text: &str) -> Option<usize> {
    match text.strip_suffix('k') {
        Some(thousands) => thousands.parse::<usize>().ok()?.checked_mul(1_000),
        None => text.parse().ok(),
    }
}

fn tree(name: &str, root: PathBuf, files: usize, kind: Kind) -> Tree {
    let (rare, medium, frequent) = ("needle_in_haystack", "deprecated_handler", "error");
    Tree { name: name.to_string(), root, files, kind, rare, medium, frequent }
}

fn registry() -> Option<Tree> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    let root = home.join("registry").join("src");
    root.is_dir().then(|| Tree {
        rare: "Sherlock Holmes",
        medium: "#[derive(Clone",
        frequent: "let ",
        ..tree("registry", root, 0, Kind::Registry)
    })
}

fn make_sources(root: &Path, files: usize) -> io::Result<()> {
    let mut random = Random(7);
    let lines = lines(&mut random);
    let per_dir = files_per_dir(files);
    let mut text = String::new();
    let mut dir = PathBuf::new();
    for file in 0..files {
        let number = file / per_dir;
        if file % per_dir == 0 {
            let (part, rest) = (number % PARTS, number / PARTS);
            let (area, unit) = (rest / DIRS_PER_AREA, rest % DIRS_PER_AREA);
            dir = root.join(format!("part{part}/area{area}/unit{unit}"));
            fs::create_dir_all(&dir)?;
        }
        fill(&mut text, &lines, &mut random);
        let name = format!("{}_{file}.{}", random.pick(&WORDS), extension(&mut random));
        let mut out = File::create(dir.join(name))?;
        out.write_all(text.as_bytes())?;
        out.set_modified(time(file))?;
    }
    Ok(())
}

/// In a small project directories are small.
fn files_per_dir(files: usize) -> usize {
    if files < 1_000 { 4 } else { 14 }
}

/// A time of its own for each file, in an order that has nothing to do with that of the names:
/// the factor is odd, so no two of 16 million files come out alike.
fn time(file: usize) -> SystemTime {
    const PERIOD: u64 = 1 << 24;
    let shuffled = (file as u64).wrapping_mul(2_654_435_761) % PERIOD;
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) + Duration::from_millis(shuffled)
}

fn extension(random: &mut Random) -> &'static str {
    let mut left = random.below(100);
    for (extension, share) in EXTENSIONS {
        if left < share {
            return extension;
        }
        left -= share;
    }
    unreachable!("the shares add up to 100")
}

/// One file's text.
fn fill(text: &mut String, lines: &[String], random: &mut Random) {
    text.clear();
    let size = random.pick(&SIZES);
    // Between a half and one and a half of it.
    let size = size / 2 + random.below(size as u64) as usize;
    if random.below(20) == 0 {
        text.push_str("    on(\"close\", deprecated_handler);\n");
    }
    while text.len() < size {
        text.push_str(random.pick_ref(lines));
    }
    if random.below(500) == 0 {
        text.push_str("// needle_in_haystack\n");
    }
}

/// Lines that files are put together from.
fn lines(random: &mut Random) -> Vec<String> {
    const LINES: usize = 4_096;
    (0..LINES)
        .map(|number| {
            let mut line = " ".repeat(4 * random.below(4) as usize);
            let mut word = || random.pick(&WORDS);
            match number {
                // A few characters outside of ASCII, as sources have.
                0 => line.push_str("// naïve café, größer als Ω\n"),
                _ if number % 1_024 == 1 => {
                    let _ = writeln!(line, "const CODE = \"ABCD_{number:04}\";");
                }
                _ if number % 10 == 2 => {
                    let _ = writeln!(line, "throw error({}_{}, {number});", word(), word());
                }
                _ if number % 512 == 3 => {
                    let _ = writeln!(line, "let made = {}_builder();", word());
                }
                _ => {
                    let _ = writeln!(line, "const {}{} = {}({});", word(), number, word(), word());
                }
            }
            line
        })
        .collect()
}

/// A repository with rules at its top and in every area.
fn make_rules(root: &Path) -> io::Result<()> {
    fs::create_dir(root.join(".git"))?;
    fs::write(root.join(".gitignore"), "*.txt\n/part9/\nunit3/*.md\n!unit3/keep*.md\n")?;
    for part in fs::read_dir(root)? {
        let part = part?.path();
        if part.is_file() || part.ends_with(".git") {
            continue;
        }
        for area in fs::read_dir(part)? {
            fs::write(area?.path().join(".gitignore"), "# made here\nunit7/\n*.json\n!a*.json\n")?;
        }
    }
    Ok(())
}

fn make_one_directory(root: &Path, files: usize) -> io::Result<()> {
    for file in 0..files {
        File::create(root.join(format!("entry_{file}")))?.set_modified(time(file))?;
    }
    Ok(())
}

fn make_one_file(path: &Path) -> io::Result<()> {
    const BYTES: usize = 1 << 30;
    let mut random = Random(11);
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut written, mut line) = (0, String::new());
    // The rare word stands three times in it, far from each other.
    let mut needles = [BYTES / 5, BYTES / 2, BYTES - BYTES / 10].into_iter().peekable();
    for number in 0.. {
        line.clear();
        let level = match number % 50 {
            0 => "error",
            1..5 => "warning",
            _ => "info",
        };
        let (service, word) = (random.pick(&WORDS), random.pick(&WORDS));
        let _ = write!(line, "2026-01-02T03:04:05.{:06} {level} {service}: ", number % 1_000_000);
        let _ = writeln!(line, "{word} handled request {number} in {} us", random.below(90_000));
        if needles.next_if(|&at| at < written).is_some() {
            line.push_str("fatal: needle_in_haystack\n");
        }
        if written + line.len() > BYTES {
            break;
        }
        out.write_all(line.as_bytes())?;
        written += line.len();
    }
    out.flush()
}

const WORDS: [&str; 32] = [
    "account", "adapter", "buffer", "cache", "client", "column", "config", "cursor", "device",
    "entry", "filter", "handler", "header", "index", "layout", "limit", "message", "module",
    "number", "option", "parser", "policy", "query", "record", "render", "request", "schema",
    "session", "stream", "table", "token", "window",
];

/// Numbers that are the same on every machine: a xorshift generator, which needs no crate.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn pick_ref<'a>(&mut self, from: &'a [String]) -> &'a str {
        &from[self.below(from.len() as u64) as usize]
    }
}
