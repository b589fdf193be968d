//! Carries out a plan: walks, searches on the pool, and writes in order.

use super::args::{self, Engine, Mode, Parsed, Special};
use super::layout::{Layout, Page};
use super::plan::{self, Mapped, Plan};
use super::print::{self, Json, Printed};
use super::{Command, FileId, SharedReader, flags};
use crate::cancel::{CancelToken, Stop};
use crate::duty::Duty;
use crate::error::{ErrorCode, Result};
use crate::ordered::{Lost, Ordered, Weigh};
use crate::query::{Binary, Query};
use crate::scan::{Render, Scanned, Scanner, Visit};
use crate::scope::Scope;
use crate::search::Search;
use crate::walk::{Event, FileEntry, Origin, Source, Trouble};
use crate::wire::rg::Stats;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

const FOUND: u8 = 0;
const NOTHING: u8 = 1;
const FAILED: u8 = 2;

/// The version of ripgrep whose answers these are.
const VERSION: &str = "ripgrep 15.2.0";

const NOTHING_SEARCHED: &str = "No files were searched, which means ripgrep probably applied a \
     filter you didn't expect.\nRunning with --debug will show why files are being skipped.";

pub(super) fn run(
    command: &Command,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
    token: &CancelToken,
) -> Result<(u8, Option<Stop>)> {
    let mut streams = Streams::new(stdout, stderr);
    let code = match args::parse(command.argv.iter().cloned()) {
        Err(error) => streams.refuse(&error.to_string()),
        Ok(Parsed::Special(special)) => show(special, &mut streams),
        Ok(Parsed::Args(args)) => {
            if let Err(unserved) = unserved(command, &args) {
                return Ok((streams.refuse(&unserved.to_string()), None));
            }
            let duty = Duty::new(&command.pool, token)?;
            let planned = match duty.is_hard() {
                true => {
                    let (command, args) = (command.clone(), args.clone());
                    duty.call(move || plan::plan(&command, &args))?
                }
                false => Some(plan::plan(command, &args)),
            };
            match planned {
                // The system did not come back with what the argv names.
                None => {
                    streams.stopped(token);
                    FAILED
                }
                Some(Err(message)) => streams.refuse(&message),
                Some(Ok(mut plan)) => {
                    // With one thread there is still one to be waited for.
                    if duty.is_hard() && plan.scope.pool.is_inline() {
                        plan.scope = plan.scope.pool(&command.pool.beside(1));
                    }
                    streams.messages = plan.messages;
                    carry_out(command, plan, &args, &mut streams, token)?
                }
            }
        }
    };
    streams.finish();
    let stopped = streams.stopped;
    match stopped {
        None => Ok((code, None)),
        Some(stop) => {
            let why = match stop {
                Stop::Cancelled => "the search was cancelled",
                Stop::DeadlinePassed => "the deadline passed",
            };
            Ok((streams.refuse(why), Some(stop)))
        }
    }
}

/// ripgrep finds out about PCRE2 only when it starts to search.
fn unserved(command: &Command, args: &args::Args) -> std::result::Result<(), args::Unserved> {
    plan::refuse_config(args, &command.env)?;
    match args::check(args) {
        Err(args::Unserved::Pcre2) | Ok(()) => Ok(()),
        refused => refused,
    }
}

fn show(special: Special, streams: &mut Streams<'_>) -> u8 {
    let (text, code) = match special {
        Special::ShortHelp | Special::LongHelp => (flags::help(), FOUND),
        Special::ShortVersion => (format!("{VERSION}\n"), FOUND),
        Special::LongVersion => (format!("{VERSION}\n\nfeatures:-pcre2\n"), FOUND),
        Special::Pcre2Version => {
            (String::from("PCRE2 is not available in this build of ripgrep.\n"), NOTHING)
        }
    };
    match streams.write(|out| out.write_all(text.as_bytes())) {
        Ok(()) => code,
        Err(error) => streams.refuse(&error.to_string()),
    }
}

