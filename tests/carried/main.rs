//! Everything in a request reaches the model, in every dialect, or stands in the list of what is left out.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod another_type;

use std::collections::BTreeSet;

use copilot_wire::anthropic::MessagesRequest;
use copilot_wire::json::Wire as _;
use copilot_wire::openai::ChatRequest;
use copilot_wire::protocol::Conversation;
use copilot_wire::responses::ResponsesRequest;
use copilot_wire::{ag_ui, github, meilisearch, openbb, ui_stream};
use serde_json::{Value, json};

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

/// Members that a value of another type leaves unread: names, details of files, widgets and results, and what may be a
/// secret.
const UNREAD: &[&str] = &[
    "activityType",
    "copilot_references[client.file]",
    "custom.",
    "document].context",
    "error_type",
    "filename",
    "functions[]",
    "items[].url",
    "openbb.context[].description",
    "openbb.context[].name",
    "openbb.tools[].name/..",
    "resource.uri",
    "source",
    "title",
    "widgets.primary[].",
];

/// Converts a request of a front end for the three dialects; `None` if it is refused, or if the front end is not one of
/// these.
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
        "agui" => of(&ag_ui::RunAgentInput::from_json(body).ok()?),
        "chat" => of(&ChatRequest::from_json(body).ok()?),
        "github" => of(&github::ChatRequest::from_json(body).ok()?),
        "meili" => of(&meilisearch::ChatRequest::read(&body.to_owned().into()).ok()?),
        "messages" => of(&MessagesRequest::from_json(body).ok()?),
        "openbb" => of(&openbb::QueryRequest::from_json(body).ok()?),
        "responses" => of(&ResponsesRequest::from_json(body).ok()?),
        "ui" => of(&ui_stream::ChatRequest::from_json(body).ok()?),
        _ => return None,
    })
}

/// A string with a marker.
struct Marked {
    /// Its place, without the indices of lists.
    path: String,
    pointer: String,
    text: String,
}

/// Returns the strings with a marker. The marker of a file is inside its base64.
fn marked(value: &Value, path: &str, pointer: &str, found: &mut Vec<Marked>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let pointer = format!("{pointer}/{name}");
                marked(member, &format!("{path}.{name}"), &pointer, found);
            }
        }
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                let kind = element["type"].as_str().unwrap_or_default();
                let pointer = format!("{pointer}/{at}");
                marked(element, &format!("{path}[{kind}]"), &pointer, found);
            }
        }
        Value::String(text) => {
            let data = text.rsplit_once(',').map_or(&**text, |(_, data)| data);
            let is_data = data.len() > 15
                && data
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || b"+/=".contains(&it));
            if is_data || text.contains("marker") {
                found.push(Marked {
                    path: path.to_owned(),
                    pointer: pointer.to_owned(),
                    text: text.clone(),
                });
            }
        }
        _ => {}
    }
}

/// Returns the requests, each with its front end and its markers.
fn cases() -> impl Iterator<Item = (String, Value, Vec<Marked>)> {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../../fixtures/carried/requests.json")).unwrap();
    cases.into_iter().map(|case| {
        let mut markers = Vec::new();
        marked(&case["request"], "", "", &mut markers);
        let front_end = case["front_end"].as_str().unwrap().to_owned();
        (front_end, case["request"].clone(), markers)
    })
}

/// Adds the place to those that are lost, if a prompt for another dialect does not contain the text.
fn find(
    prompts: &[String; 3],
    front_end: &str,
    path: &str,
    text: &str,
    lost: &mut BTreeSet<String>,
) {
    for (dialect, prompt) in ["chat", "responses", "messages"].into_iter().zip(prompts) {
        let is_named = LEFT_OUT
            .iter()
            .any(|named| format!("{front_end}{path}").contains(named));
        if dialect != front_end && !prompt.contains(text) && !is_named {
            lost.insert(format!("{front_end}{path}"));
        }
    }
}

#[test]
fn everything_that_was_said_reaches_every_dialect() {
    let mut lost = BTreeSet::new();
    for (front_end, request, markers) in cases() {
        let Some(prompts) = prompts(&front_end, &request.to_string()) else {
            assert_eq!(front_end, "mcp", "{request}");
            continue;
        };
        for Marked { path, text, .. } in &markers {
            let data = text.rsplit_once(',').map_or(&**text, |(_, data)| data);
            let marker = text.find("marker").and_then(|at| text.get(at..at + 10));
            find(
                &prompts,
                &front_end,
                path,
                marker.unwrap_or(data),
                &mut lost,
            );
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// In each place, and in place of what it is in.
#[test]
fn values_of_another_type_reach_every_dialect_or_are_refused() {
    let odd = [
        (json!(987_654), "987654"),
        (json!(["odd value"]), "odd value"),
        (json!({"k": "odd value"}), "odd value"),
        (json!({"text": ["odd value"]}), "odd value"),
        (json!([["odd value"]]), "odd value"),
        (json!([{"text": 987_654}]), "987654"),
    ];
    let mut lost = BTreeSet::new();
    for (front_end, request, markers) in cases() {
        let mut places = BTreeSet::new();
        for Marked { pointer, path, .. } in &markers {
            let outer = |text: &str| text.rsplit_once('/').map(|(outer, _)| outer.to_owned());
            places.extend(outer(pointer).map(|outer| (outer, format!("{path}/.."))));
            places.insert((pointer.clone(), path.clone()));
        }
        let is_read = |path: &String| {
            !UNREAD
                .iter()
                .any(|named| format!("{front_end}{path}").contains(named))
        };
        for (pointer, path) in places.into_iter().filter(|(_, path)| is_read(path)) {
            for (value, text) in &odd {
                if path.ends_with("/..") && value.is_object() {
                    // An object whose members have other names.
                    continue;
                }
                let mut request = request.clone();
                *request.pointer_mut(&pointer).unwrap() = value.clone();
                if let Some(prompts) = prompts(&front_end, &request.to_string()) {
                    let path = format!("{path} {value}");
                    find(&prompts, &front_end, &path, text, &mut lost);
                }
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
