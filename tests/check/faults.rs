//! What is done wrong: for every rule, an endpoint that breaks it and nothing else.

use copilot_wire::testing::check::Front::{self, GitHub, Meilisearch, OpenAi, OpenBb};
use http::Method;

use crate::script::{Answer, Asked, Fault, Head, Piece, is_preflight, says};
use crate::streams::*;

const PLAIN: &str = "event: copilotMessageChunk\ndata: {\"delta\":\"Here it is.\"}\n";

/// The same OpenBB stream with another event in place of its text.
fn instead(answer: Answer, event: &str) -> Answer {
    answer.said(PLAIN, event)
}

/// The same GitHub stream with another event in place of its references.
fn named(answer: Answer, event: &str) -> Answer {
    answer.said(REFERENCES, event)
}

/// The same descriptor with something else in place of `from`.
fn described(asked: &Asked<'_>, answer: Answer, from: &str, to: &str) -> Answer {
    if asked.request.uri().path() == "/agents.json" {
        answer.swap(from, to)
    } else {
        answer
    }
}

/// The answer to what is a search to Meilisearch, changed.
fn searched(answer: Answer, from: &str, to: &str) -> Answer {
    answer.said(from, to)
}

fn late(mut answer: Answer) -> Answer {
    answer.head = Head::Late;
    answer
}

/// What a call in [`OPENBB`] becomes.
fn called(answer: Answer, call: &str) -> Answer {
    answer.said(CALL, call)
}

