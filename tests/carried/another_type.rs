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

#[test]
fn values_of_another_type_are_said_once_in_the_role_where_they_stand() {
    let odd = json!({"k": "odd value"});
    let call = |arguments: &Value| json!({"id": "c", "type": "function", "function": {"arguments": arguments, "name": "f"}});
    let messages = |front_end: &str, message: Value| {
        let members = match front_end {
            "responses" => json!({"input": [message], "model": "m"}),
            "agui" => json!({"messages": [message], "runId": "r", "threadId": "t"}),
            _ => json!({"id": "i", "messages": [message], "model": "m"}),
        };
        (front_end.to_owned(), members)
    };
    let rows = [
        (
            "agui",
            "tool",
            json!({"content": "a", "error": odd, "id": "i", "role": "tool", "toolCallId": "c"}),
        ),
        (
            "agui",
            "tool",
            json!({"content": "a", "id": "i", "name": odd, "role": "tool", "toolCallId": "c"}),
        ),
        (
            "agui",
            "assistant",
            json!({"id": "i", "role": "assistant", "toolCalls": [call(&odd)]}),
        ),
        (
            "agui",
            "assistant",
            json!({"id": "i", "role": "assistant", "toolCalls": odd}),
        ),
        (
            "agui",
            "assistant",
            json!({"id": "i", "role": "assistant", "tool_calls": odd}),
        ),
        (
            "agui",
            "assistant",
            json!({"id": "i", "role": "assistant", "tool_calls": [["odd value"]]}),
        ),
        (
            "agui",
            "system",
            json!({"content": "a", "id": "i", "name": odd, "role": "system"}),
        ),
        (
            "agui",
            "user",
            json!({"content": [{"mimeType": odd, "type": "image"}], "id": "i", "role": "user"}),
        ),
        (
            "agui",
            "user",
            json!({"content": [{"mimeType": odd, "text": "a", "type": "text"}], "id": "i", "role": "user"}),
        ),
        (
            "agui",
            "user",
            json!({"content": "a", "id": "i", "name": odd, "role": "user"}),
        ),
        (
            "ui",
            "tool",
            json!({"id": "i", "parts": [{"errorText": odd, "state": "output-error", "toolCallId": "c", "type": "tool-f"}], "role": "assistant"}),
        ),
        (
            "ui",
            "assistant",
            json!({"id": "i", "parts": [{"state": odd, "type": "data-x"}], "role": "assistant"}),
        ),
        (
            "ui",
            "assistant",
            json!({"id": "i", "parts": [{"state": odd, "text": "a", "type": "text"}], "role": "assistant"}),
        ),
        (
            "ui",
            "assistant",
            json!({"id": "i", "parts": [{"text": odd, "type": "text"}], "role": "assistant"}),
        ),
        (
            "ui",
            "assistant",
            json!({"id": "i", "parts": ["odd value", {"text": "a", "type": "text"}], "role": "assistant"}),
        ),
        (
            "ui",
            "assistant",
            json!({"id": "i", "parts": odd, "role": "assistant"}),
        ),
        (
            "ui",
            "user",
            json!({"id": "i", "parts": odd, "role": "user"}),
        ),
        (
            "chat",
            "tool",
            json!({"content": "a", "name": odd, "role": "tool", "tool_call_id": "c"}),
        ),
        (
            "chat",
            "system",
            json!({"content": "a", "name": odd, "role": "system"}),
        ),
        (
            "chat",
            "assistant",
            json!({"content": "a", "role": "assistant", "tool_calls": [call(&odd)]}),
        ),
        (
            "chat",
            "assistant",
            json!({"content": "a", "role": "assistant", "tool_calls": [call(&json!(["odd value"]))]}),
        ),
        (
            "chat",
            "assistant",
            json!({"content": "a", "role": "assistant", "tool_calls": odd}),
        ),
        (
            "messages",
            "tool",
            json!({"content": [{"content": "a", "is_error": odd, "tool_use_id": "c", "type": "tool_result"}], "role": "user"}),
        ),
        (
            "messages",
            "assistant",
            json!({"content": [{"citations": odd, "text": "a", "type": "text"}], "role": "assistant"}),
        ),
        (
            "messages",
            "assistant",
            json!({"content": [{"id": odd, "input": {}, "name": "f", "type": "tool_use"}], "role": "assistant"}),
        ),
        (
            "responses",
            "tool",
            json!({"call_id": "c", "output": "a", "status": odd, "type": "function_call_output"}),
        ),
        (
            "responses",
            "tool",
            json!({"call_id": "c", "status": odd, "type": "function_call_output"}),
        ),
        (
            "responses",
            "assistant",
            json!({"arguments": odd, "call_id": "c", "name": "f", "type": "function_call"}),
        ),
        (
            "responses",
            "assistant",
            json!({"call_id": "c", "name": "f", "status": odd, "type": "function_call"}),
        ),
        (
            "responses",
            "assistant",
            json!({"action": {}, "call_id": "c", "status": odd, "type": "local_shell_call"}),
        ),
        (
            "responses",
            "assistant",
            json!({"status": odd, "type": "web_search_call"}),
        ),
        (
            "responses",
            "assistant",
            json!({"content": [{"annotations": odd, "text": "a", "type": "output_text"}], "role": "assistant", "type": "message"}),
        ),
        (
            "responses",
            "assistant",
            json!({"content": [{"annotations": odd, "type": "other"}], "role": "assistant", "type": "message"}),
        ),
        (
            "github",
            "assistant",
            json!({"content": "a", "copilot_references": odd, "role": "assistant"}),
        ),
        (
            "github",
            "tool",
            json!({"content": "a", "name": odd, "role": "tool", "tool_call_id": "c"}),
        ),
        (
            "github",
            "user",
            json!({"content": "", "copilot_references": odd, "name": "_session", "role": "user"}),
        ),
        (
            "github",
            "user",
            json!({"content": [{"text": ["odd value"], "type": "text"}], "role": "user"}),
        ),
        (
            "openbb",
            "assistant",
            json!({"agent_id": odd, "content": "a", "role": "ai"}),
        ),
        (
            "openbb",
            "user",
            json!({"content": "a", "message_id": odd, "role": "human"}),
        ),
        (
            "openbb",
            "tool",
            json!({"agent_id": odd, "data": [{"items": [{"content": "a"}]}], "function": "f", "role": "tool"}),
        ),
        (
            "openbb",
            "tool",
            json!({"data": [{"items": ["odd value", {"content": "a"}]}], "function": "f", "role": "tool"}),
        ),
    ];
    let rows = rows.map(|(front_end, role, message)| (messages(front_end, message), role));
    let hello = json!([{"content": "a", "id": "i", "role": "user"}]);
    let whole = [
        (
            (
                "agui".to_owned(),
                json!({"context": [{"description": "d", "value": odd}], "messages": hello}),
            ),
            "user",
        ),
        (
            (
                "messages".to_owned(),
                json!({"messages": hello, "system": [{"citations": odd, "text": "a", "type": "text"}]}),
            ),
            "system",
        ),
        (
            (
                "openbb".to_owned(),
                json!({"messages": [], "workspace_state": {"current_dashboard_uuid": odd}}),
            ),
            "user",
        ),
        (
            (
                "chat".to_owned(),
                json!({"messages": [{"content": "a", "role": "user"}, "odd value"]}),
            ),
            "user",
        ),
    ];
    let mut wrong = Vec::new();
    for ((front_end, request), role) in rows.into_iter().chain(whole) {
        let found = roles(&front_end, &request);
        if found != [role] {
            wrong.push(format!(
                "{front_end} {request}: {found:?} instead of {role}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn secrets_of_another_type_are_in_no_prompt() {
    let odd = json!({"k": "odd value"});
    let hello = json!([{"content": "a", "role": "user"}]);
    let human = json!([{"content": "a", "role": "human"}]);
    let part = |part: Value| json!({"id": "i", "messages": [{"id": "i", "parts": [part], "role": "user"}]});
    for (front_end, request) in [
        (
            "openbb",
            json!({"api_keys": "odd value", "messages": human}),
        ),
        (
            "openbb",
            json!({"api_keys": ["odd value"], "messages": human}),
        ),
        (
            "openbb",
            json!({"api_keys": {"openai_api_key": odd}, "messages": human}),
        ),
        (
            "openbb",
            json!({"messages": human, "tools": [{"auth_token": odd, "name": "a_b"}]}),
        ),
        (
            "openbb",
            json!({"messages": human, "tools": [["odd value"]]}),
        ),
        (
            "openbb",
            json!({"messages": human, "tools": {"auth_token": "odd value", "name": "a_b"}}),
        ),
        ("responses", json!({"input": "a", "prompt_cache_key": odd})),
        (
            "responses",
            json!({"input": "a", "previous_response_id": odd}),
        ),
        (
            "ui",
            part(
                json!({"filename": odd, "mediaType": "text/plain", "type": "file", "url": "https://a.b"}),
            ),
        ),
        ("ui", part(json!({"id": odd, "text": "a", "type": "text"}))),
        (
            "agui",
            json!({"messages": [{"content": [{"id": odd, "type": "binary", "url": "https://a.b"}], "id": "i", "role": "user"}]}),
        ),
    ] {
        assert!(roles(front_end, &request).is_empty(), "{request}");
    }
    assert_eq!(
        roles("chat", &json!({"messages": hello, "tools": "odd value"})),
        ["user"]
    );
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
