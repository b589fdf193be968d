//! What a walk found, in little memory: a directory's path once, each file's name, and the few
//! numbers that it is ordered by. 200,000 files take 13 MB; as [`FileEntry`]s, 40.

use super::native::Time;
use super::order::{self, Key};
use super::sort::{Pace, sort};
use super::{FileEntry, Source, Way};
use crate::cancel::{CancelToken, Stop};
use crate::haystack::Anchor;
use crate::scope::{Order, SortBy};
use std::cmp::Ordering;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the files of one root, or some of them, are.
#[derive(Debug)]
pub(super) struct Chunk {
    root: usize,
    /// What the caller named, if this is no directory.
    named: Option<Source>,
    /// What is before the path from the root, and how files are opened.
    anchor: Option<(Arc<Anchor>, usize)>,
    /// Paths of directories, with a slash behind them.
    dirs: Vec<Box<[u8]>>,
    names: Vec<u8>,
}

/// A file, in 40 bytes.
#[derive(Clone, Copy, Debug)]
struct Item {
    seconds: i64,
    bytes: u64,
    name: usize,
    nanos: u32,
    chunk: u32,
    dir: u32,
    name_bytes: u32,
}

/// No time, later than any there is, and no size: for what is not known.
const NO_TIME: (i64, u32) = (i64::MAX, u32::MAX);
const NO_BYTES: u64 = u64::MAX;

impl Item {
    fn time(&self) -> Option<Time> {
        let (seconds, nanos) = (self.seconds, self.nanos);
        ((seconds, nanos) != NO_TIME).then_some(Time { seconds, nanos })
    }
}

/// Files of one chunk, as they are found.
#[derive(Debug)]
pub(super) struct Gathering {
    chunk: Chunk,
    items: Vec<Item>,
    /// How many bytes the paths of directories take.
    dir_bytes: usize,
    /// How many have been found, kept or not.
    found: u64,
    by: SortBy,
    order: Order,
    head: Option<usize>,
    token: CancelToken,
}

/// A file to be listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) time: Option<Time>,
    pub(super) bytes: Option<u64>,
}

/// What is kept over what is wanted before it is looked for the head again.
const SPARE: usize = 4096;

/// The head of more files than these is looked for with an eye on the token. That takes longer for
/// few, of which it is looked for often.
const MAX_SELECTED: usize = 1 << 16;

/// What a comparison of two files costs besides that of their paths, in bytes of those.
const BYTES_PER_ITEM: usize = 128;

impl Gathering {
    pub(super) fn new(
        root: usize,
        anchor: Option<(Arc<Anchor>, usize)>,
        (by, order, head): (SortBy, Order, Option<usize>),
        token: &CancelToken,
    ) -> Gathering {
        let chunk = Chunk { root, named: None, anchor, dirs: Vec::new(), names: Vec::new() };
        let (items, token) = (Vec::new(), token.clone());
        Gathering { chunk, items, dir_bytes: 0, found: 0, by, order, head, token }
    }

    /// A file that the caller named.
    pub(super) fn named(
        file: FileEntry,
        wish: (SortBy, Order, Option<usize>),
        token: &CancelToken,
    ) -> Gathering {
        let anchor = match file.way {
            Way::ByPath => None,
            Way::Below(anchor, skip) => Some((anchor, skip)),
        };
        let mut one = Gathering::new(file.root, anchor, wish, token);
        one.chunk.named = Some(file.source);
        one.enter(b"");
        let time = file.time.map(Time::of_system);
        one.push(file.path.as_os_str().as_bytes(), Found { time, bytes: file.bytes });
        one
    }

    /// What is pushed from now on is in this directory, whose path has a slash behind it.
    pub(super) fn enter(&mut self, dir: &[u8]) {
        self.chunk.dirs.push(dir.into());
        self.dir_bytes += dir.len();
    }

