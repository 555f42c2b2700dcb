//! Write a chat agent once, and every chat front end can talk to it.

#[cfg(feature = "github")]
pub mod github;
pub mod json;
pub mod sse;
