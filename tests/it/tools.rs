//! The model-facing tools: whole replies, errors, previews, confinement, and what they refuse.

use crate::haystacks::{Haystacks, POOLS};
use crate::replies::{self, Kept, check, glob, grep, grep_as, schemas};
use crate::scope::{Closed, is_unprivileged};
use crate::tree::Tree;
use ingrep::tools::{
    GlobInput, GrepInput, GrepOutput, Reply, ToolError, ToolErrorCode, Tools, Walk, Window,
};
use ingrep::{CancelToken, Case, MultiLine};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

fn haystacks() -> Haystacks {
    Haystacks::new(&[
        ("src/old.rs", &b"fn one() {}\n\nfn two() {}\n"[..]),
        ("src/deep/new.rs", b"    // fn\r\n"),
        (".hidden/x.rs", b"fn hidden\n"),
        ("notes.txt", b"no code\n"),
        (".git/config", b"fn\n"),
        ("docs/latin1.txt", b"fn caf\xe9\n"),
    ])
}

/// What a reviewer reads: the text as a model gets it, and the data.
fn snapshot(name: &str, places: &[(&Path, &str)], reply: &Reply) {
    let data = serde_json::to_string_pretty(&reply.data).unwrap();
    let mut shown = format!("{}\n-- data\n{data}", reply.text);
    for (place, stand_in) in places {
        shown = shown.replace(place.to_str().unwrap(), stand_in);
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(format!("tools_{name}"), shown);
    });
}

#[test]
fn each_reply_of_glob_is_known() {
    let haystacks = haystacks();
    let outside = Haystacks::new(&[("b/out.rs", ""), ("a/out.rs", "")]);
    let out = outside.root().to_str().unwrap();
    let tools = Tools::new(haystacks.root());
    for (name, tools, input) in [
        ("some", tools.clone(), GlobInput::new("*.rs")),
        ("newest_first", tools.clone().newest_first(true), GlobInput::new("*.rs")),
        ("none", tools.clone(), GlobInput::new("*.py")),
        ("directory", tools.clone(), GlobInput::new("src/deep/")),
        ("over_cap", tools.clone().glob_max_results(2), GlobInput::new("*")),
        ("saved", tools.clone().glob_max_results(2).spill(Kept::default()), GlobInput::new("*")),
        ("sampled", tools.clone().glob_max_results(4).sample_over_cap(true), GlobInput::new("*")),
        ("meta", tools.clone().meta_max_bytes(280), GlobInput::new("*")),
        ("paged", tools.clone().glob_max_results(2), GlobInput::new("*").offset(1)),
        ("in_a_directory", tools.clone(), GlobInput::new("*.rs").path("src/../src")),
        ("outside", tools.clone(), GlobInput::new("*.rs").path(out)),
        ("in_git", tools.clone(), GlobInput::new("*").path(".git")),
        ("repository", tools.clone().walk(Walk::Repository), GlobInput::new("*.rs")),
        ("hidden_root", tools.walk(Walk::Repository), GlobInput::new("*").path(".hidden")),
    ] {
        let reply = glob(&tools, &input);
        let places = [(haystacks.root(), "<here>"), (outside.root(), "<outside>")];
        snapshot(&format!("glob_{name}"), &places, &reply.clone().into_reply());
        for pool in POOLS.iter() {
            assert_eq!(glob(&tools.clone().pool(pool), &input), reply, "{name}");
        }
    }
}

