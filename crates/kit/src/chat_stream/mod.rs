//! Rules for streams of chat completion chunks, which several protocols use.

pub(crate) mod chunk;
#[cfg(feature = "openai")]
pub(crate) mod complete;
#[cfg(any(feature = "github", feature = "meilisearch"))]
pub(crate) mod hazards;
pub(crate) mod lines;
