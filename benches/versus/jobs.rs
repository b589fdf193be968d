//! What is compared: each job is an argv for rg and the same question as a call of this crate.
//!
//! A new job is one more element of a list in [`of`].

use crate::measure::Sink;
use crate::tree::{Kind, Tree};
use ingrep::{CancelToken, Limits, Order, Pool, Query, Result, Scope, Search, SortBy, rg};
use std::path::Path;
use std::time::{Duration, Instant};

/// What stands for the number of the round in an argv.
pub(crate) const ROUND: &str = "{round}";

/// How many matches a bounded search wants.
const BOUND: usize = 250;

/// The directories that a scope leaves out, and rg only if it is told to.
const VCS: [&str; 6] = ["!.git", "!.svn", "!.hg", "!.bzr", "!.jj", "!.sl"];

/// No literal to look for, and a class that the regex engine has to try at most positions.
const CPU_BOUND: &str = "[A-Z]{4}_[0-9]{4}";

const SORTED: &str = "--sort=modified";

pub(crate) struct Job {
    pub(crate) name: &'static str,
    /// What rg is asked, in the root of the tree.
    pub(crate) argv: Vec<String>,
    pub(crate) rival: Rival,
    pub(crate) ours: Ours,
    /// How much of rg's answer is wanted: so many lines.
    pub(crate) head: usize,
    pub(crate) same: Same,
    /// How often our call is made in a round. More than once where it is too short for the clock.
    pub(crate) repeat: u32,
    pub(crate) goals: Vec<Goal>,
}

/// What we compare with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rival {
    /// rg to its end.
    ToTheEnd,
    /// rg until it has written so many matches; then it is killed.
    Killed(usize),
    /// rg has nothing of the kind.
    Nobody,
}

/// What has to be the same in both answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Same {
    LinesInOrder,
    Lines,
    NumberOfLines,
}

type Call = dyn Fn(usize, &mut Sink) -> Result<()>;

pub(crate) enum Ours {
    /// A call in this process, given the number of the round.
    Call(Box<Call>),
    /// The binary as a process, with the argv of rg.
    Process,
}

/// What this project has committed itself to.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// At least so many times as fast.
    Wall(f64),
    /// At least so many times less time on processors.
    Cpu(f64),
    /// At most so many microseconds.
    Micros(f64),
    /// At most so much growth of the peak of memory, in MiB.
    Peak(f64),
}

impl Job {
    fn call(
        name: &'static str,
        argv: Vec<String>,
        ours: impl Fn(usize, &mut Sink) -> Result<()> + 'static,
    ) -> Job {
        Job {
            name,
            argv,
            rival: Rival::ToTheEnd,
            ours: Ours::Call(Box::new(ours)),
            head: usize::MAX,
            same: Same::LinesInOrder,
            repeat: 1,
            goals: Vec::new(),
        }
    }

    fn goals(mut self, goals: impl IntoIterator<Item = Goal>) -> Job {
        self.goals.extend(goals);
        self
    }

    fn goal(self, goal: Goal) -> Job {
        self.goals([goal])
    }

    fn head(mut self, lines: usize) -> Job {
        self.head = lines;
        self
    }

    /// rg searches in parallel then.
    fn unsorted(mut self) -> Job {
        self.argv.retain(|arg| arg != SORTED);
        self.same(Same::Lines)
    }

    fn same(mut self, same: Same) -> Job {
        self.same = same;
        self
    }

    fn against_killed(mut self) -> Job {
        self.rival = Rival::Killed(BOUND);
        self
    }

    fn repeat(mut self, times: u32) -> Job {
        self.repeat = times;
        self
    }

    fn by_process(mut self) -> Job {
        self.ours = Ours::Process;
        self
    }

    /// The argv with neither the globs nor the flags that make rg see what a scope sees by default.
    fn obeying_ignore_files(mut self) -> Job {
        self.argv.retain(|arg| arg != "--hidden" && arg != "--no-ignore");
        self.without_vcs_globs()
    }

    fn without_vcs_globs(mut self) -> Job {
        self.argv.retain(|arg| arg != "-g" && !VCS.contains(&arg.as_str()));
        self
    }
}

