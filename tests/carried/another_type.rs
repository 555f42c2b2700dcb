//! Values of another type than their place: each once, in the role where it stands, and no secret.

use copilot_wire::anthropic::MessagesRequest;
use copilot_wire::github;
use copilot_wire::openai::ChatRequest;
use copilot_wire::protocol::Conversation;
use serde_json::{Value, json};

use crate::prompts;

/// Returns the roles of the messages of a prompt in which the marker is, once for each time.
fn roles(front_end: &str, request: &Value) -> Vec<String> {
    let [prompt, ..] = prompts(front_end, &request.to_string()).unwrap();
    let prompt: Value = serde_json::from_str(&prompt).unwrap();
    let messages = prompt["messages"].as_array().unwrap().iter();
    let found = messages.flat_map(|message| {
        let count = message.to_string().matches("odd value").count();
        std::iter::repeat_n(message["role"].as_str().unwrap().to_owned(), count)
    });
    found.collect()
}

/// A secret has no role: it is in no prompt.
#[test]
fn values_of_another_type_are_said_once_in_the_role_where_they_stand() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../../fixtures/carried/another_type.json")).unwrap();
    let mut wrong = Vec::new();
    for row in rows {
        let found = roles(row["front_end"].as_str().unwrap(), &row["request"]);
        let role = row["role"].as_str();
        if !found.iter().map(String::as_str).eq(role) {
            wrong.push(format!("{row}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The item of a tool that runs at the server may have its output in an item of its own.
#[test]
fn a_call_in_a_container_keeps_its_output() {
    let request = json!({"input": [
        {"content": "a", "role": "user", "type": "message"},
        {"action": {"commands": ["ls"]}, "call_id": "c", "environment": {"container_id": "e", "type": "container_reference"}, "type": "shell_call"},
        {"call_id": "c", "output": [{"stdout": "file.txt"}], "type": "shell_call_output"},
    ], "model": "m"});
    let [prompt, ..] = prompts("responses", &request.to_string()).unwrap();
    let prompt: Value = serde_json::from_str(&prompt).unwrap();
    let messages = prompt["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "{prompt}");
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["name"], "shell",
        "{prompt}"
    );
    assert_eq!(messages[2]["tool_call_id"], "c", "{prompt}");
}

/// A part in place of a list is read as a part, and what no part says is no text.
#[test]
fn a_part_without_a_list_is_a_part() {
    let image = json!({"source": {"data": "aGVsbG8gd29ybGQ=", "media_type": "image/png", "type": "base64"}, "type": "image"});
    let url = json!({"image_url": {"url": "data:image/png;base64,aGVsbG8gd29ybGQ="}, "type": "image_url"});
    for (front_end, content, texts) in [
        ("messages", image, vec![]),
        ("github", url.clone(), vec![]),
        ("chat", url, vec![]),
        (
            "github",
            json!([{"text": 7, "type": "text"}]),
            vec![r#"{"text":7,"type":"text"}"#],
        ),
        (
            "github",
            json!([null, {}, "a", {"text": "b", "type": "text"}]),
            vec!["a\nb"],
        ),
        ("github", json!({"text": "a"}), vec!["a"]),
        ("messages", json!({"text": "a", "type": "text"}), vec!["a"]),
    ] {
        let request = json!({"messages": [{"content": content, "role": "user"}], "model": "m"});
        let body = request.to_string();
        let said: Vec<String> = match front_end {
            "messages" => texts_of(&MessagesRequest::from_json(&body).unwrap()),
            "github" => texts_of(&github::ChatRequest::from_json(&body).unwrap()),
            _ => texts_of(&ChatRequest::from_json(&body).unwrap()),
        };
        assert_eq!(said, texts, "{request}");
        let [prompt, ..] = prompts(front_end, &body).unwrap();
        let count = prompt.matches("aGVsbG8gd29ybGQ=").count();
        assert_eq!(count, body.matches("aGVsbG8gd29ybGQ=").count(), "{prompt}");
    }
}

/// Returns the texts of the messages that have some.
fn texts_of(conversation: &impl Conversation) -> Vec<String> {
    let texts = conversation
        .messages()
        .map(|message| message.text.into_owned());
    texts.filter(|text| !text.is_empty()).collect()
}
