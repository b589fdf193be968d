//! Search a directory and print what is found: `cargo run --example search -- PATTERN DIRECTORY`.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "an example is a host")]

use ingrep::{CancelToken, End, Limits, Query, Scope};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let pattern = arguments.next().unwrap_or_else(|| String::from("fn main"));
    let directory = arguments.next().unwrap_or_else(|| String::from("."));

    let search = Query::new(pattern)
        .scope(Scope::new(directory))
        .limits(Limits::new().max_lines(20).max_line_bytes(200))
        .compile()?;
    let outcome = search.collect(&CancelToken::new().deadline_in(Duration::from_secs(10)))?;

    for file in &outcome.files {
        for line in file.lines() {
            let number = line.number.unwrap_or(0);
            let text = String::from_utf8_lossy(line.bytes);
            println!("{}:{number}: {}", file.path.display(), text.trim_end());
        }
    }
    let summary = outcome.summary;
    match summary.end {
        End::Complete => {}
        End::Limit => println!("... {} lines in all", summary.lines_matched),
        end => println!("... and then the search ended: {}", end.as_str()),
    }
    Ok(())
}
