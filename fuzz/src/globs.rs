//! Globs, as a scope's and as a tool's argument: both walks list the same by them, and a tool lists
//! what it does from wherever the glob begins.

use crate::{Bits, Choices, parts, tree};
use ingrep::tools::{GlobInput, ToolError, Tools};
use ingrep::{CancelToken, Order, Pool, Scope, SortBy};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static TREE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let dir = tree::directory();
    tree::make(dir.path());
    dir
});

/// One byte of choices, then globs.
pub fn run(data: &[u8]) {
    if data.len() > 300 {
        return;
    }
    let (mut choices, rest) = Choices::cut(data, 1);
    let mut bits = Bits(choices.byte());
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let globs: Vec<&str> = parts(text.as_bytes(), 6)
        .map(|glob| std::str::from_utf8(glob).expect("NUL cuts no character"))
        .collect();

    let mut scope = Scope::new(TREE.path()).sort(SortBy::Path, Order::Ascending);
    scope = scope.hidden(bits.next());
    if bits.next() {
        scope = scope.glob_base(TREE.path().join("sub"));
    }
    let fold = bits.next();
    for (index, glob) in globs.iter().enumerate() {
        // Some of both in one scope.
        let is_folded = fold && index % 2 == 0;
        scope = if is_folded { scope.iglob(*glob) } else { scope.glob(*glob) };
    }
    tree::alike(scope);

    as_a_tool(globs[0]);
}

fn as_a_tool(glob: &str) {
    let tools = Tools::new(TREE.path()).pool(&Pool::inline()).glob_max_results(1_000);
    let from = |input: GlobInput| tools.glob(&input, &CancelToken::new());
    let paths = |found: Result<ingrep::tools::GlobReply, ToolError>| {
        found.map(|reply| {
            assert_eq!(reply.total, reply.paths.len() as u64, "nothing is left out");
            reply.paths.into_iter().map(|path| path.path).collect::<BTreeSet<_>>()
        })
    };
    let plain = paths(from(GlobInput::new(glob)));
    let here = paths(from(GlobInput::new(glob).path(".")));
    match (plain, here) {
        (Ok(plain), Ok(here)) => assert_eq!(plain, here, "the working directory is `.`"),
        (Err(_), Err(_)) => {}
        (plain, here) => panic!("{plain:?} but {here:?}"),
    }
    // From further down there is never more than there is in all.
    if let Ok(below) = paths(from(GlobInput::new(glob).path("sub"))) {
        let all = paths(from(GlobInput::new("**"))).expect("all is a glob");
        assert!(below.is_subset(&all), "{below:?}");
    }
}
