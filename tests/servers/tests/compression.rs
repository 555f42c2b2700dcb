//! tower-http's compression in front of the router: a stream passes as it comes.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used)]

use std::net::{Ipv4Addr, SocketAddr};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use server_tests::{Client, Puppet, chunk, say};
use tower_http::compression::CompressionLayer;
use tower_layer::Layer;

/// Serves the puppet behind a compression layer, for as long as the process lives.
fn serve(puppet: &Puppet) -> SocketAddr {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let router = puppet.mount().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            listener.set_nonblocking(true).unwrap();
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let service = CompressionLayer::new().gzip(true).layer(router.clone());
                tokio::spawn(async move {
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(socket), TowerToHyperService::new(service))
                        .await;
                });
            }
        });
    });
    address
}

#[test]
fn every_chunk_passes_before_the_next_is_written() {
    let puppet = Puppet::default();
    let address = serve(&puppet);
    let mut client = Client::connect(address).unwrap();
    let headers = ["content-type: application/json", "accept-encoding: gzip"];
    client
        .request("POST", "/v1/query", &headers, say("steps").as_bytes())
        .unwrap();
    let head = client.head().unwrap();
    assert_eq!(head.header("content-encoding"), Some("identity"));
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    for _ in 0..3 {
        puppet.permits.add_permits(1);
        assert_eq!(client.chunk().unwrap(), chunk("step").as_bytes());
    }

    // The layer is at work: what is no stream is compressed.
    let mut client = Client::connect(address).unwrap();
    client
        .request("GET", "/agents.json", &["accept-encoding: gzip"], b"")
        .unwrap();
    let head = client.head().unwrap();
    assert_eq!(head.header("content-encoding"), Some("gzip"));
}
