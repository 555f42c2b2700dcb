//! Replies that outlive the connection that asked for them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod failed;
mod faults;
mod health;
mod here;
mod limits;
mod memory;
mod pace;
mod paths;
mod protocols;
mod reconnect;
mod server;
mod shutdown;
mod spy;
mod stop;
mod turns;
mod users;
