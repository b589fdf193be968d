//! A long line as a model sees it: never too long, never cut within a character, and its spans are
//! where the matches are.

use crate::{Choices, parts, tree};
use ingrep::tools::{GrepInput, Tools, Window};
use ingrep::{CancelToken, Line, Pool, Query, Span};
use std::fs;
use std::sync::LazyLock;

static DIR: LazyLock<tempfile::TempDir> = LazyLock::new(tree::directory);

const NOT_UTF8: &str = "(line is not valid UTF-8)";
const TRUNCATED: &str = " (line truncated)";
const CUT: &str = "…";

/// Two bytes of choices, a pattern, and the file.
pub fn run(data: &[u8]) {
    let (mut choices, rest) = Choices::cut(data, 2);
    let max_bytes = usize::from(choices.byte());
    let window = choices.one_of(&[Window::Head, Window::FirstMatch]);
    let mut parts = parts(rest, 2);
    let (Some(pattern), Some(haystack)) = (parts.next(), parts.next()) else { return };
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    if pattern.len() > 60 || haystack.len() > 2_000 {
        return;
    }
    let path = DIR.path().join("f");
    fs::write(&path, haystack).unwrap();
    let tools = Tools::new(DIR.path()).pool(&Pool::inline()).timeout(None);
    let tools = tools.grep_max_line_bytes(max_bytes).window(window).meta_max_bytes(usize::MAX);
    let tools = tools.grep_max_matches(u64::MAX);
    let Ok(reply) = tools.grep(&GrepInput::new(pattern).path("f"), &CancelToken::new()) else {
        return;
    };
    // The same by the engine alone, whole.
    let query = Query::new(pattern);
    let search = query.compile().expect("the tool compiled it");
    let found = search.search_file(&path).expect("the tool searched it");
    let lines: Vec<Line<'_>> = found.lines().collect();
    let shown: Vec<_> = reply.files.iter().flat_map(|file| &file.matches).collect();
    if found.binary_offset.is_none() {
        assert_eq!(lines.len(), shown.len(), "as many lines as matches");
        assert_eq!(reply.total, lines.len() as u64);
    }
    for (line, shown) in lines.iter().zip(&shown) {
        assert_eq!(line.number, Some(shown.line));
        check(line, &shown.text, &shown.spans, shown.truncated, max_bytes, window);
    }
    let text = &reply.text;
    assert!(shown.iter().all(|one| text.contains(&one.text)), "the text has what the data has");
}

fn check(
    line: &Line<'_>,
    text: &str,
    spans: &[[usize; 2]],
    truncated: bool,
    max_bytes: usize,
    window: Window,
) {
    let bare = line.bytes.strip_suffix(b"\n").unwrap_or(line.bytes);
    let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
    let Ok(whole) = std::str::from_utf8(bare) else {
        assert_eq!((text, spans, truncated), (NOT_UTF8, &[][..], false));
        return;
    };
    assert_eq!(truncated, whole.len() > max_bytes, "{whole:?} to {max_bytes}: {text:?}");
    // The first place at which what is shown may have been cut out. Two cuts can look the same, so
    // every such place is tried for the spans.
    let kept: Vec<(usize, usize, usize)> = match (truncated, window) {
        (false, _) => vec![(0, whole.len(), 0)],
        (true, Window::Head) => {
            let core = text.strip_suffix(TRUNCATED).expect("a cut is marked");
            assert!(whole.starts_with(core));
            vec![(0, core.len(), 0)]
        }
        (true, _) => {
            let places = (0..=whole.len()).filter(|&at| whole.is_char_boundary(at));
            places.flat_map(|start| ends(whole, text, start)).collect()
        }
    };
    assert!(!kept.is_empty(), "{text:?} is no part of {whole:?}");
    let naive = |&(start, end, mark): &(usize, usize, usize)| {
        end - start <= max_bytes.max(if truncated { 0 } else { end })
            && spans == &*moved(line.spans, start, end, mark)
    };
    assert!(
        kept.iter().any(naive),
        "{whole:?} {:?} to {max_bytes}: {text:?} {spans:?}",
        line.spans
    );
    // As much is shown as there is room for, to a character.
    let most = kept.iter().map(|(start, end, _)| end - start).max().unwrap_or(0);
    assert!(!truncated || most + 4 > max_bytes, "{whole:?} to {max_bytes}: {text:?}");
    for [start, end] in spans {
        assert!(start <= end && *end <= text.len(), "{text:?} {spans:?}");
    }
    // The first match is why the line is there. A character that does not fit shows nothing.
    if truncated
        && window == Window::FirstMatch
        && max_bytes >= 4
        && let Some(first) = line.spans.first()
        && first.end > first.start
        && first.start < whole.len()
    {
        assert!(!spans.is_empty(), "{whole:?} {first:?} to {max_bytes}: {text:?}");
    }
}

/// Where what is shown may end if it was cut out from `start` on, and the bytes of the mark before.
fn ends(whole: &str, text: &str, start: usize) -> Option<(usize, usize, usize)> {
    let mark = if start > 0 { CUT } else { "" };
    let core = text.strip_prefix(mark)?;
    if whole[start..] == *core {
        return Some((start, whole.len(), mark.len()));
    }
    let core = core.strip_suffix(CUT)?;
    let is_cut = whole[start..].starts_with(core) && start + core.len() < whole.len();
    is_cut.then_some((start, start + core.len(), mark.len()))
}

/// The spans that touch what is shown, clipped to it. An empty one at its edge is in it.
fn moved(spans: &[Span], start: usize, end: usize, mark: usize) -> Vec<[usize; 2]> {
    let mut moved = Vec::new();
    for span in spans {
        let (from, to) = (span.start.max(start), span.end.min(end));
        let is_empty = span.start == span.end;
        if from < to || (is_empty && from == to) {
            moved.push([from - start + mark, to - start + mark]);
        }
    }
    moved
}
