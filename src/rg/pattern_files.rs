//! The files of `-f`: one pattern a line.

use bstr::ByteSlice;
use bstr::io::BufReadExt;
use std::io::{self, Read};

/// Reads patterns. A line ends with `\n` or `\r\n`; the last one need not.
///
/// On failure returns the text that ripgrep prints.
pub(super) fn read(name: &str, from: impl Read) -> Result<Vec<String>, String> {
    let mut patterns = Vec::new();
    let mut number = 0;
    let mut refused = None;
    let result = io::BufReader::new(from).for_byte_line(|line| {
        number += 1;
        match std::str::from_utf8(line) {
            Ok(pattern) => patterns.push(pattern.to_string()),
            Err(error) => {
                refused = Some(format!("{name}:{number}: {}", invalid(line, error.valid_up_to())));
                return Ok(false);
            }
        }
        Ok(true)
    });
    match (result, refused) {
        (Err(error), _) => Err(format!("{name}:{error}")),
        (Ok(()), Some(refused)) => Err(refused),
        (Ok(()), None) => Ok(patterns),
    }
}

fn invalid(line: &[u8], offset: usize) -> String {
    let shown = line.escape_bytes();
    format!(
        "found invalid UTF-8 in pattern at byte offset {offset}: {shown} (disable Unicode mode \
         and use hex escape sequences to match arbitrary bytes in a pattern, e.g., '(?-u)\\xFF')"
    )
}
