//! Tables: what is written, what is read, and what is refused.

use std::io::{self, BufRead, BufReader, Read};
use std::time::Duration;

use ingrep::wire::rg::{
    Begin, Data, Elapsed, End, Line, LineRef, Message, ReadErrorKind, Reader, Stats, Submatch,
    Summary,
};

fn line_of(message: &Message<'_>) -> String {
    let mut out = Vec::new();
    let written = message.write_line(&mut out).expect("a vector takes everything");
    assert_eq!(written, out.len() as u64);
    assert_eq!(out.pop(), Some(b'\n'));
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn read(input: &[u8]) -> Vec<Result<Message<'static>, String>> {
    Reader::new(input).map(|item| item.map_err(|error| error.to_string())).collect()
}

/// The message is written as `json`, and `json` is read as the message.
#[track_caller]
fn check(message: Message<'_>, json: &str) {
    assert_eq!(line_of(&message), json);
    assert_eq!(read(json.as_bytes()), [Ok(message.into_owned())]);
}

/// The line is read as the message, though it is not what is written for it.
#[track_caller]
fn check_reads(json: &str, message: Message<'_>) {
    assert_eq!(read(json.as_bytes()), [Ok(message.into_owned())]);
}

/// The one line is refused for this reason. At which byte is left to serde_json.
#[track_caller]
fn check_error(input: &str, reason: &str) {
    let items = read(input.as_bytes());
    let [Err(error)] = items.as_slice() else { panic!("{input:?} is read as {items:?}") };
    let (place, found) = error.split_once(": ").expect("a place comes first");
    assert_eq!(found, reason);
    assert!(place == "line 1" || place.starts_with("line 1, byte "), "{place}");
}

