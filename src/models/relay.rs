//! Relaying of the stream of another server.

use std::any::Any;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::mem;

use bytes::Bytes;

use super::Dialect;
use crate::agent::{Reply, Request};
use crate::json::{Json, JsonError};
#[cfg(feature = "tracing")]
use crate::protocol::spans;
use crate::protocol::{
    ContextTooLong, Conversation, Cut, EventDecoder, EventError, Framing, ModelFault, Protocol,
    SendError, TooLarge, ToolCall, Usage,
};

/// A dialect of models' servers: how a model is asked, and how its stream is relayed.
pub trait Upstream: Dialect<Event: Sync> {
    /// Assembles events to an answer.
    type Accumulator: Default + Send + Sync;
    /// A complete answer.
    type Answer;
    /// An error that a server sent. `Debug` prints neither texts nor secrets.
    type Failure: fmt::Debug + Send + Sync + 'static;

    /// The name of the provider of this dialect in telemetry, as OpenTelemetry's conventions have it.
    const PROVIDER: &'static str;

    /// Creates a request to a model from a conversation of any front end.
    fn prompt(conversation: &impl Conversation) -> Self::Request;

    /// Copies a request of a front end of this dialect for a model's server: all of it, but for what concerns the server
    /// that the front end talks to, such as stored conversations.
    fn again(request: &Self::Request) -> Self::Request;

    /// Creates the request to a model that answers the request of a front end: a [copy](Self::again) if it is of this
    /// dialect, with all its settings, else one from the [conversation](Self::prompt). Set the model.
    ///
    /// The copy has questions in text as the client sent them, with their codes. An agent that asks any with
    /// [`Reply::confirm`] uses [`prompt`](Self::prompt).
    fn ask<P: Protocol>(request: &Request<P>) -> Self::Request {
        let any: &dyn Any = &**request;
        match any.downcast_ref::<Self::Request>() {
            Some(request) => Self::again(request),
            None => Self::prompt(&**request),
        }
    }

    /// Serializes a request for a stream with the usage in it.
    fn body(request: &mut Self::Request) -> Bytes;

    /// Returns the error in a JSON document that a server sent in place of an answer.
    fn error(body: &Json) -> Option<Self::Failure>;

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

    /// Converts an event to output of a reply, except calls of tools: [`ending`](Self::ending) returns those.
    fn passed(event: &Self::Event) -> Option<Self::Output>;

    /// Returns the end of an answer with calls.
    fn ending(answer: Self::Answer) -> Self::Ending;

    /// Writes the text and the reasoning of an event.
    fn text<P: Protocol>(
        event: &Self::Event,
        reply: &Reply<P>,
    ) -> impl Future<Output = Result<(), SendError>> + Send;

    /// Returns the tokens of the answer so far, if `event`, which was added to `answer`, changes them.
    fn usage(event: &Self::Event, answer: &Self::Accumulator) -> Option<Usage>;

    /// Returns the answer; `None` if it is not complete.
    fn answer(events: Self::Accumulator) -> Option<Self::Answer>;

    /// Returns the reason why an answer is not complete; `None` if it is.
    fn cut(answer: &Self::Answer) -> Option<Cut>;

    /// Returns the name of the model that answered; empty if the server gives none.
    fn answer_model(answer: &Self::Answer) -> &str;

    /// Returns the text of an answer.
    fn answer_text(answer: &Self::Answer) -> String;

    /// Returns the tool calls of an answer.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if the arguments of a call are not a JSON object.
    fn calls(answer: &Self::Answer) -> Result<Vec<ToolCall>, JsonError>;
}

/// A relay of another server's events, for example a model's, into a reply.
///
/// Pass it the bytes as they arrive, and create one relay for each stream. [`text`](Self::text) relays the text in a
/// reply of any protocol, and [`pass`](Self::pass) also what only the same dialect can say, such as
/// the signatures of reasoning.
/// Both end with [`end`](Self::end), which makes the calls. [`forward`](Self::forward) relays all events in a reply of
/// the same protocol, calls included: the reply's own ids, numbers, time and model replace the upstream ones, unknown
/// members are retained, and the upstream end is dropped, because the reply has its own. It ends with
/// [`finish`](Self::finish).
///
/// A server that sends something else than a stream, such as a page or an error with the status 200, is recognized by its
/// first byte.
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
    /// The token usage that was reported to the reply.
    reported: Usage,
    is_over: bool,
    form: Form,
    /// Set if events of the same dialect were passed on as they are.
    is_native: bool,
}

/// The data that a server sends.
#[derive(Debug)]
enum Form {
    /// Nothing so far.
    Unknown,
    /// A stream.
    Stream,
    /// Something else, with its bytes.
    Document(Vec<u8>),
}

