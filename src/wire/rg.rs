//! Writes and reads ripgrep's JSON lines (`rg --json`), byte for byte as ripgrep 15.2 prints them.
//!
//! One [`Message`] is one line. Writing goes through [`Message::write_line`], or through
//! [`LineRef`] where many matches are written from borrowed buffers. Reading goes through
//! [`Reader`].
//!
//! All offsets and sizes are in bytes.
//!
//! # Example
//!
//! ```
//! use ingrep::wire::rg::{Line, Message, Reader, Submatch};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut line = Line::new("src/a.rs", "let foo = 1;\n", 0);
//! line.line_number = Some(1);
//! line.submatches.push(Submatch::new("foo", 4..7));
//! let message = Message::Match(line);
//!
//! let mut out = Vec::new();
//! let written = message.write_line(&mut out)?;
//! assert_eq!(written, out.len() as u64);
//!
//! let mut reader = Reader::new(out.as_slice());
//! assert_eq!(reader.next().transpose()?, Some(message));
//! assert!(reader.next().is_none());
//! # Ok(())
//! # }
//! ```

use super::lines;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read as _};
use std::iter::FusedIterator;
use std::ops::Range;
use std::path::Path;
use std::str::Utf8Error;
use std::time::Duration;

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One line of ripgrep's JSON output.
///
/// Serialized, a message is an object of `type` and `data`, in this order. A summary has `data`
/// first, and the keys of every object in it in byte order, because ripgrep builds that line in
/// another way than the rest. Deserialized, keys may come in any order and keys that are not known
/// are skipped.
///
/// ```
/// use ingrep::wire::rg::{Begin, Message};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let message = Message::Begin(Begin::new("a.txt"));
/// let json = serde_json::to_string(&message)?;
/// assert_eq!(json, r#"{"type":"begin","data":{"path":{"text":"a.txt"}}}"#);
/// assert_eq!(serde_json::from_str::<Message>(&json)?, message);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message<'a> {
    /// The first message of a file that has a match or context message.
    Begin(Begin<'a>),
    /// A matching line, or the lines of one or more adjoining multi-line matches.
    Match(Line<'a>),
    /// A line next to a match.
    Context(Line<'a>),
    /// The last message of a file; there is one for each begin unless the search of it failed.
    End(End<'a>),
    /// The last message of a search.
    Summary(Summary),
}

impl Message<'_> {
    /// Writes the message and a line feed, and returns the number of bytes written.
    ///
    /// The line is written in several small pieces and nothing is allocated, so `out` should be
    /// buffered. ripgrep's `bytes_printed` of a file is the sum of this number over its begin,
    /// match and context messages.
    ///
    /// # Errors
    ///
    /// Fails with the error of `out` as it is, for instance with the kind `BrokenPipe`. A part of
    /// the line may be written then.
    ///
    /// ```
    /// use ingrep::wire::rg::{Begin, Message};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut out = Vec::new();
    /// assert_eq!(Message::Begin(Begin::new("a")).write_line(&mut out)?, 46);
    /// assert_eq!(out, b"{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"a\"}}}\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_line<W: io::Write + ?Sized>(&self, out: &mut W) -> io::Result<u64> {
        write_json_line(out, self)
    }

    /// Turns the message into one that borrows nothing.
    ///
    /// ```
    /// use ingrep::wire::rg::{Begin, Message};
    ///
    /// let message: Message<'static> = {
    ///     let path = String::from("a");
    ///     Message::Begin(Begin::new(path.as_str())).into_owned()
    /// };
    /// assert_eq!(message, Message::Begin(Begin::new("a")));
    /// ```
    pub fn into_owned(self) -> Message<'static> {
        match self {
            Message::Begin(begin) => Message::Begin(Begin { path: begin.path.into_owned() }),
            Message::Match(line) => Message::Match(line.into_owned()),
            Message::Context(line) => Message::Context(line.into_owned()),
            Message::End(end) => Message::End(End { path: end.path.into_owned(), ..end }),
            Message::Summary(summary) => Message::Summary(summary),
        }
    }
}

/// The data of a begin message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Begin<'a> {
    /// The file, as it was found from its root; `<stdin>` for the standard input.
    pub path: Data<'a>,
}

impl<'a> Begin<'a> {
    /// Makes the data of a begin message.
    ///
    /// ```
    /// use ingrep::wire::rg::Begin;
    ///
    /// assert_eq!(Begin::new("a").path.as_bytes(), b"a");
    /// ```
    pub fn new(path: impl Into<Data<'a>>) -> Begin<'a> {
        Begin { path: path.into() }
    }
}

/// The data of a match or a context message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Line<'a> {
    /// The file, as in [`Begin::path`].
    pub path: Data<'a>,
    /// The whole line, or lines, with every line terminator there is in the file.
    pub lines: Data<'a>,
    /// The number of the first line, from 1; `None` if lines were not counted (`-N`).
    pub line_number: Option<u64>,
    /// Where `lines` starts, in bytes from the start of what was searched, which is the file after
    /// it was decoded (no byte order mark, transcoded to UTF-8).
    pub absolute_offset: u64,
    /// The matches in `lines`, in order.
    pub submatches: Vec<Submatch<'a>>,
}

