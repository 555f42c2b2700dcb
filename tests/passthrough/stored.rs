//! Turns that are stored are recorded under the ids of the other server, with all that it sent.

use std::sync::{Arc, Mutex};

use copilot_wire::Router;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use serde_json::{Value, json};

use crate::streams::{MESSAGES, RESPONSES, Sent, blocks, sent, stream};
use crate::{Gateway, ask, data, request};

/// Returns the answers of Responses, with ids of their own.
fn answers() -> Vec<Sent> {
    let sent = sent().into_iter().filter(|sent| sent.path == RESPONSES);
    sent.collect()
}

struct Stored {
    router: Router,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Stored {
    /// A gateway whose upstream always sends this.
    fn new(answer: &str) -> Self {
        let gateway = Gateway::pieces(RESPONSES, answer, 50);
        let store = MemoryConversationStore::new();
        Self {
            asked: Arc::clone(&gateway.asked),
            router: gateway
                .router()
                .conversations(Conversations::single_user(store)),
        }
    }

    fn ask(&self, members: Value) -> (u16, String) {
        let mut request = request(RESPONSES, true);
        for (name, value) in members.as_object().unwrap() {
            request[name] = value.clone();
        }
        ask(&self.router, RESPONSES, &request)
    }

    /// Returns the input of the last request to the upstream.
    fn input(&self) -> Value {
        self.asked.lock().unwrap().last().unwrap()["input"].clone()
    }
}

/// Returns the items of an answer.
fn items(sent: &Sent) -> Vec<Value> {
    let output = &sent.events.last().unwrap()["response"]["output"];
    output.as_array().unwrap().clone()
}

/// The same stream, whose last event does not repeat the items.
pub(crate) fn without_output(sent: &Sent) -> String {
    let mut sent = Sent {
        path: sent.path,
        name: sent.name,
        events: sent.events.clone(),
    };
    sent.events.last_mut().unwrap()["response"]["output"] = json!([]);
    stream(&sent)
}

#[test]
fn a_turn_is_continued_with_all_items_as_they_were_sent() {
    for sent in answers() {
        for stream in [stream(&sent), without_output(&sent)] {
            let stored = Stored::new(&stream);
            let (_, body) = stored.ask(json!({}));
            assert_eq!(data(&body)[..3], sent.events[..3], "{}", sent.name);
            let (status, body) =
                stored.ask(json!({"previous_response_id": "resp_up", "input": "more"}));
            assert_eq!(status, 200, "{body}");
            let input = stored.input();
            let input = input.as_array().unwrap();
            assert_eq!(
                input.len(),
                items(&sent).len() + 2,
                "{}: {input:?}",
                sent.name
            );
            assert_eq!(input[1..=items(&sent).len()], items(&sent), "{}", sent.name);
        }
    }
}

#[test]
fn an_item_is_found_by_its_id() {
    for sent in answers() {
        for stream in [stream(&sent), without_output(&sent)] {
            for item in items(&sent) {
                let stored = Stored::new(&stream);
                stored.ask(json!({}));
                let reference = json!({"type": "item_reference", "id": item["id"]});
                let question = json!({"type": "message", "role": "user", "content": "more"});
                let (status, body) = stored.ask(json!({"input": [reference, question]}));
                assert_eq!(status, 200, "{}: {body}", sent.name);
                assert_eq!(stored.input()[0], item, "{}", sent.name);
            }
        }
    }
}

#[test]
fn a_turn_whose_id_is_not_unique_cannot_be_continued() {
    let sent = &answers()[0];
    let stored = Stored::new(&stream(sent));
    for _ in 0..2 {
        assert_eq!(stored.ask(json!({})).0, 200);
    }
    let (status, body) = stored.ask(json!({"previous_response_id": "resp_up"}));
    assert!(
        status == 400 && body.contains("previous_response_not_found"),
        "{body}"
    );
    let reference = json!([{"type": "item_reference", "id": items(sent)[0]["id"]}]);
    let (status, body) = stored.ask(json!({"input": reference}));
    assert!(status == 400 && body.contains("item_not_found"), "{body}");
}

#[test]
fn a_turn_that_broke_off_is_not_stored() {
    let whole = stream(&answers()[0]);
    let stored = Stored::new(&whole[..whole.len() - 40]);
    let (_, body) = stored.ask(json!({}));
    assert!(body.contains("response.failed"), "{body}");
    let (status, _) = stored.ask(json!({"previous_response_id": "resp_up"}));
    assert_eq!(status, 400);
}

#[test]
fn ids_unknown_members_and_items_reach_the_model() {
    let stored = Stored::new(&stream(&answers()[0]));
    let own = "msg_0123456789abcdef0123456789abcdef";
    let input = json!([
        {"type": "message", "role": "user", "content": "q", "new": [1]},
        {"type": "local_shell_call_output", "id": "lsco_1", "output": "{}"},
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "t", "server_label": "s", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
        {"type": "message", "id": "msg_68af0123", "role": "assistant", "content": [{"type": "output_text", "text": "A"}], "phase": "commentary"},
        {"type": "dream", "id": "d_1", "shape": {"a": 1}},
    ]);
    let mut sent = input.as_array().unwrap().clone();
    sent.push(json!({"type": "message", "id": own, "role": "assistant", "content": "ours"}));
    let (status, body) =
        stored.ask(json!({"input": sent, "store": false, "new_setting": {"b": 2}}));
    assert_eq!(status, 200, "{body}");
    let asked = stored.asked.lock().unwrap()[0].clone();
    let got = asked["input"].as_array().unwrap();
    assert_eq!(got[..7], input.as_array().unwrap()[..]);
    assert!(got[7].get("id").is_none(), "{}", got[7]);
    assert_eq!(asked["new_setting"], json!({"b": 2}));
}

#[test]
fn a_conversation_by_its_id_has_the_items() {
    for sent in answers() {
        let stored = Stored::new(&without_output(&sent));
        let (_, made) = ask(&stored.router, "/v1/conversations", &json!({}));
        let made: Value = serde_json::from_str(&made).unwrap();
        for more in [0, 1] {
            let (status, body) = stored.ask(json!({"conversation": made["id"], "input": "q"}));
            assert_eq!(status, 200, "{body}");
            let input = stored.input();
            let expected = match more {
                0 => 1,
                _ => items(&sent).len() + 2,
            };
            assert_eq!(
                input.as_array().map_or(1, Vec::len),
                expected,
                "{}: {input}",
                sent.name
            );
        }
    }
}

#[test]
fn a_thread_is_continued_with_all_blocks_as_they_were_sent() {
    for sent in sent().iter().filter(|sent| sent.path == MESSAGES) {
        let gateway = Gateway::pieces(MESSAGES, stream(sent), 50);
        let store = MemoryConversationStore::new();
        let router = gateway
            .router()
            .conversations(Conversations::single_user(store));
        let mut first = request(MESSAGES, true);
        first["thread"] = json!({"type": "create"});
        let (_, body) = ask(&router, MESSAGES, &first);
        assert_eq!(data(&body), sent.events, "{}", sent.name);
        let mut second = request(MESSAGES, true);
        second["thread"] = json!({"type": "continue", "previous_message_id": "msg_up"});
        let (status, body) = ask(&router, MESSAGES, &second);
        assert_eq!(status, 200, "{body}");
        let asked = gateway.asked.lock().unwrap();
        let messages = &asked[1]["messages"];
        assert_eq!(messages.as_array().unwrap().len(), 3);
        assert_eq!(messages[1]["content"], blocks(sent), "{}", sent.name);
    }
}
