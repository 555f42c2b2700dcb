//! The second of three rooms: the data that outlives a step. These are texts that are found by similarity, the agent's
//! memory beyond the context, and in [`store`] the runs themselves.
//!
//! Of the other rooms it uses only the endpoint of [`model`](crate::agent_loop::model), for embeddings: a stored run is
//! a text.
//!
//! Read the traits [`Memory`] and [`Memories`] below, then [`LocalMemory`], the memory file of the original, then
//! [`RunStore`](store::RunStore) and the guarantees of its claims if several servers share a store.

mod atomic_file;
mod embedding;
mod local;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
pub mod redis_server;
mod rows;
pub mod store;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use embedding::{ByteCounts, Embedder, OpenAiEmbedder};
pub use local::{LocalMemories, LocalMemory};
#[cfg(feature = "redis")]
pub use redis::{RedisMemories, RedisMemory};

/// A store of texts that finds the texts most similar to a query.
#[async_trait]
pub trait Memory: Send + Sync + fmt::Debug {
    /// Stores a text and returns it. Error reports about unreadable replies are not stored; for them the result is
    /// empty.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if it could not be embedded or written.
    async fn add(&self, text: &str) -> Result<String, MemoryError>;

    /// Returns the `count` most relevant texts, best first.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the query could not be embedded.
    async fn relevant(&self, query: &str, count: usize) -> Result<Vec<String>, MemoryError>;
}

/// The memories of all conversations.
#[async_trait]
pub trait Memories: Send + Sync + fmt::Debug {
    /// Returns the memory of a conversation.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the stored memory cannot be read.
    async fn of(&self, conversation: &str) -> Result<Arc<dyn Memory>, MemoryError>;

    /// Releases the memory of a conversation whose run has ended. A memory without persistent
    /// storage is deleted.
    async fn release(&self, conversation: &str);
}

/// An error of a memory. The run continues without it.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The text could not be embedded.
    #[error("the text could not be embedded: {0}")]
    Embedding(String),
    /// The stored memory is damaged.
    #[error("the stored memory is damaged: {0}")]
    Damaged(&'static str),
    /// The storage could not be read or written.
    #[error("the memory could not be read or written")]
    Io(#[from] std::io::Error),
}
