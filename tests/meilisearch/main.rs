//! The Meilisearch chat protocol, as a client and a server, tested against recordings of a real
//! server.
#![cfg(feature = "meilisearch")]
// `clippy.toml` allows panics in test functions only; helpers need them too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod debug;
mod decoder;
mod depth;
mod history;
mod recorded;
mod requests;
mod server;
mod support;
mod writer;
