//! WebSockets: the turns of one connection as messages.
//!
//! A WebSocket carries the same protocol: each message of the client is a request, which the router answers like a
//! `POST` request, with the same guards, limits, reports and stores; the events of the answer are messages. This module
//! has no I/O: a server opens a [`Socket`] with [`Router::socket`](crate::Router::socket), passes messages to it, and
//! sends the messages that it returns. The guide has servers on hyper, axum and actix.
//!
//! A protocol defines its messages with a [`Subprotocol`], which its mount adds with
//! [`Site::socket`](super::Site::socket) to the path of its requests.

mod connection;
mod handshake;
mod head;
mod live;

pub use connection::{Socket, SocketMessage};

pub use super::routes::is_handshake;
pub use super::subprotocol::{Action, Ask, EventMessage, Exchange, Subprotocol};
