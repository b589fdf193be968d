//! Searches drawn at random, and a reader that hands their bytes out in portions.

use crate::dice::Dice;
use std::io::{self, ErrorKind, Read};

/// Hands out so many bytes at a time, and is interrupted now and then.
pub(crate) struct Portions {
    bytes: Vec<u8>,
    at: usize,
    most: usize,
    dice: Dice,
}

impl Portions {
    pub(crate) fn new(bytes: &[u8], most: usize, seed: u64) -> Portions {
        Portions { bytes: bytes.to_vec(), at: 0, most, dice: Dice::new(seed) }
    }
}

impl Read for Portions {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.dice.percent(20) {
            return Err(ErrorKind::Interrupted.into());
        }
        let portion = 1 + self.dice.below(self.most);
        let rest = &self.bytes[self.at..];
        let read = portion.min(rest.len()).min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        self.at += read;
        Ok(read)
    }
}

/// Encodings by label, in which text is searched.
const ENCODINGS: [&str; 16] = [
    "auto",
    "none",
    "utf-8",
    "utf-16",
    "utf-16le",
    "utf-16be",
    "latin1",
    "windows-1252",
    "koi8-r",
    "iso-2022-jp",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "gbk",
    "gb18030",
    "big5",
];

pub(crate) const PATTERNS: [&str; 10] =
    ["ab", "a$", "^", "a|b", r"\w+", "(?-u)\\xff", "x*", r"\bé", "\\x00", "."];

/// Bytes of all kinds, most of them few.
pub(crate) fn haystack(dice: &mut Dice) -> Vec<u8> {
    let marks: [&[u8]; 6] = [b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff"];
    let pieces: [&[u8]; 14] = [
        b"a",
        b"ab",
        b"\n",
        b"\n",
        b"\r\n",
        b"\x00",
        b"\xc3\xa9",
        b"\xff",
        b"\xd8\x00",
        b"\x00\xdc",
        b"x",
        b"\x1b$B",
        b"\x81",
        b" ",
    ];
    let mut bytes = dice.pick(&marks).to_vec();
    // Some are longer than the searcher reads at a time, or a little shorter.
    let size = match dice.below(12) {
        0 => 65_530 + dice.below(12),
        1 => 140_000,
        _ => dice.below(200),
    };
    while bytes.len() < size {
        let piece = *dice.pick(&pieces);
        let times = if size > 1_000 { 1 + dice.below(3_000) } else { 1 };
        bytes.extend_from_slice(&piece.repeat(times));
    }
    if dice.percent(40) && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes
}

/// What is asked about such a haystack.
pub(crate) fn argv(dice: &mut Dice) -> Vec<String> {
    let mut argv = vec![format!("--encoding={}", dice.pick(&ENCODINGS))];
    let flags = [
        "-v",
        "-U",
        "-a",
        "--binary",
        "-n",
        "-c",
        "--count-matches",
        "-o",
        "-A1",
        "-B2",
        "-m2",
        "-l",
        "--crlf",
        "--null-data",
        "--json",
        "--passthru",
        "--stop-on-nonmatch",
        "-b",
        "-rX",
        "-w",
    ];
    for _ in 0..dice.below(4) {
        argv.push(dice.pick(&flags).to_string());
    }
    argv.push("-e".to_string());
    argv.push(dice.pick(&PATTERNS).to_string());
    argv
}

/// JSON tells how long something took.
pub(crate) fn without_times(output: ingrep::rg::Output) -> (u8, String, Vec<u8>) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let bare = |line: &str| {
        let mut parts = line.split("\"elapsed");
        let begin = parts.next().unwrap_or_default().to_string();
        begin
            + &parts
                .map(|part| part.split_once('}').map_or("", |(_, rest)| rest))
                .collect::<String>()
    };
    let text: Vec<_> = text.lines().map(bare).collect();
    (output.code, text.join("\n"), output.stderr)
}
