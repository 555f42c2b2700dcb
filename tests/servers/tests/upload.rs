//! Requests that come slowly, or not at all, or are too large.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::atomic::Ordering;
use std::time::Duration;

use server_tests::{Client, PATHS, Puppet, SERVERS, chunk, say};

const SLOW: usize = 50;

fn head(length: usize) -> String {
    format!(
        "POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    )
}

/// Fifty clients send a byte a second; everybody else is served at once, and so are they in the end.
#[test]
fn a_byte_a_second_holds_nobody_up() {
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(puppet.mount().unwrap());
        let body = say("slow");
        let (fast, slow) = body.split_at(body.len() - 4);
        let mut clients: Vec<Client> = (0..SLOW)
            .map(|_| {
                let mut client = Client::connect(server.address).unwrap();
                client.send(head(body.len()).as_bytes()).unwrap();
                client.send(fast.as_bytes()).unwrap();
                client
            })
            .collect();
        for byte in slow.as_bytes() {
            // No agent works for a request that is not there yet.
            assert_eq!(puppet.alive.load(Ordering::SeqCst), 0, "{name}");
            let mut other = Client::connect(server.address).unwrap();
            other.post("/v1/query", say("well")).unwrap();
            assert_eq!(other.response().unwrap().1, chunk("well"), "{name}");
            let _ = puppet.wait_for(0);
            std::thread::sleep(Duration::from_secs(1));
            for client in &mut clients {
                client.send(&[*byte]).unwrap();
            }
        }
        for mut client in clients {
            assert_eq!(client.response().unwrap().1, chunk("slow"), "{name}");
        }
    }
}

/// Every byte of a body in a packet of its own is the same body.
#[test]
fn a_body_in_single_bytes_is_the_same_body() {
    for (name, start) in SERVERS {
        let server = start(Puppet::default().mount().unwrap());
        let mut client = Client::connect(server.address).unwrap();
        let body = say("caf\u{e9} \u{1f980}");
        client.send(head(body.len()).as_bytes()).unwrap();
        for byte in body.as_bytes() {
            client.send(&[*byte]).unwrap();
        }
        let answer = client.response().unwrap().1;
        assert_eq!(answer, chunk("caf\u{e9} \u{1f980}"), "{name}");
    }
}

/// One byte more than the limit is refused on every front end, announced or not; the limit is not.
#[test]
fn the_limit_is_exact() {
    for (name, start) in SERVERS {
        let body = say("well");
        let server = start(Puppet::default().mount().unwrap().body_limit(body.len()));
        let mut client = Client::connect(server.address).unwrap();
        client.post("/v1/query", &body).unwrap();
        assert_eq!(client.response().unwrap().1, chunk("well"), "{name}");

        for path in PATHS {
            let long = format!("{body} ");
            let mut client = Client::connect(server.address).unwrap();
            client.post(path, &long).unwrap();
            assert_eq!(client.head().unwrap().status, 413, "{name} {path}");

            let mut client = Client::connect(server.address).unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n1\r\n \r\n0\r\n\r\n",
                body.len()
            );
            client.send(head.as_bytes()).unwrap();
            assert_eq!(
                client.head().unwrap().status,
                413,
                "{name} {path} in chunks"
            );
        }
    }
}

/// A client that stops in the middle of its request costs no agent, and is forgotten with its socket.
#[test]
fn a_request_that_breaks_off_starts_no_agent() {
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(puppet.mount().unwrap());
        for half in [false, true] {
            let body = say("well");
            let mut client = Client::connect(server.address).unwrap();
            client.send(head(body.len()).as_bytes()).unwrap();
            client.send(&body.as_bytes()[..body.len() / 2]).unwrap();
            if half {
                client.half_close().unwrap();
                // Refused, or just closed: nobody waits for the rest.
                if let Ok(head) = client.head() {
                    assert_eq!(head.status, 400, "{name}");
                }
            }
            drop(client);
        }
        let mut client = Client::connect(server.address).unwrap();
        client.post("/v1/query", say("well")).unwrap();
        assert_eq!(client.response().unwrap().1, chunk("well"), "{name}");
        assert_eq!(puppet.started.load(Ordering::SeqCst), 1, "{name}");
    }
}
