//! Relaying the stream of another server into a reply.

use std::any::Any;
use std::collections::HashSet;
use std::mem;

use bytes::Bytes;

use super::profile::is_name;
use super::refused::error_of;
use super::{Names, Profile, Prompt as _, RelayError, Upstream};
use crate::agent::Reply;
#[cfg(feature = "tracing")]
use crate::protocol::spans;
use crate::protocol::{
    Citation, Completion, Conversation as _, Cut, Delta, EventDecoder, Framing, Output, Part,
    Protocol, SendError, Tool, Usage,
};
use crate::sse::TooLarge;

/// A relay of another server's events, for example of a model, into a reply.
///
/// Pass the bytes to it as they arrive, and create one relay for each stream. [`pass`](Self::pass) relays the text, the
/// reasoning and the usage into a reply of any protocol, and into a reply of the same dialect also data that only this
/// dialect has, such as the signatures of reasoning. Then call [`end`](Self::end), which makes the calls, or
/// [`finish`](Self::finish), which returns the answer with its calls to an agent that runs them.
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
/// ) -> Result<(), RelayError> {
///     let mut relay = Relay::<U>::new();
///     while let Some(bytes) = upstream.next().await {
///         relay.pass(&bytes, &reply).await?;
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
    pub(super) profile: Profile,
    pub(super) names: Names,
    pub(super) completion: Completion,
    /// The text and the reasoning of the last event.
    said: Said,
    /// The token usage that was reported to the reply.
    reported: Option<Usage>,
    /// `true` once output of the model was read.
    pub(super) has_output: bool,
    pub(super) form: Form,
    /// `true` if events of the same dialect were relayed with everything that only this dialect has.
    pub(super) is_native: bool,
}

/// The text, the reasoning and the citations of an event, in a buffer that all events share.
#[derive(Debug, Default)]
pub(super) struct Said {
    text: String,
    /// The kinds of the pieces, and the ends of their texts.
    pieces: Vec<(Kind, usize)>,
    citations: Vec<Citation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
    /// Text without deltas, which is only in the end of its item or of the answer.
    Rest,
}

impl Said {
    fn push(&mut self, kind: Kind, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.pieces.push((kind, self.text.len()));
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.pieces.clear();
        self.citations.clear();
    }

    fn iter(&self) -> impl Iterator<Item = (Kind, &str)> + Send {
        let mut start = 0;
        self.pieces.iter().map(move |(kind, end)| {
            let start = mem::replace(&mut start, *end);
            (*kind, self.text.get(start..*end).unwrap_or_default())
        })
    }
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

/// The maximum length of a tool's name that every provider accepts.
const NAMES: usize = 64;

/// The maximum size in bytes of a document that is not a JSON object, such as a page with an error.
const LONGEST_PAGE: usize = 64 * 1024;

impl<U: Upstream> Relay<U> {
    /// Creates a relay for one stream.
    pub fn new() -> Self {
        Self {
            decoder: EventDecoder::new(),
            profile: Profile::default(),
            names: Names::default(),
            completion: Completion::without_items(),
            said: Said::default(),
            reported: None,
            has_output: false,
            form: Form::Unknown,
            is_native: false,
        }
    }

    /// Sets the profile of the server.
    #[must_use]
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.profile = profile.clone();
        self.names = Names::default();
        self
    }

    /// Serializes the request for a stream, as the server of the profile wants it.
    pub fn body(&mut self, prompt: &mut U::Request) -> Bytes {
        self.restrict_names(prompt);
        self.prepare(prompt, true)
    }

    /// Limits the names of tools to those that every provider accepts, unless the profile has another limit.
    pub(super) fn restrict_names(&mut self, prompt: &U::Request) {
        let is_odd = |tool: Tool<'_>| !is_name(&tool.name, NAMES);
        if self.profile.tool_names.is_none() && prompt.tools().any(is_odd) {
            self.profile.tool_names = Some(NAMES);
        }
    }

