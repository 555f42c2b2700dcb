//! Passing on the answer of another server.

use std::any::Any;
use std::mem;

use bytes::Bytes;
use http::HeaderMap;
use http::header::RETRY_AFTER;

use super::rate_limit::is_rate_limit;
use super::refused::error_of;
use super::relay::{Form, hear};
use super::{Profile, Relay, RelayError, Upstream};
use crate::agent::{Reply, Request};
use crate::json::Json;
use crate::protocol::{Blocks as _, Completion, EventDecoder, FrameKind, Protocol};

/// The maximum size in bytes of a frame, and of a document: the results of tools that a provider runs are large.
const LIMIT: usize = 32 * 1024 * 1024;

/// A reply that is the answer of a model's server and nothing else, as a gateway sends it.
///
/// Where front end and server speak the same dialect, the answer is passed on as it came: ids, numbers, order, and
/// events of a type that this crate does not know. Only the framing, keep-alives and `[DONE]` are those of this
/// server. An error of the server is never passed on: a failed or interrupted stream ends as the dialect reports a
/// failure. A front end that wants no stream gets the document of the server, or one that says what its stream says.
///
/// Otherwise, and for turns that were begun already, the answer is relayed like [`Relay::pass`].
///
/// ```
/// # use bytes::Bytes;
/// # use copilot_wire::models::{Dialect, Passthrough, Profile, Upstream};
/// # use copilot_wire::protocol::{AgentError, Protocol};
/// # use copilot_wire::{Reply, Request};
/// # use futures::{Stream, StreamExt};
/// async fn answer<U: Upstream, P: Protocol, S: Stream<Item = Bytes> + Unpin>(
///     request: Request<P>,
///     reply: Reply<P>,
///     post: impl AsyncFn(Bytes) -> Result<S, AgentError>,
/// ) -> Result<(), AgentError> {
///     let profile = Profile::of("api.mistral.ai", None);
///     let mut passthrough = Passthrough::<U, P>::new(&request, reply).profile(&profile);
///     let mut prompt = profile.ask::<U, P>(&request);
///     *U::model(&mut prompt) = "claude-sonnet-4-5".to_owned();
///     let mut answer = post(passthrough.body(&mut prompt)).await?;
///     while let Some(bytes) = answer.next().await {
///         passthrough.write(&bytes).await?;
///     }
///     Ok(passthrough.end().await?)
/// }
/// ```
///
/// # Cancel safety
///
/// If a future of a passthrough is dropped before it is complete, the part that was not sent yet is lost: drop the
/// passthrough too.
pub struct Passthrough<U: Upstream, P: Protocol> {
    /// Of kilobytes, which each future that owns the passthrough would have in it.
    relay: Box<Relay<U>>,
    reply: Reply<P>,
    /// `true` if the answer is passed on as it came.
    is_same: bool,
    /// `true` if the front end wants a stream.
    is_stream: bool,
    /// `false` once the answer exceeds the limit of the completion, which is for reports only.
    is_heard: bool,
    /// The memory of the current frame.
    frame: Vec<u8>,
}

impl<U: Upstream, P: Protocol> Passthrough<U, P> {
    /// Creates a passthrough into a reply to which nothing was written. Create it before the first `.await` of the
    /// agent: after a keep-alive the reply has begun.
    pub fn new(request: &Request<P>, reply: Reply<P>) -> Self {
        let same = (&reply as &dyn Any).downcast_ref::<Reply<U>>();
        let is_same = same.is_some_and(|same| same.channel.begin_passthrough());
        let mut relay = Box::new(Relay::new());
        if is_same {
            relay.decoder = EventDecoder::new().limit(LIMIT);
        }
        let is_stream = (P::EXTRAS.is_stream)(request);
        if is_same && !is_stream {
            // The server may send a stream all the same.
            relay.completion = Completion::new().limit(LIMIT);
        }
        Self {
            relay,
            is_same,
            is_stream,
            is_heard: true,
            frame: Vec::new(),
            reply,
        }
    }

