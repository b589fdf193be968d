//! Tests of ingrep, through what it makes public.

#![allow(clippy::disallowed_types, reason = "the real rg, and our binary, are processes")]
#![allow(clippy::disallowed_methods, reason = "a test is a host")]

mod json_sink; // ripgrep's own JSON printer and ours say the same of one file
mod recorded; // the fixtures of fixtures/rg: their form, their trees, and the real rg
mod rg_random; // random trees and argv: the real rg and we answer alike
mod rg_recorded; // rg answers as recorded, and so do we
