//! `ingrep rg ARGS…`, and what this program is under the name `rg`.

use ingrep::CancelToken;
use ingrep::rg::Command;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The arguments for ripgrep, if this program was called for it: as `rg`, or with `rg` as its
/// first argument.
pub(super) fn argv() -> Option<Vec<OsString>> {
    let mut argv = std::env::args_os();
    let program = argv.next()?;
    let name = Path::new(&program).file_stem();
    if name.is_some_and(|name| name == "rg") {
        return Some(argv.collect());
    }
    (argv.next()? == "rg").then(|| argv.collect())
}

pub(super) fn run(argv: Vec<OsString>, token: &CancelToken) -> u8 {
    // Without a working directory the run says so itself.
    let cwd = std::env::current_dir().unwrap_or_default();
    let command = with_streams(Command::new(cwd).args(argv).envs(std::env::vars_os()));
    let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
    match command.run(&mut stdout, &mut stderr, token) {
        Ok(code) => code,
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(stderr, "rg: {error}");
            super::FAILED
        }
    }
}

/// ripgrep searches a standard input that is a file, a pipe or a socket, and in a walk leaves out
/// the file that it writes to.
#[cfg(unix)]
fn with_streams(mut command: Command) -> Command {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let metadata = |fd: std::os::fd::BorrowedFd<'_>| {
        let file = File::from(fd.try_clone_to_owned().ok()?);
        file.metadata().ok()
    };
    if let Some(stdin) = metadata(io::stdin().as_fd()) {
        let kind = stdin.file_type();
        if kind.is_file() || kind.is_fifo() || kind.is_socket() {
            command = command.stdin_reader(io::stdin());
        }
    }
    match metadata(io::stdout().as_fd()) {
        Some(stdout) if stdout.is_file() => command.stdout_file(stdout.dev(), stdout.ino()),
        _ => command,
    }
}

#[cfg(not(unix))]
fn with_streams(command: Command) -> Command {
    command
}
