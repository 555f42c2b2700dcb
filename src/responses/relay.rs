//! Relaying of the stream of another server.

use super::{
    Accumulator, ErrorObject, Event, EventKind, Response, Responses, StreamEvent, TooLarge,
};
use crate::agent::Reply;
use crate::protocol::{EventDecoder, EventError, Protocol, SendError};

/// A relay of another server's events, for example a model's, into a reply.
///
/// Pass it the bytes as they arrive. [`forward`](Self::forward) relays events in a reply of this
/// protocol: ids, indexes and numbers are the reply's own, and the upstream end is dropped, because
/// the reply has its own. [`text`](Self::text) relays the text, the reasoning and the usage in a
/// reply of any protocol. Both collect the answer, calls included, for [`finish`](Self::finish).
///
/// ```
/// # use copilot_wire::protocol::{AgentError, Protocol, ToolCall};
/// # use copilot_wire::responses::Relay;
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
///     let answer = relay.finish()?;
///     if let Some(call) = answer.calls().next() {
///         reply.call(ToolCall::try_from(call)?)?;
///     }
///     Ok(())
/// }
/// ```
///
/// # Cancel safety
///
/// If a future of a relay is dropped before it is complete, the part that was not sent yet is lost:
/// drop the relay too.
#[derive(Debug, Default)]
pub struct Relay {
    decoder: EventDecoder<Responses>,
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
    /// The stream ended before the response was complete.
    #[error("upstream ended before the answer was complete")]
    Truncated,
    /// The response exceeds the limit.
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

    /// Creates a relay from a decoder and an accumulator with other limits.
    #[must_use]
    pub fn from_parts(decoder: EventDecoder<Responses>, whole: Accumulator) -> Self {
        Self { decoder, whole }
    }

    /// Returns the next event in `input` and advances it; `None` if `input` is empty.
    ///
    /// Everything after the upstream end is ignored.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is unusable then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<StreamEvent>, RelayError> {
        while !self.whole.is_ended() {
            match self.decoder.next(input)? {
                Some(Event::Stream(event)) => {
                    self.whole.push(&event)?;
                    if matches!(event.kind, EventKind::Failed | EventKind::Error) {
                        let error = event.error().unwrap_or_default();
                        return Err(RelayError::Upstream(error));
                    }
                    return Ok(Some(*event));
                }
                // `[DONE]` without an end before it. A decoder reads no endings.
                Some(_) => {}
                None => return Ok(None),
            }
        }
        *input = &[];
        Ok(None)
    }

    /// Relays events unchanged, in a reply of this protocol.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn forward<P>(&mut self, bytes: &[u8], reply: &Reply<P>) -> Result<(), RelayError>
    where
        P: Protocol,
        P::Output: From<StreamEvent>,
    {
        let mut input = bytes;
        while let Some(event) = self.next(&mut input)? {
            reply.send(event).await?;
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
            let delta = event.delta.as_deref().unwrap_or_default();
            match event.kind {
                EventKind::TextDelta | EventKind::RefusalDelta => reply.text(delta).await?,
                EventKind::SummaryDelta | EventKind::ReasoningDelta => {
                    reply.reasoning(delta).await?;
                }
                _ => {
                    let response = event.response.as_ref();
                    let usage = response.and_then(|response| response.usage.as_ref());
                    if let Some(usage) = usage.filter(|_| event.is_last()) {
                        reply.usage(usage.into()).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the complete response after the end of the stream.
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if the last event is missing.
    pub fn finish(self) -> Result<Response, RelayError> {
        if self.whole.is_ended() {
            Ok(self.whole.finish())
        } else {
            Err(RelayError::Truncated)
        }
    }
}
