//! The agent inside an emulated editor.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod bounds;
mod check;
mod ends;
mod fuzz;
mod golden;
mod input;
mod official;
#[cfg(unix)]
mod process;
mod restart;
mod sessions;
mod support;
mod turns;
mod web_socket;
