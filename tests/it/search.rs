//! What a query finds in one file, on every way to search it.
//!
//! A reported line is written `NUMBER@OFFSET KIND BYTES SPANS`, with `=` for a match, `<` and `>`
//! for context before and after, and `.` for a line that passes through.

use crate::haystacks::{Haystacks, POOLS};
use ingrep::{
    Binary, Boundary, CancelToken, Case, Encoding, End, FileMatches, Limits, LineKind, MultiLine,
    Query, Scope, Terminator,
};

fn told(found: &FileMatches) -> Vec<String> {
    let line = |line: ingrep::Line<'_>| {
        let number = line.number.map_or("-".to_string(), |number| number.to_string());
        let kind = match line.kind {
            LineKind::Match => '=',
            LineKind::Before => '<',
            LineKind::After => '>',
            _ => '.',
        };
        let mut text = format!("{number}@{} {kind} {}", line.offset, line.bytes.escape_ascii());
        line.spans.iter().for_each(|span| text += &format!(" {}-{}", span.start, span.end));
        assert_eq!(line.cut, line.full_bytes > line.bytes.len() as u64);
        if line.cut {
            text += &format!(" cut of {}", line.full_bytes);
        }
        text
    };
    found.lines().map(line).collect()
}

/// What each way to a file is expected to report.
struct Expected<'a> {
    slice: &'a [&'a str],
    named: &'a [&'a str],
    walked: &'a [&'a str],
}

#[track_caller]
fn check_each(query: &Query, limits: &Limits, haystack: &[u8], expected: Expected<'_>) {
    let search = query.clone().limits(limits.clone()).compile().unwrap();
    assert_eq!(told(&search.search_slice("x", haystack).unwrap()), expected.slice, "in a slice");

    // An empty neighbour, and a twin that is worked on at the same time.
    let haystacks = Haystacks::new(&[("a", haystack), ("b", b""), ("c", haystack)]);
    let file = haystacks.path("a");
    let found = search.search_file(&file).unwrap();
    assert_eq!(told(&found), expected.named, "in a file");
    assert!(found.complete);

    for pool in &*POOLS {
        let collect = |scope: Scope| {
            let search = query.clone().limits(limits.clone()).scope(scope.pool(pool));
            search.compile().unwrap().collect(&CancelToken::new()).unwrap()
        };
        let named = collect(Scope::new(&file));
        assert_eq!(named.summary.end, End::Complete);
        let lines: Vec<_> = named.files.iter().flat_map(told).collect();
        assert_eq!(lines, expected.named, "in a named file, {pool:?}");
        assert_eq!(named.summary.lines_matched, found.lines_matched);
        assert_eq!(named.summary.matches, found.matches);
        assert_eq!(named.summary.bytes_searched, found.bytes_searched);

        let walked = collect(Scope::new(haystacks.root()));
        assert_eq!(walked.summary.end, End::Complete);
        assert_eq!(walked.summary.files_searched, 3);
        let lines: Vec<_> = walked.files.iter().flat_map(told).collect();
        assert_eq!(lines, [expected.walked, expected.walked].concat(), "in a walk, {pool:?}");
    }
}

#[track_caller]
fn check_limited(query: &Query, limits: &Limits, haystack: impl AsRef<[u8]>, expected: &[&str]) {
    let expected = Expected { slice: expected, named: expected, walked: expected };
    check_each(query, limits, haystack.as_ref(), expected);
}

#[track_caller]
fn check(query: Query, haystack: impl AsRef<[u8]>, expected: &[&str]) {
    check_limited(&query, &Limits::new(), haystack, expected);
}

