//! How it is measured: rg and we in turn, and what each costs.

use crate::jobs::{Job, Ours, ROUND, Rival, Same};
use crate::tree::Tree;
use ingrep::wire::rg::{Message, Reader};
use ingrep::{FileMatches, text};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What one call has cost.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

/// The medians of all rounds.
pub(crate) struct Measured {
    pub(crate) rg: Option<Cost>,
    pub(crate) ours: Cost,
    /// rg's time divided by ours, round by round, so that a machine that is slow for a while is slow
    /// for both.
    pub(crate) wall_ratio: Option<f64>,
    pub(crate) cpu_ratio: Option<f64>,
}

/// Where an answer goes. It is kept only where answers are compared; else it is received and
/// forgotten, as the output of a process is.
#[derive(Default)]
pub(crate) struct Sink {
    kept: Option<Vec<u8>>,
    /// The time of the call, if it is another than that from its begin to its end.
    pub(crate) took: Option<Duration>,
}

impl Sink {
    fn keeping() -> Sink {
        Sink { kept: Some(Vec::new()), took: None }
    }

    pub(crate) fn file(&mut self, path: &Path) {
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&text::path_bytes(path));
            kept.push(b'\n');
        }
    }

    pub(crate) fn found(&mut self, found: &FileMatches) {
        if let Some(kept) = &mut self.kept {
            for line in found.lines() {
                keep_line(kept, &text::path_bytes(&found.path), line.number, line.bytes);
            }
        }
    }

    /// The lines of an answer, whichever way they came.
    fn into_lines(self) -> Result<Vec<u8>, String> {
        let kept = self.kept.unwrap_or_default();
        if !kept.starts_with(b"{\"type\":") && !kept.starts_with(b"{\"data\":") {
            return Ok(kept);
        }
        let mut lines = Vec::new();
        // The last line of a killed process is cut off.
        let whole = kept.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        for message in Reader::new(&kept[..whole]) {
            if let Message::Match(line) = message.map_err(|err| format!("{err}"))? {
                let (path, bytes) = (line.path.as_bytes(), line.lines.as_bytes());
                keep_line(&mut lines, path, line.line_number, bytes);
            }
        }
        Ok(lines)
    }
}

fn keep_line(kept: &mut Vec<u8>, path: &[u8], number: Option<u64>, bytes: &[u8]) {
    kept.extend_from_slice(path);
    let number = number.unwrap_or_default();
    let _ = write!(kept, ":{number}:");
    kept.extend_from_slice(bytes.strip_suffix(b"\n").unwrap_or(bytes));
    kept.push(b'\n');
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compares the answers; the error says how they differ.
pub(crate) fn check(job: &Job, tree: &Tree, rg: &OsStr) -> Result<(), String> {
    if job.rival == Rival::Nobody {
        return Ok(());
    }
    let (mut theirs, mut ours) = (Sink::keeping(), Sink::keeping());
    ask_rg(job, tree, rg, 0, &mut theirs)?;
    ask_us(job, tree, 0, &mut ours)?;
    let (theirs, ours) = (theirs.into_lines()?, ours.into_lines()?);
    let (theirs, ours) = (lines(&theirs, job), lines(&ours, job));
    if theirs.len() != ours.len() {
        return Err(format!("rg's answer has {} lines, ours {}", theirs.len(), ours.len()));
    }
    if theirs.is_empty() {
        return Err(String::from("the answer is empty"));
    }
    let differs = |(theirs, ours): &(&&[u8], &&[u8])| theirs != ours;
    match theirs.iter().zip(&ours).find(differs) {
        Some((theirs, ours)) if job.same != Same::NumberOfLines => {
            let show = |line| String::from_utf8_lossy(line).into_owned();
            Err(format!("rg's answer has {:?} where ours has {:?}", show(theirs), show(ours)))
        }
        _ => Ok(()),
    }
}

fn lines<'a>(answer: &'a [u8], job: &Job) -> Vec<&'a [u8]> {
    let lines = answer.split_inclusive(|&byte| byte == b'\n');
    let mut lines: Vec<_> = lines.take(job.head).collect();
    if job.same == Same::Lines {
        lines.sort_unstable();
    }
    lines
}

/// Measures after one round that only warms up.
pub(crate) fn measure(
    job: &Job,
    tree: &Tree,
    rg: &OsStr,
    rounds: usize,
) -> Result<Measured, String> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let pair = (
            (job.rival != Rival::Nobody)
                .then(|| ask_rg(job, tree, rg, round, &mut Sink::default()))
                .transpose()?,
            ask_us(job, tree, round, &mut Sink::default())?,
        );
        if round > 0 {
            theirs.extend(pair.0);
            ours.push(pair.1);
        }
    }
    let ratio = |of: fn(&Cost) -> Duration| {
        let pairs = theirs.iter().zip(&ours);
        // Less than a microsecond is as good as a microsecond: no ratio is infinite.
        let seconds = |cost| of(cost).as_secs_f64().max(1e-6);
        let ratios: Vec<_> = pairs.map(|(rg, ours)| seconds(rg) / seconds(ours)).collect();
        median(ratios, f64::total_cmp)
    };
    Ok(Measured {
        wall_ratio: ratio(|cost| cost.wall),
        cpu_ratio: ratio(|cost| cost.cpu),
        rg: cost(&theirs),
        ours: cost(&ours).ok_or("no round was asked for")?,
    })
}

