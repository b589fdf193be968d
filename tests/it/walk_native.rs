//! The native walk against the reference: random trees, and on each of them many random scopes.
//!
//! Both have to fail alike, or to list the same files in the same order, with the same times,
//! sizes, diagnostics and counts; without an order, in the order in which directories are read.
//! What differs is printed as a tree and settings, as small as they could be made.
//!
//! | `INGREP_WALKS=n` | how many scopes are compared |
//! |---|---|
//! | `INGREP_WALKS_SEED=s` | with another seed, others |
//! | `INGREP_WALKS_FIRST=t` | from the t-th tree on; of one comparison, that tree only |
//!
//! A million of them, which takes about an hour on two processors:
//!
//! ```text
//! INGREP_WALKS=1000000 cargo test --release --test it -- walk_native::random --nocapture
//! ```
//!
//! Some directories of the trees are closed, which root does not notice. To have the tests run by
//! somebody else, copy the test binary (`cargo test --no-run --test it` tells its path) to where
//! that user may read it, and run `setpriv --reuid=65534 --regid=65534 --clear-groups ./it
//! walk_native` in a directory that this user may enter.

mod churn;
mod draw;
mod plan;
mod purpose;
mod settings;

use crate::recorded::changed_lines;
use crate::rg_random::number;
use crate::tree::POOLS;
use draw::{Drawing, GLOBALS_BACK};
use ingrep::{CancelToken, Diagnostics, ErrorCode, Reason, Scope, Stop, Walker};
use plan::{Made, Plan};
use settings::Setting;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, SystemTime};

/// A few seconds in a debug build.
const COMPARISONS: usize = 1_500;
const SEED: u64 = 5;

/// A tree takes as long to make as a dozen walks.
const SCOPES_PER_TREE: usize = 50;

/// More than one cause hides behind a hundred differences, but not behind the first of them.
const MAX_DIFFERENCES: usize = 5;

/// Of longer lists only the lines that differ are shown.
const MAX_LINES: usize = 100;

/// No tree takes a second; a walk that hangs takes for ever.
const HANGS_AFTER: Duration = Duration::from_secs(100);

/// Where the native walk is better than the reference, and why. `purpose` asserts what it answers
/// there; here such cases are not drawn, or not compared, or not as strictly.
const ON_PURPOSE: &[(&str, &str)] = &[
    (
        "globs that all begin with the name of a directory",
        "other directories are not read, so what is wrong in them is not told: the native walk's \
         diagnostics are some of the reference's (settings::is_narrow)",
    ),
    (
        "a rule of the global file that takes something back, where repositories count, and any of it \
         where case is disregarded",
        "the reference does not hear it in a repository that begins below a root which is in none, \
         and hears it with regard to case as well, which a class like `[!a]` shows: not compared \
         (is_on_purpose)",
    ),
    (
        "a link that leads nowhere and that a global rule leaves out, in a repository below a root that \
         is in none",
        "the reference tells it, because it asks global rules about what it lists only; ripgrep and \
         the native walk do not: not compared (is_on_purpose)",
    ),
    (
        "a relative path in a `.git` file",
        "the reference takes it for relative to the process's directory, the native walk to the \
         base: not drawn",
    ),
    (
        "a FIFO or a device in the place of an ignore file",
        "the reference waits for it, the native walk tells it and goes on: not drawn",
    ),
    (
        "a rule over its limit",
        "to the reference it costs all rules of its file, to the native walk that one: not drawn",
    ),
    (
        "a link to a directory on another file system that is left out, with one_file_system",
        "the reference leaves out what follows it in its own directory, too, as ripgrep does: not \
         compared (is_on_purpose)",
    ),
];

