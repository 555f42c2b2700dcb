//! Turns of a socket are those of requests: reports, limits, shutdown, cancellation.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use copilot_wire::protocol::Env;
use copilot_wire::router::socket::SocketMessage;
use copilot_wire_kit::Clock;
use futures::FutureExt;
use serde_json::json;

use crate::support::{Client, answer, create, kinds, router};

#[test]
fn turns_are_reported_and_counted() {
    let (router, _) = router();
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let router = router
        .observe(move |turn| lines.lock().unwrap().push(turn.to_string()))
        .max_turns(1);
    let mut one = Client::responses(&router);
    let mut two = Client::responses(&router);
    one.ask(&create("hi"));
    one.ask(&create("wait"));
    let busy = two.ask(&create("hi"));
    assert_eq!(busy[0]["status"], 503);
    assert_eq!(busy[0]["error"]["code"], "overloaded");
    drop(one);
    assert_eq!(answer(&two.ask(&create("hi"))), "[user:hi]");
    drop(two);
    assert_eq!(
        *log.lock().unwrap(),
        [
            "responses turn at /v1/responses answered",
            "responses turn at /v1/responses was refused (503 Service Unavailable): too many turns at a time",
            "responses turn at /v1/responses was left by its client",
            "responses turn at /v1/responses answered",
        ],
    );
}

#[test]
fn a_closed_socket_cancels_its_turns() {
    let (router, agent) = router();
    let mut client = Client::responses(&router);
    client.ask(&create("wait"));
    drop(client);
    assert_eq!(agent.dropped.load(Ordering::Relaxed), 1);
    let mut client = Client::responses(&router);
    client.ask(&create("wait"));
    client.0.receive(SocketMessage::Close {
        code: 1000,
        reason: "",
    });
    assert_eq!(agent.dropped.load(Ordering::Relaxed), 2);
    assert_eq!(client.next(), None);
}

#[test]
fn a_client_that_does_not_read_holds_up_its_agent() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    client.send(&create("long"));
    for _ in 0..100 {
        assert!(matches!(client.next(), Some(SocketMessage::Text(_))));
    }
    // Nothing runs ahead of the reader but one buffer.
    let waiting: usize = std::iter::from_fn(|| client.0.waiting())
        .map(|message| match message {
            SocketMessage::Text(text) => text.len(),
            _ => 0,
        })
        .sum();
    assert!((1..20 * 1024).contains(&waiting), "{waiting}");
}

#[test]
fn messages_that_wait_are_those_that_the_stream_would_return() {
    let (router, _) = router();
    let hello = json!({
        "type": "send", "requestId": "1", "id": "a", "trigger": "submit-message",
        "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "hi"}]}],
    });
    let [without, with] = [false, true].map(|is_asked| {
        let mut client = Client::chats(&router);
        client.send(&hello);
        assert_eq!(client.0.waiting(), None);
        let mut seen = Vec::new();
        while let Some(message) = client.next() {
            seen.push(message);
            while let Some(message) = is_asked.then(|| client.0.waiting()).flatten() {
                seen.push(message);
            }
        }
        seen.into_iter().map(kind).collect::<Vec<_>>()
    });
    assert!(with.len() > 4 && with == without, "{with:?} {without:?}");
}

/// Returns the type of a chunk, or of a message without one.
fn kind(message: SocketMessage) -> String {
    let SocketMessage::Text(text) = message else {
        panic!("{message:?}")
    };
    let message: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let chunk = message.pointer("/chunk/type");
    let kind = chunk.or_else(|| message.get("type")).unwrap();
    kind.to_string()
}

#[test]
fn a_shutdown_lets_turns_end_and_closes_the_connection() {
    let (router, agent) = router();
    let mut idle = Client::responses(&router);
    assert_eq!(idle.next(), None);
    let mut busy = Client::responses(&router);
    busy.ask(&create("wait"));
    let mut drain = Box::pin(router.drain(std::future::pending()));
    assert!(drain.as_mut().now_or_never().is_none());
    let away = json!({"close": 1001, "reason": "the server is shutting down"});
    assert_eq!(idle.messages(), [away]);
    assert_eq!(idle.next(), None);
    drop(idle);
    assert_eq!(busy.messages(), [json!(null); 0]);
    let queued = busy.ask(&create("one more"));
    assert_eq!(queued, [json!(null); 0]);
    agent.gate.notify_one();
    let messages = busy.messages();
    let kinds = messages
        .iter()
        .map(|it| it["type"].as_str().unwrap_or("close"));
    let kinds: Vec<_> = kinds.collect();
    assert!(
        kinds.ends_with(&["response.completed", "error", "close"]),
        "{kinds:?}"
    );
    assert!(drain.as_mut().now_or_never().is_none());
    drop(busy);
    assert!(drain.now_or_never().is_some());
    assert!(crate::support::open(&router, "/v1/responses", &[]).is_err());
}

#[test]
fn a_turn_that_outlasts_a_shutdown_fails_in_its_protocol() {
    let (router, _) = router();
    let router = router.env(Env::new(Clock::new()));
    let mut client = Client::responses(&router);
    client.ask(&create("wait"));
    let mut drain = Box::pin(router.drain(std::future::ready(())));
    assert!(drain.as_mut().now_or_never().is_none());
    let messages = client.messages();
    assert_eq!(messages[0]["type"], "response.failed");
    assert_eq!(messages[0]["response"]["error"]["code"], "invalid_prompt");
    assert_eq!(messages[1]["close"], 1001);
    drop(client);
    assert!(drain.now_or_never().is_some());
}

#[test]
fn silence_is_broken_with_events_and_clients_without_a_sign_are_gone() {
    let clock = Clock::new();
    let (router, agent) = router();
    let router = router.env(Env::new(clock.clone()));
    let mut client = Client::responses(&router);
    client.send(&create("wait"));
    assert_eq!(client.messages().last().unwrap()["delta"], "Begun");
    let mut seen = Vec::new();
    for _ in 0..3 {
        clock.advance(Duration::from_secs(15));
        while let Some(message) = client.next() {
            match message {
                SocketMessage::Text(text) => {
                    let event: serde_json::Value = serde_json::from_slice(&text).unwrap();
                    seen.push(event["type"].as_str().unwrap().to_owned());
                }
                SocketMessage::Ping => seen.push("ping".into()),
                other => panic!("{other:?}"),
            }
        }
        client.0.receive(SocketMessage::Pong);
    }
    assert!(
        seen.contains(&"response.in_progress".to_owned()),
        "{seen:?}"
    );
    assert!(seen.contains(&"ping".to_owned()), "{seen:?}");
    agent.gate.notify_one();
    assert_eq!(
        kinds(&client.messages()).last(),
        Some(&"response.completed")
    );
    let mut last = Vec::new();
    for _ in 0..5 {
        clock.advance(Duration::from_secs(30));
        last.extend(std::iter::from_fn(|| client.next()));
    }
    let gone = SocketMessage::Close {
        code: 1011,
        reason: "no answer to pings",
    };
    assert_eq!(
        last,
        [
            SocketMessage::Ping,
            SocketMessage::Ping,
            SocketMessage::Ping,
            gone
        ]
    );
}
