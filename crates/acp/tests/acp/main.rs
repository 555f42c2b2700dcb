//! The agent inside an emulated editor.

mod input;
mod official;
mod sessions;
mod support;
mod turns;
