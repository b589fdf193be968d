//! Rules about the source that no compiler checks, read off its text.
//!
//! The text is read line by line, up to a file's own tests, without what stands in comments. That
//! is no parser; the self-tests below show what it sees.

use std::path::{Path, PathBuf};

/// Each room with its rank: what it may import lies below it.
const ROOMS: &[(&str, u8)] = &[
    ("error", 0),
    ("faults", 0),
    ("cancel", 0),
    ("limits", 0),
    ("text", 0),
    ("pool", 0),
    ("progress", 0),
    ("duty", 1),
    ("query", 1),
    ("beneath", 1),
    ("scope", 1),
    ("matches", 1),
    ("haystack", 2),
    ("matcher", 2),
    ("walk", 3),
    ("scan", 3),
    ("ordered", 2),
    ("collect", 3),
    ("hunt", 4),
    ("chunks", 4),
    ("search", 5),
    ("wire", 6),
    ("tools", 7),
    ("rg", 7),
    ("main", 8),
    ("cli", 8),
];

/// Which rooms may name which crates.
const CRATES: &[(&str, &[&str])] = &[
    ("grep_searcher", &["scan"]),
    ("grep_regex", &["matcher"]),
    ("grep_matcher", &["matcher", "scan", "rg"]),
    ("regex_syntax", &["matcher"]),
    ("regex_automata", &["matcher"]),
    ("ignore", &["walk"]),
    ("globset", &["tools"]),
    ("rayon", &["pool"]),
    ("rustix", &["beneath", "haystack", "walk"]),
    ("bstr", &["text", "matcher", "rg", "walk"]),
    ("lexopt", &["rg"]),
    ("encoding_rs", &["rg"]),
    ("grep_printer", &["rg"]),
    ("termcolor", &["rg"]),
    ("serde", &["wire", "tools", "cli"]),
    ("serde_json", &["wire", "tools", "cli"]),
    ("base64", &["wire", "tools"]),
    ("itoa", &["wire"]),
    ("tempfile", &["tools"]),
    ("clap", &["cli"]),
    ("ctrlc", &["cli"]),
];

/// What the library may not do to its host, and what it may not leave undone.
const FORBIDDEN: &[&str] = &[
    "process::Command",
    "Command::new(",
    "env::var",
    "env::args",
    "env::current_dir",
    "env::current_exe",
    "env::set_",
    "env::remove_",
    "env::home_dir",
    "env::temp_dir",
    "process::exit",
    "process::abort",
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
    "dbg!",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "unsafe",
    "todo!",
    "unimplemented!",
    ".unwrap()",
];

struct Source {
    room: String,
    /// `src/room.rs`, for messages.
    name: String,
    /// A file of a room that is a directory.
    inside: bool,
    text: String,
}

fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    list(&src, &mut files);
    files.sort();
    assert!(files.len() > 15, "the sources are where they were");
    let source = |path: PathBuf| {
        let below = path.strip_prefix(&src).unwrap();
        let room = Path::new(below.components().next().unwrap().as_os_str()).with_extension("");
        Source {
            room: room.to_str().unwrap().to_string(),
            name: format!("src/{}", below.display()),
            inside: below.components().count() > 1,
            text: std::fs::read_to_string(&path).unwrap(),
        }
    };
    files.into_iter().map(source).collect()
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// What a file's own tests begin with.
const OWN_TESTS: &[&str] = &["#[cfg(test)]", "#[cfg(all(test, target_os = \"linux\"))]"];

/// The lines of code with their numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .take_while(|(_, line)| !OWN_TESTS.contains(&line.trim()))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(number, line)| (number, line.split(" // ").next().unwrap()))
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Where `name` stands as a word of its own, or the beginning of a path.
fn words<'a>(line: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    line.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let joined = name.starts_with(is_word) && before.ends_with(is_word);
        let goes_on = name.ends_with(is_word) && after.starts_with(is_word);
        !joined && !goes_on
    })
}

fn rank(room: &str) -> Option<u8> {
    ROOMS.iter().find(|(name, _)| *name == room).map(|&(_, rank)| rank)
}

fn import_faults(source: &Source) -> Vec<String> {
    // The crate page imports nothing, it only names what is public.
    if source.name == "src/lib.rs" {
        return Vec::new();
    }
    let Some(own) = rank(&source.room) else {
        return vec![format!("{}: `{}` is no room with a rank", source.name, source.room)];
    };
    let mut faults = Vec::new();
    for (number, line) in code(&source.text) {
        let mut fault = |what: String| faults.push(format!("{}:{number}: {what}", source.name));
        if !source.inside && words(line, "super").next().is_some() {
            fault("write `crate::`, so that the room imported from is named".to_string());
        }
        for at in words(line, "crate") {
            let Some(path) = line[at..].strip_prefix("crate::") else { continue };
            let imported: String = path.chars().take_while(|&c| is_word(c)).collect();
            match rank(&imported) {
                None => fault(format!("`{imported}` is no room with a rank")),
                Some(_) if imported == source.room => {}
                Some(rank) if rank >= own => {
                    fault(format!("`{imported}` is not below `{}`", source.room));
                }
                Some(_) => {}
            }
        }
    }
    faults
}