    /// Sets the profile of the server.
    #[must_use]
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.relay = Box::new(self.relay.profile(profile));
        self
    }

    /// Serializes the request to the server, as its profile demands: for a document if one is passed on or the server
    /// has no streams, otherwise for a stream.
    pub fn body(&mut self, prompt: &mut U::Request) -> Bytes {
        let is_stream = !self.wants_document();
        if !self.is_same {
            self.relay.restrict_names(prompt);
        }
        self.relay.prepare(prompt, is_stream)
    }

    /// Passes on what the headers of the server's response say about its rate limits, and `retry-after`.
    pub fn headers(&self, headers: &HeaderMap) {
        for (name, value) in headers {
            if is_rate_limit(name) || name == RETRY_AFTER {
                self.reply.header(name.clone(), value.clone());
            }
        }
    }

    /// Returns `true` if the server is asked for a document. It is sent in one piece when the answer is complete, so
    /// only the time of the whole answer can be limited.
    pub fn wants_document(&self) -> bool {
        self.passes_document() || self.relay.profile.no_stream
    }

    /// Returns `true` if a document is passed on as it came.
    fn passes_document(&self) -> bool {
        self.is_same && !self.is_stream
    }

    /// Returns `true` if the end of the answer was read. The caller need not wait for later bytes, which are ignored.
    pub fn is_over(&self) -> bool {
        self.relay.is_over()
    }

    /// Returns `true` if output of the model was read, see [`Relay::has_output`], or if a document is awaited, which comes
    /// as a whole.
    pub fn has_output(&self) -> bool {
        let is_stream = matches!(self.relay.form, Form::Stream);
        self.relay.has_output() || self.wants_document() && !is_stream
    }

    /// Writes the next bytes of the answer, in pieces of any size.
    ///
    /// # Errors
    ///
    /// [`RelayError`]. Return it from the agent, so that the reply fails.
    pub async fn write(&mut self, mut bytes: &[u8]) -> Result<(), RelayError> {
        let same = (&self.reply as &dyn Any).downcast_ref::<Reply<U>>();
        let Some(same) = same.filter(|_| self.is_same && self.is_stream) else {
            return match self.passes_document() {
                true => self.relay.read(bytes),
                false => self.relay.pass(bytes, &self.reply).await,
            };
        };
        if !self.relay.is_stream(&mut bytes)? {
            return Ok(());
        }
        let relay = &mut self.relay;
        while !relay.is_over() {
            self.frame.clear();
            let frame = &mut self.frame;
            let Some((event, frames)) = relay.decoder.next_with_frame(&mut bytes, frame)? else {
                break;
            };
            relay.names.restore(frame);
            if let Some(event) = event {
                let (heard, _) = hear::<U>(event, &mut relay.completion, None, &relay.names);
                self.is_heard = self.is_heard && heard.is_ok();
                if let Some(error) = relay.completion.error() {
                    return Err(error.clone().into());
                }
            }
            // What is not understood is output.
            let follow = |session: &mut _| {
                event.map_or(FrameKind::Output, |event| U::follow(session, event))
            };
            if relay.completion.is_over() {
                if self.is_heard && !relay.completion.is_complete() {
                    return Err(RelayError::Truncated);
                }
                same.channel.end_pass(frame, follow)?;
            } else {
                let kind = same.channel.pass((frame, frames), follow).await?;
                relay.has_output = relay.has_output || kind == FrameKind::Output;
            }
            if let Some(more) = relay.spent() {
                same.channel.spend(more);
            }
        }
        if relay.is_over() && self.is_heard {
            relay.record();
        }
        Ok(())
    }

    /// Ends the reply like the answer of the server.
    ///
    /// # Errors
    ///
    /// The errors of [`Relay::end`].
    pub async fn end(mut self) -> Result<(), RelayError> {
        if let Form::Document(document) = &mut self.relay.form {
            let document = mem::take(document);
            return self.end_document(&document).await;
        }
        let same = (&self.reply as &dyn Any).downcast_ref::<Reply<U>>();
        let Some(same) = same.filter(|_| self.is_same) else {
            return self.relay.end(self.reply);
        };
        if !self.is_stream {
            let names = mem::take(&mut self.relay.names);
            let answer = self.relay.finish()?;
            if let Some(usage) = answer.usage() {
                same.channel.spend(usage);
            }
            let mut document = Vec::new();
            U::Blocks::document(answer, &mut document);
            names.restore(&mut document);
            return Ok(same.channel.pass_document(&document)?);
        }
        if !self.relay.is_over() {
            // Complete without the last event, or an error.
            self.relay.finish()?;
            same.channel.end_pass(b"", |_| FrameKind::Dropped)?;
        }
        Ok(())
    }

    /// Passes on a document, or relays it if a stream is wanted or the dialects differ.
    async fn end_document(mut self, document: &[u8]) -> Result<(), RelayError> {
        let text = document.strip_prefix(b"\xef\xbb\xbf");
        let document = text.unwrap_or(document).trim_ascii();
        let json = Json::parse(document.to_vec()).map_err(|_| RelayError::NoStream)?;
        if let Some(error) = error_of::<U>(document) {
            return Err(error.into());
        }
        let events = U::document(&json).ok_or(RelayError::NoStream)?;
        self.relay.completion = Completion::without_items();
        let same = (&self.reply as &dyn Any).downcast_ref::<Reply<U>>();
        let Some(same) = same.filter(|_| self.passes_document()) else {
            self.relay.form = Form::Stream;
            self.relay.decoder.events.extend(events);
            self.relay.pass(b"", &self.reply).await?;
            return self.relay.end(self.reply);
        };
        for event in &events {
            let relay = &mut self.relay;
            let (heard, _) = hear::<U>(event, &mut relay.completion, None, &relay.names);
            self.is_heard = self.is_heard && heard.is_ok();
        }
        if let Some(error) = self.relay.completion.error() {
            return Err(error.clone().into());
        }
        if self.is_heard {
            self.relay.record();
        }
        if let Some(more) = self.relay.spent() {
            same.channel.spend(more);
        }
        let mut document = document.to_vec();
        self.relay.names.restore(&mut document);
        Ok(same.channel.pass_document(&document)?)
    }
}

opaque_debug!(impl[U: Upstream, P: Protocol] Passthrough for Passthrough<U, P>);
