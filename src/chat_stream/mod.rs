//! Rules for streams of chat completion chunks, which several protocols use.

#[cfg(feature = "testing")]
pub(crate) mod chunk;
#[cfg(all(feature = "testing", feature = "openai"))]
pub(crate) mod complete;
#[cfg(feature = "testing")]
pub(crate) mod lines;
