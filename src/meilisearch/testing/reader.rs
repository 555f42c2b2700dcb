//! A Meilisearch stream, in which one event may be several, or a piece of one.

use super::show::describe;
use super::{NOT_DONE, NOT_FINISHED};
use crate::meilisearch::{Decoder, Outcome};
use crate::protocol::EventError;
use crate::sse;
use crate::testing::{EventReader, MissingEnd, Summary};

/// The most bytes that an event may need that comes in fragments.
const LIMIT: usize = 256 * 1024 * 1024;

/// The state of a stream.
pub(super) struct Stream {
    decoder: Decoder,
    /// The event as it is written again, for a decoder that takes bytes.
    bytes: Vec<u8>,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            decoder: Decoder::with_budget(LIMIT),
            bytes: Vec::new(),
        }
    }
}

impl EventReader for Stream {
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Summary, EventError>> {
        self.bytes.clear();
        sse::encode(event, &mut self.bytes);
        let mut bytes = self.bytes.as_slice();
        let mut all = Vec::new();
        while let Some(event) = self.decoder.next(&mut bytes).transpose() {
            let lost = matches!(event, Err(EventError::Stream(_)));
            all.push(event.map(|event| describe(&event)));
            // An error of the stream itself comes again for ever.
            if lost {
                break;
            }
        }
        if all.is_empty() {
            all.push(Ok(Summary::new("waiting", "")));
        }
        all
    }

    fn end(&self) -> Option<MissingEnd> {
        match self.decoder.outcome() {
            Outcome::Truncated => Some(NOT_DONE),
            Outcome::Incomplete => Some(NOT_FINISHED),
            _ => None,
        }
    }
}
