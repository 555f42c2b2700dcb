//! The protocol of GitHub Copilot Extensions, tested against GitHub's SDK and clients.

#![cfg(feature = "github")]
// `clippy.toml` allows panics in test functions only; helpers need them too.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod context;
mod debug_cli;
mod decoding;
mod depth;
mod events;
mod fixtures;
mod mutations;
mod properties;
mod replies;
mod requests;
mod server;
#[cfg(feature = "verify")]
mod signed;
mod skills;
mod vs_code;