#[track_caller]
fn check_data(bytes: &[u8], json: &str) {
    let line = format!(r#"{{"type":"begin","data":{{"path":{json}}}}}"#);
    check(Message::Begin(Begin::new(bytes)), &line);
}

#[track_caller]
fn check_human(nanos: u64, human: &str) {
    assert_eq!(Elapsed::from(Duration::from_nanos(nanos)).to_string(), human);
}

fn stats() -> Stats {
    let mut stats = Stats::default();
    stats.elapsed = Duration::from_nanos(26_580).into();
    stats.searches = 2;
    stats.searches_with_match = 1;
    stats.bytes_searched = 24;
    stats.bytes_printed = 435;
    stats.matched_lines = 4;
    stats.matches = 3;
    stats
}

#[test]
fn every_message_has_ripgreps_keys_in_ripgreps_order() {
    check(
        Message::Begin(Begin::new("<stdin>")),
        r#"{"type":"begin","data":{"path":{"text":"<stdin>"}}}"#,
    );

    let mut line = Line::new("a", "foo\n", 7);
    check(
        Message::Context(line.clone()),
        r#"{"type":"context","data":{"path":{"text":"a"},"lines":{"text":"foo\n"},"line_number":null,"absolute_offset":7,"submatches":[]}}"#,
    );

    line.line_number = Some(2);
    line.submatches.push(Submatch::new("f", 0..1));
    line.submatches.push(Submatch::new("o", 2..3).with_replacement(""));
    check(
        Message::Match(line),
        r#"{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"foo\n"},"line_number":2,"absolute_offset":7,"submatches":[{"match":{"text":"f"},"start":0,"end":1},{"match":{"text":"o"},"replacement":{"text":""},"start":2,"end":3}]}}"#,
    );

    check(
        Message::End(End::new("a", None, stats())),
        r#"{"type":"end","data":{"path":{"text":"a"},"binary_offset":null,"stats":{"elapsed":{"secs":0,"nanos":26580,"human":"0.000027s"},"searches":2,"searches_with_match":1,"bytes_searched":24,"bytes_printed":435,"matched_lines":4,"matches":3}}}"#,
    );
    check(
        Message::End(End::new("a", Some(80_004), Stats::default())),
        r#"{"type":"end","data":{"path":{"text":"a"},"binary_offset":80004,"stats":{"elapsed":{"secs":0,"nanos":0,"human":"0.000000s"},"searches":0,"searches_with_match":0,"bytes_searched":0,"bytes_printed":0,"matched_lines":0,"matches":0}}}"#,
    );
    check(
        Message::Summary(Summary::new(Duration::from_nanos(1_549_844), stats())),
        r#"{"data":{"elapsed_total":{"human":"0.001550s","nanos":1549844,"secs":0},"stats":{"bytes_printed":435,"bytes_searched":24,"elapsed":{"human":"0.000027s","nanos":26580,"secs":0},"matched_lines":4,"matches":3,"searches":2,"searches_with_match":1}},"type":"summary"}"#,
    );
}

#[test]
fn control_characters_are_escaped_and_nothing_else_is() {
    let names = [(8, r"\b"), (9, r"\t"), (10, r"\n"), (12, r"\f"), (13, r"\r")];
    for byte in 0..0x20_u8 {
        let escape = match names.iter().find(|(named, _)| *named == byte) {
            Some((_, name)) => (*name).to_string(),
            None => format!("\\u{byte:04x}"),
        };
        check_data(&[byte], &format!(r#"{{"text":"{escape}"}}"#));
    }
    check_data(b"\x1b[0m", r#"{"text":"\u001b[0m"}"#);
    check_data(b"\"", r#"{"text":"\""}"#);
    check_data(b"\\", r#"{"text":"\\"}"#);
    check_data(b"\x7f", "{\"text\":\"\x7f\"}");
    check_data(b"a/b", r#"{"text":"a/b"}"#);
    check_data(b"<&'>", r#"{"text":"<&'>"}"#);
    for text in ["é", "\u{80}", "\u{2028}", "\u{feff}", "\u{ffff}", "\u{1f600}", "\u{10ffff}"] {
        check_data(text.as_bytes(), &format!(r#"{{"text":"{text}"}}"#));
    }
    check_data(b"", r#"{"text":""}"#);
}

#[test]
fn bytes_that_are_not_utf8_are_padded_base64_in_the_standard_alphabet() {
    check_data(b"bad\xff.txt", r#"{"bytes":"YmFk/y50eHQ="}"#);
    check_data(b"\xff", r#"{"bytes":"/w=="}"#);
    check_data(b"\xff\xef", r#"{"bytes":"/+8="}"#);
    check_data(b"\xfb\xff\xbf", r#"{"bytes":"+/+/"}"#);
    check_data(b"\xc3", r#"{"bytes":"ww=="}"#);
    // A surrogate, an overlong form and what lies past the last code point are not UTF-8.
    check_data(b"\xed\xa0\x80", r#"{"bytes":"7aCA"}"#);
    check_data(b"\xc0\x80", r#"{"bytes":"wIA="}"#);
    check_data(b"\xf4\x90\x80\x80", r#"{"bytes":"9JCAgA=="}"#);
    // Longer than any chunk an encoder may work in, so that padding within would show.
    check_data(&[0xff; 3000], &format!(r#"{{"bytes":"{}"}}"#, "/".repeat(4000)));
    check_data(&[0xff; 3001], &format!(r#"{{"bytes":"{}/w=="}}"#, "/".repeat(4000)));
}

#[test]
fn each_value_chooses_between_text_and_bytes_by_itself() {
    let mut line = Line::new(&b"\xff"[..], "é\n", 0);
    line.submatches.push(Submatch::new(&b"\xc3"[..], 0..1).with_replacement(&b"x"[..]));
    check(
        Message::Match(line),
        r#"{"type":"match","data":{"path":{"bytes":"/w=="},"lines":{"text":"é\n"},"line_number":null,"absolute_offset":0,"submatches":[{"match":{"bytes":"ww=="},"replacement":{"text":"x"},"start":0,"end":1}]}}"#,
    );
}

#[test]
fn human_is_the_rounded_float() {
    check_human(0, "0.000000s");
    check_human(499, "0.000000s");
    check_human(500, "0.000000s");
    check_human(501, "0.000001s");
    check_human(1_500, "0.000002s");
    check_human(26_580, "0.000027s");
    check_human(999_999_499, "0.999999s");
    check_human(999_999_999, "1.000000s");
    check_human(61_000_000_000, "61.000000s");
}

#[test]
fn numbers_keep_their_full_range() {
    let mut line = Line::new("a", "b", u64::MAX);
    line.line_number = Some(u64::MAX);
    line.submatches.push(Submatch::new("b", usize::MAX..usize::MAX));
    let message = Message::Match(line);
    assert_eq!(read(line_of(&message).as_bytes()), [Ok(message)]);

    let longest = Duration::new(u64::MAX, 999_999_999);
    let message = Message::Summary(Summary::new(longest, Stats::default()));
    assert_eq!(read(line_of(&message).as_bytes()), [Ok(message)]);
}

#[test]
fn a_borrowed_line_is_written_like_an_owned_one_and_allocates_nothing() {
    let lines = [&b"foo \"foo\"\n"[..], b"foo \xff foo\n", b"foo\0\n"];
    for lines in lines {
        let mut owned = Line::new("src/a.rs", lines, 12);
        owned.line_number = Some(3);
        owned.submatches.push(Submatch::new(&lines[0..3], 0..3).with_replacement("bar"));
        owned.submatches.push(Submatch::new(&lines[1..2], 1..2).with_replacement("bar"));

        let mut borrowed = LineRef::new(b"src/a.rs", lines, 12);
        borrowed.line_number = Some(3);
        let spans = [0..3, 1..2];
        let submatches = spans
            .iter()
            .map(|span| Submatch::new(&lines[span.clone()], span.clone()).with_replacement("bar"));

        let mut out = Vec::with_capacity(4096);
        let allocated = allocation_counter::measure(|| {
            borrowed.write_match(&mut out, submatches.clone()).expect("a vector takes everything");
        });
        assert_eq!(allocated.count_total, 0);
        assert_eq!(out, format!("{}\n", line_of(&Message::Match(owned.clone()))).as_bytes());

        out.clear();
        let allocated = allocation_counter::measure(|| {
            borrowed.write_context(&mut out, submatches).expect("a vector takes everything");
        });
        assert_eq!(allocated.count_total, 0);
        assert_eq!(out, format!("{}\n", line_of(&Message::Context(owned.clone()))).as_bytes());

        let message = Message::Match(owned);
        out.clear();
        let allocated = allocation_counter::measure(|| {
            message.write_line(&mut out).expect("a vector takes everything");
        });
        assert_eq!(allocated.count_total, 0);
    }

    let end = Message::End(End::new(&b"\xff"[..], Some(1), stats()));
    let summary = Message::Summary(Summary::new(Duration::from_secs(1), stats()));
    let mut out = Vec::with_capacity(4096);
    let allocated = allocation_counter::measure(|| {
        end.write_line(&mut out).expect("a vector takes everything");
        summary.write_line(&mut out).expect("a vector takes everything");
    });
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn the_error_of_the_output_comes_through_with_its_kind() {
    struct Broken;

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let message = Message::Begin(Begin::new("a"));
    let error = message.write_line(&mut Broken).expect_err("the pipe is broken");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    let error = message.write_line(&mut &mut [0; 45][..]).expect_err("the last byte has no room");
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    let out: &mut dyn io::Write = &mut &mut [0; 46][..];
    assert_eq!(message.write_line(out).expect("there is room"), 46);
}

#[test]
fn keys_that_are_not_known_are_skipped() {
    let deep = r#"{"x":[1,null,{"y":"z"}]}"#;
    check_reads(
        &format!(
            r#"{{"version":{deep},"type":"begin","data":{{"mode":{deep},"path":{{"text":"a","len":1}}}},"more":1}}"#
        ),
        Message::Begin(Begin::new("a")),
    );

    let mut line = Line::new("a", "b", 0);
    line.submatches.push(Submatch::new("b", 0..1));
    check_reads(
        r#"{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"b"},"column":1,"line_number":null,"absolute_offset":0,"submatches":[{"match":{"text":"b"},"groups":[],"start":0,"end":1}]}}"#,
        Message::Match(line),
    );

    let elapsed = r#"{"secs":0,"nanos":26580,"human":"27us","days":0}"#;
    let counts = r#""searches":2,"searches_with_match":1,"bytes_searched":24,"bytes_printed":435,"matched_lines":4,"matches":3,"skipped":9"#;
    check_reads(
        &format!(
            r#"{{"type":"end","data":{{"path":{{"text":"a"}},"binary_offset":null,"stats":{{"elapsed":{elapsed},{counts}}}}}}}"#
        ),
        Message::End(End::new("a", None, stats())),
    );
    check_reads(
        &format!(
            r#"{{"data":{{"elapsed_total":{elapsed},"threads":2,"stats":{{"elapsed":{elapsed},{counts}}}}},"type":"summary"}}"#
        ),
        Message::Summary(Summary::new(Duration::from_nanos(26_580), stats())),
    );
}

#[test]
fn keys_come_in_any_order() {
    check_reads(
        r#"{"data":{"path":{"text":"a"}},"type":"begin"}"#,
        Message::Begin(Begin::new("a")),
    );

    let mut line = Line::new("a", "b", 5);
    line.line_number = Some(4);
    line.submatches.push(Submatch::new("b", 0..1).with_replacement("c"));
    let data = r#"{"absolute_offset":5,"line_number":4,"lines":{"text":"b"},"path":{"text":"a"},"submatches":[{"end":1,"match":{"text":"b"},"replacement":{"text":"c"},"start":0}]}"#;
    check_reads(&format!(r#"{{"data":{data},"type":"match"}}"#), Message::Match(line.clone()));
    check_reads(&format!(r#"{{"type":"match","data":{data}}}"#), Message::Match(line.clone()));
    check_reads(&format!(r#"{{"data":{data},"type":"context"}}"#), Message::Context(line));

    let counts = r#"{"bytes_printed":435,"bytes_searched":24,"elapsed":{"human":"0.000027s","nanos":26580,"secs":0},"matched_lines":4,"matches":3,"searches":2,"searches_with_match":1}"#;
    let end = format!(r#"{{"binary_offset":1,"path":{{"text":"a"}},"stats":{counts}}}"#);
    let message = || Message::End(End::new("a", Some(1), stats()));
    check_reads(&format!(r#"{{"data":{end},"type":"end"}}"#), message());
    check_reads(&format!(r#"{{"type":"end","data":{end}}}"#), message());

    let summary = format!(r#"{{"stats":{counts},"elapsed_total":{{"secs":1,"nanos":0}}}}"#);
    let message = || Message::Summary(Summary::new(Duration::from_secs(1), stats()));
    check_reads(&format!(r#"{{"type":"summary","data":{summary}}}"#), message());
}

#[test]
fn a_missing_or_null_replacement_is_none() {
    let mut line = Line::new("a", "b", 0);
    line.submatches.push(Submatch::new("b", 0..1));
    for replacement in ["", r#""replacement":null,"#] {
        check_reads(
            &format!(
                r#"{{"type":"match","data":{{"path":{{"text":"a"}},"lines":{{"text":"b"}},"line_number":null,"absolute_offset":0,"submatches":[{{"match":{{"text":"b"}},{replacement}"start":0,"end":1}}]}}}}"#
            ),
            Message::Match(line.clone()),
        );
    }
}

#[test]
fn escapes_ripgrep_does_not_use_are_read_too() {
    check_reads(
        r#" { "type" : "begin" , "data" : { "path" : { "text" : "\u00e9\/\ud83d\ude00" } } } "#,
        Message::Begin(Begin::new("é/\u{1f600}")),
    );
    check_reads(
        "{\"type\":\"begin\",\"data\":{\"path\":{\"bytes\":\"YQ==\"}}}\r\n",
        Message::Begin(Begin::new("a")),
    );
}

#[test]
fn a_bad_line_says_what_is_wrong_with_it() {
    check_error(r#"{"type":"shiny","data":{}}"#, r#"unknown message type "shiny""#);
    check_error(r#"{"data":{"path":5},"type":"new"}"#, r#"unknown message type "new""#);
    check_error(r#"{"type":"Begin","data":{}}"#, r#"unknown message type "Begin""#);
    check_error(r#"{"type":"a\nb","data":{}}"#, r#"unknown message type "a\nb""#);

    check_error("\n", "empty line");
    check_error("rg: a: No such file\n", "expected value");
    check_error("[]\n", "invalid type: sequence, expected an object with `type` and `data`");
    check_error("{}\n", "missing field `type`");
    check_error(r#"{"data":{}}"#, "missing field `type`");
    check_error(r#"{"type":"begin"}"#, "missing field `data`");
    check_error(r#"{"type":"begin","data":{}}"#, "missing field `path`");
    check_error(r#"{"data":{},"type":"begin"}"#, "missing field `path`");
    check_error(r#"{"data":{},"type":"match"}"#, "missing field `path`");
    check_error(r#"{"data":{},"type":"end"}"#, "missing field `path`");
    check_error(r#"{"data":{},"type":"summary"}"#, "missing field `elapsed_total`");
    check_error(r#"{"type":7,"data":{}}"#, "invalid type: integer `7`, expected a message type");
    check_error(r#"{"type":"begin","type":"begin"}"#, "duplicate field `type`");
    check_error(r#"{"data":{},"data":{}}"#, "duplicate field `data`");
    check_error(r#"{"type":"begin","data":{"path":{"text":"a"}}} x"#, "trailing characters");
    check_error("{\"type\":\"begin\",\"data\n", "EOF while parsing a string");
}

#[test]
fn a_bad_value_says_what_is_wrong_with_it() {
    #[track_caller]
    fn check_path(path: &str, error: &str) {
        check_error(&format!(r#"{{"type":"begin","data":{{"path":{path}}}}}"#), error);
    }

    check_path("{}", "neither text nor bytes where one is expected");
    check_path(r#"{"text":null}"#, "neither text nor bytes where one is expected");
    check_path(r#"{"text":"a","bytes":"YQ=="}"#, "both text and bytes where one is expected");
    check_path(r#"{"bytes":"Y-_="}"#, "bytes is not base64: Invalid symbol 45, offset 1.");
    check_path(r#"{"bytes":"YQ"}"#, "bytes is not base64: Invalid padding");
    check_path(r#"{"text":"\ud800"}"#, "unexpected end of hex escape");

    let elapsed = r#"{"secs":18446744073709551615,"nanos":1000000000}"#;
    check_error(
        &format!(r#"{{"data":{{"elapsed_total":{elapsed}}},"type":"summary"}}"#),
        "nanos is 1000000000, more than a second has",
    );
    check_error(
        r#"{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"b"},"absolute_offset":-1}}"#,
        "invalid value: integer `-1`, expected u64",
    );

    let not_utf8 = b"{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"\xff\"}}}\n";
    assert_eq!(read(not_utf8), [Err("line 1, byte 41: invalid unicode code point".to_string())],);
}

#[test]
fn an_error_holds_only_the_start_of_a_long_text() {
    let long = "é".repeat(1000);
    check_error(
        &format!(r#"{{"type":"{long}","data":{{}}}}"#),
        &format!(r#"unknown message type "{}...""#, "é".repeat(100)),
    );
    check_error(
        &format!(r#"{{"type":"{}","data":{{}}}}"#, "x".repeat(200)),
        &format!(r#"unknown message type "{}""#, "x".repeat(200)),
    );
    let start = r#"invalid type: string ""#;
    check_error(
        &format!(r#"{{"type":"begin","data":"{long}"}}"#),
        &format!("{start}{}...", "é".repeat((200 - start.len()) / 2)),
    );
}

#[test]
fn a_bad_line_does_not_end_the_reading() {
    let good = line_of(&Message::Begin(Begin::new("a")));
    let items = read(format!("{good}\nnonsense\n{good}\n\n{good}").as_bytes());
    let good = || Ok(Message::Begin(Begin::new("a")));
    let bad = |text: &str| Err(text.to_string());
    assert_eq!(
        items,
        [good(), bad("line 2, byte 2: expected ident"), good(), bad("line 4: empty line"), good(),],
    );
}

#[test]
fn a_last_line_that_is_cut_off_is_named_as_such() {
    let whole = line_of(&Message::Summary(Summary::new(Duration::ZERO, stats())));
    for bytes in 1..whole.len() {
        assert_eq!(
            read(&whole.as_bytes()[..bytes]),
            [Err(format!("line 1: input ends after {bytes} bytes, in the middle of a message"))],
        );
    }
    assert!(read(b"").is_empty());
}

#[test]
fn a_line_over_the_limit_is_passed_over_and_not_held() {
    let good = line_of(&Message::Begin(Begin::new("a")));
    let limit = good.len();
    let long = "x".repeat(limit + 1);
    let inputs = [
        (format!("{good}\n{long}\n{good}\n"), vec![true, false, true]),
        (format!("{long}{long}{long}{long}\n{good}"), vec![false, true]),
        (format!("{good}\n{long}"), vec![true, false]),
        (format!("{good} \n{good}"), vec![false, true]),
        (good.clone(), vec![true]),
    ];
    for (input, expected) in inputs {
        // A small buffer makes the line come in pieces.
        for capacity in [1, 7, 4096] {
            let input = BufReader::with_capacity(capacity, input.as_bytes());
            let items: Vec<_> = Reader::new(input).max_line_bytes(limit).collect();
            assert_eq!(items.iter().map(Result::is_ok).collect::<Vec<_>>(), expected);
            for error in items.into_iter().filter_map(Result::err) {
                assert!(matches!(
                    error.kind(),
                    ReadErrorKind::LineTooLong { max_line_bytes } if *max_line_bytes == limit
                ));
            }
        }
    }

    let endless = BufReader::new(io::repeat(b'x'));
    let mut reader = Reader::new(endless).max_line_bytes(1000);
    let held = allocation_counter::measure(|| {
        assert!(matches!(reader.next(), Some(Err(_))));
    });
    assert!(held.bytes_max < 4096, "{} bytes", held.bytes_max);

    let mut no_limit = Reader::new(good.as_bytes()).max_line_bytes(usize::MAX);
    assert!(matches!(no_limit.next(), Some(Ok(_))));
    let mut nothing = Reader::new(&b"\nx\n"[..]).max_line_bytes(0);
    assert!(matches!(
        nothing.next(),
        Some(Err(error)) if matches!(error.kind(), ReadErrorKind::Malformed { .. })
    ));
    assert!(matches!(
        nothing.next(),
        Some(Err(error)) if matches!(error.kind(), ReadErrorKind::LineTooLong { .. })
    ));
}

/// Gives some bytes, then fails for ever.
struct Failing(&'static [u8]);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::other("unplugged")) } else { self.0.read(out) }
    }
}

impl BufRead for Failing {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.0.is_empty() { Err(io::Error::other("unplugged")) } else { Ok(self.0) }
    }

    fn consume(&mut self, amount: usize) {
        self.0 = &self.0[amount..];
    }
}

#[test]
fn an_error_of_the_input_is_the_last_item() {
    #[track_caller]
    fn check(input: &'static [u8], limit: usize, expected: &[&str]) {
        let errors = Reader::new(Failing(input)).max_line_bytes(limit).take(10);
        let errors: Vec<_> = errors
            .map(|item| item.map_or_else(|error| error.to_string(), |_| "ok".into()))
            .collect();
        assert_eq!(errors, expected);
    }

    check(b"", 100, &["line 1: cannot be read: unplugged"]);
    check(b"{", 100, &["line 1: cannot be read: unplugged"]);
    check(
        b"{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"a\"}}}\n",
        100,
        &["ok", "line 2: cannot be read: unplugged"],
    );
    check(
        b"12345",
        3,
        &["line 1: longer than max_line_bytes (3)", "line 1: cannot be read: unplugged"],
    );
}

#[test]
fn data_views_are_those_of_the_bytes() {
    let data = Data::from(&b"a\xffb"[..]);
    assert_eq!(data.as_bytes(), b"a\xffb");
    assert_eq!(data.to_str_lossy(), "a\u{fffd}b");
    assert!(data.to_str().is_err());
    assert_eq!(format!("{data:?}"), r#"b"a\xffb""#);
    assert_eq!(format!("{:?}", Data::from("a\n")), r#""a\n""#);
    assert_eq!(Data::from("x"), Data::from(b"x".to_vec()));
    assert_eq!(Data::from(String::from("x")).into_bytes(), b"x");

    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        assert_eq!(data.to_path().as_os_str().as_bytes(), b"a\xffb");
        assert_eq!(Data::from_path(data.to_path()), data);
    }
}
