//! From a [`Query`] to a compiled matcher, and from the engine's refusals to our errors.

mod cache; // compiled patterns, kept
mod pattern; // the regular expression of a query once more, and what it can cost
mod stepped; // automata driven by hand
mod threads; // a simulation, where those have no answer
mod twin; // the pattern for text that is all ASCII
mod watched; // a matcher together with the token that stops it

pub use cache::PatternCache;
pub(crate) use watched::Watched;

use crate::cancel::CancelToken;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::Limits;
use crate::query::{Binary, Boundary, Case, MultiLine, Query, Terminator};
use grep_matcher::Matcher as _;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::time::Duration;
use stepped::{Memory, Stepped};
use watched::Cut;

/// What the engine may do before the token is asked: bytes times the places in the pattern that it
/// can be at. Each takes up to ten nanoseconds, so that this is some twenty milliseconds.
const WORK_PER_LOOK: usize = 2 << 20;

/// How many bytes may be stepped over before the token is asked, however little the pattern costs.
const MAX_BYTES_PER_LOOK: usize = 8 << 10;

/// How often, and how long each time, a worker waits for another that compiles what it needs: together
/// for some times of what that takes at most.
const MAX_WAITS: u32 = 500;
const WAIT: Duration = Duration::from_micros(200);

/// What is built beside the programs to be faster: whole automata and search for texts. An automaton
/// may take a megabyte, but seldom does.
const BYTES_BESIDE: usize = 256 << 10;

/// A twin gets this part of what the engine's cache may take: its automata are small.
const TWIN_SHARE: usize = 8;

/// A compiled query. Clones share the programs but not the caches that they run with, so each
/// worker holds one of its own.
///
/// Where the pattern takes long to compile, its twin for ASCII is compiled in its place, and the
/// pattern itself once a text is met that is not all ASCII. Whoever searches says so: see
/// [`begin`](Matcher::begin).
pub(crate) struct Matcher {
    twin: Option<Compiled>,
    /// For every text.
    full: OnceLock<Compiled>,
    source: Arc<Source>,
    /// Whether what is shown of a text is known to be ASCII; never without a twin.
    is_ascii: AtomicBool,
}

/// What the pattern itself is compiled from, and what came of it, for all clones.
struct Source {
    query: Query,
    limits: Limits,
    work_per_look: usize,
    full: OnceLock<std::result::Result<Compiled, String>>,
    /// What tells of most lines that are not ASCII that nothing is in them.
    hint: OnceLock<Option<RegexMatcher>>,
    /// The bytes that were looked through to do without.
    sifted: AtomicUsize,
    /// Held by who compiles it.
    compiling: Mutex<()>,
}

/// One pattern, compiled.
struct Compiled {
    engine: RegexMatcher,
    program: Arc<Program>,
    memory: Mutex<Memory>,
    is_twin: bool,
}

/// What is known of a query beyond the engine's program, as soon as somebody has to know.
struct Program {
    query: Query,
    max_regex_bytes: usize,
    max_dfa_bytes: usize,
    work_per_look: usize,
    /// What can be afforded whatever more is known.
    surely_affordable: usize,
    cut: Option<Cut>,
    measured: OnceLock<Measured>,
    stepped: OnceLock<Option<Stepped>>,
}

/// What a pattern can cost.
#[derive(Clone, Copy)]
struct Measured {
    /// The longest span that the engine is given at once.
    affordable_bytes: usize,
    /// The longest that a match can be, if there is such a thing.
    max_match_bytes: Option<usize>,
    bytes_per_look: usize,
}

impl Matcher {
    pub(crate) fn compile(query: &Query, limits: &Limits) -> Result<Matcher> {
        check_size(query, limits)?;
        let twin = twin::of(query, limits).and_then(|twin| Compiled::twin(&twin, limits));
        if let Some(twin) = twin {
            return Ok(Matcher::with_twin(twin, query, limits));
        }
        let full = OnceLock::from(Ok(Compiled::new(WORK_PER_LOOK, query, limits)?));
        Ok(Matcher::of(None, Arc::new(Source::new(WORK_PER_LOOK, query, limits, full))))
    }

    fn with_twin(twin: Compiled, query: &Query, limits: &Limits) -> Matcher {
        let source = Source::new(WORK_PER_LOOK, query, limits, OnceLock::new());
        Matcher::of(Some(twin), Arc::new(source))
    }

