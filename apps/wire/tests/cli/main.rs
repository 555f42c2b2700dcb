//! The real program, over pipes and sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod broken;
mod chat;
mod check;
mod decode;
mod gateway;
mod help;
mod program;
mod relay;
mod report;
mod request;
#[cfg(unix)]
mod serve;
mod server;
mod sign;
mod sse;
#[cfg(unix)]
mod upstream;