fn cost(costs: &[Cost]) -> Option<Cost> {
    let of = |part: fn(&Cost) -> Duration| median(costs.iter().map(part).collect(), Ord::cmp);
    Some(Cost { wall: of(|cost| cost.wall)?, cpu: of(|cost| cost.cpu)? })
}

fn median<T: Copy>(
    mut values: Vec<T>,
    compare: impl FnMut(&T, &T) -> std::cmp::Ordering,
) -> Option<T> {
    values.sort_by(compare);
    values.get(values.len() / 2).copied()
}

/// Peak memory of rg, and by how much the call makes ours grow, in KiB. Asked of this process only
/// when nothing else has run in it.
pub(crate) fn peak_of_rg(job: &Job, tree: &Tree, rg: &OsStr) -> Result<u64, String> {
    ask_rg(job, tree, rg, 1, &mut Sink::default())?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|err| format!("getrusage: {err}"))?;
    u64::try_from(usage.max_rss()).map_err(|err| format!("getrusage: {err}"))
}

/// See [`peak_of_rg`].
pub(crate) fn growth_of_ours(job: &Job, tree: &Tree) -> Result<u64, String> {
    // The peak of the preparations is forgotten: the call could hide below it.
    fs::write("/proc/self/clear_refs", "5").map_err(|err| format!("clear_refs: {err}"))?;
    let before = own_peak()?;
    ask_us(job, tree, 1, &mut Sink::default())?;
    Ok(own_peak()?.saturating_sub(before))
}

fn own_peak() -> Result<u64, String> {
    let status = fs::read_to_string("/proc/self/status").map_err(|err| format!("status: {err}"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = peak.and_then(|peak| peak.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).ok_or(String::from("no peak in the status"))
}

fn ask_rg(
    job: &Job,
    tree: &Tree,
    rg: &OsStr,
    round: usize,
    sink: &mut Sink,
) -> Result<Cost, String> {
    let argv: Vec<_> = job.argv.iter().map(|arg| arg.replace(ROUND, &round.to_string())).collect();
    let mut command = Command::new(rg);
    command.args(argv);
    run(command, tree, job.rival, sink)
}

fn ask_us(job: &Job, tree: &Tree, round: usize, sink: &mut Sink) -> Result<Cost, String> {
    let call = match &job.ours {
        Ours::Call(call) => call,
        Ours::Process => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ingrep"));
            command.arg("rg").args(&job.argv);
            return run(command, tree, Rival::ToTheEnd, sink);
        }
    };
    let before = cpu(UsageWho::RUSAGE_SELF)?;
    let started = Instant::now();
    // The answer is wanted once.
    let repeat = if sink.kept.is_some() { 1 } else { job.repeat };
    for _ in 0..repeat {
        call(round, sink).map_err(|err| err.to_string())?;
    }
    let wall = sink.took.unwrap_or_else(|| started.elapsed()) / repeat;
    Ok(Cost { wall, cpu: (cpu(UsageWho::RUSAGE_SELF)? - before) / repeat })
}

/// Runs a process as a harness does: its output comes through a pipe.
fn run(mut command: Command, tree: &Tree, rival: Rival, sink: &mut Sink) -> Result<Cost, String> {
    let failed = |err: io::Error| format!("{err}");
    command.current_dir(&tree.root).env_clear().env("HOME", "/nonexistent");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let before = cpu(UsageWho::RUSAGE_CHILDREN)?;
    let started = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let stdout = child.stdout.take().ok_or("no standard output")?;
    match rival {
        Rival::Killed(matches) => {
            read_matches(BufReader::with_capacity(1 << 16, stdout), matches, sink)
                .map_err(failed)?;
            // It may be over already.
            let _ = child.kill();
        }
        Rival::ToTheEnd | Rival::Nobody => drain(stdout, sink).map_err(failed)?,
    }
    let status = child.wait().map_err(failed)?;
    let wall = started.elapsed();
    if status.code() == Some(2) {
        return Err(format!("{command:?}: {status}"));
    }
    Ok(Cost { wall, cpu: cpu(UsageWho::RUSAGE_CHILDREN)? - before })
}

fn drain(mut stdout: impl Read, sink: &mut Sink) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stdout.read(&mut buffer)? {
            0 => return Ok(()),
            read => sink.write_all(&buffer[..read])?,
        }
    }
}

fn read_matches(mut stdout: impl BufRead, matches: usize, sink: &mut Sink) -> io::Result<()> {
    let (mut line, mut seen) = (Vec::new(), 0);
    while seen < matches && stdout.read_until(b'\n', &mut line)? > 0 {
        seen += usize::from(line.starts_with(b"{\"type\":\"match\""));
        sink.write_all(&line)?;
        line.clear();
    }
    Ok(())
}

/// Time on a processor, of this process or of its children that have ended.
fn cpu(who: UsageWho) -> Result<Duration, String> {
    let usage = getrusage(who).map_err(|err| format!("getrusage: {err}"))?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros).unwrap_or_default()))
}