/// The jobs for a tree.
pub(crate) fn of(tree: &Tree, pool: &Pool) -> Vec<Job> {
    match tree.kind {
        Kind::Sources if tree.files < 1_000 => small(tree, pool),
        Kind::Sources => sources(tree, pool),
        Kind::Repository => repository(tree, pool),
        Kind::Registry => registry(tree, pool),
        Kind::OneDirectory => one_directory(tree, pool),
        Kind::OneFile => one_file(tree, pool),
    }
}

fn sources(tree: &Tree, pool: &Pool) -> Vec<Job> {
    let all = || scope(tree, pool);
    let unordered = || all().sort(SortBy::Nothing, Order::Ascending);
    let alone = || scope(tree, &Pool::inline());
    // Commitments are about trees of this size, those of memory about a larger one.
    let applies = |goal: &Goal| match goal {
        Goal::Peak(_) => tree.files >= 200_000,
        _ => tree.files >= 100_000,
    };
    let goals = |goals: &[Goal]| goals.iter().copied().filter(applies).collect::<Vec<_>>();
    let list_goals = [Goal::Wall(4.0), Goal::Cpu(2.2), Goal::Peak(45.0)];
    let (rare, medium, frequent) = (tree.rare, tree.medium, tree.frequent);
    vec![
        list("list all", all(), &[]).goals(goals(&list_goals)),
        list("list all, `ingrep` as a process", all(), &[]).by_process(),
        list("list all, without the VCS globs", all().prune_vcs(false), &[])
            .goals(goals(&[Goal::Wall(4.0)]))
            .without_vcs_globs(),
        list("list one extension", all().glob("*.ts"), &["-g*.ts"])
            .goals(goals(&[Goal::Wall(3.3)])),
        list("list one extension, `ingrep` as a process", all(), &["-g*.ts"]).by_process(),
        list("list below a literal prefix", all().glob("part3/**/*.ts"), &["-gpart3/**/*.ts"])
            .goals(goals(&[Goal::Wall(12.0)])),
        list("list the first 100", all().head(Some(100)), &[])
            .head(100)
            .goals(goals(&[Goal::Peak(20.0)])),
        list("list all, one thread", alone(), &["-j1"]).goals(goals(&[Goal::Wall(1.6)])),
        list("list one extension, one thread", alone().glob("*.ts"), &["-j1", "-g*.ts"])
            .goals(goals(&[Goal::Wall(1.5)])),
        search("search a rare literal", all(), rare, &[]).goals(goals(&[Goal::Wall(3.5)])),
        search("search a rare literal, unordered", unordered(), rare, &[])
            .unsorted()
            .goals(goals(&[Goal::Wall(1.4)])),
        search("search a rare literal, one thread", alone(), rare, &["-j1"])
            .goals(goals(&[Goal::Wall(1.5)])),
        search("search, bound by the regex", all(), CPU_BOUND, &[])
            .goals(goals(&[Goal::Wall(2.2)])),
        search("search, bound by the regex, unordered", unordered(), CPU_BOUND, &[])
            .unsorted()
            .goals(goals(&[Goal::Wall(1.05)])),
        json("JSON of very many matches", tree, pool, frequent, &[SORTED])
            .goals(goals(&[Goal::Wall(5.0)])),
        json("JSON of very many matches, unordered", tree, pool, frequent, &[])
            .same(Same::Lines)
            .goals(goals(&[Goal::Wall(2.0)])),
        first("first 250, frequent", all(), frequent)
            .goals(goals(&[Goal::Wall(25.0), Goal::Peak(8.0)])),
        first("first 250, medium", all(), medium).goals(goals(&[Goal::Wall(4.5), Goal::Peak(8.0)])),
        first("first 250, rare", all(), rare).goals(goals(&[Goal::Wall(3.5), Goal::Peak(8.0)])),
        first("first 250, frequent, rg killed then", all(), frequent)
            .against_killed()
            .goals(goals(&[Goal::Wall(3.0)])),
        first("first 250, medium, rg killed then", all(), medium)
            .against_killed()
            .goals(goals(&[Goal::Wall(2.0)])),
        first("any 250, frequent, rg killed then", unordered(), frequent)
            .unsorted()
            .same(Same::NumberOfLines)
            .against_killed()
            .goals(goals(&[Goal::Wall(3.0)])),
    ]
}

