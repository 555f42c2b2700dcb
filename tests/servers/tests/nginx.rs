//! nginx in front, as Debian ships it but with gzip for everything: every word passes at once.

#![cfg(unix)]
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::time::Duration;

use copilot_wire::protocol::Refusal;
use http::StatusCode;
use server_tests::{Client, Nginx, Puppet, SERVERS, chunk, say};

/// Returns a location that passes all requests on.
fn everything(upstream: SocketAddr, more: &str) -> String {
    format!("location / {{ proxy_pass http://{upstream}; {more} }}")
}

/// Returns the next piece of the body, chunked or not.
fn read(client: &mut Client, wanted: &str) {
    let piece = client.chunk().unwrap();
    assert_eq!(String::from_utf8(piece).unwrap(), wanted);
}

#[test]
fn every_chunk_passes_before_the_next_is_written() {
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(puppet.mount().unwrap());
        let Some(nginx) = Nginx::start(&everything(server.address, "")).unwrap() else {
            println!("skipped: nginx is not installed");
            return;
        };
        for front_end in ["", "accept-encoding: gzip"] {
            let mut client = Client::connect(nginx.address).unwrap();
            let headers = ["content-type: application/json", front_end];
            let headers: Vec<&str> = headers
                .into_iter()
                .filter(|line| !line.is_empty())
                .collect();
            client
                .request("POST", "/v1/query", &headers, say("steps").as_bytes())
                .unwrap();
            let head = client.head().unwrap();
            assert_eq!(head.status, 200, "{name}");
            // A stream in gzip would reach the reader when a block of it is full.
            assert_ne!(head.header("content-encoding"), Some("gzip"), "{name}");
            for _ in 0..3 {
                puppet.permits.add_permits(1);
                read(&mut client, &chunk("step"));
            }
            drop(client);
            // nginx hangs up on the server, which drops the agent.
            let _ = puppet.wait_for(0);
        }
    }
}

/// The proof that the test above proves something: without our header nginx holds words back.
#[test]
fn nginx_would_hold_words_back() {
    let puppet = Puppet::default();
    let server = server_tests::Server::hyper(puppet.mount().unwrap());
    let ignore = "proxy_ignore_headers X-Accel-Buffering;";
    let Some(nginx) = Nginx::start(&everything(server.address, ignore)).unwrap() else {
        println!("skipped: nginx is not installed");
        return;
    };
    let mut client = Client::connect(nginx.address).unwrap();
    let wait = Duration::from_secs(1);
    client.socket().set_read_timeout(Some(wait)).unwrap();
    client.post("/v1/query", say("steps")).unwrap();
    puppet.permits.add_permits(1);
    let came = client.head().and_then(|_| client.chunk());
    assert!(came.is_err(), "{came:?}");
}

/// nginx has the whole body when it sends the request, and gives up on a server that closes the
/// connection meanwhile: its client would get 502.
#[test]
fn a_refusal_before_a_large_body_passes() {
    for (name, start) in SERVERS {
        let refuse = async |_| {
            let message = "an API key is missing";
            Err(Refusal::new(StatusCode::UNAUTHORIZED, message))
        };
        let server = start(Puppet::default().mount().unwrap().guard(refuse));
        let locations = everything(server.address, "client_max_body_size 32m;");
        let Some(nginx) = Nginx::start(&locations).unwrap() else {
            println!("skipped: nginx is not installed");
            return;
        };
        for address in [nginx.address, server.address] {
            for path in ["/v1/query", "/v1/chat/completions", "/nothing"] {
                let mut client = Client::connect(address).unwrap();
                client.post(path, vec![b' '; 8 << 20]).unwrap();
                let status = client.response().unwrap().0.status;
                assert_eq!(status, if path == "/nothing" { 404 } else { 401 }, "{name}");
            }
        }
    }
}

/// Below a path, which nginx strips or not, the agent is where its descriptor says.
#[test]
fn a_server_below_a_path_is_where_it_says() {
    for (name, start) in SERVERS {
        let router = Puppet::default().mount().unwrap();
        let server = start(router.base_path("/agents"));
        let upstream = server.address;
        for (strips, slash) in [("strips", "/"), ("passes", "")] {
            let location = format!("location /agents/ {{ proxy_pass http://{upstream}{slash}; }}");
            let Some(nginx) = Nginx::start(&location).unwrap() else {
                println!("skipped: nginx is not installed");
                return;
            };
            let mut client = Client::connect(nginx.address).unwrap();
            client
                .request("GET", "/agents/agents.json", &[], b"")
                .unwrap();
            let (head, document) = client.response().unwrap();
            assert_eq!(head.status, 200, "{name} {strips}");
            let document: serde_json::Value = serde_json::from_str(&document).unwrap();
            let mut agents = document.as_object().unwrap().values();
            let query = agents.next().unwrap().pointer("/endpoints/query");
            let query = query.unwrap().as_str().unwrap();
            assert!(query.starts_with("/agents/"), "{query}");
            // Front ends differ in what they take the path to be below.
            for path in [query, &format!("/agents{query}")] {
                let mut client = Client::connect(nginx.address).unwrap();
                client.post(path, say("well")).unwrap();
                assert_eq!(
                    client.response().unwrap().1,
                    chunk("well"),
                    "{name} {strips} {path}"
                );
            }
        }
    }
}
