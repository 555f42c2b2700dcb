//! The protocol of GitHub Copilot Extensions, against what GitHub's SDK and clients do.

#![cfg(feature = "github")]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod context;
mod debug_cli;
mod decoding;
mod events;
mod fixtures;
mod large;
mod mutations;
mod properties;
mod relays;
mod replies;
mod requests;
mod rounds;
mod server;
#[cfg(all(feature = "verify", feature = "testing"))]
mod signed;
mod skills;
mod vs_code;
