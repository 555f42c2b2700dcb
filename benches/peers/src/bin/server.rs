//! One server of a kind, on one thread, for `benches/servers/run`.
//!
//! ```sh
//! cargo run --release --bin server -- KIND PORT
//! cargo run --release --bin server -- words    # the words as JSON, for the servers in other languages
//! ```
//!
//! Every kind reads the JSON of the request and answers with 200 token events, always ready, with
//! `TCP_NODELAY`; the `idle-` kinds send one status event and then nothing more.

use std::convert::Infallible;
use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};

use axum::response::IntoResponse;
use axum::response::sse::{Event, Sse};
use bytes::Bytes;
use copilot_wire::openbb::{Descriptor, OpenBb};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::{Agent, Body, Reply, Request, Router, async_trait};
use futures::{Stream, StreamExt as _, stream};
use guard::reply::Speaker;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioIo, TokioTimer};
use peers::peer::Delta;
use peers::source;
use serde::Deserialize;
use tokio::net::TcpListener;

const EVENTS: usize = 200;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: &'static [&'static str] = source::tokens(EVENTS).leak();
    let (kind, port) = match &args[..] {
        [words_only] if words_only == "words" => {
            println!("{}", serde_json::to_string(words)?);
            return Ok(());
        }
        [kind, port] => (kind, port),
        _ => return Err("server KIND PORT, or server words".into()),
    };
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse()?));
    match kind.as_str() {
        "copilot-wire" => hyper(
            at,
            routed(router(Speaker {
                words,
                waits: false,
            })?),
        ),
        "hyper-ready-frame" => hyper(at, ready(words)),
        "hyper-naive" => hyper(at, naive(words)),
        "axum" => hyper(at, axum(words)),
        "actix" => actix(at, words),
        "idle-copilot-wire" => hyper(at, routed(router(Waits { keeps: false })?)),
        "idle-copilot-wire-keeps" => hyper(at, routed(router(Waits { keeps: true })?)),
        "idle-hyper" => hyper(at, idle_hyper),
        "idle-axum" => hyper(at, idle_axum),
        _ => Err("no such kind".into()),
    }
}

/// The members of a request that a peer reads.
#[derive(Deserialize)]
struct Query {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// Reads a request as all peers do; the answer depends on it.
async fn read(request: http::Request<Incoming>) -> usize {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let query: Query = serde_json::from_slice(&body).unwrap();
    query
        .messages
        .iter()
        .map(|message| message.role.len() + message.content.len())
        .sum()
}

/// Runs a plain accept loop of hyper, the same for all servers on it.
#[tokio::main(flavor = "current_thread")]
async fn hyper<F, R, B>(at: SocketAddr, answer: F) -> Result<(), Failure>
where
    F: Fn(http::Request<Incoming>) -> R + Clone + 'static,
    R: Future<Output = http::Response<B>> + 'static,
    B: http_body::Body<Data: Send, Error: Into<SendFailure>> + 'static,
{
    let listener = TcpListener::bind(at).await?;
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async move {
            loop {
                let (socket, _) = listener.accept().await?;
                socket.set_nodelay(true)?;
                let answer = answer.clone();
                let service = hyper::service::service_fn(move |request| {
                    let response = answer(request);
                    async { Ok::<_, Infallible>(response.await) }
                });
                tokio::task::spawn_local(
                    hyper::server::conn::http1::Builder::new()
                        .timer(TokioTimer::new())
                        .serve_connection(TokioIo::new(socket), service),
                );
            }
        })
        .await
}

type SendFailure = Box<dyn std::error::Error + Send + Sync>;

fn router<A: Agent<OpenBb> + 'static>(agent: A) -> Result<Router, Failure> {
    let descriptor = Descriptor::new("words", "Words", "Says words");
    Ok(Router::new().mount(descriptor, agent)?)
}

type Answer<B> = std::pin::Pin<Box<dyn Future<Output = http::Response<B>>>>;

fn routed(router: Router) -> impl Fn(http::Request<Incoming>) -> Answer<Body> + Clone {
    move |request| {
        let router = router.clone();
        Box::pin(async move { router.handle_body(request).await })
    }
}

