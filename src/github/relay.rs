//! A model's stream, passed on as the agent's answer.

use super::copilot_error::{CopilotError, ErrorKind};
use super::event::{Event, Say};

/// Passes a model's stream on as the agent's answer.
///
/// Copying the bytes, as GitHub's samples do, ends the answer twice and mixes chunk ids, and
/// github.com then attributes the answer to Copilot in place of the agent (copilot-extensions/preview-sdk.js#113).
/// This takes the text out of each event and leaves ids and endings to the reply.
///
/// ```
/// use copilot_wire::github::{GitHub, Relay, Say};
/// use copilot_wire::protocol::EventDecoder;
///
/// let mut upstream: &[u8] = b"data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n\
///     data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
/// let mut decoder = EventDecoder::<GitHub>::new();
/// let mut relay = Relay::new();
/// let mut said = Vec::new();
/// while let Some(event) = decoder.next(&mut upstream)? {
///     said.extend(relay.next(event)); // and `reply.send(say).await?` in an agent
/// }
/// assert_eq!(said, [Say::Text("Hi".into())]);
/// assert!(relay.is_complete());
/// # Ok::<(), copilot_wire::protocol::EventError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Relay {
    complete: bool,
    done: bool,
}

impl Relay {
    /// The start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What to say for an event of the model's stream, if anything.
    ///
    /// Text goes on; a relayed error becomes a `copilot_errors` event; what ends the stream, usage
    /// figures, tool calls and whatever follows `[DONE]` stay here.
    pub fn next(&mut self, event: Event) -> Option<Say> {
        if self.done {
            return None;
        }
        match event {
            Event::Say(Say::Chunk(chunk)) => {
                if let Some(message) = chunk.error() {
                    let message = match message.as_str() {
                        "" => "The model failed.",
                        message => message,
                    };
                    let error =
                        CopilotError::new(ErrorKind::Agent, "model_failed", message, "model");
                    return Some(error.into());
                }
                self.complete |= chunk.finish_reason().is_some();
                chunk
                    .content()
                    .filter(|text| !text.is_empty())
                    .map(Say::Text)
            }
            Event::Say(say) => Some(say),
            Event::Finish => {
                self.complete = true;
                None
            }
            Event::Done => {
                self.done = true;
                None
            }
            Event::Confirmation(_) => None,
        }
    }

    /// Whether the model has said that its answer is complete. A stream that ends before was cut.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}
