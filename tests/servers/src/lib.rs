//! Runs the example servers and those of the guide, each on a port of its own, and talks to them in plain bytes.

#![allow(clippy::exhaustive_structs)]

mod answer;
mod client;
mod guide;
mod kernel;
mod nginx;
mod program;
mod puppet;
mod redis;
mod server;
mod storm;
mod stress;

pub use answer::{Answer, events, numbers, response_id, send_as};
pub use client::{Client, Response};
#[cfg(doctest)]
pub use guide::{FirstServer, Servers};
pub use guide::{try_out_below, try_out_tokio};
pub use kernel::{accepted, memory, open};
pub use nginx::Nginx;
pub use program::Program;
pub use puppet::{PATHS, PIECE, Puppet, chunk, say, say_to, sorry};
pub use redis::Redis;
pub use server::{SERVERS, Server, Start};
pub use storm::{Storm, Tally, random};
pub use stress::{Cost, Place, crowd, stress};
