//! The walk against a naive twin: recursion, filters one after another, and a sort.

use crate::tree::{POOLS, Tree, at, set_times};
use ingrep::{CancelToken, IgnoreRules, Order, Scope, SortBy};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, FileTimes, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What to list, as plain as it can be said.
#[derive(Clone, Debug)]
struct Wish {
    roots: Vec<&'static str>,
    hidden: bool,
    prune_vcs: bool,
    max_depth: Option<usize>,
    max_bytes: Option<u64>,
    globs: Vec<&'static str>,
    by: SortBy,
    order: Order,
}

impl Wish {
    fn scope(&self, base: &Path) -> Scope {
        let scope = Scope::many(self.roots.iter().copied())
            .base(base)
            .tolerant_roots(true)
            .hidden(self.hidden)
            .prune_vcs(self.prune_vcs)
            .max_depth(self.max_depth)
            .max_file_bytes(self.max_bytes)
            .sort(self.by, self.order);
        self.globs.iter().fold(scope, |scope, glob| scope.glob(*glob))
    }

    fn has_name(&self, name: &[u8], is_dir: bool) -> bool {
        const VCS: [&[u8]; 6] = [b".git", b".svn", b".hg", b".bzr", b".jj", b".sl"];
        if self.prune_vcs && VCS.contains(&name) {
            return false;
        }
        for glob in self.globs.iter().rev() {
            let (glob, listed) = glob.strip_prefix('!').map_or((*glob, true), |glob| (glob, false));
            if matches(glob.as_bytes(), name) {
                return listed;
            }
        }
        if !is_dir && self.globs.iter().any(|glob| !glob.starts_with('!')) {
            return false;
        }
        self.hidden || !name.starts_with(b".")
    }

    /// The expected list: what [`Scope::files`] must be equal to.
    fn list(&self, base: &Path) -> Vec<(PathBuf, usize)> {
        let mut found = Vec::new();
        for (root, name) in self.roots.iter().enumerate() {
            if base.join(name).is_dir() {
                self.walk(base, Path::new(name), root, 1, &mut found);
            } else if base.join(name).is_file() {
                found.push((PathBuf::from(name), root, fs::metadata(base.join(name)).unwrap()));
            }
        }
        // Sorts by the least important key first: they are stable.
        found.sort_by_key(|(path, ..)| names(path));
        match (self.by, self.order) {
            (SortBy::Path, Order::Descending) => {
                found.sort_by_key(|(_, root, _)| *root);
                found.sort_by_key(|(path, ..)| Reverse(names(path)));
            }
            (SortBy::Path, Order::Ascending) => found.sort_by_key(|(_, root, _)| *root),
            (by, order) => {
                found.sort_by_key(|(_, root, _)| *root);
                match order {
                    Order::Ascending => found.sort_by_key(|(.., file)| time(file, by)),
                    Order::Descending => found.sort_by_key(|(.., file)| Reverse(time(file, by))),
                }
            }
        }
        found.into_iter().map(|(path, root, _)| (path, root)).collect()
    }

    fn walk(
        &self,
        base: &Path,
        dir: &Path,
        root: usize,
        depth: usize,
        found: &mut Vec<(PathBuf, usize, Metadata)>,
    ) {
        if self.max_depth.is_some_and(|max| depth > max) {
            return;
        }
        for entry in fs::read_dir(base.join(dir)).unwrap().map(Result::unwrap) {
            let metadata = entry.metadata().unwrap();
            let path = dir.join(entry.file_name());
            if !self.has_name(entry.file_name().as_bytes(), metadata.is_dir()) {
                continue;
            }
            if metadata.is_dir() {
                self.walk(base, &path, root, depth + 1, found);
            } else if metadata.is_file() && self.max_bytes.is_none_or(|max| metadata.len() <= max) {
                found.push((path, root, metadata));
            }
        }
    }
}

fn names(path: &Path) -> Vec<Vec<u8>> {
    path.as_os_str().as_bytes().split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect()
}

fn time(file: &Metadata, by: SortBy) -> SystemTime {
    match by {
        SortBy::Modified => file.modified().unwrap(),
        SortBy::Accessed => file.accessed().unwrap(),
        SortBy::Created => file.created().unwrap(),
        _ => unreachable!("not a time"),
    }
}

/// A glob whose only special character is the star.
fn matches(glob: &[u8], name: &[u8]) -> bool {
    match glob.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
        Some((byte, rest)) => name.first() == Some(byte) && matches(rest, &name[1..]),
    }
}

/// The walk and its twin agree on every pool, and without an order on which files there are.
#[track_caller]
fn check_twin(tree: &Tree, wish: &Wish) {
    let mut expected = wish.list(tree.path());
    let list = |scope: Scope| -> Vec<(PathBuf, usize)> {
        let files = scope.files(&CancelToken::new()).unwrap();
        files.map(|file| (file.path, file.root)).collect()
    };
    for (name, pool) in POOLS.iter() {
        let listed = list(wish.scope(tree.path()).pool(pool));
        assert!(listed == expected, "{name}: {wish:?}\n{listed:?}\n{expected:?}");
    }
    let mut listed = list(wish.scope(tree.path()).sort(SortBy::Nothing, Order::Ascending));
    listed.sort();
    expected.sort();
    assert!(listed == expected, "no order: {wish:?}\n{listed:?}\n{expected:?}");
}

fn any_order() -> impl Strategy<Value = (SortBy, Order)> {
    let by = [SortBy::Modified, SortBy::Accessed, SortBy::Path, SortBy::Created, SortBy::Modified];
    let knows_creation = std::env::current_exe()
        .and_then(fs::metadata)
        .is_ok_and(|program| program.created().is_ok());
    let by = if knows_creation { &by[..] } else { &by[..3] };
    (prop::sample::select(by.to_vec()), any::<bool>())
        .prop_map(|(by, up)| (by, if up { Order::Ascending } else { Order::Descending }))
}