#[test]
#[allow(clippy::disallowed_macros, reason = "a log tells how many scopes were compared")]
fn random_scopes_are_listed_as_the_reference_lists_them() {
    let seed = number("INGREP_WALKS_SEED").unwrap_or(SEED);
    let first = number("INGREP_WALKS_FIRST").unwrap_or(0) as usize;
    let count = number("INGREP_WALKS").map_or(COMPARISONS, |count| count as usize);
    let trees = first..first + count.div_ceil(SCOPES_PER_TREE);
    let (tally, differing) = compare_all(seed, trees);
    println!("seed {seed}: {tally}");
    let described: Vec<_> =
        differing.iter().take(MAX_DIFFERENCES).map(|at| described(seed, *at)).collect();
    let purpose = ON_PURPOSE.iter().map(|(what, why)| format!("* {what}: {why}\n"));
    assert!(
        differing.is_empty(),
        "seed {seed}: {tally}\n\n{}\n\nnot counted, because they are on purpose:\n{}",
        described.join("\n\n"),
        purpose.collect::<String>()
    );
    if count >= COMPARISONS {
        assert!(tally.listing * 2 > tally.compared, "too few list anything: {tally}");
        assert!(tally.troubled * 10 > tally.compared, "too few are troubled: {tally}");
        assert!(tally.refused * 5 < tally.compared, "too many are refused: {tally}");
        assert!(tally.refused > 0 && tally.narrow > 0 && tally.on_purpose > 0, "{tally}");
    }
}

/// A tree's number, and that of a scope on it.
type Place = (usize, usize);

#[derive(Default)]
struct Tally {
    compared: usize,
    /// Of those: at least one file, trouble, an error, globs that lead to some directories only.
    listing: usize,
    troubled: usize,
    refused: usize,
    narrow: usize,
    files: usize,
    on_purpose: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.compared += other.compared;
        self.listing += other.listing;
        self.troubled += other.troubled;
        self.refused += other.refused;
        self.narrow += other.narrow;
        self.files += other.files;
        self.on_purpose += other.on_purpose;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} scopes compared, {} files ({} scopes list any, {} have diagnostics, {} are \
             refused, {} are narrow), {} differ on purpose",
            self.compared,
            self.files,
            self.listing,
            self.troubled,
            self.refused,
            self.narrow,
            self.on_purpose
        )
    }
}

