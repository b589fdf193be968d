//! Runs a parsed command and turns what comes of it into an exit code.

mod args;
mod print;
mod reply;
mod rg;
mod status;

use args::{Arguments, Command, GlobArguments, GrepArguments};
use clap::Parser;
use ingrep::{CancelToken, Error, FileMatches, Progress, Result, Search, Stop, Summary};
use print::{Output, Printer};
use status::Status;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Something was found.
const FOUND: u8 = 0;
/// Everything was searched, and nothing found.
const NOTHING: u8 = 1;
/// The command could not be carried out, or not to its end.
const FAILED: u8 = 2;

pub(crate) fn run() -> ExitCode {
    let token = CancelToken::new();
    let interrupted = token.clone();
    // Without the handler Ctrl-C ends the process, as it would have anyway.
    let _ = ctrlc::set_handler(move || {
        if interrupted.is_stopped() {
            // The second time somebody means it.
            std::process::exit(FAILED.into());
        }
        interrupted.cancel();
    });
    if let Some(argv) = rg::argv() {
        return rg::run(argv, &token).into();
    }
    let arguments = Arguments::parse();
    let code = match &arguments.command {
        Command::Grep(grep) => self::grep(grep, &token),
        Command::Glob(glob) => self::glob(glob, &token),
        // Taken care of above: its arguments are not clap's.
        Command::Rg => return rg::run(Vec::new(), &token).into(),
    };
    code.into()
}

fn grep(arguments: &GrepArguments, token: &CancelToken) -> u8 {
    let progress = Progress::new();
    let status = Status::start(&progress);
    if arguments.walk.reply {
        return reply::grep(arguments, token, &status);
    }
    let printer = Printer::new(arguments.walk.json, arguments.walk.color, &status);
    let token = arguments.walk.limit_time(token);
    let result = arguments.compile(&progress).and_then(|search| {
        let mut output = printer.output();
        let summary = search_into(&search, arguments, &token, &mut output)?;
        Ok((summary, output))
    });
    let (summary, output) = match result {
        Ok(done) => done,
        Err(error) => {
            return refuse(&status, &error, &arguments.patterns(), arguments.walk.json);
        }
    };
    let written = output.end(&summary);
    if let (Some(limit), false) = (summary.limit, arguments.walk.json) {
        let limit = if limit == "max_lines" { "--limit" } else { limit };
        let (lines, files) = (summary.lines_matched, summary.files_matched);
        status.say(&format!("{limit} was reached; matching lines: {lines}, in files: {files}"));
    }
    let skipped = summary.diagnostics.total() > 0;
    if skipped {
        status.skipped(&summary.diagnostics);
    }
    exit_code(&status, written, summary.lines_matched > 0, stop_of(summary.end), skipped)
}

/// A result with a limit is collected, any other flows through.
fn search_into(
    search: &Search,
    arguments: &GrepArguments,
    token: &CancelToken,
    output: &mut Output<'_>,
) -> Result<Summary> {
    let mut print = |found: &FileMatches| match output.file(found) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    if arguments.limit().is_none() {
        return search.for_each(token, |found| print(&found));
    }
    let outcome = search.collect(token)?;
    let _ = outcome.files.iter().try_for_each(&mut print);
    Ok(outcome.summary)
}

fn glob(arguments: &GlobArguments, token: &CancelToken) -> u8 {
    let progress = Progress::new();
    let status = Status::start(&progress);
    if arguments.walk.reply {
        return reply::glob(arguments, token, &status);
    }
    let printer = Printer::new(arguments.walk.json, arguments.walk.color, &status);
    let token = arguments.walk.limit_time(token);
    let mut files = match arguments.scope(&progress).and_then(|scope| scope.files(&token)) {
        Ok(files) => files,
        Err(error) => return refuse(&status, &error, &[], arguments.walk.json),
    };
    let mut output = printer.output();
    let mut found = false;
    for file in files.by_ref() {
        found = true;
        if !output.entry(&file) {
            break;
        }
    }
    let summary = files.into_summary();
    let written = output.end(&summary);
    let skipped = summary.diagnostics.total() > 0;
    if skipped {
        status.skipped(&summary.diagnostics);
    }
    exit_code(&status, written, found, summary.stopped, skipped)
}

fn refuse(status: &Status, error: &Error, patterns: &[String], json: bool) -> u8 {
    if json {
        let document = serde_json::json!({ "error": {
            "code": error.code().as_str(),
            "message": error.to_string(),
            "hint": error.hint(),
        }});
        // The message on stderr says it, too.
        let _ = writeln!(io::stdout(), "{document}");
    }
    status.error(error, patterns);
    FAILED
}

fn stop_of(end: ingrep::End) -> Option<Stop> {
    match end {
        ingrep::End::Cancelled => Some(Stop::Cancelled),
        ingrep::End::DeadlinePassed => Some(Stop::DeadlinePassed),
        _ => None,
    }
}

fn exit_code(
    status: &Status,
    written: io::Result<()>,
    found: bool,
    stopped: Option<Stop>,
    skipped: bool,
) -> u8 {
    if let Err(error) = written {
        // Whoever was reading has seen enough.
        if error.kind() == io::ErrorKind::BrokenPipe {
            return FOUND;
        }
        status.say(&format!("cannot write the result: {error}"));
        return FAILED;
    }
    match stopped {
        Some(Stop::Cancelled) => {
            status.say("interrupted; only what was found until then was printed")
        }
        Some(_) => status.say("the time is over; only what was found until then was printed"),
        None if found => return FOUND,
        // Nothing was found, and not everything was searched: that is no "nothing".
        None if skipped => return FAILED,
        None => return NOTHING,
    }
    FAILED
}
