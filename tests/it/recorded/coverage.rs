//! The index: which entries of the rg contract which recorded case stands for.
//!
//! | id | entry |
//! |---|---|
//! | `F1`–`F278` | checklist F of the contract |
//! | `G1`–`G57` | traps G |
//! | `A9.1j`–`A9.11j`, `A9.1f`–`A9.11f` | rows of the exit-code table A.9, `--json` and `--files` |
//! | `B2.1`–`B2.15` | rows of the table of messages B.2 |
//! | `D1`–`D10` | rows 0.1–0.10, what the current crates do unlike the official binary |
//! | `S2`–`S152` | the small inputs taken from public bug reports, by number |
//! | `X…` | anything else in the contract, by section; free text, not required |

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use super::format::CaseFile;

/// The reports that were given to us as small inputs.
const REPORTS: [u16; 76] = [
    2, 4, 5, 7, 8, 11, 13, 15, 24, 25, 26, 27, 28, 29, 32, 34, 36, 39, 41, 42, 43, 45, 47, 48, 52,
    53, 56, 57, 58, 62, 63, 65, 67, 69, 70, 75, 79, 80, 81, 86, 87, 88, 89, 90, 91, 94, 96, 99,
    100, 101, 103, 105, 107, 108, 109, 113, 114, 116, 118, 119, 122, 123, 126, 127, 128, 130, 135,
    136, 139, 140, 144, 146, 148, 150, 151, 152,
];

/// Every id that some case has to cover, or `unreachable.txt` has to explain.
pub(crate) fn required() -> Vec<String> {
    let mut ids: Vec<String> = (1..=278).map(|number| format!("F{number}")).collect();
    ids.extend((1..=57).map(|number| format!("G{number}")));
    ids.extend((1..=11).map(|row| format!("A9.{row}j")));
    ids.extend((1..=11).map(|row| format!("A9.{row}f")));
    ids.extend((1..=15).map(|row| format!("B2.{row}")));
    ids.extend((1..=10).map(|row| format!("D{row}")));
    ids.extend(REPORTS.iter().map(|number| format!("S{number}")));
    ids
}

/// `F3..5` is F3, F4 and F5; anything else is itself.
///
/// # Errors
///
/// When a range is not of that form.
pub(crate) fn expanded(id: &str) -> Result<Vec<String>, String> {
    let Some((first, last)) = id.split_once("..") else {
        return Ok(vec![id.to_string()]);
    };
    let (letter, first) = first.split_at(1);
    let parsed = (first.parse::<u16>(), last.parse::<u16>());
    let (Ok(first), Ok(last)) = parsed else {
        return Err(format!("{id}: expected a range like F3..5"));
    };
    Ok((first..=last).map(|number| format!("{letter}{number}")).collect())
}

/// The entries no case can reach, with the reason: `unreachable.txt`, a line `ID reason` each.
///
/// # Errors
///
/// When the file cannot be read or a line has no reason.
pub(crate) fn unreachable(dir: &Path) -> Result<BTreeMap<String, String>, String> {
    let path = dir.join("unreachable.txt");
    let text =
        std::fs::read_to_string(&path).map_err(|err| format!("{}: {err}", path.display()))?;
    let mut reasons = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (id, reason) = line.split_once(' ').ok_or_else(|| format!("{line}: no reason"))?;
        reasons.insert(id.to_string(), reason.trim().to_string());
    }
    Ok(reasons)
}

/// What is wrong with the index; empty when every required entry is covered or explained.
pub(crate) fn problems(files: &[CaseFile], reasons: &BTreeMap<String, String>) -> Vec<String> {
    let required = required();
    let known: BTreeSet<&String> = required.iter().collect();
    let covered = covered(files);
    let mut problems = Vec::new();
    for id in &required {
        match (covered.contains_key(id), reasons.contains_key(id)) {
            (false, false) => problems.push(format!("{id} is neither covered nor explained")),
            (true, true) => problems.push(format!("{id} is covered, yet listed as unreachable")),
            _ => {}
        }
    }
    for id in covered.keys().filter(|id| !known.contains(id) && !id.starts_with('X')) {
        problems.push(format!("{id} is no entry of the index"));
    }
    problems
}

/// `COVERAGE.md`: the index as a table, made anew by every recording.
pub(crate) fn table(files: &[CaseFile], reasons: &BTreeMap<String, String>) -> String {
    let covered = covered(files);
    let cases: usize = files.iter().map(|file| file.cases.len()).sum();
    let runs: usize = files.iter().flat_map(|file| &file.cases).map(|case| case.runs.len()).sum();
    let mut text = String::from("# What the recorded cases cover\n\n");
    text.push_str("Written by the recording command from the `covers` lines; do not edit.\n");
    text.push_str("What the ids mean is said in `tests/it/recorded/coverage.rs`.\n\n");
    let _ = write!(text, "{cases} cases, {runs} runs.\n\n");
    for (title, letter) in [
        ("Checklist F", 'F'),
        ("Traps G", 'G'),
        ("Exit status A.9", 'A'),
        ("Messages B.2", 'B'),
        ("Crate differences 0", 'D'),
        ("Bug reports S", 'S'),
    ] {
        let ids: Vec<String> = required().into_iter().filter(|id| id.starts_with(letter)).collect();
        let count = ids.iter().filter(|id| covered.contains_key(*id)).count();
        let _ = write!(text, "## {title}: {count} of {}\n\n", ids.len());
        text.push_str("| id | cases |\n|---|---|\n");
        for id in ids {
            let places = match (covered.get(&id), reasons.get(&id)) {
                (Some(places), _) => places.join("; "),
                (None, Some(reason)) => format!("none: {reason}"),
                (None, None) => "MISSING".to_string(),
            };
            let _ = writeln!(text, "| {id} | {places} |");
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// Covered ids, each with its places: the file without its ending, and the case's line-free name.
fn covered(files: &[CaseFile]) -> BTreeMap<String, Vec<String>> {
    let mut covered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let theme = file.name.trim_end_matches(".cases");
        for case in &file.cases {
            for id in &case.covers {
                covered.entry(id.clone()).or_default().push(format!("{theme}: {}", case.name));
            }
        }
    }
    covered
}
