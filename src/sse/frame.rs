//! What a decoder returns.

use std::borrow::Cow;

use super::Event;

/// What the decoder hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// An event.
    Event(Event<'a>),
    /// A comment line, as it stands after its colon. Only after [`Decoder::report_comments`](super::Decoder::report_comments).
    Comment(Cow<'a, str>),
    /// The stream set the reconnection time, in milliseconds. Only after [`Decoder::report_retry`](super::Decoder::report_retry).
    Retry(u64),
}

/// Why a stream cannot be decoded any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// One event, or one line, is larger than the decoder may hold.
    #[error("event is larger than the decoder's limit of {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
}
