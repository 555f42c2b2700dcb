//! Passes the stream of another server on.

use super::{Accumulator, Anthropic, Delta, ErrorObject, Event, Message, Say, TooLarge};
use crate::agent::Reply;
use crate::protocol::{self, EventDecoder, EventError, Protocol, SendError};

/// Passes the events of another server, such as a model's, on into a reply.
///
/// Give it the bytes as they arrive. [`forward`](Self::forward) relays blocks inside a reply of this
/// protocol: the reply's own id, model and block numbers are written, and the reply ends once, as
/// every reply does. [`text`](Self::text) sends the text in a reply of any protocol. Both collect
/// what went through, calls included, for [`finish`](Self::finish).
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
/// A future of a relay that is dropped half-way has lost what was not sent yet: drop the relay too.
#[derive(Debug, Default)]
pub struct Relay {
    decoder: EventDecoder<Anthropic>,
    whole: Accumulator,
}

/// Why a stream cannot be passed on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The stream holds something that is no event.
    #[error("upstream: {0}")]
    Event(#[from] EventError),
    /// The other server says that it failed.
    // What it says may be anything: it is in the value, and not in the text.
    #[error("upstream failed")]
    Upstream(ErrorObject),
    /// The stream ended before the message did.
    #[error("upstream ended early")]
    Cut,
    /// The message is larger than the relay may hold.
    #[error("upstream: {0}")]
    TooLarge(#[from] TooLarge),
    /// The reply took no more.
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

    /// Takes the next event out of `input` and advances it. `None`: `input` is used up.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is of no more use then.
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

    /// Passes blocks on as they are, in a reply of this protocol.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Hand it on: the reply's client is told that the answer failed.
    pub async fn forward<P>(&mut self, bytes: &[u8], reply: &Reply<P>) -> Result<(), RelayError>
    where
        P: Protocol,
        P::Output: From<Say>,
    {
        let mut input = bytes;
        while let Some(event) = self.next(&mut input)? {
            let say = match event {
                Event::MessageStart(message) => Say::Message(message.usage.into()),
                Event::ContentBlockStart { content_block, .. } => Say::Start(content_block),
                Event::ContentBlockDelta { delta, .. } => Say::Delta(delta),
                Event::ContentBlockStop { .. } => Say::Stop,
                Event::MessageDelta(delta) => Say::Message(delta),
                _ => continue,
            };
            reply.send(say).await?;
        }
        Ok(())
    }

    /// Sends the text, the reasoning and the usage in a reply of any protocol.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Hand it on: the reply's client is told that the answer failed.
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

    /// Ends the reply as the upstream message ended: with its calls, if it made any.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish); [`RelayError::Send`] when a call cannot be made. No call is
    /// made then.
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

    /// Returns the message that went through, once the stream has ended.
    ///
    /// # Errors
    ///
    /// [`RelayError::Cut`] when the message is not complete.
    pub fn finish(self) -> Result<Message, RelayError> {
        if self.whole.is_complete() {
            Ok(self.whole.finish())
        } else {
            Err(RelayError::Cut)
        }
    }
}
