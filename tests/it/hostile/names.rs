//! Names that are no names for people: T22.

use super::watched::watched;
use super::{here, ruled, ways};
use crate::tree::Tree;
use ingrep::{CancelToken, Query, text};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

const NAMES: [&[u8]; 18] = [
    b"new\nline",
    b"\r",
    b" ",
    b"-rf",
    b"--",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"esc\x1b[2J",
    "rlo\u{202e}txt".as_bytes(),
    "\u{feff}".as_bytes(),
    b"*",
    b"[a]",
    b"{a,b}",
    b"\\",
    b"!x",
    b"#x",
    b"...",
    b"c:\\x",
];

#[test]
fn all_names_are_listed_and_searched_byte_for_byte() {
    watched(|| {
        let tree = Tree::new("");
        let longest = [b'n'; 255];
        let mut names: Vec<&[u8]> = NAMES.to_vec();
        names.push(&longest);
        let mut expected = Vec::new();
        for name in names {
            // As the name of a file, and as that of a directory.
            let dir = [b"dir", name].concat();
            let dir = &dir[..dir.len().min(255)];
            fs::create_dir(tree.join(OsStr::from_bytes(dir))).unwrap();
            for path in [name.to_vec(), [dir, b"/", name].concat()] {
                fs::write(tree.join(OsStr::from_bytes(&path)), "needle\n").unwrap();
                expected.push(path);
            }
        }
        expected.sort();
        for scope in [here(&tree), here(&tree).confine(""), ruled(&tree), here(&tree).glob("*")] {
            for (way, scope) in ways(&scope) {
                let files = scope.files(&CancelToken::new()).unwrap();
                let mut listed: Vec<_> =
                    files.map(|file| text::path_bytes(&file.path).into_owned()).collect();
                listed.sort();
                assert_eq!(listed, expected, "{way}");
                let search = Query::new("needle").scope(scope).compile().unwrap();
                let outcome = search.collect(&CancelToken::new()).unwrap();
                let mut found: Vec<_> = outcome
                    .files
                    .iter()
                    .map(|file| text::path_bytes(&file.path).into_owned())
                    .collect();
                found.sort();
                assert_eq!(found, expected, "{way}");
                assert_eq!(outcome.summary.diagnostics.total(), 0, "{way}");
            }
        }
    });
}
