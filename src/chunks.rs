//! One large file, searched by several threads: in chunks, with the result of a search from end to end.

use crate::cancel::{CancelToken, Stop};
use crate::duty::Duty;
use crate::faults::Reads;
use crate::haystack::{self, Haystack, Place};
use crate::matches::FileMatches;
use crate::pool::Pool;
use crate::scan::{AHEAD_BYTES, Joined, Scanned, Scanner, Visit};
use crate::text;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a file is cut.
#[derive(Clone, Copy, Debug)]
struct Cuts {
    /// How much a thread takes at a time: so much that what it costs to take it does not count, so
    /// little that it is still in the processor's cache when it is searched, and that the threads are
    /// done at about the same time.
    chunk_bytes: usize,
    /// Files below are searched by one thread, within some milliseconds. To share the work of those would
    /// gain less than it keeps other threads from other files.
    least_bytes: u64,
    /// How many chunks per thread may be searched before the one is that comes first: what was found in
    /// them is held until then.
    window_per_thread: u64,
}

const CUTS: Cuts = Cuts { chunk_bytes: 512 << 10, least_bytes: 8 << 20, window_per_thread: 8 };

/// How far behind a chunk its last line is read at a time.
const OVERHANG_BYTES: usize = 4 << 10;

/// With so much found in chunks whose turn has not come, no more are begun. Few matches are larger than
/// their text, but a replacement can be of any size.
const MAX_HELD_BYTES: usize = 64 << 20;

/// How long a helper sleeps that is too far ahead before it looks at the token.
const LOOK: Duration = Duration::from_millis(20);

/// Whoever has scanners of one search for any thread.
pub(crate) trait Lend: Send + Sync + 'static {
    fn lend(&self, work: impl FnOnce(&mut Scanner));
}

/// Who helps with a file.
pub(crate) struct Help<'a, L> {
    pub(crate) pool: &'a Pool,
    pub(crate) lender: &'a Arc<L>,
}

/// Searches the file at this place with all threads that are free, if it is large and if that makes no
/// difference to what is found.
pub(crate) fn scan_file<L: Lend>(
    scanner: &mut Scanner,
    at: Place<'_>,
    visit: &mut Visit<'_>,
    help: &Help<'_, L>,
) -> Scanned {
    match haystack::open(at) {
        Ok(haystack) => match in_chunks(scanner, &haystack, visit, help, CUTS) {
            Some(scanned) => scanned,
            None => {
                visit.follower.iter_mut().for_each(|follower| follower.forget());
                scanner.scan_open(&haystack, visit)
            }
        },
        Err(error) => Scanned::unopened(visit.path, &error),
    }
}

