//! Random trees and random argv: we answer as the real rg does.
//!
//! The recorded cases hold what somebody thought of. Here a grammar draws from everything that is
//! served, and what differs is printed as a case to be recorded in `fixtures/rg`, as small as it
//! could be made.
//!
//! `INGREP_RANDOM_SEED` and `INGREP_RANDOM_ARGV` say which argv are drawn, and how many. With
//! `INGREP_RANDOM_TEXT=1` they are drawn from those that write text.

mod draw;

use crate::recorded::tree::Tree;
use crate::recorded::{self, format, oracle};
use crate::rg_recorded::run_in_process;
use draw::{Drawing, Drawn};
use format::{Case, Entry, Run, RunOutput, TimeKind};
use ingrep::rg::args::{self, Args, Mode, Parsed, SortKey, Special, Unserved};
use ingrep::rg::flags::{FLAGS, FlagId, Support};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Enough that every served flag is drawn several times, and few enough for every day: a second
/// or two.
const ARGV: usize = 300;
const SEED: u64 = 15_02_00;

/// A tree takes as long to make as a few runs do.
const ARGV_PER_TREE: usize = 20;

/// More than one cause hides behind a hundred differences, but not behind the first of them.
const MAX_DIFFERENCES: usize = 10;

#[test]
#[allow(clippy::disallowed_macros, reason = "a log tells how many argv were compared")]
fn random_argv_are_answered_as_rg_answers_them() {
    let program = oracle::program().unwrap();
    let seed = number("INGREP_RANDOM_SEED").unwrap_or(SEED);
    let count = number("INGREP_RANDOM_ARGV").map_or(ARGV, |count| count as usize);
    let (mut tally, mut differences, mut flags) =
        (Tally::default(), Vec::new(), BTreeSet::<FlagId>::new());
    let mut drawing = Drawing::new(seed, number("INGREP_RANDOM_TEXT").is_some());
    let mut forced = served().cycle();
    for first in (0..count).step_by(ARGV_PER_TREE) {
        let tree = drawing.tree();
        let runs: Vec<Drawn> = (first..count.min(first + ARGV_PER_TREE))
            .map(|_| drawing.argv(&tree, forced.next()))
            .collect();
        let made = Tree::make(&parsed(&runs[0]).unwrap().tree).unwrap();
        for drawn in &runs {
            flags.extend(&drawn.flags);
            let case = parsed(drawn).unwrap();
            let verdict = compare(&program, &case, Some(&made));
            if let Verdict::Differs(_) = verdict
                && differences.len() < MAX_DIFFERENCES
            {
                differences.push(described(&program, drawn));
            }
            tally.add(&verdict);
        }
    }
    println!("seed {seed}: {tally}");
    assert!(
        tally.differ == 0,
        "seed {seed}: {tally}\nto be recorded:\n\n{}",
        differences.join("\n\n")
    );
    if count >= ARGV {
        let never: Vec<_> = served().filter(|id| !flags.contains(id)).collect();
        assert!(never.is_empty(), "never drawn: {never:?}");
        assert!(tally.found * 4 > tally.compared, "too few find anything: {tally}");
        assert!(tally.text * 4 > tally.compared, "too few write text: {tally}");
    }
}

/// A number that the environment sets.
pub(crate) fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|err| panic!("{name}={value}: {err}")))
}

fn served() -> impl Iterator<Item = FlagId> + Clone {
    FLAGS.iter().filter(|flag| flag.support == Support::Served).map(|flag| flag.id)
}

#[derive(Default)]
struct Tally {
    compared: usize,
    /// How many of those wrote text.
    text: usize,
    found: usize,
    nothing: usize,
    failed: usize,
    refused: usize,
    panicked: usize,
    differ: usize,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Refused => self.refused += 1,
            Verdict::OraclePanicked => self.panicked += 1,
            Verdict::Differs(_) => self.differ += 1,
            Verdict::Same { code, text } => {
                self.compared += 1;
                self.text += usize::from(*text);
                match code {
                    0 => self.found += 1,
                    1 => self.nothing += 1,
                    _ => self.failed += 1,
                }
            }
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} argv answered alike, {} of them with text ({} found, {} nothing, {} failed), {} not \
             served, rg itself panicked on {}, {} differ",
            self.compared,
            self.text,
            self.found,
            self.nothing,
            self.failed,
            self.refused,
            self.panicked,
            self.differ
        )
    }
}

