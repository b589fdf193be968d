//! One file to one result: the searcher, the binary policy, the limits and the token.

use crate::cancel::{CancelToken, Stop};
use crate::error::{Diagnostic, Error, ErrorCode, Reason, Result};
use crate::faults::Reads;
use crate::haystack::{self, Haystack, OpenError, Place};
use crate::limits::Limits;
use crate::matcher::{Matcher, Watched};
use crate::matches::{FileMatches, LineKind, Located, Span};
use crate::query::{Binary, Encoding, MultiLine, Query, Terminator};
use crate::text;
use grep_matcher::{Captures as _, LineTerminator, Matcher as _};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish,
    SinkMatch,
};
use std::cell::Cell;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

/// How far behind the last line of a match the engine is shown bytes when the matches in it are
/// located: enough for a `$` or a word boundary to see what follows.
const LOOK_AHEAD_BYTES: usize = 128;

/// How many matches of one line are located before the token is asked again.
const MATCHES_PER_LOOK: u64 = 64;

/// How much of a file is read before the token is asked again.
const READ_BYTES: usize = 1 << 18;

/// The largest file that is read at once: as much as the searcher would read at a time.
pub(crate) const AHEAD_BYTES: usize = 1 << 16;

/// What the standard library reads of a standard input before it gets out of the way. It can be seen:
/// a NUL is found with the whole portion that it was read in.
const STDIN_BUFFER_BYTES: usize = 8 << 10;

/// Searches one file after another. It holds buffers, so a worker keeps its own.
pub(crate) struct Scanner {
    /// Where small files are read to.
    ahead: Vec<u8>,
    searcher: Searcher,
    matcher: Matcher,
    binary: Binary,
    multi_line: bool,
    /// Line by line, without a label of an encoding, and to the end of each file.
    is_plain: bool,
    replacement: Option<Vec<u8>>,
    /// The searcher takes a count of 0 for none at all when matches are inverted.
    searches_nothing: bool,
    /// Whether what is found in a line depends on nothing but the line.
    line_alone: bool,
    caps: Caps,
}

/// What of [`Limits`] counts for one file.
#[derive(Clone, Debug)]
struct Caps {
    max_lines: u64,
    /// Which of two limits `max_lines` is.
    max_lines_name: &'static str,
    max_line_bytes: usize,
    max_result_bytes: usize,
    max_line_buffer_bytes: usize,
    max_multi_line_bytes: usize,
    max_unsized_bytes: u64,
}

/// A file after its search.
pub(crate) struct Scanned {
    pub(crate) found: FileMatches,
    /// Why the file was not, or not wholly, searched.
    pub(crate) trouble: Option<Diagnostic>,
    /// Set when the token ended the search of this file.
    pub(crate) stopped: Option<Stop>,
    pub(crate) opened: bool,
    /// Whether what renders took a line, be it one of which nothing was to be written.
    pub(crate) rendered: bool,
}

impl Scanned {
    /// A file that was not searched.
    fn skipped(path: &Path, trouble: Diagnostic) -> Scanned {
        Scanned {
            found: FileMatches::new(path),
            trouble: Some(trouble),
            stopped: None,
            opened: false,
            rendered: false,
        }
    }

    /// A file that could not be opened.
    pub(crate) fn unopened(path: &Path, error: &OpenError) -> Scanned {
        let trouble = match error {
            OpenError::Io(error) => Diagnostic::io(path, error),
            OpenError::Special => Diagnostic::new(path, Reason::SpecialFile, "not a regular file"),
        };
        Scanned::skipped(path, trouble)
    }
}

/// The sink of a search, whoever made it.
pub(crate) type AnySink<'a> = &'a mut (dyn Sink<Error = io::Error> + 'a);

/// A search that waits for its sink.
pub(crate) type Pending<'a> = Box<dyn FnOnce(AnySink<'_>) -> io::Result<()> + 'a>;

/// Writes down what is found while it is found, in place of a [`FileMatches`].
pub(crate) trait Render {
    /// Makes a sink, lets `search` run into it, and takes from it what it has come to.
    fn render(&mut self, matcher: &Matcher, search: Pending<'_>) -> io::Result<()>;
}

/// Looks at a result while it comes.
pub(crate) trait Follow {
    /// There may be more lines than before, behind those that were there.
    fn follow(&mut self, found: &FileMatches);

