//! Relaying the stream of another server into a reply.

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
    ContextTooLong, Conversation, Cut, EventDecoder, EventError, FrameKind, Framing, ModelFault,
    Protocol, SendError, TooLarge, ToolCall, Usage,
};

/// A dialect of models' servers: how a model is called, and how its stream is relayed.
pub trait Upstream: Dialect<Event: Sync> {
    /// The accumulator that assembles events into an answer.
    type Accumulator: Default + Send + Sync;
    /// A complete answer.
    type Answer;
    /// An error that a server sent. `Debug` prints neither texts nor secrets.
    type Failure: fmt::Debug + Send + Sync + 'static;

    /// The name of the provider of this dialect in OpenTelemetry's conventions.
    const PROVIDER: &'static str;

    /// Creates a request to a model from a conversation of any front end.
    fn prompt(conversation: &impl Conversation) -> Self::Request;

    /// Copies a request of a front end of this dialect for a model's server, without the members that concern only the
    /// server of the front end, such as stored conversations.
    fn again(request: &Self::Request) -> Self::Request;

    /// Creates the request to a model that answers the request of a front end: a [copy](Self::again) with all settings
    /// if the dialects are the same, otherwise a request from the [conversation](Self::prompt). The caller must set the
    /// model.
    ///
    /// The copy has questions in text as the client sent them, with their codes. If an agent asks questions with
    /// [`Reply::confirm`], use [`prompt`](Self::prompt) instead.
    fn ask<P: Protocol>(request: &Request<P>) -> Self::Request {
        let any: &dyn Any = &**request;
        match any.downcast_ref::<Self::Request>() {
            Some(request) => Self::again(request),
            None => Self::prompt(&**request),
        }
    }

    /// Serializes a request for a stream that includes the usage.
    fn body(request: &mut Self::Request) -> Bytes;

    /// Serializes a request for a document.
    fn document_body(request: &mut Self::Request) -> Bytes;

    /// Updates a session by an event of another server, whose frame becomes a part of the reply, so that the session
    /// can continue or fail the reply.
    fn follow(session: &mut Self::Session, event: &Self::Event) -> FrameKind;

    /// Reads an answer that is a document, and its tokens. `None` if it is not an answer.
    fn document(document: &Json) -> Option<(Self::Answer, Option<Usage>)>;

    /// Returns the error in a JSON document that a server sent instead of an answer.
    fn error(body: &Json) -> Option<Self::Failure>;

    /// Adds an event to the answer.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the answer would exceed the limit of the accumulator.
    fn push(answer: &mut Self::Accumulator, event: &Self::Event) -> Result<(), TooLarge>;

    /// Returns the error of an event which reports that the answer failed.
    fn failure(event: &Self::Event) -> Option<Self::Failure>;

    /// Returns `true` if the failure is that the conversation is too long for the model. `false` by default.
    fn is_too_long(failure: &Self::Failure) -> bool {
        let _ = failure;
        false
    }

    /// Returns `true` if `event` is the last of a stream. Everything after it is ignored.
    fn is_last(event: &Self::Event) -> bool;

    /// Returns `true` if an event has output of the model, unlike a keep-alive or the announcement of an answer. `true`
    /// by default.
    fn is_output(event: &Self::Event) -> bool {
        let _ = event;
        true
    }

    /// Converts an event into output of a reply. `None` if the reply writes this event itself.
    fn output(event: &Self::Event) -> Option<Self::Output>;

    /// Converts an event into output of a reply, except tool calls, which [`ending`](Self::ending) returns.
    fn passed(event: &Self::Event) -> Option<Self::Output>;

    /// Returns the end of an answer with calls.
    fn ending(answer: Self::Answer) -> Self::Ending;

    /// Writes the text and the reasoning of an event.
    fn text<P: Protocol>(
        event: &Self::Event,
        reply: &Reply<P>,
    ) -> impl Future<Output = Result<(), SendError>> + Send;

    /// Returns the tokens of the answer so far, if `event` changes them. The event has been added to `answer` before.
    fn usage(event: &Self::Event, answer: &Self::Accumulator) -> Option<Usage>;

    /// Returns the assembled answer; `None` if it is not complete.
    fn answer(events: Self::Accumulator) -> Option<Self::Answer>;

