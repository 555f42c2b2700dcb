//! Relaying of the stream of another server.

use super::{
    Accumulator, ChatCompletion, ChatCompletionChunk, ErrorObject, Event, OpenAi, TooLarge,
};
use crate::agent::Reply;
use crate::json::{Json, JsonError};
use crate::protocol::{self, EventDecoder, EventError, Protocol, SendError};

/// A relay of another server's chunks, for example a model's, into a reply.
///
/// Pass it the bytes as they arrive. [`forward`](Self::forward) relays complete chunks in a reply
/// of this protocol: the reply's own id, time and model replace the upstream ones, unknown members
/// are retained, and the upstream end is dropped, because the reply has its own.
/// [`text`](Self::text) relays the text in a reply of any protocol. Both collect the answer, calls
/// included, for [`finish`](Self::finish).
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
/// If a future of a relay is dropped before it is complete, the part that was not sent yet is lost:
/// drop the relay too.
#[derive(Debug, Default)]
pub struct Relay {
    decoder: EventDecoder<OpenAi>,
    collected: Accumulator,
    done: bool,
}

/// The reason why a stream cannot be relayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The stream has an event that is not a valid chunk.
    #[error("upstream: {0}")]
    Event(#[from] EventError),
    /// The upstream server sent an error.
    // The message may contain anything, so it is in the value and not in the text.
    #[error("upstream failed")]
    Upstream(ErrorObject),
    /// The stream ended before the answer: a choice has no finish reason.
    #[error("upstream ended before the answer was complete")]
    Truncated,
    /// The answer exceeds the limit.
    #[error("upstream: {0}")]
    TooLarge(#[from] TooLarge),
    /// The arguments of a call are not a JSON object.
    #[error("upstream: arguments of a call: {0}")]
    Arguments(#[from] JsonError),
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
    pub fn from_parts(decoder: EventDecoder<OpenAi>, collected: Accumulator) -> Self {
        Self {
            decoder,
            collected,
            done: false,
        }
    }

    /// Returns the next chunk in `input` and advances it; `None` if `input` is empty.
    ///
    /// It is meant for relays that change chunks. Everything after the upstream `[DONE]` is
    /// ignored: some servers write it twice.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is unusable then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<ChatCompletionChunk>, RelayError> {
        while !self.done {
            match self.decoder.next(input)? {
                Some(Event::Chunk(chunk)) => {
                    self.collected.push(&chunk)?;
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

    /// Relays chunks unchanged, in a reply whose output is chunks.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
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

    /// Relays the text of the first choice, its reasoning and the usage, in a reply of any
    /// protocol.
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

    /// Ends the reply like the upstream answer, with its calls if there are any.
    ///
    /// # Errors
    ///
    /// The errors of [`finish`](Self::finish); [`RelayError::Arguments`] if the arguments of a call
    /// are not a JSON object; [`RelayError::Send`] if a call cannot be written. No call is written
    /// then.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError> {
        let answer = self.finish()?;
        let calls = answer.calls().iter().map(protocol::ToolCall::try_from);
        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        if !calls.is_empty() {
            reply.calls(&calls)?;
        }
        Ok(())
    }

    /// Returns the complete answer after the end of the stream, with its unknown members as in an
    /// [`Accumulator`].
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if a choice has no finish reason. If only the `[DONE]` is missing, the
    /// answer is complete.
    pub fn finish(self) -> Result<ChatCompletion, RelayError> {
        if self.collected.is_complete() {
            Ok(self.collected.finish())
        } else {
            Err(RelayError::Truncated)
        }
    }
}