impl<'a> Line<'a> {
    /// Makes the data of a match or context message with no line number and no submatches.
    ///
    /// ```
    /// use ingrep::wire::rg::Line;
    ///
    /// let mut line = Line::new("a", "foo\n", 12);
    /// assert_eq!(line.line_number, None);
    /// line.line_number = Some(3);
    /// assert_eq!(line.absolute_offset, 12);
    /// assert!(line.submatches.is_empty());
    /// ```
    pub fn new(
        path: impl Into<Data<'a>>,
        lines: impl Into<Data<'a>>,
        absolute_offset: u64,
    ) -> Line<'a> {
        Line {
            path: path.into(),
            lines: lines.into(),
            line_number: None,
            absolute_offset,
            submatches: Vec::new(),
        }
    }

    fn into_owned(self) -> Line<'static> {
        Line {
            path: self.path.into_owned(),
            lines: self.lines.into_owned(),
            line_number: self.line_number,
            absolute_offset: self.absolute_offset,
            submatches: self.submatches.into_iter().map(Submatch::into_owned).collect(),
        }
    }
}

/// One match in [`Line::lines`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Submatch<'a> {
    /// The bytes that matched; `match` in JSON.
    #[serde(rename = "match")]
    pub matched: Data<'a>,
    /// What takes the place of the match (`-r`). `None` is left out of the JSON, and is what is
    /// read from ripgrep before 15.0, which knew no such key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Data<'a>>,
    /// Where the match starts, in bytes from the start of [`Line::lines`].
    pub start: usize,
    /// Where the match ends, in bytes from the start of [`Line::lines`]; not part of the match.
    pub end: usize,
}

impl<'a> Submatch<'a> {
    /// Makes a submatch without a replacement from the bytes that matched and where they are in
    /// the line, in bytes.
    ///
    /// ```
    /// use ingrep::wire::rg::Submatch;
    ///
    /// let submatch = Submatch::new("foo", 4..7);
    /// assert_eq!((submatch.start, submatch.end), (4, 7));
    /// assert_eq!(submatch.replacement, None);
    /// ```
    pub fn new(matched: impl Into<Data<'a>>, range: Range<usize>) -> Submatch<'a> {
        Submatch { matched: matched.into(), replacement: None, start: range.start, end: range.end }
    }

    /// Sets the replacement. The default is none.
    ///
    /// ```
    /// use ingrep::wire::rg::Submatch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let submatch = Submatch::new("foo", 0..3).with_replacement("");
    /// assert_eq!(
    ///     serde_json::to_string(&submatch)?,
    ///     r#"{"match":{"text":"foo"},"replacement":{"text":""},"start":0,"end":3}"#,
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_replacement(mut self, replacement: impl Into<Data<'a>>) -> Submatch<'a> {
        self.replacement = Some(replacement.into());
        self
    }

    fn into_owned(self) -> Submatch<'static> {
        Submatch {
            matched: self.matched.into_owned(),
            replacement: self.replacement.map(Data::into_owned),
            start: self.start,
            end: self.end,
        }
    }
}

/// The data of an end message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct End<'a> {
    /// The file, as in [`Begin::path`].
    pub path: Data<'a>,
    /// Where the first NUL byte was seen, in bytes from the start of what was searched, if the
    /// file was found to be binary.
    pub binary_offset: Option<u64>,
    /// The counts of this file.
    pub stats: Stats,
}

impl<'a> End<'a> {
    /// Makes the data of an end message.
    ///
    /// ```
    /// use ingrep::wire::rg::{End, Stats};
    ///
    /// assert_eq!(End::new("a", None, Stats::default()).stats.searches, 0);
    /// ```
    pub fn new(path: impl Into<Data<'a>>, binary_offset: Option<u64>, stats: Stats) -> End<'a> {
        End { path: path.into(), binary_offset, stats }
    }
}

/// The data of a summary message.
///
/// Serialized, all its objects have their keys in byte order, other than in an end message.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The wall clock time of the whole search.
    pub elapsed_total: Elapsed,
    /// The counts of all files together; `elapsed` is the sum over the files.
    pub stats: Stats,
}

impl Summary {
    /// Makes the data of a summary message.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ingrep::wire::rg::{Stats, Summary};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let summary = Summary::new(Duration::from_millis(1500), Stats::default());
    /// let json = serde_json::to_string(&summary)?;
    /// assert!(json.starts_with(
    ///     r#"{"elapsed_total":{"human":"1.500000s","nanos":500000000,"secs":1},"stats":{"bytes_p"#
    /// ));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(elapsed_total: impl Into<Elapsed>, stats: Stats) -> Summary {
        Summary { elapsed_total: elapsed_total.into(), stats }
    }
}