    /// Returns the reason why an answer is not complete; `None` if it is complete.
    fn cut(answer: &Self::Answer) -> Option<Cut>;

    /// Returns the name of the model that answered; empty if the server does not send it.
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

/// A relay of another server's events, for example of a model, into a reply.
///
/// Pass the bytes to it as they arrive, and create one relay for each stream. [`text`](Self::text) relays the text into
/// a reply of any protocol. [`pass`](Self::pass) also relays data that only the same dialect has, such as the
/// signatures of reasoning. After both call [`end`](Self::end), which makes the calls. [`forward`](Self::forward)
/// relays all events into a reply of the same protocol, including calls: the reply's own ids, numbers, time and model
/// replace the upstream ones, unknown members are retained, and the upstream end is dropped, because the reply has its
/// own end. After it call [`finish`](Self::finish).
///
/// If a server sends no stream, but a page or an error with status 200, the relay detects this by the first byte.
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
    pub(super) decoder: EventDecoder<U>,
    pub(super) answer: U::Accumulator,
    /// The token usage that was reported to the reply.
    pub(super) reported: Usage,
    pub(super) is_over: bool,
    pub(super) has_output: bool,
    pub(super) form: Form,
    /// `true` if events of the same dialect were relayed unchanged.
    is_native: bool,
}

/// The kind of data that a server sends.
#[derive(Debug)]
pub(super) enum Form {
    /// Not known: no byte has arrived.
    Unknown,
    /// A stream.
    Stream,
    /// No stream, with the bytes so far.
    Document(Vec<u8>),
}

/// The maximum size in bytes of a document that is an answer.
const LONGEST_DOCUMENT: usize = 32 * 1024 * 1024;

/// The maximum size in bytes of a document that is not a JSON object, such as a page with an error.
const LONGEST_PAGE: usize = 64 * 1024;

/// The reason why a stream cannot be relayed.
///
/// It converts with `?` into an [`AgentError`](crate::protocol::AgentError) with the user message of its source, a
/// [`ModelFault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayError<F> {
    /// The stream contains a frame that is not a valid event.
    Event(EventError),
    /// The upstream server sent an error.
    Upstream(F),
    /// The upstream server reports that the conversation is too long for the model. With `?` it converts into
    /// [`AgentError::too_long`](crate::protocol::AgentError::too_long).
    ContextTooLong(ContextTooLong),
    /// The upstream server did not send a stream.
    NoStream,
    /// The stream ended before the answer was complete.
    Truncated,
    /// The answer exceeds the limit.
    TooLarge(TooLarge),
    /// The arguments of a call are not a JSON object.
    Arguments(JsonError),
    /// The answer was cut off and has calls, of which the last may be incomplete.
    CutCall(Cut),
    /// The front end does not offer the tool of a call, or the tool does not accept its arguments.
    ImpossibleCall(SendError),
    /// The reply could not be written.
    Send(SendError),
}

impl<F: fmt::Debug> fmt::Display for RelayError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(error) => write!(f, "upstream: {error}"),
            // Only the codes, by `Debug`: the message may contain anything.
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
            // Only calls can be unsupported among the relayed output.
            SendError::Unsupported(_) => Self::ImpossibleCall(error),
            error => Self::Send(error),
        }
    }
}

