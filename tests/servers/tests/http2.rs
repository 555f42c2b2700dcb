//! HTTP/2 on the hyper server: many streams on one connection, each on its own.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used)]

use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use server_tests::{PIECE, Puppet, Server, chunk, say};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

fn run<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { timeout(PATIENCE, test).await.unwrap() });
}

async fn connect(server: &Server) -> SendRequest<Full<Bytes>> {
    let socket = TcpStream::connect(server.address).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let (client, connection) = handshake(TokioExecutor::new(), TokioIo::new(socket))
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

async fn ask(client: &SendRequest<Full<Bytes>>, prompt: &str) -> Response<Incoming> {
    let request = Request::post("http://localhost/v1/query")
        .header("content-type", "application/json")
        .body(Full::from(say(prompt)))
        .unwrap();
    let response = client.clone().send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.version(), Version::HTTP_2);
    // Forbidden in HTTP/2; nobody may set it.
    assert!(!response.headers().contains_key("connection"));
    response
}

async fn next(response: &mut Response<Incoming>) -> String {
    let frame = response.body_mut().frame().await.unwrap().unwrap();
    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
}

#[test]
fn every_word_arrives_before_the_next_is_said() {
    let puppet = Puppet::default();
    let server = Server::hyper(puppet.mount().unwrap());
    run(async {
        let client = connect(&server).await;
        let mut response = ask(&client, "steps").await;
        for _ in 0..3 {
            puppet.permits.add_permits(1);
            assert_eq!(next(&mut response).await, chunk("step"));
        }
    });
}

#[test]
fn a_hundred_streams_share_a_connection() {
    let puppet = Puppet::default();
    let server = Server::hyper(puppet.mount().unwrap());
    run(async {
        let client = connect(&server).await;
        let mut streams = Vec::new();
        for _ in 0..100 {
            streams.push(ask(&client, "steps").await);
        }
        assert_eq!(puppet.alive.load(Ordering::SeqCst), 100);
        puppet.permits.add_permits(100);
        for response in &mut streams {
            assert_eq!(next(response).await, chunk("step"));
        }
        drop(streams);
        gone(&puppet, 0).await;
    });
}

async fn gone(puppet: &Puppet, left: usize) {
    while puppet.alive.load(Ordering::SeqCst) != left {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_stream_that_is_reset_drops_its_agent_and_no_other() {
    let puppet = Puppet::default();
    let server = Server::hyper(puppet.mount().unwrap());
    run(async {
        let client = connect(&server).await;
        for prompt in ["silence", "drip"] {
            let mut kept = ask(&client, "steps").await;
            let dropped = ask(&client, prompt).await;
            assert_eq!(puppet.alive.load(Ordering::SeqCst), 2, "{prompt}");
            drop(dropped);
            gone(&puppet, 1).await;
            puppet.permits.add_permits(1);
            assert_eq!(next(&mut kept).await, chunk("step"), "{prompt}");
            drop(kept);
            gone(&puppet, 0).await;
        }
    });
}

#[test]
fn a_stream_that_is_not_read_waits_and_holds_no_other_up() {
    let puppet = Puppet::default();
    let server = Server::hyper(puppet.mount().unwrap());
    run(async {
        let client = connect(&server).await;
        let stalled = ask(&client, "flood").await;
        let mut before = usize::MAX;
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = puppet.written.load(Ordering::SeqCst);
            if now == before {
                break;
            }
            before = now;
        }
        // The windows of the client (2 MiB for a stream), and what waits in the server.
        assert!(
            before < (4 << 20) + PIECE,
            "the agent ran ahead by {before}"
        );
        let mut other = ask(&client, "well").await;
        assert_eq!(next(&mut other).await, chunk("well"));
        drop(stalled);
        gone(&puppet, 0).await;
    });
}

#[test]
fn a_connection_that_is_cut_drops_every_agent() {
    let puppet = Puppet::default();
    let server = Server::hyper(puppet.mount().unwrap());
    run(async {
        let client = connect(&server).await;
        let mut streams = Vec::new();
        for _ in 0..20 {
            streams.push(ask(&client, "silence").await);
        }
        gone(&puppet, 20).await;
        drop((client, streams));
        gone(&puppet, 0).await;
    });
}
