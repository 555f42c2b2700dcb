//! Faults of agents for the OpenBB Workspace.

use super::{Broken, body, by, has, said, status, swap, when};
use crate::script::Front::OpenBb;
use crate::script::{Asked, Fault};
use crate::streams::*;

const PLAIN: &str = "event: copilotMessageChunk\ndata: {\"delta\":\"Here it is.\"}\n";

/// The same OpenBB stream with another event in place of its text.
fn instead(event: &str) -> Fault {
    said(PLAIN, event)
}

/// The same descriptor with something else in place of `from`.
fn described(from: &str, to: &str) -> Fault {
    when(|asked| at(asked, "/agents.json"), swap(from, to))
}

fn at(asked: &Asked<'_>, path: &str) -> bool {
    asked.request.uri().path() == path
}

/// The event that replaces a call in [`OPENBB`].
fn called(call: &str) -> Fault {
    said(CALL, call)
}

faults! {
    "openbb/descriptor" OpenBb when(|asked| at(asked, "/agents.json"), body("[]"));
    "openbb/descriptor-name" OpenBb by(|asked, answer| match asked.request.uri().path() {
        "/agents.json" => answer.status(404),
        "/copilots.json" => answer.status(200).body(descriptor().to_string()),
        _ => answer,
    });
    "openbb/descriptor-entry" OpenBb described("\"description\":", "\"image\":null,\"description\":");
    "openbb/descriptor-features" OpenBb described("\"label\":\"Model\",", "");
    "openbb/descriptor-streaming" OpenBb described("\"streaming\":true", "\"streaming\":false");
    "openbb/descriptor-flags" OpenBb described("\"name\":\"Agent\"", "\"hasFunctionCalling\":true,\"name\":\"Agent\"");
    "openbb/descriptor-unique" OpenBb {
        let one = descriptor()["agent"].to_string();
        let twice = format!("{one},\"b\":{}", one.replace("Agent", "AGENT"));
        described(&one, &twice)
    };
    "openbb/feedback" OpenBb when(|asked| at(asked, "/feedback"), status(422));
    "openbb/request" OpenBb when(has("\"workspace_options\": {"), status(422));
    "openbb/other-request" OpenBb when(
        |asked| asked.has("query") && asked.json().is_some_and(|body| body["query"].is_string()),
        status(422),
    );
    "openbb/large-request" OpenBb when(
        |asked| (1_000_000..20_000_000).contains(&asked.request.body().len()),
        status(413),
    );
    "openbb/unnamed" OpenBb instead("data: {\"delta\":\"x\"}\n");
    "openbb/done" OpenBb instead("data: [DONE]\n");
    "openbb/json" OpenBb instead("event: copilotMessageChunk\ndata: {'delta': 'x'}\n");
    "openbb/line-separators" OpenBb said("Here it is.", "Here\u{2028}it is.");
    "openbb/comment" OpenBb said(": ping", ":data: ping");
    "openbb/event-name" OpenBb said("copilotPromptSuggestions", "copilotPromptSuggestion");
    "openbb/event" OpenBb said("\"delta\"", "\"content\"");
    "openbb/status-type" OpenBb said("\"INFO\"", "\"ERROR\"");
    "openbb/artifact-name" OpenBb said("\"Chart\"", "\"Table\"");
    "openbb/artifact" OpenBb said("\"xKey\":\"x\",", "");
    "openbb/citation-id" OpenBb said("\"id\":\"3\",", "");
    "openbb/empty" OpenBb when(has("Hello"), by(|_, answer| {
        let text = answer.text();
        answer.said(&text, ": nothing\n\n")
    }));
    "openbb/after-function-call" OpenBb by(|_, answer| {
        let text = answer.text();
        answer.said(&text, &format!("{text}{PLAIN}\n"))
    });
    "openbb/function-name" OpenBb called(&CALL.replace("get_widget_data", "get_weather"));
    "openbb/function-arguments" OpenBb called(&CALL.replace("\"origin\":\"A\",", ""));
    "openbb/extra-state" OpenBb called(&CALL.replace(
        "{\"copilot_function_call_arguments\":{\"summary\":\"s\"}}",
        "{}",
    ));
    "openbb/tool-name" OpenBb {
        let call = r#"{"function":"execute_agent_tool","input_arguments":{"server_id":"","tool_name":"search","parameters":{}}}"#;
        called(call)
    };
}
