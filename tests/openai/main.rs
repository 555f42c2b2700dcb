//! The OpenAI protocol: both roles, against fixtures and in process.
#![cfg(feature = "openai")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod completion;
mod depth;
mod encoder;
#[path = "../exchange/mod.rs"]
mod exchange;
mod fixtures;
mod limits;
mod markdown;
mod relay;
mod requests;
mod rules;
mod server;
mod shown;
mod support;
mod words;
