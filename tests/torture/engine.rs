//! Patterns, globs and rules that cost as much as they can.

use crate::dice::Dice;
use crate::process::{self, status};
use crate::{Score, Size, number};
use ingrep::{Binary, CancelToken, IgnoreRules, MultiLine, Pool, Query, Scope};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// How late a search may come back that was cancelled. Five figures of the promise, for a machine with
/// two cores on which others work.
const LATEST: Duration = Duration::from_millis(100);

/// That, or what is asked for.
pub(crate) fn latest() -> Duration {
    number("INGREP_TORTURE_LATENCY_MS").map_or(LATEST, |ms| Duration::from_millis(ms as u64))
}

/// What one thread may hold, in KiB, and what the process is without it.
const MOST_KIB: u64 = 160 << 10;

/// So long may a pattern take until it is compiled or refused.
const COMPILED: Duration = Duration::from_secs(2);

/// Patterns by their kind, each in a few sizes.
fn pattern_list() -> Vec<String> {
    let mut patterns: Vec<String> = [
        "(x+x+)+y",
        "(a?){30}a{30}",
        "(.*)*c",
        "(?:){4294967295}",
        r"(?:a.{0,1000}){3}c",
        r"\b\w+\b\W+\b\w+\bc",
        r"(?i)[a-z]+ing$",
        r"\pL{50}\d",
        r"[^\d]{100}z",
        "(a|aa)+$",
        "(?s).*a.*b.*c.*d.*e",
        r"(\w+\s*)+:$",
        "(?i)ſKſK",
        "a*b*c*d*e*f*$",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        "(?:(?:a{10}){10}){10}b",
        "",
        r"(?-u)[\x80-\xff]{500}",
        "(^|,)([^,]*)(,|$)(?:.*,){12}P",
    ]
    .map(String::from)
    .to_vec();
    for n in [5, 24, 200, 2_000, 20_000] {
        patterns.push(format!("[01]*1[01]{{{n}}}"));
        patterns.push(format!("[ab]*a[ab]{{{n}}}c"));
        patterns.push(format!("(?:a|b)*a(?:a|b){{{n}}}$"));
        patterns.push(format!("a.{{0,{n}}}b.{{0,{n}}}c"));
        patterns.push("(".repeat(n) + &")".repeat(n));
        patterns.push("a|".repeat(n));
        patterns.push(format!(
            "[{}]",
            (0..n as u32)
                .filter_map(char::from_u32)
                .filter(|c| c.is_alphabetic())
                .collect::<String>()
        ));
        patterns.push((0..n).map(|i| format!("foo{i}\\w+bar|")).collect());
        patterns.push(format!(r"\b(?:\w{{1,{}}}\s)*x", n.min(500)));
        patterns.push("x*".repeat(n) + "y");
    }
    patterns
}

/// Texts on which they are slow: long lines of few letters, long lines of words, many short ones, and
/// bytes that are no text.
fn texts() -> Vec<Vec<u8>> {
    let mut dice = Dice::new(7);
    let mut draw =
        |from: &[u8], len: usize| -> Vec<u8> { (0..len).map(|_| *dice.pick(from)).collect() };
    let long = draw(b"ab", 200_000);
    let bits = draw(b"01ab", 1 << 20);
    let words = draw(b"abcdefg    ", 150_000).repeat(2);
    let mut short = draw(b"aab1x,\xc3\xa9", 1 << 20);
    short.iter_mut().step_by(61).for_each(|byte| *byte = b'\n');
    vec![long, bits, words, short]
}

pub(crate) fn patterns(size: &Size) -> Score {
    let mut score = Score::default();
    let tree = crate::tree::Tree::new("");
    for (at, text) in texts().iter().enumerate() {
        std::fs::write(tree.join(at.to_string()), text).unwrap();
    }
    let (mut worst, mut largest, mut slowest) = ((0, String::new()), 0, 0);
    for (at, pattern) in pattern_list().iter().enumerate() {
        let times = size.of(5);
        let short: String = pattern.chars().take(40).collect();
        let task = format!("pattern {at} {times}");
        let patience = Duration::from_secs(60 + times);
        let ended = process::run(process::command(&task, tree.path()), patience);
        let Some(end) = ended.status else {
            score.failed(format!("{short}: no end"));
            continue;
        };
        let figures: Vec<u64> =
            ended.said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [tried, compiled, late, peak] = figures[..] else {
            score.failed(format!("{short}: {end}, {}", ended.said));
            continue;
        };
        slowest = slowest.max(compiled);
        largest = largest.max(peak);
        if late > worst.0 {
            worst = (late, short.clone());
        }
        score.tried += tried;
        score.check(late <= latest().as_millis() as u64, || {
            format!("{short}: {late} ms after its cancellation")
        });
        score.check(peak <= MOST_KIB, || format!("{short}: {} MiB at most", peak >> 10));
        let too_slow = compiled > COMPILED.as_millis() as u64;
        score.check(!too_slow, || format!("{short}: compiled in {compiled} ms"));
    }
    let (late, pattern) = worst;
    let peak = largest >> 10;
    score.worst = format!("{late} ms late ({pattern}), {peak} MiB, {slowest} ms to compile");
    score
}

