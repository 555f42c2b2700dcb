//! A request of the client and the progress of its answer.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use http::{Request, Response, StatusCode};

use super::head::Head;
use crate::agent::Body;
use crate::conversations::ConnectionTurns;
use crate::protocol::{Payloads, Refusal};
use crate::router::subprotocol::{Ask, EventMessage, Exchange, Subprotocol};
use crate::router::version::Version;

/// The maximum size in bytes of a response that is not a stream.
const DOCUMENT: usize = 1 << 20;

/// The size of the blocks from which written messages are split.
const BLOCK: usize = 4096;

/// The bytes that a subprotocol is expected to add to the data of an event.
const ENVELOPE: usize = 256;

/// A request of the client while it waits or is answered.
pub(super) struct Live {
    pub(super) exchange: Exchange,
    /// `true` if the client gets no messages of the answer.
    pub(super) silent: bool,
    pub(super) standing: Standing,
    state: State,
}

enum State {
    /// The request waits for another one in its lane.
    Waiting(Ask),
    Asking(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
    Streaming(Body, Payloads),
    /// Collects a response that is not a stream.
    Reading(Box<Parts>, Body, Vec<u8>),
    Ended,
}

/// What the answer to a request says about later requests on the connection.
#[derive(Clone, Copy)]
pub(super) enum Standing {
    /// Nothing.
    Open,
    /// The request was accepted.
    Accepted,
    /// The guards do not know the caller.
    UnknownCaller,
    /// The host or the origin is not allowed.
    OtherPage,
}

/// The next message of an exchange.
pub(super) enum Next {
    Message(Bytes),
    /// The exchange has ended.
    End,
}

impl Live {
    pub(super) fn new(mut ask: Ask, silent: bool) -> Self {
        Self {
            exchange: Exchange {
                method: ask.method.clone(),
                headers: ask.headers.clone(),
                id: std::mem::take(&mut ask.id),
                lane: std::mem::take(&mut ask.lane),
                context: std::mem::take(&mut ask.context),
                events: 0,
            },
            silent,
            standing: Standing::Open,
            state: State::Waiting(ask),
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting(_))
    }

    /// Returns `true` if the last message of the answer was returned.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Returns `true` if the exchange has this id. A silent exchange has none.
    pub(super) fn is_named(&self, id: &str) -> bool {
        !self.silent && *self.exchange.id == *id
    }

    /// Returns the size of the request's body while the request waits; otherwise 0.
    pub(super) fn waiting_bytes(&self) -> usize {
        match &self.state {
            State::Waiting(ask) => ask.body.len(),
            _ => 0,
        }
    }

    /// Sends the request to the router.
    pub(super) fn start(
        &mut self,
        router: Arc<Version>,
        head: &Head,
        turns: ConnectionTurns,
        subprotocol: &dyn Subprotocol,
    ) {
        let State::Waiting(ask) = std::mem::replace(&mut self.state, State::Ended) else {
            return;
        };
        let mut refuse = |refusal| {
            let refused = subprotocol.refuse(&refusal).map(Body::full);
            self.state = State::Asking(Box::pin(ready(refused)));
        };
        let Some(mut parts) = head.request(ask.method, &ask.path, &ask.headers) else {
            let message = "the address of the request is too long";
            return refuse(Refusal::new(StatusCode::URI_TOO_LONG, message));
        };
        // The router may have been replaced since the handshake.
        if let Err(refusal) = router.settings.check_origin(&parts.headers) {
            refuse(refusal);
            self.standing = Standing::OtherPage;
            return;
        }
        parts.extensions.extend(ask.extensions);
        parts.extensions.insert(turns);
        let request = Request::from_parts(parts, Once(Some(ask.body)));
        self.state = State::Asking(Box::pin(async move { router.handle(request).await }));
    }

