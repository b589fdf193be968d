//! One line as a model sees it: cut to a number of bytes, with the matches' places kept right.

use crate::matches::Line;
use crate::text::floor_char_boundary;

const NOT_UTF8: &str = "(line is not valid UTF-8)";
const TRUNCATED: &str = " (line truncated)";
const CUT: &str = "…";

/// Which part of a long line is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Window {
    /// Its beginning, and ` (line truncated)` after it.
    #[default]
    Head,
    /// The part around the first match, with `…` where it was cut. In a minified file the
    /// beginning tells nothing.
    FirstMatch,
}

/// A line cut for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Preview {
    pub(super) text: String,
    /// The matches in `text`, in bytes.
    pub(super) spans: Vec<[usize; 2]>,
    pub(super) truncated: bool,
}

pub(super) fn preview(line: &Line<'_>, max_bytes: usize, window: Window) -> Preview {
    let bare = line.bytes.strip_suffix(b"\n").unwrap_or(line.bytes);
    let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
    let Ok(text) = std::str::from_utf8(bare) else {
        return Preview { text: NOT_UTF8.to_string(), spans: Vec::new(), truncated: false };
    };
    if text.len() <= max_bytes && !line.cut {
        return Preview {
            text: text.to_string(),
            spans: shifted(line, 0, text.len(), 0),
            truncated: false,
        };
    }
    let first = line.spans.first().copied();
    let start = match (window, first) {
        (Window::FirstMatch, Some(span)) => {
            // As much before the match as after it, and the match's start at least.
            let spare = max_bytes.saturating_sub(span.end - span.start);
            let last = text.len().saturating_sub(max_bytes);
            ceil_char_boundary(text, span.start.saturating_sub(spare / 2).min(last))
        }
        _ => 0,
    };
    let end = start + floor_char_boundary(&text.as_bytes()[start..], max_bytes);
    let after = end < text.len() || line.cut;
    let (before_mark, after_mark) = match window {
        Window::Head => ("", if after { TRUNCATED } else { "" }),
        Window::FirstMatch => (if start > 0 { CUT } else { "" }, if after { CUT } else { "" }),
    };
    Preview {
        text: format!("{before_mark}{}{after_mark}", &text[start..end]),
        spans: shifted(line, start, end, before_mark.len()),
        truncated: true,
    }
}

/// The spans within `start..end`, clipped to it, as they lie behind `offset` further bytes.
fn shifted(line: &Line<'_>, start: usize, end: usize, offset: usize) -> Vec<[usize; 2]> {
    let place = |at: usize| at.clamp(start, end) - start + offset;
    line.spans
        .iter()
        .filter(|span| span.start <= end && span.end >= start)
        .filter(|span| span.start == span.end || (span.start < end && span.end > start))
        .map(|span| [place(span.start), place(span.end)])
        .collect()
}

fn ceil_char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
