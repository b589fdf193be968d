//! What a call costs against a run of the real rg: the figures that this project exists for.
//!
//! `cargo bench --bench versus` finds or builds rg, makes the trees that are not there, and prints
//! a table; `cargo bench --bench versus -- --help` tells how to ask for less or more. [`tree`] is
//! what is searched, [`jobs`] what is asked, [`measure`] how, and [`report`] what is made of it.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark is a host")]
#![allow(clippy::disallowed_types, reason = "the real rg is a process")]

mod jobs;
mod measure;
#[path = "../../tests/it/recorded/program.rs"]
mod program;
mod report;
mod tree;

use ingrep::Pool;
use jobs::{Goal, Job};
use lexopt::{Arg, ValueExt};
use measure::Measured;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};
use tree::Tree;

const HELP: &str = "\
cargo bench --bench versus -- [WORDS] [OPTIONS]

WORDS              only the jobs whose name contains one of them
--tree NAME,NAME   a number of files (236, 1k, 10k, 100k, 200k), repository, registry,
                   million (files in one directory) or gigabyte (one file);
                   default: 236,100k,repository,registry
--rounds N         how often each is asked after one round that warms up; default: 7
--threads N        threads of ours, and of rg where it has several; default: as many as cores
--record LABEL     write the table to benches/record/DATE-LABEL.md as well
";

struct Options {
    words: Vec<String>,
    trees: Vec<String>,
    rounds: usize,
    threads: usize,
    record: Option<String>,
    /// This process is one that [`peaks`] has started, for this job.
    peak: Option<Side>,
}

#[derive(Clone, Copy)]
enum Side {
    Rg,
    Ours,
}

fn main() -> ExitCode {
    let done = match parse() {
        Ok(None) => {
            print!("{HELP}");
            Ok(true)
        }
        Ok(Some(options)) => run(&options),
        Err(error) => Err(error.to_string()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

/// `None` when help is asked for.
fn parse() -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        words: Vec::new(),
        trees: ["236", "100k", "repository", "registry"].map(String::from).to_vec(),
        rounds: 7,
        threads: 0,
        record: None,
        peak: None,
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Value(word) => options.words.push(word.string()?),
            Arg::Long("tree") => {
                let names = arguments.value()?.string()?;
                options.trees = names.split(',').map(String::from).collect();
            }
            Arg::Long("rounds") => options.rounds = arguments.value()?.parse()?,
            Arg::Long("threads") => options.threads = arguments.value()?.parse()?,
            Arg::Long("record") => options.record = Some(arguments.value()?.string()?),
            Arg::Long("peak-of-rg") => options.peak = Some(Side::Rg),
            Arg::Long("peak-of-ours") => options.peak = Some(Side::Ours),
            // Cargo says so to every benchmark.
            Arg::Long("bench") => {}
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            argument => return Err(argument.unexpected()),
        }
    }
    Ok(Some(options))
}

/// Whether every answer was right.
fn run(options: &Options) -> Result<bool, String> {
    let pool = match options.threads {
        0 => Pool::default(),
        threads => Pool::new(threads),
    };
    if let Some(side) = options.peak {
        return print_peak(options, &pool, side).map(|()| true);
    }
    let rg = program::program()?;
    let mut text = report::preamble(&rg, options.rounds, pool.threads());
    print!("{text}");
    // Rows are printed as they come, for somebody waits.
    let mut write = |part: String| {
        print!("{part}");
        text += &part;
    };
    let mut right = true;
    for name in &options.trees {
        let Some(tree) = Tree::open(name)? else {
            eprintln!("there is no tree {name} here");
            continue;
        };
        for job in jobs(&tree, &pool, options) {
            let measured = measure(options, &job, &tree, &rg);
            right &= measured.is_ok();
            write(report::row(&tree, &job, measured));
        }
    }
    write(format!("\nLoad afterwards: {}\n", report::load_average()));
    if let Some(label) = &options.record {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join("record");
        let path = dir.join(format!("{}-{label}.md", report::today()));
        std::fs::create_dir_all(&dir)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|err| format!("{}: {err}", path.display()))?;
    }
    Ok(right)
}

/// The jobs that are asked for.
fn jobs(tree: &Tree, pool: &Pool, options: &Options) -> Vec<Job> {
    let mut jobs = jobs::of(tree, pool);
    let named = |job: &Job| {
        options.words.is_empty() || options.words.iter().any(|word| job.name.contains(word))
    };
    jobs.retain(named);
    if options.threads > 0 {
        let threads = format!("-j{}", options.threads);
        for job in &mut jobs {
            // The last one counts, and a job may have its own.
            job.argv.insert(0, threads.clone());
        }
    }
    jobs
}

fn measure(
    options: &Options,
    job: &Job,
    tree: &Tree,
    rg: &OsStr,
) -> Result<(Measured, Option<report::Peaks>), String> {
    measure::check(job, tree, rg)?;
    let measured = measure::measure(job, tree, rg, options.rounds)?;
    let bounded = job.goals.iter().any(|goal| matches!(goal, Goal::Peak(_)));
    let peaks = bounded.then(|| peaks(options, job, tree)).transpose()?;
    Ok((measured, peaks))
}

/// Peak memory is that of a whole process, so each side gets one of its own: this program again.
fn peaks(options: &Options, job: &Job, tree: &Tree) -> Result<report::Peaks, String> {
    let program = std::env::current_exe().map_err(|err| format!("this program: {err}"))?;
    let ask = |side: &str| {
        let mut command = Command::new(&program);
        command.args([job.name, "--tree", &tree.name, "--threads", &options.threads.to_string()]);
        let output = command.arg(side).output().map_err(|err| format!("{side}: {err}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse::<u64>().map_err(|err| format!("{side}: {err}"))
    };
    Ok((ask("--peak-of-rg")?, ask("--peak-of-ours")?))
}

/// The other end of [`peaks`]. Words are parts of names there, here one whole name.
fn print_peak(options: &Options, pool: &Pool, side: Side) -> Result<(), String> {
    let name = options.trees.first().ok_or("no tree")?;
    let tree = Tree::open(name)?.ok_or("the tree is gone")?;
    let mut jobs = jobs(&tree, pool, options).into_iter();
    let job =
        jobs.find(|job| options.words.contains(&job.name.to_string())).ok_or("no such job")?;
    let kib = match side {
        Side::Rg => measure::peak_of_rg(&job, &tree, &program::program()?)?,
        Side::Ours => measure::growth_of_ours(&job, &tree)?,
    };
    println!("{kib}");
    Ok(())
}