fn small(tree: &Tree, pool: &Pool) -> Vec<Job> {
    let all = || scope(tree, pool);
    let root = tree.root.clone();
    vec![
        list("list all", all(), &[]).repeat(10).goal(Goal::Wall(8.0)),
        search("search a medium literal", all(), tree.medium, &[]).repeat(10).goal(Goal::Wall(6.0)),
        first_call("search, first call with a Unicode class", all()).goal(Goal::Wall(8.0)),
        search_one(&root).repeat(100).goals([Goal::Wall(100.0), Goal::Micros(10.0)]),
    ]
}

fn repository(tree: &Tree, pool: &Pool) -> Vec<Job> {
    let obeying = scope(tree, pool).ripgrep();
    let sorted = obeying.clone().sort(SortBy::Modified, Order::Ascending);
    vec![
        list("list all, ignore files obeyed", sorted.clone(), &[]).obeying_ignore_files(),
        list("list all, ignore files obeyed, `ingrep` as a process", sorted.clone(), &[])
            .obeying_ignore_files()
            .by_process(),
        search("search a rare literal, ignore files obeyed", sorted, tree.rare, &[])
            .obeying_ignore_files(),
        search("search a rare literal, ignore files obeyed, unordered", obeying, tree.rare, &[])
            .obeying_ignore_files()
            .unsorted(),
    ]
}

/// Many files of a registry have the same time; rg leaves those in the order of the directory, so
/// the answers are compared without their order.
fn registry(tree: &Tree, pool: &Pool) -> Vec<Job> {
    let all = || scope(tree, pool);
    let unordered = || all().sort(SortBy::Nothing, Order::Ascending);
    vec![
        list("list all", all(), &[]).goals([Goal::Wall(4.0), Goal::Cpu(2.2)]),
        list("list one extension", all().glob("*.toml"), &["-g*.toml"]).goal(Goal::Wall(3.3)),
        search("search a rare literal", all(), tree.rare, &[]).goal(Goal::Wall(3.5)),
        search("search a rare literal, unordered", unordered(), tree.rare, &[])
            .goal(Goal::Wall(1.4)),
        search("search a medium literal", all(), tree.medium, &["-F"]).goal(Goal::Wall(3.5)),
        search("search, bound by the regex", all(), CPU_BOUND, &[]).goal(Goal::Wall(2.2)),
        json("JSON of very many matches", tree, pool, tree.frequent, &[SORTED])
            .goal(Goal::Wall(5.0)),
    ]
    .into_iter()
    .map(|job| job.same(Same::Lines))
    .collect()
}

fn one_directory(tree: &Tree, pool: &Pool) -> Vec<Job> {
    let all = || scope(tree, pool);
    vec![
        list("list all", all(), &[]),
        stop("from a cancel to the end of the call", all()).goal(Goal::Micros(10_000.0)),
    ]
}

fn one_file(tree: &Tree, pool: &Pool) -> Vec<Job> {
    let file = "big.log";
    vec![
        json("search one file, rare", tree, pool, tree.rare, &[file]).goal(Goal::Wall(2.0)),
        json("search one file, frequent", tree, pool, tree.frequent, &[file]).goal(Goal::Wall(4.0)),
        json("search one file, bound by the regex", tree, pool, r"[a-z]{7} [0-9]{5}77 ", &[file]),
    ]
}

/// The tree with listed paths relative to it, as rg prints them in it.
fn scope(tree: &Tree, pool: &Pool) -> Scope {
    Scope::new("").base(&tree.root).pool(pool)
}

fn argv(fixed: &[&str], more: &[&str]) -> Vec<String> {
    let vcs = VCS.iter().flat_map(|glob| ["-g", glob]);
    let everything = ["--no-config", "--hidden", "--no-ignore"];
    everything.iter().chain(fixed).chain(more).copied().chain(vcs).map(str::to_string).collect()
}

