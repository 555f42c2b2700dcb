//! AG-UI: both roles, against recorded requests and in process.
#![cfg(feature = "ag_ui")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod client;
#[path = "../exchange/mod.rs"]
mod exchange;
mod front_end;
mod golden;
mod http;
mod native;
mod properties;
mod requests;
mod support;