    /// Those lines are of no use: others follow from the first on.
    fn forget(&mut self);
}

/// How a file is searched beyond what its query says.
pub(crate) struct Visit<'a> {
    /// The path to report.
    pub(crate) path: &'a Path,
    /// Whether the caller named this file rather than a walk.
    pub(crate) explicit: bool,
    /// The limit for which lines are only counted, because nobody has room for them any more.
    pub(crate) count_only: Option<&'static str>,
    /// Whether the file is held in memory and searched as one slice, as if it had been mapped.
    /// Binary files are treated otherwise then; see [`Limits::max_multi_line_bytes`].
    pub(crate) whole: bool,
    /// Whether one match is all that is asked for.
    pub(crate) first_only: bool,
    /// Who gets what is found, if it is not to be kept. The limits of a result do not count then.
    pub(crate) render: Option<&'a mut dyn Render>,
    /// Who can do something with lines before all are found. What is not shown to it is in the result.
    pub(crate) follower: Option<&'a mut dyn Follow>,
    pub(crate) token: &'a CancelToken,
}

impl<'a> Visit<'a> {
    pub(crate) fn new(path: &'a Path, explicit: bool, token: &'a CancelToken) -> Visit<'a> {
        let (count_only, whole, first_only) = (None, false, false);
        let (render, follower) = (None, None);
        Visit { path, explicit, count_only, whole, first_only, render, follower, token }
    }
}

impl Scanner {
    pub(crate) fn new(query: &Query, limits: &Limits, matcher: Matcher) -> Result<Scanner> {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(match query.terminator {
                Terminator::Lf => LineTerminator::byte(b'\n'),
                Terminator::Crlf => LineTerminator::crlf(),
                Terminator::Nul => LineTerminator::byte(0),
            })
            .invert_match(query.invert)
            .line_number(query.line_numbers)
            .multi_line(query.multi_line != MultiLine::Off)
            .max_matches(query.max_count)
            .stop_on_nonmatch(query.stop_on_nonmatch)
            .passthru(query.passthru)
            .before_context(query.before_context)
            .after_context(query.after_context)
            .bom_sniffing(query.encoding != Encoding::Raw);
        if let Encoding::Label(label) = &query.encoding {
            let encoding = grep_searcher::Encoding::new(label).map_err(|_| {
                Error::new(ErrorCode::UnknownEncoding, format!("unknown encoding: {label}"))
                    .with_hint("use a label of the WHATWG encoding standard, such as utf-16le or shift_jis")
            })?;
            builder.encoding(Some(encoding));
        }
        let token = CancelToken::new();
        let watched = matcher.watched(&token);
        let multi_line = builder.build().multi_line_with_matcher(&watched);
        // A pattern that names the ends of the text is one without a line terminator.
        let is_plain = watched.line_terminator() == Some(LineTerminator::byte(b'\n'))
            && query.terminator == Terminator::Lf
            && !matches!(query.encoding, Encoding::Label(_))
            && !(multi_line || query.invert || query.passthru || query.stop_on_nonmatch)
            && query.max_count.is_none();
        let line_alone = is_plain && (query.before_context, query.after_context) == (0, 0);
        builder.heap_limit(Some(if multi_line {
            // The searcher asks for room for one byte more before it sees the end of a file.
            limits.max_multi_line_bytes.saturating_add(1)
        } else {
            limits.max_line_buffer_bytes
        }));
        Ok(Scanner {
            ahead: Vec::new(),
            searcher: builder.build(),
            matcher,
            binary: if query.terminator == Terminator::Nul { Binary::Text } else { query.binary },
            multi_line,
            is_plain,
            replacement: query.replacement.clone(),
            searches_nothing: query.max_count == Some(0),
            line_alone,
            caps: Caps {
                max_lines: limits.max_lines_per_file.min(limits.max_lines),
                max_lines_name: if limits.max_lines_per_file <= limits.max_lines {
                    "max_lines_per_file"
                } else {
                    "max_lines"
                },
                max_line_bytes: limits.max_line_bytes,
                max_result_bytes: limits.max_file_result_bytes,
                max_line_buffer_bytes: limits.max_line_buffer_bytes,
                max_multi_line_bytes: limits.max_multi_line_bytes,
                max_unsized_bytes: limits.max_unsized_bytes,
            },
        })
    }

