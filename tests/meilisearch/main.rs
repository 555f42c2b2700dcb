//! The Meilisearch chat protocol: both roles, against recordings of a real server.
#![cfg(feature = "meilisearch")]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod decoder;
mod history;
mod large;
mod recorded;
mod requests;
mod server;
mod shown;
mod support;
mod writer;
