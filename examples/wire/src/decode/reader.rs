//! How the events of a protocol are read.

use copilot_wire::github::GitHub;
use copilot_wire::openai::OpenAi;
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{EventError, Protocol};
use copilot_wire::sse;

use super::meilisearch;
use super::wrong::Wrong;
use crate::cli::Front;
use crate::said::{self, Said};

/// Reads the events of one stream.
pub(super) trait Reader {
    /// What one event says; in most protocols that is one thing.
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Said, EventError>>;

    /// The rules of agents that the protocol's own server breaks.
    fn tolerates(&self) -> &'static [&'static str] {
        &[]
    }

    /// What is wrong with the stream as a whole, once it is over.
    fn end(&self) -> Option<Wrong>;
}

/// A reader for a protocol.
pub(super) fn of(front: Front) -> Box<dyn Reader> {
    match front {
        Front::Openbb => Box::new(Typed::<OpenBb>::new(said::openbb).complete()),
        Front::Github => Box::new(Typed::<GitHub>::new(said::github)),
        Front::Openai => Box::new(Typed::<OpenAi>::new(said::openai)),
        Front::Meilisearch => Box::new(meilisearch::Stream::new()),
    }
}

/// What is wrong when the last event never came.
pub(super) fn not_done() -> Wrong {
    Wrong::of("the stream ends without [DONE]").rule("chunk/done")
}

/// The reader for protocols in which one event of the stream is one event.
struct Typed<P: Protocol> {
    said: fn(&P::Event) -> Said,
    /// Whether the stream may end here.
    complete: bool,
}

impl<P: Protocol> Typed<P> {
    fn new(said: fn(&P::Event) -> Said) -> Self {
        Self {
            said,
            complete: false,
        }
    }

    /// For protocols in which the end of the body is the end of the turn.
    fn complete(self) -> Self {
        Self {
            complete: true,
            ..self
        }
    }
}

impl<P: Protocol> Reader for Typed<P> {
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Said, EventError>> {
        let said = P::decode(event).map(|event| (self.said)(&event));
        if let Ok(said) = &said {
            // After an error that ends the answer nothing more needs to come.
            self.complete |= said.over || said.wrong.is_some();
        }
        vec![said]
    }

    fn end(&self) -> Option<Wrong> {
        (!self.complete).then(not_done)
    }
}
