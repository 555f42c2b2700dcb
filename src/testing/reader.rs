//! A stream as lines for people: one for each event.

use std::borrow::Cow;
use std::marker::PhantomData;

use crate::protocol::{EventError, Protocol};
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

/// Reads the events of one stream of a protocol.
pub trait EventReader {
    /// Returns the typed events of one server-sent event, each in a line. Most protocols have one.
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>>;

    /// Returns what is missing if the stream ends here.
    fn end(&self) -> Option<MissingEnd>;
}

/// Reads protocols in which each server-sent event is one event.
pub(super) struct OneToOne<P: Protocol> {
    describe: fn(&P::Event) -> Summary,
    /// What is missing if the stream ends here.
    missing: Option<MissingEnd>,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> OneToOne<P> {
    pub(super) fn new(describe: fn(&P::Event) -> Summary, missing: Option<MissingEnd>) -> Self {
        Self {
            describe,
            missing,
            protocol: PhantomData,
        }
    }
}

impl<P: Protocol> EventReader for OneToOne<P> {
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>> {
        let line = P::decode(event).map(|event| (self.describe)(&event));
        if let Ok(line) = &line {
            // After a failure that ends the answer nothing more needs to come.
            if line.is_last || line.failure.is_some() {
                self.missing = None;
            }
        }
        vec![line]
    }

    fn end(&self) -> Option<MissingEnd> {
        self.missing
    }
}