#[test]
fn each_reply_of_grep_is_known() {
    let haystacks = haystacks();
    let tools = Tools::new(haystacks.root());
    let find = GrepInput::new;
    let saving = || tools.clone().spill(Kept::default());
    use GrepOutput::{Counts, FilesWithMatches, Matches};
    for (name, tools, input, output) in [
        ("one", tools.clone(), find("code"), Matches),
        ("several", tools.clone(), find("fn"), Matches),
        ("none", tools.clone(), find("nowhere"), Matches),
        ("over_cap", tools.clone().grep_max_matches(3), find("fn"), Matches),
        ("over_cap_inside_a_file", tools.clone().grep_max_matches(1), find("fn"), Matches),
        ("saved", saving().grep_max_matches(1), find("fn"), Matches),
        ("no_room", saving().grep_max_matches(0), find("fn"), Matches),
        ("meta", tools.clone().meta_max_bytes(600), find("fn"), Matches),
        ("paged", tools.clone().grep_max_matches(2), find("fn").offset(1), Matches),
        ("past_the_end", tools.clone(), find("fn").offset(9), Matches),
        ("head", tools.clone().grep_max_line_bytes(5), find("fn"), Matches),
        (
            "window",
            tools.clone().grep_max_line_bytes(5).window(Window::FirstMatch),
            find("w"),
            Matches,
        ),
        ("files", tools.clone(), find("fn"), FilesWithMatches),
        ("counts", tools.clone(), find("fn"), Counts),
        ("counts_over_cap", saving().grep_max_matches(2), find("fn"), Counts),
        ("files_one", tools.clone(), find("hidden"), FilesWithMatches),
        ("include", tools.clone(), find("fn").include("src/*.rs"), Matches),
        ("include_nothing", tools.clone(), find("fn").include("*.py"), Matches),
        ("one_file", tools.clone(), find("fn").path("src/old.rs"), Matches),
        ("repository", tools.clone().walk(Walk::Repository), find("fn"), Matches),
        ("hidden_too", tools.clone().walk(Walk::RepositoryAndHidden), find("fn"), Matches),
        ("in_git", tools.clone(), find("fn").path(".git"), Matches),
        ("newest_first", tools.clone().newest_first(true), find("fn"), FilesWithMatches),
        (
            "other_case",
            tools.clone(),
            find("FN ONE").query(|query| query.case(Case::Insensitive)),
            Matches,
        ),
    ] {
        let reply = grep_as(&tools, &input, output);
        let places = [(haystacks.root(), "<here>")];
        snapshot(&format!("grep_{name}"), &places, &reply.clone().into_reply());
        for pool in POOLS.iter() {
            assert_eq!(grep_as(&tools.clone().pool(pool), &input, output), reply, "{name}");
        }
    }
}

#[test]
fn a_result_that_fits_exactly_is_complete_and_never_saved() {
    let haystacks = haystacks();
    let store = Kept::default();
    let tools = Tools::new(haystacks.root()).spill(store.clone());
    let all = glob(&tools, &GlobInput::new("*"));
    let exact = glob(&tools.clone().glob_max_results(all.total), &GlobInput::new("*"));
    assert_eq!((&exact, exact.truncated), (&all, false));
    let all = grep(&tools, &GrepInput::new("fn"));
    let exact = grep(&tools.clone().grep_max_matches(all.total), &GrepInput::new("fn"));
    assert_eq!((&exact, exact.truncated), (&all, false));
    assert_eq!(store.all(), []);
    assert!(glob(&tools.clone().glob_max_results(4), &GlobInput::new("*")).truncated);
    assert!(grep(&tools.grep_max_matches(all.total - 1), &GrepInput::new("fn")).truncated);
    assert_eq!(store.all().len(), 2, "one less is over the cap");
}