/// Compiles one pattern, searches each text with it, and cancels at random times.
pub(crate) fn pattern_child(at: usize, times: usize) {
    let pattern = &pattern_list()[at];
    let begin = Instant::now();
    let (mut compiled, mut latest, mut tried) = (Duration::ZERO, Duration::ZERO, 0);
    let mut dice = Dice::new(at as u64);
    // One that is late once is late often enough.
    'over: for multi in [MultiLine::Off, MultiLine::On] {
        for text in 0..4 {
            for _ in 0..times {
                let pool = if dice.percent(50) { Pool::inline() } else { Pool::new(1) };
                let scope = Scope::new(process::tree().join(text.to_string())).pool(&pool);
                let query = Query::new(pattern.clone()).binary(Binary::Text).multi_line(multi);
                let before = Instant::now();
                let search = query.scope(scope).compile();
                compiled = compiled.max(before.elapsed());
                tried += 1;
                let Ok(search) = search else { continue };
                let late = cancelled(&dice_time(&mut dice), move |token| {
                    let _ = search.collect(token);
                });
                latest = latest.max(late.unwrap_or_default());
                if latest > Duration::from_secs(1) || begin.elapsed() > Duration::from_secs(50) {
                    break 'over;
                }
            }
        }
    }
    let [compiled, latest] = [compiled, latest].map(|time| time.as_millis());
    println!("{tried} {compiled} {latest} {}", status("VmHWM"));
}

fn dice_time(dice: &mut Dice) -> Duration {
    Duration::from_micros(dice.below(30_000) as u64)
}

/// Cancels a call after so long, and says how late it came back. `None` if it had ended by then.
pub(crate) fn cancelled(
    after: &Duration,
    call: impl FnOnce(&CancelToken) + Send + 'static,
) -> Option<Duration> {
    let token = CancelToken::new();
    let (send, receive) = channel();
    let its = token.clone();
    let caller = thread::spawn(move || {
        call(&its);
        let _ = send.send(());
    });
    let ended = receive.recv_timeout(*after).is_ok();
    let begin = Instant::now();
    token.cancel();
    // What is never late enough to end ends with its process.
    let returned = ended || receive.recv_timeout(Duration::from_secs(20)).is_ok();
    let late_by = begin.elapsed();
    if returned {
        caller.join().unwrap();
    }
    (!ended).then_some(late_by)
}

const GLOBS: u64 = 2_000;

/// So long may a walk of three files take with one bad rule. The goal is a tenth of it, on a machine
/// that does nothing else.
const RULED: Duration = Duration::from_secs(1);

fn glob(dice: &mut Dice) -> String {
    let parts = [
        "*",
        "**",
        "?",
        "[ab]",
        "[!a-z]",
        "{a,b}",
        "{",
        "}",
        "[",
        "]",
        "\\",
        "/",
        "!",
        "a",
        ".",
        "#",
        " ",
        "**/a/",
        "[z-a]",
        "[[:alpha:]]",
        "é",
        "\u{0}",
        "[\\",
        "{{a,b},{c,{d,e}}}",
        "*a*b",
    ];
    let times = [1, 1, 1, 30, 1_000, 20_000][dice.below(6)];
    let mut glob = String::new();
    for _ in 0..1 + dice.below(5) {
        glob.push_str(&dice.pick(&parts).repeat(if dice.percent(50) { times } else { 1 }));
    }
    glob
}

pub(crate) fn globs(size: &Size) -> Score {
    let mut score = Score::default();
    let mut dice = Dice::new(size.seed);
    let tree = crate::tree::Tree::new("a.txt: x\n b.log: x\n aaaa/b/c.txt: x");
    let (mut slowest, mut worst) = (Duration::ZERO, String::new());
    for _ in 0..size.of(GLOBS) {
        let glob = glob(&mut dice);
        let short: String = glob.chars().take(40).collect();
        // A rule that lists again what another leaves out is in its right.
        let lists_again = glob.starts_with('!') || glob.contains('\n');
        std::fs::write(tree.join(".ignore"), format!("*.log\n{glob}\n")).unwrap();
        let begin = Instant::now();
        let rules = IgnoreRules::ripgrep().parents(false);
        let scope = Scope::new("").base(tree.path()).ignore(rules).pool(&Pool::inline());
        let listed: Vec<_> =
            scope.files(&CancelToken::new()).unwrap().map(|file| file.path).collect();
        let ruled = begin.elapsed();
        let holds = lists_again || !listed.iter().any(|path| path.ends_with("b.log"));
        score.check(holds, || format!("{short:?} takes its neighbour with it"));
        let begin = Instant::now();
        let scope = Scope::new("").base(tree.path()).glob(glob).pool(&Pool::inline());
        // Refused, or obeyed.
        let _ = scope.files(&CancelToken::new()).map(Iterator::count);
        for time in [ruled, begin.elapsed()] {
            score.check(time < RULED, || format!("{short:?} takes {time:?}"));
            if time > slowest {
                (slowest, worst) = (time, short.clone());
            }
        }
    }
    let peak = status("VmHWM") >> 10;
    score.check(peak < 2 * (MOST_KIB >> 10), || format!("{peak} MiB"));
    score.worst = format!("{} ms ({worst}), {peak} MiB", slowest.as_millis());
    score
}
