//! Memories in Redis.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use copilot_wire_redis::RedisConnection;
use redis::AsyncCommands;
use tokio::sync::Mutex;

use super::rows::{NOT_STORED, checked_vector, most_relevant};
use super::{Embedder, Memories, Memory, MemoryError};
use crate::memory::redis_server::{TIME_TO_LIVE_MS, redis_error};

/// A memory in Redis: a list with one element for each text.
///
/// An element is the vector, as 32-bit numbers in little-endian order, followed by the text.
pub struct RedisMemory {
    redis: RedisConnection,
    key: String,
    embedder: Arc<dyn Embedder>,
    /// The elements read so far. The list only grows.
    rows: Mutex<Vec<Row>>,
}

struct Row {
    vector: Vec<f32>,
    text: String,
}

impl Row {
    fn read(bytes: &[u8], dimension: usize) -> Result<Self, MemoryError> {
        let damaged = MemoryError::Damaged("a row has another width");
        // Four bytes per number: the dimension tells where the text begins.
        let Some((vector, text)) = bytes.split_at_checked(dimension * 4) else {
            return Err(damaged);
        };
        let numbers = vector.chunks_exact(4);
        let numbers = numbers.filter_map(|four| four.try_into().ok().map(f32::from_le_bytes));
        Ok(Self {
            vector: numbers.collect(),
            text: String::from_utf8(text.to_vec()).map_err(|_| damaged)?,
        })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.vector.iter().flat_map(|number| number.to_le_bytes());
        numbers.chain(self.text.bytes()).collect()
    }
}

impl RedisMemory {
    /// Reads the elements that any server has added since the last call.
    async fn read_new(&self, rows: &mut Vec<Row>) -> Result<(), MemoryError> {
        // The list only grows, so the unread elements begin at its known length.
        let from = isize::try_from(rows.len()).unwrap_or(isize::MAX);
        let new: Vec<Vec<u8>> = self
            .redis
            .clone()
            .lrange(&self.key, from, -1)
            .await
            .map_err(redis_error)?;
        for bytes in new {
            rows.push(Row::read(&bytes, self.embedder.dimension())?);
        }
        Ok(())
    }
}

impl fmt::Debug for RedisMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisMemory")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Memory for RedisMemory {
    async fn add(&self, text: &str) -> Result<String, MemoryError> {
        if text.contains(NOT_STORED) {
            return Ok(String::new());
        }
        let vector = checked_vector(&*self.embedder, text).await?;
        let text = text.to_owned();
        let row = Row { vector, text };
        // In one transaction, so that no list is left without a time to live.
        redis::pipe()
            .atomic()
            .rpush(&self.key, row.to_bytes())
            .pexpire(&self.key, TIME_TO_LIVE_MS)
            .query_async::<()>(&mut self.redis.clone())
            .await
            .map_err(redis_error)?;
        Ok(row.text)
    }

    async fn relevant(&self, query: &str, count: usize) -> Result<Vec<String>, MemoryError> {
        let query = checked_vector(&*self.embedder, query).await?;
        let mut rows = self.rows.lock().await;
        self.read_new(&mut rows).await?;
        let vectors = rows.iter().map(|row| row.vector.as_slice());
        let best = most_relevant(vectors, &query, count);
        let texts = best.into_iter().filter_map(|row| rows.get(row));
        Ok(texts.map(|row| row.text.clone()).collect())
    }
}

/// The memories of all conversations in Redis. They outlive their runs, like memory files.
#[derive(Clone)]
pub struct RedisMemories {
    redis: RedisConnection,
    embedder: Arc<dyn Embedder>,
}

impl RedisMemories {
    /// Creates the memories of one embedder.
    pub fn new(redis: RedisConnection, embedder: Arc<dyn Embedder>) -> Self {
        Self { redis, embedder }
    }
}

impl fmt::Debug for RedisMemories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisMemories")
            .field("embedder", &self.embedder)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Memories for RedisMemories {
    async fn of(&self, conversation: &str) -> Result<Arc<dyn Memory>, MemoryError> {
        Ok(Arc::new(RedisMemory {
            redis: self.redis.clone(),
            key: format!("autogpt:{{{conversation}}}:memory"),
            embedder: Arc::clone(&self.embedder),
            // Filled by the first query; the object lives as long as one turn.
            rows: Mutex::default(),
        }))
    }

    async fn release(&self, _: &str) {}
}
