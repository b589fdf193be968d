//! Files of which there is too much: T16 to T19.

use super::own_process::{OwnProcess, is_own, peak_bytes};
use super::watched::watched_for;
use super::{here, ways};
use crate::tree::Tree;
use ingrep::{
    CancelToken, ErrorCode, Limits, MultiLine, Pool, Query, Reason, Scope, Stop, Terminator, rg,
};
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

/// On a machine that does other things as well a gigabyte of nothing takes its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// More than a search with two threads may ever hold, and much less than what is in the files.
const MOST: usize = 200 << 20;

/// A healthy file, one that says it has so many bytes, and another healthy one.
fn among_healthy(bytes: u64) -> Tree {
    let tree = Tree::new("a: needle\n z: needle");
    let file = File::create(tree.join("m")).unwrap();
    file.set_len(bytes).unwrap();
    tree
}

/// The healthy ones are found, and the large one is told by this message.
#[track_caller]
fn check_told(tree: &Tree, query: &Query, message: &str) {
    let pools = [Pool::inline(), Pool::new(2)];
    for ((way, scope), pool) in ways(&here(tree)).into_iter().zip([&pools[0], &pools[1], &pools[0]])
    {
        let search = query.clone().scope(scope.pool(pool)).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        let mut paths: Vec<_> = outcome.files.iter().map(|file| file.path.as_path()).collect();
        paths.sort();
        assert_eq!(paths, [Path::new("a"), Path::new("z")], "{way}");
        let told: Vec<_> = outcome.summary.diagnostics.iter().collect();
        assert_eq!(told.len(), 1, "{way}: {told:?}");
        assert_eq!((told[0].reason, &*told[0].message), (Reason::TooLarge, message), "{way}");
        assert_eq!(told[0].path.as_deref(), Some(Path::new("m")), "{way}");
    }
    let error = query.clone().compile().unwrap().search_file(tree.join("m")).unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::LimitExceeded, message));
}

#[track_caller]
fn check_memory() {
    let peak = peak_bytes();
    println!("{} MiB at most", peak >> 20);
    assert!(peak < MOST, "{peak}");
}

#[test]
fn a_file_of_a_terabyte_is_not_held_to_be_searched_across_lines() {
    OwnProcess::new("large_files::in_its_own_a_terabyte_is_searched_across_lines").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_terabyte_is_searched_across_lines() {
    if !is_own() {
        return;
    }
    watched_for(PATIENCE, 8 << 20, || {
        let query = Query::new(r"needle\n?").multi_line(MultiLine::On);
        let message = "the file is over max_multi_line_bytes (33554432)";
        // The last is as much as a file can say to have; not every file system lets it.
        for bytes in [1 << 40, i64::MAX as u64] {
            check_told(&among_healthy(bytes), &query, message);
        }
        let tree = among_healthy(i64::MAX as u64);
        let multi = ["-U", r"needle\n?"];
        for paths in [&[][..], &["a", "m", "z"]] {
            let command = rg::Command::new(tree.path()).args(multi).args(paths);
            let output = command.output(&CancelToken::new()).unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!((output.code, stdout.lines().count()), (2, 2), "{output:?}");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains("max_multi_line_bytes"), "{stderr}");
        }
        check_memory();
    });
}

#[test]
fn a_line_of_two_gigabytes_is_told_by_the_name_of_its_limit() {
    OwnProcess::new("large_files::in_its_own_a_line_of_two_gigabytes_is_searched").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_a_line_of_two_gigabytes_is_searched() {
    if !is_own() {
        return;
    }
    watched_for(PATIENCE, 8 << 20, || {
        let tree = among_healthy(2 << 30);
        let mut file = File::options().write(true).open(tree.join("m")).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"needle\n").unwrap();
        let text = Query::new("needle").binary(ingrep::Binary::Text);
        check_told(&tree, &text, "a line is over max_line_buffer_bytes (16777216)");
        // ripgrep takes the file for binary at its first byte, and so do we.
        let search = Query::new("needle").scope(here(&tree)).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        assert_eq!((outcome.files.len(), outcome.summary.diagnostics.total()), (2, 0));
        // So is one that is decoded first.
        let decoded = text.encoding(ingrep::Encoding::Label("latin1".into()));
        check_told(&tree, &decoded, "a line is over max_line_buffer_bytes (16777216)");
        check_memory();
    });
}