/// Compares all scopes on these trees, on all processors. Which differ?
fn compare_all(seed: u64, trees: std::ops::Range<usize>) -> (Tally, Vec<Place>) {
    let next = Arc::new(AtomicUsize::new(trees.start));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let at_work = Arc::new(Mutex::new(BTreeMap::<usize, Place>::new()));
    let (sender, reports) = mpsc::channel();
    for thread in 0..threads {
        let (next, sender, at_work) = (Arc::clone(&next), sender.clone(), Arc::clone(&at_work));
        let end = trees.end;
        std::thread::spawn(move || {
            loop {
                let tree = next.fetch_add(1, Ordering::Relaxed);
                if tree >= end {
                    return;
                }
                let begin = |case| _ = at_work.lock().unwrap().insert(thread, (tree, case));
                if sender.send(compare_on_tree(seed, tree, begin)).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let (mut tally, mut differing) = (Tally::default(), Vec::new());
    for _ in trees {
        match reports.recv_timeout(HANGS_AFTER) {
            Ok((tallied, differ)) => {
                tally.add(&tallied);
                differing.extend(differ);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("a tree could not be made"),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let at_work = at_work.lock().unwrap();
                let cases = at_work.values().map(|&at| case(seed, at)).collect::<Vec<_>>();
                panic!("one of these walks does not end:\n{}", cases.join("\n\n"));
            }
        }
    }
    differing.sort_unstable();
    (tally, differing)
}

fn compare_on_tree(seed: u64, tree: usize, begin: impl Fn(usize)) -> (Tally, Vec<Place>) {
    let (plan, scopes) = drawn(seed, tree);
    let made = Made::new(&plan);
    let (mut tally, mut differing) = (Tally::default(), Vec::new());
    for (case, settings) in scopes.iter().enumerate() {
        begin(case);
        if is_on_purpose(settings) {
            tally.on_purpose += 1;
            continue;
        }
        let (reference, native) = (reference(&made, settings), native(&made, settings));
        tally.compared += 1;
        tally.narrow += usize::from(settings::is_narrow(settings));
        match &reference {
            Answer::Listed { files, trouble, .. } => {
                tally.files += files.len();
                tally.listing += usize::from(!files.is_empty());
                tally.troubled += usize::from(!trouble.counts.is_empty());
            }
            Answer::Refused { .. } | Answer::Panicked => tally.refused += 1,
        }
        if !are_alike(settings, &reference, &native) {
            differing.push((tree, case));
        }
    }
    (tally, differing)
}

/// A tree, and the scopes that look at it. Each tree has a seed of its own, so that it can be
/// drawn without those before it.
fn drawn(seed: u64, tree: usize) -> (Plan, Vec<Vec<Setting>>) {
    let mut drawing = Drawing::new(seed.wrapping_add((tree as u64) << 32));
    let plan = drawing.tree();
    let scopes = (0..SCOPES_PER_TREE).map(|_| drawing.settings(&plan)).collect();
    (plan, scopes)
}

#[derive(PartialEq, Eq)]
enum Answer {
    Refused { code: ErrorCode, path: Option<OsString>, message: String, hint: Option<String> },
    Listed { files: Vec<Listed>, trouble: Trouble, stopped: Option<Stop>, complete: bool },
    Panicked,
}

/// What a file's entry says, with its path as bytes: to `Path`, `a//b` is `a/b`.
#[derive(PartialEq, Eq)]
struct Listed {
    path: OsString,
    root: usize,
    explicit: bool,
    time: Option<SystemTime>,
    bytes: Option<u64>,
}

#[derive(PartialEq, Eq)]
struct Trouble {
    kept: BTreeSet<(Option<OsString>, Reason, String)>,
    counts: BTreeMap<Reason, u64>,
    dropped: u64,
}

impl Trouble {
    fn new(diagnostics: &Diagnostics) -> Trouble {
        let kept = diagnostics.iter().map(|one| {
            let path = one.path.clone().map(OsString::from);
            (path, one.reason, one.message.clone())
        });
        let (kept, counts) = (kept.collect(), diagnostics.counts().collect());
        Trouble { kept, counts, dropped: diagnostics.dropped() }
    }

    fn is_part_of(&self, other: &Trouble) -> bool {
        // What is kept of more than can be kept depends on all of it.
        let is_kept = other.dropped > 0 || self.kept.is_subset(&other.kept);
        let has_all = |(reason, &count): (&Reason, _)| other.counts.get(reason) >= Some(&count);
        is_kept && self.counts.iter().all(has_all)
    }
}

fn reference(made: &Made, settings: &[Setting]) -> Answer {
    let scope = settings::scope(settings, made.top()).walker(Walker::Reference);
    answer(&scope.pool(&POOLS[0].1), settings)
}

fn native(made: &Made, settings: &[Setting]) -> Answer {
    answer(&settings::scope(settings, made.top()).walker(Walker::Native), settings)
}

fn answer(scope: &Scope, settings: &[Setting]) -> Answer {
    let token = CancelToken::new();
    if settings.iter().any(|setting| matches!(setting, Setting::Cancelled)) {
        token.cancel();
    }
    let listed = catch_unwind(AssertUnwindSafe(|| -> ingrep::Result<Answer> {
        let mut files = scope.files(&token)?;
        let listed: Vec<_> = files
            .by_ref()
            .map(|file| Listed {
                path: file.path.into_os_string(),
                root: file.root,
                explicit: file.explicit,
                time: file.time,
                bytes: file.bytes,
            })
            .collect();
        let summary = files.into_summary();
        assert_eq!(summary.files, listed.len() as u64);
        let trouble = Trouble::new(&summary.diagnostics);
        let (stopped, complete) = (summary.stopped, summary.complete);
        Ok(Answer::Listed { files: listed, trouble, stopped, complete })
    }));
    match listed {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => Answer::Refused {
            code: error.code(),
            path: error.path().map(OsString::from),
            message: error.message().to_string(),
            hint: error.hint().map(str::to_string),
        },
        Err(_) => Answer::Panicked,
    }
}

fn are_alike(settings: &[Setting], reference: &Answer, native: &Answer) -> bool {
    match (reference, native) {
        (Answer::Panicked, _) | (_, Answer::Panicked) => false,
        (
            Answer::Listed { files, trouble, stopped, complete },
            Answer::Listed {
                files: native_files,
                trouble: native_trouble,
                stopped: s,
                complete: c,
            },
        ) if settings::is_narrow(settings) => {
            (files, stopped, complete) == (native_files, s, c) && native_trouble.is_part_of(trouble)
        }
        _ => reference == native,
    }
}

/// Whether a scope names a global file that takes something back, and repositories or cases count.
fn is_on_purpose(settings: &[Setting]) -> bool {
    let takes_back = settings.iter().any(
        |setting| matches!(setting, Setting::GlobalFile(file) if file.0.ends_with(GLOBALS_BACK)),
    );
    let last = |wanted: fn(&Setting) -> Option<bool>| settings.iter().rev().find_map(wanted);
    let requires_git = last(|setting| match setting {
        Setting::RequireGit(yes) => Some(*yes),
        _ => None,
    });
    let ignores_case = last(|setting| match setting {
        Setting::CaseInsensitive(yes) => Some(*yes),
        _ => None,
    });
    let has = |wanted: fn(&Setting) -> bool| settings.iter().any(wanted);
    let leaves_out = !has(|setting| matches!(setting, Setting::PruneVcs(false)))
        || has(|setting| {
            use Setting::*;
            matches!(setting, Ripgrep | Hidden(false) | Glob(_) | Iglob(_))
                || matches!(setting, RuleFile(_) | GlobalFile(_))
                || matches!(setting, DotIgnore(true) | VcsIgnore(true) | GitExclude(true))
        });
    let follows = has(|setting| matches!(setting, Setting::FollowLinks));
    let stays = has(|setting| matches!(setting, Setting::OneFileSystem));
    let is_global = has(|setting| matches!(setting, Setting::GlobalFile(_)));
    (takes_back && requires_git != Some(false))
        || (is_global && ignores_case == Some(true))
        || (is_global && follows && requires_git != Some(false))
        || (follows && stays && leaves_out)
}

fn case(seed: u64, (tree, case): Place) -> String {
    let (plan, scopes) = drawn(seed, tree);
    format!("{}{plan}scope {case}: {:#?}", again(seed, tree), scopes[case])
}

fn again(seed: u64, tree: usize) -> String {
    format!("INGREP_WALKS_SEED={seed} INGREP_WALKS_FIRST={tree} INGREP_WALKS=1 tries it again\n")
}

/// The case made as small as it differs, and how.
fn described(seed: u64, (tree, number): Place) -> String {
    let (mut plan, mut scopes) = drawn(seed, tree);
    let mut settings = scopes.swap_remove(number);
    let mut last = match difference(&plan, &settings) {
        Some(difference) => difference,
        None => {
            let case = case(seed, (tree, number));
            return format!("{case}\ndiffers only after the scopes before it, or not always");
        }
    };
    for _ in 0..2 {
        for at in (0..settings.len()).rev() {
            // Without it, roots are looked for in the directory that the test runs in.
            if matches!(settings[at], Setting::Base(_)) {
                continue;
            }
            let mut smaller = settings.clone();
            smaller.remove(at);
            if let Some(difference) = difference(&plan, &smaller) {
                (settings, last) = (smaller, difference);
            }
        }
        let mut step = plan.entries.len().next_power_of_two();
        while step > 0 {
            let mut at = 0;
            while at < plan.entries.len() {
                let mut smaller = plan.clone();
                smaller.entries.drain(at..plan.entries.len().min(at + step));
                match difference(&smaller, &settings) {
                    Some(difference) => (plan, last) = (smaller, difference),
                    None => at += step,
                }
            }
            step /= 2;
        }
    }
    format!("{}{plan}scope {number}: {settings:?}\n{last}", again(seed, tree))
}

fn difference(plan: &Plan, settings: &[Setting]) -> Option<String> {
    if is_on_purpose(settings) {
        return None;
    }
    let made = Made::new(plan);
    let (reference, native) = (reference(&made, settings), native(&made, settings));
    let differ = !are_alike(settings, &reference, &native);
    differ.then(|| {
        let lines =
            |answer: &Answer| answer.to_string().lines().map(str::to_string).collect::<Vec<_>>();
        let (reference, native) = (lines(&reference), lines(&native));
        let shown = match reference.len() + native.len() {
            0..=MAX_LINES => {
                format!("reference:\n{}\nnative:\n{}", reference.join("\n"), native.join("\n"))
            }
            _ => format!("reference -, native +\n{}", changed_lines(&reference, &native)),
        };
        shown.replace(made.top().to_str().unwrap(), plan::TOP)
    })
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Panicked => writeln!(f, "  panicked"),
            Answer::Refused { code, path, message, hint } => {
                writeln!(f, "  {code} {}: {message} ({hint:?})", shown(path.as_ref()))
            }
            Answer::Listed { files, trouble, stopped, complete } => {
                for file in files {
                    write!(f, "  {} root {}", shown(Some(&file.path)), file.root)?;
                    f.write_str(if file.explicit { " explicit" } else { "" })?;
                    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH);
                    if let Some(time) = file.time {
                        write!(f, " time {:?}", since(time).map_err(|before| before.duration()))?;
                    }
                    match file.bytes {
                        Some(bytes) => writeln!(f, " {bytes} bytes")?,
                        None => f.write_char('\n')?,
                    }
                }
                for (path, reason, message) in &trouble.kept {
                    writeln!(f, "  ! {} {reason:?}: {message}", shown(path.as_ref()))?;
                }
                writeln!(f, "  {:?}, {} not kept", trouble.counts, trouble.dropped)?;
                writeln!(f, "  stopped: {stopped:?}, complete: {complete}")
            }
        }
    }
}

fn shown(path: Option<&OsString>) -> String {
    path.map_or_else(String::new, |path| format!("\"{}\"", path.as_encoded_bytes().escape_ascii()))
}

/// What comes of this, which must not take as long as a hang does.
fn within<T: Send + 'static>(limit: Duration, of: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, result) = mpsc::channel();
    std::thread::spawn(move || sender.send(of()));
    result.recv_timeout(limit).unwrap_or_else(|error| match error {
        mpsc::RecvTimeoutError::Timeout => panic!("no end in {limit:?}"),
        mpsc::RecvTimeoutError::Disconnected => panic!("it panicked"),
    })
}

/// A setting that never makes a difference is not compared at all.
#[test]
fn each_setting_matters_to_some_scope() {
    // That is the point of pools; and there may be only one file system to make trees on.
    let mut matter = BTreeSet::from(["Pool", "OneFileSystem"].map(str::to_string));
    for tree in 0..500 {
        if matter.len() == Setting::KINDS {
            return;
        }
        let (plan, scopes) = drawn(SEED, tree);
        let made = Made::new(&plan);
        for settings in &scopes[..10] {
            let whole = reference(&made, settings);
            for at in 0..settings.len() {
                let mut without = settings.clone();
                let kind = kind(&without.remove(at));
                if !matter.contains(&kind) && reference(&made, &without) != whole {
                    matter.insert(kind);
                }
            }
        }
    }
    panic!("only these matter: {matter:?}");
}

fn kind(setting: &Setting) -> String {
    format!("{setting:?}").chars().take_while(|&c| c != '(').collect()
}
