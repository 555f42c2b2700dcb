//! Relaying of the stream of another server.

use std::future::Future;

use crate::agent::Reply;
use crate::json::JsonError;
use crate::protocol::{
    ContextTooLong, EventDecoder, EventError, Protocol, SendError, TooLarge, ToolCall, Usage,
};

/// A protocol of language models whose streams can be relayed.
pub trait Upstream: Protocol {
    /// Assembles events to an answer.
    type Accumulator: Default + Send;
    /// A complete answer.
    type Answer;
    /// An error that a server sent.
    type Failure;

    /// Adds an event to the answer.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the answer would exceed the limit of the accumulator.
    fn push(answer: &mut Self::Accumulator, event: &Self::Event) -> Result<(), TooLarge>;

    /// Returns the error of an event that says that the answer failed.
    fn failure(event: &Self::Event) -> Option<Self::Failure>;

    /// Returns `true` if a failure says that the conversation is too long for the model. `false` by default.
    fn is_too_long(failure: &Self::Failure) -> bool {
        let _ = failure;
        false
    }

    /// Returns `true` if `event` is the last of a stream. Everything after it is ignored.
    fn is_last(event: &Self::Event) -> bool;

    /// Converts an event to output of a reply. `None`: the reply writes its own.
    fn output(event: &Self::Event) -> Option<Self::Output>;

    /// Writes the text and the reasoning of an event.
    fn text<P: Protocol>(
        event: &Self::Event,
        reply: &Reply<P>,
    ) -> impl Future<Output = Result<(), SendError>> + Send;

    /// Returns the tokens of the answer so far, if `event`, which was added to `answer`, changes them.
    fn usage(event: &Self::Event, answer: &Self::Accumulator) -> Option<Usage>;

    /// Returns the answer; `None` if it is not complete.
    fn finish(answer: Self::Accumulator) -> Option<Self::Answer>;

    /// Returns the tool calls of an answer.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the arguments of a call are not a JSON object.
    fn calls(answer: &Self::Answer) -> Result<Vec<ToolCall>, JsonError>;
}

/// A relay of another server's events, for example a model's, into a reply.
///
/// Pass it the bytes as they arrive, and take one relay for each stream. [`text`](Self::text) relays the text in a reply of any
/// protocol. [`forward`](Self::forward) relays events in a reply of the same protocol: the reply's own
/// ids, numbers, time and model replace the upstream ones, unknown members are retained, and the upstream
/// end is dropped, because the reply has its own. Both collect the answer, calls included, for
/// [`end`](Self::end) and [`finish`](Self::finish).
///
/// ```
/// # use copilot_wire::models::{Relay, RelayError, Upstream};
/// # use copilot_wire::protocol::Protocol;
/// # use copilot_wire::Reply;
/// # use futures::{Stream, StreamExt};
/// async fn pass<U: Upstream, P: Protocol>(
///     mut upstream: impl Stream<Item = Vec<u8>> + Unpin,
///     reply: Reply<P>,
/// ) -> Result<(), RelayError<U::Failure>> {
///     let mut relay = Relay::<U>::new();
///     while let Some(bytes) = upstream.next().await {
///         relay.text(&bytes, &reply).await?;
///     }
///     relay.end(reply)
/// }
/// ```
///
/// # Cancel safety
///
/// If a future of a relay is dropped before it is complete, the part that was not sent yet is lost:
/// drop the relay too.
#[derive(Debug)]
pub struct Relay<U: Upstream> {
    decoder: EventDecoder<U>,
    answer: U::Accumulator,
    /// The tokens that the reply has been told of.
    reported: Usage,
    is_over: bool,
}

