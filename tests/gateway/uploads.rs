//! Limits of request bodies: their size, their memory, their time.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use copilot_wire::github::Mount;
use copilot_wire::protocol::{AgentError, Env, Environment, Protocol, Ticks};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use futures::channel::mpsc;
use futures::{StreamExt, stream};
use http::StatusCode;

use crate::guards::{Greeter, api_key};
use crate::support::*;

#[test]
fn stalled_uploads_share_a_budget_and_others_are_served() {
    const MIB: usize = 1024 * 1024;
    let router = Router::new()
        .body_budget(32 * MIB)
        .mount(descriptor("one"), Echo)
        .unwrap();
    let small = || ask(&router, post("/one/query"), human("hello")).0;
    let (mut held, mut refused) = (Vec::new(), 0);
    for _ in 0..60 {
        let request = post("/one/query").body(stalled(MIB)).unwrap();
        let mut upload = Box::pin(router.handle(request));
        match poll(upload.as_mut()) {
            Poll::Pending => held.push(upload),
            Poll::Ready(response) => {
                assert_eq!(response.status(), 503);
                assert!(response.headers().contains_key("retry-after"));
                refused += 1;
            }
        }
        assert_eq!(small(), 200);
    }
    assert!(held.len() < 32 && refused > 28, "{} {refused}", held.len());
    drop(held);
    let response = handle(&router, post("/one/query"), chunks(" ".repeat(8 * MIB)));
    assert_eq!(response.status(), 400, "the budget is whole again");
}

/// A body of spaces in pieces, which is no JSON.
fn pieces(sizes: &[usize]) -> Chunks {
    let pieces: Vec<_> = sizes.iter().map(|size| vec![b' '; *size].into()).collect();
    stream::iter(pieces).map(Ok).boxed()
}

#[cfg(feature = "http-body")]
#[test]
fn the_body_of_a_server_is_read() {
    let router = Router::new().mount(descriptor("one"), Echo).unwrap();
    let body = copilot_wire::Body::full(human("hello"));
    let request = post("/one/query").body(body).unwrap();
    let response = futures::executor::block_on(router.handle_body(request));
    let (status, reply) = (response.status(), text(response.into_body()));
    assert!(status == 200 && reply.contains("hello"), "{status} {reply}");
}

#[test]
fn a_body_of_exactly_the_limit_is_read() {
    let router = Router::new()
        .body_limit(1000)
        .mount(descriptor("one"), Echo)
        .unwrap();
    for (sizes, status) in [
        (&[1000][..], 400),
        (&[400, 600], 400),
        (&[1001], 413),
        (&[400, 601], 413),
    ] {
        let response = handle(&router, post("/one/query"), pieces(sizes));
        assert_eq!(response.status(), status, "{sizes:?}");
        let length: usize = sizes.iter().sum();
        let announced = post("/one/query").header("content-length", length);
        let response = handle(&router, announced, pieces(sizes));
        assert_eq!(response.status(), status, "{sizes:?}");
    }
}

/// The memory of a body doubles while it grows, up to the announced length or the limit.
#[test]
fn a_body_may_use_half_of_the_free_memory() {
    const LIMIT: usize = 1_000_000;
    for (limit, announced, sizes, budget) in [
        (LIMIT, None, &[1000][..], 2000),
        (LIMIT, None, &[1000, 1], 4000),
        (LIMIT, None, &[1000, 1, 1000], 4004),
        (1500, None, &[1000, 1], 3000),
        (LIMIT, Some(1001), &[1000, 1], 2002),
        // Of a long body, only the first bytes are believed to come.
        (LIMIT, Some(100_000), &[1], 2 * 64 * 1024),
    ] {
        let status = |router: &Router| {
            let mut request = post("/one/query");
            if let Some(length) = announced {
                request = request.header("content-length", length);
            }
            handle(router, request, pieces(sizes)).status()
        };
        let router = Router::new().body_limit(limit);
        let router = router.mount(descriptor("one"), Echo).unwrap();
        assert_eq!(
            status(&router.clone().body_budget(budget - 1)),
            503,
            "{sizes:?}"
        );
        // All of it comes back.
        let router = router.body_budget(budget);
        assert_eq!(
            (status(&router), status(&router)),
            (StatusCode::BAD_REQUEST, StatusCode::BAD_REQUEST),
            "{sizes:?}"
        );
    }
}

