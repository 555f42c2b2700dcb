//! Replies of [`copilot_wire`] that outlive connections and servers, and conversations, in Redis.
//!
//! [`RedisReplyStore`] stores the log of each reply in a Redis stream. Any server that uses the same Redis can send
//! what another server has written so far, follow the reply, and cancel it. If a server dies, no reader waits for
//! ever: the next one ends the log that the server wrote.
//!
//! ```no_run
//! # async fn start() -> Result<(), copilot_wire::replies::StoreError> {
//! use copilot_wire_redis::RedisReplyStore;
//!
//! let store = RedisReplyStore::connect("redis://127.0.0.1/").prefix("chat:").await?;
//! let conversations = store.conversations();
//! # drop((store, conversations));
//! # Ok(())
//! # }
//! ```
//!
//! [`RedisConversationStore`] stores the turns of conversations that clients continue by an id.
//!
//! The stores need Redis 6.2 or later, or a compatible server: one server, a cluster, or a master that Sentinels name,
//! as in [the URL](RedisReplyStore::connect). The servers must not evict keys: `maxmemory-policy noeviction`.
//!
//! # Cost
//!
//! Events gather for a third of a second before they are appended, or for 25 milliseconds while somebody reads the log
//! on another server. A process that is killed loses the events that it has not appended: readers then get the
//! appended events, and [`ReplyEnd::Lost`](copilot_wire::replies::ReplyEnd::Lost).
//!
//! # Features
//!
//! | feature | what |
//! |---|---|
//! | `tls` | URLs with `rediss://` |
//! | `tracing` | a line when the connection is lost, and one when it is back, without a part of the URL |

mod commands;
mod connect;
mod connection;
mod conversations;
mod fault;
mod lease;
mod log;
mod names;
mod notifications;
mod scripts;
mod store;
mod tail;
mod url;
mod writers;

pub use commands::RedisConnection;
pub use connect::Connect;
pub use conversations::RedisConversationStore;
pub use store::RedisReplyStore;
