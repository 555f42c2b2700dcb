//! The loop of a model with tools: each case with each front end, and with a model of each dialect.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod consent;
mod front_ends;
mod rounds;
mod stub;
