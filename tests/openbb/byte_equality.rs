//! Byte equality with openbb-ai 2.2.0: encoding the inputs of the recorded streams gives the
//! recorded bytes, with these exceptions:
//!
//! 1. U+2028 and U+2029 are escaped: the Workspace's reader takes them for line breaks.
//! 2. `get_widget_data` carries a state: the published Workspace drops the result of a call
//!    without one.
//! 3. Floats are spelled as the user's `Serialize` does, `1e20` where Python has `1e+20`. No
//!    recorded stream holds such a number.
//!
//! Line ends are LF, while the Python library has CRLF by default: only event names and data are
//! compared.

use copilot_wire::json::{Json, Kind, List, Members, Wire as _};
use copilot_wire::openbb::{
    Artifact, BoundingBox, Citation, CitationCollection, DataSource, Event, FunctionCall,
    GetWidgetData, PromptSuggestions, QueryDataSource, SourceInfo, StatusUpdate,
};
use copilot_wire::protocol::ChartKind;
use copilot_wire::sse::{Decoder, Frame};

use crate::tree::Tree;
use crate::{encode, fixture, output_event, plain};

fn text(json: &Json, key: &str) -> String {
    json.get(key)
        .and_then(|value| Some(value.string()?.into_owned()))
        .unwrap_or_default()
}

fn members(json: Option<Json>) -> Members {
    let json = json.unwrap_or_default();
    json.members()
        .map(|(key, value)| (key.into_owned(), value))
        .collect()
}

/// Returns the event for a recorded call of the Python helpers.
fn event(input: &Json) -> Option<Event> {
    if let Some(name) = input.get("event") {
        // Events since July 2026, which Python does not model.
        let data = input.get("data").unwrap();
        return Some(match &*name.string().unwrap() {
            "copilotStatusUpdate" => {
                output_event(StatusUpdate::from_json(data.as_bytes()).unwrap())
            }
            _ => {
                let state = data.get("extra_state").unwrap();
                let call = FunctionCall::raw(
                    text(&data, "function"),
                    data.get("input_arguments").unwrap(),
                );
                call.extra_state(state).into()
            }
        });
    }
    let call = input.get("call")?;
    let args = input.get("args").unwrap();
    let get = |key: &str| args.get(key).filter(|value| !value.is_null());
    let named = |artifact: Artifact| {
        output_event(
            artifact
                .uuid(text(&args, "uuid"))
                .name(&text(&args, "name"))
                .description(text(&args, "description")),
        )
    };
    Some(match &*call.string().unwrap() {
        "message_chunk" => output_event(&*text(&args, "text")),
        "ping_comment" => return None,
        "reasoning_step" | "status_update" => {
            let message = text(&args, "message");
            let kind = get("event_type").or_else(|| get("eventType")).unwrap();
            let mut step = match &*kind.string().unwrap() {
                "INFO" => StatusUpdate::info(message),
                "WARNING" => StatusUpdate::warning(message),
                "ERROR" => StatusUpdate::error_deleting_last_call(message),
                other => panic!("{other}"),
            };
            if let Some(details) = get("details") {
                step = step.detail(&details).unwrap();
            }
            if args.get("hidden").is_some() {
                step = step
                    .artifact(Artifact::from_json(get("artifact").unwrap().as_bytes()).unwrap())
                    .hidden();
                // The event without the helper: no details are written.
                step.details = None;
            }
            output_event(step)
        }
        "get_widget_data" => {
            let requests = args.get("requests").unwrap();
            let source = |request: Json| {
                let mut source =
                    DataSource::new(text(&request, "origin"), text(&request, "widget_id"));
                source.widget_uuid = Some(text(&request, "uuid"));
                source.args(&members(request.get("input_arguments")))
            };
            FunctionCall::from(GetWidgetData::new(requests.elements().map(source))).into()
        }
        "function_call" => {
            let call = FunctionCall::raw(
                text(&args, "function"),
                args.get("input_arguments").unwrap(),
            );
            call.extra_state(args.get("extra_state").unwrap()).into()
        }
        "table" => named(Artifact::table(&get("data").unwrap()).unwrap()),
        "chart" => {
            let kind = match text(&args, "type").as_str() {
                "line" => ChartKind::Line {
                    x: text(&args, "x_key"),
                    y: get("y_keys")
                        .unwrap()
                        .elements()
                        .map(|key| key.string().unwrap().into_owned())
                        .collect(),
                },
                "pie" => ChartKind::Pie {
                    angle: text(&args, "angle_key"),
                    label: text(&args, "callout_label_key"),
                },
                other => panic!("{other}"),
            };
            named(Artifact::chart(&kind, &get("data").unwrap()).unwrap())
        }
        "html_artifact" => named(Artifact::html("x", &text(&args, "content"))),
        "text_artifact" => named(Artifact::text("x", &text(&args, "content"))),
        "snowflake_query_artifact" => {
            let source =
                QueryDataSource::from_json(get("query_data_source").unwrap().as_bytes()).unwrap();
            named(Artifact::snowflake_query(
                "x",
                &text(&args, "content"),
                source,
            ))
        }
        "citations" => {
            let citations = args.get("citations").unwrap();
            let citation = |input: Json| {
                // The Python helper writes only these three members of a widget.
                let mut source = SourceInfo::new("widget");
                source.origin = text(&input, "origin");
                source.widget_id = text(&input, "widget_id");
                let mut metadata = Members::new();
                metadata.push("input_args", input.get("input_arguments").unwrap());
                source.metadata = Some(Json::encode(&metadata).unwrap());
                let citation = Citation::new(source).id(text(&input, "id"));
                match input
                    .get("extra_details")
                    .filter(|details| details.kind() == Kind::Object)
                {
                    Some(details) => citation.detail(&details).unwrap(),
                    None => citation,
                }
            };
            output_event(CitationCollection::new(citations.elements().map(citation)))
        }
        "citations_full" => output_event(
            Citation::web("https://example.com")
                .id("d4ea65d0-03d7-4684-9f85-58a628518867")
                .description("page")
                .detail(&serde_json::json!({"Name": "Example"}))
                .unwrap()
                .quote([BoundingBox::new("q", 1, [1.0, 2.5, 3.0, 4.0])]),
        ),
        "prompt_suggestions" => {
            let list: List<String> = get("suggestions")
                .unwrap()
                .elements()
                .map(|text| text.string().unwrap().into_owned())
                .collect();
            output_event(PromptSuggestions::new(list))
        }
        other => panic!("{other}"),
    })
}

