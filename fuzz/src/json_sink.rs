//! One file through `rg --json`: the bytes that ripgrep's own printer writes, and they can be read.

use crate::{Bits, Choices, may_panic, parts};
use asked::{Asked, Terminator};
use ingrep::wire::rg::{Message, Reader};

#[path = "../../tests/it/json_sink/asked.rs"]
mod asked;

const MAX_PATTERN_BYTES: usize = 60;
const MAX_HAYSTACK_BYTES: usize = 2_000;

/// Six bytes of choices, patterns that end with an empty one, and the haystack.
pub fn run(data: &[u8]) {
    let Some(asked) = asked(data) else { return };
    // A panic of the printer is nothing to be like.
    let theirs = may_panic(|| asked::printed(&asked));
    let ours = asked::lines(&asked);
    let read = messages(&ours);
    let mut written = Vec::new();
    for message in &read {
        message.write_line(&mut written).expect("a vector takes everything");
    }
    assert_eq!(shown(&written), shown(&ours), "what was read is what was written");
    // The transcoder below the searcher loses the end of an incomplete last character when it is
    // given little room at a time, as it is there: see tests/it/json_sink.rs.
    if asked.multiline
        && [&b"\xff\xfe"[..], b"\xfe\xff"].contains(&&asked.haystack[..asked.haystack.len().min(2)])
    {
        return;
    }
    if let Some(Some(theirs)) = theirs
        && without_times(messages(&theirs)) != without_times(read)
    {
        panic!("{asked:?}\nours\n{}\ntheirs\n{}", shown(&ours), shown(&theirs));
    }
}

fn asked(data: &[u8]) -> Option<Asked> {
    let (mut choices, rest) = Choices::cut(data, 6);
    let mut first = Bits(choices.byte());
    let mut second = Bits(choices.byte());
    let context = choices.byte();
    let counted = choices.byte();
    let mut asked = Asked {
        multiline: first.next(),
        dotall: first.next(),
        invert: first.next(),
        passthru: first.next(),
        stop_on_nonmatch: first.next(),
        fixed: first.next(),
        text: first.next(),
        unicode: !first.next(),
        numbers: !second.next(),
        whole: !second.next(),
        before: usize::from(context & 3),
        after: usize::from(context >> 2 & 3),
        terminator: match context >> 4 & 3 {
            0 | 1 => Terminator::Lf,
            2 => Terminator::Crlf,
            _ => Terminator::Nul,
        },
        max_count: (counted != 0).then(|| u64::from(counted & 7) + 1),
        replace: choices.one_of(&[None, Some(""), Some("<$0>"), Some("$1$n$$"), Some("\n")]),
        regex_bytes: Some(1 << 20),
        ..Asked::plain()
    };
    let words = choices.byte();
    asked.boundary = [None, Some("-w"), Some("-x"), None][usize::from(words & 3)];
    asked.case = [None, Some("-i"), Some("-S"), None][usize::from(words >> 2 & 3)];
    let mut rest = rest;
    loop {
        let pattern = parts(rest, 2).next()?;
        rest = rest.get(pattern.len() + 1..)?;
        if pattern.is_empty() || asked.patterns.len() == 3 {
            break;
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return None;
        }
        asked.patterns.push(std::str::from_utf8(pattern).ok()?.to_string());
    }
    if asked.patterns.is_empty() || rest.len() > MAX_HAYSTACK_BYTES {
        return None;
    }
    asked.haystack = rest.to_vec();
    Some(asked)
}

fn messages(lines: &[u8]) -> Vec<Message<'static>> {
    Reader::new(lines).collect::<Result<_, _>>().expect("each line is a message")
}

fn without_times(mut messages: Vec<Message<'static>>) -> Vec<Message<'static>> {
    for message in &mut messages {
        if let Message::End(end) = message {
            end.stats.elapsed = Default::default();
        }
    }
    messages
}

fn shown(lines: &[u8]) -> String {
    String::from_utf8(lines.to_vec()).expect("JSON is text")
}
