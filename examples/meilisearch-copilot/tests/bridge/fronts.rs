//! Tests of what every front end asks for and is told.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use copilot_wire::meilisearch::ChatRequest;
use meilisearch_copilot::replay::{Script as _, Step};
use serde_json::{Map, Value, json};

use crate::support::*;

#[tokio::test]
async fn every_front_end_has_a_say_in_how_the_model_answers() {
    let asked = Arc::new(Mutex::new(Map::new()));
    let heard = Arc::clone(&asked);
    let setup = Setup::new(move |chat: &ChatRequest| {
        let parameters = chat.parameters.iter();
        let named = parameters.map(|(name, value)| {
            let value = serde_json::from_str(value.text()).unwrap();
            (name.to_owned(), value)
        });
        *heard.lock().unwrap() = named.collect();
        recordings().answer("", chat)
    })
    .await;
    let schema = json!({"type": "object"});
    let sent = |strict: Value, name: &str| {
        let wanted = json!({"name": name, "schema": schema, "strict": strict});
        json!({"type": "json_schema", "json_schema": wanted})
    };
    let cases = [
        // The protocol has none.
        ("openbb", json!({"temperature": 0.2}), json!({})),
        (
            "github",
            // Zero stands for what is not set.
            json!({"temperature": 0.2, "max_tokens": 50, "top_p": 0, "stop": "END"}),
            json!({"temperature": 0.2, "max_tokens": 50, "stop": ["END"]}),
        ),
        (
            "openai",
            json!({
                "temperature": 0.2, "max_tokens": 50, "stop": "END", "n": 1, "seed": null,
                "parallel_tool_calls": true, "service_tier": "default",
                "reasoning_effort": "minimal", "stream_options": {"include_usage": true},
                "tools": [{"type": "function", "function": {"name": "mine"}}],
            }),
            json!({"temperature": 0.2, "max_tokens": 50, "stop": "END", "service_tier": "default"}),
        ),
        (
            "responses",
            json!({
                "temperature": 0.2, "max_output_tokens": 50, "reasoning": {"effort": "low"},
                "text": {"format": {"type": "json_schema", "name": "film", "schema": schema, "strict": true}},
                "tools": [{"type": "function", "name": "mine"}],
            }),
            json!({
                "temperature": 0.2, "max_completion_tokens": 50, "reasoning_effort": "low",
                "response_format": sent(true.into(), "film"),
            }),
        ),
        (
            "anthropic",
            json!({
                "temperature": 0.2, "max_tokens": 50, "stop_sequences": ["END"], "top_k": 3,
                "output_config": {"format": {"type": "json_schema", "schema": schema}},
                "tools": [{"name": "mine", "input_schema": schema}],
            }),
            json!({
                "temperature": 0.2, "max_tokens": 50, "stop": ["END"],
                "response_format": sent(true.into(), "answer"),
            }),
        ),
        (
            "meilisearch",
            json!({"temperature": 0.2, "logprobs": true, "later": 1}),
            json!({"temperature": 0.2, "logprobs": true, "later": 1}),
        ),
        (
            "ui_stream",
            json!({"temperature": 0.2, "maxOutputTokens": 50, "stopSequences": ["END"], "metadata": 1}),
            json!({"temperature": 0.2, "max_completion_tokens": 50, "stop": ["END"]}),
        ),
        (
            "ag_ui",
            json!({"forwardedProps": {"temperature": 0.2, "maxTokens": 50, "stop": ["END"]}}),
            json!({"temperature": 0.2, "max_tokens": 50, "stop": ["END"]}),
        ),
    ];
    for (front, members, expected) in cases {
        setup.ask(front, members).await;
        let mut asked = asked.lock().unwrap().clone();
        asked.remove("stream");
        assert_eq!(Value::Object(asked), expected, "{front}");
    }
}

