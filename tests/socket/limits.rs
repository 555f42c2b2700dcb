//! Limits of one connection.

use std::sync::atomic::Ordering;

use copilot_wire::router::socket::SocketMessage;
use serde_json::json;

use crate::support::{Client, answer, create, kinds, router};

#[test]
fn a_message_that_is_too_large_closes_the_connection() {
    for message in [
        SocketMessage::TooLarge,
        SocketMessage::Text(vec![b' '; 1025].into()),
    ] {
        let (router, agent) = router();
        let router = router.body_limit(1024);
        let mut client = Client::responses(&router);
        assert_eq!(client.0.limit(), 1024);
        client.ask(&create("wait"));
        client.text(&" ".repeat(1024));
        assert_eq!(kinds(&client.messages()), ["error"]);
        client.0.receive(message);
        assert_eq!(
            client.messages(),
            [json!({"close": 1009, "reason": "message too large"})]
        );
        assert_eq!(agent.dropped.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn sixteen_requests_are_answered_at_a_time() {
    let (router, agent) = router();
    let mut client = Client::responses(&router);
    for lane in 0..20 {
        let mut message = create("wait");
        message["stream_id"] = lane.to_string().into();
        client.send(&message);
    }
    client.messages();
    assert_eq!(agent.runs.load(Ordering::Relaxed), 16);
    agent.gate.notify_one();
    client.messages();
    assert_eq!(agent.runs.load(Ordering::Relaxed), 17);
}

#[test]
fn requests_that_wait_are_limited_in_number_and_bytes() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    for _ in 0..40 {
        client.send(&create("wait"));
    }
    let refused = client.messages();
    let refused: Vec<_> = refused.iter().filter(|it| it["type"] == "error").collect();
    assert_eq!(refused.len(), 8);
    assert_eq!(refused[0]["status"], 429);
    let router = router.body_limit(10_000);
    let mut client = Client::responses(&router);
    for _ in 0..10 {
        client.send(&create("x".repeat(3000)));
    }
    let messages = client.messages();
    let of = |kind: &str| messages.iter().filter(|it| it["type"] == kind).count();
    assert_eq!((of("error"), of("response.completed")), (7, 3));
}

#[test]
fn requests_that_wait_may_have_exactly_the_limit_of_a_body() {
    let (router, _) = router();
    // Returns the least limit within which so many equal requests wait.
    let least = |count| {
        let limit = (1..1000).find(|limit| {
            let mut client = Client::responses(&router.clone().body_limit(*limit));
            for _ in 0..count {
                client.send(&create("hi"));
            }
            let messages = client.messages();
            let answered = messages
                .iter()
                .filter(|it| it["type"] == "response.completed");
            answered.count() == count
        });
        limit.unwrap()
    };
    assert_eq!(least(4), 2 * least(2));
}

#[test]
fn a_client_that_sends_nonsense_and_does_not_read_is_closed() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    for _ in 0..64 {
        client.text("{");
    }
    assert_eq!(kinds(&client.messages()), ["error"; 64]);
    for _ in 0..65 {
        client.text("{");
    }
    let reason = json!({"close": 1008, "reason": "too many messages were refused"});
    assert_eq!(client.messages(), [reason]);
}

#[test]
fn a_chain_has_a_limit_of_bytes() {
    let (router, _) = router();
    let mut client = Client::responses(&router);
    let mut first = None;
    let mut last = String::new();
    for number in 0..6 {
        let mut message = create("x".repeat(4 << 20));
        message["generate"] = false.into();
        let prepared = client.ask(&message);
        last = crate::support::id(&prepared).to_owned();
        if number == 0 {
            first = Some(last.clone());
        }
    }
    let messages = client.ask(&crate::support::continued(&first.unwrap(), "hi"));
    assert_eq!(kinds(&messages), ["error"]);
    assert_eq!(messages[0]["error"]["code"], "previous_response_not_found");
    let messages = client.ask(&crate::support::continued(&last, "hi"));
    assert!(answer(&messages).ends_with("user:hi]"));
}

#[test]
fn requests_that_wait_are_in_the_budget_of_all_bodies() {
    let (router, _) = router();
    let router = router.body_budget(20_000);
    let mut clients: Vec<_> = (0..5).map(|_| Client::responses(&router)).collect();
    for client in &mut clients {
        // The second one waits for the first one.
        client.ask(&create("wait"));
        client.send(&create("x".repeat(6000)));
    }
    let mut messages = clients.iter_mut().flat_map(Client::messages);
    let refused = messages.find(|it| it["type"] == "error").unwrap();
    assert_eq!(refused["status"], 503);
    drop(clients);
    let mut client = Client::responses(&router);
    let answered = client.ask(&create("x".repeat(6000)));
    assert_eq!(answered.last().unwrap()["type"], "response.completed");
}
