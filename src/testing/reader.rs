//! A stream as lines for people: one for each event.

use std::borrow::Cow;

use super::kit::Toolkit;
use crate::protocol::{Decode, EventError, Events, Protocol};
use crate::sse;

/// One event in a line for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The kind of event, in a word.
    pub kind: Cow<'static, str>,
    /// Its content.
    pub text: String,
    /// Whether no event may follow.
    pub is_last: bool,
    /// The failure that the event reports, if it ends the answer.
    pub failure: Option<&'static str>,
}

impl Summary {
    /// Creates the line of an event after which others may follow.
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            text: text.into(),
            is_last: false,
            failure: None,
        }
    }

    /// Marks the event as the last one of its stream.
    #[must_use]
    pub fn last(self) -> Self {
        Self {
            is_last: true,
            ..self
        }
    }

    /// Marks the event as a failure that ends the answer.
    #[must_use]
    pub fn failed(self) -> Self {
        Self {
            failure: Some("the answer failed"),
            ..self
        }
    }
}

/// What is missing in a stream that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingEnd {
    /// The sentence to show.
    pub message: &'static str,
    /// The rule of the conformance kit that it breaks.
    pub rule: &'static str,
}

impl MissingEnd {
    /// Creates it from the sentence to show and the rule that is broken.
    #[must_use]
    pub const fn new(message: &'static str, rule: &'static str) -> Self {
        Self { message, rule }
    }
}

/// Reads the events of one stream of a protocol, each as a line for people.
pub trait EventReader {
    /// Returns the typed events of one server-sent event, each in a line. Most protocols have one.
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>>;

    /// Returns what is missing if the stream ends here.
    fn end(&self) -> Option<MissingEnd>;
}

/// The most bytes that an event may need that comes in fragments.
const LIMIT: usize = 256 * 1024 * 1024;

pub(super) struct Lines<P: Protocol> {
    decoder: P::Decoder,
    events: Events<P::Event>,
    /// Whether there was a failure that ends the answer: nothing more needs to come.
    failed: bool,
}

impl<P: Protocol> Lines<P> {
    pub(super) fn new() -> Self {
        Self {
            decoder: P::Decoder::new(LIMIT),
            events: Events::new(),
            failed: false,
        }
    }
}

impl<P: Toolkit> EventReader for Lines<P> {
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>> {
        let read = self.decoder.frame(event, &mut self.events);
        let events = std::iter::from_fn(|| self.events.pop());
        let mut lines: Vec<_> = events.map(|event| Ok(P::describe(&event))).collect();
        let mut known = lines.iter().flatten();
        self.failed |= known.any(|line| line.failure.is_some());
        lines.extend(read.err().map(Err));
        if lines.is_empty() {
            lines.push(Ok(Summary::new("waiting", "")));
        }
        lines
    }

    fn end(&self) -> Option<MissingEnd> {
        if self.failed {
            return None;
        }
        P::missing_end(&self.decoder)
    }
}