fn any_name() -> impl Strategy<Value = Vec<u8>> {
    let nasty = prop::collection::vec(prop::sample::select(b"ab.- \nA$!\xff\x80*".to_vec()), 1..4);
    let known = prop::sample::select(vec![
        ".git", ".hg", ".sl", "r", "r", "q", "a", "b", "a.txt", "b.rs", ".hid", "-", "a-b", "a b",
    ]);
    let known = known.prop_map(|name| name.as_bytes().to_vec());
    prop_oneof![nasty, known].prop_filter("a name", |name| name != b"." && name != b"..")
}

/// A path of up to five names, the size of the file, and its time: one of few, so that many are
/// equal.
type Planned = (Vec<Vec<u8>>, usize, i64);

fn any_tree() -> impl Strategy<Value = Vec<Planned>> {
    let path = prop::collection::vec(any_name(), 1..=5);
    prop::collection::vec((path, 0..4_usize, -1..3_i64), 0..60)
}

fn any_wish() -> impl Strategy<Value = Wish> {
    let roots = prop::sample::select(vec![
        vec![""],
        vec![""],
        vec!["r"],
        vec!["r", ""],
        vec!["a", "r", "q", "a"],
        vec!["missing", "b", ""],
    ]);
    let globs = prop::sample::subsequence(
        vec!["*.txt", "!*.rs", "*a*", "!*b", "*", "!.*", "r", "!*-*", "*r*", "!a", ".git", "! *"],
        0..4,
    )
    .prop_shuffle();
    let switches = (any::<bool>(), any::<bool>());
    let limits = (prop::option::of(0..6_usize), prop::option::of(0..4_u64));
    (roots, globs, switches, limits, any_order()).prop_map(
        |(roots, globs, (hidden, prune_vcs), (max_depth, max_bytes), (by, order))| Wish {
            roots,
            hidden,
            prune_vcs,
            max_depth,
            max_bytes,
            globs,
            by,
            order,
        },
    )
}

fn plant(planned: &[Planned]) -> Tree {
    let tree = Tree::new("");
    for (names, bytes, seconds) in planned {
        let path: PathBuf = names.iter().map(|name| OsStr::from_bytes(name)).collect();
        let path = tree.join(path);
        // A name that is taken by a file cannot be that of a directory, nor the other way about.
        let planted = fs::create_dir_all(path.parent().unwrap());
        if planted.and_then(|()| fs::write(&path, "x".repeat(*bytes))).is_ok() {
            let times = FileTimes::new().set_modified(at(*seconds)).set_accessed(at(-seconds));
            set_times(&path, times);
        }
    }
    tree
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn on_random_trees_the_walk_is_its_twin(
        planned in any_tree(),
        wishes in prop::collection::vec(any_wish(), 6),
        is_large in prop::bool::weighted(0.25),
    ) {
        let tree = plant(&planned);
        if is_large {
            tree.grow();
        }
        wishes.iter().for_each(|wish| check_twin(&tree, wish));
    }
}

/// 2,400 files in 160 directories, and times of which most are equal.
fn large_tree() -> Tree {
    let tree =
        Tree::on_disk(".ignore: *3\\nd7\n d1/.ignore: !*3\\n/e2\n d2/.gitignore: *\n d3/.git/x\n");
    for n in 0..2_400_i64 {
        tree.add(&format!(
            "d{}/e{}/{}f{n} @ {}",
            n % 10,
            n % 16,
            [".", "", ""][n as usize % 3],
            n % 7
        ));
    }
    tree
}

fn everything() -> Wish {
    Wish {
        roots: vec![""],
        hidden: true,
        prune_vcs: true,
        max_depth: None,
        max_bytes: None,
        globs: vec![],
        by: SortBy::Path,
        order: Order::Ascending,
    }
}

const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

#[test]
fn on_a_large_tree_the_walk_is_its_twin_in_each_order() {
    let tree = large_tree();
    assert!(everything().list(tree.path()).len() > 2_400);
    for by in [SortBy::Path, SortBy::Modified, SortBy::Accessed] {
        for order in ORDERS {
            check_twin(&tree, &Wish { by, order, ..everything() });
        }
    }
    check_twin(&tree, &Wish { roots: vec!["d1", "", "d1/e1"], hidden: false, ..everything() });
    check_twin(&tree, &Wish { globs: vec!["*f1*", "!e1", "!*7"], ..everything() });
    check_twin(&tree, &Wish { max_depth: Some(2), ..everything() });
    check_twin(&tree, &Wish { prune_vcs: false, max_bytes: Some(0), ..everything() });
}

#[test]
fn on_a_large_tree_ignore_files_are_obeyed_alike_by_every_pool() {
    let tree = large_tree();
    let rules = IgnoreRules::ripgrep().require_git(false).file("missing");
    for by in [SortBy::Path, SortBy::Modified] {
        for order in ORDERS {
            let scope = Scope::many(["", "d1"]).base(tree.path()).ignore(rules.clone());
            let scope = scope.sort(by, order);
            let list = |scope: Scope| {
                let mut files = scope.files(&CancelToken::new()).unwrap();
                let listed: Vec<_> = files.by_ref().collect();
                (listed, files.into_summary())
            };
            let expected = list(scope.clone().pool(&POOLS[0].1));
            assert!(expected.0.len() > 1_000 && expected.0.len() < 2_400);
            for (name, pool) in &POOLS[1..] {
                assert!(list(scope.clone().pool(pool)) == expected, "{name}");
            }
        }
    }
}
