//! The runner: every turn once, whatever is sent again, dropped or killed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod answers;
mod bench;
mod leases;
mod limits;
mod memories;
#[path = "../scripted/mod.rs"]
mod scripted;
mod turns;
