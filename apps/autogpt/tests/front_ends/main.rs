//! The agent behind every front end, from the bytes of a request to the bytes of its answer.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod bench;
mod chat;
#[path = "../questions/mod.rs"]
mod questions;
#[path = "../scripted/mod.rs"]
mod scripted;

mod approvals;
mod chats;
mod conformance;
mod consent;
mod faults;
mod golden;
mod plain;
mod resumes;
