//! Runs the real rg.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use super::program::program;

use super::format::{Run, RunOutput, Stdin};

/// The user that `nonroot` runs become when the tests run as root.
const NOBODY: u32 = 65534;

/// A run that takes longer hangs; the slowest recorded one needs about a second.
const LONGEST_RUN: Duration = Duration::from_secs(60);

/// Runs rg in the case directory with an environment that is empty but for a `HOME` that is not there.
///
/// # Errors
///
/// When it cannot be started, hangs, or ends by a signal.
pub(crate) fn run(program: &OsString, run: &Run, dir: &Path) -> Result<RunOutput, String> {
    let cwd = dir.join(&run.cwd);
    let mut command = Command::new(program);
    command.args(&run.args).env_clear().envs(run.env.iter().map(|(name, value)| (name, value)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Lives until the child was started: the descriptor is how it gets into a removed directory.
    let removed = run.cwd_removed.then(|| removed_directory(&cwd)).transpose()?;
    match &removed {
        Some((_, path)) => command.current_dir(path),
        None => command.current_dir(&cwd),
    };
    if run.nonroot && is_root(dir)? {
        command.uid(NOBODY).gid(NOBODY);
    }
    let stdout_file = run.stdout_file.as_ref().map(|path| dir.join(path));
    if let Some(path) = &stdout_file {
        let file = OpenOptions::new().append(true).create(true).open(path);
        command.stdout(file.map_err(|err| format!("{}: {err}", path.display()))?);
    }
    let before = stdout_file.as_ref().map(|path| length(path)).transpose()?.unwrap_or(0);
    let mut socket = None;
    match &run.stdin {
        Stdin::Null => command.stdin(Stdio::null()),
        Stdin::Pipe(_) | Stdin::Open => command.stdin(Stdio::piped()),
        Stdin::File(path) => {
            let path = dir.join(path);
            command.stdin(File::open(&path).map_err(|err| format!("{}: {err}", path.display()))?)
        }
        Stdin::Socket(_) => {
            let (ours, theirs) = UnixStream::pair().map_err(|err| format!("socket: {err}"))?;
            socket = Some(ours);
            command.stdin(OwnedFd::from(theirs))
        }
    };
    let child = command.spawn().map_err(|err| format!("{}: {err}", program.to_string_lossy()))?;
    // The command still holds the child's end of a socket, which would keep it open.
    drop(command);
    let mut output = finish(child, &run.stdin, socket)?;
    if let Some(path) = &stdout_file {
        let all = std::fs::read(path).map_err(|err| format!("{}: {err}", path.display()))?;
        output.stdout = all[before..].to_vec();
    }
    Ok(output)
}

/// Feeds standard input, collects both outputs, and waits.
fn finish(
    mut child: Child,
    stdin: &Stdin,
    socket: Option<UnixStream>,
) -> Result<RunOutput, String> {
    let input = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    thread::scope(|scope| {
        let stdout = scope.spawn(move || read_all(stdout));
        let stderr = scope.spawn(move || read_all(stderr));
        match (stdin, input, socket) {
            (Stdin::Pipe(bytes), Some(mut pipe), _) => {
                // A child that does not read closes its end; that is part of the answer.
                scope.spawn(move || pipe.write_all(bytes));
                wait(&mut child)
            }
            (Stdin::Socket(bytes), _, Some(mut ours)) => {
                scope.spawn(move || ours.write_all(bytes));
                wait(&mut child)
            }
            (_, _held_open, _) => wait(&mut child),
        }
        .and_then(|code| {
            let stdout = stdout.join().map_err(|_| "reading stdout panicked")?;
            let stderr = stderr.join().map_err(|_| "reading stderr panicked")?;
            Ok(RunOutput { code, stdout, stderr })
        })
    })
}

fn wait(child: &mut Child) -> Result<i32, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|err| format!("wait: {err}"))? {
            return status.code().ok_or_else(|| format!("rg ended by {status}"));
        }
        if start.elapsed() > LONGEST_RUN {
            child.kill().map_err(|err| format!("kill: {err}"))?;
            child.wait().map_err(|err| format!("wait: {err}"))?;
            return Err(format!("rg did not end in {LONGEST_RUN:?}"));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn read_all(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What was read before an error still shows what happened.
        let _ = stream.read_to_end(&mut bytes);
    }
    bytes
}

/// A directory that is gone but open, and the path by which a child can still enter it.
fn removed_directory(cwd: &Path) -> Result<(File, PathBuf), String> {
    let made = std::fs::create_dir_all(cwd)
        .and_then(|()| File::open(cwd))
        .and_then(|file| std::fs::remove_dir(cwd).map(|()| file));
    let file = made.map_err(|err| format!("{}: {err}", cwd.display()))?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((file, PathBuf::from(path)))
}

/// Whether we are root: the case directory, which we made, belongs to us.
fn is_root(dir: &Path) -> Result<bool, String> {
    let metadata = dir.metadata().map_err(|err| format!("{}: {err}", dir.display()))?;
    Ok(metadata.uid() == 0)
}

fn length(path: &Path) -> Result<usize, String> {
    let metadata = path.metadata().map_err(|err| format!("{}: {err}", path.display()))?;
    usize::try_from(metadata.len()).map_err(|err| format!("{}: {err}", path.display()))
}
