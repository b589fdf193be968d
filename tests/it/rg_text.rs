//! rg's text output where the real rg says nothing: threads, limits, and being stopped.

use crate::recorded;
use crate::tree::Tree;
use ingrep::rg::Command;
use ingrep::{CancelToken, Limits, Pool, Stop};
use std::time::Duration;

/// Enough files for several batches on the way at once.
fn many_files() -> Tree {
    let tree = Tree::new("");
    let table: String = (0..300)
        .map(|n| format!("d{}/{n}.txt: {}\n", n % 7, "needle hay\\nhay\\nhay\\n".repeat(n % 4)))
        .collect();
    tree.add(&table);
    tree
}

#[test]
fn text_is_the_same_on_any_number_of_threads() {
    let tree = many_files();
    let pools = [Pool::inline(), Pool::new(1), Pool::new(2), Pool::new(8)];
    for argv in [
        "needle",
        "--sort path needle",
        "--sortr path -C1 needle",
        "-n -A1 needle",
        "-j1 -C1 needle",
        "--heading --sort modified needle",
        "-p needle",
        "--stats -c needle",
        "--stats --sort path -C1 needle",
        "-l needle",
        "--files-without-match needle",
        "--count-matches --include-zero needle",
        "-o --column needle",
        "--vimgrep -r x needle",
        "--passthru hay",
    ] {
        let [first, others @ ..] = pools.each_ref().map(|pool| {
            let command = Command::new(tree.path()).args(argv.split(' ')).pool(pool);
            let output = command.output(&CancelToken::new()).unwrap();
            assert_eq!(output.stderr, b"", "{argv}");
            (output.code, recorded::without_times(&output.stdout))
        });
        assert_eq!(first.0, 0, "{argv}");
        for other in others {
            assert_eq!(other, first, "{argv}");
        }
    }
}

#[test]
fn a_block_of_an_unsorted_run_is_whole() {
    let tree = many_files();
    let command = Command::new(tree.path()).args(["-n", "-H", "hay"]).pool(&Pool::new(8));
    let output = command.output(&CancelToken::new()).unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut paths: Vec<_> = stdout.lines().map(|line| line.split(':').next().unwrap()).collect();
    let lines = paths.len();
    paths.dedup();
    let blocks = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(blocks, paths.len());
    assert!(blocks > 200 && lines > blocks);
}

/// The head is shown, the rest is told of.
#[test]
fn a_result_over_its_limit_is_cut_and_told() {
    let tree = Tree::new("");
    tree.add(&format!("a: {}\nb: needle\\n", "needle\\n".repeat(1_000)));
    let limits = Limits::new().max_file_result_bytes(100);
    for (argv, head) in [
        (&["needle", "--sort", "path"][..], "a:needle\na:needle\n"),
        (&["needle", "a", "b", "-j2"], "a:needle\na:needle\n"),
        (&["--json", "needle", "--sort", "path"], "{\"type\":\"begin\""),
        (&["-r", &"x".repeat(30), "needle", "--sort", "path"], "a:xxx"),
    ] {
        let command = Command::new(tree.path()).args(argv).limits(limits.clone());
        let output = command.output(&CancelToken::new()).unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.code, 2, "{argv:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "rg: a: the result is cut by max_file_result_bytes\n",
            "{argv:?}"
        );
        assert!(stdout.starts_with(head) && stdout.ends_with('\n'), "{argv:?}: {stdout}");
        assert!(stdout.lines().filter(|line| line.starts_with("a:")).count() < 100, "{argv:?}");
        // The next file is searched, and shown.
        let next = ["\nb:", r#""path":{"text":"b"}"#];
        assert!(next.iter().any(|next| stdout.contains(next)), "{argv:?}: {stdout}");
    }
}

/// A short template over a long line would be a gigabyte before anything was written.
#[test]
fn replacements_of_one_line_are_under_the_limit_too() {
    let tree = Tree::new("");
    tree.add(&format!("a: first\\n{}\\n", "z".repeat(100_000)));
    let command = Command::new(tree.path())
        .args(["-r", &"$0".repeat(5_000), "z|first", "a"])
        .limits(Limits::new().max_file_result_bytes(1 << 20));
    let output = command.output(&CancelToken::new()).unwrap();
    assert_eq!(output.code, 2);
    assert_eq!(output.stdout, [&b"first".repeat(5_000)[..], b"\n"].concat());
    assert!(output.stderr.ends_with(b"max_file_result_bytes\n"));
}

/// One line can be millions of matches to find, and more to write.
#[test]
fn the_token_is_seen_within_a_line() {
    for argv in
        [&["-o", "x"][..], &["--count-matches", "x"], &["--vimgrep", "x"], &["-r", "y", "x"]]
    {
        let command = Command::new("/")
            .args(argv)
            .stdin(vec![b'x'; 20 << 20])
            .limits(Limits::new().max_file_result_bytes(1 << 30).max_line_buffer_bytes(1 << 30));
        let token = CancelToken::new().deadline_in(Duration::from_millis(100));
        let output = command.output(&token).unwrap();
        assert_eq!(output.stopped, Some(Stop::DeadlinePassed), "{argv:?}");
        assert_eq!(output.code, 2, "{argv:?}");
        assert_eq!(output.stderr, b"rg: the deadline passed\n", "{argv:?}");
        assert!(
            output.stdout.is_empty() || output.stdout.ends_with(b"\n"),
            "{argv:?}: half a line"
        );
    }
}
