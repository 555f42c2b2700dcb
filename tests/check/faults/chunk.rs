//! Faults in streams of chunks.

use http::Method;

use super::{Broken, body, by, has, said, status, swap, when};
use crate::script::Fault;
use crate::script::Front::{GitHub, Meilisearch, OpenAi};
use crate::streams::*;

/// The same GitHub stream with another event in place of its references.
fn named(event: &str) -> Fault {
    said(REFERENCES, event)
}

/// The same stream with this event at its end.
fn ended(data: &'static str) -> Fault {
    by(move |_, answer| {
        let event = format!("data: {data}\n\n");
        answer.said(STOP, &event).said("data: [DONE]\n\n", "")
    })
}

faults! {
    "chunk/json" OpenAi said("data: [DONE]", "data: {'a': 1}\n\ndata: [DONE]");
    "chunk/choices" OpenAi said("[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]", "null");
    "chunk/empty-choices" OpenAi said("[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]", "[]");
    "chunk/delta" OpenAi said("\"delta\":{\"content\":\"Hello\"},", "");
    "chunk/empty-tool-calls" OpenAi said("\"content\":\"Hello\"", "\"content\":\"Hello\",\"tool_calls\":[]");
    "chunk/finish-empty" OpenAi said("\"finish_reason\":null", "\"finish_reason\":\"\"");
    "chunk/finish-value" OpenAi said("\"stop\"", "\"end_turn\"");
    "chunk/finish-reason" OpenAi said(STOP, "");
    "chunk/after-finish" OpenAi said("data: [DONE]", &format!("{}data: [DONE]", HELLO));
    "chunk/done" OpenAi said("data: [DONE]\n\n", "");
    "chunk/after-done" GitHub said("data: [DONE]\n\n", "data: [DONE]\n\ndata: [DONE]\n\n");
    "chunk/event-name" OpenAi said(HELLO, &format!("event: message\n{HELLO}"));
    "chunk/complete" Meilisearch said("\"object\":\"chat.completion.chunk\",", "");
    "openai/request" OpenAi when(has("tomorrow"), status(400));
    "openai/models" OpenAi when(
        |asked| asked.is(Method::GET, "/v1/models"),
        by(|_, answer| answer.status(404).body("{}")),
    );
    "openai/whole" OpenAi when(has("\"stream\":false"), swap("chat.completion", "completion"));
    "openai/constant" OpenAi said(STOP, &STOP.replace("c1", "c2"));
    "openai/role" OpenAi said("{\"content\":\"Hello\"}", "{\"role\":\"assistant\",\"content\":\"Hello\"}");
    "openai/usage" OpenAi said("data: [DONE]", &format!("{USAGE}data: [DONE]"));
    "openai/tool-call" OpenAi said("\"id\":\"call_1\",\"type\":\"function\",", "");
    "openai/one-call-at-a-time" OpenAi said(FRAGMENT, &format!("{SECOND_CALL}{FRAGMENT}"));
    "call/arguments" OpenAi said(FRAGMENT, "");
    "call/not-offered" OpenAi said("get_weather", "get_tides");
    "openai/error" OpenAi when(has("stream_options"), ended(r#"{"error":"It failed."}"#));
    "openai/error-type" OpenAi when(
        has("stream_options"),
        ended(r#"{"error":{"message":"It failed.","type":"server_error","code":"invalid_prompt"}}"#),
    );
    "openai/after-error" OpenAi said(STOP, &format!("{FAILURE}{STOP}"));
    "openai/refusal" OpenAi when(|asked| asked.request.body() == "[]", body("{\"detail\":\"no\"}"));
    "github/request" GitHub when(has("\"copilot_references\":null"), status(422));
    "github/probe" GitHub when(|asked| asked.request.method() == Method::GET, status(404));
    "github/event-name" GitHub named("event: copilot_status\ndata: {}\n");
    "github/event-json" GitHub named("event: copilot_errors\ndata: oh\n");
    "github/one-event" GitHub named(&format!("{ERRORS}\n{REFERENCES}"));
    "github/one-id" GitHub said(
        "{\"choices\":[{\"index\":0,\"finish",
        "{\"id\":\"1\",\"choices\":[{\"index\":0,\"finish",
    );
    "github/copilot-member" GitHub said(
        "{\"choices\":[{\"index\":0,\"finish",
        "{\"copilot_errors\":[],\"choices\":[{\"index\":0,\"finish",
    );
    "github/confirmation" GitHub named(&CONFIRMATION.replace(
        "\"confirmation\":{\"id\":\"1\"}",
        "\"confirmation\":[\"1\"]",
    ));
    "github/after-confirmation" GitHub {
        let more = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Go on\"}}]}\n";
        named(&format!("{CONFIRMATION}\n{more}"))
    };
    "github/references" GitHub named("event: copilot_references\ndata: []\n");
    "github/display-name" GitHub said("\"display_name\":\"One\",", "");
    "github/reference-data" GitHub said("\"data\":{},", "");
    "github/reference-url" GitHub said("\"data\":{}", "\"data\":{\"url\":\"https://a\"}");
    "github/display-icon" GitHub said("https://a.example/i.png", "icon");
    "github/errors" GitHub named(&ERRORS.replace("\"identifier\":\"i\"", "\"identifier\":\"\""));
    "github/signer" GitHub status(401);
    "github/unsigned" GitHub by(|_, answer| answer);
    "github/forged" GitHub when(
        |asked| asked.request.body().ends_with(b" "),
        // The refusal is written, and then the answer all the same.
        by(|_, answer| {
            let body = format!("{}{GITHUB}", answer.text());
            answer.body(body)
        }),
    );
    "meilisearch/request" Meilisearch when(has("\"tool_call_id\": null"), status(400));
    "meilisearch/undeclared" Meilisearch when(
        |asked| !asked.has("_meiliSearchProgress"),
        by(|_, answer| {
            let text = format!("{}{}", progress(), answer.text());
            answer.said(MEILISEARCH, &text)
        }),
    );
    "meilisearch/foreign-call" Meilisearch by(|_, answer| {
        answer
            .said("_meiliSearchProgress", "get_weather")
            .said(&sources(), "")
    });
    "meilisearch/notification" Meilisearch by(|_, answer| {
        answer
            .said("\\\"function_arguments\\\":\\\"{}\\\",", "")
            .said(",\\\"function_arguments\\\":\\\"{}\\\"", "")
            .said(&sources(), "")
    });
    "meilisearch/foreign-call" Meilisearch when(has("get_weather"), by(|_, answer| {
        let call = notification("get_weather", &serde_json::json!({}));
        answer.said(MEILISEARCH, &format!("{call}{MEILISEARCH}"))
    }));
    "meilisearch/order" Meilisearch by(|_, answer| {
        let (progress, sources) = (progress(), sources());
        answer
            .said(&sources, "")
            .said(&progress, &format!("{sources}{progress}"))
    });
    "meilisearch/orphan-call" Meilisearch said(&kept_result(), "");
    "meilisearch/error" Meilisearch said("data: [DONE]", &format!("{FAILURE}data: [DONE]"));
    "meilisearch/refusal" Meilisearch when(|asked| asked.request.body() == "[]", body("{\"message\":\"no\"}"));
}
