//! Models in every dialect behind every front end: what arrives is what the model said, and a fault of the model is told
//! in one true sentence.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod calls;
mod deltas;
mod faithful;
mod faults;
mod first_output;
mod pairing;
mod pairs;
mod prompts;
mod reported;
mod support;
mod usage;