fn carry_out(
    command: &Command,
    plan: Plan,
    args: &args::Args,
    streams: &mut Streams<'_>,
    token: &CancelToken,
) -> Result<u8> {
    // Faults of types and globs come first, and before it is known that nothing can match. The walk
    // finds them as well, so they are looked for here only if something else is to follow them.
    if plan.mode == Mode::TypeList || plan.pre_globs.is_some() {
        let scopes = [Some(&plan.scope), plan.pre_globs.as_ref()];
        if let Err(error) = scopes.into_iter().flatten().try_for_each(Scope::check_filters) {
            return Ok(streams.refuse(error.message()));
        }
    }
    if plan.mode == Mode::TypeList {
        return Ok(type_list(&plan, streams));
    }
    let events = match plan.scope.events(token) {
        Ok(_) if plan.nowhere => Box::new(std::iter::empty()),
        Ok(events) => events,
        // No fault of the argv, and nothing that ripgrep would know of.
        Err(error) if matches!(error.code(), ErrorCode::ThreadsStuck | ErrorCode::Internal) => {
            return Err(error);
        }
        Err(error) => return Ok(streams.refuse(error.message())),
    };
    let mut outcome = Outcome::default();
    if plan.mode == Mode::Files {
        list(&plan, events, streams, &mut outcome, token);
    } else if plan.possible {
        let mut events = events.peekable();
        // On one thread ripgrep gets to its rules, or even to all of its walk, before the pattern.
        while let Some(Event::Trouble(trouble)) =
            events.next_if(|event| matches!(event, Event::Trouble(t) if plan.told_first(t.origin)))
        {
            streams.trouble(&plan, &trouble, &mut outcome);
        }
        if let Err(unserved) = args::check(args) {
            return Ok(streams.refuse(&unserved.to_string()));
        }
        let search = plan.query.clone().limits(plan.limits.clone());
        let search = match &command.cache {
            Some(cache) => search.cache(cache),
            None => search,
        };
        match search.compile_unchecked() {
            Ok(search) => {
                search_all(command, plan, search, events, streams, &mut outcome, token)?;
            }
            Err(error) => {
                let message = with_suggestion(error.engine_text());
                return Ok(streams.refuse(&match args.engine {
                    Engine::Auto => without_any_engine(&message),
                    _ => message,
                }));
            }
        }
    }
    Ok(outcome.code(args.quiet))
}

fn type_list(plan: &Plan, streams: &mut Streams<'_>) -> u8 {
    match plan.scope.type_definitions() {
        Err(error) => streams.refuse(error.message()),
        Ok(definitions) => {
            let written = streams.write(|out| {
                definitions
                    .iter()
                    .try_for_each(|(name, globs)| writeln!(out, "{name}: {}", globs.join(", ")))
            });
            match written {
                Err(error) => streams.refuse(&error.to_string()),
                Ok(()) if definitions.is_empty() => NOTHING,
                Ok(()) => FOUND,
            }
        }
    }
}

/// ripgrep points to the flag that would allow what a pattern asks for.
fn with_suggestion(message: &str) -> String {
    let hint = if message.contains("the literal") && message.contains("not allowed") {
        "\n\nConsider enabling multiline mode with the --multiline flag (or -U for short).\n\
         When multiline mode is enabled, new line characters can be matched."
    } else if message.contains("pattern contains \"\\0\"") {
        "\n\nConsider enabling text mode with the --text flag (or -a for short). Otherwise,\n\
         binary detection is enabled and matching a NUL byte is impossible."
    } else {
        ""
    };
    format!("{message}{hint}")
}

