//! A test that hangs is a failed test.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Longer than anything here takes, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(20);

/// Does what it is told to, and fails if that does not come to an end.
#[track_caller]
pub(super) fn watched<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> T {
    watched_for(PATIENCE, 8 << 20, job)
}

#[track_caller]
pub(super) fn watched_for<T: Send + 'static>(
    patience: Duration,
    stack_bytes: usize,
    job: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (send, receive) = channel();
    let run = move || drop(send.send(job()));
    let thread = thread::Builder::new().stack_size(stack_bytes).spawn(run).unwrap();
    match receive.recv_timeout(patience) {
        Ok(result) => {
            thread.join().unwrap();
            result
        }
        // It has panicked: with its own words.
        Err(RecvTimeoutError::Disconnected) => resume_unwind(thread.join().unwrap_err()),
        Err(RecvTimeoutError::Timeout) => panic!("it hangs: no end after {patience:?}"),
    }
}

#[test]
#[should_panic = "it hangs"]
fn a_job_that_does_not_end_is_told() {
    watched_for(Duration::from_millis(10), 64 << 10, || thread::sleep(Duration::from_secs(5)));
}

#[test]
#[should_panic = "on purpose"]
fn a_job_that_panics_is_told_in_its_words() {
    watched(|| panic!("on purpose"));
}
