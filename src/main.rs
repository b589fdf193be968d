//! The command line of ingrep. It parses, calls the library, prints; only this binary touches the
//! process's own arguments, environment, working directory and standard streams.

// The library's bans are there for the sake of its host. This is a host.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
