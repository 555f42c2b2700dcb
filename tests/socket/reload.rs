//! A router that is replaced while sockets are open: every turn meets the router of now.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use copilot_wire::protocol::{Refusal, User};
use copilot_wire::router::Cors;
use copilot_wire::router::socket::SocketMessage;
use copilot_wire::{Router, responses, ui_stream};
use futures::executor::block_on;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::support::{Client, Witness, answer, create, handshake, kinds, open};

/// A router that accepts one key, and has one model.
fn server(agent: &Arc<Witness>, key: &'static str, model: &str) -> Router {
    let router = Router::new()
        .guard(move |mut parts: Parts| async move {
            let sent = parts.headers.get("authorization");
            if sent.and_then(|sent| sent.to_str().ok()) != Some(key) {
                return Err(Refusal::new(StatusCode::UNAUTHORIZED, "unknown key"));
            }
            parts.extensions.insert(User::new(key));
            Ok(parts)
        })
        .mount(responses::Model::new(model), Arc::clone(agent))
        .unwrap();
    router
        .mount(ui_stream::Mount::new(), Arc::clone(agent))
        .unwrap()
}

fn send(id: &str, chat: &str, text: &str, key: &str) -> Value {
    json!({
        "type": "send", "requestId": id, "id": chat, "trigger": "submit-message",
        "headers": {"authorization": key},
        "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": text}]}],
    })
}

fn gone() -> Value {
    json!({"close": 1008, "reason": "requests are not accepted any more"})
}

#[test]
fn a_key_that_was_removed_is_refused_at_every_stage_of_a_turn() {
    let turn = |lane: &str, text: &str| {
        let mut message = create(text);
        message["stream_id"] = lane.into();
        message
    };
    // What was sent before the router is replaced, and how many of it are answered.
    for (stage, before, answered) in [
        ("before a turn", vec![], 0),
        ("after a turn", vec![turn("a", "hi")], 1),
        ("in a turn", vec![turn("a", "wait")], 0),
        (
            "in two turns",
            vec![turn("a", "wait"), turn("b", "wait")],
            0,
        ),
    ] {
        let agent = Arc::new(Witness::default());
        let router = server(&agent, "old", "m");
        let mut client = open(&router, "/v1/responses", &[("authorization", "old")]).unwrap();
        let seen: Vec<_> = before.iter().flat_map(|it| client.ask(it)).collect();
        let count = |seen: &[Value], kind| kinds(seen).iter().filter(|it| **it == kind).count();
        assert_eq!(count(&seen, "response.completed"), answered, "{stage}");
        router.replace(server(&agent, "new", "m"));
        let mut after = client.ask(&turn("c", "hi"));
        let running = before.len() - answered;
        if running > 0 {
            assert_eq!(kinds(&after), ["error"], "{stage}: {after:?}");
            // Nothing more is begun, whatever is sent.
            assert!(client.ask(&turn("d", "hi")).is_empty());
            for _ in 0..running {
                agent.gate.notify_one();
                after.extend(client.messages());
            }
        }
        assert_eq!(after.pop().unwrap(), gone(), "{stage}");
        assert_eq!(count(&after, "response.completed"), running, "{stage}");
        assert_eq!(count(&after, "error"), 1, "{stage}: {after:?}");
        assert_eq!(client.next(), None);
        assert_eq!(agent.runs.load(Ordering::Relaxed), before.len(), "{stage}");
    }
}

#[test]
fn a_key_in_messages_is_that_of_now_and_running_turns_go_on() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        for has_new_key in [true, false] {
            let agent = Arc::new(Witness::default());
            let router = server(&agent, "old", "m");
            let socket = router.socket(handshake("/api/chat", &[])).await;
            let mut client = Client(socket.unwrap());
            client.ask(&send("1", "a", "wait", "old"));
            router.replace(server(&agent, "new", "m"));
            let refused = client.ask(&send("2", "b", "hi", "old"));
            assert_eq!(kinds(&refused), ["error"]);
            agent.gate.notify_one();
            assert_eq!(client.messages().last().unwrap()["type"], "end");
            client.ask(&send("3", "b", "hi", "old"));
            if has_new_key {
                let answered = client.ask(&send("4", "b", "hi", "new"));
                assert_eq!(answered.last().unwrap()["type"], "end");
            }
            let mut closed = false;
            for _ in 0..9 {
                tokio::time::sleep(Duration::from_secs(30)).await;
                closed |= matches!(client.next(), Some(SocketMessage::Close { code: 1008, .. }));
                client.0.receive(SocketMessage::Pong);
            }
            assert_eq!(closed, !has_new_key);
        }
    });
}

