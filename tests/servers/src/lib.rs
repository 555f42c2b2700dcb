//! Runs either example server on a port of its own, and talks to it in plain bytes.

mod client;
mod server;

pub use client::{Client, Response};
pub use server::{SERVERS, Server, Start};
