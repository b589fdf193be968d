//! `.git` files that point to what hurts: T2.

use super::watched::watched;
use super::{check, ruled};
use crate::tree::Tree;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

/// A worktree whose description is at `evil/git`, made by `make`. A tree without it would leave out
/// `a.log`, by its own rules; all else is listed.
#[track_caller]
fn check_pointer(make: impl Fn(&Tree), trouble: &str) {
    let tree = Tree::new("a.log\n b\n sub/c\n .ignore: *.log\n evil/git/");
    let at = tree.join("evil/git");
    fs::write(tree.join(".git"), format!("gitdir: {}\n", at.display())).unwrap();
    make(&tree);
    let trouble = trouble.replace("GIT", "evil/git");
    // What was put into it is no concern here.
    let scope = ruled(&tree).glob("!evil");
    check(&tree, &scope, ".ignore b sub/c", &trouble);
}

#[test]
fn a_description_that_is_no_file_is_told() {
    watched(|| {
        let told = "ignore_rule GIT/commondir: not a regular file";
        check_pointer(|tree| tree.fifo("evil/git/commondir"), told);
        let make = |tree: &Tree| {
            drop(UnixListener::bind(tree.join("evil/git/commondir")).unwrap());
        };
        check_pointer(make, told);
        for device in ["/dev/zero", "/dev/full", "/dev/ptmx"] {
            check_pointer(|tree| symlink(device, tree.join("evil/git/commondir")).unwrap(), told);
        }
    });
}

#[test]
fn a_description_without_an_end_is_told() {
    watched(|| {
        let told = "ignore_rule GIT/commondir: MAX_POINTER_BYTES (4096)";
        let sparse = |tree: &Tree| {
            File::create(tree.join("evil/git/commondir")).unwrap().set_len(1 << 40).unwrap();
        };
        check_pointer(sparse, told);
        let long = |tree: &Tree| {
            fs::write(tree.join("evil/git/commondir"), "x".repeat(1 << 20)).unwrap();
        };
        check_pointer(long, told);
    });
}

#[test]
fn a_git_file_without_an_end_is_told() {
    watched(|| {
        let told = "ignore_rule .git: MAX_POINTER_BYTES (4096)";
        check_pointer(
            |tree| {
                fs::write(tree.join(".git"), format!("gitdir: {}", "x".repeat(1 << 20))).unwrap()
            },
            told,
        );
        check_pointer(
            |tree| File::create(tree.join(".git")).unwrap().set_len(1 << 40).unwrap(),
            told,
        );
    });
}

#[test]
fn excluded_names_that_are_no_file_are_told() {
    watched(|| {
        let make = |tree: &Tree| {
            fs::write(tree.join("evil/git/commondir"), "../common\n").unwrap();
            fs::create_dir_all(tree.join("evil/common/info")).unwrap();
            tree.fifo("evil/common/info/exclude");
        };
        check_pointer(make, "ignore_rule GIT/../common/info/exclude: not a regular file");
        let make = |tree: &Tree| {
            fs::write(tree.join("evil/git/commondir"), "/dev/zero\n").unwrap();
        };
        // Nothing is below a device.
        check_pointer(make, "");
    });
}

#[test]
fn a_git_entry_that_is_no_file_and_no_directory_is_passed_over() {
    watched(|| {
        let with = |make: &dyn Fn(&Tree)| {
            let tree = Tree::new("a.log\n b\n .gitignore: *.log");
            make(&tree);
            // What is there makes a repository, as for ripgrep.
            check(&tree, &ruled(&tree), ".gitignore b", "");
        };
        with(&|tree| tree.fifo(".git"));
        with(&|tree| drop(UnixListener::bind(tree.join(".git")).unwrap()));
        with(&|tree| symlink("/dev/zero", tree.join(".git")).unwrap());
    });
}

#[test]
fn pointers_that_lead_round_and_round_end() {
    watched(|| {
        check_pointer(
            |tree| {
                symlink("commondir", tree.join("evil/git/commondir")).unwrap();
            },
            "",
        );
        check_pointer(
            |tree| {
                fs::write(tree.join("evil/git/commondir"), format!("{}\n", "../git/".repeat(500)))
                    .unwrap()
            },
            "",
        );
    });
}