/// Where the other engine is tried as well, it is said of both why they cannot.
fn without_any_engine(message: &str) -> String {
    let divider = "~".repeat(79);
    format!(
        "regex could not be compiled with either the default regex engine or with PCRE2.\n\n\
         default regex engine error:\n{divider}\n{message}\n{divider}\n\n\
         PCRE2 regex engine error:\n{}",
        args::Unserved::Pcre2
    )
}

/// What decides the exit code.
#[derive(Default)]
struct Outcome {
    matched: bool,
    errored: bool,
    searched: bool,
}

impl Outcome {
    fn code(&self, quiet: bool) -> u8 {
        match (self.matched, self.errored) {
            (true, errored) if quiet || !errored => FOUND,
            (_, true) => FAILED,
            _ => NOTHING,
        }
    }
}

fn list(
    plan: &Plan,
    events: impl Iterator<Item = Event>,
    streams: &mut Streams<'_>,
    outcome: &mut Outcome,
    token: &CancelToken,
) {
    for event in events {
        match event {
            Event::Trouble(trouble) => streams.trouble(plan, &trouble, outcome),
            Event::File(file) => {
                outcome.matched = true;
                if plan.quiet {
                    break;
                }
                let path = print::shown(plan, &file.path);
                if let Err(error) = streams.write(|out| print::path(plan, path, out)) {
                    outcome.errored = true;
                    streams.say(&error.to_string());
                    break;
                }
                if streams.broken {
                    break;
                }
            }
        }
        if streams.stopped(token) {
            break;
        }
    }
    // A walk that was stopped ends as one that is over.
    streams.stopped(token);
}

/// What is the same for every file of a run.
struct Work {
    plan: Plan,
    search: Search,
    token: CancelToken,
    stdout_file: Option<FileId>,
    stdin: SharedReader,
}

enum Searched {
    Trouble,
    /// The file that the output goes to.
    Skipped,
    /// The token had stopped before the file's turn.
    NotBegun,
    Done {
        printed: Printed,
        failure: Option<String>,
        opened: bool,
        stopped: Option<Stop>,
    },
}

impl Weigh for Searched {
    fn weight(&self) -> usize {
        match self {
            Searched::Done { printed, .. } => printed.lines.len(),
            _ => 0,
        }
    }
}

