//! The requests of the conformance kit.

use serde_json::json;

use super::rules::REQUEST;
use crate::check::{HAZARDS, Recorded};

/// The number of requests.
pub(super) const REQUESTS: usize = 8;

/// Returns all requests, the simplest first.
pub(super) fn all(model: &str) -> Vec<Recorded> {
    let user = |content: &str| json!({"role": "user", "content": content});
    let weather = json!({
        "name": "get_weather", "description": "The weather at a place",
        "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}},
    });
    let call = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": "A place.", "signature": "c2ln"},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"place": "Brest"}},
    ]});
    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "{\"sky\":\"rain\"}"},
    ]});
    let requests: [_; REQUESTS] = [
        (
            "one message",
            json!({"stream": true, "messages": [user("Hello")]}),
        ),
        (
            "text that breaks lines",
            json!({"stream": true, "messages": [user(HAZARDS)]}),
        ),
        (
            "every role, and content in blocks",
            json!({
                "stream": true,
                "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
                "messages": [
                    {"role": "user", "content": [
                        {"type": "text", "text": "What is this?"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
                    ]},
                    {"role": "assistant", "content": "A picture."},
                    user("Are you sure?"),
                    {"role": "system", "content": "Be brief."},
                ],
            }),
        ),
        (
            "a tool on offer",
            json!({
                "stream": true, "tools": [weather, {"type": "web_search_20250305", "name": "web_search"}],
                "tool_choice": {"type": "auto"}, "messages": [user("What is the weather in Brest?")],
            }),
        ),
        (
            "the result of a tool",
            json!({
                "stream": true, "tools": [weather],
                "messages": [user("What is the weather in Brest?"), call, result],
            }),
        ),
        (
            "every parameter, and one from tomorrow",
            json!({
                "stream": true, "temperature": 0.5, "top_p": null, "top_k": 5, "stop_sequences": ["###"],
                "metadata": {"user_id": "ada"}, "thinking": {"type": "adaptive"}, "tools": [],
                "output_config": {"effort": "high"}, "service_tier": "auto", "tomorrow": {"x": [1]},
                "messages": [user("Hello")],
            }),
        ),
        (
            "no stream",
            json!({"stream": false, "messages": [user("Hello")]}),
        ),
        (
            "nothing said of a stream",
            json!({"messages": [user("Hello")]}),
        ),
    ];
    let named = requests.map(|(name, mut body)| {
        if let Some(body) = body.as_object_mut() {
            body.insert("max_tokens".to_owned(), 1024.into());
        }
        Recorded::new(Some(&REQUEST), name, body.to_string()).model(model)
    });
    named.into()
}