/// The counts of one file, or of a whole search.
///
/// ```
/// use ingrep::wire::rg::Stats;
///
/// let mut stats = Stats::default();
/// stats.matches = 2;
/// assert_eq!(stats.matched_lines, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stats {
    /// The time spent in searching.
    pub elapsed: Elapsed,
    /// The number of files that were searched.
    pub searches: u64,
    /// The number of files that were searched and had a match.
    pub searches_with_match: u64,
    /// The number of bytes that were searched.
    pub bytes_searched: u64,
    /// The number of bytes in the begin, match and context lines, line feeds included. End and
    /// summary lines do not count.
    pub bytes_printed: u64,
    /// The number of lines in all match messages.
    pub matched_lines: u64,
    /// The number of submatches in all match messages.
    pub matches: u64,
}

/// A time span as ripgrep prints it: an object of `secs`, `nanos` and `human`.
///
/// `human` is the seconds with six decimals, as shown by `Display`. It is made anew from the other
/// two and not looked at when read.
///
/// ```
/// use std::time::Duration;
/// use ingrep::wire::rg::Elapsed;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let elapsed = Elapsed::from(Duration::from_nanos(26_580));
/// assert_eq!(elapsed.to_string(), "0.000027s");
/// assert_eq!(
///     serde_json::to_string(&elapsed)?,
///     r#"{"secs":0,"nanos":26580,"human":"0.000027s"}"#,
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "ElapsedParts")]
pub struct Elapsed(Duration);

impl Elapsed {
    /// The time span.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ingrep::wire::rg::Elapsed;
    ///
    /// assert_eq!(Elapsed::from(Duration::from_secs(2)).duration().as_secs(), 2);
    /// ```
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl From<Duration> for Elapsed {
    fn from(duration: Duration) -> Elapsed {
        Elapsed(duration)
    }
}

impl From<Elapsed> for Duration {
    fn from(elapsed: Elapsed) -> Duration {
        elapsed.0
    }
}

impl fmt::Display for Elapsed {
    /// Through a float on purpose: ripgrep rounds the float, and rounding whole nanoseconds gives
    /// another last digit for 500 ns (`0.000000s` in ripgrep).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}s", self.0.as_secs_f64())
    }
}

/// Bytes that are a JSON object of `text` if they are valid UTF-8, else of `bytes` in base64.
///
/// The base64 has the standard alphabet and padding. Each value decides on its own, so that a line
/// can be text and a match in it, which cuts a character, bytes.
///
/// Equality, order and hash are those of the bytes.
///
/// ```
/// use ingrep::wire::rg::Data;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// assert_eq!(serde_json::to_string(&Data::from("é"))?, r#"{"text":"é"}"#);
/// let data = Data::from(&b"bad\xff.txt"[..]);
/// assert_eq!(serde_json::to_string(&data)?, r#"{"bytes":"YmFk/y50eHQ="}"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "DataParts")]
pub struct Data<'a>(Cow<'a, [u8]>);

impl<'a> Data<'a> {
    /// Makes data from a path: its bytes on Unix, elsewhere its text with U+FFFD in place of what
    /// is not Unicode, as ripgrep does.
    ///
    /// ```
    /// use std::path::Path;
    /// use ingrep::wire::rg::Data;
    ///
    /// assert_eq!(Data::from_path(Path::new("a/b")), Data::from("a/b"));
    /// ```
    pub fn from_path(path: &'a Path) -> Data<'a> {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            Data::from(path.as_os_str().as_bytes())
        }
        #[cfg(not(unix))]
        {
            match path.to_string_lossy() {
                Cow::Borrowed(text) => Data::from(text),
                Cow::Owned(text) => Data::from(text),
            }
        }
    }

