//! Server-sent events and lines of JSON.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod conformance;
mod lines;
mod properties;