fn search_all(
    command: &Command,
    plan: Plan,
    search: Search,
    events: impl Iterator<Item = Event>,
    streams: &mut Streams<'_>,
    outcome: &mut Outcome,
    token: &CancelToken,
) -> Result<()> {
    let started = Instant::now();
    let json = plan.mode == Mode::Json;
    let pool = plan.scope.pool.clone();
    // Files that nobody wants any more are not begun.
    let own = token.child();
    let _enough = own.guard();
    let work = std::sync::Arc::new(Work {
        stdin: plan.stdin.clone(),
        plan,
        search,
        token: own.clone(),
        stdout_file: command.stdout_file,
    });
    let shared = std::sync::Arc::clone(&work);
    let plan = &work.plan;
    let mut total = Stats::default();
    // Whether there is something that the next file has to be separated from.
    let mut begun = false;
    let mut results = Ordered::new(events, &pool, &own, move |event| shared.search(event))?;
    while let Some((event, searched)) = results.next() {
        let file = match &*event {
            Event::Trouble(trouble) => {
                streams.trouble(plan, trouble, outcome);
                continue;
            }
            Event::File(file) => file,
        };
        let path = print::shown(plan, &file.path);
        match searched {
            Ok(Searched::Trouble | Searched::Skipped | Searched::NotBegun) => {}
            Ok(Searched::Done { mut printed, failure, opened, stopped }) => {
                outcome.searched = true;
                outcome.matched |= printed.matched && failure.is_none();
                // On one thread ripgrep has written what came before a failure.
                if failure.is_none() || plan.sequential {
                    let separator = if begun { &printed.separator[..] } else { &[] };
                    begun |= !printed.lines.is_empty();
                    // The printer of one thread counts what it separates files with.
                    if plan.sequential {
                        printed.stats.bytes_printed += separator.len() as u64;
                    }
                    // Without an order ripgrep hands out each file by itself.
                    let whole = !plan.sequential;
                    let written = streams.write(|out| {
                        out.write_all(separator)?;
                        out.write_all(&printed.lines)?;
                        if whole { out.flush() } else { Ok(()) }
                    });
                    if let Err(error) = written {
                        outcome.errored = true;
                        streams.message(&format!("{}: {error}", path.display()));
                    }
                }
                if let Some(cut) = &printed.cut {
                    outcome.errored = true;
                    streams.message(&format!("{}: the result is cut by {cut}", path.display()));
                }
                match failure {
                    Some(failure) => {
                        outcome.errored = true;
                        streams.message(&format!("{}: {failure}", path.display()));
                    }
                    None if opened => print::add(&mut total, &printed.stats),
                    None => {}
                }
                if stopped.is_some() && !results.has_given_up() {
                    break;
                }
            }
            // That the run was stopped is all that is said of what it left undone.
            Err(Lost::Stuck | Lost::NotBegun) => {}
            Err(Lost::Panicked(message)) => {
                outcome.searched = true;
                outcome.errored = true;
                streams.message(&format!("{}: internal error: {message}", path.display()));
            }
        }
        let enough = outcome.matched && plan.ends_at_first();
        // What is behind one that is stuck has been found, and nothing is waited for.
        let stopped = streams.stopped(token) && !results.has_given_up();
        if enough || streams.broken || stopped {
            break;
        }
    }
    // A walk that was stopped ends as one that is over.
    streams.stopped(token);
    if plan.implicit && !outcome.searched && streams.stopped.is_none() {
        outcome.errored = true;
        streams.message(NOTHING_SEARCHED);
    }
    // That this cannot be written is not reported by ripgrep.
    let _ = match (json, plan.stats) {
        (true, _) => streams.write(|out| print::summary(out, total, started.elapsed())),
        (false, true) => streams.write(|out| {
            let separator = plan.layout.as_ref().filter(|_| begun);
            out.write_all(separator.map_or(&[][..], Layout::separator_of_totals))?;
            print::totals(out, &total, started.elapsed())
        }),
        (false, false) => Ok(()),
    };
    Ok(())
}

impl Work {
    fn search(&self, event: &Event) -> Searched {
        let Event::File(file) = event else { return Searched::Trouble };
        if self.token.is_stopped() {
            return Searched::NotBegun;
        }
        let at = self.plan.scope.locate(&file.path);
        if !file.explicit && self.is_output(&at) {
            return Searched::Skipped;
        }
        let started = Instant::now();
        let path = print::shown(&self.plan, &file.path);
        let layout = self.plan.layout.as_ref();
        let mut page = layout.map(|layout| layout.page(path, &self.token));
        let mut json = Json::default();
        let scan =
            |scanner: &mut Scanner| self.scan(scanner, file, path, &at, (page.as_mut(), &mut json));
        match self.search.with_scanner(scan) {
            Ok(scanned) => self.printed(file, scanned, (page, json), started),
            Err(error) => Searched::Done {
                printed: Printed::default(),
                failure: Some(error.to_string()),
                opened: false,
                stopped: None,
            },
        }
    }

    fn scan<'a>(
        &'a self,
        scanner: &mut Scanner,
        file: &FileEntry,
        path: &'a Path,
        at: &Path,
        (page, json): (Option<&'a mut Page<'_>>, &'a mut Json),
    ) -> Scanned {
        let mut visit = Visit::new(path, file.explicit, &self.token);
        visit.render = page.map(|page| page as &mut dyn Render);
        visit.follower = (self.plan.mode == Mode::Json && !self.plan.quiet).then_some(json);
        visit.whole = match self.plan.mapped {
            Mapped::None => false,
            Mapped::Named => file.explicit,
            Mapped::All => true,
        };
        // A file without a match has to be known as binary, for ripgrep leaves the matches of
        // those out of account.
        visit.first_only = self.plan.ends_at_first() && self.plan.mode != Mode::FilesWithoutMatch;
        match file.source {
            Source::Regular => {
                let scope = &self.plan.scope;
                self.search.scan_file(scanner, file.place(scope), &mut visit, &scope.pool)
            }
            Source::Special => scanner.scan_special(at, &mut visit),
            Source::Stdin => scanner.scan_stdin(self.stdin.clone(), &mut visit),
        }
    }

