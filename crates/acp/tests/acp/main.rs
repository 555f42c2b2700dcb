//! The agent inside an emulated editor.

mod input;
mod sessions;
mod support;
mod turns;
