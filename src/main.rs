//! The command line of ingrep. It parses, calls the library, prints; only this binary touches the
//! process's own arguments, environment, working directory and standard streams.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "this is a host")]

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