    /// The bytes.
    ///
    /// ```
    /// use ingrep::wire::rg::Data;
    ///
    /// assert_eq!(Data::from("é").as_bytes(), b"\xc3\xa9");
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, copied only if they were borrowed.
    ///
    /// ```
    /// use ingrep::wire::rg::Data;
    ///
    /// assert_eq!(Data::from("a").into_bytes(), vec![b'a']);
    /// ```
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_owned()
    }

    /// The bytes as text.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not valid UTF-8, which is when they are written as `bytes`.
    ///
    /// ```
    /// use ingrep::wire::rg::Data;
    ///
    /// # fn main() -> Result<(), std::str::Utf8Error> {
    /// assert_eq!(Data::from("a").to_str()?, "a");
    /// assert!(Data::from(&b"\xff"[..]).to_str().is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_str(&self) -> Result<&str, Utf8Error> {
        str::from_utf8(&self.0)
    }

    /// The bytes as text, with U+FFFD in place of what is not valid UTF-8.
    ///
    /// ```
    /// use ingrep::wire::rg::Data;
    ///
    /// assert_eq!(Data::from(&b"a\xff"[..]).to_str_lossy(), "a\u{fffd}");
    /// ```
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// The bytes as a path. There only on Unix, where every sequence of bytes is a path.
    ///
    /// ```
    /// use std::path::Path;
    /// use ingrep::wire::rg::Data;
    ///
    /// assert_eq!(Data::from("a/b").to_path(), Path::new("a/b"));
    /// ```
    #[cfg(unix)]
    pub fn to_path(&self) -> &Path {
        use std::os::unix::ffi::OsStrExt as _;
        Path::new(std::ffi::OsStr::from_bytes(&self.0))
    }

    /// Turns the data into data that borrows nothing.
    ///
    /// ```
    /// use ingrep::wire::rg::Data;
    ///
    /// let data: Data<'static> = Data::from(String::from("a").as_str()).into_owned();
    /// assert_eq!(data.as_bytes(), b"a");
    /// ```
    pub fn into_owned(self) -> Data<'static> {
        Data(Cow::Owned(self.0.into_owned()))
    }
}

impl fmt::Debug for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_str() {
            Ok(text) => write!(f, "{text:?}"),
            Err(_) => write!(f, "b\"{}\"", self.0.escape_ascii()),
        }
    }
}

impl<'a> From<&'a [u8]> for Data<'a> {
    fn from(bytes: &'a [u8]) -> Data<'a> {
        Data(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Data<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Data(Cow::Owned(bytes))
    }
}

impl<'a> From<Cow<'a, [u8]>> for Data<'a> {
    fn from(bytes: Cow<'a, [u8]>) -> Data<'a> {
        Data(bytes)
    }
}

impl<'a> From<&'a str> for Data<'a> {
    fn from(text: &'a str) -> Data<'a> {
        Data(Cow::Borrowed(text.as_bytes()))
    }
}

impl From<String> for Data<'_> {
    fn from(text: String) -> Self {
        Data(Cow::Owned(text.into_bytes()))
    }
}

/// A match or context message without its submatches, to be written straight from the buffers of a
/// search.
///
/// It writes the same line as [`Message::Match`] or [`Message::Context`]. The submatches are an
/// iterator, since a list of them would have to be allocated for each line: they borrow from
/// `lines`, and a list kept from line to line cannot.
///
/// ```
/// use ingrep::wire::rg::{LineRef, Submatch};
///
/// # fn main() -> std::io::Result<()> {
/// let mut line = LineRef::new(b"a", b"foo foo\n", 0);
/// line.line_number = Some(1);
/// let spans = [0..3, 4..7];
/// let submatches = spans.iter().map(|span| Submatch::new(&line.lines[span.clone()], span.clone()));
///
/// let mut out = Vec::new();
/// let written = line.write_match(&mut out, submatches)?;
/// assert_eq!(written, out.len() as u64);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineRef<'a> {
    /// As [`Line::path`].
    pub path: &'a [u8],
    /// As [`Line::lines`].
    pub lines: &'a [u8],
    /// As [`Line::line_number`].
    pub line_number: Option<u64>,
    /// As [`Line::absolute_offset`].
    pub absolute_offset: u64,
}

impl<'a> LineRef<'a> {
    /// Makes a line with no line number.
    ///
    /// ```
    /// use ingrep::wire::rg::LineRef;
    ///
    /// assert_eq!(LineRef::new(b"a", b"foo\n", 0).line_number, None);
    /// ```
    pub fn new(path: &'a [u8], lines: &'a [u8], absolute_offset: u64) -> LineRef<'a> {
        LineRef { path, lines, line_number: None, absolute_offset }
    }

    /// Writes a match message as [`Message::write_line`] does.
    ///
    /// # Errors
    ///
    /// As for [`Message::write_line`].
    ///
    /// ```
    /// use ingrep::wire::rg::{LineRef, Submatch};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut out = Vec::new();
    /// LineRef::new(b"a", b"foo\n", 0).write_match(&mut out, [Submatch::new("foo", 0..3)])?;
    /// assert!(out.starts_with(b"{\"type\":\"match\","));
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_match<'s, W, I>(&self, out: &mut W, submatches: I) -> io::Result<u64>
    where
        W: io::Write + ?Sized,
        I: IntoIterator<Item = Submatch<'s>> + Clone,
    {
        self.write(out, Kind::Match, submatches)
    }

    /// Writes a context message as [`Message::write_line`] does.
    ///
    /// # Errors
    ///
    /// As for [`Message::write_line`].
    ///
    /// ```
    /// use ingrep::wire::rg::LineRef;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut out = Vec::new();
    /// LineRef::new(b"a", b"foo\n", 0).write_context(&mut out, [])?;
    /// assert!(out.ends_with(b"\"submatches\":[]}}\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_context<'s, W, I>(&self, out: &mut W, submatches: I) -> io::Result<u64>
    where
        W: io::Write + ?Sized,
        I: IntoIterator<Item = Submatch<'s>> + Clone,
    {
        self.write(out, Kind::Context, submatches)
    }

    fn write<'s, W, I>(&self, out: &mut W, kind: Kind, submatches: I) -> io::Result<u64>
    where
        W: io::Write + ?Sized,
        I: IntoIterator<Item = Submatch<'s>>,
    {
        let mut out = Counted { out, bytes: 0 };
        lines::write(&mut out, kind.name(), self, submatches)?;
        Ok(out.bytes)
    }
}

