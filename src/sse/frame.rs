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
    /// A comment line, without its colon. Returned only with
    /// [`Decoder::report_comments`](super::Decoder::report_comments).
    Comment(Cow<'a, str>),
    /// A change of the reconnection time. Returned only with [`Decoder::report_retry`](super::Decoder::report_retry).
    Retry(Duration),
}

/// The error for data that exceeds a limit: an event, a reply or an assembled answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("larger than the limit of {limit} bytes")]
#[non_exhaustive]
pub struct TooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

impl TooLarge {
    /// Creates the error for a limit in bytes.
    pub const fn new(limit: usize) -> Self {
        Self { limit }
    }
}
