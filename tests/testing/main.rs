//! The test kit, used as an agent's author uses it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod clock;
mod conversation;
mod failures;
mod front_ends;
mod history;
mod runtime;
mod script;
mod workspace;
