//! The parts that all protocols share, in protocols of other crates: blocks, conversations, decoders and small types.
#![cfg(all(
    feature = "github",
    feature = "meilisearch",
    feature = "openai",
    feature = "openbb",
    feature = "responses"
))]
#![allow(clippy::unwrap_used, reason = "tests")]

mod blocks;
mod conversation;
mod decoding;
mod values;