    /// Returns the next message.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        subprotocol: &mut dyn Subprotocol,
        out: &mut BytesMut,
    ) -> Poll<Next> {
        loop {
            match &mut self.state {
                State::Waiting(_) => return Poll::Pending,
                State::Asking(asking) => {
                    let (head, body) = ready!(asking.as_mut().poll(cx)).into_parts();
                    // The failure of an agent is no refusal.
                    let is_refusal = head.extensions.get::<Refusal>().is_some();
                    self.standing = match head.status.as_u16() {
                        200..300 => Standing::Accepted,
                        401 if is_refusal => Standing::UnknownCaller,
                        421 if is_refusal => Standing::OtherPage,
                        _ => self.standing,
                    };
                    let framing = subprotocol.framing();
                    let is_stream = head.headers.get(CONTENT_TYPE).is_some_and(|it| {
                        it.as_bytes().starts_with(framing.content_type().as_bytes())
                    });
                    if !(is_stream && head.status.is_success()) {
                        self.state = State::Reading(Box::new(head), body, Vec::new());
                        continue;
                    }
                    self.state = State::Streaming(body, Payloads::new(framing));
                    subprotocol.begin(&self.exchange, out);
                    if let Some(message) = self.written(out) {
                        return Poll::Ready(Next::Message(message));
                    }
                }
                State::Streaming(body, payloads) => {
                    let message = event_message(payloads, &mut self.exchange, subprotocol, out);
                    if let Some(message) = message {
                        return Poll::Ready(Next::Message(message));
                    }
                    if let Some(Ok(frame)) = ready!(Pin::new(body).poll_next(cx)) {
                        payloads.push(frame);
                        continue;
                    }
                    self.state = State::Ended;
                    subprotocol.end(&self.exchange, out);
                    if let Some(message) = self.written(out) {
                        return Poll::Ready(Next::Message(message));
                    }
                }
                State::Reading(_, body, document) => {
                    if let Some(Ok(frame)) = ready!(Pin::new(body).poll_next(cx)) {
                        let room = DOCUMENT.saturating_sub(document.len());
                        document.extend_from_slice(frame.get(..room).unwrap_or(&frame));
                        continue;
                    }
                    let state = std::mem::replace(&mut self.state, State::Ended);
                    let State::Reading(head, _, document) = state else {
                        continue;
                    };
                    let response = Response::from_parts(*head, document.into());
                    subprotocol.document(Some(&self.exchange), response, out);
                    if let Some(message) = self.written(out) {
                        return Poll::Ready(Next::Message(message));
                    }
                }
                State::Ended => return Poll::Ready(Next::End),
            }
        }
    }

    /// Returns the next message that is available without another frame of the body.
    pub(super) fn waiting(
        &mut self,
        subprotocol: &mut dyn Subprotocol,
        out: &mut BytesMut,
    ) -> Option<Bytes> {
        match &mut self.state {
            State::Streaming(_, payloads) => {
                event_message(payloads, &mut self.exchange, subprotocol, out)
            }
            _ => None,
        }
    }

    /// Returns the message that the subprotocol has written; `None` if it is empty or the exchange is silent.
    fn written(&self, out: &mut BytesMut) -> Option<Bytes> {
        let message = out.split().freeze();
        (!message.is_empty() && !self.silent).then_some(message)
    }
}

/// Returns the message for the next event of the current frame.
fn event_message(
    payloads: &mut Payloads,
    exchange: &mut Exchange,
    subprotocol: &mut dyn Subprotocol,
    out: &mut BytesMut,
) -> Option<Bytes> {
    while let Some(data) = payloads.next() {
        let room = data.len() + ENVELOPE;
        if out.capacity() < room {
            out.reserve(BLOCK.max(room));
        }
        let message = match subprotocol.event(exchange, &data, out) {
            EventMessage::None => continue,
            EventMessage::Data => data,
            EventMessage::Written => out.split().freeze(),
        };
        exchange.events += 1;
        return Some(message);
    }
    None
}

/// A body of one chunk.
struct Once(Option<Bytes>);

impl Stream for Once {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}
