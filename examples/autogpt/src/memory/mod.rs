//! What the agent remembers beyond the context: texts, found again by meaning.

mod embedding;
mod local;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

pub use embedding::{ByteCounts, Embedder, OpenAiEmbedder};
pub use local::{LocalMemories, LocalMemory};

/// A store of texts that finds the most relevant ones.
#[async_trait]
pub trait Memory: Send + Sync + fmt::Debug {
    /// Stores a text and returns it; a text that may not be stored returns as empty text.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if it could not be embedded or written.
    async fn add(&self, text: &str) -> Result<String, MemoryError>;

    /// The `count` most relevant texts, best first.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the query could not be embedded.
    async fn relevant(&self, query: &str, count: usize) -> Result<Vec<String>, MemoryError>;

    /// Forgets everything.
    async fn clear(&self);

    /// How many texts there are.
    async fn count(&self) -> usize;
}

/// Gives each conversation its memory.
#[async_trait]
pub trait Memories: Send + Sync + fmt::Debug {
    /// The memory of a conversation.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if what is stored cannot be read.
    async fn of(&self, conversation: &str) -> Result<Arc<dyn Memory>, MemoryError>;

    /// The run of a conversation is over: a memory that is nowhere but here is not needed any more.
    async fn release(&self, conversation: &str);
}

/// A memory that failed. The run goes on without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The text could not be embedded.
    #[error("the text could not be embedded: {0}")]
    Embedding(String),
    /// The stored memory is not what it should be.
    #[error("the stored memory is damaged: {0}")]
    Damaged(&'static str),
    /// Reading or writing failed.
    #[error("the memory could not be read or written")]
    Io(#[from] std::io::Error),
}
