//! The WebSocket transport of the AI SDK.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use copilot_wire::replies::{MemoryReplyStore, Replies};
use copilot_wire::router::socket::SocketMessage;
use copilot_wire::{Router, ui_stream};
use http::HeaderName;
use serde_json::{Value, json};

use crate::support::{Client, Witness, handshake, keys, kinds, open, router};

fn send(request: &str, chat: &str, text: &str) -> Value {
    json!({
        "type": "send", "requestId": request, "id": chat, "trigger": "submit-message",
        "messages": [{"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}],
        "headers": {}, "body": {"team": "a"},
    })
}

fn text(messages: &[Value]) -> String {
    let deltas = messages
        .iter()
        .filter(|it| it["chunk"]["type"] == "text-delta");
    deltas
        .map(|it| it["chunk"]["delta"].as_str().unwrap())
        .collect()
}

#[test]
fn chunks_are_numbered_and_the_end_follows() {
    let (router, _) = router();
    let mut client = Client::chats(&router);
    let messages = client.ask(&send("Vn1", "chat1", "hi"));
    let (end, chunks) = messages.split_last().unwrap();
    assert_eq!(*end, json!({"type": "end", "requestId": "Vn1"}));
    for (number, message) in chunks.iter().enumerate() {
        assert_eq!(message["type"], "chunk");
        assert_eq!(message["requestId"], "Vn1");
        assert_eq!(message["sequence"], number);
    }
    assert_eq!(chunks[0]["chunk"]["type"], "start");
    assert_eq!(text(&messages), "[user:hi]");
    // Numbers begin anew for each request, and with more than nine of them.
    let messages = client.ask(&send("x\"2", "chat1", "long"));
    assert_eq!(messages[0]["sequence"], 0);
    assert_eq!(messages[0]["requestId"], "x\"2");
    assert_eq!(messages[1234]["sequence"], 1234);
}

#[test]
fn several_chats_share_a_connection_and_each_has_one_reply_at_a_time() {
    let (router, agent) = router();
    let mut client = Client::chats(&router);
    assert_eq!(text(&client.ask(&send("1", "a", "wait"))), "Begun");
    assert_eq!(text(&client.ask(&send("2", "b", "hi"))), "[user:hi]");
    let refused = client.ask(&send("3", "a", "hi"));
    assert_eq!(kinds(&refused), ["error"]);
    assert_eq!(refused[0]["requestId"], "3");
    assert!(
        refused[0]["errorText"]
            .as_str()
            .unwrap()
            .contains("still being answered")
    );
    // Chunks of two replies with one id could not be told apart.
    assert_eq!(kinds(&client.ask(&send("1", "c", "hi"))), ["error"]);
    agent.gate.notify_one();
    let rest = client.messages();
    assert_eq!(text(&rest), " and done");
    assert_eq!(
        *rest.last().unwrap(),
        json!({"type": "end", "requestId": "1"})
    );
}

#[test]
fn abort_drops_the_agent_and_the_connection_goes_on() {
    let (router, agent) = router();
    let mut client = Client::chats(&router);
    client.ask(&send("1", "a", "wait"));
    // Only the second one names a request.
    for (id, dropped) in [("9", 0), ("1", 1), ("1", 1)] {
        let abort = json!({"type": "abort", "requestId": id});
        assert_eq!(client.ask(&abort), [Value::Null; 0]);
        assert_eq!(agent.dropped.load(Ordering::Relaxed), dropped);
    }
    assert_eq!(text(&client.ask(&send("2", "a", "hi"))), "[user:hi]");
}

#[test]
fn failures_end_their_request_only() {
    let (router, _) = router();
    let mut client = Client::chats(&router);
    let failed = client.ask(&send("1", "a", "fail"));
    let errors: Vec<_> = failed
        .iter()
        .filter(|it| it["chunk"]["type"] == "error")
        .collect();
    assert_eq!(errors.len(), 1);
    assert_eq!(kinds(&failed).last(), Some(&"end"));
    let mut empty = send("2", "a", "hi");
    empty["messages"] = json!([]);
    let refused = client.ask(&empty);
    assert_eq!(kinds(&refused), ["error"]);
    assert!(
        refused[0]["errorText"]
            .as_str()
            .unwrap()
            .starts_with("messages: ")
    );
    let unknown = client.ask(&json!({"type": "rewind", "requestId": "3"}));
    assert_eq!(kinds(&unknown), ["error"]);
    assert_eq!(text(&client.ask(&send("4", "a", "hi"))), "[user:hi]");
}

#[test]
fn a_message_that_no_answer_can_name_closes_the_connection() {
    for bad in [
        "{",
        "7",
        "[]",
        r#"{"type":"send"}"#,
        r#"{"type":"send","requestId":7}"#,
    ] {
        let (router, agent) = router();
        let mut client = Client::chats(&router);
        client.ask(&send("1", "a", "wait"));
        client.text(bad);
        assert_eq!(
            client.messages(),
            [json!({"close": 1008, "reason": "invalid message"})],
            "{bad}"
        );
        assert_eq!(agent.dropped.load(Ordering::Relaxed), 1);
        assert_eq!(client.next(), None);
    }
}

#[test]
fn guards_check_the_headers_of_every_message() {
    let (router, agent) = router();
    let router = router.guard(keys);
    // Browsers cannot send any with the handshake.
    let mut client = Client::chats(&router);
    let mut who = send("1", "a", "who");
    let refused = client.ask(&who);
    assert_eq!(kinds(&refused), ["error"]);
    assert_eq!(refused[0]["errorText"], "an API key is missing");
    assert_eq!(agent.runs.load(Ordering::Relaxed), 0);
    for user in ["ann", "bob"] {
        who["headers"] = json!({"Authorization": format!("Bearer {user}")});
        assert_eq!(text(&client.ask(&who)), user);
    }
    // Those of the handshake take precedence: a proxy may have checked them.
    let mut client = open(&router, "/api/chat", &[("authorization", "Bearer eve")]).unwrap();
    assert_eq!(text(&client.ask(&who)), "eve");
}

#[test]
fn messages_bring_no_headers_but_those_that_the_mount_names() {
    let agent = Arc::new(Witness::default());
    let key = HeaderName::from_static("x-api-key");
    let mount = ui_stream::Mount::new().message_header(key);
    let router = Router::new().mount(mount, agent).unwrap();
    let mut client = open(
        &router,
        "/api/chat?token=t1",
        &[("x-forwarded-for", "10.0.0.1")],
    )
    .unwrap();
    let mut message = send("1", "a", "headers");
    message["headers"] = json!({
        "x-api-key": "k", "x-forwarded-user": "admin", "X-Forwarded-For": "127.0.0.1", "cookie": "a=b", "host": "evil",
    });
    assert_eq!(
        text(&client.ask(&message)),
        "POST /api/chat?token=t1 content-type,host,x-api-key,x-forwarded-for",
    );
}

/// A router with stored replies, whose tasks run on this runtime.
fn resumable() -> (Router, Arc<Witness>, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let (router, agent) = router();
    let handle = runtime.handle().clone();
    let replies = Replies::single_user(MemoryReplyStore::new(), move |task| handle.spawn(task));
    (router.resumable(replies), agent, runtime)
}

/// Lets the tasks run.
fn settle(runtime: &tokio::runtime::Runtime) {
    runtime.block_on(async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_reply_is_resumed_on_another_connection() {
    let (router, agent, runtime) = resumable();
    let mut client = Client::chats(&router);
    client.send(&send("1", "chat/1", "wait"));
    let mut messages = client.messages();
    settle(&runtime);
    messages.extend(client.messages());
    assert_eq!(text(&messages), "Begun");
    drop(client);
    agent.gate.notify_one();
    settle(&runtime);
    assert_eq!(agent.dropped.load(Ordering::Relaxed), 0);
    let mut client = Client::chats(&router);
    let mut resumed = client.ask(&json!({"type": "resume", "requestId": "2", "id": "chat/1"}));
    settle(&runtime);
    resumed.extend(client.messages());
    assert_eq!(resumed[0], json!({"type": "start", "requestId": "2"}));
    assert_eq!(resumed[1]["sequence"], 0);
    assert_eq!(resumed[1]["chunk"], messages[0]["chunk"]);
    assert_eq!(text(&resumed), "Begun and done");
    assert_eq!(
        *resumed.last().unwrap(),
        json!({"type": "end", "requestId": "2"})
    );
    let nothing = client.ask(&json!({"type": "resume", "requestId": "3", "id": "chat/2"}));
    assert_eq!(nothing, [json!({"type": "no-active", "requestId": "3"})]);
}

#[test]
fn abort_cancels_a_stored_reply_and_not_the_next_one() {
    let (router, agent, runtime) = resumable();
    let mut client = Client::chats(&router);
    client.send(&send("1", "a", "wait"));
    client.messages();
    settle(&runtime);
    client.send(&json!({"type": "abort", "requestId": "1"}));
    client.send(&send("2", "a", "hi"));
    let mut messages = Vec::new();
    for _ in 0..5 {
        messages.extend(client.messages());
        settle(&runtime);
    }
    assert_eq!(agent.dropped.load(Ordering::Relaxed), 1);
    assert_eq!(text(&messages), "[user:hi]");
    assert!(messages.iter().all(|it| it["requestId"] == "2"));
}

#[test]
fn without_a_store_there_is_nothing_to_resume() {
    let (router, _) = router();
    let mut client = Client::chats(&router);
    let messages = client.ask(&json!({"type": "resume", "requestId": "1", "id": "a"}));
    assert_eq!(messages, [json!({"type": "no-active", "requestId": "1"})]);
    client.0.receive(SocketMessage::Binary);
    assert_eq!(client.messages().len(), 1);
}

#[test]
fn long_ids_and_headers_are_refused() {
    let (router, _) = router();
    let mut client = Client::chats(&router);
    for kind in ["send", "resume"] {
        let mut message = send("1", &"x".repeat(70_000), "hi");
        message["type"] = kind.into();
        let refused = client.ask(&message);
        assert_eq!(kinds(&refused), ["error"]);
        let text = refused[0]["errorText"].as_str().unwrap();
        assert!(text.contains("id"), "{text}");
    }
    let mut message = send("1", "a", "hi");
    message["headers"] = json!({"authorization": "x".repeat(9000)});
    assert_eq!(kinds(&client.ask(&message)), ["error"]);
    assert_eq!(text(&client.ask(&send("2", "a", "hi"))), "[user:hi]");
}

#[test]
fn a_chat_that_is_resumed_takes_no_other_message() {
    let (router, agent, runtime) = resumable();
    let mut client = Client::chats(&router);
    client.send(&send("1", "a", "wait"));
    client.messages();
    settle(&runtime);
    drop(client);
    let mut client = Client::chats(&router);
    client.ask(&json!({"type": "resume", "requestId": "2", "id": "a"}));
    let refused = client.ask(&send("3", "a", "hi"));
    assert_eq!(refused.last().unwrap()["type"], "error");
    assert_eq!(agent.runs.load(Ordering::Relaxed), 1);
}

#[test]
fn a_connection_without_an_accepted_request_is_closed() {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        for key in ["", "Bearer ann"] {
            let (router, _) = router();
            let router = router.guard(keys);
            let opened = router.socket(handshake("/api/chat", &[])).await;
            let mut client = Client(opened.unwrap());
            let mut message = send("1", "a", "hi");
            message["headers"] = json!({"authorization": key});
            client.ask(&message);
            let mut pings = 0;
            let closed = loop {
                tokio::time::sleep(std::time::Duration::from_secs(30)).await;
                match client.next() {
                    Some(SocketMessage::Ping) if pings == 10 => break None,
                    Some(SocketMessage::Ping) => pings += 1,
                    Some(SocketMessage::Close { code, .. }) => break Some(code),
                    _ => {}
                }
                client.0.receive(SocketMessage::Pong);
            };
            let expected = if key.is_empty() {
                (Some(1008), 3)
            } else {
                (None, 10)
            };
            assert_eq!((closed, pings), expected);
        }
    });
}

/// A client that answers the end at once may be faster than the server.
#[test]
fn a_message_behind_the_end_is_not_refused() {
    let (router, _) = router();
    let mut client = Client::chats(&router);
    client.send(&send("1", "a", "hi"));
    loop {
        let Some(SocketMessage::Text(message)) = client.next() else {
            panic!("no end");
        };
        if message.starts_with(br#"{"type":"end""#) {
            break;
        }
    }
    // The socket is not polled in between.
    assert_eq!(text(&client.ask(&send("1", "a", "again"))), "[user:again]");
}
