//! Texts that begin as ASCII and do not stay so: the pattern that is compiled for ASCII only and the
//! whole one find, together, what the whole one finds alone.

use crate::haystacks::{Haystacks, POOLS};
use ingrep::{CancelToken, Encoding, FileMatches, MultiLine, Query, Scope};
use std::path::Path;

const PATTERNS: [&str; 8] = [
    r"\w+!",
    r"\b\w\b",
    r"(?i)k\w*s",
    r"^\W+\w",
    r"(?P<first>\w)(\w*)",
    r"[^a\s]\d?x",
    r"\pL$",
    r"straße|\w{3}",
];

/// Lines of this letter, and one other at this place.
fn lines(bytes: usize, place: usize, other: &str) -> Vec<u8> {
    let mut text = "a kelvins! x1x\nk s\n".repeat(bytes / 19 + 1).into_bytes();
    text.truncate(bytes);
    text.splice(place..place, other.bytes());
    text
}

/// Under a label nothing is known of the letters, so that the pattern itself is asked for all of it.
fn alone(query: &Query) -> Query {
    query.clone().encoding(Encoding::Label("utf-8".into()))
}

#[track_caller]
fn check(query: &Query, text: &[u8]) {
    let haystacks = Haystacks::new(&[("a", b"k!\n" as &[u8]), ("b", text), ("c", b"as k!\n")]);
    let told = |query: &Query| -> Vec<FileMatches> {
        let search = query.clone().compile().unwrap();
        let path = haystacks.path("b");
        let mut told = vec![
            search.search_slice("b", text).unwrap(),
            search.search_slice("a", b"k s!").unwrap(),
            search.search_file(&path).unwrap(),
        ];
        let scope = Scope::new(haystacks.root()).pool(&POOLS[2]);
        let search = query.clone().scope(scope).compile().unwrap();
        told.extend(search.collect(&CancelToken::new()).unwrap().files);
        told
    };
    assert!(told(query) == told(&alone(query)), "{query:?} in {} bytes", text.len());
}

#[test]
fn a_letter_that_is_not_ascii_is_seen_wherever_it_stands() {
    let big = 72 << 10;
    for pattern in &PATTERNS[..5] {
        for (bytes, place) in [
            (0, 0),
            (40, 3),
            (40, 40),
            (big, 0),
            (big, (64 << 10) - 1),
            (big, 64 << 10),
            (big, big),
        ] {
            for other in ["", "é", "\u{212a}ſ!"] {
                check(&Query::new(*pattern), &lines(bytes, place, other));
            }
        }
    }
}

#[test]
fn the_same_holds_across_lines_in_long_lines_and_for_groups() {
    let long = |other: &str| {
        let mut text = "kelvins ".repeat(20 << 10);
        text.insert_str(90 << 10, other);
        text.into_bytes()
    };
    for pattern in PATTERNS {
        for other in ["", "é! "] {
            check(&Query::new(pattern).multi_line(MultiLine::DotAll), &lines(3000, 2000, other));
            check(
                &Query::new(pattern).replacement(Some("<$1$first$0>")),
                &lines(3000, 2000, other),
            );
            check(&Query::new(pattern).invert(true).context(1), &lines(3000, 2000, other));
        }
    }
    for other in ["", "é!"] {
        check(&Query::new(r"\w+!\w*\W+k"), &long(other));
    }
}

#[test]
fn what_is_decoded_counts_and_not_what_is_read() {
    let utf16: Vec<u8> =
        "\u{feff}a é!\r\nk s\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let search = Query::new(r"\w!").compile().unwrap();
    let found = search.search_slice("x", &utf16).unwrap();
    assert_eq!(found.lines().next().unwrap().bytes, "a é!\r\n".as_bytes());
    // Here three ASCII bytes begin two of kana, which are letters.
    let jis = b"\x1b$B$\"!*\x1b(B!";
    let query = Query::new(r"^\w\W!").encoding(Encoding::Label("iso-2022-jp".into()));
    let found = query.compile().unwrap().search_slice(Path::new("x"), jis).unwrap();
    assert_eq!(found.lines_matched, 1);
    let utf16: Vec<u8> = "ab\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let query = Query::new(r"^\w\w$").encoding(Encoding::Label("utf-16le".into()));
    assert_eq!(query.compile().unwrap().search_slice("x", &utf16).unwrap().lines_matched, 1);
}