/// `None` where the file has to be searched from end to end after all.
fn in_chunks<L: Lend>(
    scanner: &mut Scanner,
    haystack: &Haystack,
    visit: &mut Visit<'_>,
    help: &Help<'_, L>,
    cuts: Cuts,
) -> Option<Scanned> {
    // A line ends at most a chunk behind the one that it begins in, and has to end in the buffer of the
    // searcher as well.
    if haystack.bytes < cuts.least_bytes.max(1)
        || visit.render.is_some()
        || visit.first_only
        || !scanner.takes_chunks(cuts.chunk_bytes.saturating_mul(4))
        || help.pool.threads() < 2
    {
        return None;
    }
    let threads = help.pool.threads() as u64;
    let file = Arc::new(Chunked {
        file: haystack.file.try_clone().ok()?,
        bytes: haystack.bytes,
        cuts,
        window: threads * cuts.window_per_thread,
        explicit: visit.explicit,
        minds_nul: scanner.minds_nul(),
        token: visit.token.clone(),
        count_only: visit.count_only,
        has_room: AtomicBool::new(true),
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let duty = Duty::new(help.pool, visit.token).ok()?;
    let over = Over(&file);
    // Most files that are not to be searched in chunks show it in the first one.
    file.work_once(scanner, &mut Vec::new());
    for _ in 1..threads.min(file.count()) {
        if file.lock().is_irregular {
            return None;
        }
        let (file, lender) = (Arc::clone(&file), Arc::clone(help.lender));
        let job = move || lender.lend(|scanner| file.help(scanner));
        if duty.spawn(job).is_err() {
            break;
        }
    }
    let scanned = file.lead(scanner, visit, &duty);
    drop(over);
    scanned
}

/// A file that several threads search.
struct Chunked {
    file: File,
    bytes: u64,
    cuts: Cuts,
    /// How many chunks may be begun behind the first that is not taken.
    window: u64,
    explicit: bool,
    minds_nul: bool,
    token: CancelToken,
    count_only: Option<&'static str>,
    /// Whether lines are still kept.
    has_room: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The first chunk that nobody has begun.
    next: u64,
    /// The first that has not been taken.
    taken: u64,
    /// What came of those from there on; `None` for what is not done.
    done: VecDeque<Option<Part>>,
    /// How much those hold.
    held_bytes: usize,
    /// Something is in the file that only a search from end to end gets right.
    is_irregular: bool,
    /// Nobody wants any more of it.
    is_over: bool,
}

/// What was found in a chunk.
struct Part {
    found: FileMatches,
    /// Where its lines are.
    lines: Range<u64>,
    line_feeds: u64,
    stopped: Option<Stop>,
}

/// A text that is not searched in chunks.
struct Irregular;

impl From<io::Error> for Irregular {
    /// It is told by who meets it again on the way from end to end.
    fn from(_: io::Error) -> Irregular {
        Irregular
    }
}

/// Sends the helpers away, whatever happens.
struct Over<'a>(&'a Chunked);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// A chunk that a thread is at. If it is not done, the thread has panicked.
struct Begun<'a> {
    file: &'a Chunked,
    index: u64,
    part: Option<Part>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut state = self.file.lock();
        match self.part.take() {
            None => state.is_irregular = true,
            Some(part) => {
                let place = (self.index - state.taken) as usize;
                state.held_bytes += part.found.held_bytes();
                state.done[place] = Some(part);
            }
        }
        drop(state);
        self.file.changed.notify_all();
    }
}

impl Chunked {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many chunks there are.
    fn count(&self) -> u64 {
        self.bytes.div_ceil(self.cuts.chunk_bytes as u64)
    }

    fn is_ahead(&self, state: &State) -> bool {
        // Whoever is waited for is never too far ahead.
        let is_full = state.held_bytes >= MAX_HELD_BYTES && state.next > state.taken;
        state.next >= state.taken + self.window || is_full
    }

