//! The UI message stream of the AI SDK: both roles, against recorded requests and in process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod decoder;
#[path = "../exchange/mod.rs"]
mod exchange;
mod golden;
mod page;
mod replies;
mod requests;
mod server;
mod support;
