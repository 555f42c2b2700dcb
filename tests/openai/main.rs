//! The OpenAI protocol: both roles, against fixtures and in process.
#![cfg(feature = "openai")]

mod server;
mod support;
