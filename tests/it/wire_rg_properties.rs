//! Properties: what is written is read back, and text is escaped as serde_json does it.

use std::time::Duration;

use ingrep::wire::rg::{
    Begin, Data, End, Line, LineRef, Message, Reader, Stats, Submatch, Summary,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Bytes of which many are valid UTF-8, many nearly so, and many are characters JSON escapes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => any::<char>().prop_map(|char| char.to_string().into_bytes()),
        4 => (0_u8..0x30).prop_map(|byte| vec![byte]),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => Just(b"\"\\/\x7f".to_vec()),
    ];
    prop_oneof![
        vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        vec(any::<u8>(), 0..40),
        any::<String>().prop_map(String::into_bytes),
    ]
}

fn data() -> impl Strategy<Value = Data<'static>> {
    bytes().prop_map(Data::from)
}

fn duration() -> impl Strategy<Value = Duration> {
    let secs = prop_oneof![0..3_u64, any::<u64>()];
    (secs, 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos))
}

fn stats() -> impl Strategy<Value = Stats> {
    (duration(), any::<[u64; 6]>()).prop_map(|(elapsed, counts)| {
        let mut stats = Stats::default();
        stats.elapsed = elapsed.into();
        [
            stats.searches,
            stats.searches_with_match,
            stats.bytes_searched,
            stats.bytes_printed,
            stats.matched_lines,
            stats.matches,
        ] = counts;
        stats
    })
}

fn submatch() -> impl Strategy<Value = Submatch<'static>> {
    (data(), option::of(data()), any::<usize>(), any::<usize>()).prop_map(
        |(matched, replacement, start, end)| {
            let mut submatch = Submatch::new(matched, start..end);
            submatch.replacement = replacement;
            submatch
        },
    )
}

fn line() -> impl Strategy<Value = Line<'static>> {
    (data(), data(), option::of(any::<u64>()), any::<u64>(), vec(submatch(), 0..4)).prop_map(
        |(path, lines, line_number, absolute_offset, submatches)| {
            let mut line = Line::new(path, lines, absolute_offset);
            line.line_number = line_number;
            line.submatches = submatches;
            line
        },
    )
}

fn message() -> impl Strategy<Value = Message<'static>> {
    prop_oneof![
        1 => data().prop_map(|path| Message::Begin(Begin::new(path))),
        3 => line().prop_map(Message::Match),
        2 => line().prop_map(Message::Context),
        1 => (data(), option::of(any::<u64>()), stats())
            .prop_map(|(path, offset, stats)| Message::End(End::new(path, offset, stats))),
        1 => (duration(), stats())
            .prop_map(|(total, stats)| Message::Summary(Summary::new(total, stats))),
    ]
}

fn write(messages: &[Message<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for message in messages {
        let before = out.len();
        let written = message.write_line(&mut out).expect("a vector takes everything");
        assert_eq!(written, (out.len() - before) as u64);
    }
    out
}

/// What serde_json's own map of sorted keys makes of a line.
fn sorted(line: &[u8]) -> Vec<u8> {
    let value: serde_json::Value = serde_json::from_slice(line).expect("the line is JSON");
    serde_json::to_vec(&value).expect("a value is JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn messages_come_back_as_they_were(messages in vec(message(), 0..6)) {
        let out = write(&messages);
        prop_assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), messages.len());
        let read = Reader::new(out.as_slice()).collect::<Result<Vec<_>, _>>();
        let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read, &messages);
        prop_assert_eq!(write(&read), out);
    }

    #[test]
    fn sorted_keys_are_read_like_any_others(message in message()) {
        let line = sorted(&write(std::slice::from_ref(&message)));
        let read: Message<'_> = serde_json::from_slice(&line)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&read, &message);
        // A summary is sorted already.
        if matches!(message, Message::Summary(_)) {
            let mut line = line;
            line.push(b'\n');
            prop_assert_eq!(write(&[message]), line);
        }
    }

    #[test]
    fn text_is_escaped_as_by_serde_json(bytes in bytes()) {
        let text = String::from_utf8_lossy(&bytes);
        let out = write(&[Message::Begin(Begin::new(&*text))]);
        let escaped = serde_json::to_string(&*text)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let expected = format!("{{\"type\":\"begin\",\"data\":{{\"path\":{{\"text\":{escaped}}}}}}}\n");
        prop_assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn bytes_are_text_only_if_they_are_utf8(bytes in bytes()) {
        let out = write(&[Message::Begin(Begin::new(&*bytes))]);
        let value: serde_json::Value = serde_json::from_slice(&out)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let path = value["data"]["path"].as_object().expect("a path is an object");
        prop_assert_eq!(path.len(), 1);
        match std::str::from_utf8(&bytes) {
            Ok(text) => prop_assert_eq!(path["text"].as_str(), Some(text)),
            Err(_) => prop_assert!(path["bytes"].is_string()),
        }
    }

    #[test]
    fn borrowed_lines_are_written_like_owned_ones(line in line()) {
        let mut borrowed = LineRef::new(
            line.path.as_bytes(),
            line.lines.as_bytes(),
            line.absolute_offset,
        );
        borrowed.line_number = line.line_number;
        let submatches = || line.submatches.iter().cloned();

        let mut out = Vec::new();
        let written = borrowed.write_match(&mut out, submatches())?;
        prop_assert_eq!(written, out.len() as u64);
        prop_assert_eq!(&out, &write(&[Message::Match(line.clone())]));

        out.clear();
        borrowed.write_context(&mut out, submatches())?;
        prop_assert_eq!(&out, &write(&[Message::Context(line.clone())]));
    }

    #[test]
    fn nothing_that_is_read_makes_the_reader_panic(
        messages in vec(message(), 1..3),
        cut in any::<prop::sample::Index>(),
        flip in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        limit in 0..400_usize,
    ) {
        let mut out = write(&messages);
        let flip = flip.index(out.len());
        out[flip] = byte;
        out.truncate(cut.index(out.len() + 1));
        let lines = out.split_inclusive(|&byte| byte == b'\n').count();
        let items = Reader::new(out.as_slice()).max_line_bytes(limit).count();
        prop_assert_eq!(items, lines);
    }
}