/// The longest line a [`Reader`] takes if not told otherwise: 64 MiB.
///
/// A control character takes six bytes in JSON, so this has room for a file of 10 MiB that is all
/// one line of the worst kind.
pub const DEFAULT_MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// An iterator over the messages in ripgrep's JSON output.
///
/// It holds one line at a time. It reads what ripgrep 15 prints, and what earlier versions print,
/// which have no replacements. Keys it does not know are skipped.
///
/// A bad line is an error in its place, and the next call goes on with the next line. An error from
/// the input itself is the last item.
///
/// ```
/// use ingrep::wire::rg::{Message, Reader};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let output = concat!(r#"{"type":"begin","data":{"path":{"text":"a"}}}"#, "\n");
/// for message in Reader::new(output.as_bytes()) {
///     let Message::Begin(begin) = message? else { continue };
///     assert_eq!(begin.path.to_str_lossy(), "a");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    buffer: Vec<u8>,
    max_line_bytes: usize,
    line_number: u64,
    state: ReaderState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    AtLine,
    InTooLongLine,
    Done,
}

impl<R: BufRead> Reader<R> {
    /// Makes a reader that takes lines of up to [`DEFAULT_MAX_LINE_BYTES`].
    ///
    /// ```
    /// use ingrep::wire::rg::Reader;
    ///
    /// assert!(Reader::new(std::io::empty()).next().is_none());
    /// ```
    pub fn new(input: R) -> Reader<R> {
        Reader {
            input,
            buffer: Vec::new(),
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            line_number: 0,
            state: ReaderState::AtLine,
        }
    }

    /// Sets the most bytes one line may have, without its line feed. The default is
    /// [`DEFAULT_MAX_LINE_BYTES`].
    ///
    /// A longer line is an error and is passed over without being held.
    ///
    /// ```
    /// use ingrep::wire::rg::{ReadErrorKind, Reader};
    ///
    /// let mut reader = Reader::new(&b"0123456789\n"[..]).max_line_bytes(9);
    /// let error = reader.next().and_then(Result::err);
    /// assert_eq!(
    ///     error.map(|error| error.to_string()).as_deref(),
    ///     Some("line 1: longer than max_line_bytes (9)"),
    /// );
    /// assert!(reader.next().is_none());
    /// ```
    pub fn max_line_bytes(mut self, max_line_bytes: usize) -> Reader<R> {
        self.max_line_bytes = max_line_bytes;
        self
    }

    /// Reads the next line into the buffer, without its line feed. `None` is the end of the input.
    fn read_line(&mut self) -> Result<Option<LineEnd>, ReadErrorKind> {
        if self.state == ReaderState::InTooLongLine {
            self.input.skip_until(b'\n').map_err(ReadErrorKind::Io)?;
            self.state = ReaderState::AtLine;
        }
        self.buffer.clear();
        let most = (self.max_line_bytes as u64).saturating_add(1);
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.buffer);
        self.line_number += 1;
        if read.map_err(ReadErrorKind::Io)? == 0 {
            return Ok(None);
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            return Ok(Some(LineEnd::LineFeed));
        }
        if self.buffer.len() > self.max_line_bytes {
            self.state = ReaderState::InTooLongLine;
            return Err(ReadErrorKind::LineTooLong { max_line_bytes: self.max_line_bytes });
        }
        Ok(Some(LineEnd::EndOfInput))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Message<'static>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == ReaderState::Done {
            return None;
        }
        let result = match self.read_line() {
            Ok(Some(line_end)) => parse(&self.buffer, line_end),
            Ok(None) => {
                self.state = ReaderState::Done;
                return None;
            }
            Err(kind) => {
                // An input that failed once may fail for ever, and a caller that passes over errors
                // would never come to an end.
                if matches!(kind, ReadErrorKind::Io(_)) {
                    self.state = ReaderState::Done;
                }
                Err(kind)
            }
        };
        Some(result.map_err(|kind| ReadError { line_number: self.line_number, kind }))
    }
}

impl<R: BufRead> FusedIterator for Reader<R> {}

