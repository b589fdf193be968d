//! A sort that can be stopped: the standard library's cannot, and a million paths take it a second.
//!
//! Pieces are left to the standard library, and merged two by two; between the pieces, and while they
//! are merged, the token is asked.

use crate::cancel::{CancelToken, Stop};
use std::cmp::Ordering;

/// How many bytes are looked at before the token is asked again, and how many are in a piece. Of files
/// with short paths that are some thousand, which take the standard library ten milliseconds.
const BYTES_PER_LOOK: usize = 1 << 20;

/// When to ask a token.
pub(super) struct Pace<'a> {
    token: &'a CancelToken,
    /// Bytes looked at since it was asked.
    bytes: usize,
}

impl<'a> Pace<'a> {
    pub(super) fn new(token: &'a CancelToken) -> Pace<'a> {
        Pace { token, bytes: 0 }
    }

    fn go_on(&mut self, bytes: usize) -> Result<(), Stop> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes < BYTES_PER_LOOK {
            return Ok(());
        }
        self.bytes = 0;
        self.token.stop().map_or(Ok(()), Err)
    }
}

/// Sorts by an order that is total, where `bytes` tells how many of an item a comparison may look at.
/// After a stop all items are still there, in some order.
///
/// What is sorted already, and what consists of a few sorted parts, takes about as many comparisons as
/// there are items.
pub(super) fn sort<T: Copy>(
    items: &mut [T],
    pace: &mut Pace<'_>,
    bytes: impl Fn(&T) -> usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<(), Stop> {
    Sorter { pace, bytes, compare, held: Vec::new() }.sort(items)
}

struct Sorter<'a, 'b, T, B, C> {
    pace: &'a mut Pace<'b>,
    bytes: B,
    compare: C,
    /// The left half of what is being merged.
    held: Vec<T>,
}

impl<T: Copy, B: Fn(&T) -> usize, C: Fn(&T, &T) -> Ordering> Sorter<'_, '_, T, B, C> {
    /// It recurses as often as the items can be halved.
    fn sort(&mut self, items: &mut [T]) -> Result<(), Stop> {
        if items.len() < 2 {
            return Ok(());
        }
        if let Some(bytes) = self.bytes_of_piece(items) {
            self.pace.go_on(bytes)?;
            items.sort_unstable_by(&self.compare);
            return Ok(());
        }
        let middle = items.len() / 2;
        let (left, right) = items.split_at_mut(middle);
        self.sort(left)?;
        self.sort(right)?;
        self.merge(items, middle)
    }

    /// How many bytes the items have, if they are few enough to be sorted without a look at the token.
    fn bytes_of_piece(&self, items: &[T]) -> Option<usize> {
        items.iter().try_fold(0_usize, |sum, item| {
            let sum = sum.saturating_add((self.bytes)(item));
            (sum <= BYTES_PER_LOOK).then_some(sum)
        })
    }

    fn merge(&mut self, items: &mut [T], middle: usize) -> Result<(), Stop> {
        if (self.compare)(&items[middle - 1], &items[middle]).is_le() {
            return self.pace.go_on((self.bytes)(&items[middle]));
        }
        self.held.clear();
        self.held.extend_from_slice(&items[..middle]);
        let (mut next, mut left, mut right) = (0, 0, middle);
        let mut merged = Ok(());
        while merged.is_ok() && left < self.held.len() && right < items.len() {
            if (self.compare)(&items[right], &self.held[left]).is_lt() {
                items[next] = items[right];
                right += 1;
            } else {
                items[next] = self.held[left];
                left += 1;
            }
            merged = self.pace.go_on((self.bytes)(&items[next]));
            next += 1;
        }
        // Before `right` there is room for just those that are still held.
        items[next..right].copy_from_slice(&self.held[left..]);
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Numbers of which so many make a piece.
    fn bytes_of(piece: usize) -> impl Fn(&u32) -> usize {
        move |_| BYTES_PER_LOOK / piece
    }

    /// Some sorted parts, some in no order.
    fn numbers() -> impl Strategy<Value = Vec<u32>> {
        let part = (prop::collection::vec(0..50_u32, 0..40), 0..3).prop_map(|(mut part, order)| {
            if order > 0 {
                part.sort_unstable();
            }
            if order > 1 {
                part.reverse();
            }
            part
        });
        prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_sorts_as_the_standard_library(mut numbers in numbers(), piece in 1..20_usize) {
            let mut expected = numbers.clone();
            expected.sort_unstable();
            let token = CancelToken::new();
            sort(&mut numbers, &mut Pace::new(&token), bytes_of(piece), Ord::cmp).unwrap();
            prop_assert_eq!(numbers, expected);
        }

        /// Nothing is lost or doubled, and no more comparisons are made than a look is far away.
        #[test]
        fn it_is_stopped_at_any_comparison(
            numbers in numbers(),
            piece in 1..20_usize,
            last in 0..600_usize,
        ) {
            let (token, compared) = (CancelToken::new(), Cell::new(0));
            let compare = |a: &u32, b: &u32| {
                compared.set(compared.get() + 1);
                if compared.get() > last {
                    token.cancel();
                }
                a.cmp(b)
            };
            let (mut sorted, mut expected) = (numbers.clone(), numbers);
            let done = sort(&mut sorted, &mut Pace::new(&token), bytes_of(piece), compare);
            expected.sort_unstable();
            if done.is_ok() {
                prop_assert_eq!(&sorted, &expected);
            }
            prop_assert!(compared.get() <= last + 20 * 20);
            sorted.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }

    /// However long a single path is, the token is asked for each.
    #[test]
    fn what_is_long_is_no_piece() {
        let token = CancelToken::new();
        token.cancel();
        let mut two = [2_u32, 1];
        let stopped = sort(&mut two, &mut Pace::new(&token), |_| usize::MAX, Ord::cmp);
        assert_eq!(stopped, Err(Stop::Cancelled));
    }

    #[test]
    fn what_is_sorted_is_compared_about_once() {
        let (token, compared) = (CancelToken::new(), Cell::new(0));
        let count = |a: &u32, b: &u32| {
            compared.set(compared.get() + 1);
            a.cmp(b)
        };
        let mut sorted: Vec<u32> = (0..10_000).collect();
        sort(&mut sorted, &mut Pace::new(&token), bytes_of(100), count).unwrap();
        assert!(compared.get() < 11_000, "{} for one part", compared.get());
        compared.set(0);
        let mut two: Vec<u32> =
            (0..6_000).map(|n| n * 2).chain((0..4_000).map(|n| n * 2 + 1)).collect();
        sort(&mut two, &mut Pace::new(&token), bytes_of(100), count).unwrap();
        assert!(two.is_sorted());
        assert!(compared.get() < 40_000, "{} for two parts", compared.get());
    }
}