    fn begin(&self, mut state: MutexGuard<'_, State>) -> Option<Begun<'_>> {
        let ended = state.is_over || state.is_irregular || state.next == self.count();
        if ended || self.is_ahead(&state) || self.token.is_stopped() {
            return None;
        }
        let index = state.next;
        state.next += 1;
        state.done.push_back(None);
        Some(Begun { file: self, index, part: None })
    }

    /// Searches the next chunk. Returns whether there was one to be begun.
    fn work_once(&self, scanner: &mut Scanner, buffer: &mut Vec<u8>) -> bool {
        let Some(mut begun) = self.begin(self.lock()) else { return false };
        begun.part = self.search(scanner, begun.index, buffer).ok();
        true
    }

    /// Searches as long as there is something to be searched.
    fn help(&self, scanner: &mut Scanner) {
        let mut buffer = Vec::new();
        loop {
            if self.work_once(scanner, &mut buffer) {
                continue;
            }
            let state = self.lock();
            let ended = state.is_over || state.is_irregular || state.next == self.count();
            if ended || self.token.is_stopped() {
                return;
            }
            if self.is_ahead(&state) {
                let waited = self.changed.wait_timeout(state, LOOK);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Searches as well, and puts together what was found, in the order of the file.
    fn lead(&self, scanner: &mut Scanner, visit: &mut Visit<'_>, duty: &Duty) -> Option<Scanned> {
        let mut joined = scanner.joined(visit);
        let (mut at, mut lines, mut buffer) = (0, 0, Vec::new());
        let mut stopped = None;
        while stopped.is_none() {
            let mut state = self.lock();
            if state.is_irregular && self.token.stop().is_none() {
                return None;
            }
            if let Some(part) = state.done.front_mut().and_then(Option::take) {
                state.done.pop_front();
                state.taken += 1;
                state.held_bytes -= part.found.held_bytes();
                drop(state);
                self.changed.notify_all();
                // Somebody writes to the file.
                if part.lines.start != at {
                    return None;
                }
                self.add(&mut joined, &part, lines);
                // The others search meanwhile.
                visit.follower.iter_mut().for_each(|follower| follower.follow(&joined.found));
                (at, lines, stopped) = (part.lines.end, lines + part.line_feeds, part.stopped);
                continue;
            }
            if state.taken == self.count() {
                break;
            }
            drop(state);
            // A chunk that nobody has begun is not waited for: there may be nobody to help.
            if self.token.stop().is_some() || !self.work_once(scanner, &mut buffer) {
                stopped = self.wait(duty);
            }
        }
        let mut found = joined.found;
        found.complete = stopped.is_none();
        found.bytes_searched = at;
        Some(Scanned { found, trouble: None, stopped, opened: true, rendered: false })
    }

    fn add(&self, joined: &mut Joined, part: &Part, lines: u64) {
        joined.add(&part.found, part.lines.start, lines);
        if joined.full().is_some() {
            self.has_room.store(false, Ordering::Relaxed);
        }
    }

    /// Waits until the first chunk is done that was not taken. Returns why it will not be.
    fn wait(&self, duty: &Duty) -> Option<Stop> {
        let mut patience = duty.less_patience();
        let mut state = self.lock();
        loop {
            match state.done.front() {
                Some(Some(_)) => return None,
                Some(None) if !state.is_irregular => {}
                // It was not begun, or will not be done.
                _ => return self.token.stop(),
            }
            let Some(time) = patience.left() else {
                drop(state);
                duty.give_up();
                return self.token.stop();
            };
            let waited = self.changed.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Searches the lines that begin behind the first byte of a chunk and before its end, or at it; in
    /// the first chunk that at its first byte, too. So no byte before the chunk has to be read to know
    /// where a line begins.
    fn search(
        &self,
        scanner: &mut Scanner,
        index: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Part, Irregular> {
        let chunk_bytes = self.cuts.chunk_bytes;
        let start = index * chunk_bytes as u64;
        let is_last = index + 1 == self.count();
        // As much behind the end as is read by one thread.
        let more = if is_last { AHEAD_BYTES.min(chunk_bytes) } else { 0 };
        let wanted = chunk_bytes + more;
        buffer.resize(wanted.max(buffer.len()), 0);
        let mut end = self.read(&mut buffer[..wanted], start)?;
        let first = match (index, text::line_feed(&buffer[..end])) {
            (0, _) => 0,
            (_, Some(line_feed)) if line_feed < chunk_bytes || is_last => line_feed + 1,
            (_, None) if is_last => end,
            // A line is longer than a chunk.
            _ => return Err(Irregular),
        };
        if !is_last {
            // The file has become shorter.
            if end < wanted {
                return Err(Irregular);
            }
            end = self.last_line(start, buffer)?;
        }
        let lines = &buffer[first..end];
        // A mark tells an encoding, be it where the file begins, or for the searcher, that takes any
        // chunk for all there is. And where a line begins with the rest of a character, the engine
        // looks for its beginning in the line before.
        let is_rest = lines.first().is_some_and(|byte| (0x80..0xc0).contains(byte));
        if text::has_mark(lines) || is_rest {
            return Err(Irregular);
        }
        // In the first chunk before it is searched: so little is lost with a binary file.
        if index == 0 && self.minds_nul && text::has_nul(lines) {
            return Err(Irregular);
        }
        let mut visit = Visit::new(Path::new(""), self.explicit, &self.token);
        visit.count_only = match self.has_room.load(Ordering::Relaxed) {
            true => self.count_only,
            // It has a name already.
            false => Some(""),
        };
        let scanned = scanner.scan_chunk(lines, &mut visit);
        // The searcher has counted up to the last line that it found.
        let last = scanned.found.lines().next_back();
        let (before, at) = match last.map(|line| (line.number, line.offset as usize)) {
            Some((Some(number), at)) => (number - 1, at),
            _ => (0, 0),
        };
        let (line_feeds, has_nul) = text::count_lines(&lines[at..]);
        let has_nul = has_nul || self.minds_nul && text::has_nul(&lines[..at]);
        if scanned.trouble.is_some() || has_nul && self.minds_nul {
            return Err(Irregular);
        }
        let line_feeds = before + line_feeds;
        let lines = start + first as u64..start + end as u64;
        Ok(Part { found: scanned.found, lines, line_feeds, stopped: scanned.stopped })
    }

    /// Reads on to where the last line of a chunk ends.
    fn last_line(&self, start: u64, buffer: &mut Vec<u8>) -> Result<usize, Irregular> {
        let mut end = self.cuts.chunk_bytes;
        while end < 2 * self.cuts.chunk_bytes {
            buffer.resize((end + OVERHANG_BYTES).max(buffer.len()), 0);
            let read = self.read(&mut buffer[end..end + OVERHANG_BYTES], start + end as u64)?;
            if let Some(line_feed) = text::line_feed(&buffer[end..end + read]) {
                return Ok(end + line_feed + 1);
            }
            end += read;
            if read < OVERHANG_BYTES {
                return Ok(end);
            }
        }
        Err(Irregular)
    }

    /// Reads until the buffer is full or the file has ended.
    fn read(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let mut reader = Reads(ReadAt { file: &self.file, at });
        let mut filled = 0;
        while filled < buffer.len() {
            match reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// A file that is read from a place without moving it for others.
struct ReadAt<'a> {
    file: &'a File,
    at: u64,
}

impl Read for ReadAt<'_> {
    #[cfg(unix)]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }

    /// Elsewhere to read from a place moves the file for all.
    #[cfg(not(unix))]
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = (self.file, self.at);
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::matcher::Matcher;
    use crate::query::{Binary, Encoding, MultiLine, Query, Terminator};
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new(3));

    struct Scanners {
        query: Query,
        limits: Limits,
        matcher: Matcher,
    }

    impl Scanners {
        fn try_new(query: Query, limits: Limits) -> Option<Arc<Scanners>> {
            let matcher = Matcher::compile(&query, &limits).ok()?;
            Some(Arc::new(Scanners { query, limits, matcher }))
        }

        fn new(query: Query) -> Arc<Scanners> {
            Scanners::try_new(query, Limits::new()).expect("a good pattern")
        }

        fn scanner(&self) -> Scanner {
            let matcher = self.matcher.clone();
            Scanner::new(&self.query, &self.limits, matcher).expect("a good query")
        }
    }

    impl Lend for Scanners {
        fn lend(&self, work: impl FnOnce(&mut Scanner)) {
            work(&mut self.scanner());
        }
    }

    fn cuts(chunk_bytes: usize) -> Cuts {
        Cuts { chunk_bytes, least_bytes: 1, ..CUTS }
    }

    /// What a search from end to end says of a text, and what one in chunks does.
    fn both(
        scanners: &Arc<Scanners>,
        text: &[u8],
        cuts: Cuts,
        pool: &Pool,
        change: impl Fn(&mut Visit<'_>),
    ) -> (Scanned, Option<Scanned>) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("text");
        std::fs::write(&path, text).expect("a file");
        let open = || match haystack::open(Place::Path(path.as_path().into())) {
            Ok(haystack) => haystack,
            Err(_) => panic!("it was written"),
        };
        let token = CancelToken::new();
        let mut visit = Visit::new(&path, false, &token);
        change(&mut visit);
        let help = Help { pool, lender: scanners };
        let chunked = in_chunks(&mut scanners.scanner(), &open(), &mut visit, &help, cuts);
        (scanners.scanner().scan_open(&open(), &mut visit), chunked)
    }

    fn same(sequential: &Scanned, chunked: &Scanned) -> std::result::Result<(), String> {
        let Scanned { found, trouble, stopped, opened, .. } = sequential;
        let is_same = *found == chunked.found
            && trouble.is_none()
            && chunked.trouble.is_none()
            && (*stopped, *opened) == (chunked.stopped, chunked.opened);
        match is_same {
            true => Ok(()),
            false => Err(format!("{found:#?}\n{trouble:?}\nis not\n{:#?}", chunked.found)),
        }
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            40 => prop::sample::select(vec![
                "a", "ab", "b a", "\n", "\n", "\r\n", "\n\n", "é", "ſ", "0123 456", "needle", "\r",
                "\t", "x y z x y z x y z x y z",
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::sample::select(vec![
                vec![0xff],
                vec![0xa9],
                vec![0xef, 0xbb, 0xbf],
                vec![0xff, 0xfe],
                vec![b'x'; 150],
            ]),
        ];
        let nul = prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)];
        (prop::collection::vec(piece, 0..400), nul).prop_map(|(pieces, nul)| {
            let mut text = pieces.concat();
            if let Some(nul) = nul {
                text.insert(nul.index(text.len() + 1), 0);
            }
            text
        })
    }

    fn query() -> impl Strategy<Value = Query> {
        let pattern = prop::sample::select(vec![
            "a",
            "needle",
            "^",
            "$",
            "^$",
            r"\bab\b",
            r"\w+",
            "x*",
            r"\B",
            "a$",
            "é",
            r"\s",
            ".",
            r"\r$",
            r"[^a]\b",
            r"(\w)(\d)?",
            r"\A",
            r"a\z",
            "(?i)s",
            "x{60}",
            "zzz",
        ]);
        let switches = (any::<bool>(), 0..3_usize, any::<bool>(), any::<bool>(), 0..12);
        (pattern, switches).prop_map(|(pattern, switches)| {
            let (unicode, binary, numbers, replaced, other) = switches;
            let query = Query::new(pattern)
                .allow_empty(true)
                .unicode(unicode)
                .line_numbers(numbers)
                .binary([Binary::Auto, Binary::Text, Binary::Convert][binary]);
            let query = if replaced { query.replacement(Some("<$0$1>")) } else { query };
            match other {
                0 => query.max_count(Some(3)),
                1 => query.invert(true),
                2 => query.multi_line(MultiLine::On),
                3 => query.terminator(Terminator::Crlf),
                4 => query.encoding(Encoding::Raw),
                _ => query,
            }
        })
    }

    fn limits() -> impl Strategy<Value = Limits> {
        let few = |some: Vec<u64>| prop_oneof![2 => Just(None), 1 => prop::sample::select(some).prop_map(Some)];
        (few(vec![0, 1, 7, 40]), few(vec![0, 300, 4_000]), few(vec![1, 9]), few(vec![100, 300]))
            .prop_map(|(lines, bytes, line_bytes, buffer)| {
                let mut limits = Limits::new();
                limits = lines.into_iter().fold(limits, Limits::max_lines_per_file);
                limits = bytes
                    .into_iter()
                    .fold(limits, |limits, bytes| limits.max_file_result_bytes(bytes as usize));
                limits = line_bytes
                    .into_iter()
                    .fold(limits, |limits, bytes| limits.max_line_bytes(bytes as usize));
                buffer
                    .into_iter()
                    .fold(limits, |limits, bytes| limits.max_line_buffer_bytes(bytes as usize))
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 400,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn chunks_find_what_is_found_from_end_to_end(
            query in query(),
            limits in limits(),
            texts in prop::collection::vec(text(), 3),
            chunk_bytes in prop::sample::select(vec![16, 64, 100, 1_000]),
            switches in (any::<bool>(), any::<bool>(), 0..6),
        ) {
            let (explicit, whole, count_only) = switches;
            // A line cannot hold what ends it.
            let Some(scanners) = Scanners::try_new(query, limits) else { return Ok(()) };
            for text in &texts {
                let (sequential, chunked) =
                    both(&scanners, text, cuts(chunk_bytes), &POOL, |visit| {
                        (visit.explicit, visit.whole) = (explicit, whole);
                        visit.count_only = (count_only == 0).then_some("max_lines");
                    });
                if let Some(chunked) = chunked {
                    same(&sequential, &chunked).map_err(|fault| {
                        let text = bstr::BStr::new(text);
                        TestCaseError::fail(format!("{:?} {text:?}\n{fault}", scanners.query))
                    })?;
                }
            }
        }
    }

    /// What the search from end to end is left with.
    #[test]
    fn plain_texts_are_searched_in_chunks_and_others_are_not() {
        let plain = "hay needle\r\n\nhay hay hay needle needle\n".repeat(40);
        let is_chunked = |query: Query, text: &[u8], pool: &Pool| {
            let scanners = Scanners::new(query);
            let (sequential, chunked) = both(&scanners, text, cuts(64), pool, |_| {});
            if let Some(chunked) = &chunked {
                same(&sequential, chunked).unwrap_or_else(|fault| panic!("{fault}"));
            }
            chunked.is_some()
        };
        let query = || Query::new("needle");
        let with = |bytes: &[u8], at: usize| {
            let mut text = plain.clone().into_bytes();
            text.splice(at..at, bytes.iter().copied());
            text
        };
        for text in [&plain[..], &plain[..plain.len() - 1], &plain[..1_000], "needle"] {
            assert!(is_chunked(query(), text.as_bytes(), &POOL), "{text:?}");
        }
        assert!(is_chunked(query().binary(Binary::Text), &with(b"\0", 700), &POOL));
        assert!(is_chunked(query(), &with(&[b'x'; 60], 700), &POOL), "a line in the next chunk");
        assert!(!is_chunked(query(), &with(b"\0", 700), &POOL), "a NUL");
        assert!(!is_chunked(query(), &with(b"\xef\xbb\xbf", 0), &POOL), "a mark");
        assert!(!is_chunked(query(), &with(&[b'x'; 200], 700), &POOL), "a long line");
        assert!(!is_chunked(query(), b"", &POOL), "nothing, or a file that tells no size");
        for pool in [Pool::inline(), Pool::new(1)] {
            assert!(!is_chunked(query(), plain.as_bytes(), &pool), "nobody helps");
        }
        for query in [
            query().invert(true),
            query().before_context(1),
            query().after_context(1),
            query().max_count(Some(1)),
            query().passthru(true),
            query().stop_on_nonmatch(true),
            query().terminator(Terminator::Crlf),
            query().encoding(Encoding::Label(String::from("utf-8"))),
            Query::new("needle\n").multi_line(MultiLine::On),
            Query::new(r"\Ahay"),
        ] {
            assert!(!is_chunked(query.clone(), plain.as_bytes(), &POOL), "{query:?}");
        }
    }

    /// The lines found until then are a head of all, and the call does not wait for those to come.
    #[test]
    fn a_stop_leaves_a_head() {
        let scanners = Scanners::new(Query::new("needle"));
        let text = "hay\nneedle\n".repeat(300_000);
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("text");
        std::fs::write(&path, &text).expect("a file");
        for micros in [0, 300, 1_000, 3_000, 10_000, 30_000] {
            let token = CancelToken::new();
            let canceller = token.clone();
            let cancelling = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_micros(micros));
                canceller.cancel();
            });
            let Ok(haystack) = haystack::open(Place::Path(path.as_path().into())) else {
                panic!("it was written");
            };
            let mut visit = Visit::new(&path, false, &token);
            let help = Help { pool: &POOL, lender: &scanners };
            let cuts = cuts(10_000);
            let scanned = in_chunks(&mut scanners.scanner(), &haystack, &mut visit, &help, cuts);
            cancelling.join().expect("it only sleeps");
            let scanned = scanned.expect("a plain text");
            assert_eq!(scanned.found.complete, scanned.stopped.is_none());
            for (index, line) in scanned.found.lines().enumerate() {
                assert_eq!(line.number, Some(2 * index as u64 + 2));
                assert_eq!(line.offset, 11 * index as u64 + 4);
            }
        }
    }

    /// Workers that are busy with something else are not waited for.
    #[test]
    fn a_pool_without_a_free_thread_is_only_slower() {
        let pool = Pool::new(2);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..2 {
            let receiver = Arc::clone(&receiver);
            let job = move || {
                let _ = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            };
            assert!(pool.spawn(|| (), job).is_ok());
        }
        let scanners = Scanners::new(Query::new("needle"));
        let text = "hay\nneedle\n".repeat(1_000);
        let (sequential, chunked) = both(&scanners, text.as_bytes(), cuts(64), &pool, |_| {});
        drop(sender);
        let chunked = chunked.expect("a plain text");
        same(&sequential, &chunked).unwrap_or_else(|fault| panic!("{fault}"));
    }
}
