//! What a stream does on a real connection: starts at once, waits for its reader, and stops.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use copilot_wire::openbb::{Descriptor, FunctionCall, OpenBb};
use copilot_wire::protocol::{AgentError, Conversation, Env, TokioEnv};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use server_tests::{Client, SERVERS};

/// Does what the prompt says, and counts what lives and what is written.
#[derive(Clone, Default)]
struct Puppet {
    alive: Arc<AtomicUsize>,
    written: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

const PIECE: usize = 4096;

#[async_trait]
impl Agent<OpenBb> for Puppet {
    async fn answer(
        &self,
        request: Request<OpenBb>,
        reply: Reply<OpenBb>,
    ) -> Result<(), AgentError> {
        let _alive = Alive::new(&self.alive);
        match &*request.prompt().unwrap_or_default() {
            "silence" => std::future::pending().await,
            "drip" => loop {
                reply.text("drop").await?;
                tokio::time::sleep(Duration::from_millis(10)).await;
            },
            "flood" => {
                let piece = "x".repeat(PIECE);
                for _ in 0..(64 << 20) / PIECE {
                    reply.text(&piece).await?;
                    self.written.fetch_add(PIECE, Ordering::SeqCst);
                }
                Ok(())
            }
            "panic" => {
                reply.text("one").await?;
                panic!("a bug in the agent");
            }
            "serialize" => {
                struct Fails;
                impl serde::Serialize for Fails {
                    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                        use serde::ser::{Error, SerializeMap};
                        s.serialize_map(None)?.serialize_entry("half", "an event")?;
                        Err(S::Error::custom("half-way"))
                    }
                }
                reply.text("one").await?;
                reply.end(FunctionCall::new("get_widget_data", &Fails)?)?;
                Ok(())
            }
            "endless" => {
                struct Endless;
                impl serde::Serialize for Endless {
                    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                        s.collect_map([("deeper", self)])
                    }
                }
                reply.text("one").await?;
                reply.end(FunctionCall::new("get_widget_data", &Endless)?)?;
                Ok(())
            }
            said => Ok(reply.text(said).await?),
        }
    }
}

fn router(puppet: &Puppet) -> Router {
    let descriptor = Descriptor::new("puppet", "Puppet", "Does as it is told");
    Router::new()
        .env(Env::new(TokioEnv::new()))
        .openbb(descriptor, puppet.clone())
        .unwrap()
}

fn say(prompt: &str) -> String {
    format!(r#"{{"messages":[{{"role":"human","content":"{prompt}"}}]}}"#)
}

fn chunk(text: &str) -> String {
    format!("event: copilotMessageChunk\ndata: {{\"delta\":\"{text}\"}}\n\n")
}

/// Waits until `count` is `wanted`, and says how long that took.
fn wait_for(count: &AtomicUsize, wanted: usize) -> Duration {
    let start = Instant::now();
    while count.load(Ordering::SeqCst) != wanted {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain");
        std::thread::sleep(Duration::from_millis(1));
    }
    start.elapsed()
}

#[test]
fn the_head_leaves_before_the_first_word() {
    for (name, start) in SERVERS {
        let server = start(router(&Puppet::default()));
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

#[test]
fn the_agent_of_a_client_that_leaves_is_dropped() {
    for (name, start) in SERVERS {
        for prompt in ["silence", "drip"] {
            for half in [false, true] {
                let puppet = Puppet::default();
                let server = start(router(&puppet));
                let mut client = Client::connect(server.address).unwrap();
                client.post("/v1/query", say(prompt)).unwrap();
                client.head().unwrap();
                wait_for(&puppet.alive, 1);
                if half {
                    client.half_close().unwrap();
                } else {
                    drop(client);
                }
                let took = wait_for(&puppet.alive, 0);
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
        let server = start(router(&puppet));
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
        let accepted = accepted_by_sockets(&client);
        let held = before.saturating_sub(accepted);
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
        wait_for(&puppet.alive, 0);
    }
}

/// What the kernel took from the server: sent and not yet read, plus queued and not yet sent.
fn accepted_by_sockets(client: &Client) -> usize {
    let ours = client.socket().local_addr().unwrap().port();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = |address: &str| u16::from_str_radix(address.split(':').nth(1)?, 16).ok();
    let mut accepted = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, _, queues, ..] = fields[..] else {
            continue;
        };
        let (send, receive) = queues.split_once(':').unwrap();
        if port(remote) == Some(ours) {
            accepted += usize::from_str_radix(send, 16).unwrap();
        }
        if port(local) == Some(ours) {
            accepted += usize::from_str_radix(receive, 16).unwrap();
        }
    }
    accepted
}

#[test]
fn what_goes_wrong_in_an_agent_ends_its_stream_and_nothing_else() {
    let sorry = chunk("Sorry, something went wrong and the answer is incomplete.");
    for (name, start) in SERVERS {
        let server = start(router(&Puppet::default()));
        let mut client = Client::connect(server.address).unwrap();
        for prompt in ["panic", "serialize", "endless"] {
            client.post("/v1/query", say(prompt)).unwrap();
            let (head, body) = client.response().unwrap();
            assert_eq!(head.status, 200, "{name} {prompt}");
            assert_eq!(body, chunk("one") + &sorry, "{name} {prompt}");
        }
        // The same connection, the same server.
        client.post("/v1/query", say("well")).unwrap();
        assert_eq!(client.response().unwrap().1, chunk("well"), "{name}");
    }
}

#[test]
fn a_thousand_clients_that_hang_up_leave_nothing_behind() {
    for (name, start) in SERVERS {
        let puppet = Puppet::default();
        let server = start(router(&puppet));
        for round in 0..1000 {
            let mut client = Client::connect(server.address).unwrap();
            let prompt = ["silence", "drip", "flood"][round % 3];
            let body = say(prompt);
            // Some leave in the middle of their own request.
            let sent = if round % 7 == 0 {
                body.len() / 2
            } else {
                body.len()
            };
            let head = "POST /v1/query HTTP/1.1\r\nhost: localhost\r\n\
                        content-type: application/json\r\n";
            let head = format!("{head}content-length: {}\r\n\r\n", body.len());
            client.send(head.as_bytes()).unwrap();
            client.send(&body.as_bytes()[..sent]).unwrap();
            if round % 5 == 0 && sent == body.len() {
                client.head().unwrap();
            }
        }
        wait_for(&puppet.alive, 0);
        let mut client = Client::connect(server.address).unwrap();
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
        let server = start(router(&Puppet::default()));
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
        let server = start(router(&Puppet::default()));
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