    pub(super) fn push(&mut self, name: &[u8], found: Found) {
        self.found += 1;
        let (seconds, nanos) = found.time.map_or(NO_TIME, |time| (time.seconds, time.nanos));
        self.items.push(Item {
            seconds,
            nanos,
            bytes: found.bytes.unwrap_or(NO_BYTES),
            name: self.chunk.names.len(),
            chunk: 0,
            dir: (self.chunk.dirs.len() - 1) as u32,
            name_bytes: name.len() as u32,
        });
        self.chunk.names.extend_from_slice(name);
        if self.head.is_some_and(|head| self.items.len() >= head.saturating_mul(2) + SPARE) {
            // The walk sees a stop by itself; until then more is kept.
            let _ = self.prune();
        }
    }

    /// How many bytes it takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.items.len() * size_of::<Item>() + self.chunk.names.len() + self.dir_bytes
    }

    /// Forgets what cannot be in the head any more.
    fn prune(&mut self) -> Result<(), Stop> {
        let Gathering { chunk, items, by, order, head, token, .. } = self;
        let Some(head) = *head else { return Ok(()) };
        if items.len() <= head {
            return Ok(());
        }
        let chunks = std::slice::from_ref(chunk);
        let compare = |a: &Item, b: &Item| compare(chunks, a, b, *by, *order);
        if *by == SortBy::Nothing {
            // Whichever.
        } else if items.len() <= MAX_SELECTED {
            items.select_nth_unstable_by(head, compare);
        } else if let Some(stop) = token.stop() {
            // It is tried again for each file that is found before the walk sees the stop.
            return Err(stop);
        } else {
            sort(items, &mut Pace::new(token), |item| bytes(chunks, item), compare)?;
        }
        items.truncate(head);
        let (mut dirs, mut names) = (Vec::new(), Vec::new());
        let here = chunk.dirs.pop();
        let mut moved = vec![None; chunk.dirs.len() + 1];
        for item in items {
            let name = item.name..item.name + item.name_bytes as usize;
            let old = item.dir as usize;
            item.name = names.len();
            names.extend_from_slice(&chunk.names[name]);
            item.dir = *moved[old].get_or_insert_with(|| {
                let dir = match chunk.dirs.get_mut(old) {
                    Some(dir) => std::mem::take(dir),
                    None => here.clone().unwrap_or_default(),
                };
                dirs.push(dir);
                dirs.len() as u32 - 1
            });
        }
        // The directory that is being read goes on being the last.
        dirs.extend(here);
        (chunk.dirs, chunk.names) = (dirs, names);
        self.dir_bytes = self.chunk.dirs.iter().map(|dir| dir.len()).sum();
        Ok(())
    }

    /// Done: sorted, so that what several threads gathered only has to be merged. After a stop it is in
    /// some order.
    pub(super) fn sort(&mut self) -> Result<(), Stop> {
        self.prune()?;
        let Gathering { chunk, items, by, order, token, .. } = self;
        let chunks = std::slice::from_ref(chunk);
        let pace = &mut Pace::new(token);
        let bytes = |item: &Item| bytes(chunks, item);
        let compare = |a: &Item, b: &Item| compare(chunks, a, b, *by, *order);
        match *by {
            SortBy::Nothing => {}
            SortBy::Path => sort(items, pace, bytes, compare)?,
            SortBy::Modified | SortBy::Accessed | SortBy::Created => {
                *items = by_time(items, *order, pace)?;
                for same in items.chunk_by_mut(|a, b| (a.seconds, a.nanos) == (b.seconds, b.nanos))
                {
                    sort(same, pace, bytes, compare)?;
                }
            }
        }
        Ok(())
    }
}

