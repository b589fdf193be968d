//! Match and context messages, written by hand.
//!
//! A search may find millions of lines, and through a serializer half of its time went into writing
//! them down. The other messages stand once for each file.

use super::rg::{LineRef, Submatch};
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write};

pub(super) fn write<'s, W: Write>(
    out: &mut W,
    kind: &str,
    line: &LineRef<'_>,
    submatches: impl IntoIterator<Item = Submatch<'s>>,
) -> io::Result<()> {
    let mut digits = itoa::Buffer::new();
    out.write_all(b"{\"type\":\"")?;
    out.write_all(kind.as_bytes())?;
    out.write_all(b"\",\"data\":{\"path\":")?;
    write_data(out, line.path)?;
    out.write_all(b",\"lines\":")?;
    write_data(out, line.lines)?;
    out.write_all(b",\"line_number\":")?;
    let number = line.line_number.map(|number| digits.format(number));
    out.write_all(number.unwrap_or("null").as_bytes())?;
    out.write_all(b",\"absolute_offset\":")?;
    out.write_all(digits.format(line.absolute_offset).as_bytes())?;
    out.write_all(b",\"submatches\":[")?;
    for (index, submatch) in submatches.into_iter().enumerate() {
        out.write_all(if index == 0 { b"{\"match\":" } else { b",{\"match\":" })?;
        write_data(out, submatch.matched.as_bytes())?;
        if let Some(replacement) = &submatch.replacement {
            out.write_all(b",\"replacement\":")?;
            write_data(out, replacement.as_bytes())?;
        }
        out.write_all(b",\"start\":")?;
        out.write_all(digits.format(submatch.start).as_bytes())?;
        out.write_all(b",\"end\":")?;
        out.write_all(digits.format(submatch.end).as_bytes())?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]}}\n")
}

fn write_data<W: Write>(out: &mut W, bytes: &[u8]) -> io::Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(_) => {
            out.write_all(b"{\"text\":\"")?;
            write_escaped(out, bytes)?;
        }
        Err(_) => write!(out, "{{\"bytes\":\"{}", Base64Display::new(bytes, &STANDARD))?,
    }
    out.write_all(b"\"}")
}

fn write_escaped<W: Write>(out: &mut W, mut text: &[u8]) -> io::Result<()> {
    while let Some(place) = find_special(text) {
        out.write_all(&text[..place])?;
        match text[place] {
            b'"' => out.write_all(b"\\\"")?,
            b'\\' => out.write_all(b"\\\\")?,
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            b'\t' => out.write_all(b"\\t")?,
            0x08 => out.write_all(b"\\b")?,
            0x0c => out.write_all(b"\\f")?,
            other => write!(out, "\\u{other:04x}")?,
        }
        text = &text[place + 1..];
    }
    out.write_all(text)
}

const fn of(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The first quotation mark, backslash or control character, eight bytes at a time.
fn find_special(text: &[u8]) -> Option<usize> {
    let (chunks, rest) = text.as_chunks();
    for (index, &chunk) in chunks.iter().enumerate() {
        let bytes = u64::from_le_bytes(chunk);
        // The highest bit of each byte that is less than another and has that bit not set. What is
        // borrowed goes to later bytes only, so the first is right.
        let less = |bytes: u64, than: u64| bytes.wrapping_sub(than) & !bytes & of(0x80);
        let is = |byte: u8| less(bytes ^ of(byte), of(1));
        let special = less(bytes, of(0x20)) | is(b'"') | is(b'\\');
        if special != 0 {
            return Some(index * 8 + special.trailing_zeros() as usize / 8);
        }
    }
    let special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    rest.iter().position(special).map(|place| chunks.len() * 8 + place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_special_is_found_first(
            text in prop::collection::vec(prop_oneof![8 => 0x1eu8..0x60, 1 => any::<u8>()], 0..40),
        ) {
            let naive = text.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            prop_assert_eq!(find_special(&text), naive);
        }
    }
}
