//! The requests of the conformance kit.

use serde_json::json;

use super::rules::REQUEST;
use crate::check::{HAZARDS, Recorded};

/// The number of requests.
pub(super) const REQUESTS: usize = 9;

/// Returns all requests, the simplest first.
pub(super) fn all(model: &str) -> Vec<Recorded> {
    let user = |content: &str| json!({"role": "user", "content": content});
    let weather = json!({"type": "function", "function": {
        "name": "get_weather", "description": "The weather at a place",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    }});
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{
        "id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"place\":\"Brest\"}"},
    }]});
    let requests: [_; REQUESTS] = [
        (
            "one message",
            json!({"stream": true, "messages": [user("Hello")]}),
        ),
        (
            "usage",
            json!({
                "stream": true, "stream_options": {"include_usage": true}, "messages": [user("Hello")],
            }),
        ),
        (
            "text that breaks lines",
            json!({"stream": true, "messages": [user(HAZARDS)]}),
        ),
        (
            "every role, and content in parts",
            json!({"stream": true, "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "system", "content": [{"type": "text", "text": "Be kind."}]},
                {"role": "user", "name": "ada", "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
                ]},
                {"role": "assistant", "content": "A picture.", "refusal": null, "audio": null},
                user("Are you sure?"),
            ]}),
        ),
        (
            "a tool on offer",
            json!({
                "stream": true, "tools": [weather], "tool_choice": "auto", "parallel_tool_calls": true,
                "messages": [user("What is the weather in Brest?")],
            }),
        ),
        (
            "the result of a tool",
            json!({"stream": true, "tools": [weather], "messages": [
                user("What is the weather in Brest?"), call,
                {"role": "tool", "tool_call_id": "call_1", "content": "{\"sky\":\"rain\"}"},
            ]}),
        ),
        (
            "every parameter, and one from tomorrow",
            json!({
                "stream": true, "temperature": 0.5, "top_p": null, "n": 1, "stop": ["###"],
                "max_tokens": null, "max_completion_tokens": 256, "presence_penalty": 0,
                "frequency_penalty": 0.0, "logit_bias": null, "user": "ada", "seed": 1, "store": false,
                "metadata": {"a": "b"}, "response_format": {"type": "text"}, "reasoning_effort": "low",
                "service_tier": "auto", "stream_options": null, "tools": [], "tomorrow": {"x": [1]},
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
    let named = requests
        .map(|(name, body)| Recorded::new(Some(&REQUEST), name, body.to_string()).model(model));
    named.into()
}