    /// Searches the file at this place, which is reported under the visit's path.
    pub(crate) fn scan_file(&mut self, at: Place<'_>, visit: &mut Visit<'_>) -> Scanned {
        match haystack::open(at) {
            Ok(haystack) => self.scan_open(&haystack, visit),
            Err(error) => Scanned::unopened(visit.path, &error),
        }
    }

    /// Searches an open file.
    pub(crate) fn scan_open(&mut self, haystack: &Haystack, visit: &mut Visit<'_>) -> Scanned {
        if self.multi_line && haystack.bytes > self.caps.max_multi_line_bytes as u64 {
            return Scanned::skipped(visit.path, self.too_large(visit.path));
        }
        let bounded = Bounded::new(haystack, self.caps.max_unsized_bytes);
        let whole = visit.whole && haystack.bytes <= self.caps.max_multi_line_bytes as u64;
        let mut scanned = match whole {
            true => self.scan(Input::Whole(&bounded), visit),
            false => self.scan_ahead(haystack, &bounded, visit),
        };
        if bounded.cut.get() && scanned.trouble.is_none() && scanned.stopped.is_none() {
            let limit = self.caps.max_unsized_bytes;
            let message =
                format!("a file that tells no size is read up to max_unsized_bytes ({limit})");
            scanned.trouble = Some(Diagnostic::new(visit.path, Reason::TooLarge, message));
            scanned.found.complete = false;
        }
        scanned
    }

    /// Searches a file, and if it is small reads it at once: the searcher alone reads four times, to
    /// see how the file begins, all of it, and twice that it is over.
    fn scan_ahead(
        &mut self,
        haystack: &Haystack,
        file: &Bounded<'_>,
        visit: &mut Visit<'_>,
    ) -> Scanned {
        let bytes = match usize::try_from(haystack.bytes) {
            Ok(bytes) if bytes <= AHEAD_BYTES => bytes,
            _ => return self.scan_reader(file, visit),
        };
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.resize(AHEAD_BYTES + 1, 0);
        // One byte more than there should be: if it is not there, the file has ended. What fails here
        // fails again where it is told.
        let read = Reads(file).read(&mut ahead[..=bytes]).unwrap_or(0);
        let rest = (read != bytes).then_some(file);
        let text = &ahead[..read];
        // Who may end a search early would see by the bytes that were searched how it was read.
        let to_its_end = !visit.first_only && visit.render.is_none();
        let scanned = match rest.is_none() && to_its_end && self.is_found_alike(text) {
            true => self.scan_slice(text, visit),
            false => self.scan_reader(Ahead { read: text, rest }, visit),
        };
        self.ahead = ahead;
        scanned
    }

    /// Whether the searcher finds the same in a file if it is given as a slice, which spares it copies.
    /// It does not where it would decode the file or see that it is binary, nor if the pattern asks for
    /// the ends of the text: to that a reader's portions have ends as well.
    fn is_found_alike(&self, text: &[u8]) -> bool {
        self.is_plain
            && text.len() <= self.caps.max_line_buffer_bytes
            && !text::has_mark(text)
            && !text::has_nul(text)
    }

    /// Searches a FIFO or device that the caller named. Opening it can wait for as long as its
    /// other end likes.
    pub(crate) fn scan_special(&mut self, at: &Path, visit: &mut Visit<'_>) -> Scanned {
        match std::fs::File::open(at) {
            Ok(file) => self.scan_reader(file, visit),
            Err(error) => Scanned::skipped(visit.path, Diagnostic::io(visit.path, &error)),
        }
    }

    /// Searches what is read until its end.
    pub(crate) fn scan_reader(&mut self, mut inner: impl Read, visit: &mut Visit<'_>) -> Scanned {
        self.scan(Input::Reader(&mut inner), visit)
    }

    /// Searches the standard input, as ripgrep reads it: through a small buffer.
    pub(crate) fn scan_stdin(&mut self, mut inner: impl Read, visit: &mut Visit<'_>) -> Scanned {
        self.scan(Input::Stdin(&mut inner), visit)
    }

