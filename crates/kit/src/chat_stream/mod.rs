//! Rules for streams of chat completion chunks, which several protocols use.

pub(crate) mod chunk;
#[cfg(feature = "openai")]
pub(crate) mod complete;
pub(crate) mod lines;