/// The items in the order of their times, and of equal times in none.
///
/// Numbers that hold a time and a place are sorted in a fifth of the time that the items would be
/// sorted in.
fn by_time(items: &[Item], order: Order, pace: &mut Pace<'_>) -> Result<Vec<Item>, Stop> {
    let number = |(place, item): (usize, &Item)| {
        // The sign turned around, so that the numbers are in the order of the times.
        let seconds = item.seconds as u64 ^ (1 << 63);
        u128::from(seconds) << 64 | u128::from(item.nanos) << 32 | place as u128
    };
    let mut numbers: Vec<_> = items.iter().enumerate().map(number).collect();
    sort(&mut numbers, pace, |_| size_of::<u128>(), u128::cmp)?;
    let mut sorted: Vec<_> =
        numbers.into_iter().map(|number| items[number as u32 as usize]).collect();
    if order == Order::Descending {
        sorted.reverse();
    }
    Ok(sorted)
}

/// All files that a walk found.
#[derive(Debug, Default)]
pub(super) struct Listing {
    chunks: Vec<Chunk>,
    items: Vec<Item>,
    /// How many have been found, kept or not.
    pub(super) found: u64,
}

impl Listing {
    pub(super) fn add(&mut self, gathered: Gathering) {
        self.found += gathered.found;
        if gathered.items.is_empty() {
            return;
        }
        let number = self.chunks.len() as u32;
        self.chunks.push(gathered.chunk);
        let items = gathered.items.into_iter().map(|item| Item { chunk: number, ..item });
        if self.items.is_empty() {
            self.items = items.collect();
        } else {
            self.items.extend(items);
        }
    }

    /// How many are kept.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// After a stop all are still there, in some order.
    pub(super) fn sort(
        &mut self,
        by: SortBy,
        order: Order,
        head: Option<usize>,
        token: &CancelToken,
    ) -> Result<(), Stop> {
        let Listing { chunks, items, .. } = self;
        if by != SortBy::Nothing {
            // What the threads have sorted is only merged.
            let compare = |a: &Item, b: &Item| compare(chunks, a, b, by, order);
            sort(items, &mut Pace::new(token), |item| bytes(chunks, item), compare)?;
        }
        items.truncate(head.unwrap_or(usize::MAX));
        Ok(())
    }

    pub(super) fn into_files(self) -> Listed {
        Listed { chunks: self.chunks, items: self.items.into_iter() }
    }
}

fn key<'a>(chunks: &'a [Chunk], item: &Item) -> Key<'a, Time> {
    let chunk = &chunks[item.chunk as usize];
    let name = &chunk.names[item.name..item.name + item.name_bytes as usize];
    Key { root: chunk.root, time: item.time(), dir: &chunk.dirs[item.dir as usize], name }
}

/// What a comparison looks at, at most.
fn bytes(chunks: &[Chunk], item: &Item) -> usize {
    let dir = &chunks[item.chunk as usize].dirs[item.dir as usize];
    BYTES_PER_ITEM + dir.len() + item.name_bytes as usize
}

/// As [`order::compare`], which is asked only where the times are the same: the sort is a quarter of
/// a walk's user time, and to find both paths for every comparison would double it.
fn compare(chunks: &[Chunk], a: &Item, b: &Item, by: SortBy, order: Order) -> Ordering {
    if matches!(by, SortBy::Modified | SortBy::Accessed | SortBy::Created) {
        let times = (a.seconds, a.nanos).cmp(&(b.seconds, b.nanos));
        if times.is_ne() {
            return if order == Order::Descending { times.reverse() } else { times };
        }
    }
    let is_backwards = (by, order) == (SortBy::Path, Order::Descending);
    let (a_key, b_key) = (key(chunks, a), key(chunks, b));
    if (a.chunk, a.dir) == (b.chunk, b.dir) {
        // Backwards whole paths would be put together, and there may be a million in one directory.
        let names = order::names(a_key.name, b_key.name);
        return if is_backwards { names.reverse() } else { names };
    }
    order::compare(&a_key, &b_key, by, order)
}

/// The files of a listing, one after another.
#[derive(Debug)]
pub(super) struct Listed {
    chunks: Vec<Chunk>,
    items: std::vec::IntoIter<Item>,
}

impl Iterator for Listed {
    type Item = FileEntry;

