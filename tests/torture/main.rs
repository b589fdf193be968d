//! The tortures: what ingrep is put through that takes longer than anybody waits for every day.
//!
//! `INGREP_TORTURE=1 cargo test --release --test torture` runs them at the size of CI, ten times that
//! with 10, and so on; without the variable nothing is run. `INGREP_TORTURE_ONLY=1,17` runs some of
//! them, `INGREP_TORTURE_SEED` draws others, and `INGREP_TORTURE_LATENCY_MS` says how late a cancelled
//! search may come back. At the end stands a table; whatever failed is told above it, and fails the
//! command.
//!
//! The numbers are those of the list that they were drawn up in. What is missing of it is a test of
//! `tests/it`: the real rg is asked by `rg_random` (2), trees are made by `hostile` (6), links are
//! swapped by `hostile::race` (12), processes and what lies outside are watched for by
//! `hostile::no_process` and `hostile::system_calls` (13, 14, 15).

#![allow(clippy::disallowed_types, reason = "what may end badly is done by another process")]
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a test is a host")]

// Crowds, panics, changes and leaks within one process; little of what a process needs; the engine; what
// is large.
mod crowd;
mod differential;
mod engine;
mod large;
mod less;
mod process;
mod whole;

#[path = "../it/dice.rs"]
mod dice;
#[path = "../it/portioned.rs"]
mod portioned;
#[path = "../it/tree.rs"]
#[allow(dead_code, reason = "the other tests have more kinds of trees")]
mod tree;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What came of one torture.
#[derive(Default)]
struct Score {
    tried: u64,
    failed: u64,
    /// The figure that was worst, in words.
    worst: String,
    /// The first of what failed.
    failures: Vec<String>,
}

impl Score {
    fn passed(&mut self) {
        self.tried += 1;
    }

    fn failed(&mut self, what: String) {
        self.tried += 1;
        self.failed += 1;
        if self.failures.len() < 10 {
            self.failures.push(what);
        }
    }

    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        match holds {
            true => self.passed(),
            false => self.failed(what()),
        }
    }
}

struct Torture {
    number: &'static str,
    name: &'static str,
    run: fn(&Size) -> Score,
}

/// How much of it.
struct Size {
    scale: f64,
    seed: u64,
}

impl Size {
    /// So many at the size of CI.
    fn of(&self, count: u64) -> u64 {
        ((count as f64 * self.scale) as u64).max(1)
    }

    fn time(&self, at_ci: Duration) -> Duration {
        at_ci.mul_f64(self.scale)
    }
}

const TORTURES: &[Torture] = &[
    Torture { number: "1", name: "random searches, three ways", run: differential::three_ways },
    Torture { number: "3,4,11", name: "hostile patterns, cancelled", run: engine::patterns },
    Torture { number: "5", name: "hostile globs and rules", run: engine::globs },
    Torture { number: "8", name: "at most k threads", run: less::threads },
    Torture { number: "9", name: "few descriptors", run: less::descriptors },
    Torture { number: "10", name: "little address space", run: less::memory },
    Torture { number: "16", name: "many searches at once", run: crowd::at_once },
    Torture { number: "17", name: "dropped or cancelled", run: crowd::half_way },
    Torture { number: "18", name: "soak", run: crowd::soak },
    Torture { number: "19", name: "panics of the caller", run: crowd::panics },
    Torture { number: "20", name: "changing files", run: crowd::changing },
    Torture { number: "23", name: "stacks of 256 KiB", run: crowd::small_stacks },
    // Last: the allocator keeps some of what it takes, and others ask how much the process has.
    Torture { number: "4b", name: "large inputs, cancelled", run: large::inputs },
];

fn number(name: &str) -> Option<f64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|err| panic!("{name}={value}: {err}")))
}

fn main() {
    if process::is_child() {
        return process::child();
    }
    let Some(scale) = number("INGREP_TORTURE") else {
        println!("not run: INGREP_TORTURE is not set");
        return;
    };
    let size = Size { scale, seed: number("INGREP_TORTURE_SEED").map_or(1, |seed| seed as u64) };
    let only = std::env::var("INGREP_TORTURE_ONLY").unwrap_or_default();
    let mut table = vec![row(["number", "torture", "tried", "failed", "seconds"], "worst figure")];
    let mut failed = 0;
    for torture in TORTURES {
        let numbers: Vec<_> = torture.number.split(',').collect();
        if !only.is_empty() && !only.split(',').any(|number| numbers.contains(&number)) {
            continue;
        }
        println!("{}: {}", torture.number, torture.name);
        let begin = Instant::now();
        let score = catch_unwind(AssertUnwindSafe(|| (torture.run)(&size))).unwrap_or_else(|_| {
            let mut score = Score::default();
            score.failed("it panicked, see above".to_string());
            score
        });
        for failure in &score.failures {
            println!("  failed: {failure}");
        }
        failed += score.failed;
        let [tried, lost] = [score.tried, score.failed].map(|count| count.to_string());
        let seconds = begin.elapsed().as_secs().to_string();
        table.push(row([torture.number, torture.name, &tried, &lost, &seconds], &score.worst));
    }
    println!("\n{}", table.join("\n"));
    if failed > 0 {
        println!("\n{failed} failed");
        std::process::exit(1);
    }
}

fn row([number, name, tried, failed, seconds]: [&str; 5], worst: &str) -> String {
    format!("{number:>6} | {name:<28} | {tried:>7} | {failed:>6} | {seconds:>7} | {worst}")
}