#[test]
fn a_body_of_another_type_is_refused() {
    let router = Router::new().mount(descriptor("one"), Echo).unwrap();
    let status = |content_type: &str| {
        let request = http::Request::post("/one/query").header("content-type", content_type);
        ask(&router, request, human("hello")).0
    };
    for json in [
        "application/json",
        "Application/JSON ; charset=utf-8",
        "application/vnd.api+json",
        "application/ld+JSON;profile=x",
    ] {
        assert_eq!(status(json), 200, "{json}");
    }
    for other in [
        "",
        "json",
        "+json",
        "text/json",
        "text/vnd.api+json",
        "application/",
        "application/jsonp",
        "application/json5+xml",
        "text/plain; application/json",
    ] {
        assert_eq!(status(other), 415, "{other}");
    }
}

/// A turn begins when its body is there, and ends when its response is gone.
#[test]
fn stalled_uploads_take_no_turn() {
    let router = Router::new()
        .max_turns(1)
        .mount(descriptor("one"), Echo)
        .unwrap();
    let upload = || Box::pin(router.handle(post("/one/query").body(stalled(9)).unwrap()));
    let mut uploads: Vec<_> = (0..40).map(|_| upload()).collect();
    for upload in &mut uploads {
        assert!(poll(upload.as_mut()).is_pending());
    }
    assert_eq!(ask(&router, post("/one/query"), human("hello")).0, 200);
    let turn = handle(&router, post("/one/query"), chunks(human("wait")));
    assert_eq!(turn.status(), 200);
    // Before its body is read.
    let request = post("/one/query").header("expect", "100-continue");
    let refused = handle(&router, request, unread());
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "5");
    assert_eq!(get(&router, "/agents.json").0, 200);
    drop(turn);
    assert_eq!(ask(&router, post("/one/query"), human("hello")).0, 200);
}

/// Holds its request for good.
struct Keeper;
#[async_trait]
impl<P: Protocol> Agent<P> for Keeper {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        reply.text("one").await?;
        let _request = request;
        std::future::pending().await
    }
}

/// The bytes of a request are in the budget until its agent drops them.
#[test]
fn a_request_under_way_is_in_the_budget() {
    let router = Router::new()
        .body_budget(48 * 1024)
        .mount(descriptor("one"), Keeper)
        .unwrap();
    // Documents of the crate's own are slices of the request's bytes.
    let large = format!(
        r#"{{"messages":[{{"role":"human","content":"x"}}],"extra_state":{{"a":"{}"}}}}"#,
        "a".repeat(20 * 1024)
    );
    let turn = || handle(&router, post("/one/query"), chunks(large.clone()));
    let first = turn();
    assert_eq!(first.status(), 200);
    assert_eq!(turn().status(), 503);
    drop(first);
    assert_eq!(turn().status(), 200);
}

/// Many short elements hold a multiple of their bytes, and count as what they hold until the agent drops the request.
#[test]
fn short_elements_are_in_the_budget_with_what_they_hold() {
    let router = Router::new()
        .body_budget(1024 * 1024)
        .mount(descriptor("one"), Keeper)
        .unwrap();
    let turn = |count: usize| {
        let elements = vec!["{}"; count].join(",");
        let body =
            format!(r#"{{"messages":[{{"role":"human","content":"x"}}],"context":[{elements}]}}"#);
        handle(&router, post("/one/query"), chunks(body))
    };
    // Each is 9 kB, and weighs 680 kB.
    let first = turn(3000);
    assert_eq!(first.status(), 200);
    assert_eq!(turn(3000).status(), 503);
    assert_eq!(turn(10).status(), 200);
    drop(first);
    assert_eq!(turn(3000).status(), 200);
    // This would never fit.
    assert_eq!(turn(6000).status(), 413);
}

/// Ticks that a test drives.
struct Timer(Mutex<Option<mpsc::UnboundedReceiver<()>>>);

impl Environment for Timer {
    fn ticks(&self, period: Duration) -> Option<Ticks> {
        assert_eq!(period, Duration::from_secs(5));
        Some(self.0.lock().unwrap().take()?.boxed())
    }
}

#[test]
fn an_upload_that_stalls_is_refused_after_a_while() {
    let (tick, ticks) = mpsc::unbounded();
    let router = Router::new()
        .body_timeout(Duration::from_secs(5))
        .env(Env::new(Timer(Mutex::new(Some(ticks)))))
        .mount(descriptor("one"), Echo)
        .unwrap();
    let request = post("/one/query").body(stalled(10)).unwrap();
    let mut upload = pin!(router.handle(request));
    assert!(poll(upload.as_mut()).is_pending());
    tick.unbounded_send(()).unwrap();
    let Poll::Ready(response) = poll(upload.as_mut()) else {
        panic!("it still waits");
    };
    assert_eq!(response.status(), 408);
    assert!(
        response
            .headers()
            .contains_key("access-control-allow-origin")
    );
    let body = text(response.into_body());
    assert!(body.contains("took longer than 5s"), "{body}");
}

/// A body of some chunks, which counts how often it is polled.
fn counted(chunks: usize, polls: &Arc<AtomicUsize>) -> Chunks {
    let polls = Arc::clone(polls);
    let chunk = move |_| {
        polls.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes::from_static(&[b' '; 1000]))
    };
    stream::iter(0..chunks).map(chunk).boxed()
}

