//! Small inputs on which search tools have gone wrong, from public reports, as calls of our tools.
//!
//! The number before each case is its number in the shared collection. Cases without a tool call
//! are about rg's argv, which these tests do not run. Where our contract says otherwise than the
//! case, the contract is what is asserted, and a comment says so.
//!
//! Two are not here: 135 is about waiting for standard input, which the library never reads, and
//! 136, a locked directory, stands in `tools` with what cannot be read.

use crate::replies::{glob, grep, grep_as};
use crate::tree::Tree;
use ingrep::tools::{GlobInput, GrepInput, GrepOutput, GrepReply, ToolErrorCode, Tools, Walk};
use ingrep::{CancelToken, MultiLine, Order, Pool, Query, Scope, SortBy};
use std::path::Path;
use std::time::{Duration, Instant};

/// The absolute form of what a reply shows, relative to the tree.
fn below(tree: &Tree, cwd: &str, shown: &str) -> String {
    let path = tree.join(cwd).join(shown);
    path.strip_prefix(tree.path()).unwrap().to_str().unwrap().to_string()
}

/// Lists, with `path` relative to the tree and given as an absolute one unless it is `.`.
#[track_caller]
fn listed(tree: &Tree, tools: &Tools, cwd: &str, pattern: &str, path: &str) -> Vec<String> {
    let mut input = GlobInput::new(pattern);
    if path != "." {
        input = input.path(tree.join(path).to_str().unwrap());
    }
    let reply = glob(tools, &input);
    reply.paths.iter().map(|shown| below(tree, cwd, &shown.path)).collect()
}

/// One glob: number, tree, working directory, pattern, path, and the paths in any order.
#[track_caller]
fn check_glob(number: u32, table: &str, cwd: &str, pattern: &str, path: &str, expected: &[&str]) {
    let tree = Tree::new(table);
    let pattern = pattern.replace("<tree>", tree.path().to_str().unwrap());
    for pool in [Pool::inline(), Pool::new(2)] {
        let tools = Tools::new(tree.join(cwd)).pool(&pool);
        let mut paths = listed(&tree, &tools, cwd, &pattern, path);
        paths.sort();
        assert_eq!(paths, expected, "case {number}: {pattern}");
    }
}

fn lines(reply: &GrepReply) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &reply.files {
        lines.extend(file.matches.iter().map(|m| format!("{}:{}", file.path.path, m.line)));
    }
    lines.sort();
    lines
}

/// One grep of the tree: number, tree, pattern, path, include, and `path:line` in any order.
#[track_caller]
fn check_grep(
    number: u32,
    table: &str,
    pattern: &str,
    path: Option<&str>,
    include: Option<&str>,
    expected: &[&str],
) {
    let tree = Tree::new(table);
    for pool in [Pool::inline(), Pool::new(2)] {
        let mut input = GrepInput::new(pattern);
        if let Some(path) = path {
            input = input.path(path);
        }
        if let Some(include) = include {
            input = input.include(include);
        }
        let reply = grep(&Tools::new(tree.path()).pool(&pool), &input);
        assert_eq!(lines(&reply), expected, "case {number}: {pattern}");
    }
}

#[test]
fn globs_are_relative_to_the_place_that_is_searched() {
    let decoy = "root/r/s/a.md\nroot/r/s/b.md\ncwd/r/s/decoy.md";
    check_glob(2, decoy, "cwd", "r/s/*.md", "root", &["root/r/s/a.md", "root/r/s/b.md"]);
    let java = "src/main/java/NOTES.md\nsrc/main/java/App.java";
    check_glob(4, java, "", "<tree>/src/**/NOTES.md", ".", &["src/main/java/NOTES.md"]);
    check_glob(4, java, "", "<tree>/src/main/java/NOTES.md", ".", &["src/main/java/NOTES.md"]);
    check_glob(5, "file.txt\ndir/file.txt\nsrc/a.ts", "", "./src/*.ts", ".", &["src/a.ts"]);
    let days = "repo/2026/07/26.md\nrepo/2026/07/27.md\nrepo/inbox.md";
    check_glob(8, days, "", "2026/07/26.md", "repo", &["repo/2026/07/26.md"]);
    let both = ["repo/2026/07/26.md", "repo/2026/07/27.md"];
    check_glob(8, days, "", "2026/07/*.md", "repo", &both);
    check_grep(
        7,
        "..cache/n.txt: needle\na/n.txt: needle",
        "needle",
        None,
        None,
        &["..cache/n.txt:1", "a/n.txt:1"],
    );
}

