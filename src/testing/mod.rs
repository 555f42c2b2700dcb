//! Helpers for tests and local work (feature `testing`).

pub mod check;