#[test]
fn one_pattern_finds_every_place_in_every_line() {
    check(Query::new("o"), "foo\nbar\nfo o", &[r"1@0 = foo\n 1-2 2-3", "3@8 = fo o 1-2 3-4"]);
    check(Query::new("o"), "", &[]);
    check(Query::new("o"), "\n\n", &[]);
    check(Query::new("^$"), "a\n\nb\n", &[r"2@2 = \n 0-0"]);
    check(Query::new("a.c"), "abc a\nc\n", &[r"1@0 = abc a\n 0-3"]);
    check(Query::new("a*"), "ab\n", &[r"1@0 = ab\n 0-1 2-2"]);
    check(Query::new(r"\w+"), "one two\n", &[r"1@0 = one two\n 0-3 4-7"]);
    check(Query::new(r"a\s"), "a \na\n", &[r"1@0 = a \n 0-2"]);
}

#[test]
fn many_patterns_find_the_leftmost_and_of_two_the_first_named() {
    check(
        Query::many(["foo", "bar"]),
        "bar foo\nbaz\nfoo\n",
        &[r"1@0 = bar foo\n 0-3 4-7", r"3@12 = foo\n 0-3"],
    );
    check(Query::many(["fo", "foo"]), "foo\n", &[r"1@0 = foo\n 0-2"]);
    check(Query::many(["f(o", "b)o"]).fixed_strings(true), "f(o\n", &[r"1@0 = f(o\n 0-3"]);
    check(Query::new("a").pattern("b"), "ab\n", &[r"1@0 = ab\n 0-1 1-2"]);
    let words: Vec<String> = (0..500).map(|n| format!("w{n:03}")).collect();
    check(Query::many(&words), "w499\nw500\n", &[r"1@0 = w499\n 0-4"]);
}

#[test]
fn fixed_strings_have_no_special_characters() {
    let query = |text: &str| Query::new(text).fixed_strings(true);
    check(query("a.c"), "abc\na.c\n", &[r"2@4 = a.c\n 0-3"]);
    check(query("("), "f(x)\n", &[r"1@0 = f(x)\n 1-2"]);
    check(query("(A").case(Case::Insensitive), "(a\n", &[r"1@0 = (a\n 0-2"]);
    check(query("a+b").boundary(Boundary::Word), "a+b xa+b\n", &[r"1@0 = a+b xa+b\n 0-3"]);
}

#[test]
fn case_is_obeyed_ignored_or_read_from_the_patterns() {
    let text = "foo\nFOO\n";
    let both: &[&str] = &[r"1@0 = foo\n 0-3", r"2@4 = FOO\n 0-3"];
    check(Query::new("foo"), text, &both[..1]);
    check(Query::new("foo").case(Case::Insensitive), text, both);
    check(Query::new("foo").case(Case::Smart), text, both);
    check(Query::new("FOO").case(Case::Smart), text, &both[1..]);
    // One upper-case letter in any pattern makes all of them sensitive.
    check(Query::many(["foo", "Bar"]).case(Case::Smart), text, &both[..1]);
    check(Query::many(["foo", "bar"]).case(Case::Smart), text, both);
    // A class of many letters has no literal letter; one in a small class has.
    check(Query::new(r"\WFoo|foo").case(Case::Smart), text, &both[..1]);
    check(Query::new(r"\Wxx|foo").case(Case::Smart), text, both);
    check(Query::new("[f]oo").case(Case::Smart), text, both);
    check(Query::new("[F]oo|foo").case(Case::Smart), text, &both[..1]);
    check(Query::new(r"\pL+").case(Case::Smart), text, both);
    check(Query::new("É").case(Case::Insensitive), "é\n", &[r"1@0 = \xc3\xa9\n 0-2"]);
    check(Query::new("k").case(Case::Insensitive), "\u{212a}\n", &[r"1@0 = \xe2\x84\xaa\n 0-3"]);
}

