//! The stores of runs: one contract for all of them, and the faults of each.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may be blunt"
)]

mod contract;
mod local;
#[cfg(feature = "redis")]
mod redis;
