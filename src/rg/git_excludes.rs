//! Where git's configuration, found through the environment, keeps rules for all repositories.

use super::Command;
use crate::haystack::{self, Place};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A configuration of more bytes is not read: git's own are a few hundred.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

const SYSTEM_CONFIG: &str = "/etc/gitconfig";

/// The file of excludes that git would use for this environment, if its place is known.
pub(super) fn find(command: &Command) -> Option<PathBuf> {
    let home = variable(command, "HOME");
    let xdg = variable(command, "XDG_CONFIG_HOME")
        .or_else(|| home.as_ref().map(|home| home.join(".config")));
    let global = variable(command, "GIT_CONFIG_GLOBAL");
    let configs = [
        global,
        home.as_ref().map(|home| home.join(".gitconfig")),
        xdg.as_ref().map(|xdg| xdg.join("git/config")),
        Some(
            variable(command, "GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from(SYSTEM_CONFIG)),
        ),
    ];
    configs
        .iter()
        .flatten()
        .find_map(|config| excludes_file(&command.cwd.join(config), home.as_deref()))
        .or_else(|| xdg.map(|xdg| xdg.join("git/ignore")))
}

fn variable(command: &Command, key: &str) -> Option<PathBuf> {
    command.env_var(key).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The value of `excludesFile` in a configuration, in whichever section.
fn excludes_file(config: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let mut text = Vec::new();
    let opened = haystack::open(Place::Path(config.into())).ok()?;
    opened.file.take(MAX_CONFIG_BYTES).read_to_end(&mut text).ok()?;
    let value = text.split(|&byte| byte == b'\n').find_map(value_of_excludes_file)?;
    let value = os_string(value);
    let path = Path::new(&value);
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => Some(home.join(rest)),
        _ => Some(path.to_path_buf()),
    }
}

/// The value on a line `excludesFile = value`, with or without quotes around it, up to white space.
fn value_of_excludes_file(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"excludesfile";
    let line = line.trim_ascii();
    let (key, rest) = line.split_at_checked(KEY.len())?;
    if !key.eq_ignore_ascii_case(KEY) {
        return None;
    }
    let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").unwrap_or(value).trim_ascii();
    let value = value.strip_suffix(b"\"").unwrap_or(value).trim_ascii();
    (!value.is_empty() && !value.iter().any(u8::is_ascii_whitespace)).then_some(value)
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
