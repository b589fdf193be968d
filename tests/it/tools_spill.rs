//! Complete results: what stores get, what a reply says when one fails, and what is left on disk.

use crate::haystacks::Haystacks;
use crate::replies::{Kept, glob, grep, grep_as, schemas};
use ingrep::tools::{
    DirSpill, GlobInput, GrepInput, GrepOutput, SpillStore, Spilled, ToolErrorCode, Tools,
};
use ingrep::{CancelToken, Pool, Query, Scope, rg};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Files of one match each, so that a search goes on while its result is saved.
fn many(files: usize) -> Haystacks {
    let names: Vec<_> = (0..files).map(|n| format!("d{}/f{n:04}.txt", n % 7)).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "a needle here\n")).collect();
    Haystacks::new(&files)
}

fn names_in(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What a store does with its content.
#[derive(Clone, Copy, Debug)]
enum Fault {
    AtOnce,
    HalfWay,
    ReadsNothing,
    LeavesTheEnd,
}

impl SpillStore for Fault {
    fn save(&self, _: &str, content: &mut dyn Read) -> io::Result<Spilled> {
        let full = || io::Error::new(io::ErrorKind::StorageFull, "no room left");
        let mut some = [0; 100];
        match self {
            Fault::AtOnce => return Err(full()),
            Fault::HalfWay => {
                content.read_exact(&mut some)?;
                return Err(full());
            }
            Fault::ReadsNothing => {}
            Fault::LeavesTheEnd => content.read_exact(&mut some)?,
        }
        Ok(Spilled { locator: "nowhere".to_string(), hint: "Look there.".to_string() })
    }
}

#[test]
fn a_store_that_fails_costs_only_the_complete_result() {
    let haystacks = many(40);
    let tools = Tools::new(haystacks.root()).glob_max_results(3).grep_max_matches(3);
    let no_store = grep(&tools, &GrepInput::new("needle"));
    assert_eq!(
        no_store.notes.warnings,
        ["the complete result could not be saved: there is no spill store"]
    );
    let small = tempfile::tempdir().unwrap();
    let faults = [Fault::AtOnce, Fault::HalfWay, Fault::ReadsNothing, Fault::LeavesTheEnd];
    let mut stores: Vec<_> =
        faults.iter().map(|&fault| (format!("{fault:?}"), tools.clone().spill(fault))).collect();
    let no_room = DirSpill::new(small.path()).unwrap().max_bytes(100);
    stores.push(("no room".to_string(), tools.clone().spill(no_room)));
    for (name, tools) in stores {
        let found = grep(&tools, &GrepInput::new("needle"));
        assert_eq!((found.total, found.total_files, &found.files), (40, 40, &no_store.files));
        assert_eq!(found.text, no_store.text, "{name}");
        let listed = glob(&tools, &GlobInput::new("*.txt"));
        assert_eq!((listed.total, listed.paths.len()), (40, 3));
        assert!(listed.text.ends_with(
            "\n\n(Showing 3 of 40 paths. The complete result could not be saved; narrow pattern \
             or path to see more.)"
        ));
        for warnings in [found.notes.warnings, listed.notes.warnings] {
            assert_eq!(warnings.len(), 1, "{name}");
            assert!(warnings[0].starts_with("the complete result could not be saved: "), "{name}");
        }
        assert_eq!((found.saved, listed.saved), (None, None), "{name}");
    }
    assert_eq!(names_in(small.path()), [""; 0], "nothing is left of a result without room");
}

/// Reads byte by byte, and sleeps now and then.
struct Slow(Kept);

impl SpillStore for Slow {
    fn save(&self, name: &str, content: &mut dyn Read) -> io::Result<Spilled> {
        let mut all = Vec::new();
        let mut byte = [0];
        while content.read(&mut byte)? > 0 {
            all.push(byte[0]);
            if all.len() % 500 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        self.0.save(name, &mut &all[..])
    }
}

#[test]
fn the_complete_result_is_the_uncapped_reply() {
    let haystacks = many(60);
    std::fs::write(haystacks.path("d0/long"), "needle ".repeat(600) + "\nneedle\nneedle\n")
        .unwrap();
    let whole = Tools::new(haystacks.root());
    let all_paths = glob(&whole, &GlobInput::new("*"));
    for output in [GrepOutput::Matches, GrepOutput::FilesWithMatches, GrepOutput::Counts] {
        let all = grep_as(&whole, &GrepInput::new("needle"), output);
        let body = all.text.split_once("\n\n").unwrap().1;
        for cap in [0, 1, 30, 60] {
            let (kept, slow) = (Kept::default(), Kept::default());
            let capped = whole.clone().grep_max_matches(cap).glob_max_results(cap);
            let found =
                grep_as(&capped.clone().spill(kept.clone()), &GrepInput::new("needle"), output);
            let later = grep_as(
                &capped.clone().spill(Slow(slow.clone())),
                &GrepInput::new("needle"),
                output,
            );
            assert_eq!(found, later, "slow or fast");
            let expected = format!("{body}\n\nFound 63 matches in 61 files\n");
            let saved = [("grep-results.txt".to_string(), expected)];
            assert_eq!((kept.all(), slow.all()), (saved.to_vec(), saved.to_vec()));
        }
    }
    let kept = Kept::default();
    glob(&whole.glob_max_results(5).spill(kept.clone()), &GlobInput::new("*"));
    let saved = [("glob-results.txt".to_string(), all_paths.text + "\n")];
    assert_eq!(kept.all(), saved);
}

#[test]
fn a_directory_store_keeps_private_files_with_names_of_their_own() {
    let haystacks = many(20);
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("made/for/it");
    let store = DirSpill::new(&dir).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    let tools = Tools::new(haystacks.root()).grep_max_matches(1).glob_max_results(1);
    let tools = tools.spill(store.clone());
    let mut locators = Vec::new();
    for _ in 0..5 {
        locators.push(grep(&tools, &GrepInput::new("needle")).saved.unwrap().locator);
        locators.push(glob(&tools, &GlobInput::new("*")).saved.unwrap().locator);
    }
    for locator in &locators {
        assert_eq!(mode(locator.as_ref()), 0o600);
        assert!(Path::new(locator).is_absolute() && locator.ends_with(".txt"), "{locator}");
    }
    locators.sort();
    locators.dedup();
    assert_eq!(locators.len(), 10);
    assert_eq!(names_in(&dir).len(), 10, "and nothing besides");

    for other in ["my-results-2024.csv", "grep-results.txt", "notes"] {
        std::fs::write(dir.join(other), "not ours").unwrap();
    }
    std::fs::create_dir(dir.join("grep-results-of-mine")).unwrap();
    assert_eq!(store.clean(Duration::from_secs(3600)).unwrap(), 0, "too young");
    let old = std::fs::File::options().write(true).open(&locators[0]).unwrap();
    old.set_modified(std::time::SystemTime::now() - Duration::from_secs(7200)).unwrap();
    assert_eq!(store.clean(Duration::from_secs(3600)).unwrap(), 1);
    assert!(!Path::new(&locators[0]).exists());
    assert_eq!(store.clean(Duration::ZERO).unwrap(), 9);
    let mut left = names_in(&dir);
    left.sort();
    assert_eq!(left, ["grep-results-of-mine", "grep-results.txt", "my-results-2024.csv", "notes"]);
    assert!(DirSpill::new(dir.join("notes")).is_err(), "a file is no place for results");
}

/// Cancels the search once the store has something to save.
struct Impatient(DirSpill, CancelToken);

impl SpillStore for Impatient {
    fn save(&self, name: &str, content: &mut dyn Read) -> io::Result<Spilled> {
        let mut head = [0; 10];
        content.read_exact(&mut head)?;
        self.1.cancel();
        self.0.save(name, &mut (&head[..]).chain(content))
    }
}

#[test]
fn nothing_is_left_of_a_search_that_was_stopped_or_found_too_much() {
    let haystacks = many(600);
    let dir = tempfile::tempdir().unwrap();
    let store = DirSpill::new(dir.path()).unwrap();
    let token = CancelToken::new();
    let tools = Tools::new(haystacks.root()).grep_max_matches(2).glob_max_results(2);
    for pool in [Pool::inline(), Pool::new(2)] {
        let token = token.child();
        let impatient = tools.clone().pool(&pool).spill(Impatient(store.clone(), token.clone()));
        let error = impatient.grep(&GrepInput::new("needle"), &token).unwrap_err();
        assert_eq!(error.code(), ToolErrorCode::Aborted);
        let partial = error.partial().unwrap();
        assert!(partial.data["total"].as_u64().unwrap() >= 3, "{}", partial.data);
        assert!(partial.data["total"].as_u64().unwrap() < 600, "{}", partial.data);
        assert_eq!(partial.data["files"].as_array().unwrap().len(), 2);
        assert_eq!(partial.data["saved"], serde_json::Value::Null);
        assert!(partial.text.contains("a needle here"), "{}", partial.text);
        assert!(schemas("grep").output.is_valid(&partial.data));
        assert_eq!(names_in(dir.path()), [""; 0]);
    }
    let small = tools.raw_output_max_bytes(3_000).spill(store);
    let found = small.grep(&GrepInput::new("needle"), &CancelToken::new()).unwrap_err();
    let listed = small.glob(&GlobInput::new("*"), &CancelToken::new()).unwrap_err();
    for error in [found, listed] {
        assert_eq!(error.code().as_str(), "SEARCH_RAW_OUTPUT_OVERFLOW");
        assert!(error.partial().is_none() && error.next_step().is_some());
        assert!(error.message().contains("3000 bytes"), "{error}");
    }
    assert_eq!(names_in(dir.path()), [""; 0]);
}

#[test]
fn the_cap_on_the_complete_result_counts_what_ripgrep_prints() {
    let haystacks = Haystacks::new(&[
        ("src/a.txt", &b"needle \"quoted\"\tand needle\r\nneedle\n"[..]),
        ("src/caf\u{e9}.txt", "no\nneedle \u{1f600} é\n".as_bytes()),
        ("src/raw.txt", b"needle \xff\x01\n"),
        ("src/last.txt", b"needle"),
    ]);
    for pattern in ["needle", "n.*e", "^", r"\S+"] {
        let printed = rg::Command::new(haystacks.root())
            .args(["--json", "--sort", "path", "-e", pattern, "src"])
            .output(&CancelToken::new())
            .unwrap();
        let lines = printed.stdout.split_inclusive(|&byte| byte == b'\n');
        let matches: Vec<_> = lines.filter(|l| l.starts_with(b"{\"type\":\"match\"")).collect();
        assert!(matches.len() >= 5);
        let bytes = matches.concat().len() as u64;
        for (max, fits) in [(bytes - 1, false), (bytes, true), (bytes + 1, true)] {
            for cap in [0, 2, 250] {
                let tools = Tools::new(haystacks.root())
                    .raw_output_max_bytes(max)
                    .grep_max_matches(cap)
                    .grep_max_line_bytes(3);
                let found = tools.grep(&GrepInput::new(pattern).path("src"), &CancelToken::new());
                assert_eq!(found.is_ok(), fits, "{pattern}: {max} of {bytes}");
            }
        }
    }
    let listed = rg::Command::new(haystacks.root())
        .args(["--files", "src"])
        .output(&CancelToken::new())
        .unwrap();
    let bytes = listed.stdout.len() as u64;
    for (max, fits) in [(bytes - 1, false), (bytes, true), (bytes + 1, true)] {
        let tools = Tools::new(haystacks.root()).raw_output_max_bytes(max);
        let found = tools.glob(&GlobInput::new("*").path("src"), &CancelToken::new());
        assert_eq!(found.is_ok(), fits, "{max} of {bytes}");
    }
}

#[test]
fn a_large_result_is_saved_in_bounded_memory() {
    const BUDGET: u64 = 1 << 20;
    let names: Vec<_> = (0..400).map(|n| format!("f{n:03}.txt")).collect();
    let line = format!("a needle in {}\n", "hay ".repeat(50));
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), line.repeat(25))).collect();
    let haystacks = Haystacks::new(&files);
    let dir = tempfile::tempdir().unwrap();
    let pool = Pool::inline();
    let tools = Tools::new(haystacks.root()).pool(&pool).meta_max_bytes(usize::MAX);
    let tools = tools.spill(DirSpill::new(dir.path()).unwrap());
    // What a search holds by itself, whoever reads its results.
    let stream = || {
        let scope = Scope::new(haystacks.root()).pool(&pool);
        let search = Query::new("needle").scope(scope).compile().unwrap();
        search.stream(&CancelToken::new()).unwrap().map(|file| file.lines().len()).sum::<usize>()
    };
    assert_eq!(stream(), 10_000);
    let base = allocation_counter::measure(|| assert_eq!(stream(), 10_000));
    let mut reply = None;
    let held = allocation_counter::measure(|| {
        reply = tools.grep(&GrepInput::new("needle"), &CancelToken::new()).ok();
    });
    let reply = reply.unwrap();
    assert_eq!((reply.total, reply.truncated), (10_000, true));
    let saved = std::fs::metadata(reply.saved.unwrap().locator).unwrap().len();
    assert!(saved > 2 * BUDGET, "the result itself is larger than the budget");
    assert!(held.bytes_max > 50_000, "it was measured: {}", held.bytes_max);
    let own = held.bytes_max.saturating_sub(base.bytes_max);
    assert!(own < BUDGET, "{own} bytes beside the {} of the search", base.bytes_max);
}
