//! What is too large to be waited for: a line, a directory, a file of rules. How soon a search of it
//! comes back when it is cancelled at a random time.

use crate::dice::Dice;
use crate::engine::{cancelled, latest};
use crate::tree::Tree;
use crate::{Score, Size};
use ingrep::{
    Binary, CancelToken, IgnoreRules, Limits, MultiLine, Order, Pool, Query, Scope, SortBy,
    Terminator, WalkLimits,
};
use std::io::Write;
use std::time::{Duration, Instant};

/// What is cancelled at a random time within so long.
type Call = Box<dyn Fn(&Pool, &CancelToken) + Send + Sync>;

struct Case {
    name: &'static str,
    within: Duration,
    /// Whether the limits are such that it has to come back in time.
    is_promised: bool,
    call: Call,
}

/// From this scale on all is as large as in the list of tortures, which takes a gigabyte of disk and two
/// of memory.
const LARGE: f64 = 10.0;

/// Bytes of one line of letters.
fn held_bytes(size: &Size) -> usize {
    if size.scale >= LARGE { 1 << 30 } else { 128 << 20 }
}

fn entries(size: &Size) -> usize {
    if size.scale >= LARGE { 1_000_000 } else { 100_000 }
}

/// As much as is searched across lines by default. Whoever lets more be held waits longer until it is given
/// back to the system.
const ACROSS_BYTES: usize = 32 << 20;

const RULES: usize = 100_000;

const SPARSE_BYTES: u64 = 8 << 30;

fn tree(size: &Size) -> Tree {
    let tree = Tree::on_disk("crowd/\n ruled/f");
    let sparse = std::fs::File::create(tree.join("sparse")).unwrap();
    sparse.set_len(SPARSE_BYTES).unwrap();
    let block = b"hay!".repeat(1 << 18);
    for (name, bytes) in [("letters", held_bytes(size)), ("across", ACROSS_BYTES)] {
        let mut file = std::fs::File::create(tree.join(name)).unwrap();
        for _ in 0..bytes / block.len() {
            file.write_all(&block).unwrap();
        }
    }
    for n in 0..entries(size) {
        std::fs::File::create(tree.join(format!("crowd/f{n}"))).unwrap();
    }
    let rule = |n: usize| match n % 4 {
        0 => format!("*.x{n}\n"),
        1 => format!("a{n}*b\n"),
        2 => format!("dir{n}/*.o\n"),
        _ => format!("**/q{n}/r\n"),
    };
    std::fs::write(tree.join("ruled/.ignore"), (0..RULES).map(rule).collect::<String>()).unwrap();
    tree
}

fn cases(tree: &Tree, size: &Size) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name, within, is_promised, call: Call| {
        cases.push(Case { name, within: Duration::from_millis(within), is_promised, call });
    };
    let bytes = held_bytes(size);
    let file = |name: &str, query: Query, limits: Limits| -> Call {
        let path = tree.join(name);
        Box::new(move |pool, token| {
            let query = query.clone().scope(Scope::new(&path).pool(pool)).limits(limits.clone());
            drop(query.compile().unwrap().collect(token));
        })
    };
    let text = |pattern: &str| Query::new(pattern).binary(Binary::Text);
    let roomy = Limits::new().max_line_buffer_bytes(bytes * 2);
    let nulls = text("needle").terminator(Terminator::Nul);
    add("8 GiB of NULs, each a line", 1_000, true, file("sparse", nulls, Limits::new()));
    let default = Limits::new;
    add("8 GiB of NULs, one line", 10, true, file("sparse", text("needle"), default()));
    let slowly = || text(r"(h[a-y!]+y)+z");
    add("a line of letters, to its limit", 500, true, file("letters", slowly(), default()));
    // The engine asks for twice the room when a line fills what it has. That is one call, of a second for
    // a gigabyte, and so it is to give it back. Nobody holds that much who has not asked for it.
    let held = file("sparse", text("needle"), roomy.clone());
    add("8 GiB of NULs, held", bytes as u64 >> 19, false, held);
    add(
        "a line of letters, held",
        bytes as u64 >> 20,
        false,
        file("letters", text("needle"), roomy.clone()),
    );
    add("a line of letters, held and slowly", 3_000, false, file("letters", slowly(), roomy));
    let across = text("hay(?s:.)*needle").multi_line(MultiLine::On);
    add("letters, across lines", 60, true, file("across", across, default()));

    let crowd = Scope::new(tree.join("crowd"));
    let orders = [
        ("a crowd, by path", SortBy::Path),
        ("a crowd, by time", SortBy::Modified),
        ("a crowd, as it comes", SortBy::Nothing),
    ];
    for (name, by) in orders {
        let scope = crowd.clone().sort(by, Order::Ascending);
        let list: Call = Box::new(move |pool, token| {
            let files = scope.clone().pool(pool).files(token).unwrap();
            // What was found by then is still there; to hand it over is not the walk.
            if by == SortBy::Nothing {
                files.count();
            }
        });
        add(name, entries(size) as u64 / 1_000, true, list);
    }
    let all = WalkLimits::new()
        .max_rules_per_file(RULES)
        .max_rule_file_bytes(16 << 20)
        .max_rule_memory_bytes(1 << 30);
    let rules = IgnoreRules::ripgrep().parents(false);
    let ruled = Scope::new(tree.join("ruled")).hidden(false).ignore(rules).limits(all);
    let list: Call = Box::new(move |pool, token| {
        drop(ruled.clone().pool(pool).files(token).map(Iterator::count));
    });
    add("100,000 rules", 2_000, true, list);
    cases
}

pub(crate) fn inputs(size: &Size) -> Score {
    let tree = tree(size);
    let mut score = Score::default();
    let mut dice = Dice::new(size.seed);
    let pools = [Pool::inline(), Pool::new(2)];
    let mut worst = (Duration::ZERO, "");
    for Case { name, within, is_promised, call } in cases(&tree, size) {
        let call = std::sync::Arc::new(call);
        let (mut slowest, mut at_work) = (Duration::ZERO, 0);
        let times = size.of(2).min(20);
        let begin = Instant::now();
        for time in 0..times {
            let after = Duration::from_micros(dice.below(within.as_micros() as usize) as u64);
            let (pool, call) = (pools[time as usize % 2].clone(), call.clone());
            let late = cancelled(&after, move |token| call(&pool, token));
            at_work += u64::from(late.is_some());
            let late = late.unwrap_or_default();
            slowest = slowest.max(late);
            let told = || format!("{name}: {} ms after its cancellation", late.as_millis());
            score.check(late <= latest() || !is_promised, told);
        }
        let (late, seconds) = (slowest.as_micros() as f64 / 1e3, begin.elapsed().as_secs());
        println!("  {name}: {late:.1} ms late, {at_work} of {times} at work, {seconds} s");
        // One that has always ended by then tells nothing.
        score.check(at_work > 0 || times < 10, || format!("{name}: was never cancelled"));
        if is_promised && slowest > worst.0 {
            worst = (slowest, name);
        }
    }
    score.worst = format!("{} ms late ({})", worst.0.as_millis(), worst.1);
    score
}
