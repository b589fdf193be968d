//! Walks through trees that somebody else is changing.

use super::within;
use crate::dice::Dice;
use crate::rg_random::number;
use crate::tree::{POOLS, Tree};
use ingrep::{CancelToken, IgnoreRules, Order, Scope, SortBy, Walker};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Enough for each kind of scope to meet some changes; more by `INGREP_CHURNED_WALKS`.
const WALKS: usize = 64;
const LIMIT: Duration = Duration::from_secs(300);

const DIRS: usize = 6;

/// More names than one call of the system reads at once.
const MANY: usize = 1_500;

/// Does something again and again until it is dropped.
struct Churn {
    is_over: Arc<AtomicBool>,
    rounds: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Churn {
    fn new(mut change: impl FnMut() + Send + 'static) -> Churn {
        let (is_over, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (ends, counts) = (Arc::clone(&is_over), Arc::clone(&rounds));
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                change();
                counts.fetch_add(1, Ordering::Relaxed);
            }
        });
        Churn { is_over, rounds, thread: Some(thread) }
    }

    fn rounds(&self) -> usize {
        self.rounds.load(Ordering::Relaxed)
    }
}

impl Drop for Churn {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// Files that nobody touches, in directories in which much else is changed.
fn calm_tree() -> (Tree, Vec<PathBuf>) {
    let tree = Tree::new("");
    let mut calm = Vec::new();
    for dir in 0..DIRS {
        let files = if dir == 0 { MANY } else { 20 };
        calm.extend((0..files).map(|n| format!("d{dir}/calm{n}")));
        calm.extend((0..5).map(|n| format!("d{dir}/sub/calm{n}")));
    }
    calm.iter().for_each(|file| tree.add(&format!("{file} @ 1")));
    let mut calm: Vec<_> = calm.into_iter().map(PathBuf::from).collect();
    calm.sort();
    (tree, calm)
}

/// Changes one of the names that are to be changed. Most changes find something in their way, as
/// they are made without a look at what is there.
fn change(top: &Path, dice: &mut Dice) {
    let mut busy = || {
        let (dir, sub, name) = (dice.below(DIRS), dice.pick(&["", "sub/"]), dice.below(4));
        top.join(format!("d{dir}/{sub}busy{name}"))
    };
    let (one, other) = (busy(), busy());
    let _ = match dice.below(10) {
        0 => fs::write(&one, "x"),
        1 => fs::remove_file(&one),
        2 => fs::create_dir(&one).and_then(|()| fs::write(one.join("in"), "x")),
        3 => fs::remove_dir_all(&one),
        4 => fs::rename(&one, &other),
        5 => symlink(other.parent().unwrap(), &one),
        6 => symlink("..", &one),
        7 => renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).map_err(Into::into),
        8 => fs::write(one.with_file_name(".ignore"), "busy1\n[\nbusy2/\n"),
        _ => fs::remove_file(one.with_file_name(".ignore")),
    };
}

#[test]
fn what_nobody_touches_is_listed_while_all_else_changes() {
    let walks = number("INGREP_CHURNED_WALKS").map_or(WALKS, |walks| walks as usize);
    let changes = within(LIMIT, move || {
        let (tree, calm) = calm_tree();
        let top = tree.path().to_path_buf();
        let mut dice = Dice::new(1);
        let churn = Churn::new(move || change(&top, &mut dice));
        let mut dice = Dice::new(2);
        for walk in 0..walks {
            list_calm(&tree, &calm, walk, &mut dice);
        }
        churn.rounds()
    });
    assert!(changes > walks, "only {changes} changes");
}

fn list_calm(tree: &Tree, calm: &[PathBuf], walk: usize, dice: &mut Dice) {
    let by = *dice.pick(&[SortBy::Modified, SortBy::Path, SortBy::Nothing]);
    let walker = [Walker::Reference, Walker::Native][walk % 2];
    let scope = Scope::new("")
        .base(tree.path())
        .walker(walker)
        .sort(by, Order::Ascending)
        .ignore(IgnoreRules::none().dot_ignore(dice.percent(50)))
        .follow_links(dice.percent(30))
        .pool(&dice.pick(&POOLS[..]).1);
    let scope = if dice.percent(30) { scope.max_file_bytes(Some(1)) } else { scope };
    let files = scope.files(&CancelToken::new()).unwrap();
    let untouched: BTreeSet<_> = calm.iter().collect();
    let mut listed: Vec<_> =
        files.map(|file| file.path).filter(|path| untouched.contains(path)).collect();
    if by == SortBy::Nothing {
        listed.sort();
    }
    assert!(listed == calm, "{} of {}\n{scope:?}", listed.len(), calm.len());
}

/// A walk by path tests what a name stands for and opens it later, when it may be something else.
#[test]
fn a_directory_that_is_swapped_for_a_link_does_not_lead_out_of_the_root() {
    let rounds = within(LIMIT, || {
        let outside = Tree::new("secret");
        let tree = Tree::new("door/inside\n calm");
        tree.add(&format!("link -> {}", outside.path().display()));
        let (door, link) = (tree.join("door"), tree.join("link"));
        let churn = Churn::new(move || {
            renameat_with(CWD, &door, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        });
        for walk in 0..20_000 {
            let by = [SortBy::Path, SortBy::Nothing][walk % 2];
            let scope = Scope::new("").base(tree.path()).sort(by, Order::Ascending);
            let scope = scope.walker(Walker::Native).pool(&POOLS[walk % 4].1);
            let files = scope.files(&CancelToken::new()).unwrap();
            let listed: Vec<_> = files.map(|file| file.path).collect();
            assert!(listed.contains(&PathBuf::from("calm")), "{listed:?}");
            assert!(!listed.iter().any(|path| path.ends_with("secret")), "{listed:?}");
        }
        churn.rounds()
    });
    assert!(rounds > 1_000, "only {rounds} swaps");
}
