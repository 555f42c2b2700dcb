//! The deltas of the messages of a stream.

use super::Event;
use crate::protocol::{Delta, Failure, Part, Status};

/// Reads the pieces of a message. The result is the whole answer.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    match event {
        Event::Progress(progress) => {
            if let Some(message) = &progress.message {
                to(Delta::Part(Part::Status(&Status::new(message))));
            }
        }
        Event::Result(answer) => {
            let text = answer.result.text();
            match (answer.result.is_error, text.is_empty()) {
                (true, false) => to(Delta::Failed(Failure::new(&text))),
                _ => to(Delta::Text(&text)),
            }
            to(Delta::Finished { needs_end: false });
            to(Delta::End);
        }
        Event::Error(failed) => to(Delta::Failed(Failure::new(&failed.error.message))),
        Event::Question(_) | Event::Other(_) => {}
    }
}
