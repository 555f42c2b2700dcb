//! The servers of the guide, compiled and tried out: each must stream a parrot's answer.
// What tries something out fails by panicking.
#![allow(clippy::unwrap_used)]

use std::future::Future;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use copilot_wire::openbb::Descriptor;
use copilot_wire::protocol::{AgentError, Conversation, Protocol};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};

/// The chapter on clients.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/clients.md")]
pub struct Clients;

/// The chapter on editors.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/editors.md")]
pub struct Editors;

/// The front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The chapter on servers, whose snippets are doctests of this package.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/servers.md")]
pub struct Servers;

/// The server on the front page of the reference.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/first_server.md")]
pub struct FirstServer;

/// The chapter on tools.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/tools.md")]
pub struct Tools;

/// The chapter on WebSockets.
#[cfg(doctest)]
#[doc = include_str!("../../../src/guide/websocket.md")]
pub struct WebSockets;

struct Parrot;

#[async_trait]
impl<P: Protocol> Agent<P> for Parrot {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        Ok(reply.text(&request.prompt().unwrap_or_default()).await?)
    }
}

fn router() -> Router {
    let descriptor = Descriptor::new("parrot", "Parrot", "Repeats what you say");
    let router = Router::new();
    router.mount(descriptor, Parrot).unwrap()
}

/// The question, and the parrot's answer.
const QUESTION: &str = r#"{"messages":[{"role":"human","content":"hello"}]}"#;
const ANSWER: &str = "event: copilotMessageChunk\ndata: {\"delta\":\"hello\"}\n\n";

/// Runs a server with a listener of tokio's, and asks it.
pub fn try_out_tokio<F, Fut>(serve: F)
where
    F: FnOnce(tokio::net::TcpListener, Router) -> Fut + Send + 'static,
    Fut: Future<Output = std::io::Result<()>>,
{
    try_out(move |listener, router| async move {
        listener.set_nonblocking(true)?;
        serve(tokio::net::TcpListener::from_std(listener)?, router).await
    });
}

/// Runs a server, which goes with the process, and asks it.
fn try_out<F, Fut>(serve: F)
where
    F: FnOnce(TcpListener, Router) -> Fut + Send + 'static,
    Fut: Future<Output = std::io::Result<()>>,
{
    ask(start(serve), "/v1/query");
}

/// Runs a server of tokio's that serves the router below a path, and asks it where its document says, and
/// as a proxy does that strips the path.
pub fn try_out_below<F, Fut>(base: &str, serve: F)
where
    F: FnOnce(tokio::net::TcpListener, Router) -> Fut + Send + 'static,
    Fut: Future<Output = std::io::Result<()>>,
{
    let address = start(move |listener, router| async move {
        listener.set_nonblocking(true)?;
        serve(tokio::net::TcpListener::from_std(listener)?, router).await
    });
    let document = exchange(address, &format!("GET {base}/agents.json"), "");
    let path = format!("{base}/v1/query");
    assert!(
        document.contains(&format!("\"query\":\"{path}\"")),
        "{document}"
    );
    ask(address, &path);
    ask(address, "/v1/query");
}

fn start<F, Fut>(serve: F) -> SocketAddr
where
    F: FnOnce(TcpListener, Router) -> Fut + Send + 'static,
    Fut: Future<Output = std::io::Result<()>>,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let runtime = actix_web::rt::System::new();
        runtime.block_on(serve(listener, router())).unwrap();
    });
    address
}

fn exchange(address: SocketAddr, request: &str, body: &str) -> String {
    exchange_in("HTTP/1.1", address, request, body)
}

fn exchange_in(version: &str, address: SocketAddr, request: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(
        socket,
        "{request} {version}\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    response
}

fn ask(address: SocketAddr, path: &str) {
    let response = exchange(address, &format!("POST {path}"), QUESTION);
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(
        response.contains("content-type: text/event-stream\r\n"),
        "{response}"
    );
    assert!(response.contains(ANSWER), "{response}");
    let response = exchange_in("HTTP/1.0", address, &format!("POST {path}"), QUESTION);
    assert!(
        response.ends_with(&format!("\r\n\r\n{ANSWER}")),
        "{response}"
    );
    assert!(!response.contains("transfer-encoding"), "{response}");
}