/// Why a line could not be read, and which one.
///
/// ```
/// use ingrep::wire::rg::{ReadErrorKind, Reader};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let line = br#"{"type":"shiny","data":{}}"#;
/// let error = Reader::new(&line[..]).find_map(Result::err).ok_or("no error")?;
/// assert_eq!(error.line_number(), 1);
/// assert!(matches!(error.kind(), ReadErrorKind::UnknownType { name } if name == "shiny"));
/// assert_eq!(error.to_string(), r#"line 1: unknown message type "shiny""#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadError {
    line_number: u64,
    kind: ReadErrorKind,
}

impl ReadError {
    /// The number of the line in the input, from 1.
    ///
    /// ```
    /// use ingrep::wire::rg::Reader;
    ///
    /// let numbers = Reader::new(&b"x\nx\n"[..])
    ///     .filter_map(|message| message.err().map(|error| error.line_number()));
    /// assert_eq!(numbers.collect::<Vec<_>>(), [1, 2]);
    /// ```
    pub fn line_number(&self) -> u64 {
        self.line_number
    }

    /// What was wrong with it.
    ///
    /// ```
    /// use ingrep::wire::rg::{ReadErrorKind, Reader};
    ///
    /// let error = Reader::new(&b"x\n"[..]).find_map(Result::err);
    /// assert!(matches!(
    ///     error.as_ref().map(|error| error.kind()),
    ///     Some(ReadErrorKind::Malformed { column: 1, .. }),
    /// ));
    /// ```
    pub fn kind(&self) -> &ReadErrorKind {
        &self.kind
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line_number)?;
        match &self.kind {
            ReadErrorKind::Io(error) => write!(f, ": cannot be read: {error}"),
            ReadErrorKind::LineTooLong { max_line_bytes } => {
                write!(f, ": longer than max_line_bytes ({max_line_bytes})")
            }
            ReadErrorKind::UnknownType { name } => write!(f, ": unknown message type {name:?}"),
            ReadErrorKind::Malformed { column: 0, reason } => write!(f, ": {reason}"),
            ReadErrorKind::Malformed { column, reason } => write!(f, ", byte {column}: {reason}"),
            ReadErrorKind::CutOff { bytes } => {
                write!(f, ": input ends after {bytes} bytes, in the middle of a message")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ReadErrorKind::Io(error) => error.source(),
            _ => None,
        }
    }
}

/// What was wrong with a line.
///
/// ```
/// use ingrep::wire::rg::{ReadErrorKind, Reader};
///
/// let error = Reader::new(&br#"{"type":"#[..]).find_map(Result::err);
/// assert!(matches!(
///     error.as_ref().map(|error| error.kind()),
///     Some(ReadErrorKind::CutOff { bytes: 8 }),
/// ));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The input failed.
    Io(io::Error),
    /// The line is longer than the reader takes.
    LineTooLong {
        /// The limit, in bytes.
        max_line_bytes: usize,
    },
    /// The line is a message of a type that is not known.
    UnknownType {
        /// The `type` as it stands there; cut after 200 bytes, with `...` behind.
        name: String,
    },
    /// The line is not JSON, or not a message.
    Malformed {
        /// The byte of the line, from 1, at which reading stopped; 0 if that is not known.
        column: usize,
        /// What is wrong there; cut after 200 bytes, with `...` behind.
        reason: String,
    },
    /// The input ends in the middle of a line, for instance because ripgrep was killed.
    CutOff {
        /// The number of bytes there are of the last line.
        bytes: usize,
    },
}

/// How a line that was read came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnd {
    LineFeed,
    EndOfInput,
}

fn parse(line: &[u8], line_end: LineEnd) -> Result<Message<'static>, ReadErrorKind> {
    if line.is_empty() {
        return Err(ReadErrorKind::Malformed { column: 0, reason: "empty line".to_string() });
    }
    serde_json::from_slice(line).map_err(|error| {
        if line_end == LineEnd::EndOfInput && error.is_eof() {
            return ReadErrorKind::CutOff { bytes: line.len() };
        }
        // Asked only now, so that good lines are parsed once. It finds the type also where it comes
        // after data which made no sense.
        if let Ok(Probe { kind }) = serde_json::from_slice(line)
            && Kind::from_name(&kind).is_none()
        {
            return ReadErrorKind::UnknownType { name: shortened(kind) };
        }
        let mut reason = error.to_string();
        // A second "line 1" next to the line number of the input would only confuse.
        let place = format!(" at line {} column {}", error.line(), error.column());
        if reason.ends_with(&place) {
            reason.truncate(reason.len() - place.len());
        }
        ReadErrorKind::Malformed { column: error.column(), reason: shortened(reason) }
    })
}

/// The most bytes of a line's own text in an error.
///
/// Enough for each message with a short value in it. A bad line can be as long as the reader's
/// limit, and all of it one string.
const MAX_ERROR_TEXT_BYTES: usize = 200;

fn shortened(mut text: String) -> String {
    if text.len() > MAX_ERROR_TEXT_BYTES {
        let end = (0..=MAX_ERROR_TEXT_BYTES).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(end.expect("the start is a boundary"));
        text.push_str("...");
    }
    text
}

