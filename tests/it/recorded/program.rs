//! Finds the real rg, or builds it.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use bstr::ByteSlice;

/// What the oracle has to be, and the crates that it has to link in the version that we link.
const VERSION: &str = "15.2.0";
const CRATES: [&str; 6] =
    ["ignore", "globset", "grep-searcher", "grep-regex", "regex-automata", "walkdir"];

/// The real rg: the one that `INGREP_RG` names, or else one that is built, once, into
/// `target/oracle`. Unlocked, so that it links the newest versions of its crates, as we do.
///
/// # Errors
///
/// When it cannot be built, or links other versions of the crates.
pub(crate) fn program() -> Result<OsString, String> {
    static PROGRAM: OnceLock<Result<OsString, String>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let program = match std::env::var_os("INGREP_RG") {
                Some(program) => program,
                None => install()?,
            };
            same_crates(Path::new(&program))?;
            Ok(program)
        })
        .clone()
}

fn install() -> Result<OsString, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("oracle");
    let program = root.join("bin").join("rg");
    if !program.exists() {
        let status = Command::new(env!("CARGO"))
            .args(["install", "ripgrep", "--version", VERSION, "--root"])
            .arg(&root)
            .arg("--target-dir")
            .arg(root.join("build"))
            // Those of this build are not for that one.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_TARGET_DIR")
            .status()
            .map_err(|err| format!("cargo install ripgrep: {err}"))?;
        if !status.success() {
            return Err(format!("cargo install ripgrep --version {VERSION}: {status}"));
        }
    }
    Ok(program.into())
}

/// A crate's version stands in the names of source files that its panics mention.
fn same_crates(program: &Path) -> Result<(), String> {
    let binary = std::fs::read(program).map_err(|err| format!("{}: {err}", program.display()))?;
    let lock = include_str!("../../../Cargo.lock");
    for name in CRATES {
        let entry = format!("name = \"{name}\"\nversion = \"");
        let at = lock.find(&entry).ok_or(format!("{name} is not in Cargo.lock"))? + entry.len();
        let version = lock[at..].split('"').next().unwrap_or_default();
        let linked = format!("/{name}-{version}/");
        if !binary.contains_str(&linked) {
            return Err(format!(
                "{} does not link {name} {version} as we do: remove it to have it built anew, \
                 or run `cargo update`",
                program.display()
            ));
        }
    }
    Ok(())
}
