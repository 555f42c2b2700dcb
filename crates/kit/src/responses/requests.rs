//! The requests of the conformance kit.

use serde_json::json;

use super::rules::REQUEST;
use crate::check::{HAZARDS, Recorded};

/// The number of requests.
pub(super) const REQUESTS: usize = 9;

/// Returns all requests, the simplest first.
pub(super) fn all(model: &str) -> Vec<Recorded> {
    let user = |content: &str| json!({"type": "message", "role": "user", "content": content});
    let weather = json!({
        "type": "function", "name": "get_weather", "description": "The weather at a place",
        "strict": false,
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    });
    let requests: [_; REQUESTS] = [
        ("a text", json!({"stream": true, "input": "Hello"})),
        (
            "one message",
            json!({"stream": true, "input": [user("Hello")]}),
        ),
        (
            "text that breaks lines",
            json!({"stream": true, "input": [user(HAZARDS)]}),
        ),
        (
            "every role, and content in parts",
            json!({"stream": true, "instructions": "Be kind.", "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
                {"role": "system", "content": "Be honest."},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "What is this?"},
                    {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo="},
                ]},
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Looking"}]},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                    {"type": "output_text", "text": "A picture.", "annotations": []},
                ]},
                user("Are you sure?"),
            ]}),
        ),
        (
            "tools on offer, of every kind",
            json!({
                "stream": true, "tool_choice": "auto", "parallel_tool_calls": true,
                "tools": [weather, {"type": "web_search"}, {"type": "custom", "name": "patch"},
                    {"type": "namespace", "name": "files", "tools": []}],
                "input": [user("What is the weather in Brest?")],
            }),
        ),
        (
            "the result of a tool",
            json!({"stream": true, "tools": [weather], "input": [
                user("What is the weather in Brest?"),
                {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{\"place\":\"Brest\"}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "{\"sky\":\"rain\"}"},
            ]}),
        ),
        (
            "every parameter, and one from tomorrow",
            json!({
                "stream": true, "temperature": 0.5, "top_p": null, "max_output_tokens": 256, "store": false,
                "previous_response_id": null, "conversation": null, "prompt_cache_key": "c-1",
                "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "low"},
                "text": {"format": {"type": "text"}}, "truncation": "disabled", "metadata": {"a": "b"},
                "service_tier": "auto", "user": "ada", "tools": [], "client_metadata": {}, "tomorrow": {"x": [1]},
                "input": [user("Hello"), {"type": "item_from_tomorrow", "x": 1}],
            }),
        ),
        (
            "no stream",
            json!({"stream": false, "input": [user("Hello")]}),
        ),
        (
            "nothing said of a stream",
            json!({"input": [user("Hello")]}),
        ),
    ];
    let named = requests
        .map(|(name, body)| Recorded::new(Some(&REQUEST), name, body.to_string()).model(model));
    named.into()
}
