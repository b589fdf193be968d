//! ripgrep's arguments: reading them, and the run they ask for, within a tree that holds nothing
//! else. A run says the same twice, on threads, sorted, and quietly.

use crate::tree;
use ingrep::rg::args::{Args, Mode, Parsed, PatternSource, check, operands, parse};
use ingrep::rg::{Command, Output};
use ingrep::wire::rg::{Message, Reader};
use ingrep::{CancelToken, Limits, Pool};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::sync::LazyLock;

static TREE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tree::directory();
    tree::make(dir.path());
    std::fs::write(dir.path().join("lines"), "foo\nbar\nfoo bar\n\nbaz\n").unwrap();
    std::fs::write(dir.path().join("binary"), "foo\0bar\nfoo\n").unwrap();
    std::fs::write(dir.path().join("crlf"), "foo\r\nbär\r\n").unwrap();
    dir
});

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new(2));

/// Arguments with NUL between them.
pub fn run(data: &[u8]) {
    if data.len() > 400 {
        return;
    }
    let argv: Vec<OsString> =
        data.split(|&byte| byte == 0).map(|arg| OsString::from_vec(arg.to_vec())).collect();
    let parsed = parse(argv.iter().cloned());
    assert_eq!(format!("{parsed:?}"), format!("{:?}", parse(argv.iter().cloned())));
    match &parsed {
        Err(error) => {
            let output = answer(&argv, &Pool::inline());
            assert_eq!((output.code, &output.stdout[..]), (2, &b""[..]));
            assert!(output.stderr.starts_with(format!("rg: {error}").as_bytes()), "{error}");
        }
        Ok(Parsed::Special(_)) => {
            let output = answer(&argv, &Pool::inline());
            assert!(output.stderr.is_empty() && !output.stdout.is_empty());
        }
        Ok(Parsed::Args(args)) => {
            // Flags before, words behind a `--`: the same arguments.
            assert_eq!(&parse(apart(args, &argv)).expect("the same"), parsed.as_ref().unwrap());
            if stays_inside(args) {
                carried_out(args, &argv);
            }
        }
    }
}

/// The arguments again, with all that is no flag behind a `--`.
fn apart(args: &Args, argv: &[OsString]) -> Vec<OsString> {
    let mut words = args.positional.iter().peekable();
    let mut apart = Vec::new();
    for (index, arg) in argv.iter().enumerate() {
        let before = parse(argv[..index].iter().cloned());
        let after = parse(argv[..=index].iter().cloned());
        let count = |parsed: &Result<Parsed, _>| match parsed {
            Ok(Parsed::Args(args)) => Some(args.positional.len()),
            _ => None,
        };
        let is_word = matches!((count(&before), count(&after)), (Some(b), Some(a)) if a > b);
        if is_word {
            assert_eq!(words.next(), Some(arg));
        } else if arg != "--" || count(&before).is_none() {
            // A `--` that ends the flags says nothing more; another one is a value or a word.
            apart.push(arg.clone());
        }
    }
    apart.push("--".into());
    apart.extend(args.positional.iter().cloned());
    apart
}

/// Whether no path leads out of the tree.
fn stays_inside(args: &Args) -> bool {
    let Ok(found) = operands(args) else { return true };
    let files = found.patterns.iter().filter_map(|source| match source {
        PatternSource::File(file) => Some(file),
        _ => None,
    });
    let is_inside = |path: &OsString| {
        Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    found.paths.iter().chain(files).chain(&args.ignore_files).all(is_inside)
}

fn answer(argv: &[OsString], pool: &Pool) -> Output {
    let limits = Limits::new().max_regex_bytes(1 << 20).max_dfa_bytes(1 << 20);
    Command::new(TREE.path())
        .args(argv)
        .pool(pool)
        .limits(limits)
        .output(&CancelToken::new())
        .expect("no fault of ours")
}

fn carried_out(args: &Args, argv: &[OsString]) {
    // A larger one takes as long as a pattern asks for.
    if args.regex_size_limit.is_some_and(|bytes| bytes > 1 << 20) {
        return;
    }
    let output = answer(argv, &Pool::inline());
    assert!(output.stopped.is_none());
    assert!(output.code <= 2);
    assert!(output.code != 2 || !output.stderr.is_empty() || !args.messages, "2 says why");
    if check(args).is_err() || output.code == 2 {
        return;
    }
    let on_threads = answer(argv, &POOL);
    assert_eq!(output.code, on_threads.code);
    let is_json = args.mode == Mode::Json && !args.quiet;
    if is_json {
        let mut read = messages(&output.stdout);
        assert_eq!(read, messages(&on_threads.stdout));
        let sorted = answer(&with(argv, &["--sort=path"]), &Pool::inline());
        let mut sorted = messages(&sorted.stdout);
        read.sort();
        sorted.sort();
        assert_eq!(read, sorted, "sorted, the same is found");
    } else if !args.stats && !args.quiet {
        assert_eq!(shown(&output.stdout), shown(&on_threads.stdout));
        assert_eq!(shown(&output.stderr), shown(&on_threads.stderr));
    }
    if output.stderr.is_empty() {
        let quiet = answer(&with(argv, &["-q"]), &Pool::inline());
        assert_eq!(quiet.code, output.code, "quietly, the same is found");
        let says_counts = args.stats || matches!(args.mode, Mode::Json | Mode::TypeList);
        assert!(quiet.stdout.is_empty() || says_counts);
    }
}

/// The arguments with more flags before them all, which the last flag wins over: so behind those that
/// are there, before the words.
fn with(argv: &[OsString], flags: &[&str]) -> Vec<OsString> {
    let Ok(Parsed::Args(args)) = parse(argv.iter().cloned()) else { return argv.to_vec() };
    let mut all = apart(&args, argv);
    let words = all.len() - args.positional.len() - 1;
    let flags: Vec<OsString> = flags.iter().map(OsString::from).collect();
    all.splice(words..words, flags);
    all
}

/// The messages without their times, as text.
fn messages(lines: &[u8]) -> Vec<String> {
    let read = Reader::new(lines).map(|message| {
        let mut message = message.expect("each line is a message");
        match &mut message {
            Message::End(end) => end.stats.elapsed = Default::default(),
            Message::Summary(summary) => {
                summary.elapsed_total = Default::default();
                summary.stats.elapsed = Default::default();
            }
            _ => {}
        }
        format!("{message:?}")
    });
    read.collect()
}

fn shown(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}