enum Verdict {
    Same {
        code: i32,
        text: bool,
    },
    Differs(String),
    /// By design: `--pre`, for instance.
    Refused,
    /// Exit code 101 is nothing to be like; that we do not panic there is checked.
    OraclePanicked,
}

type Runner<'a> = &'a dyn Fn(&Run, &Path) -> Result<RunOutput, String>;

/// Runs the last run of a case both ways, in this tree or in one made for it.
fn compare(program: &OsString, case: &Case, shared: Option<&Tree>) -> Verdict {
    let run = case.runs.last().expect("a drawn case has a run");
    let how = match how(run) {
        Some(how) => how,
        None => return Verdict::Refused,
    };
    let own = match shared {
        Some(_) => None,
        None => match Tree::make(&case.tree) {
            Ok(tree) => Some(tree),
            Err(err) => return Verdict::Differs(format!("rg: {err}\n")),
        },
    };
    let dir = shared.or(own.as_ref()).expect("one of them is there").dir();
    let asked: Runner<'_> = &|run, dir| oracle::run(program, run, dir);
    let answers = [asked, &run_in_process].map(|runner| {
        let answer = catch_unwind(AssertUnwindSafe(|| runner(&run.resolved(dir), dir)));
        let answer = answer.map_err(|_| "we panicked".to_string())??;
        Ok::<_, String>(RunOutput {
            code: answer.code,
            stdout: recorded::without_dir(&recorded::without_times(&answer.stdout), dir),
            stderr: recorded::without_dir(&answer.stderr, dir),
        })
    });
    let [mut theirs, mut ours] = match answers {
        [Ok(theirs), Ok(ours)] => [theirs, ours],
        [Err(err), _] => return Verdict::Differs(format!("rg: {err}\n")),
        [_, Err(err)] => return Verdict::Differs(format!("{err}\n")),
    };
    if theirs.code == 101 {
        return Verdict::OraclePanicked;
    }
    for answer in [&mut theirs, &mut ours] {
        how.normalise(answer, case);
    }
    match theirs == ours {
        true => Verdict::Same { code: theirs.code, text: how.text },
        false => {
            let (theirs, ours) = (format::shown_output(&theirs), format::shown_output(&ours));
            Verdict::Differs(recorded::changed_lines(&theirs, &ours))
        }
    }
}

/// How the answers to an argv can be compared at all.
#[derive(Default)]
struct How {
    special: Option<Special>,
    /// rg has no order of its own here.
    unordered: bool,
    /// Messages that are told before, between or after those of other threads.
    unordered_messages: bool,
    /// rg tells the faults of rules above several roots once for each, or not, as its threads meet.
    repeats_messages: bool,
    /// What is found is written as text.
    text: bool,
    /// Lines end in more than one way, or NUL is a separator of names.
    two_ends: bool,
    /// The first success ends a walk on several threads wherever the others are.
    ends_anywhere: bool,
    by_time: Option<TimeKind>,
    follows: bool,
    logs: bool,
}

/// `None` when we do not serve the argv.
fn how(run: &Run) -> Option<How> {
    let args: Box<Args> = match args::parse(run.args.iter().cloned()) {
        Err(_) => return Some(How::default()),
        Ok(Parsed::Special(special)) => {
            return Some(How { special: Some(special), ..How::default() });
        }
        Ok(Parsed::Args(args)) => args,
    };
    if !matches!(args::check(&args), Ok(()) | Err(Unserved::Pcre2)) {
        return None;
    }
    let key = args.sort.map(|sort| sort.key);
    let by_time = key.is_some_and(|key| key != SortKey::Path);
    let text = args.mode.searches() && args.mode != Mode::Json && !args.quiet;
    let parallel = key.is_none() && args.threads != Some(1);
    Some(How {
        special: None,
        // Files are made faster than a file system's clock ticks.
        unordered: parallel || key == Some(SortKey::Created),
        unordered_messages: parallel || by_time,
        repeats_messages: parallel && args.positional.len() > 1,
        text,
        two_ends: text || (args.path_separator == Some(0) && !args.null),
        ends_anywhere: parallel
            && args.quiet
            && (args.mode == Mode::Files || (!args.stats && args.mode != Mode::Json)),
        by_time: match key {
            Some(SortKey::Accessed) => Some(TimeKind::Accessed),
            Some(SortKey::Modified) => Some(TimeKind::Modified),
            _ => None,
        },
        follows: args.follow,
        logs: args.log != args::Log::Off,
    })
}

