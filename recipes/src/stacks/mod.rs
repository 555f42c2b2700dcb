//! A [`Router`](copilot_wire::Router) in web stacks that the guide does not show.
//!
//! Each module is one server to copy. All of them stop the agent when the client leaves, which
//! `tests/stacks.rs` checks.

pub mod poem_server;
pub mod salvo_server;
pub mod warp_server;
