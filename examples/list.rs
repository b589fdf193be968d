//! List a directory, newest first: `cargo run --example list -- GLOB DIRECTORY`.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "an example is a host")]

use ingrep::{CancelToken, Order, Scope, SortBy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let glob = arguments.next().unwrap_or_else(|| String::from("*.rs"));
    let directory = arguments.next().unwrap_or_else(|| String::from("."));

    let mut files = Scope::new(directory)
        .glob(glob)
        .sort(SortBy::Modified, Order::Descending)
        .files(&CancelToken::new())?;
    for file in files.by_ref() {
        println!("{}", file.path.display());
    }
    for trouble in files.into_summary().diagnostics.iter() {
        println!("skipped: {trouble}");
    }
    Ok(())
}