fn forbidden_faults(source: &Source) -> Vec<String> {
    if ["main", "cli"].contains(&&*source.room) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (number, line) in code(&source.text) {
        for &call in FORBIDDEN {
            // `env::var` stands for `env::vars` and `env::var_os`, too.
            let found = match call.ends_with(is_word) && call.contains("::") {
                // `Preprocess::Command` is something else.
                true => line.match_indices(call).any(|(at, _)| !line[..at].ends_with(is_word)),
                false => words(line, call).next().is_some(),
            };
            if found {
                faults.push(format!("{}:{number}: {call}", source.name));
            }
        }
    }
    faults
}

fn crate_faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in code(&source.text) {
        for (name, rooms) in CRATES {
            let named = words(line, name).any(|at| {
                let path = line[at + name.len()..].starts_with("::") && !line[..at].ends_with("::");
                path || line[..at].trim_end().ends_with("use")
            });
            if named && !rooms.contains(&&*source.room) {
                faults.push(format!("{}:{number}: {name} is not for this room", source.name));
            }
        }
    }
    faults
}

#[track_caller]
fn check(faults: impl Fn(&Source) -> Vec<String>) {
    let faults: Vec<String> = sources().iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_room_imports_only_from_rooms_below_it() {
    check(import_faults);
}

#[test]
fn the_library_leaves_its_host_alone_and_nothing_undone() {
    check(forbidden_faults);
}

#[test]
fn a_foreign_crate_is_named_in_its_own_room_only() {
    check(crate_faults);
}

#[test]
fn every_dependency_has_a_room() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let mut listed = Vec::new();
    let mut in_dependencies = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_dependencies = line.ends_with("dependencies]") && !line.contains("dev-");
        } else if in_dependencies
            && let Some((name, _)) = line.split_once(" = ")
            && !line.starts_with('#')
        {
            listed.push(name.trim().replace('-', "_"));
        }
    }
    let mut ruled: Vec<_> = CRATES.iter().map(|(name, _)| name.to_string()).collect();
    listed.sort();
    ruled.sort();
    assert_eq!(listed, ruled);
}

fn sample(room: &str, text: &str) -> Source {
    let name = format!("src/{room}.rs");
    Source { room: room.to_string(), name, inside: false, text: text.to_string() }
}

#[test]
fn the_import_rule_sees_what_it_forbids() {
    let seen = |room: &str, line: &str| import_faults(&sample(room, line)).len();
    assert_eq!(seen("scan", "use crate::matches::Span;"), 0);
    assert_eq!(seen("scan", "use crate::scan::Scanner;"), 0, "its own");
    assert_eq!(seen("scan", "use crate::collect::End;"), 1, "upwards");
    assert_eq!(seen("walk", "use crate::scan::Scanner;"), 1, "sideways, within a rank");
    assert_eq!(seen("query", "use crate::scope::Scope;"), 1, "sideways, low down");
    assert_eq!(seen("scan", "use crate::matcher::Matcher;"), 0, "downwards");
    assert_eq!(seen("matcher", "use crate::scan::Scanner;"), 1, "the exception, reversed");
    assert_eq!(seen("scan", "fn f(_: crate::search::Search, _: &crate::rg::Args) {}"), 2);
    assert_eq!(seen("scan", "use crate::{search::Search};"), 1, "in a group");
    assert_eq!(seen("scan", "use crate::Search;"), 1, "by way of the crate page");
    assert_eq!(seen("scan", "use crate::helpers::x;"), 1, "an unknown room");
    assert_eq!(seen("helpers", ""), 1, "a file that is an unknown room");
    assert_eq!(seen("scan", "use super::search::Search;"), 1, "by another name");
    assert_eq!(seen("scan", "pub(crate) fn f() {}"), 0);
    assert_eq!(seen("scan", "    /// As [`crate::Search`] does."), 0, "a comment");
    assert_eq!(seen("scan", "#[cfg(test)]\nmod tests { use super::*; }"), 0, "its own tests");
    let inside = Source { inside: true, ..sample("walk", "use super::order;") };
    assert!(import_faults(&inside).is_empty());
}

#[test]
fn the_ban_sees_each_thing_it_bans() {
    let seen = |line: &str| forbidden_faults(&sample("scan", line)).len();
    for call in FORBIDDEN {
        assert!(seen(&format!("    let x = std::{call}(1);")) > 0, "{call}");
        assert_eq!(seen(&format!("/// std::{call}(1)")), 0, "{call} in a comment");
        assert_eq!(forbidden_faults(&sample("cli", call)).len(), 0, "{call} in the binary");
    }
    for line in [
        "std::env::vars_os()",
        "std::env::var_os(\"HOME\")",
        "env::args_os()",
        "use std::process::Command;",
        "io::stdout().lock()",
        "unsafe { }",
        "x.unwrap();",
    ] {
        assert_eq!(seen(line), 1, "{line}");
    }
    for line in [
        "writeln!(f, \"x\")",
        "unsafe_code",
        "x.unwrap_or(1)",
        "Preprocess::Command(_)",
        "&self.stdin",
    ] {
        assert_eq!(seen(line), 0, "{line}");
    }
}

#[test]
fn the_rule_on_foreign_crates_sees_each_of_them() {
    let seen = |room: &str, line: &str| crate_faults(&sample(room, line)).len();
    for (name, rooms) in CRATES {
        for line in [format!("use {name}::X;"), format!("use {name};"), format!("f::<{name}::X>()")]
        {
            assert_eq!(seen("search", &line), 1, "{line}");
            assert_eq!(seen(rooms[0], &line), 0, "{line}");
        }
    }
    for line in ["self.ignore.len()", "crate::ignore::x()", "my_serde::x()", "ignore: bool"] {
        assert_eq!(seen("search", line), 0, "{line}");
    }
}
