//! Tests of a search engine and of clients that do what they should not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use copilot_wire::meilisearch::{ApiKey, Instance};
use meilisearch_copilot::{Bridge, Upstream, UpstreamError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::*;

/// Starts a server that reads a request, sends `head` and then `body` again and again; returns its address and the
/// number of bytes of bodies that were taken.
async fn endless(head: &'static str, body: &'static [u8]) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = socket.read(&mut request).await;
                let _ = socket.write_all(head.as_bytes()).await;
                while !body.is_empty() && socket.write_all(body).await.is_ok() {
                    count.fetch_add(body.len(), Ordering::Relaxed);
                }
                // Without a body it is silent until the client leaves.
                let _ = socket.read(&mut request).await;
            });
        }
    });
    (address, taken)
}

fn upstream(address: &str, patience: Duration) -> Upstream {
    let key = ApiKey::new("key").unwrap();
    let instance = Instance::new(address).unwrap().key(key);
    Upstream::new(instance, "films", patience).unwrap()
}

/// Returns why the upstream does not answer.
async fn failure(address: &str) -> UpstreamError {
    upstream(address, Duration::from_millis(300))
        .check("m")
        .await
        .unwrap_err()
}

#[tokio::test]
async fn a_search_engine_that_does_not_answer_is_a_failure() {
    let gone = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let said = failure(&address).await.to_string();
    assert!(said.ends_with("no connection"), "{said}");
    // It takes the request and says nothing, or nothing more.
    for head in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
    ] {
        let (address, _) = endless(head, b"").await;
        let said = failure(&address).await.to_string();
        assert!(said.ends_with("it is silent"), "{head:?}: {said}");
    }
}

#[tokio::test]
async fn a_search_engine_that_answers_garbage_is_a_failure() {
    for head in [
        "garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html/>\n\n",
    ] {
        let (address, _) = endless(head, b"").await;
        let error = failure(&address).await;
        assert!(
            matches!(error, UpstreamError::Http(_) | UpstreamError::Truncated),
            "{head:?}: {error}"
        );
    }
    // A redirect is not followed: the key is for nobody else.
    let (address, _) = endless(
        "HTTP/1.1 307 -\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        b"",
    )
    .await;
    let error = failure(&address).await;
    assert!(matches!(error, UpstreamError::Refused(_)), "{error}");
}

#[tokio::test]
async fn an_error_without_end_is_cut() {
    let (address, taken) = endless("HTTP/1.1 500 -\r\n\r\n", &[b' '; 65_536]).await;
    let error = failure(&address).await;
    assert!(matches!(error, UpstreamError::Refused(_)), "{error}");
    // What the sockets hold.
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken < 64 << 20, "{taken}");
}

#[tokio::test]
async fn a_client_that_never_reads_stops_the_search_engine() {
    const FRAME: &[u8] = b"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}}]}\n\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    for front in FRONTS {
        let (address, taken) = endless(head, FRAME).await;
        let bridge = Bridge::new(upstream(&address, Duration::from_secs(60)), "m");
        let env = counting(Log::default());
        let router = meilisearch_copilot::router(bridge.shared_key(true), env).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let served = tokio::spawn(async move {
            copilot_wire_hyper::serve(listener, router, std::future::pending()).await
        });
        let (path, body) = asking(front, serde_json::json!({}));
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        client.write_all(request.as_bytes()).await.unwrap();
        // Until nothing is taken any more, or too much.
        let mut before = usize::MAX;
        let most = 256 << 20;
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = taken.load(Ordering::Relaxed);
            if now >= most || (now > 0 && now == before) {
                assert!(now < most, "{front}: {now}");
                break;
            }
            before = now;
        }
        served.abort();
    }
}
