//! Requests that refer to stored items in place of sending them.

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{answered, per_user, post, router, send_as, with};

const PATH: &str = "/v1/responses";

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn tools() -> Value {
    json!([{"type": "function", "name": "lookup", "parameters": {"type": "object"}}])
}

/// What the AI SDK sends for the output of a response: references, and calls as they were.
fn repeated(response: &Value) -> Vec<Value> {
    let output = response["output"].as_array().unwrap().iter();
    let items = output.map(|item| match item["type"].as_str().unwrap() {
        "function_call" => json!({
            "type": "function_call", "call_id": item["call_id"], "name": item["name"], "arguments": "{\"key\": \"tide\"}",
        }),
        _ => json!({"type": "item_reference", "id": item["id"]}),
    });
    items.collect()
}

fn text(response: &Value) -> &str {
    let output = response["output"].as_array().unwrap();
    output.last().unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
}

#[test]
fn references_to_items_of_several_responses_become_the_items() {
    let router = router();
    let mut input = vec![user("call")];
    let first = answered(&router, PATH, &json!({"input": input, "tools": tools()}));
    let kinds = |response: &Value| -> Vec<_> {
        let output = response["output"].as_array().unwrap().iter();
        output
            .map(|item| item["type"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(kinds(&first), ["reasoning", "function_call"]);
    input.extend(repeated(&first));
    let call_id = first["output"][1]["call_id"].clone();
    input.push(json!({"type": "function_call_output", "call_id": call_id, "output": "high"}));
    let second = answered(&router, PATH, &json!({"input": input, "tools": tools()}));
    let told = "[user:call;call:lookup({\"key\": \"tide\"});result:high|lookup]";
    assert_eq!(text(&second), told);

    input.extend(repeated(&second));
    input.push(user("and now?"));
    let third = answered(&router, PATH, &json!({"input": input}));
    let told = format!(
        "[user:call;call:lookup({{\"key\": \"tide\"}});result:high;assistant:{};user:and now?|]",
        text(&second)
    );
    assert_eq!(text(&third), told);
    assert_eq!(third["previous_response_id"], Value::Null);
}

#[test]
fn a_conversation_of_references_takes_space_in_proportion() {
    let store = Arc::new(MemoryConversationStore::new());
    let agent = copilot_wire::agent_fn(
        |_: copilot_wire::Request<copilot_wire::responses::Responses>,
         reply: copilot_wire::Reply<_>| async move { Ok(reply.text("Yes.").await?) },
    );
    let router = copilot_wire::Router::new()
        .conversations(Conversations::single_user(Arc::clone(&store)))
        .mount(copilot_wire::responses::Model::new("m"), agent)
        .unwrap();
    let (mut input, mut sizes) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        input.push(user(&"long ".repeat(100)));
        let before = store.size();
        let answer = answered(&router, PATH, &json!({"input": input}));
        sizes.push(store.size() - before);
        input.extend(repeated(&answer));
    }
    assert_eq!(sizes[59], sizes[40]);
}

#[test]
fn a_response_with_references_can_be_continued_by_its_id() {
    let router = router();
    let first = answered(&router, PATH, &json!({"input": [user("one")]}));
    let edited = json!([user("other"), {"type": "item_reference", "id": first["output"][0]["id"]}, user("two")]);
    let second = answered(&router, PATH, &json!({"input": edited}));
    let third = answered(
        &router,
        PATH,
        &json!({"input": "three", "previous_response_id": second["id"]}),
    );
    // The history that the client has edited, not the stored one.
    let told = text(&third);
    assert!(
        told.starts_with("[user:other;assistant:[user:one|];user:two;assistant:["),
        "{told}"
    );
    assert!(told.ends_with(";user:three|]"), "{told}");
}

#[test]
fn a_reference_to_an_item_of_the_conversation_that_is_continued_does_not_repeat_the_item() {
    let router = router();
    let first = answered(&router, PATH, &json!({"input": "one"}));
    let other = answered(&router, PATH, &json!({"input": "other"}));
    let reference =
        |response: &Value| json!({"type": "item_reference", "id": response["output"][0]["id"]});
    let input = json!([reference(&first), reference(&other), user("two")]);
    let second = answered(
        &router,
        PATH,
        &json!({"input": input, "previous_response_id": first["id"]}),
    );
    let told = format!(
        "[user:one;assistant:{};assistant:{};user:two|]",
        text(&first),
        text(&other)
    );
    assert_eq!(text(&second), told);
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    let router = per_user(MemoryConversationStore::new());
    let post = |user: &str, body: Value| {
        let (status, text) = send_as(&router, user, http::Method::POST, PATH, &body.to_string());
        (status, serde_json::from_str::<Value>(&text).unwrap())
    };
    let (_, first) = post("ann", json!({"input": "mine"}));
    let item = first["output"][0]["id"].as_str().unwrap();
    let guessed = item.replace("o0", "o7");
    let ids = [
        "",
        "_",
        "msg_1",
        "msg_öööööööööööööööööööööööööööööööööö",
        &guessed,
    ];
    let odd = [json!(null), json!(7)];
    for id in ids.iter().map(|id| json!(id)).chain(odd) {
        let (status, error) = post(
            "ann",
            json!({"input": [user("hi"), {"type": "item_reference", "id": id}]}),
        );
        assert_eq!(status, StatusCode::BAD_REQUEST, "{id}");
        assert_eq!(error["error"]["param"], "input[1]", "{error}");
    }
    let mine = json!({"input": [{"type": "item_reference", "id": item}]});
    assert_eq!(post("bob", mine.clone()).0, StatusCode::BAD_REQUEST);
    assert_eq!(post("ann", mine).0, StatusCode::OK);
}

#[test]
fn short_references_to_a_long_item_are_bounded() {
    let store = MemoryConversationStore::new();
    let router = with(Conversations::single_user(store).limit(100, 100_000));
    let long = "long ".repeat(2_000);
    let first = answered(&router, PATH, &json!({"input": long}));
    let reference = json!({"type": "item_reference", "id": first["output"][0]["id"]});
    let several = vec![reference.clone(); 3];
    assert_eq!(
        post(&router, PATH, &json!({"input": several})).0,
        StatusCode::OK
    );
    let many = vec![reference; 100];
    let (status, error) = post(&router, PATH, &json!({"input": many}));
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["code"], "context_length_exceeded");
}