/// The longest document in place of a stream that is read, in bytes: an error is short.
const LONGEST_DOCUMENT: usize = 64 * 1024;

/// The reason why a stream cannot be relayed.
///
/// With `?` it becomes an [`AgentError`](crate::protocol::AgentError) whose message for the user is that of its source,
/// a [`ModelFault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayError<F> {
    /// The stream has a frame that is not a valid event.
    Event(EventError),
    /// The upstream server sent an error.
    Upstream(F),
    /// The upstream server says that the conversation is too long for the model. With `?` it becomes
    /// [`AgentError::too_long`](crate::protocol::AgentError::too_long).
    ContextTooLong(ContextTooLong),
    /// The upstream server sent something else than a stream.
    NoStream,
    /// The stream ended before the answer was complete.
    Truncated,
    /// The answer exceeds the limit.
    TooLarge(TooLarge),
    /// The arguments of a call are not a JSON object.
    Arguments(JsonError),
    /// The answer was cut off and has calls, the last of which may have lost its end.
    CutCall(Cut),
    /// The front end does not offer the tool of a call, or the tool does not take its arguments.
    ImpossibleCall(SendError),
    /// The reply could not be written.
    Send(SendError),
}

impl<F: fmt::Debug> fmt::Display for RelayError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(error) => write!(f, "upstream: {error}"),
            // The message may contain anything: `Debug` has the codes only.
            Self::Upstream(failure) => write!(f, "upstream failed: {failure:?}"),
            Self::ContextTooLong(error) => write!(f, "upstream: {error}"),
            Self::NoStream => f.write_str("upstream: the answer is not a stream"),
            Self::Truncated => f.write_str("upstream ended before the answer was complete"),
            Self::TooLarge(error) => write!(f, "upstream: the answer is {error}"),
            Self::Arguments(error) => write!(f, "upstream: arguments of a call: {error}"),
            Self::CutCall(cut) => write!(f, "upstream: an answer with calls was cut off: {cut:?}"),
            Self::ImpossibleCall(error) => write!(f, "upstream: a call: {error}"),
            Self::Send(error) => error.fmt(f),
        }
    }
}

impl<F: fmt::Debug> Error for RelayError<F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::ContextTooLong(error) => error,
            Self::Upstream(_) => &ModelFault::Failed,
            Self::Truncated => &ModelFault::Truncated,
            Self::TooLarge(_) | Self::Send(SendError::TooLarge(_)) => &ModelFault::TooLarge,
            Self::Event(_) | Self::NoStream | Self::Send(SendError::Invalid(_)) => {
                &ModelFault::NotAnAnswer
            }
            Self::Arguments(_) | Self::CutCall(_) => &ModelFault::BadCall,
            Self::ImpossibleCall(_) => &ModelFault::ImpossibleCall,
            Self::Send(error) => return error.source(),
        })
    }
}

impl<F> From<EventError> for RelayError<F> {
    fn from(error: EventError) -> Self {
        Self::Event(error)
    }
}

impl<F> From<ContextTooLong> for RelayError<F> {
    fn from(error: ContextTooLong) -> Self {
        Self::ContextTooLong(error)
    }
}

impl<F> From<TooLarge> for RelayError<F> {
    fn from(error: TooLarge) -> Self {
        Self::TooLarge(error)
    }
}

impl<F> From<JsonError> for RelayError<F> {
    fn from(error: JsonError) -> Self {
        Self::Arguments(error)
    }
}

