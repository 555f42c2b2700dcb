//! The messages of one protocol on a WebSocket.

use std::sync::Arc;

use std::any::Any;
use std::fmt;

use bytes::{Bytes, BytesMut};
use http::header::HeaderName;
use http::{Extensions, HeaderMap, HeaderValue, Method, Response};

use crate::json::Json;
use crate::protocol::{Framing, Refusal};

/// A function that creates the subprotocol of a connection.
pub(super) type Factory = Arc<dyn Fn() -> Box<dyn Subprotocol> + Send + Sync>;

/// The messages of one protocol on one WebSocket, with the state of the connection.
///
/// It converts messages of the client into requests, which the router answers like `POST` requests, and the events of
/// the answers into messages. A mount adds it with [`Site::socket`](crate::router::Site::socket).
pub trait Subprotocol: Send {
    /// Returns the framing of the streams with which the router answers. [`Framing::Sse`] by default.
    fn framing(&self) -> Framing {
        Framing::Sse
    }

    /// Returns `true` if messages contain the headers that guards check. Guards then check every message, and not the
    /// handshake, which lacks these headers. By default they check both.
    fn has_headers(&self) -> bool {
        false
    }

    /// Parses a message of the client, which may be any JSON value.
    fn read(&mut self, message: &Json) -> Action;

    /// Writes a message before the events of a stream. Writes nothing by default.
    fn begin(&mut self, exchange: &Exchange, out: &mut BytesMut) {
        let _ = (exchange, out);
    }

    /// Writes the message for the next event of a stream, or returns that the data of the event is the message.
    fn event(&mut self, exchange: &Exchange, data: &[u8], out: &mut BytesMut) -> EventMessage;

    /// Writes a message after the events of a stream. Writes nothing by default.
    fn end(&mut self, exchange: &Exchange, out: &mut BytesMut) {
        let _ = (exchange, out);
    }

    /// Writes the message for a response that is not a stream: a refused request, or a turn that failed before its
    /// first output. `exchange` is `None` if the client's message was not a request; if nothing is written then, the
    /// connection is closed.
    fn document(
        &mut self,
        exchange: Option<&Exchange>,
        response: Response<Bytes>,
        out: &mut BytesMut,
    );

    /// Returns the response that refuses a request.
    fn refuse(&self, refusal: &Refusal) -> Response<Bytes>;

    /// Returns a request that stops an exchange beyond this connection: its reply may be [stored](crate#features) and
    /// would continue without a reader. `None` by default.
    fn stop(&self, exchange: &Exchange) -> Option<Ask> {
        let _ = exchange;
        None
    }
}

/// The message for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no other way")]
pub enum EventMessage {
    /// No message.
    None,
    /// The data of the event, without a copy.
    Data,
    /// The bytes that were written.
    Written,
}

/// The meaning of a message of the client.
#[derive(Debug)]
#[non_exhaustive]
pub enum Action {
    /// Sends a request to the router.
    Ask(Ask),
    /// Stops the exchange with this id, if there is one.
    Stop(Box<str>),
    /// Answers that the message is refused. The request is that of which it would have been a part.
    Refuse(Option<Ask>, Refusal),
}

/// A request to the router, below the path of the socket.
///
/// Its head has the headers of the handshake, except those that concern only the connection.
#[must_use]
pub struct Ask {
    pub(super) method: Method,
    /// The path after the path of the socket.
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) extensions: Extensions,
    pub(super) body: Bytes,
    pub(super) id: Box<str>,
    pub(super) lane: Box<str>,
    pub(super) context: Box<str>,
    pub(super) waits: bool,
}

impl Ask {
    /// Creates a `POST` request to the path of the socket.
    pub fn post(body: impl Into<Bytes>) -> Self {
        Self {
            method: Method::POST,
            path: String::new(),
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            body: body.into(),
            id: Box::default(),
            lane: Box::default(),
            context: Box::default(),
            waits: true,
        }
    }

    /// Creates a `GET` request to the path of the socket.
    pub fn get() -> Self {
        Self {
            method: Method::GET,
            ..Self::post("")
        }
    }

    /// Sets the path below the path of the socket, such as `/chat-1/stream`. See
    /// [`escape_segment`](crate::router::escape_segment).
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets a header from the message. A header of the handshake with the same name takes precedence, because a proxy
    /// may have checked or set it.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Adds an extension to the request, for guards and the endpoint.
    pub fn extension<T: Clone + Send + Sync + Any>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Sets the id that the client has given to the exchange. If another exchange has the same id, the request is
    /// refused.
    pub fn id(mut self, id: impl Into<Box<str>>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the lane. The exchanges of one lane are answered one after the other, different lanes in parallel. By
    /// default all exchanges are in one lane.
    pub fn lane(mut self, lane: impl Into<Box<str>>) -> Self {
        self.lane = lane.into();
        self
    }

    /// Sets a text that the subprotocol can read in the [`Exchange`].
    pub fn context(mut self, context: impl Into<Box<str>>) -> Self {
        self.context = context.into();
        self
    }

    /// Refuses the request if its lane has another one, instead of letting it wait.
    pub fn or_refuse(mut self) -> Self {
        self.waits = false;
        self
    }
}

/// Shows the method and the names of the headers; other parts may be secret.
impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.keys().collect();
        f.debug_struct("Ask")
            .field("method", &self.method)
            .field("headers", &headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}

/// A request of the client and its answer.
pub struct Exchange {
    pub(super) method: Method,
    /// The headers from the message, which are also those of the request that [stops](Subprotocol::stop) the exchange.
    pub(super) headers: HeaderMap,
    pub(super) id: Box<str>,
    pub(super) lane: Box<str>,
    pub(super) context: Box<str>,
    pub(super) events: u64,
}

impl Exchange {
    /// Returns the method of the request.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the [id](Ask::id).
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the [lane](Ask::lane).
    pub fn lane(&self) -> &str {
        &self.lane
    }

    /// Returns the [context](Ask::context).
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Returns the number of events that have been converted into messages so far.
    pub fn events(&self) -> u64 {
        self.events
    }
}

opaque_debug!(Exchange);
