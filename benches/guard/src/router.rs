//! Whole requests, in process: a router, without a server's connection around it.

use std::convert::Infallible;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::router::Mount;
use copilot_wire::router::socket::SocketMessage;
use copilot_wire::{
    Agent, Body, Reply, Request, Router, ag_ui, anthropic, async_trait, openai, openbb, responses,
    ui_stream,
};
use futures_core::Stream;
use http::{HeaderValue, Uri};

use crate::Path;
use crate::reply::{Speaker, Words, frames};
use crate::requests;
use crate::source;

/// The events of an answer.
const EVENTS: usize = 200;

/// The requests of a run.
const REQUESTS: usize = 20;

/// A request body of one piece.
struct Piece(Option<Bytes>);

impl Stream for Piece {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// An agent that waits after its first word.
struct Waiter;

#[async_trait]
impl<P: Protocol> Agent<P> for Waiter {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        reply.text("The").await?;
        std::future::pending().await
    }
}

/// Creates a request with the headers that the usual clients send. As in hyper, its address and all values are slices of
/// one read buffer.
fn request(path: &str, body: &'static str) -> http::Request<Piece> {
    let length = body.len().to_string();
    let headers = [
        ("host", "127.0.0.1:7777"),
        ("user-agent", "OpenAI/JS 6.9.1"),
        ("accept", "application/json"),
        ("accept-encoding", "gzip, deflate"),
        ("content-type", "application/json"),
        ("content-length", &length),
        ("authorization", "Bearer sk-1234567890abcdef"),
        ("connection", "keep-alive"),
    ];
    let mut buffer = path.to_owned();
    buffer.extend(headers.map(|(_, value)| value));
    let mut rest = Bytes::from(buffer);
    let address = Uri::from_maybe_shared(rest.split_to(path.len())).unwrap();
    let mut request = http::Request::post(address);
    for (name, value) in headers {
        let value = HeaderValue::from_maybe_shared(rest.split_to(value.len()));
        request = request.header(name, value.unwrap());
    }
    let body = Piece(Some(Bytes::from_static(body.as_bytes())));
    request.body(body).unwrap()
}

fn respond(router: &Router, request: http::Request<Piece>) -> http::Response<Body> {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(router.handle(request)).poll(&mut cx) {
        Poll::Ready(response) => response,
        Poll::Pending => panic!("all of the request is there"),
    }
}

fn both<M: Mount + 'static>(
    name: &'static str,
    mount: fn() -> M,
    path: &'static str,
    body: &'static str,
) -> [Path; 2]
where
    Speaker: Agent<M::Protocol>,
    Waiter: Agent<M::Protocol>,
{
    // All are there before the first run, with which counting has not begun.
    let requests = move || {
        (0..2 * REQUESTS)
            .map(move |_| request(path, body))
            .collect()
    };
    [
        Path::new(format!("head-{name}"), "request", REQUESTS, move || {
            let router = Router::new().mount(mount(), Waiter).unwrap();
            let mut requests: Vec<_> = requests();
            Box::new(move || {
                let answered = (0..REQUESTS).filter_map(|_| {
                    let response = black_box(respond(&router, requests.pop()?));
                    let ok = response.status().is_success();
                    // What an agent does when it is dropped comes after the head.
                    std::mem::forget(response);
                    Some(usize::from(ok))
                });
                answered.sum()
            })
        }),
        Path::new(format!("request-{name}"), "request", REQUESTS, move || {
            let words: Words = source::tokens(EVENTS).leak();
            let waits = false;
            let speaker = Speaker { words, waits };
            let router = Router::new().mount(mount(), speaker).unwrap();
            let mut requests: Vec<_> = requests();
            Box::new(move || {
                let lengths = (0..REQUESTS).filter_map(|_| {
                    let response = respond(&router, requests.pop()?);
                    Some(
                        frames(response.into_body())
                            .map(|frame| black_box(frame).len())
                            .sum::<usize>(),
                    )
                });
                lengths.sum()
            })
        }),
    ]
}

/// The turns of one connection, one after the other, as [`reply`] has them without a socket.
fn socket<M: Mount + 'static>(
    name: &'static str,
    mount: fn() -> M,
    path: &'static str,
    message: &'static str,
    is_last: fn(&[u8]) -> bool,
) -> Path
where
    Speaker: Agent<M::Protocol>,
{
    const EVENTS: usize = 10_000;
    Path::new(
        format!("socket-{name}-{EVENTS}"),
        "event",
        EVENTS,
        move || {
            let words: Words = source::tokens(EVENTS).leak();
            let waits = false;
            let speaker = Speaker { words, waits };
            let router = Router::new().mount(mount(), speaker).unwrap();
            let handshake = http::Request::get(path)
                .header("host", "127.0.0.1:7777")
                .header("connection", "upgrade")
                .header("upgrade", "websocket")
                .header("sec-websocket-version", "13")
                .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
            let (parts, ()) = handshake.body(()).unwrap().into_parts();
            let mut cx = Context::from_waker(Waker::noop());
            let Poll::Ready(Ok(mut socket)) = pin!(router.socket(parts)).poll(&mut cx) else {
                panic!("the handshake is answered at once");
            };
            Box::new(move || {
                let mut cx = Context::from_waker(Waker::noop());
                socket.receive(SocketMessage::Text(Bytes::from_static(message.as_bytes())));
                let mut length = 0;
                loop {
                    // As servers do: what was made together with a message is sent with it.
                    let polled = Pin::new(&mut socket).poll_next(&mut cx);
                    let Poll::Ready(mut message) = polled else {
                        panic!("the agent does not wait");
                    };
                    while let Some(SocketMessage::Text(text)) = message {
                        length += black_box(text.len());
                        if is_last(&text) {
                            return length;
                        }
                        message = socket.waiting();
                    }
                }
            })
        },
    )
}

pub(crate) fn paths() -> Vec<Path> {
    let sockets = [
        socket(
            "responses",
            || responses::Model::new("words"),
            "/v1/responses",
            r#"{"type":"response.create","model":"words","input":"hi"}"#,
            |text| text.starts_with(br#"{"type":"response.completed""#),
        ),
        socket(
            "ui_stream",
            ui_stream::Mount::new,
            "/api/chat",
            r#"{"type":"send","requestId":"r1","id":"chat-1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}],"trigger":"submit-message"}"#,
            |text| text.starts_with(br#"{"type":"end""#),
        ),
    ];
    [
        both(
            "openbb",
            || openbb::Descriptor::new("words", "Words", "Says words"),
            "/v1/query",
            requests::OPENBB,
        ),
        both(
            "openai",
            || openai::Model::new("words"),
            "/v1/chat/completions",
            requests::OPENAI,
        ),
        both(
            "responses",
            || responses::Model::new("words"),
            "/v1/responses",
            requests::RESPONSES,
        ),
        both(
            "anthropic",
            || anthropic::Model::new("words"),
            "/v1/messages",
            requests::ANTHROPIC,
        ),
        both(
            "ui_stream",
            ui_stream::Mount::new,
            "/api/chat",
            requests::UI_STREAM,
        ),
        both("ag_ui", ag_ui::Mount::new, "/agui", requests::AG_UI),
    ]
    .into_iter()
    .flatten()
    .chain(sockets)
    .collect()
}