/// Answers "Half" and ends for this reason.
fn half(
    reason: &'static str,
) -> impl Fn(&ChatRequest) -> Result<Vec<Step>, copilot_wire::meilisearch::ApiError> {
    move |_| {
        let delta = json!({"content": "Half"});
        let chunk =
            json!({"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        let stream = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        Ok(vec![Step::Send(Bytes::from(stream))])
    }
}

#[tokio::test]
async fn every_front_end_is_told_why_the_answer_ended() {
    for (reason, incomplete, stop, note) in [
        (
            "length",
            "max_output_tokens",
            "max_tokens",
            "(The answer is cut off",
        ),
        (
            "content_filter",
            "content_filter",
            "refusal",
            "(A filter withheld",
        ),
        ("stop", "", "end_turn", ""),
    ] {
        let setup = Setup::new(half(reason)).await;
        for front in FRONTS {
            let stream = setup.ask(front, json!({})).await;
            let text = text_of(front, &stream);
            let (word, has_note) = match front {
                "openai" | "meilisearch" => (format!(r#""finish_reason":"{reason}""#), false),
                "responses" if incomplete.is_empty() => (r#""status":"completed""#.into(), false),
                "responses" => (
                    format!(r#""incomplete_details":{{"reason":"{incomplete}"}}"#),
                    false,
                ),
                "anthropic" => (format!(r#""stop_reason":"{stop}""#), false),
                _ => (String::new(), true),
            };
            assert!(stream.contains(&word), "{front}, {reason}: {stream}");
            let is_noted = text.starts_with(&format!("Half\n\n{note}")) && !note.is_empty();
            assert_eq!(
                is_noted,
                has_note && !note.is_empty(),
                "{front}, {reason}: {text}"
            );
            assert!(is_noted || text == "Half", "{front}, {reason}: {text}");
        }
        for (front, word) in [("responses", incomplete), ("anthropic", stop)] {
            let document = setup.ask(front, json!({"stream": false})).await;
            assert!(document.contains(word), "{front}, {reason}: {document}");
        }
    }
}

#[tokio::test]
async fn two_rounds_with_one_id_are_two_paragraphs_everywhere() {
    let setup = Setup::new(|_: &ChatRequest| {
        let chunk = |delta: Value, reason: Option<&str>| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
            format!("data: {}\n\n", json!({"id": "1", "choices": [choice]}))
        };
        let role = || chunk(json!({"role": "assistant", "content": ""}), None);
        let text = |text: &str| chunk(json!({"content": text}), None);
        let frames = [
            role(),
            text("I look."),
            role(),
            text("\n"),
            text("\nFound."),
            chunk(json!({}), Some("stop")),
            "data: [DONE]\n\n".to_owned(),
        ];
        Ok(vec![Step::Send(Bytes::from(frames.concat()))])
    })
    .await;
    for front in FRONTS.iter().filter(|front| **front != "meilisearch") {
        let stream = setup.ask(front, json!({})).await;
        assert_eq!(text_of(front, &stream), "I look.\n\nFound.", "{front}");
    }
    // Our own route has the rounds, with ids that differ.
    let stream = setup.ask("meilisearch", json!({})).await;
    assert_eq!(text_of("meilisearch", &stream), "I look.\n\nFound.");
    assert_eq!(
        stream.matches(r#""role":"assistant""#).count(),
        2,
        "{stream}"
    );
}

#[tokio::test]
async fn what_the_provider_says_beside_the_text_passes_through() {
    let logprobs = json!({"content": [{"token": "Her", "logprob": -0.5}]});
    let sent = logprobs.clone();
    let setup = Setup::new(move |_: &ChatRequest| {
        let call = json!({"index": 0, "id": "u", "type": "function",
            "function": {"name": "_meiliSomethingNew", "arguments": "{\"a\":1}"}});
        let chunk = |delta: Value, logprobs: &Value, reason: Option<&str>| {
            let choice = json!({"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": reason});
            let chunk = json!({"id": "1", "choices": [choice], "service_tier": "scale", "system_fingerprint": "fp_7"});
            format!("data: {chunk}\n\n")
        };
        let frames = [
            chunk(json!({"content": "Her"}), &sent, None),
            chunk(json!({"tool_calls": [call]}), &Value::Null, None),
            chunk(json!({}), &Value::Null, Some("stop")),
            "data: [DONE]\n\n".to_owned(),
        ];
        Ok(vec![Step::Send(Bytes::from(frames.concat()))])
    })
    .await;
    let stream = setup.ask("meilisearch", json!({})).await;
    let frames = stream
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let frames: Vec<_> = frames.collect();
    // Ours opens before the search engine says anything.
    for frame in &frames[1..] {
        assert_eq!(frame["service_tier"], "scale", "{frame}");
        assert_eq!(frame["system_fingerprint"], "fp_7", "{frame}");
    }
    assert!(
        frames
            .iter()
            .any(|frame| frame["choices"][0]["logprobs"] == logprobs)
    );
    assert!(stream.contains("_meiliSomethingNew"), "{stream}");
}
