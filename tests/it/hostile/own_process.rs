//! Tests in a process of their own, with less than this one has.

use crate::tree::Tree;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Tells a process that it is the second one.
const MARK: &str = "INGREP_TEST_HOSTILE";

/// This program, running one test of this directory, which finds out by [`is_own`] that it may
/// begin.
pub(super) struct OwnProcess {
    pub(super) command: Command,
    /// The program, copied: the way to the original may be closed for nobody.
    _copy: Option<tempfile::TempDir>,
}

impl OwnProcess {
    pub(super) fn new(test: &str) -> OwnProcess {
        let program = std::env::current_exe().unwrap();
        OwnProcess::run(Command::new(program), test, None)
    }

    /// One that is not the superuser, to whom nothing is forbidden.
    pub(super) fn of_nobody(test: &str) -> OwnProcess {
        let (command, copy) = crate::scope::as_nobody();
        OwnProcess::run(command, test, Some(copy))
    }

    /// Under a tracer that writes what the kernel is asked for into a file, or answers in its
    /// place. `None` where there is no tracer, or it may not trace.
    pub(super) fn traced(test: &str, arguments: &[&str], log: &PathBuf) -> Option<OwnProcess> {
        let may = Command::new("strace")
            .args(["-qq", "-o", "/dev/null", "true"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !may {
            eprintln!("not checked: strace is not there, or may not trace");
            return None;
        }
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o"]).arg(log).args(arguments);
        command.arg(std::env::current_exe().unwrap());
        Some(OwnProcess::run(command, test, None))
    }

    fn run(mut command: Command, test: &str, copy: Option<tempfile::TempDir>) -> OwnProcess {
        let test = format!("hostile::{test}");
        command.args([&test, "--exact", "--ignored", "--test-threads=1"]);
        command.env(MARK, "1").current_dir("/");
        OwnProcess { command, _copy: copy }
    }

    /// Waits for it, and fails as it fails.
    #[track_caller]
    pub(super) fn passes(mut self) -> Output {
        let output = self.command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let passed = output.status.success() && said.contains("1 passed");
        assert!(passed, "{:?}: {said}{errors}", output.status);
        output
    }
}

/// Whether this is such a process. The tests for it are `#[ignore]`d, and pass if somebody runs
/// them all the same.
pub(super) fn is_own() -> bool {
    std::env::var_os(MARK).is_some()
}

/// The most memory that this process has had at one time.
pub(super) fn peak_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: usize = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kib << 10
}

/// Fails where nothing is forbidden.
pub(super) fn assert_nobody() {
    let closed = Tree::new("closed");
    fs::set_permissions(closed.join("closed"), Permissions::from_mode(0o000)).unwrap();
    assert!(fs::read(closed.join("closed")).is_err(), "still privileged");
}

#[test]
fn a_test_in_a_process_of_its_own_that_fails_is_told() {
    let failed = std::panic::catch_unwind(|| {
        OwnProcess::new("own_process::in_its_own_it_fails").passes();
    });
    let words = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(words.contains("on purpose"), "{words}");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn in_its_own_it_fails() {
    assert!(!is_own(), "on purpose");
}
