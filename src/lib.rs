//! Write a chat agent once, and every chat front end can talk to it.

pub mod agent;
pub mod json;
#[cfg(feature = "meilisearch")]
pub mod meilisearch;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "openbb")]
pub mod openbb;
pub mod protocol;
pub mod router;
pub mod sse;

pub use agent::{Agent, Body, Reply, Request};
pub use async_trait::async_trait;
pub use router::Router;