    fn of(twin: Option<Compiled>, source: Arc<Source>) -> Matcher {
        Matcher { twin, full: OnceLock::new(), source, is_ascii: AtomicBool::new(false) }
    }

    /// This matcher, stopped by a token.
    pub(crate) fn watched<'a>(&'a self, token: &'a CancelToken) -> Watched<'a> {
        Watched::new(self, token)
    }

    /// Before a text of which nothing has been seen: all that is searched until the next one has to
    /// be [shown](Matcher::show) before, or else [`end`](Matcher::end) be called.
    pub(crate) fn begin(&self) {
        self.is_ascii.store(self.twin.is_some(), Ordering::Relaxed);
    }

    /// The text goes on with these bytes.
    #[inline]
    pub(crate) fn show(&self, bytes: &[u8]) {
        if self.is_ascii.load(Ordering::Relaxed) && !bytes.is_ascii() {
            self.end();
        }
    }

    /// Of what is searched from here on nothing is known.
    pub(crate) fn end(&self) {
        self.is_ascii.store(false, Ordering::Relaxed);
    }

    /// What all its programs take, about, be they compiled or not yet. What a compiler takes at most
    /// is a few times what it leaves, so that there is room for all of them.
    fn estimated_bytes(&self) -> usize {
        let bytes = twin::program_bytes(&self.source.query, &self.source.limits);
        bytes.saturating_add(BYTES_BESIDE)
    }

    fn is_ascii(&self) -> bool {
        self.is_ascii.load(Ordering::Relaxed)
    }

    fn is_full_compiled(&self) -> bool {
        self.full.get().is_some() || self.source.full.get().is_some()
    }

    /// Whoever needs it first compiles it.
    fn full(&self) -> std::result::Result<&Compiled, &str> {
        if let Some(full) = self.full.get() {
            return Ok(full);
        }
        let full = self.source.full().as_ref().map_err(String::as_str)?;
        Ok(self.full.get_or_init(|| full.clone()))
    }
}

impl Clone for Matcher {
    fn clone(&self) -> Matcher {
        Matcher::of(self.twin.clone(), Arc::clone(&self.source))
    }
}

impl Source {
    fn new(
        work_per_look: usize,
        query: &Query,
        limits: &Limits,
        full: OnceLock<std::result::Result<Compiled, String>>,
    ) -> Source {
        let (query, limits, hint) = (query.clone(), limits.clone(), OnceLock::new());
        let (sifted, compiling) = (AtomicUsize::new(0), Mutex::default());
        Source { query, limits, work_per_look, full, hint, sifted, compiling }
    }

    fn hint(&self) -> Option<&RegexMatcher> {
        let compile = |hint: Query| builder(&hint, &self.limits).build_many(&hint.patterns).ok();
        self.hint.get_or_init(|| twin::hint(&self.query, &self.limits).and_then(compile)).as_ref()
    }

    fn full(&self) -> &std::result::Result<Compiled, String> {
        // Others wait meanwhile, but not for a thread that a forked child does not have.
        let mut waits = 0;
        let _compiling = loop {
            match (self.full.get(), self.compiling.try_lock()) {
                (Some(full), _) => return full,
                (None, Err(TryLockError::WouldBlock)) if waits < MAX_WAITS => {
                    waits += 1;
                    std::thread::sleep(WAIT);
                }
                (None, lock) => break lock,
            }
        };
        // There is a twin only where this cannot fail.
        let full = Compiled::new(self.work_per_look, &self.query, &self.limits);
        self.full.get_or_init(|| full.map_err(|error| error.to_string()))
    }
}

impl Compiled {
    fn new(work_per_look: usize, query: &Query, limits: &Limits) -> Result<Compiled> {
        let engine = builder(query, limits).build_many(&query.patterns).map_err(|error| {
            let text = error.to_string();
            refusal(query, limits, &error).with_engine_text(text)
        })?;
        let width = pattern::width_at_most(query);
        let program = Program {
            query: query.clone(),
            max_regex_bytes: limits.max_regex_bytes,
            max_dfa_bytes: limits.max_dfa_bytes,
            work_per_look,
            surely_affordable: width.map_or(0, |width| work_per_look / width),
            cut: cut(query, &engine),
            measured: OnceLock::new(),
            stepped: OnceLock::new(),
        };
        let (program, memory) = (Arc::new(program), Mutex::default());
        Ok(Compiled { engine, program, memory, is_twin: false })
    }