impl How {
    fn normalise(&self, answer: &mut RunOutput, case: &Case) {
        match self.special {
            Some(Special::ShortHelp | Special::LongHelp) => answer.stdout.clear(),
            // Which instructions rg was built for stands in the other lines.
            Some(Special::ShortVersion | Special::LongVersion) => {
                let line = answer.stdout.split(|&byte| byte == b'\n').next();
                answer.stdout = line.unwrap_or_default().to_vec();
            }
            _ => {}
        }
        // Ties are left as a directory was read; a link and its target are one.
        let ties =
            self.by_time.is_some_and(|kind| self.follows || has_equal_times(&case.tree, kind));
        if (self.unordered || ties) && self.two_ends {
            let ends = |byte: &u8| matches!(byte, b'\n' | 0);
            let mut pieces: Vec<_> = answer.stdout.split_inclusive(ends).collect();
            pieces.sort_unstable();
            answer.stdout = pieces.concat();
        } else if self.unordered || ties {
            answer.stdout = recorded::in_order(&answer.stdout);
        }
        if self.unordered_messages {
            answer.stderr = recorded::in_order(&answer.stderr);
        }
        if self.repeats_messages {
            let lines = answer.stderr.split(|&byte| byte == b'\n');
            let lines: BTreeSet<_> =
                lines.map(|line| line.strip_prefix(b"rg: ").unwrap_or(line)).collect();
            answer.stderr = Vec::from_iter(lines).join(&b'\n');
        }
        if self.logs || (self.ends_anywhere && answer.code == 0) {
            answer.stderr.clear();
        }
    }
}

/// Whether not every file has a time of its own.
fn has_equal_times(tree: &[Entry], wanted: TimeKind) -> bool {
    let files = tree.iter().filter(|entry| matches!(entry, Entry::File { .. })).count();
    let times = tree.iter().filter_map(|entry| match entry {
        Entry::Time { kind, seconds, .. } if *kind == wanted => Some(seconds),
        _ => None,
    });
    times.collect::<BTreeSet<_>>().len() != files
}

fn parsed(drawn: &Drawn) -> Result<Case, String> {
    let mut file = format::parse("random", drawn.text())?;
    file.cases.pop().ok_or_else(|| "no case".to_string())
}

/// The case made as small as it differs, and how.
fn described(program: &OsString, drawn: &Drawn) -> String {
    let still = |drawn: &Drawn| match parsed(drawn) {
        Ok(case) => match compare(program, &case, None) {
            // A part that is needed is missing.
            Verdict::Differs(what) if what.starts_with("rg: ") => None,
            Verdict::Differs(what) => Some(what),
            _ => None,
        },
        Err(_) => None,
    };
    let Some(mut what) = still(drawn) else {
        return format!("{}# differs only in the tree of its batch, or not always\n", drawn.text());
    };
    let mut small = drawn.clone();
    let mut try_without = |small: &mut Drawn, smaller: Drawn| match still(&smaller) {
        Some(smaller_what) => {
            *small = smaller;
            what = smaller_what;
            true
        }
        None => false,
    };
    for _ in 0..2 {
        let mut at = small.args.len();
        while at > 0 {
            at -= 1;
            let mut smaller = small.clone();
            smaller.args.remove(at);
            if !try_without(&mut small, smaller) && at > 0 {
                // A flag and its value.
                let mut smaller = small.clone();
                smaller.args.drain(at - 1..=at);
                if try_without(&mut small, smaller) {
                    at -= 1;
                }
            }
        }
        let mut at = small.settings.len();
        while at > 0 {
            at -= 1;
            let mut smaller = small.clone();
            let setting = smaller.settings.remove(at);
            // Where the working directory is left, `..` leads out of the tree.
            if !setting.starts_with("in ") {
                try_without(&mut small, smaller);
            }
        }
        let mut step = small.tree.len().next_power_of_two();
        while step > 0 {
            let mut at = 0;
            while at < small.tree.len() {
                let mut smaller = small.clone();
                smaller.tree.drain(at..small.tree.len().min(at + step));
                if !try_without(&mut small, smaller) {
                    at += step;
                }
            }
            step /= 2;
        }
    }
    format!("{}# rg -, ingrep +\n{what}", small.text())
}

/// What drawing twice from one seed gives is the same.
#[test]
fn a_seed_says_what_is_drawn() {
    let draw = || {
        let mut drawing = Drawing::new(1, false);
        let tree = drawing.tree();
        drawing.argv(&tree, None).text()
    };
    assert_eq!(draw(), draw());
}
