//! Asks the real rg again for every recorded case and writes its answers into `fixtures/rg`.
//!
//! `cargo run --example record [THEME..]`, where a theme is a fixture file's name without `.cases`.
//! The rg that is asked is that of `INGREP_RG`, or one that is built into `target/oracle`. Prints what changed; writes `COVERAGE.md` as well.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "an example is a host")]
#![allow(clippy::disallowed_types, reason = "the real rg is a process")]

#[path = "../tests/it/recorded/mod.rs"]
mod recorded;

use std::process::ExitCode;

use recorded::{coverage, format, oracle};

fn main() -> ExitCode {
    match record(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("{err}");
            ExitCode::FAILURE
        }
    }
}

fn record(themes: &[String]) -> Result<(), String> {
    let program = oracle::program()?;
    let dir = recorded::fixtures();
    let files = recorded::load(&dir)?;
    let (mut added, mut changed) = (0, 0);
    for file in &files {
        if !themes.is_empty() && !themes.iter().any(|theme| file.name == format!("{theme}.cases")) {
            continue;
        }
        let mut answers = Vec::new();
        for case in &file.cases {
            for run in &case.runs {
                let runner = |run: &_, dir: &_| oracle::run(&program, run, dir);
                let answer = recorded::answer(case, run, &runner)
                    .map_err(|err| format!("{}:{}: {err}", file.name, run.line))?;
                if run.recorded.is_none() {
                    added += 1;
                } else if let Some(change) = recorded::difference(file, case, run, &answer) {
                    println!("{change}");
                    changed += 1;
                }
                answers.push(answer);
            }
        }
        write(&dir.join(&file.name), &file.text, &format::with_answers(file, &answers))?;
    }
    let reasons = coverage::unreachable(&dir)?;
    for problem in coverage::problems(&files, &reasons) {
        println!("{problem}");
    }
    let index = dir.join("COVERAGE.md");
    let old = std::fs::read_to_string(&index).unwrap_or_default();
    write(&index, &old, &coverage::table(&files, &reasons))?;
    println!("{added} answers added, {changed} changed");
    Ok(())
}

/// Leaves a file alone that would stay the same, so that its time tells when it changed.
fn write(path: &std::path::Path, old: &str, new: &str) -> Result<(), String> {
    if old == new {
        return Ok(());
    }
    std::fs::write(path, new).map_err(|err| format!("{}: {err}", path.display()))
}
