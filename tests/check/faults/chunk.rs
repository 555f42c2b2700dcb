//! Faults in streams of chunks.

use http::Method;

use super::Broken;
use crate::script::Answer;
use crate::script::Front::{GitHub, Meilisearch, OpenAi};
use crate::streams::*;

/// The same GitHub stream with another event in place of its references.
fn named(answer: Answer, event: &str) -> Answer {
    answer.said(REFERENCES, event)
}

pub(crate) const FAULTS: &[Broken] = &[
    ("chunk/json", OpenAi, |_, answer| {
        answer.said("data: [DONE]", "data: {'a': 1}\n\ndata: [DONE]")
    }),
    ("chunk/choices", OpenAi, |_, answer| {
        answer.said(
            "[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]",
            "null",
        )
    }),
    ("chunk/empty-choices", OpenAi, |_, answer| {
        answer.said(
            "[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]",
            "[]",
        )
    }),
    ("chunk/delta", OpenAi, |_, answer| {
        answer.said("\"delta\":{\"content\":\"Hello\"},", "")
    }),
    ("chunk/empty-tool-calls", OpenAi, |_, answer| {
        answer.said(
            "\"content\":\"Hello\"",
            "\"content\":\"Hello\",\"tool_calls\":[]",
        )
    }),
    ("chunk/finish-empty", OpenAi, |_, answer| {
        answer.said("\"finish_reason\":null", "\"finish_reason\":\"\"")
    }),
    ("chunk/finish-value", OpenAi, |_, answer| {
        answer.said("\"stop\"", "\"end_turn\"")
    }),
    ("chunk/finish-reason", OpenAi, |_, answer| {
        answer.said(STOP, "")
    }),
    ("chunk/after-finish", OpenAi, |_, answer| {
        answer.said("data: [DONE]", &format!("{}data: [DONE]", HELLO))
    }),
    ("chunk/done", OpenAi, |_, answer| {
        answer.said("data: [DONE]\n\n", "")
    }),
    ("chunk/after-done", GitHub, |_, answer| {
        answer.said("data: [DONE]\n\n", "data: [DONE]\n\ndata: [DONE]\n\n")
    }),
    ("chunk/event-name", OpenAi, |_, answer| {
        answer.said(HELLO, &format!("event: message\n{HELLO}"))
    }),
    ("chunk/complete", Meilisearch, |_, answer| {
        answer.said("\"object\":\"chat.completion.chunk\",", "")
    }),
    ("openai/request", OpenAi, |asked, answer| {
        if asked.has("tomorrow") {
            answer.status(400)
        } else {
            answer
        }
    }),
    ("openai/models", OpenAi, |asked, answer| {
        if asked.is(Method::GET, "/v1/models") {
            answer.status(404).body("{}")
        } else {
            answer
        }
    }),
    ("openai/whole", OpenAi, |asked, answer| {
        if asked.has("\"stream\":false") {
            answer.swap("chat.completion", "completion")
        } else {
            answer
        }
    }),
    ("openai/constant", OpenAi, |_, answer| {
        answer.said(STOP, &STOP.replace("c1", "c2"))
    }),
    ("openai/role", OpenAi, |_, answer| {
        answer.said(
            "{\"content\":\"Hello\"}",
            "{\"role\":\"assistant\",\"content\":\"Hello\"}",
        )
    }),
    ("openai/usage", OpenAi, |_, answer| {
        answer.said("data: [DONE]", &format!("{USAGE}data: [DONE]"))
    }),
    ("openai/tool-call", OpenAi, |_, answer| {
        answer.said("\"id\":\"call_1\",\"type\":\"function\",", "")
    }),
    ("openai/one-call-at-a-time", OpenAi, |_, answer| {
        answer.said(FRAGMENT, &format!("{SECOND_CALL}{FRAGMENT}"))
    }),
    ("call/arguments", OpenAi, |_, answer| {
        answer.said(FRAGMENT, "")
    }),
    ("call/not-offered", OpenAi, |_, answer| {
        answer.said("get_weather", "get_tides")
    }),
    ("openai/error", OpenAi, |asked, answer| {
        if asked.has("stream_options") {
            answer
                .said(STOP, "data: {\"error\":\"It failed.\"}\n\n")
                .said("data: [DONE]\n\n", "")
        } else {
            answer
        }
    }),
    ("openai/error-type", OpenAi, |asked, answer| {
        const ERROR: &str = r#"data: {"error":{"message":"It failed.","type":"server_error","code":"invalid_prompt"}}"#;
        if asked.has("stream_options") {
            answer
                .said(STOP, &format!("{ERROR}\n\n"))
                .said("data: [DONE]\n\n", "")
        } else {
            answer
        }
    }),
    ("openai/after-error", OpenAi, |_, answer| {
        answer.said(STOP, &format!("{FAILURE}{STOP}"))
    }),
    ("openai/refusal", OpenAi, |asked, answer| {
        if asked.request.body() == "[]" {
            answer.body("{\"detail\":\"no\"}")
        } else {
            answer
        }
    }),
    ("github/request", GitHub, |asked, answer| {
        if asked.has("\"copilot_references\":null") {
            answer.status(422)
        } else {
            answer
        }
    }),
    ("github/probe", GitHub, |asked, answer| {
        if asked.request.method() == Method::GET {
            answer.status(404)
        } else {
            answer
        }
    }),
    ("github/event-name", GitHub, |_, answer| {
        named(answer, "event: copilot_status\ndata: {}\n")
    }),
    ("github/event-json", GitHub, |_, answer| {
        named(answer, "event: copilot_errors\ndata: oh\n")
    }),
    ("github/one-event", GitHub, |_, answer| {
        named(answer, &format!("{ERRORS}\n{REFERENCES}"))
    }),
    ("github/one-id", GitHub, |_, answer| {
        answer.said(
            "{\"choices\":[{\"index\":0,\"finish",
            "{\"id\":\"1\",\"choices\":[{\"index\":0,\"finish",
        )
    }),
    ("github/copilot-member", GitHub, |_, answer| {
        answer.said(
            "{\"choices\":[{\"index\":0,\"finish",
            "{\"copilot_errors\":[],\"choices\":[{\"index\":0,\"finish",
        )
    }),
    ("github/confirmation", GitHub, |_, answer| {
        named(
            answer,
            &CONFIRMATION.replace(
                "\"confirmation\":{\"id\":\"1\"}",
                "\"confirmation\":[\"1\"]",
            ),
        )
    }),
    ("github/after-confirmation", GitHub, |_, answer| {
        let more = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Go on\"}}]}\n";
        named(answer, &format!("{CONFIRMATION}\n{more}"))
    }),
    ("github/references", GitHub, |_, answer| {
        named(answer, "event: copilot_references\ndata: []\n")
    }),
    ("github/display-name", GitHub, |_, answer| {
        answer.said("\"display_name\":\"One\",", "")
    }),
    ("github/reference-data", GitHub, |_, answer| {
        answer.said("\"data\":{},", "")
    }),
    ("github/reference-url", GitHub, |_, answer| {
        answer.said("\"data\":{}", "\"data\":{\"url\":\"https://a\"}")
    }),
    ("github/display-icon", GitHub, |_, answer| {
        answer.said("https://a.example/i.png", "icon")
    }),
    ("github/errors", GitHub, |_, answer| {
        named(
            answer,
            &ERRORS.replace("\"identifier\":\"i\"", "\"identifier\":\"\""),
        )
    }),
    ("github/signer", GitHub, |_, answer| answer.status(401)),
    ("github/unsigned", GitHub, |_, answer| answer),
    ("github/forged", GitHub, |asked, answer| {
        // The refusal is written, and then the answer all the same.
        if asked.request.body().ends_with(b" ") {
            let body = format!("{}{GITHUB}", answer.text());
            answer.body(body)
        } else {
            answer
        }
    }),
    ("meilisearch/request", Meilisearch, |asked, answer| {
        if asked.has("\"tool_call_id\": null") {
            answer.status(400)
        } else {
            answer
        }
    }),
    ("meilisearch/undeclared", Meilisearch, |asked, answer| {
        if asked.has("_meiliSearchProgress") {
            answer
        } else {
            let text = format!("{}{}", progress(), answer.text());
            answer.said(MEILISEARCH, &text)
        }
    }),
    ("meilisearch/foreign-call", Meilisearch, |_, answer| {
        answer
            .said("_meiliSearchProgress", "get_weather")
            .said(&sources(), "")
    }),
    ("meilisearch/notification", Meilisearch, |_, answer| {
        answer
            .said("\\\"function_arguments\\\":\\\"{}\\\",", "")
            .said(",\\\"function_arguments\\\":\\\"{}\\\"", "")
            .said(&sources(), "")
    }),
    ("meilisearch/foreign-call", Meilisearch, |asked, answer| {
        if asked.has("get_weather") {
            let call = notification("get_weather", &serde_json::json!({}));
            answer.said(MEILISEARCH, &format!("{call}{MEILISEARCH}"))
        } else {
            answer
        }
    }),
    ("meilisearch/order", Meilisearch, |_, answer| {
        let (progress, sources) = (progress(), sources());
        answer
            .said(&sources, "")
            .said(&progress, &format!("{sources}{progress}"))
    }),
    ("meilisearch/orphan-call", Meilisearch, |_, answer| {
        answer.said(&kept_result(), "")
    }),
    ("meilisearch/error", Meilisearch, |_, answer| {
        answer.said("data: [DONE]", &format!("{FAILURE}data: [DONE]"))
    }),
    ("meilisearch/refusal", Meilisearch, |asked, answer| {
        if asked.request.body() == "[]" {
            answer.body("{\"message\":\"no\"}")
        } else {
            answer
        }
    }),
];