#[test]
fn boundaries_hold_a_match_to_words_or_to_the_line() {
    let word = |pattern: &str| Query::new(pattern).boundary(Boundary::Word);
    check(word("foo"), "foo foobar a-foo\n", &[r"1@0 = foo foobar a-foo\n 0-3 13-16"]);
    check(word("foo"), "foobar\n", &[]);
    check(word("-2"), "abc -2 foo\n", &[r"1@0 = abc -2 foo\n 4-6"]);
    check(word("foo|b"), "xfoo\nb\n", &[r"2@5 = b\n 0-1"]);
    check(word("é"), "é éa\n", &[r"1@0 = \xc3\xa9 \xc3\xa9a\n 0-2"]);

    let line = |pattern: &str| Query::new(pattern).boundary(Boundary::Line);
    check(line("foo"), "foo\nfoo \n foo\nfoo", &[r"1@0 = foo\n 0-3", "4@14 = foo 0-3"]);
    check(line("a|ab"), "ab\n", &[r"1@0 = ab\n 0-2"]);
    check(Query::many(["a", "b"]).boundary(Boundary::Line), "ab\nb\n", &[r"2@3 = b\n 0-1"]);
}

#[test]
fn a_carriage_return_belongs_to_the_line_unless_it_is_part_of_the_end() {
    let text = "ab\r\ncd\r\n";
    check(Query::new("b$"), text, &[]);
    check(Query::new("b."), text, &[r"1@0 = ab\r\n 1-3"]);
    let crlf = |pattern: &str| Query::new(pattern).terminator(Terminator::Crlf);
    check(crlf("b$"), text, &[r"1@0 = ab\r\n 1-2"]);
    check(crlf("^cd$"), text, &[r"2@4 = cd\r\n 0-2"]);
    check(crlf(".+"), text, &[r"1@0 = ab\r\n 0-2", r"2@4 = cd\r\n 0-2"]);
    check(crlf("b$"), "ab\n", &[r"1@0 = ab\n 1-2"]);
    check(crlf("b$"), "ab", &["1@0 = ab 1-2"]);
    check(crlf("ab").boundary(Boundary::Line), text, &[r"1@0 = ab\r\n 0-2"]);
}

#[test]
fn lines_that_end_in_nul_are_lines() {
    let nul = |pattern: &str| Query::new(pattern).terminator(Terminator::Nul);
    check(nul("b"), "a\0b\nc\0", &[r"2@2 = b\nc\x00 0-1"]);
    // FIXME: as in rg, an anchor finds each line, and no place in any but the first of a buffer:
    // looked at in the buffer, the place follows a NUL and not the line feed that `^` asks for.
    check(nul("^a"), "a\0ba\0a\0", &[r"1@0 = a\x00 0-1", r"3@5 = a\x00"]);
    check(nul("a.b"), "a\nb\0", &[]);
    check(nul("(?s)a.b"), "a\nb\0", &[r"1@0 = a\nb\x00 0-3"]);
}

#[test]
fn a_match_spans_lines_only_when_it_may() {
    let multi = |pattern: &str| Query::new(pattern).multi_line(MultiLine::On);
    let text = "a\nb\nc\n";
    check(multi(r"a\nb"), text, &[r"1@0 = a\nb\n 0-3"]);
    check(multi("a.b"), text, &[]);
    check(Query::new("a.b").multi_line(MultiLine::DotAll), text, &[r"1@0 = a\nb\n 0-3"]);
    check(multi(r"\n"), "a\n", &[r"1@0 = a\n 1-2"]);
    check(multi(r"[^x]+"), text, &[r"1@0 = a\nb\nc\n 0-6"]);
    check(multi(r"b\nc\n"), text, &[r"2@2 = b\nc\n 0-4"]);
    check(multi(r"b\n").context(1), text, &[r"1@0 < a\n", r"2@2 = b\n 0-2", r"3@4 > c\n"]);
    // A pattern that cannot cross a line is searched line by line: nothing is merged.
    check(multi("[abc]"), text, &[r"1@0 = a\n 0-1", r"2@2 = b\n 0-1", r"3@4 = c\n 0-1"]);
    check(multi(r"a\r?\nb").terminator(Terminator::Crlf), "a\r\nb\r\n", &[r"1@0 = a\r\nb\r\n 0-4"]);
}

