//! Agents on the clients of models, to copy.
//!
//! Each hands the whole conversation to the model and passes on what it answers: text, reasoning,
//! usage, and calls of tools that the front end offers. A failure of the model fails the turn, and a
//! client that leaves drops the request to the model. `tests/models.rs` checks all of it against a
//! scripted model.

pub mod async_openai_agent;
pub mod genai_agent;
pub mod reqwest_agent;
pub mod rig_agent;
