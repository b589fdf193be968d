//! Files so large that several threads search one: the answer is that of one thread.

use crate::haystacks::Haystacks;
use crate::recorded;
use ingrep::rg::Command;
use ingrep::{CancelToken, Limits, Outcome, Pool, Query, Scope};

/// Over the size from which files are shared, and no multiple of anything.
fn log() -> Vec<u8> {
    let line = |index: usize| match index % 7 {
        0 => format!("{index} needle in é hay, needle\r\n"),
        1 => String::from("\n"),
        _ => format!("{index} hay {}\n", "hay ".repeat(index % 90)),
    };
    (0..80_000).map(line).collect::<String>().into_bytes()
}

fn logs() -> Haystacks {
    let with = |bytes: &[u8], at: usize| {
        let mut text = log();
        text.splice(at..at, bytes.iter().copied());
        text
    };
    let plain = log();
    assert!(plain.len() > 9 << 20, "{}", plain.len());
    let size = plain.len();
    Haystacks::new(&[
        ("plain", plain),
        ("unended", log()[..size - 3].to_vec()),
        ("late-nul", with(b"\0", size - 100)),
        ("early-nul", with(b"\0", 200_000)),
        ("long-line", with(&vec![b'x'; 3 << 20], size / 2)),
        ("marked", with(b"\xef\xbb\xbf", 0)),
        ("invalid", with(b"\n\xa9\xff needle \xff\n", size / 3)),
    ])
}

#[test]
fn rg_answers_for_a_large_file_as_on_one_thread() {
    let logs = logs();
    let pool = Pool::new(3);
    for argv in [
        "--json needle plain",
        "--json needle plain unended late-nul early-nul long-line marked invalid",
        "--json --sort path needle",
        "--json --no-mmap needle plain late-nul",
        "--json -a needle late-nul invalid",
        "--json -N needle plain",
        "--json -r <$0> ^1.*needle plain",
        "--json --stats ^$ plain unended",
        "--json nowhere plain",
        "--json -U needle plain",
        "--json -C1 needle plain",
        "--json -m2 needle plain",
        "--json -v hay plain",
        "--json --crlf needle$ plain",
        "-c needle plain",
        "-q needle plain",
    ] {
        let [alone, together] = ["-j1", "-j3"].map(|threads| {
            // On one thread there are no batches, and the order is that of the argv.
            let argv = argv.split(' ').chain([threads, "--sort=path"]);
            let output = Command::new(logs.root()).args(argv).pool(&pool);
            let output = output.output(&CancelToken::new()).unwrap();
            assert_eq!(output.stderr, b"", "{argv:?}", argv = threads);
            (output.code, recorded::without_times(&output.stdout))
        });
        // Too large to be printed.
        assert!(alone == together, "{argv}");
    }
}

#[test]
fn a_search_of_a_large_file_keeps_the_same_head() {
    let logs = logs();
    for limits in [
        Limits::new(),
        Limits::new().max_lines(1_500).max_files(3),
        Limits::new().max_lines_per_file(4_321).max_line_bytes(9),
        Limits::new().max_file_result_bytes(300_000),
        Limits::new().max_line_buffer_bytes(2 << 20),
    ] {
        let [alone, together] = [Pool::inline(), Pool::new(3)].map(|pool| -> Outcome {
            let query = Query::new("needle").scope(Scope::new(logs.root()).pool(&pool));
            let search = query.limits(limits.clone()).compile().unwrap();
            let mut outcome = search.collect(&CancelToken::new()).unwrap();
            outcome.summary.elapsed = Default::default();
            outcome
        });
        assert!(alone.files == together.files, "{limits:?}");
        assert_eq!(format!("{:?}", alone.summary), format!("{:?}", together.summary));
    }
}