fn list(name: &'static str, scope: Scope, args: &[&str]) -> Job {
    Job::call(name, argv(&["--files", SORTED], args), move |_, sink| {
        scope.files(&CancelToken::new())?.for_each(|file| sink.file(&file.path));
        Ok(())
    })
}

fn search_argv(pattern: &str, args: &[&str]) -> Vec<String> {
    argv(&["--json", SORTED, "-e", pattern], args)
}

/// Everything that is found, each file handed over when its turn comes.
fn search(name: &'static str, scope: Scope, pattern: &str, args: &[&str]) -> Job {
    let query = Query::new(pattern).fixed_strings(args.contains(&"-F"));
    let search = compiled(query, scope, Limits::new());
    Job::call(name, search_argv(pattern, args), move |_, sink| collect(&search, sink))
}

/// The first matches in the order of the scope, and no totals.
fn first(name: &'static str, scope: Scope, pattern: &str) -> Job {
    let limits = Limits::new().max_lines(BOUND as u64).stop_early(true);
    let search = compiled(Query::new(pattern), scope, limits);
    Job::call(name, search_argv(pattern, &[]), move |_, sink| collect(&search, sink)).head(BOUND)
}

/// A pattern that is compiled in the call, another in each round so that none is remembered.
fn first_call(name: &'static str, scope: Scope) -> Job {
    let pattern = |round: &str| format!(r"\w+_builder|round{round}");
    let argv = search_argv(&pattern(ROUND), &[]);
    Job::call(name, argv, move |round, sink| {
        let query = Query::new(pattern(&round.to_string()));
        collect(&query.scope(scope.clone()).compile()?, sink)
    })
}

/// One file of 18 KB by its name, with the pattern compiled before.
fn search_one(root: &Path) -> Job {
    const FILE: &str = "one.rs";
    let text =
        "fn compute(value: u64) -> u64 {\n    value.rotate_left(7) ^ value\n}\n\n".repeat(250);
    let path = root.with_file_name(FILE);
    std::fs::write(&path, text + "fn main() {}\n").expect("the trees could be written beside it");
    let search = Query::new("fn main").compile().expect("a pattern");
    let argv = argv(&["--json", "-e", "fn main"], &[&format!("../{FILE}")]);
    let name = Path::new("..").join(FILE);
    Job::call("search one file by name", argv, move |_, sink| {
        let mut found = search.search_file(&path)?;
        found.path.clone_from(&name);
        sink.found(&found);
        Ok(())
    })
}

/// rg's own output, written as it comes.
fn json(name: &'static str, tree: &Tree, pool: &Pool, pattern: &str, args: &[&str]) -> Job {
    let argv = argv(&["--json", "-e", pattern], args);
    let command = rg::Command::new(&tree.root).pool(pool).args(&argv);
    Job::call(name, argv, move |_, sink| {
        command.run(sink, &mut std::io::sink(), &CancelToken::new()).map(drop)
    })
}

/// How long a listing takes to end after it was cancelled in its midst.
fn stop(name: &'static str, scope: Scope) -> Job {
    const BEGUN: Duration = Duration::from_millis(50);
    let mut job = Job::call(name, Vec::new(), move |_, sink| {
        let token = CancelToken::new();
        let (listed, took) = std::thread::scope(|threads| {
            let listing = threads.spawn(|| scope.files(&token));
            std::thread::sleep(BEGUN);
            let started = Instant::now();
            token.cancel();
            let listed = listing.join().expect("a listing does not panic");
            (listed, started.elapsed())
        });
        assert!(listed?.into_summary().stopped.is_some(), "the listing was over before the cancel");
        sink.took = Some(took);
        Ok(())
    });
    job.rival = Rival::Nobody;
    job
}

fn compiled(query: Query, scope: Scope, limits: Limits) -> Search {
    query.scope(scope).limits(limits).compile().expect("the pattern is ours")
}

fn collect(search: &Search, sink: &mut Sink) -> Result<()> {
    search.collect(&CancelToken::new())?.files.iter().for_each(|found| sink.found(found));
    Ok(())
}
