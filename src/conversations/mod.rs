//! Conversations that clients continue by an id, with requests that contain only new items.
//!
//! Without this module every request must contain the complete conversation. A request with an id instead is refused
//! with an error after which clients, if they can, send the complete conversation.
//! [`Router::conversations`](crate::Router::conversations) sets the [`Conversations`] of a router: every answered turn
//! is then recorded in a [`ConversationStore`], and the earlier turns are added to a request that continues a
//! conversation, so that the agent always sees the complete conversation.
//!
//! ```
//! use copilot_wire::Router;
//! use copilot_wire::conversations::{Conversations, MemoryConversationStore};
//!
//! let store = MemoryConversationStore::new();
//! let router = Router::new().conversations(Conversations::single_user(store));
//! # let _ = router;
//! ```
//!
//! # Records
//!
//! A record contains what one turn adds to its conversation: the new items of the request, and the answer. It names up
//! to 32 earlier turns, so a conversation needs space in proportion to its length, and is read with one call of the
//! store for every 32 turns. Several turns may continue the same turn.
//!
//! A record is written before the client can read the end of the answer, so that the client's next request finds it. A
//! turn that failed, was cancelled or was not read to its end is not recorded. If the id of a turn is not unique,
//! because another server has assigned it, a request that continues it is refused. If the record of a turn cannot be
//! written, the turn is still answered, is [reported](crate::protocol::Turn) as unstored, and cannot be continued.
//!
//! # Protocols
//!
//! A protocol implements [`Dialect::resume`](crate::models::Dialect::resume). It reads the [`Chain`] of turns that a
//! request continues from [`UserConversations`], adds them to the request, and returns a [`Recording`] of the new turn,
//! whose [`Recorder`] creates the record from the bytes of the answer.

mod configuration;
mod connection;
mod list;
mod memory;
mod record;
mod recording;
mod running;
mod store;
mod user;

pub use configuration::Conversations;
pub(crate) use connection::{Connection, ConnectionTurns, Connections};
pub use memory::MemoryConversationStore;
pub use record::{Recorder, TurnRecord};
pub use recording::Recording;
pub(crate) use recording::Storing;
pub use running::ListTurn;
pub use store::{ConversationStore, RecordError, RecordKey};
pub use user::{Chain, ChainError, UserConversations};
