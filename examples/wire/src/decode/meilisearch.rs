//! A Meilisearch stream, in which one event may be several, or a piece of one.

use copilot_wire::meilisearch::{Decoder, Outcome};
use copilot_wire::protocol::EventError;
use copilot_wire::sse;

use super::reader::{Reader, not_done};
use super::wrong::Wrong;
use crate::cli::LIMIT;
use crate::said::{Said, meilisearch};

/// The state of a stream.
pub(super) struct Stream {
    decoder: Decoder,
    /// The event as it is written again, for a decoder that takes bytes.
    bytes: Vec<u8>,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            decoder: EventDecoder::<Meilisearch>::with_limit(LIMIT),
            bytes: Vec::new(),
        }
    }
}

impl Reader for Stream {
    fn read(&mut self, event: &sse::Event<'_>) -> Vec<Result<Said, EventError>> {
        self.bytes.clear();
        sse::encode(event, &mut self.bytes);
        let mut bytes = self.bytes.as_slice();
        let mut all = Vec::new();
        while let Some(event) = self.decoder.next(&mut bytes).transpose() {
            let lost = matches!(event, Err(EventError::Stream(_)));
            all.push(event.map(|event| meilisearch(&event)));
            // An error of the stream itself comes again for ever.
            if lost {
                break;
            }
        }
        if all.is_empty() {
            all.push(Ok(Said::new("waiting", "")));
        }
        all
    }

    fn tolerates(&self) -> &'static [&'static str] {
        // It sends a `retry`, and its documentation has notifications in fragments.
        &[
            "sse/retry",
            "meilisearch/notification",
            "meilisearch/foreign-call",
        ]
    }

    fn end(&self) -> Option<Wrong> {
        match self.decoder.decoder().outcome() {
            Outcome::Truncated => Some(not_done()),
            Outcome::Incomplete => {
                let what = "the answer did not end: no finish reason came";
                Some(Wrong::of(what).rule("chunk/finish-reason"))
            }
            _ => None,
        }
    }
}
