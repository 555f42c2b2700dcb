//! Replies that outlive the connection that asked for them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod endpoint;
mod failed;
mod faults;
mod health;
mod here;
mod limits;
mod memory;
mod pace;
mod paths;
mod protocols;
mod readers;
mod reconnect;
mod server;
mod shutdown;
mod spy;
mod stop;
mod turns;
mod unstored;
mod users;