#[derive(Deserialize)]
struct Probe {
    #[serde(rename = "type")]
    kind: String,
}

fn write_json_line<W, T>(out: &mut W, value: &T) -> io::Result<u64>
where
    W: io::Write + ?Sized,
    T: Serialize,
{
    let mut out = Counted { out, bytes: 0 };
    serde_json::to_writer(&mut out, value)?;
    io::Write::write_all(&mut out, b"\n")?;
    Ok(out.bytes)
}

/// A writer that counts what went through.
struct Counted<'w, W: ?Sized> {
    out: &'w mut W,
    bytes: u64,
}

impl<W: io::Write + ?Sized> io::Write for Counted<'_, W> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The `type` of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin,
    Match,
    Context,
    End,
    Summary,
}

impl Kind {
    fn from_name(name: &str) -> Option<Kind> {
        Some(match name {
            "begin" => Kind::Begin,
            "match" => Kind::Match,
            "context" => Kind::Context,
            "end" => Kind::End,
            "summary" => Kind::Summary,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Begin => "begin",
            Kind::Match => "match",
            Kind::Context => "context",
            Kind::End => "end",
            Kind::Summary => "summary",
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        struct KindVisitor;

        impl Visitor<'_> for KindVisitor {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message type")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Kind, E> {
                Kind::from_name(name)
                    .ok_or_else(|| E::custom(format_args!("unknown message type {name:?}")))
            }
        }

        deserializer.deserialize_str(KindVisitor)
    }
}

/// What goes around the data of every message.
struct Envelope<T> {
    kind: Kind,
    data: T,
}

impl<T: Serialize> Serialize for Envelope<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Message", 2)?;
        if self.kind == Kind::Summary {
            object.serialize_field("data", &self.data)?;
            object.serialize_field("type", self.kind.name())?;
        } else {
            object.serialize_field("type", self.kind.name())?;
            object.serialize_field("data", &self.data)?;
        }
        object.end()
    }
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Message::Begin(data) => Envelope { kind: Kind::Begin, data }.serialize(serializer),
            Message::Match(data) => Envelope { kind: Kind::Match, data }.serialize(serializer),
            Message::Context(data) => Envelope { kind: Kind::Context, data }.serialize(serializer),
            Message::End(data) => Envelope { kind: Kind::End, data }.serialize(serializer),
            Message::Summary(data) => Envelope { kind: Kind::Summary, data }.serialize(serializer),
        }
    }
}

/// Written by hand, because the derived form keeps data that comes before its type in serde's
/// untyped buffer, and numbers do not survive that if any crate in the build turns on
/// serde_json's `arbitrary_precision`.
impl<'de> Deserialize<'de> for Message<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Message", &["type", "data"], MessageVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message<'static>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `type` and `data`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message<'static>, A::Error> {
        let mut kind = None;
        let mut message = None;
        let mut early = None;
        while let Some(key) = map.next_key()? {
            match key {
                EnvelopeKey::Type if kind.is_some() => {
                    return Err(de::Error::duplicate_field("type"));
                }
                EnvelopeKey::Type => kind = Some(map.next_value()?),
                EnvelopeKey::Data if message.is_some() || early.is_some() => {
                    return Err(de::Error::duplicate_field("data"));
                }
                EnvelopeKey::Data => match kind {
                    Some(Kind::Begin) => message = Some(Message::Begin(map.next_value()?)),
                    Some(Kind::Match) => message = Some(Message::Match(map.next_value()?)),
                    Some(Kind::Context) => message = Some(Message::Context(map.next_value()?)),
                    Some(Kind::End) => message = Some(Message::End(map.next_value()?)),
                    Some(Kind::Summary) => message = Some(Message::Summary(map.next_value()?)),
                    None => early = Some(map.next_value::<AnyData>()?),
                },
                EnvelopeKey::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let kind = kind.ok_or_else(|| de::Error::missing_field("type"))?;
        match (message, early) {
            (Some(message), _) => Ok(message),
            (None, Some(data)) => data.into_message(kind),
            (None, None) => Err(de::Error::missing_field("data")),
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum EnvelopeKey {
    Type,
    Data,
    #[serde(other)]
    Other,
}

/// The data of a message whose type comes after it.
#[derive(Deserialize)]
struct AnyData {
    path: Option<Data<'static>>,
    lines: Option<Data<'static>>,
    line_number: Option<u64>,
    absolute_offset: Option<u64>,
    submatches: Option<Vec<Submatch<'static>>>,
    binary_offset: Option<u64>,
    stats: Option<Stats>,
    elapsed_total: Option<Elapsed>,
}

impl AnyData {
    fn into_message<E: de::Error>(self, kind: Kind) -> Result<Message<'static>, E> {
        fn need<T, E: de::Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
            value.ok_or_else(|| E::missing_field(name))
        }

        Ok(match kind {
            Kind::Begin => Message::Begin(Begin { path: need(self.path, "path")? }),
            Kind::Match => Message::Match(self.into_line()?),
            Kind::Context => Message::Context(self.into_line()?),
            Kind::End => Message::End(End {
                path: need(self.path, "path")?,
                binary_offset: self.binary_offset,
                stats: need(self.stats, "stats")?,
            }),
            Kind::Summary => Message::Summary(Summary {
                elapsed_total: need(self.elapsed_total, "elapsed_total")?,
                stats: need(self.stats, "stats")?,
            }),
        })
    }

    fn into_line<E: de::Error>(self) -> Result<Line<'static>, E> {
        Ok(Line {
            path: self.path.ok_or_else(|| E::missing_field("path"))?,
            lines: self.lines.ok_or_else(|| E::missing_field("lines"))?,
            line_number: self.line_number,
            absolute_offset: self
                .absolute_offset
                .ok_or_else(|| E::missing_field("absolute_offset"))?,
            submatches: self.submatches.ok_or_else(|| E::missing_field("submatches"))?,
        })
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Line", 5)?;
        object.serialize_field("path", &self.path)?;
        object.serialize_field("lines", &self.lines)?;
        object.serialize_field("line_number", &self.line_number)?;
        object.serialize_field("absolute_offset", &self.absolute_offset)?;
        object.serialize_field("submatches", &self.submatches)?;
        object.end()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Summary", 2)?;
        object.serialize_field("elapsed_total", &Sorted(&self.elapsed_total))?;
        object.serialize_field("stats", &Sorted(&self.stats))?;
        object.end()
    }
}