    /// Whether a file can be searched in pieces that begin and end with a line: nothing depends on more
    /// than a line, and none of up to so many bytes is too long.
    pub(crate) fn takes_chunks(&self, line_bytes: usize) -> bool {
        // The searcher fails only with a line that fills its buffer.
        self.line_alone && self.caps.max_line_buffer_bytes > line_bytes
    }

    /// Whether a NUL byte in a text means anything.
    pub(crate) fn minds_nul(&self) -> bool {
        self.binary != Binary::Text
    }

    /// Searches one piece of a text that [can be searched in such](Scanner::takes_chunks), and has no
    /// NUL byte that anybody minds.
    pub(crate) fn scan_chunk(&mut self, bytes: &[u8], visit: &mut Visit<'_>) -> Scanned {
        self.scan(Input::Chunk(bytes), visit)
    }

    /// To put together what was found in the pieces of one file.
    pub(crate) fn joined(&self, visit: &Visit<'_>) -> Joined {
        Joined {
            caps: self.caps.clone(),
            full: visit.count_only,
            kept_matches: 0,
            found: FileMatches::new(visit.path),
        }
    }

    /// Searches bytes in memory.
    pub(crate) fn scan_slice(&mut self, bytes: &[u8], visit: &mut Visit<'_>) -> Scanned {
        self.scan(Input::Slice(bytes), visit)
    }

    fn scan(&mut self, input: Input<'_>, visit: &mut Visit<'_>) -> Scanned {
        self.searcher.set_binary_detection(match (self.binary, visit.explicit) {
            _ if matches!(input, Input::Chunk(_)) => BinaryDetection::none(),
            (Binary::Text, _) => BinaryDetection::none(),
            (Binary::Quit, _) | (Binary::Auto, false) => BinaryDetection::quit(0),
            (Binary::Convert, _) | (Binary::Auto, true) => BinaryDetection::convert(0),
        });
        let (stopped, rendered) = (Cell::new(None), Cell::new(false));
        let mut found = FileMatches::new(visit.path);
        let searcher = &mut self.searcher;
        let token = visit.token;
        let matcher = &self.matcher.watched(token);
        let watch = Watch { token: visit.token, stopped: &stopped, matcher: &self.matcher };
        self.matcher.begin();
        let result = match visit.render.take() {
            _ if self.searches_nothing => Ok(()),
            Some(render) => render.render(
                &self.matcher,
                Box::new(|sink| {
                    let sink = Asking { sink, watch, rendered: &rendered };
                    input.search(searcher, matcher, watch, sink)
                }),
            ),
            None => {
                let sink = Collecting {
                    matcher,
                    caps: &self.caps,
                    multi_line: self.multi_line,
                    watch,
                    first_only: visit.first_only,
                    kept: Kept {
                        caps: &self.caps,
                        full: visit.count_only,
                        matches: 0,
                        found: &mut found,
                    },
                    located: Located::default(),
                    replacement: self.replacement.as_deref(),
                };
                input.search(searcher, matcher, watch, sink)
            }
        };
        // What renders asks the token as well: a line can become any number of lines.
        let stopped = stopped.get().or_else(|| visit.token.stop().filter(|_| result.is_err()));
        let trouble = match result {
            Err(error) if stopped.is_none() => Some(self.trouble(visit.path, &error)),
            _ => None,
        };
        found.complete = trouble.is_none() && stopped.is_none();
        Scanned { found, trouble, stopped, opened: true, rendered: rendered.get() }
    }

    fn trouble(&self, path: &Path, error: &io::Error) -> Diagnostic {
        // The searcher has no type for this.
        if error.to_string().starts_with("configured allocation limit") {
            return self.too_large(path);
        }
        Diagnostic::io(path, error)
    }

    fn too_large(&self, path: &Path) -> Diagnostic {
        let message = if self.multi_line {
            format!("the file is over max_multi_line_bytes ({})", self.caps.max_multi_line_bytes)
        } else {
            format!("a line is over max_line_buffer_bytes ({})", self.caps.max_line_buffer_bytes)
        };
        Diagnostic::new(path, Reason::TooLarge, message)
    }
}