fn event_stream<B>(body: B) -> http::Response<B> {
    http::Response::builder()
        .header("content-type", "text/event-stream")
        .header("cache-control", "no-cache")
        .body(body)
        .unwrap()
}

fn wire(delta: &str) -> String {
    let data = serde_json::to_string(&Delta { delta }).unwrap();
    format!("event: copilotMessageChunk\ndata: {data}\n\n")
}

/// Serves one frame that exists before the request: an upper bound.
fn ready(
    words: &'static [&'static str],
) -> impl Fn(http::Request<Incoming>) -> Answer<Full<Bytes>> + Clone {
    let frame = Bytes::from(words.iter().map(|word| wire(word)).collect::<String>());
    move |request| {
        let frame = frame.clone();
        Box::pin(async move {
            read(request).await;
            event_stream(Full::new(frame))
        })
    }
}

/// Serves one frame per event, as most servers do.
fn naive(
    words: &'static [&'static str],
) -> impl Fn(http::Request<Incoming>) -> Answer<axum::body::Body> + Clone {
    move |request| {
        Box::pin(async move {
            read(request).await;
            let frames = stream::iter(words)
                .map(|word| Ok::<_, Infallible>(Frame::data(Bytes::from(wire(word)))));
            event_stream(axum::body::Body::new(StreamBody::new(frames)))
        })
    }
}

fn deltas(words: &'static [&'static str]) -> impl Stream<Item = Result<Event, Infallible>> + Send {
    stream::iter(words).map(|delta| {
        let event = Event::default().event("copilotMessageChunk");
        Ok(event.json_data(Delta { delta }).unwrap())
    })
}

fn axum(
    words: &'static [&'static str],
) -> impl Fn(http::Request<Incoming>) -> Answer<axum::body::Body> + Clone {
    move |request| {
        Box::pin(async move {
            read(request).await;
            Sse::new(deltas(words)).into_response()
        })
    }
}

#[actix_web::main]
async fn actix(at: SocketAddr, words: &'static [&'static str]) -> Result<(), Failure> {
    use actix_web::{App, HttpServer, web};
    use actix_web_lab::sse;

    let answer = move |body: Bytes| async move {
        let query: Query = serde_json::from_slice(&body).unwrap();
        let read: usize = query
            .messages
            .iter()
            .map(|message| message.role.len() + message.content.len())
            .sum();
        std::hint::black_box(read);
        sse::Sse::from_infallible_stream(stream::iter(words).map(|delta| {
            let data = serde_json::to_string(&Delta { delta }).unwrap();
            sse::Event::from(sse::Data::new(data).event("copilotMessageChunk"))
        }))
    };
    HttpServer::new(move || App::new().route("/v1/query", web::post().to(answer)))
        .workers(1)
        .tcp_nodelay(true)
        .bind(at)?
        .run()
        .await?;
    Ok(())
}

/// Sends one status event, and then waits for ever, with its request or without.
struct Waits {
    keeps: bool,
}

#[async_trait]
impl<P: Protocol> Agent<P> for Waits {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let request = Some(request).filter(|_| self.keeps);
        reply.status("Working").await?;
        pending::<()>().await;
        drop(request);
        Ok(())
    }
}

const STATUS: &str = r#"{"eventType":"INFO","message":"Working"}"#;

/// Serves a stream at the lowest cost: no keep-alive, no request retained.
async fn idle_hyper(request: http::Request<Incoming>) -> http::Response<axum::body::Body> {
    read(request).await;
    let event = Bytes::from(format!("event: copilotStatusUpdate\ndata: {STATUS}\n\n"));
    let frames = stream::iter([Ok::<_, Infallible>(Frame::data(event))]).chain(stream::pending());
    event_stream(axum::body::Body::new(StreamBody::new(frames)))
}

async fn idle_axum(request: http::Request<Incoming>) -> http::Response<axum::body::Body> {
    read(request).await;
    let event = Event::default().event("copilotStatusUpdate").data(STATUS);
    let events = stream::iter([Ok::<_, Infallible>(event)]).chain(stream::pending());
    Sse::new(events)
        .keep_alive(axum::response::sse::KeepAlive::default())
        .into_response()
}
