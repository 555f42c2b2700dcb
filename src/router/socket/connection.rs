//! One connection, without I/O.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::{HeaderValue, StatusCode};

use super::head::Head;
use super::live::{Live, Next, Standing};
use crate::agent::Running;
use crate::conversations::Connection;
use crate::json::Json;
use crate::protocol::{Refusal, Ticks};
use crate::router::Router;
use crate::router::settings::Settings;
use crate::router::subprotocol::{Action, Ask, Subprotocol};

/// The maximum number of requests of one connection that are answered at the same time.
const RUNNING: usize = 16;

/// The maximum number of requests of one connection that wait.
const WAITING: usize = 16;

/// The maximum number of waiting messages that refuse other messages.
const NOTICES: usize = 64;

/// The period of pings.
const PING: Duration = Duration::from_secs(30);

/// The number of pings without a sign of life after which the connection is closed.
const UNANSWERED: u8 = 3;

/// A message of a WebSocket.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocketMessage {
    /// A text, in UTF-8.
    Text(Bytes),
    /// Binary data. No protocol of this crate uses it.
    Binary,
    /// A ping. It is sent without data.
    Ping,
    /// A pong, or any other sign that the client is alive.
    Pong,
    /// A message that exceeds the [limit](Socket::limit); the server has not read all of it.
    TooLarge,
    /// The end of the connection (RFC 6455, section 7.4). The reason has at most 123 bytes.
    Close {
        /// The code.
        code: u16,
        /// The reason, for humans.
        reason: &'static str,
    },
}

/// One WebSocket connection without I/O: it receives messages of the client and is a stream of messages for the client.
///
/// A server passes every message of the client to [`receive`](Self::receive) and sends what the stream returns:
///
/// ```
/// use copilot_wire::router::socket::{SocketMessage, Socket};
/// use futures::future::{Either, select};
/// use futures::{Sink, SinkExt, Stream, StreamExt};
///
/// async fn run<W, E>(mut socket: Socket, mut web_socket: W) -> Result<(), E>
/// where
///     W: Stream<Item = Result<SocketMessage, E>> + Sink<SocketMessage, Error = E> + Unpin,
/// {
///     loop {
///         // Messages of the client first: an agent that is always ready must not keep it from stopping the turn.
///         match select(web_socket.next(), socket.next()).await {
///             Either::Left((Some(message), _)) => socket.receive(message?),
///             Either::Right((Some(message), _)) => {
///                 web_socket.feed(message).await?;
///                 while let Some(message) = socket.waiting() {
///                     web_socket.feed(message).await?;
///                 }
///                 web_socket.flush().await?;
///             }
///             _ => return Ok(()),
///         }
///     }
/// }
/// ```
///
/// Polling the stream runs the agents, like polling a [`Body`](crate::Body). While it is not polled, because the client
/// does not read, the agents wait as soon as their buffers are full. Dropping the socket drops the agents.
///
/// Turns begin and end like those of `POST` requests: each is a request to the router as it is then, which may have
/// been [replaced](Router::replace) since the handshake. If the guards do not know the caller any more (status 401), or
/// its host or origin is no longer allowed, the request is refused, the running turns end, and the connection is closed
/// with code 1008; if messages contain the headers that guards check, only unless a later one is accepted. A shutdown
/// by [`Router::drain`] lets running turns end, and then closes the connection with code 1001.
///
/// # Limits
///
/// A message that is larger than the [limit of a body](Router::body_limit) is refused with code 1009. Sixteen requests
/// are answered at a time and as many may wait; the waiting ones together may not exceed the limit of a body, and count
/// in the [budget](Router::body_budget) of all bodies. Further requests are refused in the format of the protocol. A
/// connection is closed if the client does not answer three pings, 30 seconds apart, and a connection whose handshake
/// no guard has checked is closed if no request is accepted within this time, at first or after one of an unknown
/// caller.
///
/// While a server waits for a client that does not read, it does not poll the stream. So the server must have a timeout
/// for sending, as the servers in the guide have.
///
/// # Cancel safety
///
/// If a future that waits for the next message is dropped, no message is lost.
pub struct Socket(Box<Inner>);