/// A client that still sends when its connection is closed may lose the response.
#[test]
fn a_refusal_waits_for_the_rest_of_the_body() {
    let router = Router::new().body_limit(4000).guard(api_key);
    let router = router.mount(descriptor("one"), Greeter).unwrap();
    let length = |length: &str| post("/one/query").header("content-length", length);
    let chunked = || post("/one/query").header("transfer-encoding", "chunked");
    for (path, request, read) in [
        ("at the limit", length("4000"), 4),
        ("in chunks", chunked(), 5),
        ("beyond the limit", length("4001"), 0),
        (
            "a client that asks first",
            length("3000").header("expect", "100-continue"),
            0,
        ),
        (
            "over HTTP/2",
            length("3000").version(http::Version::HTTP_2),
            0,
        ),
        ("no body", post("/one/query"), 0),
        ("no such path", length("3000").uri("/two"), 3),
    ] {
        let polls = Arc::default();
        let chunks = if [0, 5].contains(&read) { 50 } else { read };
        let response = handle(&router, request, counted(chunks, &polls));
        assert!([401, 404].contains(&response.status().as_u16()), "{path}");
        assert_eq!(polls.load(Ordering::Relaxed), read, "{path}");
    }
    // What is not there without a timer is not waited for.
    let response = handle(&router, length("3000"), stalled(1000));
    assert_eq!(response.status(), 401);
}

#[test]
fn a_refusal_waits_for_a_while() {
    let (tick, ticks) = mpsc::unbounded();
    let router = Router::new()
        .guard(api_key)
        .env(Env::new(Timer(Mutex::new(Some(ticks)))))
        .mount(descriptor("one"), Greeter)
        .unwrap();
    let request = post("/one/query").header("content-length", "3000");
    let mut upload = pin!(router.handle(request.body(stalled(1000)).unwrap()));
    assert!(poll(upload.as_mut()).is_pending());
    tick.unbounded_send(()).unwrap();
    let Poll::Ready(response) = poll(upload.as_mut()) else {
        panic!("it still waits");
    };
    assert_eq!(response.status(), 401);
}

#[cfg(feature = "verify")]
#[test]
fn an_unsigned_request_is_refused_before_its_body_is_read() {
    use copilot_wire::github::verify::KeySet;

    let router = Router::new()
        .mount(Mount::verified(KeySet::default()), Echo)
        .unwrap();
    let response = handle(&router, post("/github"), unread());
    assert_eq!(response.status(), 401);
}

/// The limit of a route is less than that of the router, and never more.
#[test]
fn a_mount_may_read_less_than_the_router() {
    let router = |mount: Mount| {
        let router = Router::new().body_limit(64 * 1024);
        let router = router.mount(mount, Echo).unwrap();
        router.mount(descriptor("one"), Echo).unwrap()
    };
    let small = router(Mount::unverified().body_limit(1024));
    let large = router(Mount::unverified().body_limit(1024 * 1024));
    let body = |size: usize| chunks(user("m", &"x".repeat(size)));
    let status = |router: &Router, path: &str, size| {
        handle(router, post(path), body(size)).status().as_u16()
    };
    assert_eq!(status(&small, "/github", 500), 200);
    assert_eq!(status(&small, "/github", 2000), 413);
    // A length that is announced is believed.
    let announced = post("/github")
        .header("content-length", "2000")
        .header("expect", "100-continue");
    assert_eq!(handle(&small, announced, unread()).status(), 413);
    assert_eq!(status(&large, "/github", 2000), 200);
    assert_eq!(status(&large, "/github", 70 * 1024), 413);
    // Other mounts have the router's.
    let response = handle(&small, post("/one/query"), chunks(human(&"x".repeat(2000))));
    assert_eq!(response.status(), 200);
}

