//! The Responses protocol: both roles, against fixtures and in process.
#![cfg(feature = "responses")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod client;
mod conformance;
#[path = "../exchange/mod.rs"]
mod exchange;
mod requests;
mod rules;
mod server;
mod session;
mod support;
mod words;