#[test]
fn matches_across_lines_that_touch_are_told_as_one() {
    let multi = |pattern: &str| Query::new(pattern).multi_line(MultiLine::On);
    check(multi(r"a\nb\n"), "a\nb\na\nb\n", &[r"1@0 = a\nb\na\nb\n 0-4 4-8"]);
    check(multi(r"a\nb"), "a\nb a\nb\n", &[r"1@0 = a\nb a\nb\n 0-3 4-7"]);
    check(multi(r"a\nb\n"), "a\nb\nx\na\nb\n", &[r"1@0 = a\nb\n 0-4", r"4@6 = a\nb\n 0-4"]);
    let found = multi(r"a\nb\n").compile().unwrap().search_slice("x", b"a\nb\na\nb\n").unwrap();
    assert_eq!((found.lines_matched, found.matches), (4, 2));
}

#[test]
fn an_empty_match_at_the_end_of_the_text_is_a_line_without_a_span() {
    check(Query::new("$"), "ab", &["1@0 = ab"]);
    check(Query::new("$"), "ab\n", &[r"1@0 = ab\n 2-2"]);
    check(Query::new("b*"), "ab", &["1@0 = ab 0-0 1-2"]);
}

#[test]
fn an_empty_pattern_matches_every_line_and_an_empty_list_none() {
    check(
        Query::new("").allow_empty(true),
        "ab\n\nc",
        &[r"1@0 = ab\n 0-0 1-1 2-2", r"2@3 = \n 0-0", "3@4 = c 0-0"],
    );
    let none = || Query::many([""; 0]).allow_empty(true);
    check(none(), "ab\n", &[]);
    check(none().invert(true), "ab\n", &[r"1@0 = ab\n"]);
    check(none().passthru(true), "ab\n", &[r"1@0 . ab\n"]);
}

#[test]
fn unicode_can_be_switched_off() {
    let ascii = |pattern: &str| Query::new(pattern).unicode(false);
    check(Query::new(r"\w+"), "né\n", &[r"1@0 = n\xc3\xa9\n 0-3"]);
    check(ascii(r"\w+"), "né\n", &[r"1@0 = n\xc3\xa9\n 0-1"]);
    check(ascii("n").boundary(Boundary::Word), "né\n", &[r"1@0 = n\xc3\xa9\n 0-1"]);
    check(Query::new("n").boundary(Boundary::Word), "né\n", &[]);
    check(ascii("é").case(Case::Insensitive), "É\n", &[]);
    check(ascii("a.b"), b"a\xffb\n", &[r"1@0 = a\xffb\n 0-3"]);
    check(Query::new("a.b"), b"a\xffb\n", &[]);
}

#[test]
fn a_span_may_cut_a_character() {
    check(Query::new(r"(?-u)\xC3"), "Éé\n", &[r"1@0 = \xc3\x89\xc3\xa9\n 0-1 2-3"]);
    check(Query::new(r"(?-u:\xff)"), b"a\xff\n", &[r"1@0 = a\xff\n 1-2"]);
}

#[test]
fn inverted_the_lines_that_hold_the_pattern_are_the_context() {
    let not = |pattern: &str| Query::new(pattern).invert(true);
    check(not("a"), "a\nb\nc", &[r"2@2 = b\n", "3@4 = c"]);
    check(not("a"), "a\n", &[]);
    check(
        not("a").context(1),
        "xa a\nb\na\na\n",
        &[r"1@0 < xa a\n 1-2 3-4", r"2@5 = b\n", r"3@7 > a\n 0-1"],
    );
    check(not("a").passthru(true), "a\nb\n", &[r"1@0 . a\n 0-1", r"2@2 = b\n"]);
    check(
        not(r"a\nb").multi_line(MultiLine::On).context(1),
        "a\nb\nc\n",
        &[r"2@2 < b\n", r"3@4 = c\n"],
    );
    check(not("a").max_count(Some(1)), "b\nb\n", &[r"1@0 = b\n"]);
    // FIXME: when it reads a file grep-searcher 0.1.17 tells a line that holds the pattern as a
    // match, once the count is full.
    let wrong: &[&str] = &[r"1@0 = b\n", r"2@2 = a\n 0-1"];
    let right: &[&str] = &[r"1@0 = b\n", r"2@2 > a\n 0-1"];
    check_each(
        &not("a").max_count(Some(1)).after_context(1),
        &Limits::new(),
        b"b\na\n",
        Expected { slice: right, named: wrong, walked: wrong },
    );
}

