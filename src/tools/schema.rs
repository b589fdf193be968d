//! What a harness registers: names, descriptions and JSON Schemas.

use serde_json::{Value, json};

/// A tool as a harness registers it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// The name to call it by.
    pub name: &'static str,
    /// What a model is told about it.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of the data of its replies.
    pub output_schema: Value,
}

/// The definitions of `glob` and `grep`.
///
/// ```
/// let names: Vec<_> = ingrep::tools::definitions().iter().map(|tool| tool.name).collect();
/// assert_eq!(names, ["glob", "grep"]);
/// ```
pub fn definitions() -> [Definition; 2] {
    [
        Definition {
            name: "glob",
            description: "Find files by a glob pattern such as `**/*.rs` or `src/**/*.{ts,tsx}`. \
                          A pattern without a slash matches file names at any depth. Returns one \
                          path per line, oldest modification first. Files only, never directories; \
                          hidden files are included, version control directories are not.",
            input_schema: object(
                json!({
                    "pattern": string("The glob to match files with, relative to `path`."),
                    "path": string("The directory to look in. Leave it out for the working directory."),
                }),
                &["pattern"],
            ),
            output_schema: object(
                with_notes(json!({
                    "paths": { "type": "array", "items": object(path(), &["path"]) },
                    "total": count(),
                    "offset": count(),
                    "truncated": { "type": "boolean" },
                    "omitted": count(),
                    "saved": saved(),
                })),
                &["paths", "total", "offset", "truncated", "omitted", "saved"],
            ),
        },
        Definition {
            name: "grep",
            description: "Search file contents by a regular expression (Rust syntax: no look-around, \
                          no back-references; a literal brace is written `\\{`). Returns the matching \
                          lines grouped by file, as `Line N: text`. To see what surrounds a match, \
                          read the file.",
            input_schema: object(
                json!({
                    "pattern": string("The regular expression to look for, line by line."),
                    "path": string("The directory or file to search. Leave it out for the working directory."),
                    "include": string("One glob of files to search, such as `*.rs` or `*.{ts,tsx}`."),
                }),
                &["pattern"],
            ),
            output_schema: object(
                with_notes(json!({
                    "files": { "type": "array", "items": group() },
                    "total": count(),
                    "total_files": count(),
                    "offset": count(),
                    "truncated": { "type": "boolean" },
                    "omitted": count(),
                    "saved": saved(),
                })),
                &["files", "total", "total_files", "offset", "truncated", "omitted", "saved"],
            ),
        },
    ]
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn string(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn strings() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn path() -> Value {
    json!({ "path": { "type": "string" }, "path_base64": { "type": "string" } })
}

fn saved() -> Value {
    let text = || json!({ "type": "string" });
    let place = object(json!({ "locator": text(), "hint": text() }), &["locator", "hint"]);
    json!({ "anyOf": [{ "type": "null" }, place] })
}

fn group() -> Value {
    let span = json!({ "type": "array", "items": count(), "minItems": 2, "maxItems": 2 });
    let line = object(
        json!({
            "line": { "type": "integer", "minimum": 1 },
            "text": { "type": "string" },
            "spans": { "type": "array", "items": span },
            "truncated": { "type": "boolean" },
        }),
        &["line", "text", "spans", "truncated"],
    );
    let mut properties = path();
    properties["count"] = count();
    properties["matches"] = json!({ "type": "array", "items": line });
    object(properties, &["path", "count", "matches"])
}

fn with_notes(mut properties: Value) -> Value {
    for name in ["files_walked", "files_searched", "files_binary"] {
        properties[name] = count();
    }
    properties["skipped"] = json!({ "type": "object", "additionalProperties": count() });
    for name in ["skipped_first", "hints", "warnings"] {
        properties[name] = strings();
    }
    properties
}