    /// What the twin of a query comes to; `None` means that the query has to do without.
    fn twin(query: &Query, limits: &Limits) -> Option<Compiled> {
        let limits = limits.clone().max_dfa_bytes(limits.max_dfa_bytes / TWIN_SHARE);
        let compiled = Compiled::new(WORK_PER_LOOK, query, &limits).ok()?;
        compiled.program.measured();
        Some(Compiled { is_twin: true, ..compiled })
    }
}

impl Clone for Compiled {
    fn clone(&self) -> Compiled {
        let (engine, program) = (self.engine.clone(), Arc::clone(&self.program));
        Compiled { engine, program, memory: Mutex::default(), is_twin: self.is_twin }
    }
}

impl Program {
    #[inline]
    fn affordable_bytes(&self) -> usize {
        self.measured.get().map_or(self.surely_affordable, |measured| measured.affordable_bytes)
    }

    fn measured(&self) -> &Measured {
        self.measured.get_or_init(|| {
            // The engine has compiled it, so there is one; if there were none, nothing was known.
            let hir = pattern::hir(&self.query);
            let width = hir.as_ref().map_or(usize::MAX, pattern::width).max(1);
            Measured {
                affordable_bytes: (self.work_per_look / width).max(1),
                max_match_bytes: hir.and_then(|hir| hir.properties().maximum_len()),
                bytes_per_look: (self.work_per_look / width / 8).clamp(1, MAX_BYTES_PER_LOOK),
            }
        })
    }

    fn stepped(&self) -> Option<&Stepped> {
        let build = || {
            // Two caches beside the two of the engine: together they take what one more would.
            let (max_cache_bytes, looks) = (self.max_dfa_bytes / 2, self.measured().bytes_per_look);
            Stepped::new(&self.query, self.max_regex_bytes, max_cache_bytes, looks)
        };
        self.stepped.get_or_init(build).as_ref()
    }
}

/// Where a haystack can be cut without cutting a match, or what an assertion at its edge sees.
fn cut(query: &Query, engine: &RegexMatcher) -> Option<Cut> {
    match engine.line_terminator() {
        // `$` is not where such a line ends.
        Some(terminator) if terminator.as_byte() == 0 => None,
        Some(terminator) if terminator.is_crlf() => Some(Cut::BeforeCrlf),
        Some(_) => Some(Cut::BeforeLf),
        None if query.terminator == Terminator::Nul => None,
        None => engine
            .non_matching_bytes()
            .is_some_and(|bytes| bytes.contains(b'\n'))
            .then_some(Cut::BeforeLf),
    }
}

/// Before anything is parsed: the limit on what is compiled is heard too late.
fn check_size(query: &Query, limits: &Limits) -> Result<()> {
    let refused = |message: String, limit: &str| {
        let hint = format!("search for less at a time, or raise `Limits::{limit}`");
        Err(Error::new(ErrorCode::PatternTooLarge, message).with_hint(hint))
    };
    let (patterns, max) = (query.patterns.len(), limits.max_patterns);
    if patterns > max {
        let message = format!("{patterns} patterns are over max_patterns ({max})");
        return refused(message, "max_patterns");
    }
    let bytes: usize = query.patterns.iter().map(String::len).sum();
    let (max, name) = match pattern::is_plain(query) {
        true => (limits.max_literal_bytes, "max_literal_bytes"),
        false => (limits.max_pattern_bytes, "max_pattern_bytes"),
    };
    match bytes > max {
        true => refused(format!("the patterns have {bytes} bytes, over {name} ({max})"), name),
        false => Ok(()),
    }
}

