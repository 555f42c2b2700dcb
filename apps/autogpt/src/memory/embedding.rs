//! Conversion of texts into vectors.

use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::MemoryError;
use crate::agent_loop::model::Endpoint;
use crate::http;

/// A converter of texts into vectors whose dot product measures similarity.
#[async_trait]
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Returns the length of all vectors.
    fn dimension(&self) -> usize;

    /// Returns the vector of a text.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if there is none.
    async fn embed(&self, text: &str) -> Result<Vec<f32>, MemoryError>;
}

/// The dimension of `text-embedding-ada-002`, and of the memory files of the original.
const ADA_DIMENSION: usize = 1536;

/// A deterministic embedder without a model: entry `b` counts the bytes of value `b`, with line
/// breaks as spaces.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByteCounts;

#[async_trait]
impl Embedder for ByteCounts {
    fn dimension(&self) -> usize {
        ADA_DIMENSION
    }

    async fn embed(&self, text: &str) -> Result<Vec<f32>, MemoryError> {
        let mut vector = vec![0.0; ADA_DIMENSION];
        for byte in text.replace('\n', " ").bytes() {
            if let Some(entry) = vector.get_mut(usize::from(byte)) {
                *entry += 1.0;
            }
        }
        Ok(vector)
    }
}

/// An embedder that uses an OpenAI-compatible server.
#[derive(Clone, Debug)]
pub struct OpenAiEmbedder {
    endpoint: Endpoint,
    model: String,
    dimension: usize,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: [&'a str; 1],
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    embedding: Vec<f32>,
}

/// The size limit of an input in bytes. The model takes 8191 tokens, which are more bytes in almost
/// every language.
const INPUT_BYTES: usize = 16 * 1024;

/// The size limit of an answer in bytes.
const ANSWER_BYTES: usize = 8 * 1024 * 1024;

impl OpenAiEmbedder {
    /// Creates an embedder with a model and the length of its vectors.
    pub fn new(endpoint: Endpoint, model: &str, dimension: usize) -> Self {
        Self {
            endpoint,
            model: model.to_owned(),
            dimension,
        }
    }

    /// Creates an embedder with `text-embedding-ada-002`, the original's model.
    pub fn ada(endpoint: Endpoint) -> Self {
        Self::new(endpoint, "text-embedding-ada-002", ADA_DIMENSION)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn dimension(&self) -> usize {
        self.dimension
    }

    async fn embed(&self, text: &str) -> Result<Vec<f32>, MemoryError> {
        let mut text = text.replace('\n', " ");
        // By characters, as a cut inside one would leave no valid text.
        while text.len() > INPUT_BYTES {
            text.pop();
        }
        let request = Request {
            model: &self.model,
            input: [&text],
        };
        let failed = |reason: &dyn fmt::Display| MemoryError::Embedding(reason.to_string());
        let body = serde_json::to_vec(&request).map_err(|error| failed(&error))?;
        let response = self.endpoint.post("embeddings", body).await;
        let response = response.map_err(|error| failed(&error))?;
        let body = http::body(response, ANSWER_BYTES).await;
        let body = body.map_err(|error| failed(&error))?;
        let answer: Response = serde_json::from_slice(&body).map_err(|error| failed(&error))?;
        let row = answer.data.into_iter().next();
        row.map(|row| row.embedding)
            .ok_or_else(|| failed(&"the answer is empty"))
    }
}