#[cfg(feature = "verify")]
#[test]
fn a_body_with_a_wrong_signature_is_read_up_to_the_limit_of_the_mount() {
    use copilot_wire::github::verify::KeySet;

    let router = Router::new()
        .mount(Mount::verified(KeySet::default()), Echo)
        .unwrap();
    let signed = post("/github")
        .header("github-public-key-identifier", "k")
        .header("github-public-key-signature", "MAYCAQECAQE=");
    let mut read = 0;
    let endless = stream::repeat_with(move || {
        read += 1;
        assert!(read <= 8 * 1024 + 1, "more than 8 MiB is read");
        Ok(Bytes::from_static(&[b' '; 1024]))
    });
    let response = handle(&router, signed, endless.boxed());
    assert_eq!(response.status(), 413);
}

/// Some programs on Windows write a byte order mark before a text.
#[test]
fn a_byte_order_mark_before_a_body_is_ignored() {
    let router = Router::new()
        .mount(descriptor("one"), Echo)
        .unwrap()
        .mount(copilot_wire::openai::Model::new("one"), Echo)
        .unwrap()
        .mount(Mount::unverified(), Echo)
        .unwrap();
    for (path, body) in [
        ("/one/query", human("hello")),
        ("/v1/chat/completions", user("one", "hello")),
        ("/github", user("one", "hello")),
    ] {
        let (status, plain) = ask(&router, post(path), body.clone());
        assert_eq!(status, 200, "{path}: {plain}");
        let (status, marked) = ask(&router, post(path), format!("\u{feff}{body}"));
        assert_eq!(status, 200, "{path}: {marked}");
        assert!(marked.contains("hello"), "{path}: {marked}");
        // Once, and before the text.
        for body in [format!("\u{feff}\u{feff}{body}"), format!("{body}\u{feff}")] {
            assert_ne!(ask(&router, post(path), body).0, 200, "{path}");
        }
    }
    // In pieces, whose first one is a part of the mark.
    let body = format!("\u{feff}{}", human("hello")).into_bytes();
    let pieces: Vec<_> = body
        .iter()
        .map(|byte| Ok(Bytes::from(vec![*byte])))
        .collect();
    let response = handle(&router, post("/one/query"), stream::iter(pieces).boxed());
    assert_eq!(response.status(), 200);
}

/// A list in the wrong place, such as a body that is nested too deeply, is not a missing list.
#[cfg(all(
    feature = "ag_ui",
    feature = "anthropic",
    feature = "responses",
    feature = "ui_stream"
))]
#[test]
fn messages_that_cannot_be_read_are_refused_with_their_place() {
    let router = Router::new()
        .mount(descriptor("one"), Echo)
        .and_then(|router| router.mount_model("m", Echo))
        .and_then(|router| router.mount(Mount::unverified(), Echo))
        .and_then(|router| router.mount(copilot_wire::ui_stream::Mount::new(), Echo))
        .and_then(|router| router.mount(copilot_wire::ag_ui::Mount::new(), Echo))
        .and_then(|router| router.mount(copilot_wire::meilisearch::Mount::new(), Echo))
        .unwrap();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (path, list) in [
        ("/one/query", "messages"),
        ("/v1/chat/completions", "messages"),
        ("/v1/messages", "messages"),
        ("/v1/responses", "input"),
        ("/github", "messages"),
        ("/api/chat", "messages"),
        ("/agui", "messages"),
        ("/chats/w/chat/completions", "messages"),
    ] {
        let model = r#""model":"m","stream":true,"max_tokens":9"#;
        for odd in [&deep, r#"["hi"]"#, "[null]"] {
            let (status, body) = ask(
                &router,
                post(path),
                format!(r#"{{{model},"{list}":{odd}}}"#),
            );
            assert!(status.is_client_error(), "{path}: {body}");
            assert!(body.contains(&format!("{list}[0]")), "{path}: {body}");
        }
        let (status, body) = ask(&router, post(path), format!(r#"{{{model},"{list}":7}}"#));
        assert!(
            status.is_client_error() && !body.contains("[0]"),
            "{path}: {body}"
        );
    }
}
