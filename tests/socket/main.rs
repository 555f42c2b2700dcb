//! WebSockets without I/O: messages in, messages out.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod chats;
mod deletions;
mod handshake;
mod limits;
mod properties;
mod reload;
mod responses;
mod support;
mod turns;
