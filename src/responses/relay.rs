//! Passes the stream of another server on.

use super::{
    Accumulator, ErrorObject, Event, EventKind, Response, Responses, StreamEvent, TooLarge,
};
use crate::agent::Reply;
use crate::protocol::{EventDecoder, EventError, Protocol, SendError};

/// Passes the events of another server, such as a model's, on into a reply.
///
/// Give it the bytes as they arrive. [`forward`](Self::forward) relays events inside a reply of this
/// protocol: ids, indexes and numbers are the reply's own, and the upstream end is dropped, because
/// the reply ends once, as every reply does. [`text`](Self::text) says the text in a reply of any
/// protocol, and its reasoning and usage. Both collect what went through, calls included, for
/// [`finish`](Self::finish).
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
/// A future of a relay that is dropped half-way has lost what was not said yet: drop the relay too.
#[derive(Debug, Default)]
pub struct Relay {
    decoder: EventDecoder<Responses>,
    whole: Accumulator,
}

/// Why a stream cannot be passed on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The stream holds something that is not an event.
    #[error("upstream: {0}")]
    Event(#[from] EventError),
    /// The other server says that it failed.
    // What it says may be anything: it is in the value, and not in the text.
    #[error("upstream failed")]
    Upstream(ErrorObject),
    /// The stream ended before the response did.
    #[error("upstream ended early")]
    Cut,
    /// The response is larger than the relay may hold.
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

    /// Creates a relay with a decoder and an accumulator of one's own, for other limits.
    #[must_use]
    pub fn from_parts(decoder: EventDecoder<Responses>, whole: Accumulator) -> Self {
        Self { decoder, whole }
    }

    /// Takes the next event out of `input` and advances it. `None`: `input` is used up.
    ///
    /// What follows the upstream end is ignored.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is of no more use then.
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
                // `[DONE]` without an end before it; a decoder reads no endings.
                Some(_) => {}
                None => return Ok(None),
            }
        }
        *input = &[];
        Ok(None)
    }

    /// Passes events on as they are, in a reply of this protocol.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Hand it on: the reply's client is told that the answer failed.
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

    /// Says the text, in a reply of any protocol, with the reasoning and the usage.
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

    /// Returns everything that went through, once the stream has ended.
    ///
    /// # Errors
    ///
    /// [`RelayError::Cut`] when the last event is missing.
    pub fn finish(self) -> Result<Response, RelayError> {
        if self.whole.is_ended() {
            Ok(self.whole.finish())
        } else {
            Err(RelayError::Cut)
        }
    }
}
