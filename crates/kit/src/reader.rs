//! The events of a stream as lines for people.

use std::borrow::Cow;

use super::kit::Toolkit;
use copilot_wire::protocol::{Decode, EventError, Events, Protocol};
use copilot_wire::sse;

/// The summary of an event in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The kind of event.
    pub kind: Cow<'static, str>,
    /// The content of the event, in one line.
    pub text: String,
    /// `true` if no event may follow.
    pub is_last: bool,
    /// The failure that ends the answer. `None` if the event reports none.
    pub failure: Option<&'static str>,
    /// The deltas that the event adds to the answer, in Rust's notation.
    pub deltas: Vec<String>,
}

impl Summary {
    /// Creates the summary of an event that is not the last one and no failure.
    pub fn new(kind: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            text: text.into(),
            ..Self::default()
        }
    }

    /// Marks the event as the last one of its stream.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.is_last = true;
        self
    }

    /// Marks the event as a failure that ends the answer.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.failure = Some("the answer failed");
        self
    }
}

/// A reader of one stream that summarizes each event in a line.
pub trait EventReader {
    /// Returns the summaries of the typed events in one server-sent event: in most protocols there is one.
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>>;

    /// Ends the stream.
    ///
    /// # Errors
    ///
    /// [`EventError::Truncated`] when the answer is not complete and has not failed.
    fn end(&mut self) -> Result<(), EventError>;
}

pub(super) struct Lines<P: Protocol> {
    decoder: P::Decoder,
    /// `true` after a failure that ends the answer: a regular end is then not required.
    failed: bool,
}

impl<P: Protocol> Lines<P> {
    pub(super) fn new() -> Self {
        Self {
            // An event may arrive in fragments.
            decoder: P::Decoder::default().limit(256 * 1024 * 1024),
            failed: false,
        }
    }
}

impl<P: Toolkit> EventReader for Lines<P> {
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>> {
        let (mut events, mut lines) = (Events::new(), Vec::new());
        let read = self.decoder.frame(event, &mut events);
        while let Some(event) = events.pop() {
            let mut line = P::describe(&event);
            P::deltas(&event, &mut |delta| line.deltas.push(format!("{delta:?}")));
            lines.push(Ok(line));
        }
        // A failed answer ends with its failure, so a missing end would be a second error for the same cause.
        self.failed |= lines.iter().flatten().any(|line| line.failure.is_some());
        // Events that were complete before the error are shown before it.
        lines.extend(read.err().map(Err));
        if lines.is_empty() {
            // A fragment of a longer event. A line for it shows that something arrived.
            lines.push(Ok(Summary::new("waiting", "")));
        }
        lines
    }

    fn end(&mut self) -> Result<(), EventError> {
        match self.failed {
            true => Ok(()),
            false => self.decoder.end(&mut Events::new()),
        }
    }
}