struct Inner {
    router: Router,
    head: Head,
    subprotocol: Box<dyn Subprotocol>,
    /// The entry of this connection among the requests that a shutdown waits for.
    running: Running,
    /// The turns that later turns of this connection can continue.
    connection: Arc<Connection>,
    /// The requests that are answered or wait, in the order of arrival.
    live: Vec<Live>,
    /// The index in `live` of the exchange that returned the last message.
    last: usize,
    /// Refusals of messages, which belong to no exchange.
    notices: VecDeque<Bytes>,
    /// The block from which written messages are split.
    out: BytesMut,
    ticks: Option<Ticks>,
    /// The number of pings since the last sign of the client.
    pings: u8,
    /// The number of pings since the handshake, or since the caller of an accepted request became unknown.
    age: u8,
    /// `true` once a request was accepted, or if guards have checked the handshake.
    is_accepted: bool,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    Open,
    /// The client is not welcome any more. Its running exchanges end, and then the connection is closed.
    Leaving,
    Closing(u16, &'static str),
    Closed,
}

impl Socket {
    pub(super) fn new(
        router: Router,
        settings: &Settings,
        head: Head,
        subprotocol: Box<dyn Subprotocol>,
        running: Running,
    ) -> Self {
        let connection = Connection::new(&settings.connections);
        let is_accepted = !subprotocol.has_headers();
        Self(Box::new(Inner {
            router,
            head,
            subprotocol,
            running,
            connection,
            live: Vec::new(),
            last: 0,
            notices: VecDeque::new(),
            out: BytesMut::new(),
            ticks: settings.env.ticks(PING),
            pings: 0,
            age: 0,
            is_accepted,
            state: State::Open,
        }))
    }

    /// Returns the subprotocol for the response to the handshake: the first one that the client offers, because a
    /// client that offers any requires that one is selected.
    pub fn subprotocol(&self) -> Option<&HeaderValue> {
        self.0.head.subprotocol.as_ref()
    }

    /// Returns the maximum size of a message of the client in bytes.
    pub fn limit(&self) -> usize {
        self.0.limit()
    }

    /// Processes a message of the client. Poll the stream afterwards.
    pub fn receive(&mut self, message: SocketMessage) {
        let inner = &mut *self.0;
        inner.pings = 0;
        match message {
            SocketMessage::Close { .. } => {
                inner.live.clear();
                inner.state = State::Closed;
            }
            _ if !matches!(inner.state, State::Open) => {}
            SocketMessage::Text(text) if text.len() <= inner.limit() => inner.read(text),
            SocketMessage::Text(_) | SocketMessage::TooLarge => {
                inner.close(1009, "message too large");
            }
            SocketMessage::Binary => {
                let message = "binary messages are not supported";
                inner.refuse(None, &Refusal::new(StatusCode::BAD_REQUEST, message));
            }
            SocketMessage::Ping | SocketMessage::Pong => {}
        }
    }

    /// Returns the next message that is ready, without running an agent. Such messages can be sent together with the
    /// last message of the stream.
    pub fn waiting(&mut self) -> Option<SocketMessage> {
        let inner = &mut *self.0;
        // A connection that is not open has no exchanges.
        let live = inner.live.get_mut(inner.last)?;
        let message = live.waiting(&mut *inner.subprotocol, &mut inner.out)?;
        Some(SocketMessage::Text(message))
    }
}

impl Inner {
    fn limit(&self) -> usize {
        self.router.version().settings.limits.size
    }

    fn read(&mut self, text: Bytes) {
        match Json::parse(text) {
            Ok(message) => match self.subprotocol.read(&message) {
                Action::Ask(ask) => self.ask(ask),
                Action::Stop(id) => self.stop(&id),
                Action::Refuse(ask, refusal) => self.refuse(ask, &refusal),
            },
            Err(error) => self.refuse(None, &error.into()),
        }
    }