/// What is searched.
enum Input<'a> {
    Reader(&'a mut dyn Read),
    Stdin(&'a mut dyn Read),
    /// A file as one slice.
    Whole(&'a Bounded<'a>),
    Slice(&'a [u8]),
    /// A part of a file that is searched from end to end.
    Chunk(&'a [u8]),
}

impl Input<'_> {
    fn search(
        self,
        searcher: &mut Searcher,
        matcher: &Watched<'_>,
        watch: Watch<'_>,
        sink: impl Sink<Error = io::Error>,
    ) -> io::Result<()> {
        let file = match self {
            Input::Reader(inner) => {
                return searcher.search_reader(matcher, StoppableReader { inner, watch }, sink);
            }
            Input::Stdin(inner) => {
                let reader = StoppableReader { inner, watch };
                let reader = io::BufReader::with_capacity(STDIN_BUFFER_BYTES, reader);
                return searcher.search_reader(matcher, reader, sink);
            }
            Input::Slice(bytes) => {
                watch.show_all(bytes);
                return searcher.search_slice(matcher, bytes, sink);
            }
            Input::Chunk(bytes) => {
                watch.matcher.show(bytes);
                return searcher.search_slice(matcher, bytes, sink);
            }
            Input::Whole(file) => file,
        };
        let mut bytes = Vec::new();
        let reader = StoppableReader { inner: file, watch };
        io::BufReader::with_capacity(READ_BYTES, reader).read_to_end(&mut bytes)?;
        // Nothing is mapped where there is nothing.
        match bytes.is_empty() {
            true => searcher.search_reader(matcher, &bytes[..], sink),
            false => searcher.search_slice(matcher, &bytes, sink),
        }
    }
}

/// The token of a search, and what it said; and who is to know what is read.
#[derive(Clone, Copy)]
struct Watch<'a> {
    token: &'a CancelToken,
    stopped: &'a Cell<Option<Stop>>,
    matcher: &'a Matcher,
}

impl Watch<'_> {
    fn go_on(self) -> bool {
        if let Some(stop) = self.token.stop() {
            self.stopped.set(Some(stop));
        }
        self.stopped.get().is_none()
    }

    /// Before a text in memory is searched. A large one is not looked through for its letters: its
    /// first line may be all that is wanted.
    fn show_all(self, bytes: &[u8]) {
        match bytes.len() <= READ_BYTES {
            true => self.matcher.show(bytes),
            false => self.matcher.end(),
        }
    }
}

/// A file that is read up to an end which nobody can move while it is read.
struct Bounded<'a> {
    file: &'a std::fs::File,
    left: Cell<u64>,
    /// Whether the end is one of ours, and not that of the file as it was.
    is_unsized: bool,
    /// Set when there was more behind such an end.
    cut: Cell<bool>,
}

impl<'a> Bounded<'a> {
    fn new(haystack: &'a Haystack, max_unsized: u64) -> Bounded<'a> {
        let is_unsized = haystack.bytes == 0;
        let left = match is_unsized {
            true => max_unsized,
            // A block more: a file system may be a little behind with the size of its files.
            false => haystack.bytes.saturating_add(AHEAD_BYTES as u64),
        };
        Bounded { file: &haystack.file, left: Cell::new(left), is_unsized, cut: Cell::new(false) }
    }
}

impl Read for &Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file;
        let left = self.left.get();
        if left == 0 {
            if self.is_unsized && !buffer.is_empty() && !self.cut.get() {
                self.cut.set(file.read(&mut buffer[..1])? > 0);
            }
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = file.read(&mut buffer[..most])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

/// What has been read of a file, and the file if it may go on.
struct Ahead<'a> {
    read: &'a [u8],
    rest: Option<&'a Bounded<'a>>,
}

impl Read for Ahead<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (self.read.is_empty(), self.rest) {
            (true, Some(mut file)) => file.read(buffer),
            _ => self.read.read(buffer),
        }
    }
}

/// Tests the token at every read and fills the buffer it is given, so that what the searcher sees
/// does not depend on how the system chose to portion the file.
struct StoppableReader<'a, R> {
    inner: R,
    watch: Watch<'a>,
}

impl<R: Read> Read for StoppableReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if !self.watch.go_on() {
                return Err(io::Error::other("stopped"));
            }
            match Reads(&mut self.inner).read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.watch.matcher.show(&buffer[..filled]);
        Ok(filled)
    }
}

