//! Relaying of a model's stream as the agent's answer.

use super::copilot_error::{CopilotError, ErrorKind};
use super::event::{Event, Output};

/// A relay of a model's stream as the agent's answer.
///
/// Copying the bytes, as GitHub's samples do, ends the answer twice and mixes chunk ids, and
/// github.com then attributes the answer to Copilot instead of the agent
/// (copilot-extensions/preview-sdk.js#113). A relay extracts the text of each event and leaves ids
/// and endings to the reply.
///
/// ```
/// use copilot_wire::github::{GitHub, Relay, Output};
/// use copilot_wire::protocol::EventDecoder;
///
/// let mut upstream: &[u8] = b"data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n\
///     data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
/// let mut decoder = EventDecoder::<GitHub>::new();
/// let mut relay = Relay::new();
/// let mut outputs = Vec::new();
/// while let Some(event) = decoder.next(&mut upstream)? {
///     outputs.extend(relay.next(event)); // and `reply.send(output).await?` in an agent
/// }
/// assert_eq!(outputs, [Output::Text("Hi".into())]);
/// assert!(relay.is_complete());
/// # Ok::<(), copilot_wire::protocol::EventError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Relay {
    complete: bool,
    done: bool,
}

impl Relay {
    /// Creates a relay at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Converts an event of the model's stream to an event of the reply, if it becomes one.
    ///
    /// Text is passed on; a relayed error becomes a `copilot_errors` event; events that end the
    /// stream, usage, tool calls and everything after `[DONE]` are dropped.
    pub fn next(&mut self, event: &Event) -> Option<Output> {
        if self.done {
            return None;
        }
        match event {
            Event::Output(Output::Chunk(chunk)) => {
                if let Some(message) = chunk.error() {
                    let message = match message.as_str() {
                        "" => "The model failed.",
                        message => message,
                    };
                    let error =
                        CopilotError::new(ErrorKind::Agent, "model_failed", message, "model");
                    return Some(error.into());
                }
                // The reason may be in the chunk with the last text, so both are looked at.
                self.complete |= chunk.finish_reason().is_some();
                chunk
                    .content()
                    .filter(|text| !text.is_empty())
                    .map(Output::Text)
            }
            Event::Output(output) => Some(output.clone()),
            Event::Finish => {
                self.complete = true;
                None
            }
            Event::Done => {
                self.done = true;
                None
            }
            // A model has no user to ask: only the agent itself may end the turn with a question.
            Event::Confirmation(_) => None,
        }
    }

    /// Returns `true` if the model's answer was complete. A stream that ends without this was
    /// interrupted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}
