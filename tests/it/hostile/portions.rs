//! The same bytes give the same answer, however they are portioned and encoded: T24, T25, H6.

use super::watched::watched_for;
use crate::dice::Dice;
use crate::portioned::{PATTERNS, Portions, argv, haystack, without_times};
use crate::tree::Tree;
use ingrep::{Binary, CancelToken, Limits, Query, rg};
use std::time::Duration;

#[test]
fn portions_and_interruptions_change_nothing() {
    watched_for(Duration::from_secs(60), 8 << 20, || check_portions(1, 150));
}

fn check_portions(seed: u64, cases: usize) {
    let mut dice = Dice::new(seed);
    let mut found = 0;
    for case in 0..cases {
        let (bytes, argv) = (haystack(&mut dice), argv(&mut dice));
        let command = rg::Command::new("/").args(&argv).arg("-");
        let token = CancelToken::new();
        let at_once = command.clone().stdin(bytes.clone()).output(&token).unwrap();
        found += usize::from(at_once.code == 0);
        let at_once = without_times(at_once);
        for most in [1, 7, 8192, 70_000] {
            // Byte by byte a long one takes long.
            if bytes.len() / most > 20_000 {
                continue;
            }
            let portions = Portions::new(&bytes, most, case as u64);
            let output = command.clone().stdin_reader(portions).output(&token).unwrap();
            assert_eq!(without_times(output), at_once, "{argv:?} {most} {}", bytes.escape_ascii());
        }
    }
    assert!(found > cases / 5, "{found}");
}

/// A slice, a file, and a file with hardly more room than its longest line.
#[test]
fn a_slice_a_file_and_a_small_buffer_find_the_same() {
    watched_for(Duration::from_secs(60), 8 << 20, || {
        let mut dice = Dice::new(2);
        let tree = Tree::new("");
        for _ in 0..120 {
            let bytes = haystack(&mut dice);
            let path = tree.join("f");
            std::fs::write(&path, &bytes).unwrap();
            let pattern = *dice.pick(&PATTERNS);
            let query = Query::new(pattern).binary(Binary::Text).invert(dice.percent(30));
            let query = query.context(dice.below(3)).encoding(ingrep::Encoding::Raw);
            let roomy = query.clone().compile().unwrap();
            let slice = roomy.search_slice("f", &bytes).unwrap();
            let file = roomy.search_file(&path).unwrap();
            let all = |found: &ingrep::FileMatches| -> Vec<_> {
                found
                    .lines()
                    .map(|line| {
                        (line.number, line.offset, line.bytes.to_vec(), line.spans.to_vec())
                    })
                    .collect()
            };
            let case = format!("{query:?} {}", bytes.escape_ascii());
            assert_eq!(all(&slice), all(&file), "{case}");
            assert_eq!((slice.matches, slice.lines_matched), (file.matches, file.lines_matched));
            // What has to stay in the buffer is a line with the lines around it.
            let lines: Vec<_> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::len).collect();
            let longest = lines.windows(7).map(|near| near.iter().sum::<usize>() + 7).max();
            let room = longest.unwrap_or(bytes.len()).max(1 << 16) + 1;
            let limits = Limits::new().max_line_buffer_bytes(room);
            let small = query.limits(limits).compile().unwrap().search_file(&path).unwrap();
            assert_eq!(all(&small), all(&file), "{case}");
        }
    });
}
