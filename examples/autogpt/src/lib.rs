//! The AutoGPT v0.1.0 agent, rebuilt as a state machine without I/O.

mod digest;
mod http;

pub mod command;
pub mod context;
pub mod decision;
pub mod env;
pub mod json;
pub mod list_text;
pub mod memory;
pub mod message;
pub mod model;
pub mod prompt;
pub mod reply;
pub mod run;
pub mod runner;
pub mod settings;
pub mod store;
pub mod tokens;
pub mod web;
pub mod workspace;
