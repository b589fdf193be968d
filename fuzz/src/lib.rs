//! What ingrep is fuzzed with: one function a target, each of which takes bytes and panics when they
//! show a fault. The programs in `fuzz_targets` hand them to libFuzzer; the test below replays what
//! lies in `corpus`, on any machine.
//!
//! An input is text where it can be, with NUL between its parts, so that a corpus can be read and a
//! fuzzer can cut parts out.

pub mod argv;
pub mod globs;
pub mod ignore_lines;
pub mod json_sink;
pub mod preview;
mod tree;
pub mod wire;

/// The choices that an input's first bytes make. Zeroes, once they are used up.
struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Cuts the choices off: so many bytes, and what follows them.
    fn cut(data: &'a [u8], bytes: usize) -> (Choices<'a>, &'a [u8]) {
        let (choices, rest) = data.split_at(bytes.min(data.len()));
        (Choices(choices), rest)
    }

    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::from(self.byte()) % list.len()]
    }
}

/// The bits of one byte, from the lowest on.
struct Bits(u8);

impl Bits {
    fn next(&mut self) -> bool {
        let bit = self.0 & 1 == 1;
        self.0 >>= 1;
        bit
    }
}

/// The parts between the NUL bytes, at most so many; the last has the rest.
fn parts(data: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    data.splitn(most, |&byte| byte == 0)
}

/// Runs what may panic where that is no fault. libFuzzer ends the process at every panic, from within
/// the panic hook, so the hook has to know.
fn may_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
    use std::sync::Once;

    thread_local!(static ALLOWED: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let otherwise = take_hook();
        set_hook(Box::new(move |info| {
            if !ALLOWED.get() {
                otherwise(info);
            }
        }));
    });
    ALLOWED.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    ALLOWED.set(false);
    done.ok()
}

#[cfg(test)]
mod replay {
    use std::path::Path;

    fn replay(target: &str, run: fn(&[u8])) {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut inputs: Vec<_> =
            std::fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
        inputs.sort();
        assert!(inputs.len() > 5, "{} has hardly anything in it", corpus.display());
        for input in &inputs {
            // Shown by the test runner when the next line panics.
            println!("{}", input.display());
            run(&std::fs::read(input).unwrap());
        }
    }

    macro_rules! replayed {
        ($($target:ident)*) => {$(
            #[test]
            fn $target() {
                replay(stringify!($target), crate::$target::run);
            }
        )*};
    }

    replayed!(argv globs ignore_lines json_sink preview wire);
}
