//! What is said on stderr: messages, and on a terminal how far a long run has come.

use ingrep::text::printable;
use ingrep::{Diagnostics, Error, Progress};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A run that is over sooner needs no progress line.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(200);

/// Diagnostics told in full; the others are counted.
const TOLD: usize = 5;

pub(crate) struct Status {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    line: Mutex<Line>,
    over: Condvar,
}

#[derive(Default)]
struct Line {
    shown: bool,
    over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Status {
    pub(crate) fn start(progress: &Progress) -> Status {
        let shared = Arc::new(Shared::default());
        let ticker = io::stderr().is_terminal().then(|| {
            let (shared, progress) = (Arc::clone(&shared), progress.clone());
            // Without the thread there is no progress line, and all else works.
            std::thread::Builder::new().spawn(move || tick(&shared, &progress)).ok()
        });
        Status { shared, ticker: ticker.flatten() }
    }

    /// Takes the progress line away, for as long as the returned value lives.
    pub(crate) fn hide(&self) -> impl Drop + '_ {
        let mut line = self.shared.lock();
        if std::mem::take(&mut line.shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
        line
    }

    pub(crate) fn say(&self, message: &str) {
        let _quiet = self.hide();
        let _ = writeln!(io::stderr(), "ingrep: {message}");
    }

    /// Tells an error, the place in the pattern, and what to try.
    pub(crate) fn error(&self, error: &Error, patterns: &[String]) {
        let mut text = printable(error.to_string().as_bytes()).into_owned();
        let pattern = error.pattern_index().and_then(|index| patterns.get(index));
        if let (Some(pattern), Some(span)) = (pattern, error.span())
            && !pattern.contains(char::is_control)
        {
            let column = pattern[..span.start].chars().count();
            let width = pattern[span].chars().count().max(1);
            let (indent, carets) = (" ".repeat(column), "^".repeat(width));
            text += &format!("\n    {pattern}\n    {indent}{carets}");
        }
        if let Some(hint) = error.hint() {
            text += &format!("\n{hint}");
        }
        self.say(&text);
    }

    pub(crate) fn skipped(&self, diagnostics: &Diagnostics) {
        let reasons: Vec<_> =
            diagnostics.counts().map(|(reason, n)| format!("{n} {}", reason.as_str())).collect();
        let mut text = format!("{} skipped: {}", diagnostics.total(), reasons.join(", "));
        for diagnostic in diagnostics.iter().take(TOLD) {
            text += &format!("\n    {}", printable(diagnostic.to_string().as_bytes()));
        }
        if diagnostics.total() > TOLD as u64 {
            text += "\n    ...";
        }
        self.say(&text);
    }
}

fn tick(shared: &Shared, progress: &Progress) {
    let mut wait = PATIENCE;
    let mut line = shared.lock();
    loop {
        line = shared.over.wait_timeout(line, wait).unwrap_or_else(PoisonError::into_inner).0;
        if line.over {
            return;
        }
        let (listed, searched) = (progress.files_listed(), progress.files_searched());
        // A listing searches nothing.
        let _ = match searched {
            0 => write!(io::stderr(), "\r{listed} files found\x1b[K"),
            _ => write!(io::stderr(), "\r{searched} of {listed} files searched\x1b[K"),
        };
        line.shown = true;
        wait = REFRESH;
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        drop(self.hide());
        self.shared.lock().over = true;
        self.shared.over.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}
