//! Tests of ingrep, through what it makes public.

#![allow(clippy::disallowed_types, reason = "the real rg, and our binary, are processes")]
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a test is a host")]

// The walking side.
mod hostile; // trees made to hurt who walks them, and processes with little to walk them with
mod scope; // what each switch of a scope lists, in which order, and its errors and diagnostics
mod tree; // trees of files written as text
mod walk_native; // the native walk against the reference, on random trees and scopes
mod walk_twin; // the walk against a naive one, on random trees and on a large one

// The searching side.
mod ascii_twin; // what is compiled for ASCII and for every text, together
mod cancel; // how a run is stopped, and what it returns then
mod chunks; // one large file on several threads against one
mod errors; // what a failed call says, and what the types around it promise
mod haystacks; // files to search, and the pools to search them with
mod limits; // what each limit leaves out, and how the result says so
mod one_pass; // a search while the tree is walked against one of listed files
mod registry; // the binary over a real tree, against the naive search
mod search; // what a query finds in one file, on every way to search it
mod search_twin; // a search against its naive twin

// ripgrep's contract.
mod json_sink; // ripgrep's own JSON printer and ours say the same of one file
mod recorded; // the fixtures of fixtures/rg: their form, their trees, and the real rg
mod rg_args; // the flag table and the parser against the real rg
mod rg_random; // random trees and argv: the real rg and we answer alike
mod rg_recorded; // rg answers as recorded, and so do we
mod rg_text; // text on any number of threads, over its limits, and stopped
mod wire_rg; // rg's JSON lines as types: written, read, refused
mod wire_rg_golden; // recorded JSON lines, and those that rg prints now
mod wire_rg_properties; // JSON lines round trip

// The model-facing tools.
mod replies; // tool calls, with all that holds for every reply checked
mod shared_cases; // inputs from public reports on which search tools went wrong
mod tools; // whole replies, argument errors, previews, confinement
mod tools_spill; // complete results, the stores they go to, and what they cost

// Around it.
mod cli; // the binary as people run it
mod dice; // random numbers that a seed says again
mod portioned; // searches drawn at random, and a reader that hands out portions
mod threads; // who works, and when nobody but the caller does
mod tidy; // rules about the source that no compiler checks