#[test]
fn pages_together_are_the_whole_result() {
    let haystacks = haystacks();
    let tools = Tools::new(haystacks.root());
    let all = grep(&tools, &GrepInput::new("n"));
    let paths = glob(&tools, &GlobInput::new("*"));
    for size in 1..=7 {
        let store = Kept::default();
        let tools =
            tools.clone().grep_max_matches(size).glob_max_results(size).spill(store.clone());
        let lines = |reply: &ingrep::tools::GrepReply| {
            let of = |file: &ingrep::tools::FileGroup| {
                let path = file.path.path.clone();
                file.matches.iter().map(move |m| (path.clone(), m.line)).collect::<Vec<_>>()
            };
            reply.files.iter().flat_map(of).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        let mut offset = size;
        found.extend(lines(&grep(&tools, &GrepInput::new("n"))));
        let saved = store.all().len();
        while offset < all.total {
            let page = grep(&tools, &GrepInput::new("n").offset(offset));
            assert_eq!((page.total, page.offset), (all.total, offset));
            assert_eq!(page.truncated, offset + size < all.total);
            found.extend(lines(&page));
            offset += size;
        }
        assert_eq!(found, lines(&all), "pages of {size}");
        assert_eq!(store.all().len(), saved, "only the first page saves");

        let mut found = Vec::new();
        for offset in (0..paths.total).step_by(size as usize) {
            found.extend(glob(&tools, &GlobInput::new("*").offset(offset)).paths);
        }
        assert_eq!(found, paths.paths, "pages of {size}");
    }
}

#[test]
fn data_over_its_cap_is_a_beginning_of_all_data_and_the_text_stays_whole() {
    let files: Vec<_> = (0..60).map(|n| (format!("f{n:02}.txt"), "needle\n")).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let haystacks = Haystacks::new(&files);
    let tools = Tools::new(haystacks.root());
    let paths = glob(&tools, &GlobInput::new("*"));
    let lines = grep(&tools, &GrepInput::new("needle"));
    for cap in [0, 300, 1_000, 3_000, 65_536] {
        let tools = tools.clone().meta_max_bytes(cap);
        let part = glob(&tools, &GlobInput::new("*"));
        assert_eq!(part.text, paths.text);
        assert_eq!(part.paths, paths.paths[..part.paths.len()]);
        assert_eq!(part.omitted, 60 - part.paths.len() as u64);
        let size = part.clone().into_reply().data.to_string().len();
        assert!(part.paths.is_empty() || size <= cap, "{size} over {cap}");
        let part = grep(&tools, &GrepInput::new("needle"));
        assert_eq!(part.text, lines.text);
        assert_eq!(part.files, lines.files[..part.files.len()]);
        assert_eq!(part.omitted, 60 - part.files.len() as u64);
        let size = part.into_reply().data.to_string().len();
        assert!(cap < 300 || size <= cap, "{size} over {cap}");
    }
}

/// The spans lie on the matches, however the line was cut.
#[test]
fn a_cut_line_keeps_its_characters_and_the_places_of_its_matches() {
    let long = "é".repeat(500);
    let emoji = "😀👩‍👩‍👧".repeat(100);
    let haystacks = Haystacks::new(&[
        ("middle", format!("{long}needle{long}needle\n")),
        ("start", format!("needle{emoji}\r\n")),
        ("end", format!("{emoji}needle")),
        ("only", "needle\n".to_string()),
    ]);
    for max in (0..80).chain([1000, 1006, 1007, 2000, 5000]) {
        for window in [Window::Head, Window::FirstMatch] {
            let tools = Tools::new(haystacks.root()).grep_max_line_bytes(max).window(window);
            let reply = grep(&tools, &GrepInput::new("needle"));
            assert_eq!(reply.total, 4);
            for line in reply.files.iter().flat_map(|file| &file.matches) {
                let bare = line.text.strip_suffix(" (line truncated)").unwrap_or(&line.text);
                let marks = if window == Window::FirstMatch { 6 } else { 0 };
                assert!(bare.len() <= max + marks, "{max} {window:?}: {}", line.text);
                assert!(!line.text.contains(['\u{fffd}', '\r', '\n']));
                let cut = line.text.contains('…') || bare != line.text;
                assert_eq!(line.truncated, cut, "{max} {window:?}: {}", line.text);
                for &[start, end] in &line.spans {
                    let shown = &line.text[start..end];
                    let whole = max >= 6 && window == Window::FirstMatch || shown == "needle";
                    assert!("needle".starts_with(shown) && !shown.is_empty());
                    let at_end = bare[end..].trim_end_matches('…').is_empty();
                    assert!(whole || at_end, "{max} {window:?}: {}", line.text);
                }
                if window == Window::FirstMatch && max >= 6 {
                    let [start, end] = line.spans[0];
                    assert_eq!(&line.text[start..end], "needle", "{max}: {}", line.text);
                }
            }
        }
    }
}

#[test]
fn a_line_end_is_no_part_of_a_line() {
    let haystacks = Haystacks::new(&[("a", "x\r\n"), ("b", "x\n"), ("c", "x"), ("d", "x\r\r\n")]);
    let reply = grep(&Tools::new(haystacks.root()), &GrepInput::new("x"));
    let texts: Vec<_> = reply.files.iter().map(|file| file.matches[0].text.as_str()).collect();
    assert_eq!(texts, ["x", "x", "x", "x\r"]);
}

#[test]
fn names_that_are_no_plain_text_are_shown_safely_and_kept_exactly() {
    use base64::Engine as _;
    let tree = Tree::new("plain.txt");
    let names = [&b"new\nline.txt"[..], b"inv\xffalid.txt", b"\x1b[31mred.txt", b" spaces .txt"];
    for name in names {
        std::fs::write(tree.raw_file(name), "needle\n").unwrap();
    }
    let tools = Tools::new(tree.path());
    let reply = glob(&tools, &GlobInput::new("*.txt"));
    assert_eq!(reply.text.lines().count(), 5, "one line for each: {}", reply.text);
    let mut exact: Vec<Vec<u8>> = Vec::new();
    for shown in &reply.paths {
        exact.push(match &shown.path_base64 {
            Some(coded) => base64::engine::general_purpose::STANDARD.decode(coded).unwrap(),
            None => shown.path.clone().into_bytes(),
        });
    }
    exact.sort();
    let mut expected: Vec<_> = names.iter().map(|name| name.to_vec()).collect();
    expected.push(b"plain.txt".to_vec());
    expected.sort();
    assert_eq!(exact, expected);
    let found = grep(&tools, &GrepInput::new("needle"));
    let mut shown: Vec<_> = found.files.iter().map(|file| file.path.path.as_str()).collect();
    shown.sort_unstable();
    assert_eq!(
        shown,
        [" spaces .txt", "\\u{1b}[31mred.txt", "inv\u{fffd}alid.txt", "new\\nline.txt"]
    );
}

#[test]
fn a_place_is_named_relative_to_the_working_directory_if_it_is_inside() {
    let haystacks = haystacks();
    let error =
        failed(&Tools::new(haystacks.path("notes.txt")), "glob", &json!({ "pattern": "*" }));
    assert!(error.message().contains("glob: . is a file"), "{error}");
    let inside = Tools::new(haystacks.path("docs"));
    let reply = grep(&inside, &GrepInput::new("one").path(".."));
    assert_eq!(
        reply.files[0].path.path,
        haystacks.path("src/old.rs").canonicalize().unwrap().to_str().unwrap()
    );
    let reply = glob(&inside, &GlobInput::new("*").path("../docs"));
    assert_eq!(reply.text, "latin1.txt");
}

#[test]
fn what_cannot_be_read_is_counted_and_named_and_fails_only_a_strict_call() {
    if !is_unprivileged(
        "tools::what_cannot_be_read_is_counted_and_named_and_fails_only_a_strict_call",
    ) {
        return;
    }
    let tree = Tree::new("open/a.txt: needle\nlocked/b.txt: needle\nfile.txt: needle");
    let _locked = Closed::new(tree.join("locked"), 0);
    let _file = Closed::new(tree.join("file.txt"), 0);
    let tools = Tools::new(tree.path());
    let reply = grep(&tools, &GrepInput::new("needle"));
    let expected = "Found 1 match\n\nopen/a.txt\nLine 1: needle\n(2 skipped: 2 permission denied)";
    assert_eq!(reply.text, expected);
    let named = reply.notes.skipped_first.join("\n");
    assert!(named.contains("locked") && named.contains("file.txt"), "{named}");
    let nothing = grep(&tools, &GrepInput::new("nowhere"));
    assert_eq!(nothing.text, "No matches found\n(2 skipped: 2 permission denied)");
    let paths = glob(&tools, &GlobInput::new("*.txt"));
    assert!(paths.text.ends_with("\n(1 skipped: 1 permission denied)"), "{}", paths.text);

    let spill = tempfile::tempdir().unwrap();
    let store = ingrep::tools::DirSpill::new(spill.path()).unwrap();
    let strict = tools.strict(true).grep_max_matches(0).glob_max_results(0).spill(store);
    for tool in ["glob", "grep"] {
        let error = failed(
            &strict,
            tool,
            &json!({ "pattern": if tool == "glob" { "*" } else { "needle" } }),
        );
        assert_eq!(error.code(), ToolErrorCode::Failed);
        assert!(
            error.message().contains("permission") || error.message().contains("Permission"),
            "{error}"
        );
        let left = std::fs::read_dir(spill.path()).unwrap().count();
        assert_eq!(left, 0, "{tool}: a failed call leaves no result behind");
    }
}

#[track_caller]
fn failed(tools: &Tools, tool: &str, arguments: &Value) -> ToolError {
    let error = match tools.call(tool, arguments, &CancelToken::new()) {
        Err(error) => error,
        Ok(reply) => panic!("{tool} {arguments}: {}", reply.text),
    };
    assert_helps(&error);
    error
}

/// One sentence on what happened and one on what to do, on one line.
#[track_caller]
fn assert_helps(error: &ToolError) {
    let (message, next) = (error.message(), error.next_step().unwrap_or_default());
    assert!(!message.is_empty() && !next.is_empty(), "no next step: {error}");
    assert!(!message.ends_with('.') && !next.ends_with('.'), "{error}");
    assert!(next.starts_with(|c: char| !c.is_lowercase()), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert_eq!(error.to_string(), format!("{message}. {next}."));
}

#[test]
fn each_wrong_argument_is_told_before_anything_is_read() {
    use ToolErrorCode::{Failed, InvalidArgument as Argument, InvalidPattern as Pattern};
    let haystacks = haystacks();
    let tools = Tools::new(haystacks.root());
    // Whether the schema refuses it, too: a harness may validate before it calls.
    const FORM: bool = true;
    const MEANING: bool = false;
    for (tool, arguments, refused_by, code, says) in [
        ("glob", json!({}), FORM, Argument, "`pattern` is missing"),
        ("glob", json!({ "pattern": null }), FORM, Argument, "`pattern` is missing"),
        ("glob", json!({ "pattern": 1 }), FORM, Argument, "`pattern` is a number"),
        ("glob", json!({ "pattern": true }), FORM, Argument, "`pattern` is a boolean"),
        ("glob", json!({ "pattern": ["*"] }), FORM, Argument, "`pattern` is an array"),
        ("glob", json!({ "pattern": { "a": 1 } }), FORM, Argument, "`pattern` is an object"),
        ("glob", json!({ "pattern": "*", "path": 1 }), FORM, Argument, "`path` is a number"),
        ("glob", json!({ "pattern": "*", "limit": 5 }), FORM, Argument, "no argument `limit`"),
        (
            "glob",
            json!({ "pattern": "*", "include": "*" }),
            FORM,
            Argument,
            "no argument `include`",
        ),
        ("glob", json!(null), FORM, Argument, "null, not an object"),
        ("glob", json!("*"), FORM, Argument, "a string, not an object"),
        ("glob", json!(["*"]), FORM, Argument, "an array, not an object"),
        ("glob", json!({ "pattern": "" }), MEANING, Argument, "`pattern` is blank"),
        ("glob", json!({ "pattern": " \t\n" }), MEANING, Argument, "`pattern` is blank"),
        ("glob", json!({ "pattern": "*", "path": "" }), MEANING, Argument, "`path` is blank"),
        ("glob", json!({ "pattern": "*", "path": " " }), MEANING, Argument, "`path` is blank"),
        ("glob", json!({ "pattern": "*", "path": "a\0b" }), MEANING, Argument, "NUL"),
        ("glob", json!({ "pattern": "/elsewhere/*" }), MEANING, Argument, "not inside"),
        ("glob", json!({ "pattern": "../*" }), MEANING, Argument, "leads out"),
        ("glob", json!({ "pattern": "src/../../*" }), MEANING, Argument, "leads out"),
        ("glob", json!({ "pattern": "*", "path": "notes.txt" }), MEANING, Failed, "is a file"),
        ("glob", json!({ "pattern": "*", "path": "gone" }), MEANING, Failed, "gone"),
        ("glob", json!({ "pattern": "*", "path": "SRC" }), MEANING, Failed, "SRC"),
        ("glob", json!({ "pattern": "[" }), MEANING, Pattern, "["),
        ("glob", json!({ "pattern": "{a" }), MEANING, Pattern, "{a"),
        ("grep", json!({}), FORM, Argument, "`pattern` is missing"),
        ("grep", json!({ "pattern": 1.5 }), FORM, Argument, "`pattern` is a number"),
        ("grep", json!({ "pattern": "x", "path": [] }), FORM, Argument, "`path` is an array"),
        (
            "grep",
            json!({ "pattern": "x", "include": {} }),
            FORM,
            Argument,
            "`include` is an object",
        ),
        ("grep", json!({ "pattern": "x", "-i": true }), FORM, Argument, "no argument `-i`"),
        ("grep", json!(7), FORM, Argument, "a number, not an object"),
        ("grep", json!({ "pattern": "" }), MEANING, Argument, "`pattern` is empty"),
        ("grep", json!({ "pattern": "x", "path": "\t" }), MEANING, Argument, "`path` is blank"),
        ("grep", json!({ "pattern": "x", "path": "\0" }), MEANING, Argument, "NUL"),
        ("grep", json!({ "pattern": "x", "include": "" }), MEANING, Argument, "`include` is blank"),
        (
            "grep",
            json!({ "pattern": "x", "include": " " }),
            MEANING,
            Argument,
            "`include` is blank",
        ),
        ("grep", json!({ "pattern": "x", "include": "!*.rs" }), MEANING, Argument, "excludes"),
        ("grep", json!({ "pattern": "x", "include": "*.a,*.b" }), MEANING, Argument, "is a list"),
        ("grep", json!({ "pattern": "x", "include": "{a,b},c" }), MEANING, Argument, "is a list"),
        ("grep", json!({ "pattern": "x", "include": "../*" }), MEANING, Argument, "leads out"),
        ("grep", json!({ "pattern": "x", "include": "/else/*" }), MEANING, Argument, "not inside"),
        ("grep", json!({ "pattern": "x", "include": "[" }), MEANING, Pattern, "["),
        ("grep", json!({ "pattern": "x", "path": "gone" }), MEANING, Failed, "gone"),
        ("grep", json!({ "pattern": "x", "path": "Notes.txt" }), MEANING, Failed, "Notes.txt"),
        ("grep", json!({ "pattern": "fn (" }), MEANING, Pattern, "at byte 3"),
        ("grep", json!({ "pattern": "(?=x)" }), MEANING, Pattern, "look-around"),
        ("grep", json!({ "pattern": "(?<!x)y" }), MEANING, Pattern, "look-around"),
        ("grep", json!({ "pattern": "(x)\\1" }), MEANING, Pattern, "backreference"),
        ("grep", json!({ "pattern": "interface{" }), MEANING, Pattern, "repetition"),
        ("grep", json!({ "pattern": "a\nb" }), MEANING, Pattern, "\\n"),
        ("grep", json!({ "pattern": "\\w{1000}{1000}" }), MEANING, Pattern, "max_regex_bytes"),
    ] {
        assert_eq!(!schemas(tool).input.is_valid(&arguments), refused_by, "{arguments}");
        let error = failed(&tools, tool, &arguments);
        assert_eq!(error.code(), code, "{tool} {arguments}: {error}");
        assert!(error.to_string().contains(says), "{tool} {arguments}: {error}");
        assert!(error.partial().is_none());
        let absent = Tools::new("/nonexistent/place");
        if code == Argument && !says.contains("inside") {
            assert_eq!(failed(&absent, tool, &arguments).code(), code, "nothing is read for it");
        }
    }
    let error = failed(&tools, "find", &json!({}));
    assert_eq!(error.code(), Argument);
    assert!(error.to_string().contains("`find`") && error.to_string().contains("`glob`"));
    for (tool, path, other) in [("glob", "SRC", "src"), ("grep", "Notes.txt", "notes.txt")] {
        let error = failed(&tools, tool, &json!({ "pattern": "x", "path": path }));
        assert!(error.next_step().unwrap().contains(other), "{error}");
    }
}

#[test]
fn good_arguments_are_good_for_the_schema_and_the_tool() {
    let haystacks = haystacks();
    let tools = Tools::new(haystacks.root());
    for (tool, arguments, found) in [
        ("glob", json!({ "pattern": "*.rs" }), true),
        ("glob", json!({ "pattern": "./src/*.rs", "path": "." }), true),
        ("glob", json!({ "pattern": haystacks.path("src/*.rs").to_str() }), true),
        ("glob", json!({ "pattern": "src/*.rs", "path": "src" }), true),
        ("glob", json!({ "pattern": "deep/*.rs", "path": "src" }), true),
        ("glob", json!({ "pattern": "nothing" }), false),
        ("grep", json!({ "pattern": " " }), true),
        ("grep", json!({ "pattern": "fn", "include": "*.{rs,py}" }), true),
        ("grep", json!({ "pattern": "fn", "include": "[a,n]ew.rs" }), true),
        ("grep", json!({ "pattern": "fn", "path": "src", "include": "src/deep/*" }), true),
        ("grep", json!({ "pattern": "fn", "path": "src/old.rs" }), true),
    ] {
        assert!(schemas(tool).input.is_valid(&arguments), "{arguments}");
        let reply = tools.call(tool, &arguments, &CancelToken::new()).unwrap();
        check(tool, GrepOutput::Matches, &reply);
        assert_eq!(reply.data["total"] != 0, found, "{tool} {arguments}: {}", reply.text);
    }
}

#[test]
fn the_schemas_allow_nothing_that_they_do_not_name() {
    fn walk(schema: &Value, objects: &mut u32) {
        if schema["properties"].is_object() {
            assert_eq!(schema["additionalProperties"], false, "{schema}");
            *objects += 1;
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|field| walk(field, objects)),
            Value::Array(items) => items.iter().for_each(|item| walk(item, objects)),
            _ => {}
        }
    }
    let mut objects = 0;
    for tool in ingrep::tools::definitions() {
        walk(&tool.input_schema, &mut objects);
        walk(&tool.output_schema, &mut objects);
        assert!(tool.description.len() > 40);
    }
    assert_eq!(objects, 9);
    let reply = json!({ "paths": [], "total": 0, "offset": 0, "truncated": false, "omitted": 0 });
    assert!(!schemas("glob").output.is_valid(&reply), "`saved` is required");
}

#[test]
fn hostile_patterns_are_only_patterns() {
    let haystacks = Haystacks::new(&[
        ("a.txt", "$(touch x) --pre=touch `touch x` 'q' \"q\" ; touch x\n-e --files\n"),
        ("$(touch x).txt", "n"),
        ("--files", "n"),
        ("!bang", "n"),
        ("#hash", "n"),
    ]);
    let tools = Tools::new(haystacks.root());
    let names = || {
        let names = std::fs::read_dir(haystacks.root()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    for (pattern, total) in [
        (r"\$\(touch x\)", 1),
        ("$(touch x)", 0),
        ("`touch x`", 1),
        ("--pre=touch", 1),
        ("--files", 1),
        ("-e", 1),
        ("--", 2),
        ("-", 2),
        ("'q'", 1),
        ("\"q\"", 1),
        ("; touch x", 1),
        ("\0", 0),
        ("@a.txt", 0),
    ] {
        let reply = grep(&tools, &GrepInput::new(pattern).include("a.txt"));
        assert_eq!(reply.total, total, "{pattern:?}");
    }
    for (pattern, expected) in [
        ("$(touch x).txt", "$(touch x).txt"),
        ("--files", "--files"),
        ("-*", "--files"),
        ("./!bang", "!bang"),
        ("./#hash", "#hash"),
        ("#hash", "#hash"),
        ("'a.txt'", "No files found"),
        ("a.txt\nb", "No files found"),
        ("a.txt\0", "No files found"),
        ("`touch x`", "No files found"),
    ] {
        assert_eq!(glob(&tools, &GlobInput::new(pattern)).text, expected, "{pattern:?}");
    }
    for path in ["$(touch x)", "-L", "--pre=touch", "`touch x`", "a\nb"] {
        for tool in ["glob", "grep"] {
            let error = tools
                .call(tool, &json!({ "pattern": "n", "path": path }), &CancelToken::new())
                .unwrap_err();
            assert_eq!(error.code(), ToolErrorCode::Failed, "{path:?}");
        }
    }
    assert_eq!(names(), before, "no pattern makes or removes a file");
}

#[test]
fn an_aborted_call_says_so_and_hands_over_what_it_has() {
    let haystacks = haystacks();
    let tools = Tools::new(haystacks.root());
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let past = Tools::new(haystacks.root()).timeout(Some(Duration::ZERO));
    for tool in ["glob", "grep"] {
        let arguments = json!({ "pattern": if tool == "glob" { "*" } else { "n" } });
        let late = past.call(tool, &arguments, &CancelToken::new()).unwrap_err();
        let stopped = tools.call(tool, &arguments, &cancelled).unwrap_err();
        let both = tools
            .clone()
            .timeout(None)
            .call(tool, &arguments, &CancelToken::new().deadline_in(Duration::ZERO))
            .unwrap_err();
        for error in [&late, &stopped, &both] {
            assert_helps(error);
            assert_eq!(error.code().as_str(), "SEARCH_ABORTED");
            let partial = error.partial().unwrap();
            assert!(
                !partial.text.contains("No "),
                "it is not known that there is nothing: {}",
                partial.text
            );
            assert_eq!(partial.data["total"], 0);
            assert!(schemas(tool).output.is_valid(&partial.data));
        }
        assert!(late.message().contains("deadline"), "{late}");
        assert!(both.message().contains("deadline"), "{both}");
        assert!(stopped.message().contains("cancelled"), "{stopped}");
    }
    assert!(replies::glob(&tools, &GlobInput::new("*")).total > 0);
}

#[test]
fn a_confined_call_sees_nothing_outside() {
    let tree = Tree::new(
        "root/in/a.txt: needle\nsecret/b.txt: needle\nroot/out -> ../secret\nroot/file -> ../secret/b.txt\nroot/back -> in",
    );
    let tools = Tools::new(tree.join("root")).confine(tree.join("root"));
    let absolute = tree.join("secret");
    let inside = tree.join("root/in");
    for (path, lies_inside) in [
        ("..", false),
        ("../secret", false),
        ("in/../../secret", false),
        (absolute.to_str().unwrap(), false),
        ("/", false),
        ("out", false),
        ("file", false),
        ("../gone", false),
        ("/gone", false),
        ("gone/../../secret", false),
        // Neither what is there nor what is not may be found out through a link.
        ("out/gone", false),
        ("out/B.txt", false),
        ("in/gone", true),
        ("gone", true),
        ("in", true),
        ("back", true),
        ("in/../in", true),
        (inside.to_str().unwrap(), true),
    ] {
        let found = tools.grep(&GrepInput::new("needle").path(path), &CancelToken::new());
        match found {
            Ok(reply) => assert!(lies_inside && reply.total == 1, "{path}: {}", reply.text),
            Err(error) => {
                assert_helps(&error);
                assert_eq!(error.code(), ToolErrorCode::Failed);
                let refused = error.message().contains("is outside of");
                assert_eq!(refused, !lies_inside, "{path}: {error}");
                assert!(refused || path.contains("gone"), "{path}: {error}");
                assert!(!error.to_string().contains("b.txt"), "{path}: {error}");
            }
        }
    }
    let all = grep(&tools, &GrepInput::new("needle"));
    assert_eq!(all.total, 1, "links are not followed: {}", all.text);
    assert_eq!(glob(&tools, &GlobInput::new("*")).text, "in/a.txt");
    let away = Tools::new(tree.join("secret")).confine(tree.join("root"));
    assert!(failed(&away, "glob", &json!({ "pattern": "*" })).message().contains("outside"));
    let free = Tools::new(tree.join("root"));
    assert_eq!(grep(&free, &GrepInput::new("needle").path("../secret")).total, 1);
}

#[test]
fn an_empty_glob_is_explained_by_facts() {
    let tree = Tree::new("real/f.txt\nlink -> real\nsrc/lib/a.ts");
    let tools = Tools::new(tree.path());
    for (pattern, says) in [
        ("src", "src is a directory"),
        ("src/lib/", "src/lib/**"),
        ("link/*", "link is a symbolic link"),
        (r"src\lib\*.ts", "a backslash"),
    ] {
        let reply = glob(&tools, &GlobInput::new(pattern));
        assert!(reply.paths.is_empty());
        assert!(reply.notes.hints.iter().any(|hint| hint.contains(says)), "{}", reply.text);
    }
    for pattern in ["*.py", "none/*", "src/none/*"] {
        assert_eq!(glob(&tools, &GlobInput::new(pattern)).text, "No files found", "{pattern}");
    }
    let found = glob(&tools, &GlobInput::new("*").path("link"));
    assert_eq!(found.text, "link/f.txt", "a link that is named is followed");
}

#[test]
fn a_match_over_several_lines_is_told_by_its_first() {
    let haystacks = Haystacks::new(&[("a", "x\none\ntwo\n")]);
    let input = GrepInput::new("one\\ntwo").query(|query| query.multi_line(MultiLine::On));
    let reply = grep(&Tools::new(haystacks.root()), &input);
    assert_eq!(reply.text, "Found 1 match\n\na\nLine 2: one\ntwo");
}

#[test]
fn a_sample_has_some_of_every_top_level_entry_in_the_order_of_the_whole() {
    let haystacks = Haystacks::new(&[
        ("a/1", ""),
        ("a/2", ""),
        ("a/3", ""),
        ("b/1", ""),
        ("c", ""),
        ("b/2", ""),
    ]);
    for (cap, expected) in [
        (0, ""),
        (1, "a/1"),
        (3, "a/1 b/1 c"),
        (4, "a/1 a/2 b/1 c"),
        (5, "a/1 a/2 b/1 c b/2"),
        (6, "a/1 a/2 a/3 b/1 c b/2"),
    ] {
        let tools = Tools::new(haystacks.root()).glob_max_results(cap).sample_over_cap(true);
        let reply = glob(&tools, &GlobInput::new("*"));
        let paths: Vec<_> = reply.paths.iter().map(|shown| shown.path.as_str()).collect();
        assert_eq!(paths.join(" "), expected);
        assert_eq!((reply.total, reply.truncated), (6, cap < 6));
    }
}
