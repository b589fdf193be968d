//! The same bytes, the same answer: as a slice, in a file, in a file with little room, and in portions.

use crate::dice::Dice;
use crate::portioned::{PATTERNS, Portions, argv, haystack, without_times};
use crate::{Score, Size};
use ingrep::{Binary, CancelToken, Encoding, FileMatches, Limits, MultiLine, Query, rg};
use std::panic::{AssertUnwindSafe, catch_unwind};

const CASES: u64 = 20_000;

pub(crate) fn three_ways(size: &Size) -> Score {
    let mut score = Score::default();
    let mut dice = Dice::new(size.seed);
    let tree = crate::tree::Tree::new("");
    let path = tree.join("f");
    let mut found = 0;
    for case in 0..size.of(CASES) {
        let bytes = haystack(&mut dice);
        std::fs::write(&path, &bytes).unwrap();
        let (argv, seed) = (argv(&mut dice), dice.next());
        let query = query(&mut dice);
        let compared = catch_unwind(AssertUnwindSafe(|| {
            let matched = portions(&argv, &bytes, seed)?;
            ways(&query, &bytes, &path)?;
            Ok::<bool, String>(matched)
        }));
        match compared {
            Ok(Ok(matched)) => {
                found += u64::from(matched);
                score.passed();
            }
            Ok(Err(differs)) => {
                score.failed(format!("case {case}: {differs} {}", bytes.escape_ascii()));
            }
            Err(_) => score.failed(format!("case {case}: a panic, {argv:?} or {query:?}")),
        }
    }
    score.worst = format!("{}% found something", found * 100 / score.tried);
    score
}

fn query(dice: &mut Dice) -> Query {
    let pattern = |dice: &mut Dice| -> String {
        let atoms = ["a", "b", ".", "[ab]", r"\w", r"\s", "(?:ab|x)", "é", r"\b", "^", "$", r"\n"];
        let ends = ["", "", "", "*", "+?", "{2}", "?"];
        (0..1 + dice.below(4))
            .map(|_| {
                let atom = *dice.pick(&atoms);
                let end = if matches!(atom, "^" | "$" | r"\b") { "" } else { *dice.pick(&ends) };
                format!("{atom}{end}")
            })
            .collect()
    };
    let text = match dice.percent(50) {
        true => dice.pick(&PATTERNS).to_string(),
        false => pattern(dice),
    };
    let multi = if dice.percent(30) { MultiLine::On } else { MultiLine::Off };
    let query = Query::new(text).binary(Binary::Text).encoding(Encoding::Raw).multi_line(multi);
    let query = query.context(dice.below(4)).passthru(dice.percent(5));
    // Not both: of the lines behind the limit of an inverted search the engine tells the last one as
    // a match or as context, depending on whether it searches a slice. So does ripgrep, with and
    // without `--mmap`.
    match dice.below(10) {
        0 => query.max_count(Some(1 + dice.below(3) as u64)),
        1 | 2 => query.invert(true),
        _ => query,
    }
}

/// At once, and in portions with interruptions.
fn portions(argv: &[String], bytes: &[u8], seed: u64) -> Result<bool, String> {
    let command = rg::Command::new("/").args(argv).arg("-");
    let token = CancelToken::new();
    let at_once = command.clone().stdin(bytes).output(&token).map_err(|err| err.to_string())?;
    let matched = at_once.code == 0;
    let at_once = without_times(at_once);
    let most = [1, 3, 7, 4096, 70_000][seed as usize % 5];
    if bytes.len() / most < 20_000 {
        let reader = Portions::new(bytes, most, seed);
        let output = command.stdin_reader(reader).output(&token).map_err(|err| err.to_string())?;
        if without_times(output) != at_once {
            return Err(format!("{argv:?} in portions of {most}"));
        }
    }
    Ok(matched)
}

type Lines = Vec<(Option<u64>, u64, Vec<u8>, Vec<(usize, usize)>)>;

fn lines(found: &FileMatches) -> Lines {
    let spans = |line: &ingrep::Line<'_>| line.spans.iter().map(|s| (s.start, s.end)).collect();
    found
        .lines()
        .map(|line| (line.number, line.offset, line.bytes.to_vec(), spans(&line)))
        .collect()
}

fn ways(query: &Query, bytes: &[u8], path: &std::path::Path) -> Result<(), String> {
    // What is refused is refused in each way.
    let Ok(search) = query.clone().compile() else { return Ok(()) };
    let slice = search.search_slice("f", bytes).map_err(|err| format!("{query:?}: {err}"))?;
    let file = search.search_file(path).map_err(|err| format!("{query:?}: {err}"))?;
    if lines(&slice) != lines(&file) || slice.matches != file.matches {
        return Err(format!("{query:?}: a slice and a file"));
    }
    // A file that has no room for its longest line is an error; another must answer alike.
    let small = Limits::new().max_line_buffer_bytes(1 << 16).max_multi_line_bytes(1 << 17);
    let small = query.clone().limits(small).compile().and_then(|small| small.search_file(path));
    match small {
        Ok(small) if lines(&small) != lines(&file) => {
            Err(format!("{query:?}: a file with little room"))
        }
        Err(error) if error.code() != ingrep::ErrorCode::LimitExceeded => {
            Err(format!("{query:?}: {error}"))
        }
        _ => Ok(()),
    }
}
