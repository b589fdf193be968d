//! Ignore files of which there is too much: T3, T4 and T6.

use super::own_process::{OwnProcess, is_own, peak_bytes};
use super::watched::watched;
use super::{check, here, list, ruled, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, IgnoreRules, Reason, WalkLimits, Walker};
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn what_is_over_the_bytes_of_a_file_is_dropped_and_what_is_before_holds() {
    watched(|| {
        let tree = Tree::new("a.log\n a.tmp\n b");
        let filler = "# nothing\n".repeat((1 << 20) / 10);
        fs::write(tree.join(".ignore"), format!("*.log\n{filler}*.tmp\n")).unwrap();
        let trouble = "ignore_rule .ignore: max_rule_file_bytes (1048576)";
        check(&tree, &ruled(&tree), ".ignore a.tmp b", trouble);
        // Raised, it holds.
        let scope = ruled(&tree).limits(WalkLimits::new().max_rule_file_bytes(2 << 20));
        check(&tree, &scope, ".ignore b", "");
    });
}

#[test]
fn a_line_over_its_limit_costs_itself_only() {
    watched(|| {
        let tree = Tree::new("a.log\n a.tmp\n b");
        let long = "?".repeat(5_000);
        fs::write(tree.join(".ignore"), format!("*.log\n{long}\n*.tmp\n")).unwrap();
        let trouble = "ignore_rule .ignore: line 2: a rule of 5000 bytes is over \
                       max_rule_line_bytes (4096)";
        let lines = trouble.replace("line 2: ", "");
        check(&tree, &ruled(&tree), ".ignore b", &lines);
    });
}

#[test]
fn rules_over_their_number_are_dropped_and_those_before_hold() {
    watched(|| {
        let tree = Tree::new("a.log\n a.tmp\n b");
        let many: String = (0..9_999).map(|n| format!("name-{n}\n")).collect();
        fs::write(tree.join(".ignore"), format!("*.log\n{many}*.tmp\n")).unwrap();
        let trouble = "ignore_rule .ignore: max_rules_per_file (10000)";
        check(&tree, &ruled(&tree), ".ignore a.tmp b", trouble);
    });
}

#[test]
fn one_bad_glob_among_healthy_ones_costs_itself_only() {
    watched(|| {
        let bad = ["[z-a]", "{a", "a{", "[a", "\\", "{{{{{{{{{{a", "**/[", "{a,b}}"];
        for bad in bad {
            let tree = Tree::new("a.log\n a.tmp\n b");
            fs::write(tree.join(".ignore"), format!("*.log\n{bad}\n*.tmp\n")).unwrap();
            for (way, scope) in ways(&ruled(&tree)) {
                let (files, summary) = list(&scope);
                assert_eq!(files, [".ignore", "b"], "{bad:?}, {way}: {:?}", summary.diagnostics);
            }
        }
    });
}

/// A hundred lines whose globs, compiled as one set, are over the size that a set may have.
#[test]
fn globs_that_are_too_much_together_hold_each() {
    watched(|| {
        let tree = Tree::new("a.log\n a.tmp\n b");
        let stars: String = (0..60).map(|n| format!("{}{n}\n", "?".repeat(2_000))).collect();
        fs::write(tree.join(".ignore"), format!("*.log\n{stars}*.tmp\n")).unwrap();
        for (way, scope) in ways(&ruled(&tree)) {
            let (files, summary) = list(&scope);
            assert_eq!(files, [".ignore", "b"], "{way}: {:?}", summary.diagnostics);
        }
    });
}

#[test]
fn the_rules_of_directories_over_the_memory_are_left_out_by_name() {
    watched(|| {
        // In force at one time: nested. Side by side they are not.
        let limits = WalkLimits::new().max_rule_memory_bytes(5_000);
        let side =
            "a/.ignore: x\n a/x\n b/.ignore: x\n b/x\n c/.ignore: x\n c/x\n d/.ignore: x\n d/x";
        let tree = Tree::new(side);
        let files = "a/.ignore b/.ignore c/.ignore d/.ignore";
        let one = ruled(&tree).limits(limits.clone());
        let (listed, summary) = list(&ways(&one)[0].1);
        assert_eq!(listed.join(" "), files, "{:?}", summary.diagnostics);
        let nested =
            "1/.ignore: x\n 1/2/.ignore: y\n 1/2/3/.ignore: z\n 1/2/3/x\n 1/2/3/y\n 1/2/3/z";
        let tree = Tree::new(nested);
        let trouble = "ignore_rule 1/2/3: max_rule_memory_bytes (5000)";
        let files = "1/.ignore 1/2/.ignore 1/2/3/.ignore 1/2/3/z";
        check(&tree, &ruled(&tree).limits(limits), files, trouble);
    });
}

