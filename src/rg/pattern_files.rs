//! The files of `-f`: one pattern a line.

use crate::haystack::{self, OpenError, Place};
use bstr::ByteSlice;
use bstr::io::BufReadExt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens one. What is no file, such as the pipe that a shell puts in its place, may wait for its
/// writer; a file does not, whoever has leased it.
pub(super) fn open(at: &Path) -> io::Result<File> {
    if !at.metadata()?.is_file() {
        return File::open(at);
    }
    match haystack::open(Place::Path(at.into())) {
        Ok(haystack) => Ok(haystack.file),
        Err(OpenError::Io(error)) => Err(error),
        Err(OpenError::Special) => Err(io::Error::other("not a regular file")),
    }
}

/// Reads patterns, of so many bytes at most. A line ends with `\n` or `\r\n`; the last one need not.
///
/// On failure returns the text that ripgrep prints.
pub(super) fn read(name: &str, from: impl Read, max_bytes: usize) -> Result<Vec<String>, String> {
    let mut patterns = Vec::new();
    let mut number = 0;
    let mut refused = None;
    // A byte more, to see that there is more: a device has no end.
    let mut from = from.take(max_bytes as u64 + 1);
    let result = io::BufReader::new(&mut from).for_byte_line(|line| {
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
    if from.limit() == 0 && result.is_ok() {
        return Err(format!("{name}: the patterns are over max_pattern_bytes ({max_bytes})"));
    }
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
