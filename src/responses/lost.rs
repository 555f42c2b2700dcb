//! The failure of a response whose server died.

use crate::json::Wire;
use bytes::Bytes;

use super::{ErrorObject, EventKind, Response, StreamEvent};
use crate::protocol::AgentError;

/// Writes the failure of a response whose server died.
pub(super) fn lost(first_event: &[u8], next: u64, out: &mut Vec<u8>) {
    // No known client runs the turn again at this code.
    let error = ErrorObject::new(ErrorObject::ONCE, AgentError::LOST);
    let begun = last_response(first_event);
    let mut event = StreamEvent {
        sequence_number: Some(next),
        ..StreamEvent::default()
    };
    match begun {
        Some(mut response) => {
            event.kind = EventKind::Failed;
            response.status = "failed".into();
            response.error = Some(error);
            event.response = Some(response.to_raw());
        }
        // Without the first event there is no response object, so an error outside a response is written.
        None => {
            event.kind = EventKind::Error;
            for (key, value) in error.to_raw().members() {
                event.unknown.push(key, value);
            }
        }
    }
    event.write(out);
    out.extend_from_slice(b"data: [DONE]\n\n");
}

/// Returns the response object of the last event that has one.
pub(super) fn last_response(bytes: &[u8]) -> Option<Response> {
    // The last response object has the latest state that the client received.
    events(bytes).rev().find_map(|event| event.response())
}

/// Returns an iterator over events as this crate writes them, without `[DONE]`.
pub(super) fn events(bytes: &[u8]) -> impl DoubleEndedIterator<Item = StreamEvent> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let data = lines.filter_map(|line| line.strip_prefix(b"data: "));
    data.filter_map(|data| StreamEvent::parse(&Bytes::copy_from_slice(data)).ok())
}
