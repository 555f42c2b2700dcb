//! Sockets under any sequence of messages.

use copilot_wire::router::socket::SocketMessage;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Client, router};

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "hi", "call", "fail", "late", "retry", "wait", "panic", "",
    ]);
    let id = prop::sample::select(vec!["1", "2", "a b", ""]);
    let kind = prop::sample::select(vec![
        "response.create",
        "response.steer",
        "send",
        "resume",
        "abort",
        "",
    ]);
    let message = (kind, id.clone(), id, word, any::<bool>()).prop_map(
        |(kind, request, lane, word, flag)| {
            let part = json!([{"type": "text", "text": word}]);
            json!({
                "type": kind, "requestId": request, "id": lane, "stream_id": lane, "input": word,
                "generate": flag, "messages": [{"id": "u", "role": "user", "parts": part}],
            })
            .to_string()
        },
    );
    prop_oneof![
        8 => message,
        1 => any::<String>(),
        1 => prop::sample::select(vec!["{}", "[]", "null", "{", "\"a\"", "{\"type\":{}}"]).prop_map(str::to_owned),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Text(String),
    Other(SocketMessage),
    Read(usize),
    Finish,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => text().prop_map(Step::Text),
        1 => prop::sample::select(vec![SocketMessage::Pong, SocketMessage::Binary, SocketMessage::Ping]).prop_map(Step::Other),
        4 => (0_usize..50).prop_map(Step::Read),
        2 => Just(Step::Finish),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Every message out is JSON, the numbers of a request have no gaps, and nothing follows a close.
    #[test]
    fn messages_out_are_well_formed(steps in prop::collection::vec(step(), 0..40), pages: bool) {
        let (router, agent) = router();
        let mut client = if pages { Client::chats(&router) } else { Client::responses(&router) };
        let mut next = std::collections::HashMap::<String, u64>::new();
        let mut closed = false;
        let mut check = |client: &mut Client, most: usize| {
            for _ in 0..most {
                let Some(message) = client.next() else { break };
                assert!(!closed, "{message:?} behind a close");
                match message {
                    SocketMessage::Text(text) => {
                        let message: Value = serde_json::from_slice(&text).unwrap();
                        assert!(message.is_object());
                        if pages && message["type"] == "chunk" {
                            let id = message["requestId"].as_str().unwrap().to_owned();
                            let number = message["sequence"].as_u64().unwrap();
                            let expected = next.entry(id).or_default();
                            assert!(number == *expected || number == 0);
                            *expected = number + 1;
                        }
                    }
                    SocketMessage::Close { .. } => closed = true,
                    SocketMessage::Ping => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        for step in steps {
            match step {
                Step::Text(text) => client.text(&text),
                Step::Other(message) => client.0.receive(message),
                Step::Read(most) => check(&mut client, most),
                Step::Finish => agent.gate.notify_waiters(),
            }
        }
        check(&mut client, 10_000);
    }
}