/// A value whose keys are in byte order when serialized.
struct Sorted<'v, T>(&'v T);

impl Serialize for Sorted<'_, Stats> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Sorted(stats) = self;
        let mut object = serializer.serialize_struct("Stats", 7)?;
        object.serialize_field("bytes_printed", &stats.bytes_printed)?;
        object.serialize_field("bytes_searched", &stats.bytes_searched)?;
        object.serialize_field("elapsed", &Sorted(&stats.elapsed))?;
        object.serialize_field("matched_lines", &stats.matched_lines)?;
        object.serialize_field("matches", &stats.matches)?;
        object.serialize_field("searches", &stats.searches)?;
        object.serialize_field("searches_with_match", &stats.searches_with_match)?;
        object.end()
    }
}

impl Serialize for Sorted<'_, Elapsed> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Sorted(elapsed) = self;
        let mut object = serializer.serialize_struct("Elapsed", 3)?;
        object.serialize_field("human", &AsString(elapsed))?;
        object.serialize_field("nanos", &elapsed.0.subsec_nanos())?;
        object.serialize_field("secs", &elapsed.0.as_secs())?;
        object.end()
    }
}

impl Serialize for Elapsed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Elapsed", 3)?;
        object.serialize_field("secs", &self.0.as_secs())?;
        object.serialize_field("nanos", &self.0.subsec_nanos())?;
        object.serialize_field("human", &AsString(self))?;
        object.end()
    }
}

#[derive(Deserialize)]
struct ElapsedParts {
    secs: u64,
    nanos: u32,
}

impl TryFrom<ElapsedParts> for Elapsed {
    type Error = String;

    fn try_from(parts: ElapsedParts) -> Result<Elapsed, String> {
        // `Duration::new` carries over into the seconds, which changes what was read and panics
        // where they are at their end.
        if parts.nanos >= 1_000_000_000 {
            return Err(format!("nanos is {}, more than a second has", parts.nanos));
        }
        Ok(Elapsed(Duration::new(parts.secs, parts.nanos)))
    }
}

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Data", 1)?;
        match self.to_str() {
            Ok(text) => object.serialize_field("text", text)?,
            Err(_) => {
                let base64 = Base64Display::new(&self.0, &STANDARD);
                object.serialize_field("bytes", &AsString(&base64))?;
            }
        }
        object.end()
    }
}

#[derive(Deserialize)]
struct DataParts {
    text: Option<String>,
    bytes: Option<String>,
}

impl TryFrom<DataParts> for Data<'_> {
    type Error = String;

    fn try_from(parts: DataParts) -> Result<Self, String> {
        match parts {
            DataParts { text: Some(text), bytes: None } => Ok(Data::from(text)),
            DataParts { text: None, bytes: Some(base64) } => match STANDARD.decode(base64) {
                Ok(bytes) => Ok(Data::from(bytes)),
                Err(error) => Err(format!("bytes is not base64: {error}")),
            },
            DataParts { text: Some(_), bytes: Some(_) } => {
                Err("both text and bytes where one is expected".to_string())
            }
            DataParts { text: None, bytes: None } => {
                Err("neither text nor bytes where one is expected".to_string())
            }
        }
    }
}

/// A value that is serialized as the string it displays as, without building that string.
struct AsString<'v, T>(&'v T);

impl<T: fmt::Display> Serialize for AsString<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}
