//! Two server processes with one Redis: resume, stop, and what happens when one of them goes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::string_slice,
    // What is started is waited for when it is dropped.
    clippy::zombie_processes
)]

mod cuts;
mod deaths;
mod memory;
mod outages;
#[path = "../store/redis.rs"]
#[allow(dead_code)]
mod redis;
mod resume;
#[path = "../store/shards/cluster.rs"]
#[allow(dead_code)]
mod shards;
mod storm;
mod support;
mod tls;