    fn ask(&mut self, mut ask: Ask) {
        // The client could not tell the answers to two exchanges with one id apart.
        let has_id = |live: &Live| !ask.id.is_empty() && live.exchange.id == ask.id;
        let has_lane = |live: &Live| !ask.waits && live.exchange.lane == ask.lane;
        // For the client, an exchange whose last message was returned is over.
        let mut live = self.live.iter().filter(|it| !it.silent && !it.is_over());
        let is_busy = live.any(|live| has_id(live) || has_lane(live));
        let bytes: usize = self.live.iter().map(Live::waiting_bytes).sum();
        let refusal = if is_busy {
            let message = "the last message is still being answered";
            Refusal::new(StatusCode::CONFLICT, message)
        } else if self.live.len() >= RUNNING + WAITING
            || bytes.saturating_add(ask.body.len()) > self.limit()
        {
            let message = "too many requests wait on this connection";
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, message)
        } else {
            let router = Arc::clone(&self.router.version().settings);
            match router.limits.budget.count(std::mem::take(&mut ask.body)) {
                Ok(body) => {
                    ask.body = body;
                    self.live.push(Live::new(ask, false));
                    return;
                }
                Err(refusal) => refusal,
            }
        };
        self.refuse(Some(ask), &refusal);
    }

    /// Refuses a message. Closes the connection if the protocol has no message for that.
    fn refuse(&mut self, ask: Option<Ask>, refusal: &Refusal) {
        let response = self.subprotocol.refuse(refusal);
        let live = ask.map(|ask| Live::new(ask, false));
        let exchange = live.as_ref().map(|live| &live.exchange);
        self.subprotocol.document(exchange, response, &mut self.out);
        let notice = self.out.split().freeze();
        if notice.is_empty() {
            self.close(1008, "invalid message");
        } else if self.notices.len() >= NOTICES {
            self.close(1008, "too many messages were refused");
        } else {
            self.notices.push_back(notice);
        }
    }

    fn stop(&mut self, id: &str) {
        let mut live = self.live.iter();
        let Some(at) = live.position(|live| live.is_named(id)) else {
            return;
        };
        let stopped = self.live.remove(at);
        let stop = self.subprotocol.stop(&stopped.exchange);
        // The agent here is dropped before the request is sent that stops the exchange elsewhere.
        let headers = stopped.exchange.headers.clone();
        drop(stopped);
        if let Some(mut stop) = stop {
            stop.headers = headers;
            self.live.push(Live::new(stop, true));
        }
    }

    /// Closes the connection and discards all other messages.
    fn close(&mut self, code: u16, reason: &'static str) {
        self.live.clear();
        self.notices.clear();
        self.state = State::Closing(code, reason);
    }

    /// Starts the waiting requests whose lane is free.
    fn start(&mut self) {
        let mut running = self.live.iter().filter(|live| !live.is_waiting()).count();
        let mut at = 0;
        while running < RUNNING && at < self.live.len() {
            let (before, rest) = self.live.split_at_mut(at);
            if let Some(live) = rest.first_mut().filter(|live| live.is_waiting()) {
                let lane = &live.exchange.lane;
                if before.iter().all(|before| before.exchange.lane != *lane) {
                    let turns = self.connection.turns();
                    live.start(self.router.version(), &self.head, turns, &*self.subprotocol);
                    running += 1;
                }
            }
            at += 1;
        }
    }

