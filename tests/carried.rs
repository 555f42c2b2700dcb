//! Whatever a request says reaches the model, in every dialect, or stands in the list of what is left out.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::BTreeSet;

use copilot_wire::anthropic::MessagesRequest;
use copilot_wire::openai::ChatRequest;
use copilot_wire::protocol::Conversation;
use copilot_wire::responses::ResponsesRequest;
use copilot_wire::{ag_ui, github, meilisearch, openbb, ui_stream};
use serde_json::Value;

/// The members that are for programs, or that only the provider which wrote them can read: the guide names them under
/// *What a dialect cannot say*.
const LEFT_OUT: &[&str] = &[
    // Names of authors, of results, and of files that are images or texts, or in one dialect addresses.
    "messages[].name",
    "[function_call_output].name",
    "data_format.filename",
    "[binary].filename",
    // What a dialect has no form for: the text in its place says so.
    "[audio].source.value",
    "[audio].data",
    "[video].source.value",
    "input_audio.data",
    "file_id",
    // Citations and details of earlier answers and of references.
    ".citations[",
    ".annotations[",
    ".data.language",
    ".copilot_references[marker",
    // Settings of the provider, of the client and of its tools.
    "prediction.content",
    "messages.compaction.",
    "messages.container",
    "context_management",
    "messages.fallbacks",
    "toolset_name",
    "input_examples",
    "user_profile_id",
    "output_schema",
    "prompt.variables",
    "tools[namespace].",
    "openbb.tools[].url",
    "widgets.primary[].origin",
    "workspace_options",
    // Data for programs.
    "metadata",
    "forwardedProps",
    "github.agent",
    "copilot_skills",
    "extra_state",
];

/// Converts a request of a front end for the three dialects; `None` if the front end is not one of these.
fn prompts(front_end: &str, body: &str) -> Option<[String; 3]> {
    fn of(conversation: &impl Conversation) -> [String; 3] {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        [
            text(&ChatRequest::from_conversation(conversation).to_json()),
            text(&ResponsesRequest::from_conversation(conversation).to_json()),
            text(&MessagesRequest::from_conversation(conversation).to_json()),
        ]
    }
    Some(match front_end {
        "agui" => of(&ag_ui::RunAgentInput::from_json(body).unwrap()),
        "chat" => of(&ChatRequest::from_json(body).unwrap()),
        "github" => of(&github::ChatRequest::from_json(body).unwrap()),
        "meili" => of(&meilisearch::ChatRequest::read(&body.to_owned().into()).unwrap()),
        "messages" => of(&MessagesRequest::from_json(body).unwrap()),
        "openbb" => of(&openbb::QueryRequest::from_json(body).unwrap()),
        "responses" => of(&ResponsesRequest::from_json(body).unwrap()),
        "ui" => of(&ui_stream::ChatRequest::from_json(body).unwrap()),
        _ => return None,
    })
}

/// Returns the strings with a marker, each with its path. The marker of a file is inside its base64.
fn marked(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                marked(member, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(elements) => {
            for element in elements {
                let kind = element["type"].as_str().unwrap_or_default();
                marked(element, &format!("{path}[{kind}]"), found);
            }
        }
        Value::String(text) => {
            let data = text.rsplit_once(',').map_or(&**text, |(_, data)| data);
            let is_data = data.len() > 15
                && data
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || b"+/=".contains(&it));
            if is_data || text.contains("marker") {
                found.push((path.to_owned(), text.clone()));
            }
        }
        _ => {}
    }
}

#[test]
fn everything_that_was_said_reaches_every_dialect() {
    let cases: Value =
        serde_json::from_str(include_str!("../fixtures/carried/requests.json")).unwrap();
    let mut lost = BTreeSet::new();
    for case in cases.as_array().unwrap() {
        let front_end = case["front_end"].as_str().unwrap();
        let request = &case["request"];
        let Some(prompts) = prompts(front_end, &request.to_string()) else {
            continue;
        };
        let mut markers = Vec::new();
        marked(request, "", &mut markers);
        for (dialect, prompt) in ["chat", "responses", "messages"].into_iter().zip(prompts) {
            if dialect == front_end {
                continue;
            }
            for (path, text) in &markers {
                let data = text.rsplit_once(',').map_or(&**text, |(_, data)| data);
                let marker = text.find("marker").and_then(|at| text.get(at..at + 10));
                if !prompt.contains(marker.unwrap_or(data)) {
                    lost.insert(format!("{front_end}{path}"));
                }
            }
        }
    }
    let unnamed: Vec<_> = lost
        .iter()
        .filter(|path| !LEFT_OUT.iter().any(|named| path.contains(named)))
        .collect();
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}