/// The engine as ripgrep sets it up. The order of calls counts: `crlf` sets the line terminator.
fn builder(query: &Query, limits: &Limits) -> RegexMatcherBuilder {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(query.unicode)
        .octal(false)
        .fixed_strings(query.fixed_strings)
        .nest_limit(limits.max_nesting)
        .size_limit(limits.max_regex_bytes)
        .dfa_size_limit(limits.max_dfa_bytes);
    match query.case {
        Case::Sensitive => builder.case_insensitive(false),
        Case::Insensitive => builder.case_insensitive(true),
        Case::Smart => builder.case_smart(true),
    };
    match query.boundary {
        Boundary::Anywhere => &mut builder,
        Boundary::Word => builder.word(true),
        Boundary::Line => builder.whole_line(true),
    };
    let crlf = query.terminator == Terminator::Crlf;
    if query.multi_line == MultiLine::Off {
        builder.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        if crlf {
            builder.crlf(true);
        }
        if query.terminator == Terminator::Nul {
            builder.line_terminator(Some(0));
        }
    } else {
        builder.dot_matches_new_line(query.multi_line == MultiLine::DotAll);
        if crlf {
            builder.crlf(true).line_terminator(None);
        }
    }
    // A NUL cannot be found where binary detection takes it for the end of the text.
    if query.binary != Binary::Text && query.terminator != Terminator::Nul {
        builder.ban_byte(Some(0));
    }
    builder
}

fn refusal(query: &Query, limits: &Limits, error: &grep_regex::Error) -> Error {
    match error.kind() {
        ErrorKind::NotAllowed(literal) => Error::new(
            ErrorCode::InvalidPattern,
            format!("the literal {literal:?} is a line terminator and cannot match within a line"),
        )
        .with_hint("search across lines with `multi_line`, or leave it out of the pattern"),
        ErrorKind::Banned(byte) => Error::new(
            ErrorCode::InvalidPattern,
            format!("the pattern contains {byte:#04x}, which cannot match while binary files are detected"),
        )
        .with_hint("search binary files as text with `Binary::Text`"),
        ErrorKind::Regex(message) if message.starts_with("compiled regex exceeds size limit") => {
            let limit = limits.max_regex_bytes;
            Error::new(
                ErrorCode::PatternTooLarge,
                format!("the compiled pattern is over max_regex_bytes ({limit})"),
            )
            .with_hint("use smaller counted repetitions, or raise `Limits::max_regex_bytes`")
        }
        ErrorKind::Regex(message) => syntax_error(query, limits).unwrap_or_else(|| {
            Error::new(ErrorCode::InvalidPattern, message.clone())
        }),
        other => Error::new(ErrorCode::InvalidPattern, format!("{other:?}")),
    }
}

/// The engine tells a syntax error as a page of text, about all patterns joined into one. Parsing
/// them again one by one tells which it is, and where in it.
fn syntax_error(query: &Query, limits: &Limits) -> Option<Error> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .nest_limit(limits.max_nesting)
        .utf8(false)
        .multi_line(true)
        .unicode(query.unicode)
        .crlf(query.terminator == Terminator::Crlf)
        .build();
    query.patterns.iter().enumerate().find_map(|(index, pattern)| {
        let error = parser.parse(pattern).err()?;
        let (span, kind, hint) = match &error {
            regex_syntax::Error::Parse(error) => {
                (error.span(), error.kind().to_string(), hint(error.kind()))
            }
            regex_syntax::Error::Translate(error) => (error.span(), error.kind().to_string(), None),
            _ => return None,
        };
        let hint =
            hint.unwrap_or("write special characters with a `\\`, or search for fixed strings");
        Some(
            Error::new(ErrorCode::InvalidPattern, format!("regex parse error: {kind}"))
                .with_span(index, span.start.offset..span.end.offset)
                .with_hint(hint),
        )
    })
}

fn hint(kind: &ast::ErrorKind) -> Option<&'static str> {
    use ast::ErrorKind::*;
    Some(match kind {
        UnsupportedLookAround | UnsupportedBackreference => {
            "look-around and back-references do not exist here; match more, and filter the lines"
        }
        RepetitionCountUnclosed
        | RepetitionCountInvalid
        | RepetitionCountDecimalEmpty
        | DecimalEmpty
        | DecimalInvalid => "a literal `{` is written `\\{`",
        RepetitionMissing => "a literal `*`, `+`, `?` or `{` is written with a `\\` before it",
        GroupUnclosed => "a literal `(` is written `\\(`",
        GroupUnopened => "a literal `)` is written `\\)`",
        ClassUnclosed => "a literal `[` is written `\\[`",
        EscapeUnrecognized => "a literal backslash is written `\\\\`",
        NestLimitExceeded(_) => "nest fewer groups, or raise `Limits::max_nesting`",
        _ => return None,
    })
}
