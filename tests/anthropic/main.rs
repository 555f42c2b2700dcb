//! The protocol Anthropic Messages: both roles, against fixtures and in process.
#![cfg(feature = "anthropic")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod client;
#[path = "../exchange/mod.rs"]
mod exchange;
mod failures;
mod http;
mod models;
mod native;
mod properties;
mod requests;
mod strict;
mod support;
mod words;
