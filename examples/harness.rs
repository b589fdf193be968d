//! The smallest harness: tool calls come as JSON lines on stdin, replies leave as JSON lines on
//! stdout.
//!
//! ```text
//! echo '{"id":1,"tool":"glob","arguments":{"pattern":"*.rs"}}' | cargo run --example harness
//! ```
//!
//! A call is `{"id", "tool", "arguments", "timeout_ms"?}`. A reply is `{"id", "text", "data"}`, or
//! `{"id", "error": {"code", "message"}}`. A call with the tool `definitions` is answered with what
//! a harness registers. The directory to work in is the first argument, or the current one.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "an example is a host")]

use ingrep::CancelToken;
use ingrep::tools::{DirSpill, Tools, definitions};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::time::Duration;

const DEFAULT_TIMEOUT_MS: u64 = 30_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cwd = match std::env::args_os().nth(1) {
        Some(dir) => std::path::absolute(dir)?,
        None => std::env::current_dir()?,
    };
    let spill = DirSpill::new(std::env::temp_dir().join("ingrep-harness"))?;
    spill.clean(Duration::from_secs(24 * 60 * 60))?;
    let tools = Tools::new(cwd).spill(spill);

    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str::<Value>(&line?) {
            Ok(call) => answer(&tools, &call),
            Err(error) => {
                json!({ "id": null, "error": { "code": "BAD_CALL", "message": error.to_string() } })
            }
        };
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

fn answer(tools: &Tools, call: &Value) -> Value {
    let id = &call["id"];
    let name = call["tool"].as_str().unwrap_or_default();
    if name == "definitions" {
        let tools: Vec<_> = definitions()
            .into_iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.input_schema,
                    "output_schema": tool.output_schema,
                })
            })
            .collect();
        return json!({ "id": id, "data": tools });
    }
    let timeout = call["timeout_ms"].as_u64().unwrap_or(DEFAULT_TIMEOUT_MS);
    let token = CancelToken::new().deadline_in(Duration::from_millis(timeout));
    match tools.call(name, &call["arguments"], &token) {
        Ok(reply) => json!({ "id": id, "text": reply.text, "data": reply.data }),
        Err(error) => {
            let partial = error.partial().map(|partial| partial.data.clone());
            let told = json!({
                "code": error.code().as_str(),
                "message": error.to_string(),
                "partial": partial,
            });
            json!({ "id": id, "error": told })
        }
    }
}