/// Case 011. The tools have no exclude; a scope has, anchored at its own root and not at the names
/// above it.
#[test]
fn an_excluded_name_above_the_root_excludes_nothing() {
    let tree = Tree::new(
        "lib/node_modules/p/a.js: TODO\nlib/node_modules/p/node_modules/d/b.js: TODO\nelse/w",
    );
    let scope =
        Scope::new(tree.join("lib/node_modules/p")).base(tree.join("else")).glob("!node_modules");
    let found = Query::new("TODO").scope(scope).compile().unwrap().collect(&CancelToken::new());
    let paths: Vec<_> = found.unwrap().files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(paths.len(), 1);
    assert!(paths[0].ends_with("node_modules/p/a.js"), "{paths:?}");
}

#[test]
fn globs_mean_what_they_say() {
    let braces = "a.ts: x\nd/b.tsx: x\nc.md: x";
    check_grep(13, braces, "x", None, Some("**/*.{ts,tsx}"), &["a.ts:1", "d/b.tsx:1"]);
    check_glob(15, "a.a\na.bx\na.cx\na.c", "", "*.{a,{b,c}x}", ".", &["a.a", "a.bx", "a.cx"]);
    // 028. Answered with nothing, and with the reason.
    check_glob(28, "src/lib/a.ts", "", r"src\lib\*.ts", ".", &[]);
    let tree = Tree::new("src/lib/a.ts");
    let reply = glob(&Tools::new(tree.path()), &GlobInput::new(r"src\lib\*.ts"));
    assert!(reply.text.contains("backslash"), "{}", reply.text);
    let modules = "flake.nix\nm/common/z.nix: home.packages\nm/top.nix";
    check_glob(152, modules, "", "m/**/*.nix", ".", &["m/common/z.nix", "m/top.nix"]);
    check_glob(152, modules, "", "m", ".", &[]);
    let tree = Tree::new(modules);
    let reply = glob(&Tools::new(tree.path()), &GlobInput::new("m"));
    assert!(reply.text.contains("m is a directory"), "{}", reply.text);
    check_grep(152, modules, r"home\.packages", Some("m"), None, &["m/common/z.nix:1"]);
    check_glob(52, ".f/ART.md", "", ".f/ART.md", ".", &[".f/ART.md"]);
    check_glob(52, ".f/ART.md", "", ".f/*", ".", &[".f/ART.md"]);
}