/// A sink that does not know of the token: it is asked at every line.
struct Asking<'a> {
    sink: AnySink<'a>,
    watch: Watch<'a>,
    rendered: &'a Cell<bool>,
}

impl Asking<'_> {
    fn took_line(&self, goes_on: bool) -> bool {
        self.rendered.set(self.rendered.get() || goes_on);
        goes_on && self.watch.go_on()
    }
}

impl Sink for Asking<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let goes_on = self.sink.matched(searcher, found)?;
        Ok(self.took_line(goes_on))
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let goes_on = self.sink.context(searcher, context)?;
        Ok(self.took_line(goes_on))
    }

    fn context_break(&mut self, searcher: &Searcher) -> io::Result<bool> {
        self.sink.context_break(searcher)
    }

    fn binary_data(&mut self, searcher: &Searcher, offset: u64) -> io::Result<bool> {
        self.sink.binary_data(searcher, offset)
    }

    fn begin(&mut self, searcher: &Searcher) -> io::Result<bool> {
        self.sink.begin(searcher)
    }

    fn finish(&mut self, searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.sink.finish(searcher, finish)
    }
}

/// Takes lines from the searcher into a [`FileMatches`], up to the caps; counts all of them.
struct Collecting<'a> {
    matcher: &'a Watched<'a>,
    caps: &'a Caps,
    multi_line: bool,
    watch: Watch<'a>,
    first_only: bool,
    kept: Kept<'a>,
    located: Located,
    replacement: Option<&'a [u8]>,
}

/// The head of what is found that there is room for.
struct Kept<'a> {
    caps: &'a Caps,
    /// Once a line has been dropped, all later ones are.
    full: Option<&'static str>,
    matches: u64,
    found: &'a mut FileMatches,
}

impl Kept<'_> {
    /// Before a further match and what belongs to it.
    fn check_room(&mut self) {
        if self.matches >= self.caps.max_lines && self.full.is_none() {
            self.full = Some(self.caps.max_lines_name);
        }
    }

    /// Whether there is room for one line more.
    fn has_room(&mut self) -> bool {
        if self.full.is_none() && self.found.held_bytes() >= self.caps.max_result_bytes {
            self.full = Some("max_file_result_bytes");
            // What has been kept before the match that now is dropped belongs to that match.
            let last = self.found.lines().rposition(|line| line.kind != LineKind::Before);
            self.found.truncate_lines(last.map_or(0, |last| last + 1), "max_file_result_bytes");
        }
        if self.full.is_some() {
            self.found.limit = self.full;
        }
        self.full.is_none()
    }
}

/// What was found in the pieces of a file that came until now, as if it had been searched in one.
pub(crate) struct Joined {
    caps: Caps,
    full: Option<&'static str>,
    kept_matches: u64,
    pub(crate) found: FileMatches,
}

impl Joined {
    /// The limit for which nothing more is kept.
    pub(crate) fn full(&self) -> Option<&'static str> {
        self.full
    }

    /// Adds what was found in the next piece, which begins here, behind so many lines.
    pub(crate) fn add(&mut self, part: &FileMatches, offset: u64, lines: u64) {
        self.found.matches += part.matches;
        self.found.lines_matched += part.lines_matched;
        let (full, matches) = (self.full, self.kept_matches);
        let mut kept = Kept { caps: &self.caps, full, matches, found: &mut self.found };
        for index in 0..part.lines().len() {
            kept.check_room();
            kept.matches += 1;
            if !kept.has_room() {
                break;
            }
            kept.found.keep_line_of(part, index, offset, lines);
        }
        if let Some(limit) = part.limit {
            // What has no room in one of the pieces has none in all of them.
            kept.check_room();
            kept.full = kept.full.or(Some(limit));
            kept.found.limit = kept.full;
        }
        (self.full, self.kept_matches) = (kept.full, kept.matches);
    }
}

