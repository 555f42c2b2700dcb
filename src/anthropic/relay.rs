//! Relaying of the stream of another server.

use super::{Accumulator, Anthropic, Delta, ErrorObject, Event, Message, Output, TooLarge};
use crate::agent::Reply;
use crate::protocol::{self, EventDecoder, EventError, Protocol, SendError};

/// A relay of another server's events, for example a model's, into a reply.
///
/// Pass it the bytes as they arrive. [`forward`](Self::forward) relays blocks in a reply of this
/// protocol: the reply's own id, model and block numbers are written, and the upstream end is
/// dropped, because the reply has its own. [`text`](Self::text) relays the text in a reply of any
/// protocol. Both collect the answer, calls included, for [`finish`](Self::finish).
///
/// ```
/// # use copilot_wire::anthropic::Relay;
/// # use copilot_wire::protocol::{AgentError, Protocol};
/// # use copilot_wire::Reply;
/// # use futures::{Stream, StreamExt};
/// async fn pass<P: Protocol>(
///     mut upstream: impl Stream<Item = Vec<u8>> + Unpin,
///     reply: Reply<P>,
/// ) -> Result<(), AgentError> {
///     let mut relay = Relay::new();
///     while let Some(bytes) = upstream.next().await {
///         relay.text(&bytes, &reply).await?;
///     }
///     Ok(relay.end(reply)?)
/// }
/// ```
///
/// # Cancel safety
///
/// If a future of a relay is dropped before it is complete, the part that was not sent yet is lost:
/// drop the relay too.
#[derive(Debug, Default)]
pub struct Relay {
    decoder: EventDecoder<Anthropic>,
    whole: Accumulator,
}

/// The reason why a stream cannot be relayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The stream has a frame that is not a valid event.
    #[error("upstream: {0}")]
    Event(#[from] EventError),
    /// The upstream server sent an error.
    // The message may contain anything, so it is in the value and not in the text.
    #[error("upstream failed")]
    Upstream(ErrorObject),
    /// The stream ended before the message was complete.
    #[error("upstream ended before the answer was complete")]
    Truncated,
    /// The message exceeds the limit.
    #[error("upstream: {0}")]
    TooLarge(#[from] TooLarge),
    /// The reply could not be written.
    #[error(transparent)]
    Send(#[from] SendError),
}

impl Relay {
    /// Creates a relay for one stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a relay with other limits.
    #[must_use]
    pub fn from_parts(decoder: EventDecoder<Anthropic>, whole: Accumulator) -> Self {
        Self { decoder, whole }
    }

    /// Returns the next event in `input` and advances it; `None` if `input` is empty.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is unusable then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, RelayError> {
        match self.decoder.next(input)? {
            Some(Event::Error(error)) => Err(RelayError::Upstream(error)),
            Some(event) => {
                self.whole.push(&event)?;
                Ok(Some(event))
            }
            None => Ok(None),
        }
    }

    /// Relays blocks unchanged, in a reply of this protocol.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn forward<P>(&mut self, bytes: &[u8], reply: &Reply<P>) -> Result<(), RelayError>
    where
        P: Protocol,
        P::Output: From<Output>,
    {
        let mut input = bytes;
        while let Some(event) = self.next(&mut input)? {
            let say = match event {
                Event::MessageStart(message) => Output::Message(message.usage.into()),
                Event::ContentBlockStart { content_block, .. } => Output::Start(content_block),
                Event::ContentBlockDelta { delta, .. } => Output::Delta(delta),
                Event::ContentBlockStop { .. } => Output::Stop,
                Event::MessageDelta(delta) => Output::Message(delta),
                _ => continue,
            };
            reply.send(say).await?;
        }
        Ok(())
    }

    /// Relays the text, the reasoning and the usage, in a reply of any protocol.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn text<P: Protocol>(
        &mut self,
        bytes: &[u8],
        reply: &Reply<P>,
    ) -> Result<(), RelayError> {
        let mut input = bytes;
        while let Some(event) = self.next(&mut input)? {
            match event {
                Event::ContentBlockDelta { delta, .. } => match delta {
                    Delta::Text(text) => reply.text(&text).await?,
                    Delta::Thinking(text) => reply.reasoning(text).await?,
                    _ => {}
                },
                Event::MessageDelta(_) => reply.usage(self.whole.usage().into()).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Ends the reply like the upstream message, with its calls if there are any.
    ///
    /// # Errors
    ///
    /// The errors of [`finish`](Self::finish); [`RelayError::Send`] if a call cannot be written. No
    /// call is written then.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError> {
        let message = self.finish()?;
        let calls = message.calls().map(|call| protocol::ToolCall {
            name: call.name.clone(),
            arguments: call.input.clone(),
        });
        let calls: Vec<_> = calls.collect();
        if !calls.is_empty() {
            reply.calls(&calls)?;
        }
        Ok(())
    }

    /// Returns the complete message after the end of the stream.
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if the message is not complete.
    pub fn finish(self) -> Result<Message, RelayError> {
        if self.whole.is_complete() {
            Ok(self.whole.finish())
        } else {
            Err(RelayError::Truncated)
        }
    }
}
