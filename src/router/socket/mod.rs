//! WebSockets: the turns of one connection as messages.
//!
//! A WebSocket is a view of the same protocol: a message of the client is a request, which the router answers as if
//! it had been posted, with the same guards, limits, reports and stores; the events of the answer are messages. This
//! module has no I/O: a server opens a [`Socket`] with [`Router::socket`], passes messages in and sends those that
//! come out. The guide has servers on hyper, axum and actix.
//!
//! A protocol says what the messages are with a [`Dialect`], which its mount adds with
//! [`Site::socket`](super::Site::socket) to the path of its requests.

mod dialect;
mod handshake;
mod live;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use http::{HeaderValue, StatusCode};

pub use dialect::{Action, Ask, Dialect, EventMessage, Exchange};
pub use handshake::is_handshake;
pub(super) use handshake::no_socket;

use super::Router;
use crate::agent::Running;
use crate::conversations::Connection;
use crate::json::Json;
use crate::protocol::{Refusal, Ticks};
use handshake::Head;
use live::{Live, Next};

/// Creates the dialect of a connection.
pub(super) type Factory = Arc<dyn Fn() -> Box<dyn Dialect> + Send + Sync>;

/// The number of requests of one connection that may be answered at a time.
const RUNNING: usize = 16;

/// The number of requests of one connection that may wait.
const WAITING: usize = 16;

/// The number of messages that may wait beside those of the exchanges: answers to messages that are no requests.
const NOTICES: usize = 64;

/// The period of pings.
const PING: Duration = Duration::from_secs(30);

/// The number of pings without any sign of the client after which the connection is closed.
const UNANSWERED: u8 = 3;

/// A message of a WebSocket.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// A text, in UTF-8.
    Text(Bytes),
    /// Bytes that are no text. No protocol of this crate has any.
    Binary,
    /// A ping. It is sent without data.
    Ping,
    /// A pong, or any other sign that the client is there.
    Pong,
    /// A message that is larger than the [limit](Socket::limit), of which the server has not read the rest.
    TooLarge,
    /// The end of the connection (RFC 6455, section 7.4). The reason has at most 123 bytes.
    Close {
        /// The code.
        code: u16,
        /// The reason, for people.
        reason: &'static str,
    },
}

/// One WebSocket connection without I/O: messages of the client go in, and a stream of messages for it comes out.
///
/// A server passes every message of the client to [`receive`](Self::receive) and sends what the stream returns:
///
/// ```
/// use copilot_wire::router::socket::{Message, Socket};
/// use futures::future::{Either, select};
/// use futures::{Sink, SinkExt, Stream, StreamExt};
///
/// async fn run<W, E>(mut socket: Socket, mut web_socket: W) -> Result<(), E>
/// where
///     W: Stream<Item = Result<Message, E>> + Sink<Message, Error = E> + Unpin,
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
/// The stream runs the agents, as polling a [`Body`](crate::Body) does: while it is not polled, because the client
/// does not read, they wait as soon as their buffers are full. Dropping the socket drops them.
///
/// Turns begin and end as if their requests had been posted. A shutdown by [`Router::drain`] lets running turns
/// end and closes the connection then, with code 1001.
///
/// # Limits
///
/// A message is refused with code 1009 if it is larger than the [limit of a body](Router::body_limit). Sixteen requests
/// are answered at a time, as many may wait, and those that wait are together not larger than one body may be; further
/// ones are refused in the form of the protocol. Those that wait are also in the [budget](Router::body_budget) of all
/// bodies. A client that gives no sign in answer to three pings, 30 seconds apart, is gone; one whose handshake no guard
/// has checked has as long to send a request that is accepted.
///
/// A server that waits for a client that does not read polls nothing of this meanwhile, so it must have a time limit for
/// sending, as those of the guide have.
///
/// # Cancel safety
///
/// Polling again after an interruption loses nothing.
pub struct Socket(Box<Inner>);