    fn printed(
        &self,
        file: &FileEntry,
        scanned: Scanned,
        (page, json): (Option<Page<'_>>, Json),
        started: Instant,
    ) -> Searched {
        let elapsed = started.elapsed();
        let Scanned { found, trouble, stopped, opened, rendered } = scanned;
        let printed = if let Some(page) = page {
            page.finish(rendered)
        } else if self.plan.quiet {
            let mut printed =
                print::quiet(&found, elapsed, quits_at_binary(&self.plan.query, file));
            printed.matched ^= self.plan.mode == Mode::FilesWithoutMatch;
            printed
        } else {
            // A vector takes everything.
            match json.finish(&found, elapsed, trouble.is_some()) {
                Ok(printed) => printed,
                Err(_) => print::quiet(&found, elapsed, false),
            }
        };
        let failure = trouble.map(|trouble| trouble.message);
        Searched::Done { printed, failure, opened, stopped }
    }

    fn is_output(&self, at: &Path) -> bool {
        self.stdout_file.is_some_and(|output| file_id(at) == Some(output))
    }
}

#[cfg(unix)]
fn file_id(at: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(at).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Elsewhere a file has no such numbers, and nobody can have handed over any.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}

fn quits_at_binary(query: &Query, file: &FileEntry) -> bool {
    query.binary == Binary::Auto && !file.explicit
}

/// Where a run writes to, and whether it still can.
struct Streams<'a> {
    out: BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    messages: bool,
    /// Whether whoever was reading has gone.
    broken: bool,
    stopped: Option<Stop>,
}

impl<'a> Streams<'a> {
    fn new(stdout: &'a mut dyn Write, stderr: &'a mut dyn Write) -> Streams<'a> {
        let out = BufWriter::new(stdout);
        Streams { out, err: stderr, messages: true, broken: false, stopped: None }
    }

    /// Writes to the output, quietly nothing once whoever was reading has gone.
    fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        if self.broken {
            return Ok(());
        }
        match write(&mut self.out) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.broken = true;
                Ok(())
            }
            result => result,
        }
    }

    fn stopped(&mut self, token: &CancelToken) -> bool {
        self.stopped = self.stopped.or(token.stop());
        self.stopped.is_some()
    }

    /// A message that `--no-messages` silences.
    fn message(&mut self, message: &str) {
        if self.messages {
            self.say(message);
        }
    }

    fn trouble(&mut self, plan: &Plan, trouble: &Trouble, outcome: &mut Outcome) {
        let told = match trouble.origin {
            Origin::Entry => {
                outcome.errored = true;
                true
            }
            Origin::DroppedRules => {
                outcome.errored = true;
                plan.ignore_messages
            }
            Origin::Rules | Origin::NamedRules => plan.ignore_messages,
            Origin::GlobalRules => false,
        };
        if told {
            self.message(&trouble.text(plan.sequential));
        }
    }

    /// What cannot be done at all.
    fn refuse(&mut self, message: &str) -> u8 {
        self.say(message);
        FAILED
    }

    fn say(&mut self, message: &str) {
        // There is nobody to tell that nobody can be told.
        let _ = writeln!(self.err, "rg: {message}");
    }

    fn finish(&mut self) {
        // A last flush that fails is not reported by ripgrep either.
        let _ = self.out.flush();
    }
}
