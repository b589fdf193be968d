//! In place of `layout` in a library without the feature `rg-text`: there is no layout, and so no
//! page. An argv that needs one was refused before.

use super::args::Args;
use super::print::Printed;
use crate::cancel::CancelToken;
use crate::matcher::Matcher;
use crate::scan::{Pending, Render};
use std::io::{self, Write};
use std::path::Path;

pub(super) enum Layout {}

impl Layout {
    pub(super) fn new(_: &Args, _: bool, _: bool, _: usize) -> Option<Layout> {
        None
    }

    pub(super) fn page(&self, _: &Path, _: &CancelToken) -> Page<'_> {
        match *self {}
    }

    pub(super) fn separator_of_totals(&self) -> &[u8] {
        match *self {}
    }
}

pub(super) enum PathLayout {}

impl PathLayout {
    pub(super) fn new(_: &Args) -> Option<PathLayout> {
        None
    }

    pub(super) fn write(&self, _: &Path, _: &mut dyn Write) -> io::Result<()> {
        match *self {}
    }
}

pub(super) struct Page<'a>(&'a Layout);

impl Page<'_> {
    pub(super) fn finish(self, _: bool) -> Printed {
        match *self.0 {}
    }
}

impl Render for Page<'_> {
    fn render(&mut self, _: &Matcher, _: Pending<'_>) -> io::Result<()> {
        match *self.0 {}
    }
}