/// The next event, and the tokens of the answer after it if they changed.
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

    /// Creates a relay with a decoder and an accumulator that have other limits.
    #[must_use]
    pub fn from_parts(decoder: EventDecoder<U>, answer: U::Accumulator) -> Self {
        Self {
            decoder,
            answer,
            reported: Usage::default(),
            is_over: false,
            has_output: false,
            form: Form::Unknown,
            is_native: false,
        }
    }

    /// Returns the next event in `input` and advances `input` past it; `None` if `input` is empty.
    ///
    /// Use it in relays that change events. Everything after the upstream end is ignored, because some servers write
    /// the end twice.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is unusable then.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<&U::Event>, RelayError<U::Failure>> {
        Ok(self.step(input)?.map(|(event, _)| event))
    }

    fn step(&mut self, input: &mut &[u8]) -> Step<'_, U> {
        if self.is_over {
            // `input` must become empty, or a caller that loops until then would never stop.
            *input = &[];
            return Ok(None);
        }
        if !self.is_stream(input)? {
            return Ok(None);
        }
        let Some(event) = self.decoder.next(input)? else {
            return Ok(None);
        };
        // Events that are relayed at once are pushed too: at the end only the accumulator has the calls and the
        // information whether the answer is complete.
        U::push(&mut self.answer, event)?;
        if let Some(failure) = U::failure(event) {
            return Err(failed::<U>(failure));
        }
        self.is_over = U::is_last(event);
        self.has_output = self.has_output || U::is_output(event);
        let usage = U::usage(event, &self.answer);
        #[cfg(feature = "tracing")]
        if let Some(usage) = usage {
            spans::usage(&tracing::Span::current(), usage);
        }
        Ok(Some((event, usage)))
    }

    /// Returns `true` if the server sends a stream, which begins with a comment or one of the four fields of an event.
    /// Otherwise the input is stored, and `finish` reads the error in it.
    pub(super) fn is_stream(&mut self, input: &mut &[u8]) -> Result<bool, RelayError<U::Failure>> {
        if matches!(self.form, Form::Unknown) {
            // White space or a byte order mark.
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
        let first = document.first().or_else(|| input.first());
        let limit = match first {
            Some(b'{') => LONGEST_DOCUMENT,
            _ => LONGEST_PAGE,
        };
        if document.len() + input.len() > limit {
            return Err(RelayError::NoStream);
        }
        document.extend_from_slice(mem::take(input));
        Ok(false)
    }

    /// Returns `true` if the end of the answer was read. The caller need not wait for later bytes, which are ignored:
    /// some servers leave the connection open.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns `true` if output of the model was read. The caller can limit the time until then, which blank lines,
    /// comments and keep-alives do not end.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.has_output
    }

    /// Relays events unchanged into a reply whose output can be created from them.
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

    /// Relays the text, the reasoning and the usage into a reply of any protocol. Of several choices, only the first is
    /// relayed. Usage figures that the server repeats within the stream are totals of that stream and count once; the
    /// totals of several relays into one reply [add up](Reply::usage).
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

    /// Relays the same as [`text`](Self::text) and, in a reply of the same dialect, also data that no other dialect
    /// has: signatures and encrypted contents of reasoning, log probabilities, citations, the work of the server's own
    /// tools, and unknown members.
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
            // After the output, whose usage figures are those of this stream only.
            if let Some(usage) = usage {
                let more = usage.since(self.reported);
                self.reported += more;
                reply.usage(more).await?;
            }
        }
        Ok(())
    }

    /// Ends the reply like the upstream answer: with its calls if there are any, or with the reason why it is not
    /// complete, like [`Reply::cut`].
    ///
    /// # Errors
    ///
    /// The errors of [`finish`](Self::finish); [`RelayError::CutCall`] if the answer was cut off and has calls;
    /// [`RelayError::Arguments`] if the arguments of a call are not a JSON object; [`RelayError::ImpossibleCall`] if
    /// the front end does not offer the tool of a call, or the tool does not accept its arguments. After an error no
    /// call is written.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError<U::Failure>> {
        let is_native = self.is_native;
        end_with::<U, P>(self.finish()?, reply, is_native)
    }

    /// Returns the complete answer after the end of the stream.
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if the answer is not complete. If the server did not send a stream,
    /// [`RelayError::NoStream`] or the error that it sent.
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

/// Ends a reply like a complete answer, whose text was relayed. `is_native` is `true` if events of the same dialect were
/// relayed unchanged.
pub(super) fn end_with<U: Upstream, P: Protocol>(
    answer: U::Answer,
    reply: Reply<P>,
    is_native: bool,
) -> Result<(), RelayError<U::Failure>> {
    let mut calls = U::calls(&answer)?;
    match (U::cut(&answer), calls.is_empty()) {
        (Some(cut), false) => return Err(RelayError::CutCall(cut)),
        // The reason was already relayed with its event.
        (Some(Cut::Other), true) if is_native => return Ok(()),
        (Some(cut), true) => return Ok(reply.cut(cut)?),
        (None, true) => return Ok(()),
        (None, false) => {}
    }
    let (mut ids, mut are_unique) = (HashSet::new(), true);
    for call in &mut calls {
        // The results of calls with equal ids could not be distinguished.
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

/// Converts the failure of a server into an error of the relay.
pub(super) fn failed<U: Upstream>(failure: U::Failure) -> RelayError<U::Failure> {
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
