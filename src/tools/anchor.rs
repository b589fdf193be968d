//! What a model's glob means: relative to the place that is searched, or to the working directory.

use super::error::{ToolError, ToolErrorCode};
use std::path::{Component, Path};

/// A search root, and how it lies in the working directory.
pub(super) struct Place<'a> {
    /// The root, absolute.
    pub(super) root: &'a Path,
    /// The working directory, absolute.
    pub(super) cwd: &'a Path,
}

impl Place<'_> {
    /// The globs, relative to the root, that together mean this one.
    pub(super) fn globs(&self, tool: &str, glob: &str) -> Result<Vec<String>, ToolError> {
        let (negation, glob) = match glob.strip_prefix('!') {
            Some(rest) => ("!", rest),
            None => ("", glob),
        };
        let mut plain = glob;
        while let Some(rest) = plain.strip_prefix("./") {
            plain = rest.trim_start_matches('/');
        }
        let parts = split(plain);
        if parts.contains(&"..") {
            return Err(ToolError::argument(format!("{tool}: the glob {glob} leads out by `..`"))
                .next("Give `path` as the directory to look in, and a glob relative to it"));
        }
        let globs = if plain.starts_with('/') {
            vec![self.inside(tool, glob, &parts)?]
        } else {
            let mut globs = vec![plain.to_string()];
            if let (true, Ok(below)) = (parts.len() > 1, self.root.strip_prefix(self.cwd)) {
                let names: Vec<_> = below
                    .components()
                    .filter_map(|part| match part {
                        Component::Normal(name) => name.to_str(),
                        _ => None,
                    })
                    .collect();
                if !names.is_empty() {
                    remainders(&parts, &names, &mut globs);
                }
            }
            globs
        };
        // In a list of globs these begin something else.
        let escape = |glob: &str| if glob.starts_with(['!', '#']) { "\\" } else { "" };
        Ok(globs.iter().map(|glob| format!("{negation}{}{glob}", escape(glob))).collect())
    }

    /// An absolute glob, relative to the root.
    fn inside(&self, tool: &str, glob: &str, parts: &[&str]) -> Result<String, ToolError> {
        let root: Vec<_> = self
            .root
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy()),
                _ => None,
            })
            .collect();
        let parts = &parts[1..];
        let below = parts.len() > root.len()
            && root.iter().zip(parts).all(|(name, part)| unescape(part) == **name);
        if !below {
            let root = self.root.display();
            let message = format!("{tool}: the absolute glob {glob} is not inside {root}");
            return Err(ToolError::new(ToolErrorCode::InvalidArgument, message)
                .next("Give `path` as the directory to look in, and a glob relative to it"));
        }
        Ok(format!("/{}", parts[root.len()..].join("/")))
    }
}

/// The parts of a glob between its slashes. A slash in braces parts nothing.
fn split(glob: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    let mut bytes = glob.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'/' if depth == 0 => {
                parts.push(&glob[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&glob[start..]);
    parts
}

/// A part's text, if nothing in it is special.
fn unescape(part: &str) -> String {
    let mut text = String::new();
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next()),
            '*' | '?' | '[' | ']' | '{' | '}' => return String::new(),
            other => text.push(other),
        }
    }
    text
}

/// What remains of a glob once its first parts have matched the names of the way to the root.
fn remainders(parts: &[&str], names: &[&str], found: &mut Vec<String>) {
    let Some((name, below)) = names.split_first() else {
        // With one part left the glob would match at any depth.
        let glob = format!("/{}", parts.join("/"));
        if !parts.is_empty() && !found.contains(&glob) {
            found.push(glob);
        }
        return;
    };
    let Some((part, rest)) = parts.split_first() else { return };
    if *part == "**" {
        remainders(rest, names, found);
        remainders(parts, below, found);
    } else if matches_name(part, name) {
        remainders(rest, below, found);
    }
}

fn matches_name(part: &str, name: &str) -> bool {
    let glob = globset::GlobBuilder::new(part).literal_separator(true).build();
    let set = glob.and_then(|glob| globset::GlobSetBuilder::new().add(glob).build());
    set.is_ok_and(|set| set.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(root: &str, glob: &str, expected: &[&str]) {
        let place = Place { root: Path::new(root), cwd: Path::new("/w") };
        assert_eq!(place.globs("glob", glob).unwrap(), expected, "{glob} in {root}");
    }

    #[track_caller]
    fn check_refused(root: &str, glob: &str) {
        let place = Place { root: Path::new(root), cwd: Path::new("/w") };
        let error = place.globs("glob", glob).unwrap_err();
        assert_eq!(error.code(), ToolErrorCode::InvalidArgument, "{glob} in {root}");
        assert!(error.next_step().is_some());
    }

    #[test]
    fn a_glob_is_relative_to_the_root_and_to_the_working_directory() {
        check("/w", "src/*.ts", &["src/*.ts"]);
        check("/w/src", "*.ts", &["*.ts"]);
        check("/w/src", "deep/*.ts", &["deep/*.ts"]);
        check("/w/src", "src/deep/*.ts", &["src/deep/*.ts", "/deep/*.ts"]);
        check("/w/src", "src/*.ts", &["src/*.ts", "/*.ts"]);
        check("/w/a/b", "a/b/c", &["a/b/c", "/c"]);
        check("/w/a/b", "a/c", &["a/c"]);
        check("/w/src", "s?c/x/{a,b/c}", &["s?c/x/{a,b/c}", "/x/{a,b/c}"]);
        check("/w/src", "**/*.ts", &["**/*.ts", "/**/*.ts"]);
        check("/else", "src/*.ts", &["src/*.ts"]);
        check("/w/src", "!src/*.ts", &["!src/*.ts", "!/*.ts"]);
    }

    #[test]
    fn a_leading_dot_is_dropped_and_an_absolute_glob_made_relative() {
        check("/w", "./src/*.ts", &["src/*.ts"]);
        check("/w", "././/a.ts", &["a.ts"]);
        check("/w", "/w/src/*.ts", &["/src/*.ts"]);
        check("/w/src", "/w/src/a.ts", &["/a.ts"]);
        check("/w/a b", r"/w/a\ b/c", &["/c"]);
        check("/w", "./!a.ts", &[r"\!a.ts"]);
        check("/w", "#a.ts", &[r"\#a.ts"]);
        check("/w", "!#a.ts", &[r"!\#a.ts"]);
    }

    #[test]
    fn a_glob_that_leads_out_is_refused() {
        check_refused("/w/src", "/w/*.ts");
        check_refused("/w", "/else/*.ts");
        check_refused("/w", "/w");
        check_refused("/w", "../x");
        check_refused("/w", "a/../x");
        check_refused("/w", "/w*/x");
    }
}