    /// Reads the next event in `input` and advances `input` past it; `None` if `input` is empty. Everything after the
    /// upstream end is ignored, because some servers write the end twice.
    fn step(&mut self, input: &mut &[u8]) -> Result<Option<&U::Event>, RelayError> {
        self.said.clear();
        if self.completion.is_over() {
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
        let said = Some(&mut self.said);
        let (heard, is_output) = hear::<U>(event, &mut self.completion, said, &self.names);
        self.has_output = self.has_output || is_output;
        heard?;
        if let Some(error) = self.completion.error() {
            return Err(error.clone().into());
        }
        Ok(Some(event))
    }

    /// Returns `true` if the server sends a stream, which begins with a comment or one of the four fields of an event.
    /// Otherwise the input is stored, and `finish` reads the error in it.
    pub(super) fn is_stream(&mut self, input: &mut &[u8]) -> Result<bool, RelayError> {
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
        let limit = match document.first().or_else(|| input.first()) {
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
    pub fn is_over(&self) -> bool {
        self.completion.is_over()
    }

    /// Returns `true` if output of the model was read. The caller can limit the time until then, which blank lines,
    /// comments and keep-alives do not end.
    pub fn has_output(&self) -> bool {
        self.has_output
    }

    /// Returns the answer so far.
    pub fn completion(&self) -> &Completion {
        &self.completion
    }

    /// Reads bytes without relaying them, for an agent that needs only the [answer](Self::finish).
    ///
    /// # Errors
    ///
    /// [`RelayError`]. The stream is unusable then.
    pub fn read(&mut self, mut bytes: &[u8]) -> Result<(), RelayError> {
        while self.step(&mut bytes)?.is_some() {
            self.spent();
        }
        Ok(())
    }

    /// Relays the text, the reasoning and the usage into a reply of any protocol. Of several choices, only the first is
    /// relayed. Usage figures that the server repeats within the stream are totals of that stream and count once; the
    /// totals of several relays into one reply [add up](Reply::usage).
    ///
    /// A reply of the same dialect also gets the data that no other dialect has: signatures and encrypted contents of
    /// reasoning, log probabilities, citations, the work of the server's own tools, other choices, and unknown members.
    /// They keep their order; calls of the client's tools follow everything else, because an agent may run them itself.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn pass<P: Protocol>(
        &mut self,
        mut bytes: &[u8],
        reply: &Reply<P>,
    ) -> Result<(), RelayError> {
        let same = (reply as &dyn Any).downcast_ref::<Reply<U>>();
        self.is_native = same.is_some();
        while let Some(event) = self.step(&mut bytes)? {
            let native = same.and_then(|_| U::native(event));
            self.write(native, reply).await?;
        }
        Ok(())
    }

    /// Writes what the last event said: its form in the same dialect, or its text and its reasoning; and then its usage.
    async fn write<P: Protocol>(
        &mut self,
        native: Option<Output<U>>,
        reply: &Reply<P>,
    ) -> Result<(), RelayError> {
        let same = (reply as &dyn Any).downcast_ref::<Reply<U>>();
        if let (Some(same), Some(output)) = (same, native) {
            same.send(output).await?;
        }
        for (kind, text) in self.said.iter() {
            match kind {
                // It was a part of the event.
                Kind::Text | Kind::Reasoning if same.is_some() => {}
                Kind::Text | Kind::Rest => reply.text(text).await?,
                Kind::Reasoning => reply.reasoning(text).await?,
            }
        }
        for mut citation in mem::take(&mut self.said.citations) {
            // It was a part of the event.
            if same.is_none() {
                citation.by_model = true;
                reply.cite(citation).await?;
            }
        }
        // After the output, whose usage figures are those of this stream only.
        if let Some(more) = self.spent() {
            reply.usage(more).await?;
        }
        Ok(())
    }

    /// Returns the tokens that the last event adds to those reported before; `None` if it has none.
    pub(super) fn spent(&mut self) -> Option<Usage> {
        let usage = self.completion.usage()?;
        if self.reported == Some(usage) {
            return None;
        }
        #[cfg(feature = "tracing")]
        spans::usage(&tracing::Span::current(), usage);
        let earlier = self.reported.replace(usage);
        Some(usage.since(earlier.unwrap_or_default()))
    }

    /// Ends the reply like the upstream answer: with its calls if there are any, or with the reason why it is not
    /// complete, like [`Reply::cut`].
    ///
    /// A reply in the dialect of a model makes all calls as the model wrote them, because its client tells the model
    /// what is wrong with a call. Other front ends make only calls of tools that they offer.
    ///
    /// # Errors
    ///
    /// The errors of [`finish`](Self::finish); [`RelayError::CutCall`] if the answer was cut off and has calls;
    /// [`RelayError::Arguments`] if the front end needs the arguments of a call and they are not a JSON object;
    /// [`RelayError::ImpossibleCall`] if the front end does not offer the tool of a call, or the tool does not accept
    /// its arguments. After an error no call is written.
    pub fn end<P: Protocol>(self, reply: Reply<P>) -> Result<(), RelayError> {
        let is_native = self.is_native;
        close(&self.finish()?, is_native, reply)
    }

    /// Returns the complete answer after the end of the stream.
    ///
    /// # Errors
    ///
    /// [`RelayError::Truncated`] if the answer is not complete. If the server did not send a stream,
    /// [`RelayError::NoStream`] or the error that it sent.
    pub fn finish(self) -> Result<Completion, RelayError> {
        if let Form::Document(document) = self.form {
            let error = error_of::<U>(&document);
            return Err(error.map_or(RelayError::NoStream, RelayError::from));
        }
        if !self.completion.is_complete() {
            return Err(RelayError::Truncated);
        }
        self.record();
        Ok(self.completion)
    }

    /// Records the complete answer in the span of the call.
    pub(super) fn record(&self) {
        #[cfg(feature = "tracing")]
        super::contents::record_answer(&self.completion);
    }

    pub(super) fn prepare(&mut self, prompt: &mut U::Request, is_stream: bool) -> Bytes {
        if self.profile == Profile::default() {
            return prompt.body(is_stream);
        }
        // The agent may ask again with the same request.
        let mut prompt = prompt.clone();
        prompt.conform(&self.profile, &mut self.names);
        let body = prompt.body(is_stream);
        drop(prompt);
        self.profile.members(body, U::Request::LIMITS, &self.names)
    }
}

/// Ends a reply like an answer that was relayed into it; see [`Relay::end`].
pub(super) fn close<P: Protocol>(
    answer: &Completion,
    is_native: bool,
    reply: Reply<P>,
) -> Result<(), RelayError> {
    let mut calls = answer.calls();
    match (answer.cut(), calls.is_empty()) {
        (Some(cut), false) => return Err(RelayError::CutCall(cut)),
        // The reason was already relayed with its event.
        (Some(Cut::Other), true) if is_native => return Ok(()),
        (Some(cut), true) => return Ok(reply.cut(cut)?),
        (None, true) => return Ok(()),
        (None, false) => {}
    }
    let mut ids = HashSet::new();
    for call in &mut calls {
        // The results of calls with equal ids could not be distinguished.
        call.id.take_if(|id| !ids.insert(id.clone()));
        if !is_native {
            call.by_model = Some(crate::json::Members::new());
        }
    }
    reply.calls(&calls).map_err(|error| match error {
        SendError::Invalid(_) | SendError::Unsupported(_) => match answer.check_arguments() {
            Err(error) => RelayError::Arguments(error),
            Ok(()) => RelayError::ImpossibleCall(error),
        },
        error => error.into(),
    })
}

/// Adds an event to the answer, and its text and reasoning to `said`. After [`TooLarge`] the answer is not complete, but
/// has the end and the error of the stream. Also returns `true` if the event has output of the model, unlike a keep-alive
/// or the announcement of an answer.
pub(super) fn hear<U: Upstream>(
    event: &U::Event,
    completion: &mut Completion,
    mut said: Option<&mut Said>,
    names: &Names,
) -> (Result<(), TooLarge>, bool) {
    let (mut result, mut is_output) = (Ok(()), false);
    U::deltas(event, &mut |delta| {
        let restored = names.restored(&delta);
        let delta = restored.as_ref().unwrap_or(&delta);
        let piece = match delta {
            Delta::Text(text) => Some((Kind::Text, *text)),
            Delta::ItemText(_) | Delta::WholeText(_) => Some((Kind::Rest, completion.rest(delta))),
            Delta::Part(Part::Reasoning(text)) => Some((Kind::Reasoning, *text)),
            _ => None,
        };
        is_output |= match piece {
            Some((_, text)) => !text.is_empty(),
            None => !matches!(
                delta,
                Delta::Model(_) | Delta::Item(_) | Delta::Native(_) | Delta::Part(Part::Usage(_))
            ),
        };
        if let (Some(said), Some((kind, text))) = (&mut said, piece) {
            said.push(kind, text);
        }
        if let (Some(said), Delta::Part(Part::Cite(citation))) = (&mut said, delta) {
            said.citations.push((*citation).clone());
        }
        let pushed = completion.push(delta);
        result = result.and(pushed);
    });
    (result, is_output)
}

impl<U: Upstream> Default for Relay<U> {
    fn default() -> Self {
        Self::new()
    }
}
