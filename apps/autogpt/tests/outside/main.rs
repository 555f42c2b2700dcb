//! Tests of the agent's surroundings: servers on this machine that misbehave, pages, child processes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod demo;
mod execute;
mod model;
mod program;
mod server;
mod setup;
mod spans;
mod web;
