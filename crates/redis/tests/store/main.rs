//! The store against a real Redis, which these tests start.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    // What is started is waited for when it is dropped.
    clippy::zombie_processes
)]

mod contract;
mod conversations;
mod cost;
mod data;
mod expiry;
mod outages;
mod producers;
mod redis;
#[path = "../../../acp/tests/acp/restart.rs"]
mod restart;
mod secrets;
mod sentinels;
mod shards;
mod shared;
mod starts;
mod support;
