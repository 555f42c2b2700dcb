//! Faults of agents for the OpenBB Workspace.

use super::Broken;
use crate::script::Front::OpenBb;
use crate::script::{Answer, Asked};
use crate::streams::*;

const PLAIN: &str = "event: copilotMessageChunk\ndata: {\"delta\":\"Here it is.\"}\n";

/// The same OpenBB stream with another event in place of its text.
fn instead(answer: Answer, event: &str) -> Answer {
    answer.said(PLAIN, event)
}

/// The same descriptor with something else in place of `from`.
fn described(asked: &Asked<'_>, answer: Answer, from: &str, to: &str) -> Answer {
    if asked.request.uri().path() == "/agents.json" {
        answer.swap(from, to)
    } else {
        answer
    }
}

/// The event that replaces a call in [`OPENBB`].
fn called(answer: Answer, call: &str) -> Answer {
    answer.said(CALL, call)
}

pub(crate) const FAULTS: &[Broken] = &[
    ("openbb/descriptor", OpenBb, |asked, answer| {
        if asked.request.uri().path() == "/agents.json" {
            answer.body("[]")
        } else {
            answer
        }
    }),
    (
        "openbb/descriptor-name",
        OpenBb,
        |asked, answer| match asked.request.uri().path() {
            "/agents.json" => answer.status(404),
            "/copilots.json" => answer.status(200).body(descriptor().to_string()),
            _ => answer,
        },
    ),
    ("openbb/descriptor-entry", OpenBb, |asked, answer| {
        described(
            asked,
            answer,
            "\"description\":",
            "\"image\":null,\"description\":",
        )
    }),
    ("openbb/descriptor-features", OpenBb, |asked, answer| {
        described(asked, answer, "\"label\":\"Model\",", "")
    }),
    ("openbb/descriptor-streaming", OpenBb, |asked, answer| {
        described(asked, answer, "\"streaming\":true", "\"streaming\":false")
    }),
    ("openbb/descriptor-flags", OpenBb, |asked, answer| {
        described(
            asked,
            answer,
            "\"name\":\"Agent\"",
            "\"hasFunctionCalling\":true,\"name\":\"Agent\"",
        )
    }),
    ("openbb/descriptor-unique", OpenBb, |asked, answer| {
        let one = descriptor()["agent"].to_string();
        let twice = format!("{one},\"b\":{}", one.replace("Agent", "AGENT"));
        described(asked, answer, &one, &twice)
    }),
    ("openbb/feedback", OpenBb, |asked, answer| {
        if asked.request.uri().path() == "/feedback" {
            answer.status(422)
        } else {
            answer
        }
    }),
    ("openbb/request", OpenBb, |asked, answer| {
        if asked.has("\"workspace_options\": {") {
            answer.status(422)
        } else {
            answer
        }
    }),
    ("openbb/other-request", OpenBb, |asked, answer| {
        if asked.has("query") && asked.json().is_some_and(|body| body["query"].is_string()) {
            answer.status(422)
        } else {
            answer
        }
    }),
    ("openbb/large-request", OpenBb, |asked, answer| {
        if (1_000_000..20_000_000).contains(&asked.request.body().len()) {
            answer.status(413)
        } else {
            answer
        }
    }),
    ("openbb/unnamed", OpenBb, |_, answer| {
        instead(answer, "data: {\"delta\":\"x\"}\n")
    }),
    ("openbb/done", OpenBb, |_, answer| {
        instead(answer, "data: [DONE]\n")
    }),
    ("openbb/json", OpenBb, |_, answer| {
        instead(answer, "event: copilotMessageChunk\ndata: {'delta': 'x'}\n")
    }),
    ("openbb/line-separators", OpenBb, |_, answer| {
        answer.said("Here it is.", "Here\u{2028}it is.")
    }),
    ("openbb/comment", OpenBb, |_, answer| {
        answer.said(": ping", ":data: ping")
    }),
    ("openbb/event-name", OpenBb, |_, answer| {
        answer.said("copilotPromptSuggestions", "copilotPromptSuggestion")
    }),
    ("openbb/event", OpenBb, |_, answer| {
        answer.said("\"delta\"", "\"content\"")
    }),
    ("openbb/status-type", OpenBb, |_, answer| {
        answer.said("\"INFO\"", "\"ERROR\"")
    }),
    ("openbb/artifact-name", OpenBb, |_, answer| {
        answer.said("\"Chart\"", "\"Table\"")
    }),
    ("openbb/artifact", OpenBb, |_, answer| {
        answer.said("\"xKey\":\"x\",", "")
    }),
    ("openbb/citation-id", OpenBb, |_, answer| {
        answer.said("\"id\":\"3\",", "")
    }),
    ("openbb/empty", OpenBb, |asked, answer| {
        let text = answer.text();
        if asked.has("Hello") {
            answer.said(&text, ": nothing\n\n")
        } else {
            answer
        }
    }),
    ("openbb/after-function-call", OpenBb, |_, answer| {
        let text = answer.text();
        answer.said(&text, &format!("{text}{PLAIN}\n"))
    }),
    ("openbb/function-name", OpenBb, |_, answer| {
        called(answer, &CALL.replace("get_widget_data", "get_weather"))
    }),
    ("openbb/function-arguments", OpenBb, |_, answer| {
        called(answer, &CALL.replace("\"origin\":\"A\",", ""))
    }),
    ("openbb/extra-state", OpenBb, |_, answer| {
        called(
            answer,
            &CALL.replace(
                "{\"copilot_function_call_arguments\":{\"summary\":\"s\"}}",
                "{}",
            ),
        )
    }),
    ("openbb/tool-name", OpenBb, |_, answer| {
        let call = r#"{"function":"execute_agent_tool","input_arguments":{"server_id":"","tool_name":"search","parameters":{}}}"#;
        called(answer, call)
    }),
];