#[test]
fn context_surrounds_matches_and_no_line_comes_twice() {
    let text = "1\n2\nx3\n4\n5\nx6\n7\n8\n9\n";
    check(
        Query::new("x").before_context(1),
        text,
        &[r"2@2 < 2\n", r"3@4 = x3\n 0-1", r"5@9 < 5\n", r"6@11 = x6\n 0-1"],
    );
    check(
        Query::new("x").after_context(1),
        text,
        &[r"3@4 = x3\n 0-1", r"4@7 > 4\n", r"6@11 = x6\n 0-1", r"7@14 > 7\n"],
    );
    let overlapping: &[&str] = &[
        r"1@0 < 1\n",
        r"2@2 < 2\n",
        r"3@4 = x3\n 0-1",
        r"4@7 > 4\n",
        r"5@9 > 5\n",
        r"6@11 = x6\n 0-1",
        r"7@14 > 7\n",
        r"8@16 > 8\n",
    ];
    check(Query::new("x").context(2), text, overlapping);
    check(
        Query::new("x").before_context(9).after_context(1),
        text,
        &[
            r"1@0 < 1\n",
            r"2@2 < 2\n",
            r"3@4 = x3\n 0-1",
            r"4@7 > 4\n",
            r"5@9 < 5\n",
            r"6@11 = x6\n 0-1",
            r"7@14 > 7\n",
        ],
    );
    check(Query::new("x").context(9), "x\nx", &[r"1@0 = x\n 0-1", "2@2 = x 0-1"]);
    check(Query::new("y").context(9), text, &[]);
}

#[test]
fn passthru_reports_every_line_of_every_file() {
    let query = || Query::new("x").passthru(true);
    check(query(), "a\nx\nb", &[r"1@0 . a\n", r"2@2 = x\n 0-1", "3@4 . b"]);
    check(query(), "a\nb\n", &[r"1@0 . a\n", r"2@2 . b\n"]);
    check(query(), "", &[]);
    let found = query().compile().unwrap().search_slice("x", b"a\n").unwrap();
    assert_eq!((found.lines_matched, found.lines().len()), (0, 1));
}

#[test]
fn max_count_stops_in_each_file_and_lets_the_context_out() {
    let most = |matches| Query::new("x").max_count(Some(matches));
    let text = "x1\nb\nx2\nx3\n";
    check(most(0), text, &[]);
    check(most(0).passthru(true), text, &[]);
    check(most(0).invert(true).context(1), text, &[]);
    check(most(0).multi_line(MultiLine::On), text, &[]);
    check(most(1), text, &[r"1@0 = x1\n 0-1"]);
    check(most(2), text, &[r"1@0 = x1\n 0-1", r"3@5 = x2\n 0-1"]);
    check(most(9), text, &[r"1@0 = x1\n 0-1", r"3@5 = x2\n 0-1", r"4@8 = x3\n 0-1"]);
    // What matches in the context is told as a match and makes the context no longer.
    check(most(1).after_context(2), text, &[r"1@0 = x1\n 0-1", r"2@3 > b\n", r"3@5 = x2\n 0-1"]);
    check(
        most(1).passthru(true),
        text,
        &[r"1@0 = x1\n 0-1", r"2@3 . b\n", r"3@5 . x2\n", r"4@8 . x3\n"],
    );
    check(
        Query::new(r"x.\n").multi_line(MultiLine::On).max_count(Some(1)),
        "x1\nb\nx2\n",
        &[r"1@0 = x1\n 0-3"],
    );
}

