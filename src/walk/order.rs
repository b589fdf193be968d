//! Who comes first.

use super::FileEntry;
use crate::scope::{Order, SortBy};
use std::cmp::Ordering;
use std::time::SystemTime;

/// Sorts files of all roots. No two are equal, so the order in which a walk found them is gone.
pub(super) fn sort(files: &mut [FileEntry], by: SortBy, order: Order) {
    match (by, order) {
        (SortBy::Nothing, _) => {}
        (SortBy::Path, Order::Ascending) => files.sort_unstable_by(in_place),
        // As ripgrep does it, the roots keep their order only in the other direction.
        (SortBy::Path, Order::Descending) => {
            files.sort_unstable_by(|a, b| b.path.cmp(&a.path).then_with(|| a.root.cmp(&b.root)))
        }
        (SortBy::Modified | SortBy::Accessed | SortBy::Created, _) => {
            files.sort_unstable_by(|a, b| {
                let times = unknown_last(a.time, b.time);
                let times = if order == Order::Descending { times.reverse() } else { times };
                times.then_with(|| in_place(a, b))
            });
        }
    }
}

/// `Path` compares component by component: `a/1` comes before `a-b`.
fn in_place(a: &FileEntry, b: &FileEntry) -> Ordering {
    a.root.cmp(&b.root).then_with(|| a.path.cmp(&b.path))
}

fn unknown_last(a: Option<SystemTime>, b: Option<SystemTime>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.cmp(&b),
        (known, other) => other.is_some().cmp(&known.is_some()),
    }
}
