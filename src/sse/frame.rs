//! Frames: the output of a decoder.

use std::borrow::Cow;
use std::time::Duration;

use super::Event;

/// A frame that a decoder returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// An event.
    Event(Event<'a>),
    /// A comment line, without its colon. Only with
    /// [`Decoder::report_comments`](super::Decoder::report_comments).
    Comment(Cow<'a, str>),
    /// A change of the reconnection time. Only with
    /// [`Decoder::report_retry`](super::Decoder::report_retry).
    Retry(Duration),
}

/// The reason why decoding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An event or a line exceeds the decoder's limit.
    #[error("event is larger than the decoder's limit of {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}
