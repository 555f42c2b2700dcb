//! Write a chat agent once, and every chat front end can talk to it.

pub mod json;
pub mod sse;