    /// Returns the next message of an exchange; `None` if the exchange has ended and was removed.
    fn poll_live(&mut self, at: usize, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(live) = self.live.get_mut(at) else {
            return Poll::Ready(None);
        };
        let polled = live.poll(cx, &mut *self.subprotocol, &mut self.out);
        match live.standing {
            Standing::Open => {}
            Standing::Accepted => self.is_accepted = true,
            // The next message may have another key. Until it is accepted, the connection is like a new one.
            Standing::UnknownCaller if self.subprotocol.has_headers() => {
                if std::mem::take(&mut self.is_accepted) {
                    self.age = 0;
                }
            }
            Standing::UnknownCaller | Standing::OtherPage => self.state = State::Leaving,
        }
        match polled {
            Poll::Ready(Next::Message(message)) => Poll::Ready(Some(message)),
            Poll::Ready(Next::End) => {
                self.live.remove(at);
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_exchanges(&mut self, cx: &mut Context<'_>) -> Option<Bytes> {
        // Repeated after an exchange has ended, because another one may have waited for it.
        loop {
            self.start();
            let count = self.live.len();
            let mut ended = false;
            for turn in 1..=count {
                // The exchange that returned the last message is polled last, so that it does not block the others.
                let at = (self.last + turn) % count;
                match self.poll_live(at, cx) {
                    Poll::Ready(Some(message)) => {
                        self.last = at;
                        return Some(message);
                    }
                    Poll::Ready(None) => {
                        ended = true;
                        break;
                    }
                    Poll::Pending => {}
                }
            }
            if !ended {
                return None;
            }
        }
    }

    fn poll_ticks(&mut self, cx: &mut Context<'_>) -> Poll<SocketMessage> {
        while let Some(ticks) = &mut self.ticks {
            match ticks.as_mut().poll_next(cx) {
                Poll::Ready(Some(())) if self.pings >= UNANSWERED => {
                    self.close(1011, "no answer to pings");
                    return Poll::Ready(self.closed());
                }
                Poll::Ready(Some(())) if !self.is_accepted && self.age >= UNANSWERED => {
                    self.close(1008, "no request was accepted");
                    return Poll::Ready(self.closed());
                }
                Poll::Ready(Some(())) => {
                    self.pings += 1;
                    self.age = self.age.saturating_add(1);
                    return Poll::Ready(SocketMessage::Ping);
                }
                Poll::Ready(None) => self.ticks = None,
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    /// Returns the message that closes the connection.
    fn closed(&mut self) -> SocketMessage {
        let (code, reason) = match std::mem::replace(&mut self.state, State::Closed) {
            State::Closing(code, reason) => (code, reason),
            State::Leaving => (1008, "requests are not accepted any more"),
            State::Open | State::Closed => (1001, "the server is shutting down"),
        };
        SocketMessage::Close { code, reason }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<SocketMessage>> {
        match self.state {
            State::Open | State::Leaving => {}
            State::Closing(..) => return Poll::Ready(Some(self.closed())),
            State::Closed => return Poll::Ready(None),
        }
        if let Some(notice) = self.notices.pop_front() {
            return Poll::Ready(Some(SocketMessage::Text(notice)));
        }
        if let Some(message) = self.poll_exchanges(cx) {
            return Poll::Ready(Some(SocketMessage::Text(message)));
        }
        if self.live.is_empty() {
            // Frees the memory of an idle connection.
            self.live = Vec::new();
            self.notices = VecDeque::new();
            let is_leaving = matches!(self.state, State::Leaving);
            if is_leaving || self.running.poll_draining(cx).is_ready() {
                return Poll::Ready(Some(self.closed()));
            }
        }
        if self.out.is_empty() {
            self.out = BytesMut::new();
        }
        self.poll_ticks(cx).map(Some)
    }
}

impl Stream for Socket {
    type Item = SocketMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SocketMessage>> {
        self.0.poll(cx)
    }
}

opaque_debug!(Socket);

/// Shows the kind of a message, and the length of a text.
impl fmt::Debug for SocketMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Binary => f.write_str("Binary"),
            Self::Ping => f.write_str("Ping"),
            Self::Pong => f.write_str("Pong"),
            Self::TooLarge => f.write_str("TooLarge"),
            Self::Close { code, reason } => write!(f, "Close({code}, {reason})"),
        }
    }
}
