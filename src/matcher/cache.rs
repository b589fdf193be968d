//! Compiled patterns, kept for the next query that asks for the same.

use super::Matcher;
use crate::error::Result;
use crate::limits::Limits;
use crate::query::Query;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// A model that greps comes back to a dozen patterns.
const MAX_PATTERNS: usize = 64;

/// Sixty patterns with a large class.
const MAX_BYTES: usize = 64 << 20;

/// How often somebody else may be seen to look something up, which takes a microsecond. In a child
/// that was forked meanwhile he looks for ever.
const LOOKS_AT_LOCK: usize = 64;

/// Compiled patterns, kept for the next call that asks for the same: what repeated calls share. Cheap to
/// clone; clones share what is kept.
///
/// Give one to each [`SearchBuilder::cache`](crate::SearchBuilder::cache) or
/// [`rg::Command::cache`](crate::rg::Command::cache). Nothing is kept unless you do, but by
/// [`Tools`](crate::tools::Tools), which have one of their own. The results are the same with it and
/// without, and so are all errors: a pattern is the same only if all is that decides what it compiles to,
/// limits included.
///
/// ```
/// use ingrep::{Limits, PatternCache, Query};
///
/// let cache = PatternCache::new();
/// let word = || Query::new(r"\w+").limits(Limits::new()).cache(&cache);
/// assert!(word().compile()?.search_slice("a", b"one")?.lines_matched == 1);
/// assert_eq!(cache.patterns(), 1);
/// // Compiled before.
/// assert!(word().compile()?.search_slice("b", b"two")?.lines_matched == 1);
/// assert_eq!(cache.patterns(), 1);
/// # Ok::<(), ingrep::Error>(())
/// ```
#[derive(Clone)]
pub struct PatternCache(Arc<Inner>);

struct Inner {
    /// The one that was asked for last is the last.
    kept: Mutex<Vec<Kept>>,
    max_patterns: AtomicUsize,
    max_bytes: AtomicUsize,
}

struct Kept {
    key: Key,
    matcher: Matcher,
    bytes: usize,
}

/// All that decides what a query compiles to, and whether it is refused.
#[derive(PartialEq)]
struct Key {
    query: Query,
    sizes: [usize; 5],
    max_nesting: u32,
}

impl Key {
    fn new(query: &Query, limits: &Limits) -> Key {
        // What is done with a match is not compiled.
        let query = query
            .clone()
            .allow_empty(false)
            .invert(false)
            .context(0)
            .passthru(false)
            .max_count(None)
            .stop_on_nonmatch(false)
            .line_numbers(true)
            .replacement(None::<Vec<u8>>);
        let sizes = [
            limits.max_patterns,
            limits.max_pattern_bytes,
            limits.max_literal_bytes,
            limits.max_regex_bytes,
            limits.max_dfa_bytes,
        ];
        Key { query, sizes, max_nesting: limits.max_nesting }
    }
}

impl PatternCache {
    /// A cache that keeps nothing yet, and by default up to 64 patterns that take up to 64 MiB, as
    /// estimated.
    pub fn new() -> PatternCache {
        PatternCache(Arc::new(Inner {
            kept: Mutex::default(),
            max_patterns: AtomicUsize::new(MAX_PATTERNS),
            max_bytes: AtomicUsize::new(MAX_BYTES),
        }))
    }

    /// The most patterns that are kept; of more, those not asked for the longest go. Default: 64. It
    /// holds for all clones, from the next pattern on.
    pub fn max_patterns(self, patterns: usize) -> PatternCache {
        self.0.max_patterns.store(patterns, Ordering::Relaxed);
        self
    }

    /// The most bytes that all kept patterns may take, as estimated; a pattern over it is not kept.
    /// Default: 64 MiB. It holds for all clones, from the next pattern on.
    ///
    /// ```
    /// use ingrep::{Limits, PatternCache, Query};
    ///
    /// let cache = PatternCache::new().max_bytes(100);
    /// Query::new(r"\w+").limits(Limits::new()).cache(&cache).compile()?;
    /// assert_eq!((cache.patterns(), cache.bytes()), (0, 0));
    /// # Ok::<(), ingrep::Error>(())
    /// ```
    pub fn max_bytes(self, bytes: usize) -> PatternCache {
        self.0.max_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// How many patterns are kept.
    pub fn patterns(&self) -> usize {
        self.kept().map_or(0, |kept| kept.len())
    }

    /// How many bytes they take, as estimated: more than most do.
    pub fn bytes(&self) -> usize {
        self.kept().map_or(0, |kept| kept.iter().map(|kept| kept.bytes).sum())
    }

    /// The matcher of a query, from here if it is kept.
    pub(crate) fn compile(&self, query: &Query, limits: &Limits) -> Result<Matcher> {
        let key = Key::new(query, limits);
        if let Some(matcher) = self.find(&key) {
            return Ok(matcher);
        }
        let matcher = Matcher::compile(query, limits)?;
        let bytes = matcher.estimated_bytes();
        self.keep(Kept { key, matcher: matcher.clone(), bytes });
        Ok(matcher)
    }

    fn find(&self, key: &Key) -> Option<Matcher> {
        let mut kept = self.kept()?;
        let place = kept.iter().rposition(|kept| kept.key == *key)?;
        kept[place..].rotate_left(1);
        kept.last().map(|kept| kept.matcher.clone())
    }

    fn keep(&self, new: Kept) {
        let most = self.0.max_bytes.load(Ordering::Relaxed);
        let (Some(mut kept), true) = (self.kept(), new.bytes <= most) else { return };
        // Two may have compiled it at one time.
        kept.retain(|kept| kept.key != new.key);
        kept.push(new);
        let mut bytes: usize = kept.iter().map(|kept| kept.bytes).sum();
        let max_patterns = self.0.max_patterns.load(Ordering::Relaxed);
        while kept.len() > max_patterns || bytes > most {
            bytes -= kept.remove(0).bytes;
        }
    }

    /// What is kept, or nothing rather than to wait for whoever may not be there any more.
    fn kept(&self) -> Option<MutexGuard<'_, Vec<Kept>>> {
        (0..LOOKS_AT_LOCK).find_map(|_| match self.0.kept.try_lock() {
            Ok(kept) => Some(kept),
            Err(TryLockError::Poisoned(kept)) => Some(PoisonError::into_inner(kept)),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                None
            }
        })
    }
}

