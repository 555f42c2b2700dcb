//! Replies of [`copilot_wire`] that outlive connections and servers, in Redis.
//!
//! [`RedisReplyStore`] keeps the log of each reply in a Redis stream. Any server that uses the same Redis
//! can send what another one has written so far, follow it, and cancel it. A server that dies leaves no
//! reader waiting: the log that it wrote gets its end from whoever reads it next.
//!
//! ```no_run
//! # async fn start() -> Result<(), copilot_wire::replies::StoreError> {
//! use copilot_wire_redis::RedisReplyStore;
//!
//! let store = RedisReplyStore::connect("redis://127.0.0.1/").prefix("chat:").await?;
//! # drop(store);
//! # Ok(())
//! # }
//! ```
//!
//! Needs Redis 6.2 or later, or what speaks like it, as one server and its replicas; not Redis Cluster, not Redis
//! Sentinel. The server must not evict keys: `maxmemory-policy noeviction`.
//!
//! # Cost
//!
//! Events gather for a third of a second before they are appended, or for 25 milliseconds while somebody reads
//! the log on another server. A process that is killed loses the events that it has not appended: whoever reads
//! the log then gets what it has, and [`ReplyEnd::Lost`](copilot_wire::replies::ReplyEnd::Lost).
//!
//! # Features
//!
//! | feature | what |
//! |---|---|
//! | `tls` | URLs with `rediss://` |
//! | `tracing` | a line when the connection is lost, and one when it is back, without a part of the URL |

mod connection;
mod lease;
mod log;
mod names;
mod notifications;
mod scripts;
mod store;
mod tail;
mod writers;

pub use store::{Connect, RedisReplyStore};