/// Returns the names and data of a stream.
fn blocks(stream: &[u8]) -> Vec<(String, String)> {
    let mut decoder = Decoder::new();
    let mut input = stream;
    let mut blocks = Vec::new();
    while let Some(frame) = decoder.next(&mut input).unwrap() {
        if let Frame::Event(event) = frame {
            blocks.push((event.name().to_owned(), event.data().to_owned()));
        }
    }
    blocks
}

#[test]
fn byte_for_byte() {
    let inputs = Json::parse(fixture("streams/inputs.json")).unwrap();
    // Removes the white space of the file.
    let inputs = crate::json(&Tree::of(&inputs).text());
    let (mut same, mut exceptions) = (0, Vec::new());
    for (name, calls) in inputs.members() {
        let is_input = |call: &Json| call.get("note").is_none();
        if !calls.elements().all(|call| is_input(&call)) {
            // Streams of 2024 and drafts are only read.
            continue;
        }
        let events: Vec<Event> = calls.elements().filter_map(|call| event(&call)).collect();
        let ours = blocks(&encode(&plain(), events).unwrap());
        let recorded = blocks(&fixture(&format!("streams/{name}")));
        assert_eq!(ours.len(), recorded.len(), "{name}");
        for ((our_name, our_data), (name_, data)) in ours.into_iter().zip(recorded) {
            assert_eq!(our_name, name_);
            if our_data == data {
                same += 1;
                continue;
            }
            let reason = if data.contains('\u{2028}') {
                assert_eq!(our_data, data.replace('\u{2028}', "\\u2028"));
                "U+2028"
            } else if data.contains("\"get_widget_data\"") {
                let (before, after) = our_data.split_at(data.len() - 1);
                assert_eq!(before, &data[..data.len() - 1]);
                assert!(
                    after.starts_with(",\"extra_state\":{\"copilot_function_call_arguments\":{")
                );
                "extra_state"
            } else if name == "newer_client_functions_lf.sse" && name_ == "copilotStatusUpdate" {
                // Python models neither the group of this event nor its missing member.
                assert_eq!(our_data.replace(",\"hidden\":false", ""), data);
                "hidden is always written"
            } else {
                panic!("{name}: {our_data}\n{data}");
            };
            exceptions.push(reason);
        }
    }
    assert_eq!(same, 32);
    exceptions.sort_unstable();
    assert_eq!(
        exceptions,
        ["U+2028", "extra_state", "hidden is always written"]
    );
}

/// A call that was read is written without additions.
#[test]
fn what_was_read_is_written_byte_for_byte() {
    for name in [
        "streams/get_widget_data.sse",
        "streams/execute_agent_tool.sse",
        "streams/legacy_function_call_widget_uuid.sse",
    ] {
        let recorded = fixture(name);
        let ours = encode(&plain(), crate::decode(&recorded).unwrap()).unwrap();
        assert_eq!(blocks(&ours), blocks(&recorded), "{name}");
    }
}

#[test]
fn floats_are_the_users() {
    let table = Artifact::table(&[std::collections::BTreeMap::from([("x", 1e20)])]).unwrap();
    // Python writes 1e+20.
    assert_eq!(table.content.unwrap().text(), r#"[{"x":1e+20}]"#);
}
