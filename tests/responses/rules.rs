//! The rules of a stream, checked without this crate's own reader.

use serde_json::Value;

/// The required end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Completed,
    Incomplete,
    Failed,
}

/// A stream that keeps the rules.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) events: Vec<Value>,
    /// The items of the response.
    pub(crate) items: Vec<Value>,
    /// The text of all deltas.
    pub(crate) text: String,
    /// The response at its end.
    pub(crate) response: Value,
}

impl Checked {
    pub(crate) fn kinds(&self) -> Vec<&str> {
        let kinds = self.events.iter().map(kind);
        kinds
            .map(|kind| kind.strip_prefix("response.").unwrap_or(kind))
            .collect()
    }
}

fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap()
}

/// Every member that the schema of a response requires.
const MEMBERS: &str = "id object created_at completed_at status incomplete_details model \
    previous_response_id instructions output error tools tool_choice truncation \
    parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature \
    reasoning usage max_output_tokens max_tool_calls store background service_tier metadata \
    safety_identifier prompt_cache_key";

/// Checks every rule on a whole stream.
pub(crate) fn check(stream: &str, end: End) -> Checked {
    let blocks = stream.strip_suffix("\n\n").unwrap().split("\n\n");
    let mut blocks: Vec<&str> = blocks.collect();
    assert_eq!(blocks.pop(), Some("data: [DONE]"));
    let mut events = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let (name, data) = block.split_once('\n').unwrap();
        let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), event["type"].as_str());
        assert_eq!(event["sequence_number"], number, "{block}");
        events.push(event);
    }
    assert_eq!(kind(&events[0]), "response.created");
    assert_eq!(kind(&events[1]), "response.in_progress");
    let id = events[0]["response"]["id"].clone();
    assert!(id.as_str().unwrap().starts_with("resp_"));
    for event in &events {
        let Some(response) = event.get("response") else {
            continue;
        };
        assert_eq!(response["id"], id);
        for member in MEMBERS.split_whitespace() {
            assert!(response.get(member).is_some(), "{member}");
        }
    }
    let (items, text) = items(&events, end);
    let last = events.last().unwrap();
    let (kind, status) = match end {
        End::Completed => ("response.completed", "completed"),
        End::Incomplete => ("response.incomplete", "incomplete"),
        End::Failed => ("response.failed", "failed"),
    };
    assert_eq!(self::kind(last), kind);
    let response = last["response"].clone();
    assert_eq!(response["status"], status);
    assert!(response["usage"]["input_tokens"].is_u64());
    assert_eq!(response["error"].is_object(), end == End::Failed);
    assert_eq!(
        response["incomplete_details"].is_object(),
        end == End::Incomplete
    );
    assert_eq!(response["output"], Value::from(items.clone()));
    Checked {
        events,
        items,
        text,
        response,
    }
}

/// Checks the items: each is opened, streamed, repeated and closed before the next one.
fn items(events: &[Value], end: End) -> (Vec<Value>, String) {
    let (mut items, mut text) = (Vec::new(), String::new());
    let mut open: Option<(String, String)> = None;
    for event in events {
        let Some(index) = event.get("output_index") else {
            continue;
        };
        assert_eq!(*index, items.len(), "{event}");
        match kind(event) {
            "response.output_item.added" => {
                assert_eq!(open, None, "{event}");
                let id = event["item"]["id"].as_str().unwrap();
                open = Some((id.to_owned(), String::new()));
            }
            "response.output_item.done" => {
                let (id, said) = open.take().unwrap();
                let item = &event["item"];
                assert_eq!(item["id"], id);
                let whole = match item["type"].as_str().unwrap() {
                    "message" => &item["content"][0]["text"],
                    "reasoning" => &item["summary"][0]["text"],
                    _ => item.get("arguments").unwrap_or(&Value::Null),
                };
                if !whole.is_null() {
                    assert_eq!(*whole, said, "{event}");
                }
                items.push(item.clone());
            }
            kind => {
                let (id, said) = open.as_mut().unwrap();
                assert_eq!(event["item_id"], *id, "{event}");
                if let Some(delta) = event["delta"].as_str() {
                    assert!(!delta.is_empty(), "{event}");
                    said.push_str(delta);
                    if kind == "response.output_text.delta" {
                        text.push_str(delta);
                    }
                }
                for whole in [&event["text"], &event["arguments"]] {
                    if !whole.is_null() {
                        assert_eq!(*whole, *said, "{event}");
                    }
                }
                if kind.ends_with("part.done") {
                    assert_eq!(event["part"]["text"], *said, "{event}");
                }
            }
        }
    }
    assert!(open.is_none() || end == End::Failed);
    (items, text)
}