/// The most expensive rules of the size that is allowed must not cost a hundred times the memory
/// that is allowed.
#[test]
fn expensive_rules_stay_near_the_memory_they_may_take() {
    OwnProcess::new("rule_limits::in_its_own_rules_are_expensive").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_rules_are_expensive() {
    if !is_own() {
        return;
    }
    let before = peak_bytes();
    watched(|| {
        for rule in ["?", "[a-zа-я]", "*a"] {
            let tree = Tree::new("a.log");
            let mut lines = String::from("*.log\n");
            for n in 0..40 {
                lines.push_str(&rule.repeat(3_900 / rule.len()));
                lines.push_str(&format!("{n}\n"));
            }
            fs::write(tree.join(".ignore"), lines).unwrap();
            let begin = std::time::Instant::now();
            let (files, summary) = list(&ways(&ruled(&tree))[0].1);
            assert_eq!(files, [".ignore"], "{rule}: {:?}", summary.diagnostics);
            eprintln!("{rule}: {:?}, peak {} MiB", begin.elapsed(), peak_bytes() >> 20);
        }
    });
    let grown = peak_bytes() - before;
    assert!(grown < 192 << 20, "{} MiB", grown >> 20);
}

/// As by the reference, which reads lines before it looks at them. Found by fuzzing.
#[test]
fn a_comment_that_is_no_text_counts_as_a_line_that_is_none() {
    let tree = Tree::new("a\n b.log");
    for (lines, told) in [
        (&b"*.log\n\xff\n# \xff\n"[..], 2),
        (b"*.log\n# \xff\n#\xfe\n", 2),
        // A lone one is passed over by ripgrep.
        (b"*.log\n# \xff\n", 0),
        (b"*.log\n# text\n\xff\n", 0),
    ] {
        fs::write(tree.join(".ignore"), lines).unwrap();
        for walker in [Walker::Native, Walker::Reference] {
            let (files, summary) = list(&ruled(&tree).walker(walker).hidden(false));
            assert_eq!(files, ["a"], "{walker:?}");
            assert_eq!(summary.diagnostics.count(Reason::IgnoreRule), told, "{walker:?} {lines:?}");
        }
    }
}

/// Until the walk has ended, nothing is listed by half of the rules.
#[test]
fn a_stop_while_rules_are_compiled_lets_nothing_slip_through() {
    watched(|| {
        let tree = Tree::new("a/keep\n a/f.secret");
        let rules: String = (0..9_999).map(|n| format!("*x{n}*y?.z\n")).collect();
        std::fs::write(tree.join("a/.ignore"), rules + "*.secret\n").unwrap();
        for delay in [1, 5, 20, 60] {
            let token = CancelToken::new();
            let canceller = token.clone();
            let cancel = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(delay));
                canceller.cancel();
                Instant::now()
            });
            let mut files = ruled(&tree).files(&token).unwrap();
            let listed: Vec<_> = files.by_ref().map(|file| file.path).collect();
            let ended = Instant::now();
            let late = ended.saturating_duration_since(cancel.join().unwrap());
            println!(
                "cancelled after {delay} ms, {} ms later the walk has ended",
                late.as_millis()
            );
            assert!(!listed.iter().any(|path| path.ends_with("f.secret")), "{listed:?}");
            if files.into_summary().stopped.is_none() {
                assert!(listed.iter().any(|path| path.ends_with("keep")));
            }
        }
    });
}

#[test]
fn a_thousand_nested_directories_with_rules_each() {
    watched(|| {
        let tree = Tree::new("");
        let mut dir = tree.path().to_path_buf();
        for n in 0..1_000 {
            fs::write(dir.join(".ignore"), format!("*.x{n}\nleft-out-{n}\n")).unwrap();
            dir.push("d");
            fs::create_dir(&dir).unwrap();
        }
        for name in ["found", "left-out-0", "left-out-999", "a.x500"] {
            fs::write(dir.join(name), "").unwrap();
        }
        let scope = ruled(&tree).glob("!.ignore");
        let (files, summary) = list(&ways(&scope)[1].1);
        assert_eq!(summary.diagnostics.total(), 0, "{:?}", summary.diagnostics);
        assert_eq!(files.len(), 1);
        assert!(files[0].ends_with("/found"));
    });
}

/// A bad line at every level, in files that are obeyed and in those that are not.
#[test]
fn dropped_rules_are_told_for_each_file_by_its_line() {
    watched(|| {
        let tree = Tree::new(
            ".ignore: ok\\n[z-a]\n ok\n sub/.rgignore: [z-a]\\nfine\n sub/fine\n sub/kept
             sub/.gitignore: [z-a]\n off/.gitignore: [z-a]",
        );
        let trouble = "ignore_rule .ignore: line 2\n ignore_rule sub/.rgignore: line 1
            ignore_rule sub/.gitignore: line 1\n ignore_rule off/.gitignore: line 1";
        let files = ".ignore sub/.rgignore sub/kept sub/.gitignore off/.gitignore";
        check(&tree, &ruled(&tree), files, trouble);
        let (_, summary) = list(&here(&tree).ignore(IgnoreRules::none().dot_ignore(true)));
        assert_eq!(summary.diagnostics.count(Reason::IgnoreRule), 2);
    });
}