pub(crate) const FAULTS: &[(&str, Front, Fault)] = &[
    // Every endpoint.
    ("http/unreachable", OpenAi, |asked, mut answer| {
        if asked.has("stream_options") {
            answer.head = Head::Failed;
        }
        answer
    }),
    ("http/server-error", OpenAi, |asked, answer| {
        if asked.request.body() == "[]" {
            answer.status(500)
        } else {
            answer
        }
    }),
    ("http/content-type", OpenAi, |_, answer| {
        if answer.streams {
            answer.header("content-type", "text/plain")
        } else {
            answer
        }
    }),
    ("http/cache-control", OpenAi, |_, answer| {
        answer.without("cache-control")
    }),
    ("http/content-length", OpenAi, |_, answer| {
        if answer.streams {
            answer.header("content-length", "400")
        } else {
            answer
        }
    }),
    ("http/content-encoding", OpenAi, |_, answer| {
        if answer.streams {
            answer.header("content-encoding", "gzip")
        } else {
            answer
        }
    }),
    ("http/accel-buffering", OpenAi, |_, answer| {
        answer.without("x-accel-buffering")
    }),
    ("http/late-head", OpenAi, |_, answer| {
        if answer.streams { late(answer) } else { answer }
    }),
    ("http/buffered", OpenAi, |_, answer| {
        if answer.streams {
            let text = answer.text();
            late(answer.body(text))
        } else {
            answer
        }
    }),
    ("http/silence", OpenAi, |_, answer| {
        answer.then(Piece::Never)
    }),
    ("http/silence", GitHub, |_, mut answer| {
        answer.head = Head::Never;
        answer
    }),
    ("http/cut", OpenAi, |_, answer| answer.then(Piece::Failed)),
    ("http/endless", OpenAi, |_, answer| {
        const PING: [u8; 64 * 1024] = {
            let mut ping = [b':'; 64 * 1024];
            ping[64 * 1024 - 2] = b'\n';
            ping[64 * 1024 - 1] = b'\n';
            ping
        };
        answer.then(Piece::Forever(&PING))
    }),
    ("http/bad-json", OpenAi, |asked, answer| {
        if asked.request.body().starts_with(b"{\"messages\":[") && asked.json().is_none() {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("http/refusal", OpenAi, |asked, answer| {
        if asked.request.body().is_empty() && asked.request.method() == Method::POST {
            answer.body("<p>no</p>")
        } else {
            answer
        }
    }),
    ("http/method", OpenAi, |asked, answer| {
        if asked.request.method() == Method::PUT {
            answer.status(404)
        } else {
            answer
        }
    }),
    ("http/unknown-path", OpenAi, |asked, answer| {
        if asked.is(Method::POST, "/there-is-no-such-path") {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("http/oversized", OpenAi, |asked, answer| {
        if asked.request.body().len() > 40_000_000 {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("http/disconnect", OpenAi, |asked, mut answer| {
        if asked.left > 2 {
            answer.head = Head::Never;
        }
        answer
    }),
    // Browsers.
    ("cors/preflight", OpenBb, |asked, answer| {
        if is_preflight(asked) {
            answer.status(405)
        } else {
            answer
        }
    }),
    ("cors/headers", OpenBb, |asked, answer| {
        if is_preflight(asked) {
            answer.header("access-control-allow-headers", "content-type")
        } else {
            answer
        }
    }),
    ("cors/origin", OpenBb, |_, answer| {
        if answer.streams {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    }),
    ("cors/refusal", OpenBb, |_, answer| {
        if answer.status.is_client_error() {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    }),
    ("cors/other-origins", OpenBb, |asked, answer| {
        if says(asked, "origin") == "http://localhost:1420" {
            answer.without("access-control-allow-origin")
        } else {
            answer
        }
    }),
    ("cors/private-network", OpenBb, |asked, answer| {
        if says(asked, "access-control-request-private-network").is_empty() {
            answer
        } else {
            answer.status(400)
        }
    }),
    // Framing.
    ("sse/utf8", OpenAi, |_, answer| {
        if !answer.streams {
            return answer;
        }
        let text = answer.text();
        let (before, after) = text.split_at(text.find("data: [DONE]").unwrap());
        let body = [before.as_bytes(), b": \xff\n\n", after.as_bytes()].concat();
        answer.body(body)
    }),
    ("sse/bom", OpenAi, |_, answer| {
        let text = answer.text();
        answer.said(&text, &format!("\u{feff}{text}"))
    }),
    ("sse/unfinished", OpenBb, |_, answer| {
        let text = answer.text();
        answer.said(
            &text,
            &format!("{text}event: copilotMessageChunk\ndata: {{\"delta\":\"!\"}}\n"),
        )
    }),
    ("sse/field", OpenAi, |_, answer| {
        answer.said("data: [DONE]", "Data: x\n\ndata: [DONE]")
    }),
    ("sse/data-lines", OpenAi, |_, answer| {
        answer.said(HELLO, &HELLO.replace("\"choices\"", "\ndata: \"choices\""))
    }),
    ("sse/id", OpenAi, |_, answer| {
        answer.said("data: [DONE]", "id: 1\ndata: [DONE]")
    }),
    ("sse/retry", Meilisearch, |_, answer| {
        answer.said("data: [DONE]", "retry: 10000\n\ndata: [DONE]")
    }),
    ("sse/line-ends", OpenAi, |_, answer| answer.said("\n", "\r")),
    // Chunks.
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
    // OpenAI clients.
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
    ("openai/arguments", OpenAi, |_, answer| {
        answer.said(FRAGMENT, "")
    }),
    ("openai/tool-not-offered", OpenAi, |_, answer| {
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
    // GitHub Copilot.
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
    ("github/unsigned", GitHub, |asked, answer| {
        if !asked
            .request
            .headers()
            .contains_key("github-public-key-signature")
            && answer.status == 401
        {
            answer.status(200)
        } else {
            answer
        }
    }),
    ("github/forged", GitHub, |asked, answer| {
        // The refusal is written, and then the answer all the same.
        if asked.request.body().ends_with(b" ") {
            let body = format!("{}{GITHUB}", answer.text());
            answer.body(body)
        } else {
            answer
        }
    }),
    // Meilisearch chat.
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
        searched(answer, "_meiliSearchProgress", "get_weather").said(&sources(), "")
    }),
    ("meilisearch/notification", Meilisearch, |_, answer| {
        searched(answer, "\\\"function_arguments\\\":\\\"{}\\\",", "").said(&sources(), "")
    }),
    ("meilisearch/order", Meilisearch, |_, answer| {
        let (progress, sources) = (progress(), sources());
        searched(answer, &sources, "").said(&progress, &format!("{sources}{progress}"))
    }),
    ("meilisearch/orphan-call", Meilisearch, |_, answer| {
        searched(answer, &kept_result(), "")
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
    // The OpenBB Workspace: how it finds agents.
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
    // … and what it reads.
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
