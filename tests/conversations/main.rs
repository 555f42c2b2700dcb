//! Conversations by id: requests that have only what is new, through the public API.
#![cfg(all(feature = "anthropic", feature = "responses"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "../exchange/mod.rs"]
mod exchange;
mod items;
mod limits;
mod named;
mod responses;
mod store;
mod support;
mod threads;
