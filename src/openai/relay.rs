//! Passes the stream of another server on.

use super::{
    Accumulator, ChatCompletion, ChatCompletionChunk, ErrorObject, Event, OpenAi, TooLarge,
};
use crate::agent::Reply;
use crate::json::{Json, JsonError};
use crate::protocol::{self, EventDecoder, EventError, Protocol, SendError};

/// Passes the chunks of another server, say a model's, on into a reply.
///
/// Give it the bytes as they arrive. [`forward`](Self::forward) relays whole chunks inside a reply
/// that speaks chunks: the reply's own id, time and model are written over the upstream ones,
/// unknown members are kept, the upstream end is dropped, and the reply ends once, as every reply
/// does. [`text`](Self::text) says the text in a reply of any protocol. Both collect what went
/// through, calls included, for [`finish`](Self::finish).
///
/// ```
/// # use copilot_wire::openai::{OpenAi, Relay, RelayError};
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
/// A future of a relay that is dropped half-way has lost what was not said yet: drop the relay too.
#[derive(Debug, Default)]
pub struct Relay {
    decoder: EventDecoder<OpenAi>,
    whole: Accumulator,
    done: bool,
}

/// Why a stream cannot be passed on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The stream holds something that is no chunk.
    #[error("upstream: {0}")]
    Event(#[from] EventError),
    /// The other server says that it failed.
    // What it says may be anything: it is in the value, and not in the text.
    #[error("upstream failed")]
    Upstream(ErrorObject),
    /// The stream ended before the answer did: a choice has no finish reason.
    #[error("upstream ended early")]
    Cut,
    /// The answer is larger than the relay may hold.
    #[error("upstream: {0}")]
    TooLarge(#[from] TooLarge),
    /// The arguments of a call are not a JSON object.
    #[error("upstream: the arguments of a call: {0}")]
    Arguments(#[from] JsonError),
    /// The reply took no more.
    #[error(transparent)]
    Send(#[from] SendError),
}

impl Relay {
    /// A relay for one stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A relay with a decoder and an accumulator of one's own, for other limits.
    #[must_use]
    pub fn from_parts(decoder: EventDecoder<OpenAi>, whole: Accumulator) -> Self {
        Self {
            decoder,
            whole,
            done: false,
        }
    }

    /// Takes the next chunk out of `input` and advances it. `None`: `input` is used up.
    ///
    /// For relays that change chunks on their way. What follows the upstream `[DONE]` is ignored:
    /// some servers write it twice.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is of no more use then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<ChatCompletionChunk>, RelayError> {
        while !self.done {
            match self.decoder.next(input)? {
                Some(Event::Chunk(chunk)) => {
                    self.whole.push(&chunk)?;
                    return Ok(Some(chunk));
                }
                Some(Event::Error(error)) => return Err(RelayError::Upstream(error)),
                Some(Event::Done) => self.done = true,
                // A decoder reads endings as chunks.
                Some(Event::End(_)) => {}
                None => return Ok(None),
            }
        }
        *input = &[];
        Ok(None)
    }

    /// Passes chunks on as they are, in a reply that speaks chunks.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Hand it on: the reply's client is told that the answer failed.
    pub async fn forward<P>(&mut self, bytes: &[u8], reply: &Reply<P>) -> Result<(), RelayError>
    where
        P: Protocol,
        P::Output: From<ChatCompletionChunk>,
    {
        let mut input = bytes;
        while let Some(chunk) = self.next(&mut input)? {
            reply.send(chunk).await?;
        }
        Ok(())
    }

    /// Sends the text of the first choice, its reasoning and the usage in a reply of any protocol.
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
        while let Some(chunk) = self.next(&mut input)? {
            let choices = chunk.choices.iter();
            for choice in choices.filter(|choice| choice.index == 0) {
                let reasoning = choice.delta.unknown.get("reasoning_content");
                if let Some(text) = reasoning.and_then(Json::string) {
                    reply.reasoning(text).await?;
                }
                let pieces = [&choice.delta.content, &choice.delta.refusal];
                for piece in pieces.into_iter().flatten() {
                    if !piece.is_empty() {
                        reply.text(piece).await?;
                    }
                }
            }
            if let Some(usage) = &chunk.usage {
                reply.usage(usage.into()).await?;
            }
        }
        Ok(())
    }

    /// Ends the reply as the upstream answer ended: with its calls, if it made any.
    ///
    /// # Errors
    ///
    /// Those of [`finish`](Self::finish); [`RelayError::Arguments`] when a model wrote arguments that
    /// are not a JSON object; [`RelayError::Send`] when a call cannot be made. No call is made then.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError> {
        let answer = self.finish()?;
        let calls = answer.calls().iter().map(protocol::ToolCall::try_from);
        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        if !calls.is_empty() {
            reply.calls(&calls)?;
        }
        Ok(())
    }

    /// Everything that went through, once the stream has ended: unknown members too, as an
    /// [`Accumulator`] keeps them.
    ///
    /// # Errors
    ///
    /// [`RelayError::Cut`] when a choice has no finish reason. A missing `[DONE]` behind all of
    /// them cost nothing of the answer.
    pub fn finish(self) -> Result<ChatCompletion, RelayError> {
        if self.whole.is_complete() {
            Ok(self.whole.finish())
        } else {
            Err(RelayError::Cut)
        }
    }
}
