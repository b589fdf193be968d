//! The regular expression that the engine makes of a query, made once more, and what it can cost.
//!
//! The engine keeps its own to itself. What is made here has to match the same: the tests of this
//! room compare the two.

use crate::query::{Boundary, Case, MultiLine, Query, Terminator};
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};

/// What a class of characters counts for: the longest character has four bytes.
const CLASS_WIDTH: usize = 5;

/// No limit allows more.
const MAX_NESTING: u32 = 250;

/// `None` for patterns that the engine has refused.
pub(super) fn hir(query: &Query) -> Option<Hir> {
    let hir = if is_plain(query) {
        Hir::alternation(query.patterns.iter().map(|text| Hir::literal(text.as_bytes())).collect())
    } else {
        strip(parse(query, MAX_NESTING)?, terminators(query))
    };
    let crlf = query.terminator == Terminator::Crlf;
    let (before, after) = match (query.boundary, crlf, query.unicode) {
        (Boundary::Anywhere, ..) => return Some(hir),
        (Boundary::Line, true, _) => (Look::StartCRLF, Look::EndCRLF),
        (Boundary::Line, false, _) => (Look::StartLF, Look::EndLF),
        (Boundary::Word, _, true) => (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode),
        (Boundary::Word, _, false) => (Look::WordStartHalfAscii, Look::WordEndHalfAscii),
    };
    Some(Hir::concat(vec![Hir::look(before), hir, Hir::look(after)]))
}

/// Whether the patterns are text that matches itself.
pub(super) fn is_plain(query: &Query) -> bool {
    let is_text = |text: &String| !text.chars().any(regex_syntax::is_meta_character);
    query.case == Case::Sensitive && (query.fixed_strings || query.patterns.iter().all(is_text))
}

/// The patterns as one, before anything is taken from their classes. `None` for what is refused.
pub(super) fn parse(query: &Query, max_nesting: u32) -> Option<Hir> {
    let group = |text: &String| match query.fixed_strings {
        true => format!("(?:{})", regex_syntax::escape(text)),
        false => format!("(?:{text})"),
    };
    let joined = query.patterns.iter().map(group).collect::<Vec<_>>().join("|");
    let mut parser = ast::parse::ParserBuilder::new().nest_limit(max_nesting).build();
    let ast = parser.parse(&joined).ok()?;
    let insensitive = match query.case {
        Case::Sensitive => false,
        Case::Insensitive => true,
        Case::Smart => ast::visit(&ast, Letters::default()).is_ok_and(|seen| seen),
    };
    regex_syntax::hir::translate::TranslatorBuilder::new()
        .utf8(false)
        .case_insensitive(insensitive)
        .multi_line(true)
        .dot_matches_new_line(query.multi_line == MultiLine::DotAll)
        .crlf(query.terminator == Terminator::Crlf)
        .unicode(query.unicode)
        .build()
        .translate(&joined, &ast)
        .ok()
}

/// Finds out whether there are letters, and none in upper case.
#[derive(Default)]
struct Letters {
    any: bool,
    upper: bool,
}

impl Letters {
    fn see(&mut self, literal: &ast::Literal) {
        self.any = true;
        self.upper |= literal.c.is_uppercase();
    }
}

impl ast::Visitor for Letters {
    type Output = bool;
    type Err = ();

    fn finish(self) -> Result<bool, ()> {
        Ok(self.any && !self.upper)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        if let Ast::Literal(literal) = ast {
            self.see(literal);
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), ()> {
        match item {
            ast::ClassSetItem::Literal(literal) => self.see(literal),
            ast::ClassSetItem::Range(range) => {
                self.see(&range.start);
                self.see(&range.end);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The bytes that no class may hold, so that no match spans lines.
pub(super) fn terminators(query: &Query) -> &'static [u8] {
    match (query.multi_line, query.terminator) {
        (MultiLine::Off, Terminator::Lf) => b"\n",
        (MultiLine::Off, Terminator::Crlf) => b"\r\n",
        (MultiLine::Off, Terminator::Nul) => b"\0",
        _ => b"",
    }
}

pub(super) fn strip(hir: Hir, bytes: &[u8]) -> Hir {
    if bytes.is_empty() {
        return hir;
    }
    let all = |parts: Vec<Hir>| parts.into_iter().map(|part| strip(part, bytes)).collect();
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Class(Class::Unicode(mut class)) => {
            let range = |&byte: &u8| ClassUnicodeRange::new(byte.into(), byte.into());
            class.difference(&ClassUnicode::new(bytes.iter().map(range)));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            let range = |&byte: &u8| ClassBytesRange::new(byte, byte);
            class.difference(&ClassBytes::new(bytes.iter().map(range)));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(strip(*repetition.sub, bytes));
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(strip(*capture.sub, bytes));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
    }
}

/// How many places in the pattern the engine can be at one time, about: that many times a few
/// nanoseconds is what a byte costs at worst.
pub(super) fn width(hir: &Hir) -> usize {
    let sum = |parts: &[Hir]| parts.iter().map(width).fold(0, usize::saturating_add);
    match hir.kind() {
        HirKind::Empty => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Bytes(_)) | HirKind::Look(_) => 1,
        HirKind::Class(Class::Unicode(_)) => CLASS_WIDTH,
        HirKind::Capture(capture) => width(&capture.sub).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
            match width(&repetition.sub) {
                0 => 0,
                width => width.saturating_add(1).saturating_mul(times),
            }
        }
        HirKind::Concat(parts) => sum(parts),
        // Plain texts become one tree, in which each beginning takes one place.
        HirKind::Alternation(parts) if hir.properties().is_alternation_literal() => {
            parts.iter().map(width).max().unwrap_or(0).saturating_add(1)
        }
        HirKind::Alternation(parts) => sum(parts).saturating_add(parts.len()),
    }
}

/// A number that [`width`] is not above, read off the text: to parse it takes longer than many a
/// search. `None` where there are counted repetitions.
pub(super) fn width_at_most(query: &Query) -> Option<usize> {
    let bytes: usize = query.patterns.iter().map(|text| text.len() + 1).sum();
    let counted = |text: &String| text.contains('{');
    match query.fixed_strings || !query.patterns.iter().any(counted) {
        true => Some((CLASS_WIDTH + 1) * (bytes + 2)),
        false => None,
    }
}