/// Cases 029, 039, 043, 045, 053, 057. The cases expect ignore rules to hold, or their effect to be
/// told. Our contract has them off by default, so that nothing is hidden, and on, as rg has them,
/// with `Walk::Repository`: there a glob of files is stronger than a rule that ignores them, which
/// 029 and 039 would have otherwise, and a directory that is ignored is not entered.
#[test]
fn ignore_rules_hide_files_only_when_they_are_asked_for() {
    let worktree = "main/.git/HEAD: ref: refs/heads/main\nmain/.git/info/exclude: ignored\n\
                    main/.git/worktrees/wt/commondir: ../..\nwt/committed: x\nwt/ignored: x";
    let with_link = |tree: &Tree| {
        let git_dir = tree.join("main/.git/worktrees/wt");
        std::fs::write(tree.join("wt/.git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
    };
    let noise =
        ".git/\n.gitignore: local/\\nnode_modules\nlocal/memory.md\na.md\nnode_modules/p/i.js";
    let unignored = ".ignore: *\\n!/tools/\\n!/tools/**\ntools/sub/helper.js\nother/x.js\ntop.js";
    for (number, table, cwd, pattern, all, repository) in [
        (
            29,
            worktree,
            "wt",
            "*",
            &["wt/.git", "wt/committed", "wt/ignored"][..],
            &["wt/committed", "wt/ignored"][..],
        ),
        (
            39,
            unignored,
            "",
            "**/*.js",
            &["other/x.js", "tools/sub/helper.js", "top.js"],
            &["tools/sub/helper.js", "top.js"],
        ),
        (45, noise, "", "node_modules/p/**", &["node_modules/p/i.js"], &[]),
        (57, noise, "", "**/memory.md", &["local/memory.md"], &[]),
    ] {
        let tree = Tree::new(table);
        if number == 29 {
            with_link(&tree);
        }
        for (walk, expected) in [(Walk::All, all), (Walk::Repository, repository)] {
            let tools = Tools::new(tree.join(cwd)).walk(walk);
            let mut paths = listed(&tree, &tools, cwd, pattern, ".");
            // A worktree's .git is a file; the walk leaves out directories and files of the name.
            paths.retain(|path| path != "wt/.git");
            paths.sort();
            let expected: Vec<_> = expected.iter().filter(|path| **path != "wt/.git").collect();
            assert_eq!(paths.iter().collect::<Vec<_>>(), expected, "case {number}, {walk:?}");
        }
    }
    let tree = Tree::new(worktree);
    with_link(&tree);
    let tools = Tools::new(tree.join("wt")).walk(Walk::Repository);
    assert_eq!(lines(&grep(&tools, &GrepInput::new("x"))), ["committed:1"], "without a glob");
    let venv = ".git/\nvenv/.gitignore: *\nvenv/lib/mod.py: def f()";
    check_grep(43, venv, "def", Some("venv/lib"), None, &["venv/lib/mod.py:1"]);
    let tree = Tree::new(venv);
    let tools = Tools::new(tree.path()).walk(Walk::Repository);
    let reply = grep(&tools, &GrepInput::new("def").path("venv/lib"));
    assert!(
        reply.text.starts_with("No matches found\n(all files here are excluded"),
        "{}",
        reply.text
    );
    let home = ".h/.c/hooks/a.sh: needle\n.h/.c/.cache/b.sh: needle";
    check_grep(
        53,
        home,
        "needle",
        Some(".h/.c"),
        None,
        &[".h/.c/.cache/b.sh:1", ".h/.c/hooks/a.sh:1"],
    );
}

/// Cases 058, 063, 150. Oldest first, and newest first where that is wanted; equal times in path order.
#[test]
fn the_order_is_the_one_that_is_promised_every_time() {
    let tree = Tree::new("p/a.md @ 30\np/b.md @ 10\np/c.md @ 50\np/d.md @ 20\np/e.md @ 40");
    let tools = Tools::new(tree.path());
    let mut oldest = ["p/b.md", "p/d.md", "p/a.md", "p/e.md", "p/c.md"];
    assert_eq!(listed(&tree, &tools, "", "*.md", "p"), oldest);
    oldest.reverse();
    assert_eq!(listed(&tree, &tools.newest_first(true), "", "*.md", "p"), oldest);

    let table: String = (1..=40).rev().map(|n| format!("t/f{n:02}.txt @ 7\n")).collect();
    let tree = Tree::new(&table);
    let expected: Vec<_> = (1..=40).map(|n| format!("t/f{n:02}.txt")).collect();
    for _ in 0..20 {
        assert_eq!(listed(&tree, &Tools::new(tree.path()), "", "*.txt", "t"), expected);
    }

    // The case has newest first; the default of the contract is oldest first.
    let tree = Tree::new("fut @ 3786912000\nmid @ 1704067200\nold @ -315619200");
    assert_eq!(listed(&tree, &Tools::new(tree.path()), "", "*", "."), ["old", "mid", "fut"]);
    let newest = Tools::new(tree.path()).newest_first(true);
    assert_eq!(listed(&tree, &newest, "", "*", "."), ["fut", "mid", "old"]);
}

/// Cases 056, 065, 067, 069, 070, 081, 086. A cap is one on the whole reply, and what it cuts is told.
#[test]
fn caps_are_exact_and_total_counts_are_not_capped() {
    let table: String =
        (1..=201).map(|n| format!("{}/f{n}.txt\n", if n <= 100 { "a" } else { "b" })).collect();
    let tree = Tree::new(&table);
    let tools = Tools::new(tree.path());
    let reply = glob(&tools, &GlobInput::new("*.txt").path("a"));
    assert_eq!((reply.paths.len(), reply.total, reply.truncated), (100, 100, false));
    let reply = glob(&tools, &GlobInput::new("*.txt").path("b"));
    assert_eq!((reply.paths.len(), reply.total, reply.truncated), (100, 101, true));

    let table: String = (0..20).map(|n| format!("f{n}.rb: {}\n", "def x\\n".repeat(10))).collect();
    let tree = Tree::new(&table);
    let reply = grep(&Tools::new(tree.path()).grep_max_matches(5), &GrepInput::new("def "));
    assert_eq!((lines(&reply).len(), reply.total, reply.truncated), (5, 200, true));

    let tree = Tree::new(&format!("one.py: {}", "# TODO\\n".repeat(200)));
    let tools = Tools::new(tree.path()).grep_max_matches(50);
    let reply = grep(&tools, &GrepInput::new("TODO").path("one.py"));
    assert_eq!((lines(&reply).len(), reply.total, reply.truncated), (50, 200, true));

    // The tools tell no context (the case asks for two lines after); the cap holds alike.
    let tree = Tree::new("f.txt: aaa\\nbbb\\naaa\\nccc\\naaa\\n");
    let reply = grep(&Tools::new(tree.path()).grep_max_matches(1), &GrepInput::new("aaa"));
    assert_eq!((lines(&reply), reply.total), (vec!["f.txt:1".to_string()], 3));

    let mut table: String = (0..150).map(|n| format!("node_modules/p/f{n}.js: needle\n")).collect();
    table.push_str("src/real.js: needle");
    let tree = Tree::new(&table);
    let real = std::fs::File::options().write(true).open(tree.join("src/real.js")).unwrap();
    real.set_modified(crate::tree::at(50)).unwrap();
    let reply = grep(&Tools::new(tree.path()).grep_max_matches(100), &GrepInput::new("needle"));
    assert_eq!((lines(&reply).len(), reply.total), (100, 151));
    assert_eq!(reply.files[0].path.path, "src/real.js", "the older file comes first");

    let table: String =
        (0..300).map(|n| format!("d{}/f{}.txt: needle\n", n / 10, n % 10)).collect();
    let tree = Tree::new(&table);
    let tools = Tools::new(tree.path()).grep_max_matches(50);
    let mut all = Vec::new();
    for page in 0..6 {
        all.extend(lines(&grep(&tools, &GrepInput::new("needle").offset(page * 50))));
    }
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 300);

    // A fifth of the 20,000 files of the case: the number is no more telling.
    let tree = Tree::new("");
    for dir in 0..40 {
        std::fs::create_dir(tree.join(format!("d{dir}"))).unwrap();
        (0..100)
            .for_each(|n| drop(std::fs::File::create(tree.join(format!("d{dir}/f{n}"))).unwrap()));
    }
    let begun = Instant::now();
    let tools = Tools::new(tree.path()).pool(&Pool::inline());
    let mut reply = None;
    let held = allocation_counter::measure(|| reply = Some(glob(&tools, &GlobInput::new("**"))));
    let reply = reply.unwrap();
    assert_eq!((reply.paths.len(), reply.total, reply.truncated), (100, 4_000, true));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(held.bytes_max < 8 << 20, "{} bytes", held.bytes_max);
}

/// Cases 079, 080, 099, 100, 107. Places are bytes, cuts keep characters, line ends are left off.
#[test]
fn lines_are_cut_and_measured_without_harm() {
    let dashes: String =
        (0..3).map(|k| format!("f{k}.txt: x{}{}\n", "a".repeat(k), "—".repeat(700))).collect();
    let emoji: String = (0..4)
        .map(|k| format!("e{k}.txt: q{}{}{}\n", "b".repeat(k), "😀".repeat(500), "👩‍👩‍👧".repeat(100)))
        .collect();
    for (table, pattern, total) in [(dashes, "x", 3), (emoji, "q", 4)] {
        let tree = Tree::new(&table);
        for max in [70, 71, 72, 73, 128, 495, 500, 2000] {
            let tools = Tools::new(tree.path()).grep_max_line_bytes(max);
            let reply = grep(&tools, &GrepInput::new(pattern));
            assert_eq!(reply.total, total);
            assert!(!reply.text.contains('\u{fffd}'));
        }
    }
    let tree = Tree::new("p.txt: αβ monoclonal —x\\n😎 x👩‍👩‍👧 needle\\n\\t\\t😎needle\\n");
    std::fs::write(tree.join("p.txt"), "αβ monoclonal —x\n😎 x👩‍👩‍👧 needle\n\t\t😎needle\n").unwrap();
    let reply = grep(&Tools::new(tree.path()), &GrepInput::new("monoclonal|needle"));
    let spans: Vec<_> = reply.files[0].matches.iter().map(|line| line.spans[0]).collect();
    assert_eq!(spans, [[5, 15], [25, 31], [6, 12]]);
    let tree = Tree::new("a.txt: test\\r\\n\nb.txt: test\\n\nc.txt: test");
    let reply = grep(&Tools::new(tree.path()), &GrepInput::new("test"));
    assert!(reply.files.iter().all(|file| file.matches[0].text == "test"));
    assert_eq!(reply.total, 3);
}

#[test]
fn patterns_are_taken_as_they_are() {
    // 089. Over lines, as rg merges what touches; line by line each match counts.
    let table = "m.txt: .a1\\n.a2\\nzz\\n.a4\\n";
    check_grep(89, table, r"\Wa", None, None, &["m.txt:1", "m.txt:2", "m.txt:4"]);
    let tree = Tree::new(table);
    let input = GrepInput::new(r"\Wa").query(|query| query.multi_line(MultiLine::On));
    assert_eq!(lines(&grep(&Tools::new(tree.path()), &input)), ["m.txt:1", "m.txt:4"]);
    // 105. As rg by default: `$` is before the line feed only.
    check_grep(105, "c.txt: one needle\\r\\ntwo\\r\\n", "needle$", None, None, &[]);
    check_grep(105, "c.txt: one needle\\r\\ntwo\\r\\n", r"needle\r$", None, None, &["c.txt:1"]);
    check_grep(113, "h.txt:   --ctx-size N", "--ctx-size", None, None, &["h.txt:1"]);
    for (number, pattern, code, says) in [
        (91, "", ToolErrorCode::InvalidArgument, "empty"),
        (109, r"=> \{\n *break;", ToolErrorCode::InvalidPattern, "multi"),
        (114, r"\w{1000}{1000}", ToolErrorCode::InvalidPattern, "smaller counted repetitions"),
    ] {
        let tree = Tree::new("a.rs: x => {\\n  break;\\n");
        let begun = Instant::now();
        let input = GrepInput::new(pattern);
        let error = Tools::new(tree.path()).grep(&input, &CancelToken::new()).unwrap_err();
        assert_eq!(error.code(), code, "case {number}: {error}");
        assert!(error.to_string().contains(says), "case {number}: {error}");
        assert!(!error.to_string().contains("Limits"), "a model has no such thing: {error}");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

/// Case 101. What was found before the NUL byte stays, and that the search ended there is told.
#[test]
fn a_late_nul_byte_takes_nothing_away() {
    let tree = Tree::new("");
    let mut text = b"needle 1\nneedle 2\nneedle 3\n".to_vec();
    text.extend(b"aaaaaaaaa\n".repeat(10_000));
    text.extend(b"\0\nneedle last\n");
    std::fs::write(tree.join("f.txt"), text).unwrap();
    let reply = grep(&Tools::new(tree.path()), &GrepInput::new("needle"));
    assert_eq!(lines(&reply), ["f.txt:1", "f.txt:2", "f.txt:3"]);
    let hint = "1 file was searched only up to its first NUL byte: f.txt";
    assert_eq!(reply.notes.hints, [hint]);
    assert!(reply.text.ends_with(&format!("\n({hint})")), "{}", reply.text);
    // A file that is named is searched to its end, as rg does.
    let named = grep(&Tools::new(tree.path()), &GrepInput::new("needle").path("f.txt"));
    assert_eq!((named.total, named.notes.hints.len()), (4, 0));
}

#[test]
fn odd_names_and_odd_places_are_names_and_places() {
    let colons =
        "dir:name/file.txt: x\\nmatch: a:1:b\nbadly:52:file.txt: match\na.ts: match(c: E): void";
    check_grep(
        118,
        colons.replace("dir:name", "d:n").as_str(),
        "match",
        None,
        None,
        &["a.ts:1", "badly:52:file.txt:1", "d:n/file.txt:2"],
    );
    // 119. A name with a line feed is one path; it is shown escaped, its bytes are in the data.
    let tree = Tree::new("a.txt");
    tree.raw_file(b"we\nird.txt");
    tree.raw_file(b"tab\there.txt");
    tree.raw_file(b" lead and trail .txt");
    let reply = glob(&Tools::new(tree.path()), &GlobInput::new("*.txt"));
    assert_eq!(reply.total, 4);
    assert!(
        reply.paths.iter().any(|path| path.path == "we\\nird.txt" && path.path_base64.is_some())
    );
    assert!(reply.paths.iter().any(|path| path.path == "tab\there.txt"));
    check_grep(
        122,
        "d/one.txt: needle\nd/two.txt: needle",
        "needle",
        Some("d/one.txt"),
        None,
        &["d/one.txt:1"],
    );
    check_grep(
        123,
        "notes.txt: hello\nsub/a.txt: hello",
        "hello",
        Some("notes.txt"),
        None,
        &["notes.txt:1"],
    );
    check_grep(
        123,
        "notes.txt: hello\nsub/a.txt: hello",
        "hello",
        Some("sub"),
        None,
        &["sub/a.txt:1"],
    );
    // 126. The working directory is gone, and an absolute path does not need it.
    let tree = Tree::new("a.txt: needle");
    let tools = Tools::new(tree.join("gone"));
    let reply = grep(&tools, &GrepInput::new("needle").path(tree.join("a.txt").to_str().unwrap()));
    assert_eq!(reply.total, 1);
    check_grep(139, "a.md: needle", "needle", None, Some("*.rs"), &[]);
}

/// Cases 127, 128, 130. The tools follow no links but one that is named; a scope can.
#[test]
fn links_neither_fail_nor_trap_a_search() {
    for (table, found) in [
        ("a.txt: needle\nsub/broken -> nowhere", "a.txt"),
        ("a/x.txt: needle\na/b/up -> ..", "a/x.txt"),
    ] {
        let tree = Tree::new(table);
        assert_eq!(
            lines(&grep(&Tools::new(tree.path()), &GrepInput::new("needle"))),
            [format!("{found}:1")]
        );
        let scope = Scope::new(tree.path()).follow_links(true).sort(SortBy::Path, Order::Ascending);
        let search = Query::new("needle").scope(scope).compile().unwrap();
        let outcome = search.collect(&CancelToken::new()).unwrap();
        assert_eq!(outcome.files.len(), 1);
        assert!(outcome.files[0].path.ends_with(found));
    }
    let linked = "outside/f.txt\nws/link -> ../outside\nws/a.txt";
    check_glob(130, linked, "ws", "*", "ws/link", &["ws/link/f.txt"]);
    let tree = Tree::new(linked);
    let reply = glob(&Tools::new(tree.join("ws")), &GlobInput::new("link/*"));
    assert!(reply.text.contains("link is a symbolic link"), "{}", reply.text);
}

/// Case 144. Files that vanish under a walk are left out, the others are not.
#[test]
fn files_that_vanish_do_not_fail_a_list() {
    let tree = Tree::new("");
    let name = |n: usize| tree.join(format!("f{n:04}.json"));
    for _ in 0..3 {
        (0..1000).for_each(|n| drop(std::fs::File::create(name(n)).unwrap()));
        std::thread::scope(|threads| {
            let deleter = threads.spawn(|| {
                (0..1000).step_by(2).for_each(|n| std::fs::remove_file(name(n)).unwrap())
            });
            loop {
                let ended = deleter.is_finished();
                let tools = Tools::new(tree.path()).glob_max_results(5000).strict(false);
                let reply = glob(&tools, &GlobInput::new("*.json"));
                let shown = reply.paths.iter().map(|shown| shown.path.as_str());
                let kept = shown.filter(|path| {
                    Path::new(path)
                        .file_stem()
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .ends_with(['1', '3', '5', '7', '9'])
                });
                assert_eq!(kept.count(), 500);
                if ended {
                    break;
                }
            }
        });
    }
}

/// Case 146, with 4 MiB instead of 64: a line without end costs nothing but its length. The memory of
/// searching over lines is asserted with the engine's limits.
#[test]
fn a_file_of_one_line_is_searched_over_lines() {
    let tree = Tree::new("a.txt: does not exist\\nX does not exit\\n");
    std::fs::write(tree.join("one-line.txt"), vec![b'a'; 4 << 20]).unwrap();
    let input = GrepInput::new(r"does not exist[\s\S]{0,200}does not exit")
        .query(|query| query.multi_line(MultiLine::On));
    assert_eq!(lines(&grep(&Tools::new(tree.path()), &input)), ["a.txt:1"]);
}

/// Case 151. A pipe is refused at once, so that no call waits in the kernel.
#[test]
fn a_pipe_is_refused_and_blocks_nothing() {
    let tree = Tree::new("ok/a.txt: needle");
    tree.fifo("pipe");
    let begun = Instant::now();
    let tools = Tools::new(tree.path()).timeout(Some(Duration::from_secs(20)));
    for _ in 0..8 {
        let input = GrepInput::new("needle").path("pipe");
        let error = tools.grep(&input, &CancelToken::new()).unwrap_err();
        assert_eq!(error.code(), ToolErrorCode::Failed);
        assert!(error.to_string().contains("pipe"), "{error}");
    }
    assert_eq!(grep(&tools, &GrepInput::new("needle").path("ok")).total, 1);
    let counted = grep_as(&tools, &GrepInput::new("needle"), GrepOutput::Counts);
    assert_eq!(counted.files[0].count, 1, "a walk passes the pipe by");
    assert!(begun.elapsed() < Duration::from_secs(10));
}