impl Collecting<'_> {
    /// Locates the matches in one line, or in the lines of a match across lines. Returns how many
    /// there are; those that begin within the kept part of the line are left in `self.located`.
    ///
    /// The engine is shown the line in its place in the buffer, so that look-around at its start
    /// sees what stands before.
    fn locate(
        &mut self,
        searcher: &Searcher,
        buffer: &[u8],
        line: Range<usize>,
    ) -> io::Result<u64> {
        let end = if self.multi_line {
            buffer.len().min(line.end + LOOK_AHEAD_BYTES)
        } else {
            line.start + without_terminator(&buffer[line.clone()], searcher.line_terminator()).len()
        };
        let max = self.caps.max_line_bytes;
        let (token, max_replaced) = (self.watch.token, self.caps.max_result_bytes);
        self.located.clear();
        let Located { spans, replaced, replaced_ends } = &mut self.located;
        let mut count = 0;
        // Returns whether the match is in the line at all, and whether its place is kept.
        let mut take = |start: usize, end: usize| {
            // One line can hold any number of matches.
            let stopped = count % MATCHES_PER_LOOK == MATCHES_PER_LOOK - 1 && token.is_stopped();
            if start >= line.end || stopped {
                return (false, false);
            }
            count += 1;
            let kept = start - line.start <= max;
            if kept {
                // Look-ahead can let a match end behind its lines.
                let end = end.min(line.end) - line.start;
                spans.push(Span { start: start - line.start, end });
            }
            (true, kept)
        };
        let haystack = &buffer[..end];
        match self.replacement {
            None => {
                self.matcher.find_iter_at(haystack, line.start, |m| take(m.start(), m.end()).0)?;
            }
            Some(template) => {
                let mut groups = self.matcher.new_captures()?;
                self.matcher.captures_iter_at(haystack, line.start, &mut groups, |groups| {
                    let whole = groups.get(0).expect("group 0 is the match");
                    let name = |name: &str| self.matcher.capture_index(name);
                    groups.interpolate(name, haystack, template, replaced);
                    let (in_line, kept) = take(whole.start(), whole.end());
                    if kept && replaced.len() <= max_replaced {
                        replaced_ends.push(replaced.len());
                    } else {
                        replaced.truncate(replaced_ends.last().copied().unwrap_or(0));
                    }
                    in_line
                })?;
            }
        }
        Ok(count)
    }

    fn keep(&mut self, number: Option<u64>, offset: u64, bytes: &[u8], kind: LineKind) {
        if !self.kept.has_room() {
            return;
        }
        let max = self.caps.max_line_bytes;
        self.kept.found.keep_line(number, offset, bytes, &self.located, kind, max);
    }
}

fn without_terminator(line: &[u8], terminator: LineTerminator) -> &[u8] {
    let bare = line.strip_suffix(&[terminator.as_byte()]).unwrap_or(line);
    match bare.strip_suffix(b"\r") {
        Some(bare) if terminator.is_crlf() && bare.len() + 2 == line.len() => bare,
        _ => bare,
    }
}

impl Sink for Collecting<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        // Even an inverted match can hold the pattern: behind the limit of a search that passes
        // all lines through.
        let range = found.bytes_range_in_buffer();
        self.kept.found.matches += self.locate(searcher, found.buffer(), range)?;
        self.kept.found.lines_matched +=
            if self.multi_line { found.lines().count() as u64 } else { 1 };
        self.kept.check_room();
        self.kept.matches += 1;
        self.keep(
            found.line_number(),
            found.absolute_byte_offset(),
            found.bytes(),
            LineKind::Match,
        );
        Ok(self.watch.go_on() && !self.first_only)
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let kind = match context.kind() {
            SinkContextKind::Before => LineKind::Before,
            SinkContextKind::After => LineKind::After,
            SinkContextKind::Other => LineKind::Passthru,
        };
        // What stands before a match that will not be kept belongs to that match.
        if kind == LineKind::Before {
            self.kept.check_room();
        }
        self.located.clear();
        // Around inverted matches it is the context that holds the pattern.
        if searcher.invert_match() && self.kept.full.is_none() {
            self.locate(searcher, context.bytes(), 0..context.bytes().len())?;
        }
        self.keep(context.line_number(), context.absolute_byte_offset(), context.bytes(), kind);
        Ok(self.watch.go_on())
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.kept.found.bytes_searched = finish.byte_count();
        self.kept.found.binary_offset = finish.binary_byte_offset();
        Ok(())
    }
}
