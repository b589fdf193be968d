//! Bytes as text for people: where to cut, what to print, how to show a path.

use bstr::ByteSlice;
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// The largest `end <= max` at which `bytes` can be cut without splitting a UTF-8 character.
///
/// Bytes that are no UTF-8 have no characters to split and are cut at `max`.
///
/// ```
/// assert_eq!(ingrep::text::floor_char_boundary("né".as_bytes(), 2), 1);
/// assert_eq!(ingrep::text::floor_char_boundary(b"n\xff\xff", 2), 2);
/// assert_eq!(ingrep::text::floor_char_boundary(b"short", 99), 5);
/// ```
pub fn floor_char_boundary(bytes: &[u8], max: usize) -> usize {
    if max >= bytes.len() {
        return bytes.len();
    }
    // A character has at most four bytes, so only the three before the cut can begin a split one.
    for start in (max.saturating_sub(3)..max).rev() {
        match bytes[start] {
            0x80..=0xBF => continue,
            0xC2..=0xF4 => {
                let (character, len) = bstr::decode_utf8(&bytes[start..]);
                return if character.is_some() && start + len > max { start } else { max };
            }
            _ => return max,
        }
    }
    max
}

/// How many line feeds there are, and whether there is a NUL.
pub(crate) fn count_lines(bytes: &[u8]) -> (u64, bool) {
    // No more than a byte can count, and a multiple of what the compiler looks at at once: this is a
    // pass over all of a large file.
    let (blocks, rest) = bytes.as_chunks::<224>();
    let count = |(lines, nul): (u8, u8), &byte: &u8| {
        (lines.wrapping_add(u8::from(byte == b'\n')), nul | u8::from(byte == 0))
    };
    let (lines, nul) = rest.iter().fold((0, 0), count);
    let (mut lines, mut nul) = (u64::from(lines), nul);
    for block in blocks {
        let (lines_here, nul_here) = block.iter().fold((0, 0), count);
        lines += u64::from(lines_here);
        nul |= nul_here;
    }
    (lines, nul > 0)
}

/// Whether a text begins with the mark of an encoding.
pub(crate) fn has_mark(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    MARKS.iter().any(|mark| text.starts_with(mark))
}

/// Whether there is a NUL.
pub(crate) fn has_nul(bytes: &[u8]) -> bool {
    bytes.find_byte(0).is_some()
}

/// Where the first line feed is.
pub(crate) fn line_feed(bytes: &[u8]) -> Option<usize> {
    bytes.find_byte(b'\n')
}

/// The bytes with every control character but TAB escaped, and every byte that is no UTF-8 as
/// U+FFFD: safe to print on a terminal, on one line.
///
/// ```
/// let shown = ingrep::text::printable(b"a\x1b[31m\tb\xff\n");
/// assert_eq!(shown, "a\\u{1b}[31m\tb\u{fffd}\\n");
/// ```
pub fn printable(bytes: &[u8]) -> Cow<'_, str> {
    let text = bytes.to_str_lossy();
    if !text.chars().any(must_escape) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if must_escape(character) {
            shown.extend(character.escape_debug());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Control characters move the cursor or ring the bell; the bidirectional ones make a line read
/// as something else than it is.
fn must_escape(character: char) -> bool {
    (character.is_control() && character != '\t')
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A path as its bytes. On systems whose paths are not bytes, as UTF-8 with U+FFFD for what has no
/// place in it.
///
/// ```
/// assert_eq!(&*ingrep::text::path_bytes("a/b".as_ref()), b"a/b");
/// ```
pub fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    match <[u8]>::from_path(path) {
        Some(bytes) => Cow::Borrowed(bytes),
        None => Cow::Owned(path.to_string_lossy().into_owned().into_bytes()),
    }
}

/// `path` as seen from `base`: relative when it lies below it, `.` when it is it, unchanged
/// otherwise. Nothing is asked of the file system.
///
/// ```
/// use ingrep::text::relative;
/// use std::path::Path;
///
/// assert_eq!(relative("/w/src/a.rs".as_ref(), "/w".as_ref()), Path::new("src/a.rs"));
/// assert_eq!(relative("/w".as_ref(), "/w".as_ref()), Path::new("."));
/// assert_eq!(relative("/else/a".as_ref(), "/w".as_ref()), Path::new("/else/a"));
/// ```
pub fn relative<'a>(path: &'a Path, base: &Path) -> &'a Path {
    match path.strip_prefix(base) {
        Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
        Ok(rest) => rest,
        Err(_) => path,
    }
}

/// The path without `.`, doubled slashes and, as far as names alone can tell, `..`.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // A leading `..` cannot be taken back by the next one.
                if clean.ends_with("..") || !clean.pop() {
                    clean.push("..");
                }
            }
            other => clean.push(other),
        }
    }
    clean
}