struct Inner {
    router: Router,
    head: Head,
    dialect: Box<dyn Dialect>,
    /// Its place among what a shutdown waits for.
    running: Running,
    /// The turns that later ones of this connection continue.
    connection: Arc<Connection>,
    /// The requests that are answered or wait, in the order of their arrival.
    live: Vec<Live>,
    /// The one that the last message is of.
    last: usize,
    /// Messages beside those of the exchanges.
    notices: VecDeque<Bytes>,
    /// The block that written messages are parts of.
    out: BytesMut,
    ticks: Option<Ticks>,
    /// Pings since the last sign of the client.
    pings: u8,
    /// Pings in all.
    age: u8,
    /// A request was accepted, or guards have checked the handshake.
    is_accepted: bool,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    Open,
    Closing(u16, &'static str),
    Closed,
}

impl Socket {
    fn new(router: &Router, head: Head, dialect: Box<dyn Dialect>, running: Running) -> Self {
        let env = &router.inner.env;
        let connection = Connection::new(&router.inner.connections);
        let is_accepted = !dialect.has_headers();
        Self(Box::new(Inner {
            router: router.clone(),
            head,
            dialect,
            running,
            connection,
            live: Vec::new(),
            last: 0,
            notices: VecDeque::new(),
            out: BytesMut::new(),
            ticks: env.ticks(PING),
            pings: 0,
            age: 0,
            is_accepted,
            state: State::Open,
        }))
    }

    /// Returns the subprotocol for the response to the handshake, the first one that the client offers: a client that
    /// offers any wants one to be selected.
    #[must_use]
    pub fn subprotocol(&self) -> Option<&HeaderValue> {
        self.0.head.subprotocol.as_ref()
    }

    /// Returns the limit of a message of the client, in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.0.router.inner.limits.size
    }

    /// Takes a message of the client. The stream has to be polled afterwards.
    pub fn receive(&mut self, message: Message) {
        let inner = &mut *self.0;
        inner.pings = 0;
        if !matches!(inner.state, State::Open) {
            return;
        }
        match message {
            Message::Text(text) if text.len() <= inner.router.inner.limits.size => inner.read(text),
            Message::Text(_) | Message::TooLarge => inner.close(1009, "message too large"),
            Message::Binary => {
                let message = "binary messages are not supported";
                inner.refuse(None, &Refusal::new(StatusCode::BAD_REQUEST, message));
            }
            Message::Close { .. } => {
                inner.live.clear();
                inner.state = State::Closed;
            }
            Message::Ping | Message::Pong => {}
        }
    }

    /// Returns the next of the messages that were made already, without running any agent: those that can be sent
    /// together with the one that was returned last.
    pub fn waiting(&mut self) -> Option<Message> {
        let inner = &mut *self.0;
        if !matches!(inner.state, State::Open) {
            return None;
        }
        let live = inner.live.get_mut(inner.last)?;
        let message = live.waiting(&mut *inner.dialect, &mut inner.out)?;
        Some(Message::Text(message))
    }
}

impl Inner {
    fn read(&mut self, text: Bytes) {
        match Json::parse(text) {
            Ok(message) => match self.dialect.read(&message) {
                Action::Ask(ask) => self.ask(ask),
                Action::Stop(id) => self.stop(&id),
                Action::Refuse(ask, refusal) => self.refuse(ask, &refusal),
            },
            Err(error) => self.refuse(None, &error.into()),
        }
    }

