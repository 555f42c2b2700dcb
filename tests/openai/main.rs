//! The OpenAI protocol: both roles, against fixtures and in process.
#![cfg(feature = "openai")]

mod accumulator;
mod encoder;
mod fixtures;
mod relay;
mod requests;
mod rules;
mod server;
mod support;
mod words;