#[test]
fn a_request_that_waits_for_its_lane_meets_the_router_of_now() {
    let agent = Arc::new(Witness::default());
    let router = server(&agent, "old", "m");
    let mut client = open(&router, "/v1/responses", &[("authorization", "old")]).unwrap();
    client.ask(&create("wait"));
    assert!(client.ask(&create("hi")).is_empty());
    router.replace(server(&agent, "new", "m"));
    agent.gate.notify_one();
    let mut after = client.messages();
    assert_eq!(after.pop(), Some(gone()));
    let refused = after.pop().unwrap();
    assert_eq!(
        (&refused["type"], &refused["status"]),
        (&json!("error"), &json!(401))
    );
    assert_eq!(answer(&after), "Begun and done");
}

#[test]
fn the_next_turn_has_the_models_and_limits_of_now() {
    let agent = Arc::new(Witness::default());
    let router = server(&agent, "old", "m");
    let mut client = open(&router, "/v1/responses", &[("authorization", "old")]).unwrap();
    assert_eq!(answer(&client.ask(&create("who"))), "old");
    let error = |client: &mut Client| {
        let messages = client.ask(&create("hi"));
        assert_eq!(kinds(&messages), ["error"]);
        messages[0]["status"].as_u64()
    };
    router.replace(server(&agent, "old", "other"));
    assert_eq!(error(&mut client), Some(404));
    router.replace(server(&agent, "old", "m").max_turns(0));
    assert_eq!(error(&mut client), Some(503));
    let slow = async |_| Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "slow down"));
    router.replace(server(&agent, "old", "m").guard(slow));
    assert_eq!(error(&mut client), Some(429));
    // None of this concerns the caller, so the socket is open.
    router.replace(server(&agent, "old", "m"));
    assert_eq!(answer(&client.ask(&create("hi"))), "[user:hi]");
    router.replace(server(&agent, "old", "m").body_limit(10));
    assert_eq!(
        client.ask(&create("hi")),
        [json!({"close": 1009, "reason": "message too large"})]
    );
}

#[test]
fn hosts_and_origins_are_those_of_now() {
    let agent = Arc::new(Witness::default());
    let page = HeaderValue::from_static("https://app.example");
    let base = Router::new()
        .mount(responses::Model::new("m"), agent)
        .unwrap();
    let router = base.clone().cors(Cors::default().allow(page.clone()));
    for (next, status) in [
        (base.clone(), 403),
        (
            base.clone().cors(Cors::any()).hosts(["elsewhere.example"]),
            421,
        ),
    ] {
        router.replace(base.clone().cors(Cors::default().allow(page.clone())));
        let origin = [("origin", "https://app.example")];
        let mut client = open(&router, "/v1/responses", &origin).unwrap();
        assert_eq!(answer(&client.ask(&create("hi"))), "[user:hi]");
        router.replace(next);
        let refused = client.ask(&create("hi"));
        assert_eq!(refused[0]["status"], status);
        assert_eq!(refused[1..], [gone()]);
    }
}

#[test]
fn a_turn_that_fails_with_401_does_not_end_its_connection() {
    let router = Router::new().mount_fn(
        responses::Model::new("m"),
        |_: copilot_wire::Request<_>, _| async {
            let failure = copilot_wire::protocol::AgentError::new("It wants a key.");
            Err(failure.status(StatusCode::UNAUTHORIZED))
        },
    );
    let mut client = Client::responses(&router.unwrap());
    for _ in 0..2 {
        let messages = client.ask(&create("hi"));
        assert_eq!((messages.len(), &messages[0]["status"]), (1, &json!(401)));
    }
}

#[test]
fn all_clones_are_replaced_and_turns_are_shared() {
    let agent = Arc::new(Witness::default());
    let router = server(&agent, "old", "m").max_turns(1);
    let server_of_http = router.clone();
    let mut client = open(&router, "/v1/responses", &[("authorization", "old")]).unwrap();
    client.ask(&create("wait"));
    router.replace(server(&agent, "new", "m").max_turns(1));
    let post = |key: &str| {
        let request = http::Request::post("/v1/responses")
            .header("authorization", key)
            .header("content-type", "application/json");
        let body = create("hi").to_string();
        let body = futures::stream::iter([Ok::<_, ()>(bytes::Bytes::from(body))]);
        let response = block_on(server_of_http.handle(request.body(body).unwrap()));
        response.status().as_u16()
    };
    assert_eq!(post("old"), 401);
    // The turn of before still counts, and a shutdown waits for it.
    assert_eq!(post("new"), 503);
    let mut drain = Box::pin(router.drain(std::future::pending()));
    assert!(futures::FutureExt::now_or_never(drain.as_mut()).is_none());
    agent.gate.notify_one();
    let ended = client.messages();
    assert_eq!(answer(&ended[..ended.len() - 1]), "Begun and done");
    drop(client);
    block_on(drain);
}