#[test]
fn a_device_without_end_is_refused_or_ends_by_a_limit() {
    watched_for(PATIENCE, 8 << 20, || {
        let zero = Path::new("/dev/zero");
        let search = Query::new("needle").compile().unwrap();
        assert_eq!(search.search_file(zero).unwrap_err().code(), ErrorCode::SpecialFile);
        let error = Scope::new(zero).files(&CancelToken::new()).map(Iterator::count);
        match error {
            Err(error) => assert_eq!(error.code(), ErrorCode::SpecialFile),
            Ok(files) => assert_eq!(files, 0),
        }
        // ripgrep opens what it is named. A line without end is over a limit, in text...
        let run = || rg::Command::new("/").limits(Limits::new());
        for argv in [&["-a", "needle", "/dev/zero"][..], &["-U", "needle\\n?", "/dev/zero"]] {
            let output = run().args(argv).output(&CancelToken::new()).unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stderr.contains("is over max_"), "{argv:?}: {stderr}");
            assert_eq!((output.code, output.stopped), (2, None), "{argv:?}");
        }
        // ...and any number of empty ones goes on until somebody stops it, as with ripgrep.
        let token = CancelToken::new().deadline_in(Duration::from_millis(200));
        let output = run().args(["needle", "/dev/zero"]).output(&token).unwrap();
        assert_eq!((output.code, output.stopped), (2, Some(Stop::DeadlinePassed)));
        // Patterns without end are no patterns.
        for argv in [&["-f", "/dev/zero", "/dev/null"][..], &["-f", "-", "/dev/null"]] {
            let zeros = std::io::repeat(0);
            let output = run().args(argv).stdin_reader(zeros).output(&CancelToken::new()).unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.code == 2 && stderr.contains("max_pattern_bytes"), "{argv:?}: {stderr}");
        }
        let lines = Query::new("needle").terminator(Terminator::Nul).compile().unwrap();
        assert_eq!(lines.search_file(zero).unwrap_err().code(), ErrorCode::SpecialFile);
    });
}

/// What says that it holds nothing, and does not end.
#[test]
fn a_file_that_tells_no_size_is_read_up_to_a_limit() {
    watched_for(PATIENCE, 8 << 20, || {
        // It is there for every process, says 0, and holds more than a few bytes.
        let stat = Path::new("/proc/self/status");
        assert_eq!(fs::metadata(stat).unwrap().len(), 0);
        let all = Query::new("^").compile().unwrap().search_file(stat).unwrap();
        assert!(all.complete && all.lines_matched > 20);
        let limits = Limits::new().max_unsized_bytes(100);
        let message = "a file that tells no size is read up to max_unsized_bytes (100)";
        let few = Query::new("^").limits(limits.clone()).compile().unwrap();
        let error = few.search_file(stat).unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::LimitExceeded, message));
        let search = Query::new("^").limits(limits.clone()).scope(Scope::new(stat));
        let outcome = search.compile().unwrap().collect(&CancelToken::new()).unwrap();
        let told: Vec<_> = outcome.summary.diagnostics.iter().collect();
        assert_eq!((told.len(), &*told[0].message), (1, message));
        assert_eq!(told[0].reason, Reason::TooLarge);
        // What was read is kept.
        assert_eq!(outcome.summary.bytes_searched, 100);
        assert!(!outcome.files[0].complete);
        // Held whole, as ripgrep would map it, it is no longer.
        for mmap in ["--mmap", "--no-mmap"] {
            let command = rg::Command::new("/proc/self").limits(limits.clone());
            let output = command.args([mmap, "^", "status"]).output(&CancelToken::new()).unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.code == 2 && stderr.contains("max_unsized_bytes"), "{mmap}: {stderr}");
        }
        // An empty file is under every limit.
        let none = Query::new("^").limits(Limits::new().max_unsized_bytes(0)).compile().unwrap();
        assert!(none.search_file(Tree::new("e").join("e")).unwrap().complete);
    });
}
