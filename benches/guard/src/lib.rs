//! The paths of the crate whose instructions and allocations are guarded.

// As in tests: nobody depends on this.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![expect(
    missing_debug_implementations,
    clippy::exhaustive_structs,
    clippy::exhaustive_enums
)]

mod data;
mod decode;
mod editor;
pub mod lists;
pub mod memory;
pub mod relay;
pub mod reply;
pub mod requests;
mod router;
pub mod source;

use std::fmt::Display;

/// A piece of work.
pub struct Path {
    pub name: String,
    /// The unit of a count, such as `event`.
    pub unit: &'static str,
    /// The number of units in one run.
    pub units: usize,
    /// Makes what does the work once.
    pub prepare: Box<dyn Fn() -> Work>,
}

/// Does the work once. The result depends on all of it.
pub type Work = Box<dyn FnMut() -> usize>;

impl Path {
    fn new(
        name: impl Display,
        unit: &'static str,
        units: usize,
        prepare: impl Fn() -> Work + 'static,
    ) -> Self {
        Self {
            name: name.to_string(),
            unit,
            units,
            prepare: Box::new(prepare),
        }
    }
}

/// Returns all paths, in the order of the table.
pub fn paths() -> Vec<Path> {
    [
        reply::paths(),
        router::paths(),
        decode::paths(),
        data::paths(),
        relay::paths(),
        editor::paths(),
        lists::paths(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
