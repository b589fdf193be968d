//! Search files the way ripgrep does, inside your process.
//!
//! Three values make a search. A [`Query`] says what to look for, a [`Scope`] where to look and in
//! which order, and [`Limits`] how much to keep. They compile to a [`Search`], which can be run any
//! number of times, from any thread, under a [`CancelToken`]. No process is ever started, nothing
//! is printed, and neither the environment nor the working directory of the host is read.
//!
//! ```
//! use ingrep::{CancelToken, Case, End, Query, Scope};
//!
//! let search = Query::new(r"\bstop\b")
//!     .case(Case::Insensitive)
//!     .scope(Scope::new("src").glob("*.rs"))
//!     .compile()?;
//! let outcome = search.collect(&CancelToken::new())?;
//!
//! assert_eq!(outcome.summary.end, End::Complete);
//! for file in &outcome.files {
//!     for line in file.lines() {
//!         assert!(!line.spans.is_empty());
//!     }
//! }
//! # Ok::<(), ingrep::Error>(())
//! ```
//!
//! A [`Scope`] alone lists files: [`Scope::files`]. What a call can fail with is an [`ErrorCode`];
//! what a run survives is a [`Diagnostic`] in its [`Summary`]. Results arrive in the order of the
//! scope, the same on any number of threads of the [`Pool`].
//!
//! [`rg::Command`] answers ripgrep's own arguments with ripgrep's own output, so that a spawned `rg`
//! can be replaced by a call; [`wire`] has the types of what is written as JSON.

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(target_os = "linux")]
mod beneath;
mod cancel;
mod chunks;
mod collect;
mod duty;
mod error;
mod faults;
mod haystack;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only our own walk is shown to it"))]
mod hunt;
mod limits;
mod matcher;
mod matches;
mod ordered;
mod pool;
mod progress;
mod query;
pub mod rg;
mod scan;
mod scope;
mod search;
pub mod text;
pub mod tools;
mod walk;
pub mod wire;

pub use cancel::{CancelGuard, CancelToken, Stop};
pub use collect::{End, Outcome, Summary};
pub use error::{Diagnostic, Diagnostics, Error, ErrorCode, Reason, Result};
pub use limits::{Limits, WalkLimits};
pub use matcher::PatternCache;
pub use matches::{FileMatches, Line, LineKind, Span};
pub use pool::Pool;
pub use progress::Progress;
pub use query::{Binary, Boundary, Case, Encoding, MultiLine, Query, Terminator};
pub use scope::{IgnoreRules, Order, Scope, SortBy, Walker};
pub use search::{Matches, Search, SearchBuilder};
pub use walk::{FileEntry, Files, FilesSummary};