    fn next(&mut self) -> Option<FileEntry> {
        let item = self.items.next()?;
        let chunk = &self.chunks[item.chunk as usize];
        let key = key(&self.chunks, &item);
        Some(FileEntry {
            path: PathBuf::from(OsString::from_vec([key.dir, key.name].concat())),
            root: chunk.root,
            explicit: chunk.named.is_some(),
            time: item.time().and_then(Time::to_system),
            bytes: (item.bytes != NO_BYTES).then_some(item.bytes),
            source: chunk.named.unwrap_or(Source::Regular),
            way: match &chunk.anchor {
                None => Way::ByPath,
                Some((anchor, skip)) => Way::Below(Arc::clone(anchor), *skip),
            },
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;
    use crate::walk::Sorted;
    use crate::walk::haul::{Haul, Hauled};
    use crate::walk::trouble::Told;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Times = BTreeMap<(usize, Vec<u8>, &'static str), Option<Time>>;

    /// The root, the path of the directory and the name of some files, with their times.
    fn files() -> impl Strategy<Value = Times> {
        let level = prop::sample::select(vec!["a/", "a-b/", "a.b/", "b/", "a\u{1}/", "ab/"]);
        let dir = prop::collection::vec(level, 0..3).prop_map(|levels| levels.concat());
        // A path so long that there are few in a piece of a sort.
        let above = prop_oneof![3 => Just(0_usize), 1 => Just(1 << 18)];
        let name = prop::sample::select(vec![
            "a",
            "a-b",
            "a.b",
            "b",
            "a\u{1}",
            "1",
            "abcdefghi",
            "abcdefgh",
        ]);
        let second = prop::option::of(-2..2_i64);
        let file = (0..2_usize, dir, name, second, 0..2_u32);
        (above, prop::collection::vec(file, 0..60)).prop_map(|(above, files)| {
            let above = [&b"x".repeat(above)[..], b"/"].concat();
            let file = |(root, dir, name, second, nanos): (_, String, _, Option<i64>, _)| {
                let time = second.map(|seconds| Time { seconds, nanos });
                ((root, [&above, dir.as_bytes()].concat(), name), time)
            };
            files.into_iter().map(file).collect()
        })
    }

    fn gather(files: &Times, wish: (SortBy, Order, Option<usize>), parts: &[usize]) -> Listing {
        let token = CancelToken::new();
        let mut listing = Listing::default();
        for root in 0..2 {
            let gathering = || Gathering::new(root, None, wish, &token);
            let mut gatherings = [gathering(), gathering(), gathering()];
            let in_root = files.iter().filter(|((other, ..), _)| *other == root);
            for (((_, dir, name), time), part) in in_root.zip(parts.iter().cycle()) {
                let one = &mut gatherings[*part];
                if one.chunk.dirs.last().is_none_or(|last| **last != **dir) {
                    one.enter(dir);
                }
                one.push(name.as_bytes(), Found { time: *time, bytes: None });
            }
            for mut one in gatherings {
                one.sort().unwrap();
                listing.add(one);
            }
        }
        listing
    }

    /// As the documentation of an order has it, without a thought for time.
    fn naive(files: &Times, by: SortBy, order: Order) -> Vec<(usize, PathBuf)> {
        type One = (usize, Vec<u8>, PathBuf, (bool, Option<Time>));
        let one = |((root, dir, name), time): (&(usize, Vec<u8>, &str), &Option<Time>)| -> One {
            let path = [dir, name.as_bytes()].concat();
            let ranks = path.iter().map(|byte| if *byte == b'/' { 0 } else { *byte }).collect();
            (*root, ranks, OsString::from_vec(path).into(), (time.is_none(), *time))
        };
        let mut all: Vec<One> = files.iter().map(one).collect();
        let in_place = |a: &One, b: &One| (a.0, &a.1).cmp(&(b.0, &b.1));
        all.sort_by(|a, b| match (by, order) {
            (SortBy::Path, Order::Ascending) => in_place(a, b),
            (SortBy::Path, Order::Descending) => b.2.cmp(&a.2).then(a.0.cmp(&b.0)),
            (_, Order::Ascending) => a.3.cmp(&b.3).then_with(|| in_place(a, b)),
            (_, Order::Descending) => b.3.cmp(&a.3).then_with(|| in_place(a, b)),
        });
        all.into_iter().map(|(root, _, path, _)| (root, path)).collect()
    }

    fn listed(files: impl Iterator<Item = FileEntry>) -> Vec<(usize, PathBuf)> {
        files.map(|file| (file.root, file.path)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn files_are_listed_in_the_order_of_a_naive_sort(
            files in files(),
            by in prop::sample::select(vec![SortBy::Path, SortBy::Modified]),
            order in prop::sample::select(vec![Order::Ascending, Order::Descending]),
            head in prop::option::of(0..40_usize),
            parts in prop::collection::vec(0..3_usize, 1..20),
        ) {
            let mut listing = gather(&files, (by, order, head), &parts);
            listing.sort(by, order, head, &CancelToken::new()).unwrap();
            let mut expected = naive(&files, by, order);
            expected.truncate(head.unwrap_or(usize::MAX));
            // They are too long to be shown.
            prop_assert!(listed(listing.into_files()) == expected);
        }
    }

    /// So many files of one directory, none where it belongs.
    fn crowd(files: usize, wish: (SortBy, Order, Option<usize>), token: &CancelToken) -> Gathering {
        let mut crowd = Gathering::new(0, None, wish, token);
        crowd.enter(b"dir/");
        for n in 0..files {
            crowd.push(format!("{:08}", n * 7919 % files).as_bytes(), Found::default());
        }
        crowd
    }

    fn names(files: usize) -> Vec<(usize, PathBuf)> {
        (0..files).map(|n| (0, format!("dir/{n:08}").into())).collect()
    }

    /// 40,000 files are sorted in several pieces, also where all have the same time.
    #[test]
    fn a_stop_leaves_all_files_and_they_are_in_order_when_they_are_asked_for() {
        let files = 40_000;
        for by in [SortBy::Path, SortBy::Modified] {
            let (token, stopped) = (CancelToken::new(), CancelToken::new());
            stopped.cancel();
            let wish = (by, Order::Ascending, None);
            for token in [&token, &stopped] {
                let mut crowd = crowd(files, wish, token);
                assert_eq!(crowd.sort().err(), token.stop(), "{by:?}");
                let haul = Haul::new(Told::all());
                haul.add(crowd);
                let scope = Scope::new("dir").sort(by, Order::Ascending);
                let hauled: Hauled = haul.take();
                let gathered = scope.sorted(hauled, by, None, &stopped);
                assert_eq!((gathered.stopped, gathered.found), (stopped.stop(), files as u64));
                assert!(matches!(gathered.files, Sorted::Unsorted(..)));
                assert!(listed(gathered.files) == names(files), "{by:?}");
            }
        }
    }

    #[test]
    fn the_head_of_many_is_kept_and_a_stop_leaves_more() {
        let head = MAX_SELECTED / 2;
        let files = 2 * head + SPARE + 1;
        let wish = (SortBy::Path, Order::Ascending, Some(head));
        let (token, stopped) = (CancelToken::new(), CancelToken::new());
        stopped.cancel();
        let mut pruned = crowd(files, wish, &token);
        assert_eq!(pruned.items.len(), head + 1);
        pruned.sort().unwrap();
        let mut listing = Listing::default();
        listing.add(pruned);
        assert!(listed(listing.into_files()) == names(head));

        let mut left = crowd(files, wish, &stopped);
        assert_eq!((left.items.len(), left.sort()), (files, Err(Stop::Cancelled)));
        let mut listing = Listing::default();
        listing.add(left);
        listing.sort(SortBy::Path, Order::Ascending, Some(head), &token).unwrap();
        assert!(listed(listing.into_files()) == names(head));
    }
}
