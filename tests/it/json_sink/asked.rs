//! One search of one file, asked of ripgrep's own printer and of us. Shared with the fuzz target of
//! the same name, which is a package of its own.

use grep_printer::JSONBuilder;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ingrep::CancelToken;
use ingrep::rg::Command;
use std::path::Path;

/// A search of one named file, in the words of ripgrep's flags.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) patterns: Vec<String>,
    pub(crate) haystack: Vec<u8>,
    pub(crate) multiline: bool,
    pub(crate) dotall: bool,
    pub(crate) invert: bool,
    pub(crate) passthru: bool,
    pub(crate) before: usize,
    pub(crate) after: usize,
    pub(crate) terminator: Terminator,
    pub(crate) max_count: Option<u64>,
    pub(crate) stop_on_nonmatch: bool,
    pub(crate) replace: Option<&'static str>,
    pub(crate) boundary: Option<&'static str>,
    pub(crate) case: Option<&'static str>,
    pub(crate) fixed: bool,
    pub(crate) unicode: bool,
    pub(crate) text: bool,
    pub(crate) numbers: bool,
    pub(crate) whole: bool,
    /// `--regex-size-limit`, so that a pattern's compilation takes no seconds.
    pub(crate) regex_bytes: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminator {
    Lf,
    Crlf,
    Nul,
}

impl Asked {
    pub(crate) fn plain() -> Asked {
        Asked {
            patterns: Vec::new(),
            haystack: Vec::new(),
            multiline: false,
            dotall: false,
            invert: false,
            passthru: false,
            before: 0,
            after: 0,
            terminator: Terminator::Lf,
            max_count: None,
            stop_on_nonmatch: false,
            replace: None,
            boundary: None,
            case: None,
            fixed: false,
            unicode: true,
            text: false,
            numbers: true,
            whole: true,
            regex_bytes: None,
        }
    }

    pub(crate) fn args(&self) -> Vec<String> {
        let mut args = vec!["--json".to_string()];
        let mut push = |on: bool, arg: &str| args.extend(on.then(|| arg.to_string()));
        // Multi-line search and stopping rule each other out; the last one counts.
        push(self.stop_on_nonmatch, "--stop-on-nonmatch");
        push(self.multiline, "-U");
        push(self.dotall, "--multiline-dotall");
        push(self.invert, "-v");
        push(self.terminator == Terminator::Crlf, "--crlf");
        push(self.terminator == Terminator::Nul, "--null-data");
        push(self.fixed, "-F");
        push(!self.unicode, "--no-unicode");
        push(self.text, "-a");
        push(!self.numbers, "-N");
        push(!self.whole, "--no-mmap");
        push(self.passthru, "--passthru");
        if !self.passthru {
            args.extend([format!("-B{}", self.before), format!("-A{}", self.after)]);
        }
        args.extend(self.max_count.map(|count| format!("-m{count}")));
        args.extend(self.replace.map(|template| format!("--replace={template}")));
        args.extend(self.regex_bytes.map(|bytes| format!("--regex-size-limit={bytes}")));
        args.extend(self.boundary.into_iter().chain(self.case).map(str::to_string));
        args.extend(self.patterns.iter().map(|pattern| format!("--regexp={pattern}")));
        args.push("f".to_string());
        args
    }
}

/// What ripgrep's printer writes. `None` when the pattern is refused.
pub(crate) fn printed(asked: &Asked) -> Option<Vec<u8>> {
    let mut matcher = RegexMatcherBuilder::new();
    matcher.multi_line(true).unicode(asked.unicode).octal(false).fixed_strings(asked.fixed);
    if let Some(bytes) = asked.regex_bytes {
        matcher.size_limit(bytes);
    }
    match asked.case {
        Some("-i") => matcher.case_insensitive(true),
        Some("-S") => matcher.case_smart(true),
        _ => &mut matcher,
    };
    match asked.boundary {
        Some("-x") => matcher.whole_line(true),
        Some("-w") => matcher.word(true),
        _ => &mut matcher,
    };
    if asked.multiline {
        matcher.dot_matches_new_line(asked.dotall);
        if asked.terminator == Terminator::Crlf {
            matcher.crlf(true).line_terminator(None);
        }
    } else {
        matcher.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        match asked.terminator {
            Terminator::Lf => &mut matcher,
            Terminator::Crlf => matcher.crlf(true),
            Terminator::Nul => matcher.line_terminator(Some(0)),
        };
    }
    let binary = !asked.text && asked.terminator != Terminator::Nul;
    if binary {
        matcher.ban_byte(Some(0));
    }
    let mut seen = Vec::new();
    asked.patterns.iter().for_each(|pattern| {
        if !seen.contains(pattern) {
            seen.push(pattern.clone());
        }
    });
    let matcher = matcher.build_many(&seen).ok()?;
    let mut searcher = SearcherBuilder::new();
    searcher
        .line_terminator(match asked.terminator {
            Terminator::Lf => grep_matcher::LineTerminator::byte(b'\n'),
            Terminator::Crlf => grep_matcher::LineTerminator::crlf(),
            Terminator::Nul => grep_matcher::LineTerminator::byte(0),
        })
        .max_matches(asked.max_count)
        .invert_match(asked.invert)
        .line_number(asked.numbers)
        .multi_line(asked.multiline)
        .stop_on_nonmatch(asked.stop_on_nonmatch && !asked.multiline)
        .passthru(asked.passthru)
        .before_context(if asked.passthru { 0 } else { asked.before })
        .after_context(if asked.passthru { 0 } else { asked.after });
    searcher.binary_detection(match binary {
        true => BinaryDetection::convert(0),
        false => BinaryDetection::none(),
    });
    let mut searcher = searcher.build();
    let template = asked.replace.map(|template| template.as_bytes().to_vec());
    let mut printer = JSONBuilder::new().replacement(template).build(Vec::new());
    let sink = printer.sink_with_path(&matcher, Path::new("f"));
    // An empty file is never mapped.
    let searched = match asked.whole && !asked.haystack.is_empty() {
        true => searcher.search_slice(&matcher, &asked.haystack, sink),
        false => searcher.search_reader(&matcher, &asked.haystack[..], sink),
    };
    searched.ok()?;
    Some(printer.into_inner())
}

/// What we write, without the summary.
pub(crate) fn lines(asked: &Asked) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), &asked.haystack).unwrap();
    let output = Command::new(dir.path()).args(asked.args()).output(&CancelToken::new()).unwrap();
    let summary = output.stdout.windows(2).rposition(|end| end == b"\n{").map_or(0, |at| at + 1);
    output.stdout[..summary].to_vec()
}
