//! What leaves the process as JSON, and how it is read back.
//!
//! The types of the engine know nothing of serde: what is written is a mirror of them, so that a
//! change in the engine cannot change the wire unseen. [`reply`] mirrors our own results, [`rg`]
//! is the format of `rg --json`.

mod lines;
pub mod reply;
pub mod rg;
