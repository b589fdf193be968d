//! ripgrep's JSON lines: what is read is written as it was, whatever the reader's pieces, and nothing
//! is read that is no JSON.

use ingrep::wire::rg::{Begin, Data, Line, LineRef, Message, ReadErrorKind, Reader, Submatch};
use std::io::BufReader;

/// The bytes as lines that somebody sent, then as data to be sent.
pub fn run(data: &[u8]) {
    let limit = data.first().map_or(0, |&byte| usize::from(byte) * 4);
    as_lines(data, limit);
    as_data(data);
}

fn as_lines(data: &[u8], limit: usize) {
    let lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
    let whole: Vec<_> = Reader::new(data).collect();
    assert_eq!(whole.len(), lines.len(), "an answer for each line");
    for (line, answer) in lines.iter().zip(&whole) {
        match answer {
            Ok(message) => read(line, message),
            Err(error) => assert!(error.to_string().len() < 2_000, "{error}"),
        }
    }
    // In pieces of three bytes, and under a limit.
    let pieces = Reader::new(BufReader::with_capacity(3, data)).max_line_bytes(limit);
    for ((line, whole), limited) in lines.iter().zip(&whole).zip(pieces) {
        let bytes = line.strip_suffix(b"\n").unwrap_or(line).len();
        match limited {
            Err(error) if matches!(error.kind(), ReadErrorKind::LineTooLong { .. }) => {
                assert!(bytes > limit, "{bytes} bytes are not over {limit}");
            }
            limited => {
                let text = |answer: &Result<Message<'_>, ingrep::wire::rg::ReadError>| match answer
                {
                    Ok(message) => format!("{message:?}"),
                    Err(error) => error.to_string(),
                };
                assert_eq!(text(&limited), text(whole));
            }
        }
    }
}

fn read(line: &[u8], message: &Message<'_>) {
    // The crate that everybody asks takes it for JSON.
    serde_json::from_slice::<serde::de::IgnoredAny>(line).expect("a message is JSON");
    let mut written = Vec::new();
    let bytes = message.write_line(&mut written).expect("a vector takes everything");
    assert_eq!(bytes, written.len() as u64);
    let again = Reader::new(&written[..]).next().expect("a line").expect("what we write we read");
    assert_eq!(&again, message);
    let mut twice = Vec::new();
    again.write_line(&mut twice).expect("a vector takes everything");
    assert_eq!(written, twice);
    assert_eq!(&message.clone().into_owned(), message);
}

fn as_data(data: &[u8]) {
    let (path, lines) = data.split_at(data.len() / 3);
    let mut line = Line::new(path, lines, data.len() as u64);
    line.line_number = data.first().map(|&byte| u64::from(byte));
    let third = lines.len() / 3;
    let submatch = Submatch::new(&lines[third..2 * third], third..2 * third);
    line.submatches = vec![submatch.clone(), submatch.with_replacement(path)];
    let mut written = Vec::new();
    let mut borrowed = LineRef::new(path, lines, line.absolute_offset);
    borrowed.line_number = line.line_number;
    borrowed.write_match(&mut written, line.submatches.iter().cloned()).expect("a vector");
    let message = Message::Match(line);
    let mut owned = Vec::new();
    message.write_line(&mut owned).expect("a vector takes everything");
    assert_eq!(written, owned);
    assert_eq!(written.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
    read(&written, &message);

    let mut begin = Vec::new();
    Message::Begin(Begin::new(data)).write_line(&mut begin).expect("a vector takes everything");
    let value: serde_json::Value = serde_json::from_slice(&begin).expect("JSON");
    let told = &value["data"]["path"];
    match std::str::from_utf8(data) {
        Ok(text) => assert_eq!(told["text"].as_str(), Some(text)),
        Err(_) => {
            let read: Data<'_> = serde_json::from_value(told.clone()).expect("data");
            assert_eq!(read.as_bytes(), data);
            assert!(told["bytes"].is_string());
        }
    }
}
