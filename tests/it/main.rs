//! Tests of ingrep, through what it makes public.

mod cancel; // how a run is stopped, and what it returns then
mod cli; // the binary as people run it
mod errors; // what a failed call says, and what the types around it promise
mod haystacks; // files to search, and the pools to search them with
mod limits; // what each limit leaves out, and how the result says so
mod search; // what a query finds in one file, on every way to search it
mod search_twin; // a search against its naive twin
mod tidy; // rules about the source that no compiler checks