#[test]
fn a_search_can_stop_at_the_first_line_that_no_longer_matches() {
    let query = || Query::new("x").stop_on_nonmatch(true);
    check(query(), "a\nx\nx\nb\nx\n", &[r"2@2 = x\n 0-1", r"3@4 = x\n 0-1"]);
    check(query().after_context(1), "x\nb\nx\n", &[r"1@0 = x\n 0-1", r"2@2 > b\n"]);
}

#[test]
fn a_byte_order_mark_decides_how_text_is_decoded_and_is_not_part_of_it() {
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    let expected: &[&str] = &[r"2@2 = \xc3\xa9x\n 0-3"];
    check(Query::new("éx"), "\u{feff}a\néx\n", expected);
    check(Query::new("éx"), utf16("\u{feff}a\néx\n", u16::to_le_bytes), expected);
    check(Query::new("éx"), utf16("\u{feff}a\néx\n", u16::to_be_bytes), expected);
    check(Query::new("^a"), "\u{feff}a\n", &[r"1@0 = a\n 0-1"]);

    let label = |label: &str| Query::new("éx").encoding(Encoding::Label(label.to_string()));
    check(label("utf-16"), utf16("a\néx\n", u16::to_le_bytes), expected);
    check(label("utf-16be"), utf16("a\néx\n", u16::to_be_bytes), expected);
    check(label("latin1"), b"a\n\xe9x\n", expected);
    check(label("latin1"), utf16("\u{feff}a\néx\n", u16::to_le_bytes), expected);
    check(
        Query::new("x").encoding(Encoding::Label("utf-8".to_string())),
        b"\xffx\n",
        &[r"1@0 = \xef\xbf\xbdx\n 3-4"],
    );

    let raw = |pattern: &str| Query::new(pattern).encoding(Encoding::Raw);
    check(raw("^a"), "\u{feff}a\n", &[]);
    check(raw("a"), "\u{feff}a\n", &[r"1@0 = \xef\xbb\xbfa\n 3-4"]);
    check(Query::new("x"), b"\xe9x\n", &[r"1@0 = \xe9x\n 1-2"]);
}

#[track_caller]
fn check_binary(binary: Binary, haystack: &[u8], expected: Expected<'_>) {
    check_each(&Query::new("foo").binary(binary), &Limits::new(), haystack, expected);
}

#[test]
fn a_nul_ends_a_walked_file_and_a_line_of_a_named_one() {
    let early = b"foo\nba\0r\nfoo\nx\n";
    let in_lines: &[&str] = &[r"1@0 = foo\n 0-3", r"3@9 = foo\n 0-3"];
    let converted: &[&str] = &[r"1@0 = foo\n 0-3", r"4@9 = foo\n 0-3"];
    // A slice cannot be written to, so its NULs stay in their lines.
    let expected = Expected { slice: in_lines, named: converted, walked: &[] };
    check_binary(Binary::Auto, early, expected);
    let expected = Expected { slice: in_lines, named: converted, walked: converted };
    check_binary(Binary::Convert, early, expected);
    check_binary(Binary::Quit, early, Expected { slice: &[], named: &[], walked: &[] });
    let expected = Expected { slice: in_lines, named: in_lines, walked: in_lines };
    check_binary(Binary::Text, early, expected);
    check(Query::new(r"a\x00r").binary(Binary::Text), early, &[r"2@4 = ba\x00r\n 1-4"]);
}

