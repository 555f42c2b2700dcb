//! Tests of replies and bodies.

#![cfg(feature = "openbb")]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic)]

mod detached;
mod documents;
mod failures;
mod frames;
mod parts;
mod support;
