#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ingrep_fuzz::preview::run(data));