#[test]
fn what_stands_before_a_late_nul_has_been_found() {
    // More than one read of 64 KiB before the NUL.
    let mut late = b"foo\n".to_vec();
    late.extend(b"0123456\n".repeat(20_000));
    late.extend(b"\0\nfoo\n");
    let all: &[&str] = &[r"1@0 = foo\n 0-3", r"20003@160006 = foo\n 0-3"];
    let converted: &[&str] = &[r"1@0 = foo\n 0-3", r"20004@160006 = foo\n 0-3"];
    let expected = Expected { slice: all, named: converted, walked: &all[..1] };
    check_binary(Binary::Auto, &late, expected);
    let expected = Expected { slice: all, named: all, walked: all };
    check_binary(Binary::Text, &late, expected);

    let haystacks = Haystacks::new(&[("late", &late[..]), ("early", b"foo\0\n")]);
    let search = Query::new("foo").scope(Scope::new(haystacks.root())).compile().unwrap();
    let outcome = search.collect(&CancelToken::new()).unwrap();
    assert_eq!(outcome.files[0].binary_offset, Some(160_004));
    assert_eq!(outcome.summary.files_binary, 1, "the one in which nothing had been found");
    assert_eq!((outcome.summary.files_searched, outcome.summary.files_matched), (2, 1));
}

#[test]
fn a_long_line_is_cut_between_characters_and_spans_with_it() {
    let cut = |bytes| Limits::new().max_line_bytes(bytes);
    let digits = Query::new(r"\d+");
    let text = "ab12345 6\n78\n";
    check_limited(&digits, &cut(10), text, &[r"1@0 = ab12345 6\n 2-7 8-9", r"2@10 = 78\n 0-2"]);
    check_limited(
        &digits,
        &cut(9),
        text,
        &["1@0 = ab12345 6 2-7 8-9 cut of 10", r"2@10 = 78\n 0-2"],
    );
    check_limited(&digits, &cut(8), text, &["1@0 = ab12345  2-7 cut of 10", r"2@10 = 78\n 0-2"]);
    check_limited(&digits, &cut(4), text, &["1@0 = ab12 2-4 cut of 10", r"2@10 = 78\n 0-2"]);
    check_limited(&digits, &cut(2), text, &["1@0 = ab cut of 10", "2@10 = 78 0-2 cut of 3"]);
    check_limited(&digits, &cut(0), text, &["1@0 =  cut of 10", "2@10 =  cut of 3"]);
    check_limited(&Query::new("é"), &cut(4), "aéé\n", &[r"1@0 = a\xc3\xa9 1-3 cut of 6"]);
    check_limited(&Query::new("é"), &cut(2), "aéé\n", &["1@0 = a cut of 6"]);
    check_limited(
        &Query::new("x"),
        &cut(3),
        b"x\xff\xff\xff\n",
        &[r"1@0 = x\xff\xff 0-1 cut of 5"],
    );
    // Context is cut like any line.
    check_limited(
        &Query::new("x").context(1),
        &cut(2),
        "abc\nx\nabc\n",
        &["1@0 < ab cut of 4", r"2@4 = x\n 0-1", "3@6 > ab cut of 4"],
    );

    let huge = [&b"x".repeat(3 << 20)[..], b"\nx\n"].concat();
    let found = Query::new("x$").compile().unwrap().search_slice("x", &huge).unwrap();
    let line = found.lines().next().unwrap();
    assert_eq!((line.bytes.len(), line.full_bytes, line.cut), (1 << 20, (3 << 20) + 1, true));
    assert!(line.spans.is_empty());
    assert_eq!((found.lines_matched, found.matches), (2, 2));
}

#[test]
fn lines_need_not_be_counted() {
    check(
        Query::new("b").line_numbers(false).before_context(1),
        "a\nb\n",
        &[r"-@0 < a\n", r"-@2 = b\n 0-1"],
    );
}

#[test]
fn a_search_is_used_by_many_threads_at_once() {
    let search = Query::new(r"x\d").compile().unwrap();
    std::thread::scope(|threads| {
        for n in 0..8 {
            let search = search.clone();
            threads.spawn(move || {
                for _ in 0..50 {
                    let text = format!("a\nx{n}\n").repeat(n + 1);
                    let found = search.search_slice("x", text.as_bytes()).unwrap();
                    assert_eq!(found.lines_matched, n as u64 + 1);
                }
            });
        }
    });
}
