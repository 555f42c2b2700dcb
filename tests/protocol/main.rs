//! The parts that all protocols share, in protocols of other crates: blocks, conversations, decoders and small types.
#![cfg(all(
    feature = "ag_ui",
    feature = "anthropic",
    feature = "github",
    feature = "meilisearch",
    feature = "openai",
    feature = "openbb",
    feature = "responses",
    feature = "ui_stream"
))]
#![allow(clippy::unwrap_used, reason = "tests")]

mod blocks;
mod conversation;
mod decoding;
mod memory;
mod values;
