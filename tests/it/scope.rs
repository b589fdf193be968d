//! What a scope lists: each switch, each order, each error and each diagnostic.

use crate::tree::{POOLS, Tree, at, set_times};
use ingrep::{
    CancelToken, Diagnostics, ErrorCode, FileEntry, FilesSummary, IgnoreRules, Order, Progress,
    Reason, Scope, SortBy, Stop,
};
use std::fs::{self, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The scope of a person who stands in this tree: `.`, without the `./`.
fn all(tree: &Tree) -> Scope {
    at_root(tree, "")
}

fn at_root(tree: &Tree, root: &str) -> Scope {
    Scope::new(root).base(tree.path())
}

/// Checks what is listed, in path order, and that nothing was in the way.
#[track_caller]
fn check(tree: &Tree, scope: Scope, expected: &str) {
    check_trouble(tree, scope, expected, "");
}

/// Checks what is listed, by one thread: for large tables, and for filters that take long to build.
#[track_caller]
fn check_inline(tree: &Tree, scope: Scope, expected: &str) {
    let scope = scope.sort(SortBy::Path, Order::Ascending).pool(&POOLS[0].1);
    let (files, summary) = list(&scope);
    assert_eq!(shown(tree, &files), expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(summary.diagnostics.total(), 0);
}

/// Like [`check`], with the expected trouble, one `reason path` per line.
#[track_caller]
fn check_trouble(tree: &Tree, scope: Scope, expected: &str, trouble: &str) {
    check_order(tree, scope.sort(SortBy::Path, Order::Ascending), expected, trouble);
}

/// Checks what is listed and in which order: by one thread and several, in a tree small enough for
/// one and in a large one. Without an order, the same files must be found.
#[track_caller]
fn check_order(tree: &Tree, scope: Scope, expected: &str, trouble: &str) {
    let expected: Vec<&str> = expected.split_whitespace().collect();
    let trouble: Vec<&str> =
        trouble.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut first: Option<Diagnostics> = None;
    for grown in [false, true] {
        if grown {
            tree.grow();
        }
        // A small tree is walked by one thread of any pool, a large one by one of a pool of one.
        let pools = if grown { &POOLS[3..] } else { &POOLS[..3] };
        for (name, pool) in pools {
            let (files, summary) = list(&scope.clone().pool(pool));
            let case = format!("{name}, grown: {grown}");
            assert_eq!(shown(tree, &files), expected, "{case}");
            assert_eq!(summary.files, files.len() as u64, "{case}");
            assert_eq!(summary.stopped, None, "{case}");
            let diagnostics = first.get_or_insert_with(|| summary.diagnostics.clone());
            assert_eq!(&summary.diagnostics, diagnostics, "{case}");
            assert_eq!(shown_trouble(tree, &summary.diagnostics), trouble, "{case}");
        }
        if grown {
            continue;
        }
        let (files, summary) = list(&scope.clone().sort(SortBy::Nothing, Order::Ascending));
        let (mut files, mut sorted) = (shown(tree, &files), expected.clone());
        files.sort_unstable();
        sorted.sort_unstable();
        assert_eq!(files, sorted, "no order");
        assert_eq!(shown_trouble(tree, &summary.diagnostics), trouble, "no order");
    }
}

fn list(scope: &Scope) -> (Vec<FileEntry>, FilesSummary) {
    let mut files = scope.files(&CancelToken::new()).unwrap();
    let listed = files.by_ref().collect();
    (listed, files.into_summary())
}

fn shown(tree: &Tree, files: &[FileEntry]) -> Vec<String> {
    files.iter().map(|file| shown_path(tree, &file.path)).collect()
}

/// The bytes of the path, escaped, with the tree as `/tree`: a comparison of `Path`s would hold
/// `a//b` and `a/b` for the same.
fn shown_path(tree: &Tree, path: &Path) -> String {
    let path = ingrep::text::path_bytes(path).escape_ascii().to_string();
    path.replace(tree.path().to_str().unwrap(), "/tree")
}

fn shown_trouble(tree: &Tree, diagnostics: &Diagnostics) -> Vec<String> {
    let show = |one: &ingrep::Diagnostic| {
        let path = one.path.as_ref().expect("all trouble of a walk has a place");
        format!("{} {}", one.reason.as_str(), shown_path(tree, path))
    };
    assert_eq!(diagnostics.total(), diagnostics.iter().count() as u64);
    diagnostics.iter().map(show).collect()
}

#[track_caller]
fn check_error(scope: Scope, code: ErrorCode, path: Option<&str>, message: &str, hint: &str) {
    for (name, pool) in POOLS.iter() {
        for by in [SortBy::Modified, SortBy::Nothing] {
            let scope = scope.clone().pool(pool).sort(by, Order::Ascending);
            let error = scope.files(&CancelToken::new()).unwrap_err();
            assert_eq!(error.code(), code, "{name}");
            assert_eq!(error.path(), path.map(Path::new), "{name}");
            assert!(error.message().contains(message), "{message:?} is not in {error}");
            let actual = error.hint().unwrap_or_default();
            assert!(actual.contains(hint), "{hint:?} is not in {actual:?}");
            assert!(!hint.is_empty());
        }
    }
}

// Hidden files and version control.

#[test]
fn hidden_files_are_listed_unless_switched_off() {
    let tree = Tree::new(".h\n a\n .d/x\n .d/.y\n d/.h2\n .x.\n ..z\n x.\n d/b");
    check(&tree, all(&tree), "..z .d/.y .d/x .h .x. a d/.h2 d/b x.");
    check(&tree, all(&tree).hidden(false), "a d/b x.");
    check(&tree, at_root(&tree, ".d").hidden(false), ".d/x");
    check(&tree, at_root(&tree, ".h").hidden(false), ".h");
}

#[test]
fn version_control_entries_are_left_out_unless_kept() {
    let tree = Tree::new(
        ".git/config\n .svn/x\n .hg/x\n .bzr/x\n .jj/x\n .sl/x\n a/.git/b/c\n a/.hg\n .github/x\n
         git/x\n .gitignore\n .Git/x\n a/b.git\n",
    );
    let kept = ".Git/x .github/x .gitignore a/b.git git/x";
    check(&tree, all(&tree), kept);
    check(&tree, all(&tree).glob("*").glob(".git/**").glob(".git"), kept);
    check(&tree, all(&tree).follow_links(true), kept);
    check(
        &tree,
        all(&tree).prune_vcs(false),
        ".Git/x .bzr/x .git/config .github/x .gitignore .hg/x .jj/x .sl/x .svn/x a/.git/b/c a/.hg
         a/b.git git/x",
    );
    check(&tree, all(&tree).prune_vcs(false).hidden(false), "a/b.git git/x");
}

#[test]
fn a_file_named_git_is_left_out_too() {
    let tree = Tree::new("sub/.git: gitdir: ../x\n sub/a\n .jj -> sub");
    check(&tree, all(&tree), "sub/a");
    check(&tree, all(&tree).follow_links(true), "sub/a");
    check(&tree, all(&tree).prune_vcs(false), "sub/.git sub/a");
}

#[test]
fn a_root_in_a_version_control_directory_is_left_out() {
    let tree = Tree::new(".git/hooks/pre\n .git/config\n a\n sub/.hg/x/y");
    for root in [".git", ".git/hooks", "sub/../.git", ".git/hooks/..", "./.git/.", "sub/.hg/x"] {
        check_trouble(&tree, at_root(&tree, root), "", &format!("vcs_root {root}"));
    }
    let inside = Scope::new(".").base(tree.join(".git"));
    check_trouble(&tree, inside, "", "vcs_root .");
    // The others are walked.
    check_trouble(&tree, at_root(&tree, ".git").root("a"), "a", "vcs_root .git");
}

#[test]
fn a_root_that_only_passes_through_version_control_is_walked() {
    let tree = Tree::new(".git/hooks/pre\n .git/config\n sub/a");
    check(&tree, at_root(&tree, ".git/../sub"), ".git/../sub/a");
    // A file that the caller names is never left out.
    check(&tree, at_root(&tree, ".git/config"), ".git/config");
    check(&tree, at_root(&tree, ".git").prune_vcs(false), ".git/config .git/hooks/pre");
}

// Ignore files.

/// One file for each family of rules, which ignores the file of its name.
const FAMILIES: &str = "
    .git/info/exclude: exclude
    .rgignore: rgignore
    .ignore: ignore
    .gitignore: gitignore
    .global: global
    .first: first
    .second: second
    exclude\n rgignore\n ignore\n gitignore\n global\n first\n second
";

#[test]
fn each_family_of_ignore_files_is_obeyed_alone() {
    let tree = Tree::new(FAMILIES);
    let names = ["exclude", "first", "gitignore", "global", "ignore", "rgignore", "second"];
    let cases = [
        (IgnoreRules::none(), vec![]),
        (IgnoreRules::none().dot_ignore(true), vec!["ignore", "rgignore"]),
        (IgnoreRules::none().vcs_ignore(true), vec!["gitignore"]),
        (IgnoreRules::none().git_exclude(true), vec!["exclude"]),
        (IgnoreRules::none().global_file(".global"), vec!["global"]),
        (IgnoreRules::none().file(".first"), vec!["first"]),
        (IgnoreRules::none().file(".first").file(".second"), vec!["first", "second"]),
        (IgnoreRules::ripgrep(), vec!["exclude", "gitignore", "ignore", "rgignore"]),
        (IgnoreRules::ripgrep().dot_ignore(false), vec!["exclude", "gitignore"]),
        (IgnoreRules::ripgrep().vcs_ignore(false), vec!["exclude", "ignore", "rgignore"]),
        (IgnoreRules::ripgrep().git_exclude(false), vec!["gitignore", "ignore", "rgignore"]),
    ];
    for (rules, ignored) in cases {
        let expected: Vec<_> = names.into_iter().filter(|name| !ignored.contains(name)).collect();
        check(&tree, all(&tree).hidden(false).ignore(rules), &expected.join(" "));
    }
}

#[test]
fn of_two_ignore_files_the_one_of_the_higher_family_decides() {
    // Highest first.
    let families =
        [".rgignore", ".ignore", ".gitignore", ".git/info/exclude", ".global", ".second", ".first"];
    let rules = IgnoreRules::ripgrep().global_file(".global").file(".first").file(".second");
    let tree = Tree::new(".git/\n sub/x\n y");
    for (place, higher) in families.iter().enumerate() {
        for lower in &families[place + 1..] {
            families.iter().for_each(|family| tree.add(family));
            let scope = all(&tree).hidden(false).ignore(rules.clone());
            tree.add(&format!("{higher}: x\n {lower}: !x"));
            check_inline(&tree, scope.clone(), "y");
            tree.add(&format!("{higher}: !x\n {lower}: x"));
            check_inline(&tree, scope, "sub/x y");
        }
    }
}

#[test]
fn in_one_family_the_nearest_directory_and_the_last_line_decide() {
    let rules = IgnoreRules::none().dot_ignore(true);
    let tree = Tree::new(
        ".ignore: *.log\\n!b.log\\n!c.log\\nc.log\n sub/.ignore: !a.log\\nb.log
         a.log\n b.log\n c.log\n sub/a.log\n sub/b.log\n sub/c.log",
    );
    check(&tree, all(&tree).hidden(false).ignore(rules), "b.log sub/a.log");
}

#[test]
fn rules_are_relative_to_the_directory_of_their_file() {
    let rules = IgnoreRules::none().dot_ignore(true);
    let tree = Tree::new("sub/.ignore: /x\\ndeep/y\n x\n sub/x\n sub/deep/x\n sub/deep/y\n deep/y");
    check(&tree, all(&tree).hidden(false).ignore(rules), "deep/y sub/deep/x x");
}

#[test]
fn nothing_in_an_ignored_directory_can_be_brought_back() {
    let rules = IgnoreRules::none().dot_ignore(true);
    let tree = Tree::new(".ignore: sub/\\n!sub/x\n sub/x\n sub/.ignore: !x\n y");
    check(&tree, all(&tree).hidden(false).ignore(rules.clone()), "y");
    // A root is not filtered by its own name.
    check(&tree, at_root(&tree, "sub").hidden(false).ignore(rules.clone().parents(true)), "sub/x");
    tree.add(".ignore: sub/**");
    check(&tree, at_root(&tree, "sub").hidden(false).ignore(rules.clone()), "sub/x");
    tree.add("sub/.ignore: #");
    check(&tree, at_root(&tree, "sub").hidden(false).ignore(rules.parents(true)), "");
}

#[test]
fn a_rule_that_brings_back_shows_hidden_files_too() {
    let rules = IgnoreRules::none().dot_ignore(true);
    let tree = Tree::new(".ignore: !.shown\n .shown\n .other");
    check(&tree, all(&tree).hidden(false).ignore(rules), ".shown");
}

#[test]
fn rules_above_the_root_count_only_with_parents() {
    let tree = Tree::new(
        ".git/\n .ignore: a\n .rgignore: b\n .gitignore: c\n .git/info/exclude: d
         sub/a\n sub/b\n sub/c\n sub/d\n sub/e\n sub/.gitignore: e\n sub/f",
    );
    let root = at_root(&tree, "sub").hidden(false);
    check(&tree, root.clone().ignore(IgnoreRules::ripgrep()), "sub/f");
    // The repository above still makes `.gitignore` count.
    let alone = IgnoreRules::ripgrep().parents(false);
    check(&tree, root.ignore(alone), "sub/a sub/b sub/c sub/d sub/f");
}

#[test]
fn rules_above_a_root_that_is_relative_to_nothing_count_too() {
    let tree = Tree::new(".ignore: a\n sub/.ignore: /b\n sub/a\n sub/b\n sub/deep/a\n sub/deep/b");
    let up = "../".repeat(30);
    let root = format!("{up}{}", tree.join("sub").strip_prefix("/").unwrap().display());
    let rules = IgnoreRules::none().dot_ignore(true);
    let scope = Scope::new(&root).hidden(false).sort(SortBy::Path, Order::Ascending);
    let names = |rules| -> Vec<String> {
        let files = list(&scope.clone().ignore(rules)).0;
        let strip = |file: &FileEntry| file.path.strip_prefix(&root).unwrap().display().to_string();
        files.iter().map(strip).collect()
    };
    assert_eq!(names(rules.clone()), ["a", "deep/a", "deep/b"]);
    assert_eq!(names(rules.parents(true)), ["deep/b"]);
}

#[test]
fn a_repository_ends_the_reach_of_git_rules_above_it_and_of_no_others() {
    let tree = Tree::new(
        ".git/\n .gitignore: a\n .ignore: b\n sub/.git/\n sub/a\n sub/b\n sub/deep/a\n sub/deep/b",
    );
    let rules = IgnoreRules::ripgrep();
    for root in ["sub", ""] {
        let scope = at_root(&tree, root).hidden(false).ignore(rules.clone());
        check(&tree, scope.clone(), "sub/a sub/deep/a");
        check(&tree, scope.ignore(rules.clone().require_git(false)), "");
    }
}

#[test]
fn git_rules_count_only_in_a_repository_unless_told_otherwise() {
    let rules = IgnoreRules::ripgrep().global_file(".global");
    for (repository, counts) in
        [("no/", false), (".git/", true), (".git: x", true), (".jj/", true), (".jj: x", true)]
    {
        let tree = Tree::new(".gitignore: a\n .global: b\n sub/a\n sub/b\n sub/c");
        tree.add(repository);
        let scope = all(&tree).hidden(false);
        let expected = if counts { "sub/c" } else { "sub/a sub/b sub/c" };
        check(&tree, scope.clone().ignore(rules.clone()), expected);
        check(&tree, scope.ignore(rules.clone().require_git(false)), "sub/c");
    }
}

#[test]
fn the_global_file_counts_for_those_roots_that_are_in_a_repository() {
    let tree = Tree::new("in/.git/\n in/sub/x\n out/x\n .global: x");
    let rules = IgnoreRules::none().global_file(".global");
    check(&tree, at_root(&tree, "in/sub").root("out").ignore(rules), "out/x");
}

#[test]
fn rules_disregard_case_when_told_to() {
    let tree = Tree::new(".ignore: *.LOG\n .rules: B.txt\n a.log\n a.LOG\n b.txt\n c");
    let rules = IgnoreRules::none().dot_ignore(true).file(".rules");
    let scope = all(&tree).hidden(false);
    check(&tree, scope.clone().ignore(rules.clone()), "a.log b.txt c");
    // Not those of named files, as in ripgrep.
    check(&tree, scope.ignore(rules.case_insensitive(true)), "b.txt c");
}

#[test]
fn named_rule_files_are_relative_to_the_base_and_so_are_their_patterns() {
    let tree = Tree::new("rules/r: /x\\n/sub/y\n sub/x\n sub/y\n x");
    let rules = IgnoreRules::none().file("rules/r");
    check(&tree, at_root(&tree, "sub").ignore(rules.clone()), "sub/x");
    check(&tree, all(&tree).ignore(rules), "rules/r sub/x");
    let absolute = IgnoreRules::none().file(tree.join("rules/r"));
    check(&tree, at_root(&tree, "sub").ignore(absolute), "sub/x");
}

#[test]
fn a_named_rule_file_that_cannot_be_read_is_a_diagnostic() {
    let tree = Tree::new("a/x\n b/x\n rules: x");
    let rules = IgnoreRules::none().file("missing").file("rules");
    check_trouble(&tree, at_root(&tree, "a").ignore(rules.clone()), "", "ignore_rule missing");
    // Also when several roots would have obeyed it.
    check_trouble(&tree, at_root(&tree, "a").root("b").ignore(rules), "", "ignore_rule missing");
}

#[test]
fn a_bad_rule_is_a_diagnostic_and_the_others_count() {
    let tree = Tree::new("sub/.ignore: {a\\nx\n sub/x\n sub/y\n sub/deep/x\n sub/deep/z");
    let rules = IgnoreRules::none().dot_ignore(true).parents(true);
    let scope = |root| at_root(&tree, root).hidden(false).ignore(rules.clone());
    check_trouble(&tree, scope(""), "sub/deep/z sub/y", "ignore_rule sub/.ignore");
    check_trouble(&tree, scope("sub"), "sub/deep/z sub/y", "ignore_rule sub/.ignore");
    // From above the root, which nobody walks.
    check_trouble(&tree, scope("sub/deep"), "sub/deep/z", "ignore_rule /tree/sub/.ignore");
}

#[test]
fn an_unclosed_bracket_is_literal_in_a_rule_and_line_ends_do_not_matter() {
    let tree = Tree::new(".ignore: \u{feff}[a\\r\\nb\\r\\n\n [a\n b\n c");
    let rules = IgnoreRules::none().dot_ignore(true);
    check(&tree, all(&tree).hidden(false).ignore(rules), "c");
}

// Globs.

fn project() -> Tree {
    Tree::new(
        "src/a.rs\n src/b.txt\n src/deep/c.rs\n a.rs\n top.txt\n .hid/h.rs\n .dot.rs\n log/d.rs
         x.log\n .ignore: x.log\\nlog",
    )
}

/// Globs against [`project`], with hidden files off and ignore files on. A glob that begins with
/// `~` disregards case.
#[track_caller]
fn check_globs(tree: &Tree, globs: &[&str], expected: &str) {
    check(tree, with_globs(all(tree), globs), expected);
}

fn with_globs(scope: Scope, globs: &[&str]) -> Scope {
    let scope = scope.hidden(false).ignore(IgnoreRules::none().dot_ignore(true));
    globs.iter().fold(scope, |scope, glob| match glob.strip_prefix('~') {
        Some(glob) => scope.iglob(glob),
        None => scope.glob(*glob),
    })
}

#[test]
fn a_glob_lists_only_what_it_matches_whatever_hides_it() {
    let tree = project();
    check_globs(&tree, &[], "a.rs src/a.rs src/b.txt src/deep/c.rs top.txt");
    // Hidden or ignored directories are not matched by it, and not entered.
    check_globs(&tree, &["*.rs"], ".dot.rs a.rs src/a.rs src/deep/c.rs");
    check_globs(&tree, &["x.log"], "x.log");
    check_globs(&tree, &["nothing"], "");
    // This one matches directories as well.
    check_globs(
        &tree,
        &["*"],
        ".dot.rs .hid/h.rs .ignore a.rs log/d.rs src/a.rs src/b.txt src/deep/c.rs top.txt x.log",
    );
    check_globs(&tree, &[".hid/**"], "");
    check_globs(&tree, &[".hid", ".hid/**"], ".hid/h.rs");
}

#[test]
fn the_last_glob_that_matches_wins() {
    let tree = project();
    check_globs(&tree, &["*.rs", "!a.rs"], ".dot.rs src/deep/c.rs");
    check_globs(&tree, &["!a.rs", "*.rs"], ".dot.rs a.rs src/a.rs src/deep/c.rs");
    check_globs(&tree, &["~!A.rs", "*.rs"], ".dot.rs a.rs src/a.rs src/deep/c.rs");
    check_globs(&tree, &["*.rs", "~!A.RS"], ".dot.rs src/deep/c.rs");
    check_globs(&tree, &["*.rs", "!a.rs", "/a.rs"], ".dot.rs a.rs src/deep/c.rs");
}

#[test]
fn a_negated_glob_leaves_out_files_and_whole_directories() {
    let tree = project();
    check_globs(&tree, &["!*.rs"], "src/b.txt top.txt");
    for prune in ["!src", "!src/", "!/src", "!src/**", "!src/*", "!/src/"] {
        check_globs(&tree, &[prune], "a.rs top.txt");
    }
    check_globs(&tree, &["!deep"], "a.rs src/a.rs src/b.txt top.txt");
    check_globs(&tree, &["!/deep"], "a.rs src/a.rs src/b.txt src/deep/c.rs top.txt");
    // A file is not a directory.
    check_globs(&tree, &["!a.rs/"], "a.rs src/a.rs src/b.txt src/deep/c.rs top.txt");
}

#[test]
fn a_glob_for_directories_matches_no_file() {
    let tree = project();
    for glob in ["src/", "src", "*/", "/src", "src/deep"] {
        check_globs(&tree, &[glob], "");
    }
}

#[test]
fn a_glob_with_a_slash_matches_the_whole_path() {
    let tree = project();
    check_globs(&tree, &["/a.rs"], "a.rs");
    check_globs(&tree, &["/src/a.rs"], "src/a.rs");
    check_globs(&tree, &["src/a.rs"], "src/a.rs");
    check_globs(&tree, &["deep/c.rs"], "");
    check_globs(&tree, &["**/deep/c.rs"], "src/deep/c.rs");
    check_globs(&tree, &["src/*.rs"], "src/a.rs");
    check_globs(&tree, &["src/*"], "src/a.rs src/b.txt");
    check_globs(&tree, &["src/**"], "src/a.rs src/b.txt src/deep/c.rs");
    check_globs(&tree, &["src/**/*.rs"], "src/a.rs src/deep/c.rs");
    check_globs(&tree, &["**/a.rs"], "a.rs src/a.rs");
    check_globs(&tree, &["src?a.rs"], "");
    for never in ["./a.rs", "src//a.rs", "src/./a.rs", "../a.rs"] {
        check_globs(&tree, &[never], "");
    }
}

#[test]
fn globs_that_say_nothing_change_nothing() {
    let tree = project();
    for glob in ["", "#a.rs", "!", "/", "   "] {
        check_globs(&tree, &[glob], "a.rs src/a.rs src/b.txt src/deep/c.rs top.txt");
    }
}

#[test]
fn glob_syntax_is_that_of_one_line_of_gitignore() {
    let tree = Tree::new("!x\n #x\n ab\n a-b\n a/b\n abc\n b\n c\n star*\n start\n a,b\n B");
    tree.raw_file(b"n\xffn");
    tree.raw_file("n\u{e9}n".as_bytes());
    let cases = [
        ("\\!x", "!x"),
        ("\\#x", "#x"),
        ("ab  ", "ab"),
        ("a**b", "a-b a,b ab"),
        ("a*b", "a-b a,b ab"),
        ("***c", "abc c"),
        ("{ab,c}", "ab c"),
        ("{a{b,bc},c}", "ab abc c"),
        ("ab{,c}", "abc"),
        ("a[!-]b", "a,b"),
        ("a[^-]b", "a,b"),
        ("a[,-]b", "a,b a-b"),
        ("[b-c]", "a/b b c"),
        ("?", "B a/b b c"),
        ("a?b", "a,b a-b"),
        ("star\\*", "star*"),
        ("star[*]", "star*"),
        ("star?", "star* start"),
        // A byte, not a character: names need not be text.
        ("n?n", "n\\xffn"),
        ("n??n", "n\\xc3\\xa9n"),
        ("n*n", "n\\xc3\\xa9n n\\xffn"),
        ("~b", "B a/b b"),
        ("~N\u{e9}n", "n\\xc3\\xa9n"),
    ];
    for (glob, expected) in cases {
        let mut expected: Vec<&str> = expected.split(' ').collect();
        // Path order, component by component; the table above is written as it reads best.
        expected.sort_by_key(|path| path.split('/').map(str::as_bytes).collect::<Vec<_>>());
        check_inline(&tree, with_globs(all(&tree), &[glob]), &expected.join(" "));
    }
    // Only a space is trimmed.
    check_globs(&tree, &["ab\t"], "");
}

#[test]
fn case_counts_for_each_glob_by_itself() {
    let tree = project();
    check_globs(&tree, &["~*.RS"], ".dot.rs a.rs src/a.rs src/deep/c.rs");
    check_globs(&tree, &["*.RS"], "");
    check_globs(&tree, &["~X.LOG", "*.RS"], "x.log");
    check_globs(&tree, &["*.RS", "~X.LOG"], "x.log");
    check_globs(&tree, &["~!*.RS"], "src/b.txt top.txt");
}

#[test]
fn globs_do_not_apply_to_what_the_caller_named() {
    let tree = project();
    let scope = |root, glob| with_globs(at_root(&tree, root), &[glob]);
    check(&tree, scope("src", "!src"), "src/a.rs src/b.txt src/deep/c.rs");
    check(&tree, scope("src/a.rs", "!*.rs"), "src/a.rs");
    check(&tree, scope("x.log", "*.rs"), "x.log");
    check(&tree, scope("log", "!x"), "log/d.rs");
}

#[test]
fn globs_are_relative_to_the_base_however_the_root_is_written() {
    let tree = project();
    let scope = |root: &str, glob| with_globs(at_root(&tree, root), &[glob]);
    check(&tree, scope("src", "/src/a.rs"), "src/a.rs");
    check(&tree, scope("src", "/a.rs"), "");
    check(&tree, scope("./src", "/src/a.rs"), "./src/a.rs");
    check(&tree, scope("src//", "src/a.rs"), "src//a.rs");
    check(&tree, scope("src/.", "src/a.rs"), "src/./a.rs");
    check(&tree, scope(".", "src/a.rs"), "./src/a.rs");
    check(&tree, scope(tree.join("src").to_str().unwrap(), "/src/a.rs"), "/tree/src/a.rs");
    check(&tree, scope(tree.path().to_str().unwrap(), "src/*.rs"), "/tree/src/a.rs");
}

#[test]
fn above_the_base_globs_see_the_dots() {
    let tree = project();
    let scope = |glob| with_globs(Scope::new("..").base(tree.join("src")), &[glob]);
    check(&tree, scope("../a.rs"), "../a.rs");
    check(&tree, scope("/a.rs"), "");
    check(&tree, scope("src/a.rs"), "");
    check(&tree, scope("../src/a.rs"), "../src/a.rs");
    check(&tree, scope("*.txt"), "../src/b.txt ../top.txt");
}

#[test]
fn a_glob_base_moves_globs_and_nothing_else() {
    let tree = project();
    let scope = |glob| with_globs(all(&tree).glob_base("src"), &[glob]);
    check(&tree, scope("/a.rs"), "src/a.rs");
    check(&tree, scope("deep/*"), "src/deep/c.rs");
    check(&tree, scope("src/a.rs"), "");
    check(&tree, scope("a.rs"), "a.rs src/a.rs");
    let absolute = with_globs(all(&tree).glob_base(tree.join("./src/")), &["/a.rs"]);
    check(&tree, absolute, "src/a.rs");
}

#[test]
fn without_a_base_globs_match_paths_as_they_are_listed() {
    let tree = project();
    let root = tree.path().to_str().unwrap();
    let scope = |glob: &str| with_globs(Scope::new(root), &[glob]);
    check(&tree, scope(&format!("{root}/src/*.rs")), "/tree/src/a.rs");
    check(&tree, scope("src/*.rs"), "");
    check(&tree, scope("/src/*.rs"), "");
    check(&tree, scope("*.txt"), "/tree/src/b.txt /tree/top.txt");
    check(&tree, scope("**/src/*.rs"), "/tree/src/a.rs");
    check(&tree, scope("/src/*.rs").glob_base(root), "/tree/src/a.rs");
    // Relative roots are the operating system's; tests run in the directory of the package.
    let here = with_globs(Scope::new("tests/it"), &["/tests/it/main.rs"]);
    check(&tree, here, "tests/it/main.rs");
    let here = with_globs(Scope::new("./tests/it"), &["tests/it/main.rs"]);
    check(&tree, here, "./tests/it/main.rs");
}

#[test]
fn globs_that_cannot_be_understood_are_errors() {
    let tree = Tree::new("a");
    let bad = [
        ("[", "unclosed character class"),
        ("[]", "unclosed character class"),
        ("{a", "unclosed alternate group"),
        ("a}", "unopened alternate group"),
        ("[z-a]", "invalid range"),
        ("a\\", "dangling '\\'"),
    ];
    for (glob, message) in bad {
        let hint = "a literal `[`";
        check_error(all(&tree).glob(glob), ErrorCode::InvalidGlob, None, message, hint);
        check_error(all(&tree).iglob(glob), ErrorCode::InvalidGlob, None, message, hint);
        check_error(
            all(&tree).glob(format!("!{glob}")),
            ErrorCode::InvalidGlob,
            None,
            message,
            hint,
        );
    }
}

#[test]
fn globs_over_a_limit_are_errors_and_those_at_it_are_not() {
    let tree = Tree::new("a");
    let many = |n: usize| (0..n).fold(all(&tree), |scope, n| scope.glob(format!("!x{n}")));
    check(&tree, many(1_000), "a");
    let message = "1001 globs are over max_globs (1000)";
    check_error(many(1_001), ErrorCode::InvalidGlob, None, message, "{a,b}");

    let long = |n: usize| all(&tree).glob(format!("!{}", "x".repeat(n - 1)));
    check(&tree, long(4_096), "a");
    let message = "4097 bytes is over max_glob_bytes (4096)";
    check_error(long(4_097), ErrorCode::InvalidGlob, None, message, "shorter");

    let each = |n: usize| format!("!{}{n:03}", "x".repeat(2_044));
    let heavy = |n: usize| (0..n).fold(all(&tree), |scope, n| scope.glob(each(n)));
    check_inline(&tree, heavy(128), "a");
    let message = "globs of 264192 bytes are over max_glob_list_bytes (262144)";
    check_error(heavy(129), ErrorCode::InvalidGlob, None, message, "fewer");
}

// Types.

#[test]
fn types_select_and_negate_and_the_last_wins() {
    let tree = Tree::new("a.rs\n b.py\n c.odd\n .h.rs\n .odd\n dir.rs/x.py\n dir.rs/y");
    let scope = all(&tree).hidden(false);
    // A selection shows hidden files of the type.
    check(&tree, scope.clone().file_type("rust"), ".h.rs a.rs");
    check(&tree, scope.clone().file_type("rust").file_type("py"), ".h.rs a.rs b.py dir.rs/x.py");
    check(&tree, scope.clone().file_type_not("rust"), "b.py c.odd dir.rs/x.py dir.rs/y");
    check(&tree, scope.clone().file_type("rust").file_type_not("rust"), "");
    check(&tree, scope.clone().file_type_not("rust").file_type("rust"), ".h.rs a.rs");
    check_inline(&tree, scope.clone().file_type("all"), ".h.rs a.rs b.py dir.rs/x.py");
    check_inline(&tree, scope.clone().file_type_not("all"), "c.odd dir.rs/y");
    check_inline(&tree, scope.file_type("all").file_type_not("py"), ".h.rs a.rs");
}

#[test]
fn types_are_defined_widened_included_and_cleared() {
    let tree = Tree::new("a.rs\n b.py\n c.odd\n d/e.even");
    let scope = all(&tree);
    check(&tree, scope.clone().define_type("odd:*.odd").file_type("odd"), "c.odd");
    // Definitions are looked at before selections.
    check(&tree, scope.clone().file_type("odd").define_type("odd:*.odd"), "c.odd");
    check(
        &tree,
        scope.clone().define_type("odd:*.odd").define_type("odd:*.even").file_type("odd"),
        "c.odd d/e.even",
    );
    check(&tree, scope.clone().define_type("rust:*.odd").file_type("rust"), "a.rs c.odd");
    check(&tree, scope.clone().define_type("both:include:rust,py").file_type("both"), "a.rs b.py");
    check(
        &tree,
        scope.clone().clear_type("rust").define_type("rust:*.odd").file_type("rust"),
        "c.odd",
    );
    check_inline(&tree, scope.define_type("odd:*.odd").file_type("all"), "a.rs b.py c.odd");
}

#[test]
fn types_look_at_the_name_only() {
    let tree = Tree::new("d/a.odd\n a.odd");
    let scope = |definition| all(&tree).define_type(definition).file_type("odd");
    check(&tree, scope("odd:d/a.odd"), "");
    check(&tree, scope("odd:**/a.odd"), "a.odd d/a.odd");
    check(&tree, scope("odd:*.ODD"), "");
}

#[test]
fn globs_beat_types_and_ignore_rules_beat_them_too() {
    let tree = Tree::new("a.rs\n b.py\n ignored.rs\n .ignore: ignored.rs");
    let scope = all(&tree).hidden(false).ignore(IgnoreRules::none().dot_ignore(true));
    check(&tree, scope.clone().file_type("rust"), "a.rs");
    check(&tree, scope.clone().file_type("rust").glob("*.py"), "b.py");
    check(&tree, scope.file_type("rust").glob("!a.*"), "");
}

#[test]
fn types_do_not_apply_to_what_the_caller_named() {
    let tree = Tree::new("a.rs\n b.py");
    check(&tree, at_root(&tree, "b.py").root("a.rs").file_type("rust"), "b.py a.rs");
}

#[test]
fn unknown_types_and_bad_definitions_are_errors() {
    let tree = Tree::new("a");
    let define = "define it as `name:*.ext`";
    let unknown = ErrorCode::UnknownType;
    check_error(all(&tree).file_type("nope"), unknown, None, "nope", define);
    check_error(all(&tree).file_type_not("nope"), unknown, None, "nope", define);
    check_error(all(&tree).clear_type("rust").file_type("rust"), unknown, None, "rust", define);
    for bad in ["nocolon", "name:", ":*.x", "a-b:*.x", "all:*.x", "x:include:nope", "x:other:y"] {
        let scope = all(&tree).define_type(bad);
        let code = ErrorCode::InvalidTypeDefinition;
        check_error(scope, code, None, "invalid definition", "write `name:*.ext`");
    }
    let bad = all(&tree).define_type("x:[");
    check(&tree, bad.clone(), "a");
    check_error(bad.file_type("x"), ErrorCode::InvalidGlob, None, "unclosed", "a literal `[`");
}

// Depth, size, links.

#[test]
fn depth_is_counted_from_each_root() {
    let tree = Tree::new("a\n d/b\n d/e/c\n d/e/f/g");
    let scope = |root, depth| at_root(&tree, root).max_depth(depth);
    check(&tree, scope("", Some(0)), "");
    check(&tree, scope("", Some(1)), "a");
    check(&tree, scope("", Some(2)), "a d/b");
    check(&tree, scope("d", Some(2)), "d/b d/e/c");
    check(&tree, scope("", None), "a d/b d/e/c d/e/f/g");
    check(&tree, scope("a", Some(0)).root("d/b").root("d"), "a d/b");
}

#[test]
fn files_over_a_size_are_left_out_unless_named() {
    let tree = Tree::new("empty\n four: 1234\n five: 12345\n six: 123456\n link -> six");
    let scope = |bytes| all(&tree).max_file_bytes(bytes);
    check(&tree, scope(None), "empty five four six");
    check(&tree, scope(Some(5)), "empty five four");
    check(&tree, scope(Some(4)), "empty four");
    check(&tree, scope(Some(0)), "empty");
    check(&tree, at_root(&tree, "six").root("four").max_file_bytes(Some(4)), "six four");
    // Of a link that is followed, the size of the target counts.
    check(&tree, scope(Some(5)).follow_links(true), "empty five four");
    check(&tree, scope(Some(6)).follow_links(true), "empty five four link six");
}

#[test]
fn links_are_followed_only_when_told_to() {
    let tree = Tree::new("real/f: 1\n file -> real/f\n dir -> real\n dir2 -> dir\n .h -> real");
    check(&tree, all(&tree), "real/f");
    check(&tree, all(&tree).follow_links(true), ".h/f dir/f dir2/f file real/f");
    check(&tree, all(&tree).follow_links(true).hidden(false), "dir/f dir2/f file real/f");
    check(&tree, all(&tree).follow_links(true).max_depth(Some(1)), "file");
    check(&tree, all(&tree).follow_links(true).glob("!dir/"), ".h/f dir2/f file real/f");
}

#[test]
fn a_root_that_is_a_link_is_always_followed() {
    let tree = Tree::new("real/f\n real/g -> f\n file -> real/f\n dir -> real");
    check(&tree, at_root(&tree, "dir"), "dir/f");
    check(&tree, at_root(&tree, "dir/"), "dir/f");
    check(&tree, at_root(&tree, "file"), "file");
    check(&tree, at_root(&tree, "dir").follow_links(true), "dir/f dir/g");
    let grown = Tree::new("x");
    grown.add("f");
    let outside = Tree::new("");
    std::os::unix::fs::symlink(grown.path(), outside.join("link")).unwrap();
    grown.grow();
    check(&outside, at_root(&outside, "link"), "link/f link/x");
}

#[test]
fn links_that_lead_nowhere_are_diagnostics_when_followed() {
    let tree = Tree::new("a\n d/broken -> nowhere\n self -> self\n through -> a/b");
    check(&tree, all(&tree), "a");
    let followed = all(&tree).follow_links(true);
    check_trouble(
        &tree,
        followed.clone(),
        "a",
        "not_found d/broken
         io self
         not_found through",
    );
    // One that is ignored is nobody's concern.
    check_trouble(&tree, followed.clone().glob("!self").glob("!t*"), "a", "not_found d/broken");
    check(&tree, followed.glob("!self").glob("!t*").glob("!broken"), "a");
}

#[test]
fn links_that_lead_back_are_diagnostics_when_followed() {
    let tree = Tree::new("a\n d/b\n d/up -> ..\n d/e/f\n d/e/here -> .");
    check(&tree, all(&tree), "a d/b d/e/f");
    check_trouble(
        &tree,
        all(&tree).follow_links(true),
        "a d/b d/e/f",
        "loop d/e/here
         loop d/up",
    );
    let summary = list(&all(&tree).follow_links(true)).1;
    let messages: Vec<_> =
        summary.diagnostics.iter().map(|one| one.to_string().replace("to .", "to ")).collect();
    assert_eq!(messages[0], "d/e/here: a link leads back to d/e");
    assert_eq!(summary.diagnostics.count(Reason::Loop), 2);
}

#[test]
fn only_regular_files_are_found_by_a_walk() {
    let tree = Tree::new("a\n d/b");
    tree.fifo("fifo");
    tree.fifo("d/fifo");
    let _socket = std::os::unix::net::UnixListener::bind(tree.join("socket")).unwrap();
    tree.add("link -> fifo");
    check(&tree, all(&tree), "a d/b");
    check(&tree, all(&tree).follow_links(true), "a d/b");
}

// Roots.

#[test]
fn paths_begin_with_the_root_as_it_was_written() {
    let tree = Tree::new("a/1\n a/b/2\n -");
    for (root, expected) in [
        ("a", "a/1 a/b/2"),
        ("a/", "a/1 a/b/2"),
        ("a//", "a//1 a//b/2"),
        ("./a", "./a/1 ./a/b/2"),
        ("a/.", "a/./1 a/./b/2"),
        ("a/./b", "a/./b/2"),
        ("a/../a", "a/../a/1 a/../a/b/2"),
        ("a/b/..", "a/b/../1 a/b/../b/2"),
        ("", "- a/1 a/b/2"),
        (".", "./- ./a/1 ./a/b/2"),
        ("./.", "././- ././a/1 ././a/b/2"),
        ("-", "-"),
        ("./-", "./-"),
        (".//a//b", ".//a//b/2"),
    ] {
        check(&tree, at_root(&tree, root), expected);
    }
    check(&tree, Scope::new(tree.path()), "/tree/- /tree/a/1 /tree/a/b/2");
}

#[test]
fn a_directory_named_dash_is_walked() {
    let tree = Tree::new("-/a");
    check(&tree, at_root(&tree, "-"), "-/a");
    check(&tree, at_root(&tree, "-/"), "-/a");
}

#[test]
fn dots_after_a_link_are_those_of_its_target() {
    let tree = Tree::new("here/x\n there/sub/y\n there/z\n link -> there/sub");
    check(&tree, at_root(&tree, "link/.."), "link/../sub/y link/../z");
}

#[test]
fn roots_are_listed_as_often_as_they_are_named() {
    let tree = Tree::new("a/1\n a/b/2\n c");
    let scope = at_root(&tree, "c").root("a").root("c").root("a/b").root("a");
    check(&tree, scope.clone(), "c a/1 a/b/2 c a/b/2 a/1 a/b/2");
    let (files, _) = list(&scope.sort(SortBy::Path, Order::Ascending));
    let roots: Vec<usize> = files.iter().map(|file| file.root).collect();
    assert_eq!(roots, [0, 1, 1, 2, 3, 4, 4]);
    let explicit: Vec<bool> = files.iter().map(|file| file.explicit).collect();
    assert_eq!(explicit, [true, false, false, true, false, false, false]);
    check(&tree, Scope::many(["c", "c"]).base(tree.path()), "c c");
}

#[test]
fn names_that_are_no_text_are_listed_as_they_are() {
    let tree = Tree::new("a");
    for name in [&b"new\nline"[..], b"b\xff\xfe", b"-x", b"d\xff/e\x80", b"\x01", b"sp ace", b"*"] {
        tree.raw_file(name);
    }
    let scope = all(&tree).sort(SortBy::Path, Order::Ascending);
    for grown in [false, true] {
        if grown {
            tree.grow();
        }
        for (_, pool) in POOLS.iter() {
            let files = list(&scope.clone().pool(pool)).0;
            let names = ["\\x01", "*", "-x", "a", "b\\xff\\xfe", "d\\xff/e\\x80", "new\\nline"];
            assert_eq!(shown(&tree, &files)[..7], names);
            assert_eq!(shown(&tree, &files)[7..], ["sp ace"]);
        }
    }
    let root = std::ffi::OsStr::from_bytes(b"d\xff");
    check(&tree, Scope::new(root).base(tree.path()), "d\\xff/e\\x80");
}

#[test]
fn roots_that_do_not_exist_are_errors() {
    let tree = Tree::new("a\n broken -> nowhere");
    let not_found = ErrorCode::RootNotFound;
    let spelling = "check the spelling";
    for (root, message) in [
        ("missing", "No such file"),
        ("a/b", "Not a directory"),
        ("a/", "Not a directory"),
        ("broken", "No such file"),
        ("./missing", "No such file"),
    ] {
        let scope = at_root(&tree, "a").root(root).root("also missing");
        check_error(scope.clone(), not_found, Some(root), message, spelling);
        let error = scope.files(&CancelToken::new()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{root}: {message}")), "{error}");
    }
    check_error(Scope::new(""), not_found, Some(""), "No such file", spelling);
}

#[test]
fn roots_that_cannot_be_looked_at_are_errors() {
    let tree = Tree::new("self -> self");
    let code = ErrorCode::RootUnreadable;
    let hint = "the operating system's";
    check_error(at_root(&tree, "self"), code, Some("self"), "symbolic link", hint);
    let long = "x".repeat(300);
    check_error(at_root(&tree, &long), code, Some(&long), "too long", hint);
    check_error(at_root(&tree, "nul\0"), code, Some("nul\0"), "NUL byte", hint);
}

#[test]
fn special_files_as_roots_are_errors() {
    let tree = Tree::new("link -> fifo");
    tree.fifo("fifo");
    for root in ["fifo", "link", "/dev/null"] {
        let message = "neither a directory nor a regular file";
        let code = ErrorCode::SpecialFile;
        check_error(at_root(&tree, root), code, Some(root), message, "copy its content");
    }
}

#[test]
fn a_scope_without_roots_is_an_error() {
    let none = Scope::many([] as [&str; 0]);
    let message = "no directory or file";
    check_error(none.clone(), ErrorCode::NoRoot, None, message, "name at least one root");
    check_error(none.tolerant_roots(true), ErrorCode::NoRoot, None, message, "name at least one");
}

#[test]
fn tolerant_roots_turn_unusable_ones_into_diagnostics() {
    let tree = Tree::new("a\n d/b\n self -> self");
    tree.fifo("fifo");
    let scope = at_root(&tree, "missing").root("fifo").root("d").root("self").root("a");
    check_trouble(
        &tree,
        scope.tolerant_roots(true),
        "d/b a",
        "special_file fifo
         not_found missing
         io self",
    );
    check_trouble(&tree, at_root(&tree, "missing").tolerant_roots(true), "", "not_found missing");
}

// Orders.

#[track_caller]
fn check_sorted(tree: &Tree, scope: &Scope, by: SortBy, order: Order, expected: &str) {
    check_order(tree, scope.clone().sort(by, order), expected, "");
}

#[test]
fn times_are_sorted_from_either_end_and_ties_by_path() {
    let tree = Tree::new(
        "new @ 300\n d/old @ 100\n mid @ 200\n a/1 @ 50\n a-b @ 50\n a.txt @ 50
         future @ 4102444800\n before @ -5\n earlier @ -3000",
    );
    for by in [SortBy::Modified, SortBy::Accessed] {
        check_sorted(
            &tree,
            &all(&tree),
            by,
            Order::Ascending,
            "earlier before a/1 a-b a.txt d/old mid new future",
        );
        // Ties are in path order here, too.
        check_sorted(
            &tree,
            &all(&tree),
            by,
            Order::Descending,
            "future new mid d/old a/1 a-b a.txt before earlier",
        );
    }
}

#[test]
fn modification_and_access_are_told_apart() {
    let tree = Tree::new("a\n b");
    let times =
        |modified, accessed| FileTimes::new().set_modified(at(modified)).set_accessed(at(accessed));
    set_times(&tree.join("a"), times(100, 900));
    set_times(&tree.join("b"), times(200, 800));
    check_sorted(&tree, &all(&tree), SortBy::Modified, Order::Ascending, "a b");
    check_sorted(&tree, &all(&tree), SortBy::Accessed, Order::Ascending, "b a");
    let scope = all(&tree).sort(SortBy::Accessed, Order::Ascending);
    assert_eq!(list(&scope).0[0].time, Some(at(800)));
    // Modification, oldest first, is the order of a new scope.
    assert_eq!(shown(&tree, &list(&all(&tree)).0), ["a", "b"]);
    assert_eq!(list(&all(&tree)).0[0].time, Some(at(100)));
}

#[test]
fn creation_is_known_where_the_file_system_knows_it() {
    let tree = Tree::new("b @ 900");
    // Longer than a tick of the clock that file systems read.
    std::thread::sleep(Duration::from_millis(30));
    tree.add("a @ 100");
    let known = fs::metadata(tree.join("a")).unwrap().created().is_ok();
    let (up, down) = if known { ("b a", "a b") } else { ("a b", "a b") };
    check_sorted(&tree, &all(&tree), SortBy::Created, Order::Ascending, up);
    check_sorted(&tree, &all(&tree), SortBy::Created, Order::Descending, down);
}

#[test]
fn times_merge_the_roots_and_ties_keep_their_order() {
    let tree = Tree::new("b/1 @ 10\n b/2 @ 30\n a/1 @ 10\n a/2 @ 20\n c @ 10");
    let scope = at_root(&tree, "b").root("a").root("c").root("b");
    let modified = SortBy::Modified;
    check_sorted(&tree, &scope, modified, Order::Ascending, "b/1 a/1 c b/1 a/2 b/2 b/2");
    check_sorted(&tree, &scope, modified, Order::Descending, "b/2 b/2 a/2 b/1 a/1 c b/1");
}

#[test]
fn paths_are_sorted_component_by_component() {
    let tree = Tree::new("a/1\n a/b/2\n a-b\n a.txt\n a b/x\n B\n a1");
    let scope = all(&tree).glob("!* *");
    check_sorted(&tree, &scope, SortBy::Path, Order::Ascending, "B a/1 a/b/2 a-b a.txt a1");
    check_sorted(&tree, &scope, SortBy::Path, Order::Descending, "a1 a.txt a-b a/b/2 a/1 B");
}

#[test]
fn descending_paths_merge_the_roots_and_ascending_ones_do_not() {
    let tree = Tree::new("b/1\n a/1\n c");
    let scope = at_root(&tree, "b").root("a").root("c").root("b");
    check_sorted(&tree, &scope, SortBy::Path, Order::Ascending, "b/1 a/1 c b/1");
    check_sorted(&tree, &scope, SortBy::Path, Order::Descending, "c b/1 b/1 a/1");
    let (files, _) = list(&scope.sort(SortBy::Path, Order::Descending));
    assert_eq!(files.iter().map(|file| file.root).collect::<Vec<_>>(), [2, 0, 3, 1]);
}

#[test]
fn the_time_of_a_followed_link_is_that_of_its_target() {
    // A link made now, to a file of 1970.
    let tree = Tree::new("old @ 10\n mid @ 20\n x -> old");
    let scope = all(&tree).follow_links(true);
    check_sorted(&tree, &scope, SortBy::Modified, Order::Ascending, "old x mid");
    let named = at_root(&tree, "mid").root("x");
    check_sorted(&tree, &named, SortBy::Modified, Order::Ascending, "x mid");
}

#[test]
fn entries_tell_what_was_looked_at() {
    let tree = Tree::new("a: 12345\n d/b: 1");
    let entry = |scope: Scope| list(&scope).0.remove(0);
    let by_path = all(&tree).sort(SortBy::Path, Order::Ascending);
    let by_nothing = all(&tree).sort(SortBy::Nothing, Order::Ascending);
    let a = entry(by_path.clone());
    assert_eq!((a.time, a.bytes, a.explicit, a.root), (None, None, false, 0));
    let a = entry(by_path.max_file_bytes(Some(9)));
    assert_eq!((a.time, a.bytes), (None, Some(5)));
    let a = entry(by_nothing.glob("a"));
    assert_eq!((a.time, a.bytes), (None, None));
    let modified = fs::metadata(tree.join("a")).unwrap().modified().unwrap();
    let a = entry(all(&tree).glob("a"));
    assert_eq!((a.time, a.bytes), (Some(modified), Some(5)));
    let a = entry(at_root(&tree, "d/b").root("a").sort(SortBy::Path, Order::Descending));
    assert_eq!((a.explicit, a.root), (true, 0));
}

// How a walk went.

#[test]
fn diagnostics_are_bounded_and_the_same_are_kept_on_any_number_of_threads() {
    let tree = Tree::new("file");
    (0..700).for_each(|n| tree.add(&format!("d{}/link{n:03} -> nowhere", n % 7)));
    tree.add("loop -> .");
    let scope = all(&tree).follow_links(true).max_diagnostics(5);
    for (name, pool) in POOLS.iter() {
        for by in [SortBy::Path, SortBy::Modified, SortBy::Nothing] {
            let scope = scope.clone().pool(pool).sort(by, Order::Ascending);
            let (files, summary) = list(&scope);
            let diagnostics = summary.diagnostics;
            assert_eq!(shown(&tree, &files), ["file"], "{name}");
            assert_eq!(diagnostics.total(), 701, "{name}");
            assert_eq!(diagnostics.dropped(), 696, "{name}");
            let counts: Vec<_> = diagnostics.counts().collect();
            assert_eq!(counts, [(Reason::NotFound, 700), (Reason::Loop, 1)], "{name}");
            let kept: Vec<_> = diagnostics
                .iter()
                .map(|one| one.path.as_ref().unwrap().to_str().unwrap())
                .collect();
            let first = ["d0/link000", "d0/link007", "d0/link014", "d0/link021", "d0/link028"];
            assert_eq!(kept, first, "{name}");
        }
        let none = list(&scope.clone().pool(pool).max_diagnostics(0)).1.diagnostics;
        assert_eq!((none.iter().count(), none.total(), none.dropped()), (0, 701, 701), "{name}");
        let all = list(&scope.clone().pool(pool).max_diagnostics(701)).1.diagnostics;
        assert_eq!((all.iter().count(), all.dropped()), (701, 0), "{name}");
        // The default.
        let usual = list(&scope.clone().pool(pool).max_diagnostics(100)).1.diagnostics;
        assert_eq!((usual.iter().count(), usual.dropped()), (100, 601), "{name}");
    }
    let default = list(&all(&tree).follow_links(true)).1.diagnostics;
    assert_eq!((default.iter().count(), default.dropped()), (100, 601));
}

#[test]
fn a_token_that_is_stopped_before_lists_nothing_and_says_so() {
    let tree = Tree::new("a\n d/b");
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let late = CancelToken::new().deadline_in(Duration::ZERO);
    for (token, stop) in [(cancelled, Stop::Cancelled), (late, Stop::DeadlinePassed)] {
        for (name, pool) in POOLS.iter() {
            for by in [SortBy::Modified, SortBy::Path, SortBy::Nothing] {
                let scope = all(&tree).root("a").pool(pool).sort(by, Order::Ascending);
                let mut files = scope.files(&token).unwrap();
                assert_eq!(files.next(), None, "{name}");
                let summary = files.into_summary();
                assert_eq!((summary.files, summary.stopped), (0, Some(stop)), "{name}");
            }
        }
    }
    // What cannot be asked at all is still an error.
    let token = CancelToken::new();
    token.cancel();
    assert_eq!(
        at_root(&tree, "missing").files(&token).unwrap_err().code(),
        ErrorCode::RootNotFound
    );
}

#[test]
fn a_walk_without_an_order_stops_where_it_is_cancelled() {
    let tree = Tree::new("a\n b\n c\n d/e\n d/f");
    let token = CancelToken::new();
    let mut files = all(&tree).sort(SortBy::Nothing, Order::Ascending).files(&token).unwrap();
    assert!(files.next().is_some());
    assert!(files.next().is_some());
    token.cancel();
    assert_eq!(files.next(), None);
    assert_eq!(files.next(), None);
    let summary = files.into_summary();
    assert_eq!((summary.files, summary.stopped), (2, Some(Stop::Cancelled)));
    assert!(!summary.complete);
}

#[test]
fn a_walk_without_an_order_that_was_not_read_to_its_end_is_not_complete() {
    let tree = Tree::new("a\n b\n c");
    let scope = all(&tree).sort(SortBy::Nothing, Order::Ascending);
    let mut files = scope.files(&CancelToken::new()).unwrap();
    assert!(files.next().is_some());
    assert!(!files.into_summary().complete);
    let mut files = scope.files(&CancelToken::new()).unwrap();
    assert_eq!(files.by_ref().count(), 3);
    assert!(files.into_summary().complete);
}

#[test]
fn a_walk_with_an_order_lists_what_it_had_found_when_it_was_cancelled() {
    let tree = Tree::new("");
    let many: String = (0..3_000).map(|n| format!("d{}/{n}\n", n % 40)).collect();
    tree.add(&many);
    for (name, pool) in POOLS.iter() {
        // The other thread may be held up until the walk is over; not every time.
        let was_stopped = (0..200).any(|_| {
            let (token, progress) = (CancelToken::new(), Progress::new());
            let scope = all(&tree).pool(pool).progress(&progress);
            let (listed, summary) = std::thread::scope(|threads| {
                threads.spawn(|| {
                    // A failure of the other thread must not leave this one waiting for ever.
                    let patience = Instant::now() + Duration::from_secs(10);
                    while progress.files_listed() == 0 && Instant::now() < patience {
                        std::hint::spin_loop();
                    }
                    token.cancel();
                });
                let mut files = scope.files(&token).unwrap();
                let listed: Vec<_> = files.by_ref().collect();
                (listed, files.into_summary())
            });
            assert_eq!(summary.files, listed.len() as u64, "{name}");
            assert_eq!(progress.files_listed(), summary.files, "{name}");
            assert!(listed.is_sorted_by_key(|file| file.time), "{name}");
            if summary.stopped.is_none() {
                assert_eq!(listed.len(), 3_000, "{name}");
                return false;
            }
            assert_eq!(summary.stopped, Some(Stop::Cancelled), "{name}");
            assert!(!listed.is_empty(), "{name}");
            listed.len() < 3_000
        });
        assert!(was_stopped, "{name}");
    }
}

#[test]
fn progress_counts_each_listed_file_once() {
    let tree = Tree::new("a: 123456\n d/b\n d/c\n x.log");
    for grown in [false, true] {
        if grown {
            tree.grow();
            (0..600).for_each(|n| tree.add(&format!("many/{n}")));
        }
        for (name, pool) in POOLS.iter() {
            for by in [SortBy::Modified, SortBy::Path, SortBy::Nothing] {
                let progress = Progress::new();
                let scope = all(&tree).root("x.log").glob("!*.log").max_file_bytes(Some(5));
                let scope = scope.progress(&progress).pool(pool).sort(by, Order::Ascending);
                let expected = if grown { 603 } else { 3 };
                assert_eq!(list(&scope).1.files, expected, "{name}");
                assert_eq!(progress.files_listed(), expected, "{name}");
                assert_eq!(progress.files_searched(), 0, "{name}");
            }
        }
    }
}

#[test]
fn files_that_nobody_asked_for_are_counted_in_an_order() {
    let tree = Tree::new("a\n b\n c");
    let mut files = all(&tree).files(&CancelToken::new()).unwrap();
    assert_eq!(files.size_hint(), (3, Some(3)));
    files.next();
    assert_eq!(files.into_summary().files, 3);
    let mut files =
        all(&tree).sort(SortBy::Nothing, Order::Ascending).files(&CancelToken::new()).unwrap();
    files.next();
    assert_eq!(files.into_summary().files, 1);
}

#[test]
fn ripgrep_defaults_are_those_of_rg() {
    let tree = Tree::new(
        ".git/config\n .hidden\n a.log\n .gitignore: *.log\n sub/x\n sub/.ignore: x\n sub/y",
    );
    check(&tree, all(&tree).ripgrep(), "sub/y");
    check(&tree, at_root(&tree, ".git").ripgrep(), ".git/config");
    let scope = all(&tree).ripgrep().hidden(true);
    check(&tree, scope, ".git/config .gitignore .hidden sub/.ignore sub/y");
}

// What may not be read. The superuser may read everything, so these run as nobody.

/// This program, to be run by one who is not the superuser, and the directory that it needs until
/// it ends.
#[allow(clippy::disallowed_types, reason = "tests may start processes: privileges are per process")]
#[allow(clippy::disallowed_methods, reason = "the program to start is this one")]
pub(crate) fn as_nobody() -> (std::process::Command, tempfile::TempDir) {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    // A copy: the way to the program itself may be closed for nobody.
    let copy = tempfile::tempdir().unwrap();
    fs::set_permissions(copy.path(), Permissions::from_mode(0o755)).unwrap();
    let program = copy.path().join("it");
    copy_program(&std::env::current_exe().unwrap(), &program);
    let mut command = std::process::Command::new(program);
    command.env_remove("TMPDIR");
    if fs::metadata(copy.path()).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    (command, copy)
}

/// Copies a program by a process of its own. Were it written by this one, a child that another test
/// starts meanwhile would hold it open for writing, and it could not be run.
#[allow(clippy::disallowed_types, reason = "tests may start processes: see above")]
#[allow(clippy::disallowed_methods, reason = "the same")]
pub(crate) fn copy_program(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").args([from, to]).status().unwrap();
    assert!(status.success(), "{}", from.display());
    fs::set_permissions(to, Permissions::from_mode(0o755)).unwrap();
}

/// Runs this test once more in a process without privileges, unless it has none already. Returns
/// whether the caller is that process.
#[allow(clippy::disallowed_types, reason = "tests may start processes: privileges are per process")]
#[allow(
    clippy::disallowed_methods,
    reason = "the marker for the second process is its environment"
)]
pub(crate) fn is_unprivileged(test: &str) -> bool {
    const MARK: &str = "INGREP_TEST_UNPRIVILEGED";
    if std::env::var_os(MARK).is_some() {
        let closed = Tree::new("closed");
        fs::set_permissions(closed.join("closed"), Permissions::from_mode(0o000)).unwrap();
        assert!(fs::read(closed.join("closed")).is_err(), "still privileged");
        return true;
    }
    let (mut command, _copy) = as_nobody();
    command.args([test, "--exact"]).env(MARK, "1").current_dir("/");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// Closes a path while this value lives: a closed directory cannot be removed.
pub(crate) struct Closed(std::path::PathBuf);

impl Closed {
    pub(crate) fn new(path: std::path::PathBuf, mode: u32) -> Closed {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        Closed(path)
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, Permissions::from_mode(0o755));
    }
}

#[test]
fn a_directory_that_may_not_be_read_is_named_and_the_rest_is_listed() {
    if !is_unprivileged("scope::a_directory_that_may_not_be_read_is_named_and_the_rest_is_listed") {
        return;
    }
    let tree = Tree::new("a\n closed/x\n d/b\n d/closed/y\n e: content");
    let _one = Closed::new(tree.join("closed"), 0o000);
    let _two = Closed::new(tree.join("d/closed"), 0o000);
    let _file = Closed::new(tree.join("e"), 0o000);
    let trouble = "permission_denied closed\n permission_denied d/closed";
    // A file is listed whether or not it can be read.
    check_trouble(&tree, all(&tree), "a d/b e", trouble);
    let summary = list(&all(&tree)).1;
    assert_eq!(summary.diagnostics.count(Reason::PermissionDenied), 2);
    let first = summary.diagnostics.iter().next().unwrap();
    assert_eq!(first.to_string(), "closed: Permission denied (os error 13)");
    // At the limit of the depth, directories are not opened.
    check(&tree, all(&tree).max_depth(Some(1)), "a e");
    check(&tree, all(&tree).glob("!closed"), "a d/b e");
}

#[test]
fn a_root_that_may_not_be_read_is_an_error() {
    if !is_unprivileged("scope::a_root_that_may_not_be_read_is_an_error") {
        return;
    }
    let tree = Tree::new("a\n closed/x");
    let _closed = Closed::new(tree.join("closed"), 0o000);
    let denied = "Permission denied";
    let hint = "check its permissions";
    for root in ["closed", "closed/x"] {
        let scope = at_root(&tree, "a").root(root);
        check_error(scope.clone(), ErrorCode::RootUnreadable, Some(root), denied, hint);
        let trouble = format!("permission_denied {root}");
        check_trouble(&tree, scope.tolerant_roots(true), "a", &trouble);
    }
}

#[test]
fn files_that_cannot_be_looked_at_are_listed_without_time_or_size() {
    if !is_unprivileged("scope::files_that_cannot_be_looked_at_are_listed_without_time_or_size") {
        return;
    }
    // Names in this directory can be read, and no more.
    let tree = Tree::new("names/a: 123\n names/b: 123\n old @ 1\n new @ 4102444800");
    let _names = Closed::new(tree.join("names"), 0o444);
    for by in [SortBy::Modified, SortBy::Accessed, SortBy::Created] {
        let glob = all(&tree).glob("!new");
        check_sorted(&tree, &glob, by, Order::Ascending, "old names/a names/b");
        check_sorted(&tree, &glob, by, Order::Descending, "names/a names/b old");
    }
    let scope = all(&tree);
    check_sorted(&tree, &scope, SortBy::Modified, Order::Ascending, "old new names/a names/b");
    check_sorted(&tree, &scope, SortBy::Modified, Order::Descending, "names/a names/b new old");
    let files = list(&scope).0;
    assert_eq!((files[2].time, files[2].bytes), (None, None));
    check(&tree, all(&tree).max_file_bytes(Some(0)), "names/a names/b new old");
}
