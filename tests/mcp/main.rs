//! MCP: both roles, against recorded requests and in process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod cancel;
mod conversations;
mod events;
mod front_end;
mod messages;
mod questions;
mod replies;
mod resume;
mod support;
