//! JSON, beside serde_json.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod escape;
mod reader;
mod write;