/// The reason why a stream cannot be relayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError<F> {
    /// The stream has a frame that is not a valid event.
    #[error("upstream: {0}")]
    Event(#[from] EventError),
    /// The upstream server sent an error.
    // The message may contain anything, so it is in the value and not in the text.
    #[error("upstream failed")]
    Upstream(F),
    /// The upstream server says that the conversation is too long for the model. With `?` it becomes
    /// [`AgentError::too_long`](crate::protocol::AgentError::too_long).
    #[error("upstream: {0}")]
    ContextTooLong(#[from] ContextTooLong),
    /// The stream ended before the answer was complete.
    #[error("upstream ended before the answer was complete")]
    Truncated,
    /// The answer exceeds the limit.
    #[error("upstream: the answer is {0}")]
    TooLarge(#[from] TooLarge),
    /// The arguments of a call are not a JSON object.
    #[error("upstream: arguments of a call: {0}")]
    Arguments(#[from] JsonError),
    /// The reply could not be written.
    #[error(transparent)]
    Send(#[from] SendError),
}

/// The next event, and the tokens of the answer with it.
type Step<'a, U> = Result<
    Option<(&'a <U as Protocol>::Event, Option<Usage>)>,
    RelayError<<U as Upstream>::Failure>,
>;

impl<U: Upstream> Relay<U> {
    /// Creates a relay for one stream.
    #[must_use]
    pub fn new() -> Self {
        Self::from_parts(EventDecoder::new(), U::Accumulator::default())
    }

    /// Creates a relay from a decoder and an accumulator with other limits.
    #[must_use]
    pub fn from_parts(decoder: EventDecoder<U>, answer: U::Accumulator) -> Self {
        Self {
            decoder,
            answer,
            reported: Usage::default(),
            is_over: false,
        }
    }

    /// Returns the next event in `input` and advances it; `None` if `input` is empty.
    ///
    /// It is meant for relays that change events. Everything after the upstream end is ignored: some
    /// servers write it twice.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is unusable then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<&U::Event>, RelayError<U::Failure>> {
        Ok(self.step(input)?.map(|(event, _)| event))
    }

    fn step(&mut self, input: &mut &[u8]) -> Step<'_, U> {
        if self.is_over {
            // Consumed, or a caller that loops until its input is empty would never end.
            *input = &[];
            return Ok(None);
        }
        let Some(event) = self.decoder.next(input)? else {
            return Ok(None);
        };
        // Also what is relayed at once: at the end only the accumulator knows the calls, and
        // whether the answer is complete.
        U::push(&mut self.answer, event)?;
        if let Some(failure) = U::failure(event) {
            return Err(match U::is_too_long(&failure) {
                true => ContextTooLong.into(),
                false => RelayError::Upstream(failure),
            });
        }
        self.is_over = U::is_last(event);
        Ok(Some((event, U::usage(event, &self.answer))))
    }

    /// Relays events unchanged, in a reply whose output they can be.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn forward<P>(
        &mut self,
        bytes: &[u8],
        reply: &Reply<P>,
    ) -> Result<(), RelayError<U::Failure>>
    where
        P: Protocol,
        P::Output: From<U::Output>,
    {
        let mut input = bytes;
        while let Some(event) = self.next(&mut input)? {
            if let Some(output) = U::output(event) {
                reply.send(output).await?;
            }
        }
        Ok(())
    }

    /// Relays the text, the reasoning and the usage, in a reply of any protocol. Of several choices, the
    /// first counts. Figures that the server repeats within the stream are totals of that stream and count once; those
    /// of several relays into one reply [add up](Reply::usage).
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn text<P: Protocol>(
        &mut self,
        bytes: &[u8],
        reply: &Reply<P>,
    ) -> Result<(), RelayError<U::Failure>> {
        let mut input = bytes;
        while let Some((event, usage)) = self.step(&mut input)? {
            U::text(event, reply).await?;
            if let Some(usage) = usage {
                let more = usage.since(self.reported);
                self.reported += more;
                reply.usage(more).await?;
            }
        }
        Ok(())
    }

    /// Ends the reply, with the calls of the upstream answer if there are any.
    ///
    /// The calls are all that the answer adds to this end. The reason why the model ended is not passed on: an answer that
    /// the model cut off, at its limit of tokens or by a filter, ends as a complete one. An agent to whom this matters
    /// calls [`finish`](Self::finish) in place of `end`, and finds the reason in the answer: the `finish_reason` of a
    /// choice of a chat completion, the `stop_reason` of a message, the `status` of a response. The chapter "models" of
    /// the guide shows it.
    ///
    /// # Errors
    ///
    /// The errors of [`finish`](Self::finish); [`RelayError::Arguments`] if the arguments of a call
    /// are not a JSON object; [`RelayError::Send`] if a call cannot be written. No call is written
    /// then.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError<U::Failure>> {
        let calls = U::calls(&self.finish()?)?;
        if !calls.is_empty() {
            reply.calls(&calls)?;
        }
        Ok(())
    }

    /// Returns the complete answer after the end of the stream.
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if the answer is not complete.
    pub fn finish(self) -> Result<U::Answer, RelayError<U::Failure>> {
        U::finish(self.answer).ok_or(RelayError::Truncated)
    }
}

impl<U: Upstream> Default for Relay<U> {
    fn default() -> Self {
        Self::new()
    }
}
