//! What is printed: the machine, and a table in Markdown with what was promised beside each job.

use crate::jobs::{Goal, Job};
use crate::measure::{Cost, Measured};
use crate::tree::Tree;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;

/// Peak of rg and growth of ours, in KiB.
pub(crate) type Peaks = (u64, u64);

const HEAD: &str = "\
| tree | job | rg ms | ingrep ms | rg / ingrep | CPU ms | rg / ingrep | peak MiB | committed | met |
|---|---|---:|---:|---:|---:|---:|---:|---|---|
";

/// What is about to be measured, and where.
pub(crate) fn preamble(rg: &OsStr, rounds: usize, threads: usize) -> String {
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_string();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let commit = output(Command::new("git").args([
        "-C",
        env!("CARGO_MANIFEST_DIR"),
        "describe",
        "--always",
        "--dirty",
    ]));
    format!(
        "# ingrep against rg, {date}\n\n\
         * {cores} cores, {model}, Linux {kernel}, load {load}\n\
         * {rg}; ingrep {commit}, {threads} threads\n\
         * medians of {rounds} rounds in turn, after one that warmed up; the ratios are medians of \
         each round's ratio; peak memory is the whole of rg's, and the growth of ours by the call\n\n{HEAD}",
        date = today(),
        kernel = kernel.trim(),
        load = load_average(),
        rg = first_line(output(Command::new(rg).arg("--version"))),
        commit = commit.trim(),
    )
}

pub(crate) fn today() -> String {
    output(Command::new("date").args(["-u", "+%F"])).trim().to_string()
}

pub(crate) fn load_average() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_string()
}

fn output(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).into_owned()
}

/// A row of the table. Without a measurement it says why there is none.
pub(crate) fn row(
    tree: &Tree,
    job: &Job,
    measured: Result<(Measured, Option<Peaks>), String>,
) -> String {
    let (tree, name) = (&tree.name, job.name);
    let (measured, peaks) = match measured {
        Ok(measured) => measured,
        Err(fault) => {
            let fault = fault.replace('\n', " ").replace('|', "\\|");
            return format!("| {tree} | {name} | FAILED: {fault} ||||||||\n");
        }
    };
    let ratio = |ratio: Option<f64>| ratio.map_or(String::from("-"), |ratio| number(ratio) + "x");
    let wall = |cost: Cost| millis(cost.wall.as_secs_f64());
    let cpu = |cost: Cost| millis(cost.cpu.as_secs_f64());
    let of_rg = |of: fn(Cost) -> String| measured.rg.map_or(String::from("-"), of);
    let peak = peaks.map_or(String::new(), |(rg, ours)| format!("{} : {}", mib(rg), mib(ours)));
    let missed: Vec<_> = job.goals.iter().filter(|goal| !met(goal, &measured, peaks)).collect();
    let met = match (job.goals.is_empty(), missed.is_empty()) {
        (true, _) => String::new(),
        (false, true) => String::from("yes"),
        (false, false) => format!("**no**: {}", shown(missed)),
    };
    format!(
        "| {tree} | {name} | {} | {} | {} | {} : {} | {} | {peak} | {} | {met} |\n",
        of_rg(wall),
        wall(measured.ours),
        ratio(measured.wall_ratio),
        of_rg(cpu),
        cpu(measured.ours),
        ratio(measured.cpu_ratio),
        shown(&job.goals),
    )
}

fn met(goal: &Goal, measured: &Measured, peaks: Option<Peaks>) -> bool {
    match *goal {
        Goal::Wall(least) => measured.wall_ratio.is_some_and(|ratio| ratio >= least),
        Goal::Cpu(least) => measured.cpu_ratio.is_some_and(|ratio| ratio >= least),
        Goal::Micros(most) => measured.ours.wall.as_secs_f64() * 1e6 <= most,
        Goal::Peak(most) => peaks.is_some_and(|(_, ours)| ours as f64 / 1024.0 <= most),
    }
}

fn shown<'a>(goals: impl IntoIterator<Item = &'a Goal>) -> String {
    let one = |goal: &Goal| match goal {
        Goal::Wall(least) => format!("≥ {least}x"),
        Goal::Cpu(least) => format!("CPU ≥ {least}x"),
        Goal::Micros(most) => format!("≤ {most} µs"),
        Goal::Peak(most) => format!("≤ {most} MiB"),
    };
    goals.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn millis(seconds: f64) -> String {
    number(seconds * 1e3)
}

fn mib(kib: u64) -> String {
    number(kib as f64 / 1024.0)
}

/// About three digits, which is more than a repetition would confirm.
fn number(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
