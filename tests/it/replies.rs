//! Tool calls whose replies are checked in every way that holds for all replies.

use ingrep::CancelToken;
use ingrep::tools::{
    GlobInput, GlobReply, GrepInput, GrepOutput, GrepReply, Reply, SpillStore, Spilled, Tools,
    definitions,
};
use jsonschema::Validator;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::{Arc, LazyLock, Mutex};

/// The published schemas, as a harness would compile them.
pub(crate) struct Schemas {
    pub(crate) input: Validator,
    pub(crate) output: Validator,
}

static SCHEMAS: LazyLock<[Schemas; 2]> = LazyLock::new(|| {
    definitions().map(|tool| {
        let compiled = |schema: &Value| {
            assert!(jsonschema::meta::is_valid(schema), "{schema}");
            jsonschema::validator_for(schema).unwrap()
        };
        Schemas { input: compiled(&tool.input_schema), output: compiled(&tool.output_schema) }
    })
});

pub(crate) fn schemas(tool: &str) -> &'static Schemas {
    let place = definitions().iter().position(|known| known.name == tool).unwrap();
    &SCHEMAS[place]
}

pub(crate) fn glob(tools: &Tools, input: &GlobInput) -> GlobReply {
    let reply = tools.glob(input, &CancelToken::new()).unwrap();
    check("glob", GrepOutput::Matches, &reply.clone().into_reply());
    reply
}

pub(crate) fn grep(tools: &Tools, input: &GrepInput) -> GrepReply {
    grep_as(tools, input, GrepOutput::Matches)
}

pub(crate) fn grep_as(tools: &Tools, input: &GrepInput, output: GrepOutput) -> GrepReply {
    let input = input.clone().output(output);
    let reply = tools.grep(&input, &CancelToken::new()).unwrap();
    check("grep", output, &reply.clone().into_reply());
    reply
}

/// The data must have the published form, and say all that the text says.
#[track_caller]
pub(crate) fn check(tool: &str, output: GrepOutput, reply: &Reply) {
    let faults: Vec<_> =
        schemas(tool).output.iter_errors(&reply.data).map(|e| e.to_string()).collect();
    assert_eq!(faults, [""; 0], "{}", reply.data);
    if reply.data["omitted"] == 0 {
        assert_eq!(reply.text, text_of(tool, output, &reply.data));
    }
}

/// What the contract makes of this data.
fn text_of(tool: &str, output: GrepOutput, data: &Value) -> String {
    let number = |name: &str| data[name].as_u64().unwrap();
    let mut text = match tool {
        "glob" => list(&data["paths"], "\n", |path| string(&path["path"])),
        _ => list(
            &data["files"],
            if output == GrepOutput::Matches { "\n\n" } else { "\n" },
            |file| match output {
                GrepOutput::Matches => {
                    let lines = list(&file["matches"], "", |line| {
                        format!("\nLine {}: {}", line["line"], string(&line["text"]))
                    });
                    string(&file["path"]) + &lines
                }
                GrepOutput::Counts => format!("{}: {}", string(&file["path"]), file["count"]),
                _ => string(&file["path"]),
            },
        ),
    };
    let truncated = data["truncated"].as_bool().unwrap();
    let next_page = |kept: usize| match number("offset") {
        0 => None,
        offset => Some(format!("The result goes on at offset {}.", offset + kept as u64)),
    };
    let stored = data["saved"].as_object().map(|saved| {
        format!("stored at: {}. {}", string(&saved["locator"]), string(&saved["hint"]))
    });
    if tool == "glob" {
        let (kept, total) = (data["paths"].as_array().unwrap().len(), number("total"));
        if total == 0 {
            text.push_str("No files found");
        } else if kept == 0 && !truncated {
            write!(text, "No more files: there are {total}").unwrap();
        }
        if truncated {
            let rest = stored.map_or_else(
                || {
                    next_page(kept).unwrap_or_else(|| {
                        "The complete result could not be saved; narrow pattern or path to see \
                         more."
                            .to_string()
                    })
                },
                |stored| format!("Full sorted result {stored}"),
            );
            write!(text, "\n\n(Showing {kept} of {total} paths. {rest})").unwrap();
        }
    } else if number("total") == 0 {
        text.push_str("No matches found");
    } else {
        let files = data["files"].as_array().unwrap();
        let (kept, total, noun) = match output {
            GrepOutput::Matches => {
                let kept = files.iter().map(|file| file["matches"].as_array().unwrap().len()).sum();
                (kept, number("total"), ["match", "matches"])
            }
            _ => (files.len(), number("total_files"), ["file", "files"]),
        };
        let noun = noun[usize::from(total != 1)];
        let of = if truncated || number("offset") > 0 { format!("{kept} of ") } else { "".into() };
        let between = if text.is_empty() { "" } else { "\n\n" };
        text = format!("Found {of}{total} {noun}{between}{text}");
        if truncated {
            let rest = stored.map_or_else(
                || {
                    next_page(kept).unwrap_or_else(|| {
                        "The complete result could not be saved; narrow pattern, path, or include \
                         to see more."
                            .to_string()
                    })
                },
                |stored| format!("Full grep result {stored}"),
            );
            write!(text, "\n\n({rest})").unwrap();
        }
    }
    for hint in data["hints"].as_array().unwrap() {
        write!(text, "\n({})", string(hint)).unwrap();
    }
    // A root that is left out is told as a hint, and not once more as skipped.
    let mut skipped = data["skipped"].as_object().unwrap().clone();
    skipped.remove("vcs_root");
    if !skipped.is_empty() {
        let total: u64 = skipped.values().map(|n| n.as_u64().unwrap()).sum();
        let reasons: Vec<_> =
            skipped.iter().map(|(reason, n)| format!("{n} {}", reason.replace('_', " "))).collect();
        write!(text, "\n({total} skipped: {})", reasons.join(", ")).unwrap();
    }
    text
}

fn list(items: &Value, between: &str, shown: impl Fn(&Value) -> String) -> String {
    items.as_array().unwrap().iter().map(shown).collect::<Vec<_>>().join(between)
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_string()
}

/// A store that keeps what it is given, under names that do not change.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<(String, String)>>>);

impl Kept {
    /// What was saved, with the name that was asked for.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap().clone()
    }
}

impl SpillStore for Kept {
    fn save(&self, name: &str, content: &mut dyn Read) -> io::Result<Spilled> {
        let mut text = String::new();
        content.read_to_string(&mut text)?;
        self.0.lock().unwrap().push((name.to_string(), text));
        Ok(Spilled { locator: format!("kept:{name}"), hint: "Ask for it.".to_string() })
    }
}