impl Default for PatternCache {
    fn default() -> PatternCache {
        PatternCache::new()
    }
}

impl fmt::Debug for PatternCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (patterns, bytes) = (self.patterns(), self.bytes());
        f.debug_struct("PatternCache").field("patterns", &patterns).field("bytes", &bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Binary, Boundary, Case, Encoding, MultiLine, Terminator};

    /// Whether they are clones of one compilation.
    fn is_same(one: &Result<Matcher>, other: &Result<Matcher>) -> bool {
        let (Ok(one), Ok(other)) = (one, other) else { panic!("a good pattern") };
        Arc::ptr_eq(&one.source, &other.source)
    }

    #[test]
    fn what_is_asked_for_again_is_not_compiled_again() {
        let (cache, limits) = (PatternCache::new(), Limits::new());
        let query = Query::new(r"\w+");
        let first = cache.compile(&query, &limits);
        assert!(is_same(&first, &cache.compile(&query, &limits)));
        assert!(is_same(&first, &cache.clone().compile(&query, &limits.clone().max_lines(1))));
        // Nor is what a search meanwhile has compiled for text that is not ASCII.
        assert!(first.is_ok_and(|matcher| matcher.full().is_ok()));
        let again = cache.compile(&query, &limits);
        assert!(again.is_ok_and(|matcher| matcher.source.full.get().is_some()));
        let replaced = query.replacement(Some("x")).invert(true).context(3).line_numbers(false);
        assert_eq!(cache.compile(&replaced, &limits).is_ok().then_some(cache.patterns()), Some(1));
    }

    #[test]
    fn whatever_decides_what_is_compiled_makes_another_pattern() {
        let (cache, limits) = (PatternCache::new(), Limits::new());
        let query = || Query::new("(?:a)");
        let others = [
            Query::new("(?:b)"),
            query().pattern("b"),
            query().fixed_strings(true),
            query().case(Case::Insensitive),
            query().case(Case::Smart),
            query().boundary(Boundary::Word),
            query().boundary(Boundary::Line),
            query().terminator(Terminator::Crlf),
            query().terminator(Terminator::Nul),
            query().multi_line(MultiLine::On),
            query().multi_line(MultiLine::DotAll),
            query().unicode(false),
            query().binary(Binary::Text),
            query().encoding(Encoding::Label("utf-16le".into())),
        ];
        let others = others.into_iter().map(|other| (other, limits.clone()));
        let limits = [
            limits.clone(),
            limits.clone().max_patterns(7),
            limits.clone().max_pattern_bytes(7_000),
            limits.clone().max_literal_bytes(7_000),
            limits.clone().max_nesting(7),
            limits.clone().max_regex_bytes(70_000),
            limits.clone().max_dfa_bytes(70_000),
        ];
        let all: Vec<_> = others.chain(limits.map(|limits| (query(), limits))).collect();
        let all: Vec<_> = all.iter().map(|(query, limits)| cache.compile(query, limits)).collect();
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| !is_same(one, other)), "{at}");
        }
        assert_eq!(cache.patterns(), all.len());
    }

    #[test]
    fn refusals_are_told_again_and_not_kept() {
        let (cache, limits) = (PatternCache::new(), Limits::new());
        for _ in 0..2 {
            assert!(cache.compile(&Query::new("("), &limits).is_err());
            assert!(cache.compile(&Query::new("(a)"), &limits).is_ok());
            let tight = limits.clone().max_pattern_bytes(2);
            assert!(cache.compile(&Query::new("(a)"), &tight).is_err());
        }
        assert_eq!(cache.patterns(), 1);
    }

    #[test]
    fn those_not_asked_for_the_longest_go() {
        let limits = Limits::new();
        let cache = PatternCache::new().max_patterns(2);
        let [a, b, c] = ["a+", "b+", "c+"].map(Query::new);
        let first = cache.compile(&a, &limits);
        let second = cache.compile(&b, &limits);
        assert!(is_same(&first, &cache.compile(&a, &limits)));
        assert!(cache.compile(&c, &limits).is_ok());
        assert_eq!(cache.patterns(), 2);
        assert!(is_same(&first, &cache.compile(&a, &limits)));
        assert!(!is_same(&second, &cache.compile(&b, &limits)));
        // Room for one, by bytes.
        let room = cache.bytes() / 2;
        let cache = cache.max_bytes(room);
        assert!(cache.compile(&c, &limits).is_ok());
        assert_eq!(cache.patterns(), 1);
        assert!(cache.bytes() <= room);
        assert!(cache.max_bytes(1).compile(&a, &limits).is_ok());
    }

    #[test]
    fn somebody_who_holds_the_lock_for_ever_is_done_without() {
        let (cache, limits) = (PatternCache::new(), Limits::new());
        let held = cache.0.kept.lock();
        assert!(cache.compile(&Query::new("a+"), &limits).is_ok());
        drop(held);
        assert_eq!(cache.patterns(), 0);
    }
}
