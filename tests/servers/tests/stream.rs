//! Streams on real connections start at once, wait for their readers, and stop.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

use server_tests::{Client, PIECE, Puppet, SERVERS, accepted, chunk, say, sorry};

#[test]
fn the_head_leaves_before_the_first_word() {
    for (name, start) in SERVERS {
        let server = start(Puppet::default().mount().unwrap());
        let mut client = Client::connect(server.address).unwrap();
        client.post("/v1/query", say("silence")).unwrap();
        let head = client.head().unwrap();
        assert_eq!(head.status, 200, "{name}");
        for (header, value) in [
            ("content-type", "text/event-stream"),
            ("cache-control", "no-cache, no-transform"),
            ("x-accel-buffering", "no"),
            ("content-encoding", "identity"),
            ("transfer-encoding", "chunked"),
        ] {
            assert_eq!(head.header(header), Some(value), "{name}: {header}");
        }
    }
}

/// nginx speaks HTTP/1.0 to its upstream by default.
#[test]
fn a_stream_over_http_1_0_has_no_chunks_and_ends_with_the_connection() {
    for (name, start) in SERVERS {
        let server = start(Puppet::default().mount().unwrap());
        for keep_alive in ["", "connection: keep-alive\r\n"] {
            let mut socket = TcpStream::connect(server.address).unwrap();
            let body = say("count 3");
            let length = body.len();
            write!(
                socket,
                "POST /v1/query HTTP/1.0\r\n{keep_alive}content-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
            let mut response = String::new();
            socket.read_to_string(&mut response).unwrap();
            let (head, body) = response.split_once("\r\n\r\n").unwrap();
            assert!(!head.contains("transfer-encoding"), "{name}: {head}");
            assert!(body.starts_with("event: "), "{name}: {body}");
            assert!(body.ends_with("\n\n"), "{name}: {body}");
        }
    }
}

#[test]
fn the_agent_of_a_client_that_leaves_is_dropped() {
    for (name, start) in SERVERS {
        for prompt in ["silence", "drip"] {
            for half in [false, true] {
                let puppet = Puppet::default();
                let server = start(puppet.mount().unwrap());
                let mut client = Client::connect(server.address).unwrap();
                client.post("/v1/query", say(prompt)).unwrap();
                client.head().unwrap();
                let _ = puppet.wait_for(1);
                if half {
                    client.half_close().unwrap();
                } else {
                    drop(client);
                }
                let took = puppet.wait_for(0);
                // The promise is 100 ms; the rest is the slack of a loaded test machine.
                assert!(
                    took < Duration::from_secs(2),
                    "{name} {prompt} {half}: {took:?}"
                );
            }
        }
    }
}

#[test]
fn an_agent_waits_for_a_reader_that_stalls() {
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(puppet.mount().unwrap());
        let mut client = Client::connect(server.address).unwrap();
        client.post("/v1/query", say("flood")).unwrap();
        client.head().unwrap();
        // Once the socket buffers are full, nothing moves any more.
        let mut before = usize::MAX;
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = puppet.written.load(Ordering::SeqCst);
            if now == before {
                break;
            }
            before = now;
        }
        let held = before.saturating_sub(accepted(client.socket()));
        assert!(
            before < 32 << 20,
            "{name}: the agent ran ahead by {before} bytes"
        );
        assert!(
            held < 64 * 1024 + PIECE,
            "{name}: {held} bytes are held in user space"
        );
        assert_eq!(
            puppet.alive.load(Ordering::SeqCst),
            1,
            "{name}: the agent is pending"
        );
        drop(client);
        let _ = puppet.wait_for(0);
    }
}

#[test]
fn what_goes_wrong_in_an_agent_ends_its_stream_and_nothing_else() {
    for (name, start) in SERVERS {
        let server = start(Puppet::default().mount().unwrap());
        let mut client = Client::connect(server.address).unwrap();
        for prompt in ["panic", "serialize", "endless"] {
            client.post("/v1/query", say(prompt)).unwrap();
            let (head, body) = client.response().unwrap();
            assert_eq!(head.status, 200, "{name} {prompt}");
            assert_eq!(body, chunk("one") + &sorry(), "{name} {prompt}");
        }
        // The same connection, the same server.
        client.post("/v1/query", say("well")).unwrap();
        assert_eq!(client.response().unwrap().1, chunk("well"), "{name}");
    }
}

#[test]
fn bad_requests_get_a_status_and_a_place() {
    let nested = format!(
        r#"{{"messages":[{{"role":"human","content":"well","odd":{}1{}}}]}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let odd_role =
        r#"{"messages":[{"role":"oracle","content":"?"},{"role":"human","content":"well"}]}"#;
    let cases: &[(&str, &[u8], u16, &str)] = &[
        ("empty", b"", 400, "\"code\":\"malformed_json\""),
        (
            "cut",
            br#"{"messages":[{"role":"hum"#,
            400,
            "\"path\":\"messages[0].role\"",
        ),
        ("no messages", b"{}", 422, "\"path\":\"messages\""),
        (
            "empty messages",
            br#"{"messages":[]}"#,
            422,
            "\"path\":\"messages\"",
        ),
        ("not UTF-8", b"{\"messages\":\"\xff\"}", 400, "UTF-8"),
        ("deep", nested.as_bytes(), 200, "well"),
        ("unknown role", odd_role.as_bytes(), 200, "well"),
    ];
    for (name, start) in SERVERS {
        let server = start(Puppet::default().mount().unwrap());
        let mut client = Client::connect(server.address).unwrap();
        for (case, body, status, part) in cases {
            let headers = [
                "content-type: application/json",
                "origin: https://pro.openbb.co",
            ];
            client.request("POST", "/v1/query", &headers, body).unwrap();
            let (head, answer) = client.response().unwrap();
            assert_eq!(head.status, *status, "{name} {case}: {answer}");
            assert!(answer.contains(part), "{name} {case}: {answer}");
            assert_eq!(
                head.header("access-control-allow-origin"),
                Some("https://pro.openbb.co"),
                "{name} {case}"
            );
        }
    }
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    for (name, start) in SERVERS {
        let server = start(Puppet::default().mount().unwrap());
        let mut client = Client::connect(server.address).unwrap();
        let head = "POST /v1/query HTTP/1.1\r\nhost: localhost\r\n\
                    content-type: application/json\r\ncontent-length: 104857600\r\n\r\n";
        client.send(head.as_bytes()).unwrap();
        assert_eq!(client.head().unwrap().status, 413, "{name}");

        // Without a length it is refused where the limit is.
        let mut client = Client::connect(server.address).unwrap();
        let head = "POST /v1/query HTTP/1.1\r\nhost: localhost\r\n\
                    content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        client.send(head.as_bytes()).unwrap();
        let piece = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
        for _ in 0..100 {
            match client.send(piece.as_bytes()) {
                Ok(()) => {}
                // Refused, and the connection closed on what is still coming.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                Err(error) => panic!("{name}: {error}"),
            }
        }
        let mut client = Client::connect(server.address).unwrap();
        client.post("/v1/query", say("well")).unwrap();
        assert_eq!(client.response().unwrap().1, chunk("well"), "{name}");
    }
}