impl<F> From<SendError> for RelayError<F> {
    fn from(error: SendError) -> Self {
        match error {
            // Nothing else that is relayed can be unsupported.
            SendError::Unsupported(_) => Self::ImpossibleCall(error),
            error => Self::Send(error),
        }
    }
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
            form: Form::Unknown,
            is_native: false,
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
        if !self.is_stream(input)? {
            return Ok(None);
        }
        let Some(event) = self.decoder.next(input)? else {
            return Ok(None);
        };
        // Also what is relayed at once: at the end only the accumulator knows the calls, and
        // whether the answer is complete.
        U::push(&mut self.answer, event)?;
        if let Some(failure) = U::failure(event) {
            return Err(failed::<U>(failure));
        }
        self.is_over = U::is_last(event);
        let usage = U::usage(event, &self.answer);
        #[cfg(feature = "tracing")]
        if let Some(usage) = usage {
            spans::usage(&tracing::Span::current(), usage);
        }
        Ok(Some((event, usage)))
    }

    /// Returns `true` if the server sends a stream, which a comment or one of the four fields of an event begins.
    /// Otherwise the input is kept, and the error in it is found when all of it is there.
    fn is_stream(&mut self, input: &mut &[u8]) -> Result<bool, RelayError<U::Failure>> {
        if matches!(self.form, Form::Unknown) {
            // White space, and a byte order mark.
            let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte >= 0x80;
            self.form = match input.iter().find(|byte| !is_blank(byte)) {
                None => Form::Unknown,
                Some(b':' | b'd' | b'e' | b'i' | b'r') => Form::Stream,
                Some(_) if U::FRAMING == Framing::Sse => Form::Document(Vec::new()),
                Some(_) => Form::Stream,
            };
        }
        let Form::Document(document) = &mut self.form else {
            return Ok(true);
        };
        if document.len() + input.len() > LONGEST_DOCUMENT {
            return Err(RelayError::NoStream);
        }
        document.extend_from_slice(mem::take(input));
        Ok(false)
    }

    /// Returns `true` if the end of the answer was read. Later bytes are ignored, so the caller need not wait for them:
    /// some servers leave the connection open.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
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

    /// Relays what [`text`](Self::text) does, and in a reply of the same dialect also what no other dialect has:
    /// signatures and encrypted contents of reasoning, log probabilities, citations, the work of the server's own tools,
    /// unknown members.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn pass<P: Protocol>(
        &mut self,
        bytes: &[u8],
        reply: &Reply<P>,
    ) -> Result<(), RelayError<U::Failure>> {
        let same = (reply as &dyn Any).downcast_ref::<Reply<U>>();
        let Some(same) = same else {
            return self.text(bytes, reply).await;
        };
        self.is_native = true;
        let mut input = bytes;
        while let Some((event, usage)) = self.step(&mut input)? {
            if let Some(output) = U::passed(event) {
                same.send(output).await?;
            }
            // Behind the output, which has figures of this stream only.
            if let Some(usage) = usage {
                let more = usage.since(self.reported);
                self.reported += more;
                reply.usage(more).await?;
            }
        }
        Ok(())
    }

    /// Ends the reply as the upstream answer ended: with its calls if there are any, or with the reason why it is not
    /// complete, as [`Reply::cut`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`finish`](Self::finish); [`RelayError::CutCall`] if the answer was cut off and has calls;
    /// [`RelayError::Arguments`] if the arguments of a call are not a JSON object; [`RelayError::ImpossibleCall`] if the
    /// front end does not offer the tool of a call, or the tool does not take its arguments. No call is written then.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError<U::Failure>> {
        let is_native = self.is_native;
        let answer = self.finish()?;
        let mut calls = U::calls(&answer)?;
        match (U::cut(&answer), calls.is_empty()) {
            (Some(cut), false) => return Err(RelayError::CutCall(cut)),
            // The reason itself was passed on.
            (Some(Cut::Other), true) if is_native => return Ok(()),
            (Some(cut), true) => return Ok(reply.cut(cut)?),
            (None, true) => return Ok(()),
            (None, false) => {}
        }
        let (mut ids, mut are_unique) = (HashSet::new(), true);
        for call in &mut calls {
            // Results of calls with equal ids could not be told apart.
            if call.id.as_ref().is_some_and(|id| !ids.insert(id.clone())) {
                (call.id, are_unique) = (None, false);
            }
        }
        let mut reply = Some(reply);
        let any: &mut dyn Any = &mut reply;
        let same = any.downcast_mut::<Option<Reply<U>>>();
        let same = same.filter(|_| is_native && are_unique);
        let called = match (same.and_then(Option::take), reply) {
            (Some(same), _) => same.end(U::ending(answer)),
            (None, Some(reply)) => reply.calls(&calls),
            (None, None) => Ok(()),
        };
        called.map_err(|error| match error {
            SendError::Invalid(_) => RelayError::ImpossibleCall(error),
            error => error.into(),
        })
    }

    /// Returns the complete answer after the end of the stream.
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if the answer is not complete; [`RelayError::NoStream`] if the server has sent none, or
    /// the error that it has sent instead.
    pub fn finish(self) -> Result<U::Answer, RelayError<U::Failure>> {
        if let Form::Document(document) = self.form {
            let error = Json::parse(document).ok().as_ref().and_then(U::error);
            return Err(error.map_or(RelayError::NoStream, failed::<U>));
        }
        let answer = U::answer(self.answer).ok_or(RelayError::Truncated)?;
        #[cfg(feature = "tracing")]
        super::contents::record_answer::<U>(&answer);
        Ok(answer)
    }
}

/// Converts the failure of a server.
fn failed<U: Upstream>(failure: U::Failure) -> RelayError<U::Failure> {
    match U::is_too_long(&failure) {
        true => ContextTooLong.into(),
        false => RelayError::Upstream(failure),
    }
}

impl<U: Upstream> Default for Relay<U> {
    fn default() -> Self {
        Self::new()
    }
}
