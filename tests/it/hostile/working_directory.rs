//! A process whose directory is gone: H11.

use super::own_process::{OwnProcess, is_own};
use super::watched::watched;
use super::{list, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, ErrorCode, IgnoreRules, Reason, Scope};

#[test]
fn a_working_directory_that_is_gone_matters_to_nobody_who_does_not_name_it() {
    OwnProcess::new("working_directory::in_its_own_the_directory_is_gone").passes();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_the_directory_is_gone() {
    if !is_own() {
        return;
    }
    let gone = Tree::new("");
    std::env::set_current_dir(gone.path()).unwrap();
    drop(gone);
    assert!(std::env::current_dir().is_err(), "it is still there");
    watched(|| {
        let tree = Tree::new(".ignore: *.log\n a\n b.log\n sub/c\n sub/up -> ..");
        let rules = || IgnoreRules::ripgrep().parents(false);
        let scopes = [
            Scope::new(tree.path()),
            Scope::new(tree.path()).follow_links(true),
            Scope::new(tree.path()).confine(tree.path()),
            Scope::new("").base(tree.path()).confine("").follow_links(true),
            Scope::new("sub/..").base(tree.path()),
        ];
        for scope in scopes {
            for (way, scope) in ways(&scope.ignore(rules())) {
                let (listed, _) = list(&scope);
                assert_eq!(listed.len(), 3, "{way}: {listed:?}");
            }
        }
        // Whoever names it is told that it is gone.
        let (listed, summary) = list(&Scope::new("."));
        assert_eq!((listed.len(), summary.diagnostics.count(Reason::NotFound)), (0, 1));
        let (listed, _) = list(&Scope::new(".").ignore(IgnoreRules::ripgrep()).follow_links(true));
        assert_eq!(listed.len(), 0);
        let error = Scope::new(".").confine(".").files(&CancelToken::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::RootUnreadable);
    });
}