    fn ask(&mut self, mut ask: Ask) {
        // Answers to two exchanges with one id could not be told apart.
        let has_id = |live: &Live| !ask.id.is_empty() && live.exchange.id == ask.id;
        let has_lane = |live: &Live| !ask.waits && live.exchange.lane == ask.lane;
        // One whose last message was handed out is over for its client.
        let mut live = self.live.iter().filter(|it| !it.silent && !it.is_over());
        let is_busy = live.any(|live| has_id(live) || has_lane(live));
        let bytes: usize = self.live.iter().map(Live::waiting_bytes).sum();
        let refusal = if is_busy {
            let message = "the last message is still being answered";
            Refusal::new(StatusCode::CONFLICT, message)
        } else if self.live.len() >= RUNNING + WAITING
            || bytes.saturating_add(ask.body.len()) > self.router.inner.limits.size
        {
            let message = "too many requests wait on this connection";
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, message)
        } else {
            let budget = &self.router.inner.limits.budget;
            match budget.count(std::mem::take(&mut ask.body)) {
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

    /// Answers a message that is refused. The connection is closed if the protocol has no form for that.
    fn refuse(&mut self, ask: Option<Ask>, refusal: &Refusal) {
        let response = self.dialect.refuse(refusal);
        let live = ask.map(|ask| Live::new(ask, false));
        let exchange = live.as_ref().map(|live| &live.exchange);
        self.dialect.document(exchange, response, &mut self.out);
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
        let stop = self.dialect.stop(&stopped.exchange);
        // Its agent before the request that stops it elsewhere.
        let headers = stopped.exchange.headers.clone();
        drop(stopped);
        if let Some(mut stop) = stop {
            stop.headers = headers;
            self.live.push(Live::new(stop, true));
        }
    }

    /// Closes the connection: nothing else is sent.
    fn close(&mut self, code: u16, reason: &'static str) {
        self.live.clear();
        self.notices.clear();
        self.state = State::Closing(code, reason);
    }

    /// Starts the requests that no other one holds up.
    fn start(&mut self) {
        let mut running = self.live.iter().filter(|live| !live.is_waiting()).count();
        let mut at = 0;
        while running < RUNNING && at < self.live.len() {
            let (before, rest) = self.live.split_at_mut(at);
            if let Some(live) = rest.first_mut().filter(|live| live.is_waiting()) {
                let lane = &live.exchange.lane;
                if before.iter().all(|before| before.exchange.lane != *lane) {
                    let turns = self.connection.turns();
                    live.start(&self.router, &self.head, turns, &*self.dialect);
                    running += 1;
                }
            }
            at += 1;
        }
    }

    /// Returns the next message of an exchange; `None` if it is over, and removed.
    fn poll_live(&mut self, at: usize, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(live) = self.live.get_mut(at) else {
            return Poll::Ready(None);
        };
        let polled = live.poll(cx, &mut *self.dialect, &mut self.out);
        self.is_accepted |= live.is_accepted;
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
        // Once more after the end of one, which may have been waited for.
        loop {
            self.start();
            let count = self.live.len();
            let mut ended = false;
            for turn in 1..=count {
                // The one that the last message is of comes last, so that none holds up the others.
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

    fn poll_ticks(&mut self, cx: &mut Context<'_>) -> Poll<Message> {
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
                    return Poll::Ready(Message::Ping);
                }
                Poll::Ready(None) => self.ticks = None,
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    /// Returns the message that closes the connection.
    fn closed(&mut self) -> Message {
        let (code, reason) = match std::mem::replace(&mut self.state, State::Closed) {
            State::Closing(code, reason) => (code, reason),
            State::Open | State::Closed => (1001, "the server is shutting down"),
        };
        Message::Close { code, reason }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        match self.state {
            State::Open => {}
            State::Closing(..) => return Poll::Ready(Some(self.closed())),
            State::Closed => return Poll::Ready(None),
        }
        if let Some(notice) = self.notices.pop_front() {
            return Poll::Ready(Some(Message::Text(notice)));
        }
        if let Some(message) = self.poll_exchanges(cx) {
            return Poll::Ready(Some(Message::Text(message)));
        }
        if self.live.is_empty() {
            // An idle connection takes little memory.
            self.live = Vec::new();
            self.notices = VecDeque::new();
            if self.running.poll_draining(cx).is_ready() {
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
    type Item = Message;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        self.0.poll(cx)
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket")
            .field("exchanges", &self.0.live.len())
            .finish_non_exhaustive()
    }
}

/// Shows the kind of a message, and the size of a text.
impl fmt::Debug for Message {
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
