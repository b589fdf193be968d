//! `--reply`: the same search by the model-facing tools, and their answer as it is.

use super::args::{GlobArguments, GrepArguments, WalkArguments};
use super::status::Status;
use super::{FAILED, FOUND, NOTHING};
use ingrep::CancelToken;
use ingrep::tools::{DirSpill, GlobInput, GrepInput, Reply, ToolError, Tools, Walk};
use std::io::Write;

pub(super) fn grep(arguments: &GrepArguments, token: &CancelToken, status: &Status) -> u8 {
    let answer = || {
        let walk = &arguments.walk;
        if arguments.wants_context() {
            return Err(String::from("context lines cannot be had together with --reply"));
        }
        let mut tools = tools(walk)?;
        if let Some(matches) = arguments.limit() {
            tools = tools.grep_max_matches(matches);
        }
        if let Some(bytes) = arguments.max_line_bytes() {
            tools = tools.grep_max_line_bytes(bytes);
        }
        let mut input = GrepInput::new(arguments.pattern()).query(|_| arguments.query());
        if let Some(path) = one("--path", walk.path_texts()?)? {
            input = input.path(path);
        }
        if let Some(include) = one("--include", arguments.includes())? {
            input = input.include(include);
        }
        let reply = tools.grep(&input, token).map_err(|error| told(&error))?;
        Ok((reply.total > 0, reply.into_reply()))
    };
    finish(answer(), arguments.walk.json, status)
}

pub(super) fn glob(arguments: &GlobArguments, token: &CancelToken, status: &Status) -> u8 {
    let answer = || {
        let walk = &arguments.walk;
        let mut input = GlobInput::new(arguments.pattern());
        if let Some(path) = one("--path", walk.path_texts()?)? {
            input = input.path(path);
        }
        let reply = tools(walk)?.glob(&input, token).map_err(|error| told(&error))?;
        Ok((reply.total > 0, reply.into_reply()))
    };
    finish(answer(), arguments.walk.json, status)
}

fn tools(walk: &WalkArguments) -> Result<Tools, String> {
    if let Some(switch) = walk.switch_without_reply() {
        return Err(format!("{switch} cannot be had together with --reply"));
    }
    let cwd = std::env::current_dir().map_err(|error| error.to_string())?;
    let mut tools = Tools::new(cwd)
        .timeout(walk.timeout())
        .newest_first(walk.reverse())
        .walk(if walk.repository() { Walk::Repository } else { Walk::All })
        .pool(&walk.pool());
    if let Some(dir) = walk.spill_dir() {
        let store = DirSpill::new(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        tools = tools.spill(store);
    }
    Ok(tools)
}

/// The tools take one path and one glob.
fn one(switch: &str, values: Vec<String>) -> Result<Option<String>, String> {
    match values.len() {
        0 | 1 => Ok(values.into_iter().next()),
        _ => Err(format!("with --reply {switch} can be given once")),
    }
}

fn told(error: &ToolError) -> String {
    format!("{}: {error}", error.code().as_str())
}

fn finish(answer: Result<(bool, Reply), String>, json: bool, status: &Status) -> u8 {
    let (found, reply) = match answer {
        Ok(answer) => answer,
        Err(message) => {
            status.say(&message);
            return FAILED;
        }
    };
    let text = if json { reply.data.to_string() } else { reply.text };
    // Whoever closed the pipe has seen enough.
    let _ = writeln!(std::io::stdout(), "{text}");
    if found { FOUND } else { NOTHING }
}
