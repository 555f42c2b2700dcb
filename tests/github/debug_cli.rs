//! `gh debug-cli`, the strictest known client, as a checker.
//!
//! Written after its source (`pkg/chat/parser.go`, `pkg/chat/structs.go`, `pkg/chat/agent.go`): any
//! field but `event` and `data` is an error; each `data` line is JSON on its own; `[DONE]` and
//! empty data are skipped; an unknown or empty event name is an error; every text of an error, and
//! type, id and display name of a reference, and type, title and message of a confirmation must not
//! be empty; lists must not be empty; `copilot_*` members in a default event are errors; and so is
//! more than one `copilot_*` event in a reply.

use serde_json::{Map, Value};

/// The content of a reply as the command line reads it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) confirmation: Option<Value>,
    pub(crate) references: Vec<Value>,
    pub(crate) errors: Vec<Value>,
}

pub(crate) fn read(reply: &str) -> Result<Read, String> {
    let mut read = Read::default();
    let mut named = 0;
    let blocks = reply
        .strip_suffix("\n\n")
        .ok_or("the last event is not complete")?;
    for block in blocks.split("\n\n") {
        let mut event = None;
        let mut data = Vec::new();
        for line in block.split('\n') {
            match line.split_once(':') {
                Some(("event", value)) => event = Some(value.strip_prefix(' ').unwrap_or(value)),
                Some(("data", value)) => data.push(value.strip_prefix(' ').unwrap_or(value)),
                _ => return Err(format!("a field that is not supported: {line}")),
            }
        }
        match event {
            None => {
                for data in data {
                    message(data, &mut read)?;
                }
            }
            Some("copilot_confirmation") => {
                named += 1;
                for data in data {
                    let it = object(parse(data)?)?;
                    for key in ["type", "title", "message"] {
                        filled(&it, key)?;
                    }
                    read.confirmation = Some(Value::Object(it));
                }
            }
            Some("copilot_references") => {
                named += 1;
                for data in data {
                    for it in list(parse(data)?)? {
                        let it = object(it)?;
                        filled(&it, "type")?;
                        filled(&it, "id")?;
                        let metadata = it.get("metadata").cloned().unwrap_or_default();
                        let metadata = object(metadata)?;
                        filled(&metadata, "display_name")?;
                        string(&metadata, "display_icon")?;
                        string(&metadata, "display_url")?;
                        read.references.push(Value::Object(it));
                    }
                }
            }
            Some("copilot_errors") => {
                named += 1;
                for data in data {
                    for it in list(parse(data)?)? {
                        let it = object(it)?;
                        for key in ["type", "code", "message", "identifier"] {
                            filled(&it, key)?;
                        }
                        read.errors.push(Value::Object(it));
                    }
                }
            }
            Some(other) => return Err(format!("an event that is not supported: {other:?}")),
        }
    }
    if named > 1 {
        return Err(format!(
            "more than one event type in an invocation: {named}"
        ));
    }
    Ok(read)
}

fn message(data: &str, read: &mut Read) -> Result<(), String> {
    if data.is_empty() || data == "[DONE]" {
        return Ok(());
    }
    let chunk = object(parse(data)?)?;
    for key in [
        "copilot_confirmation",
        "copilot_references",
        "copilot_errors",
    ] {
        if chunk.get(key).is_some_and(|value| !value.is_null()) {
            return Err(format!("{key} in a message payload"));
        }
    }
    let choices = match chunk.get("choices") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(choices)) => choices,
        Some(_) => return Err("choices is no array".into()),
    };
    for (index, choice) in choices.iter().enumerate() {
        let delta = choice.get("delta").cloned().unwrap_or_default();
        let delta = match delta {
            Value::Null => Map::new(),
            delta => object(delta)?,
        };
        string(&delta, "role")?;
        let content = string(&delta, "content")?;
        if index == 0 {
            read.text.push_str(&content);
        }
    }
    Ok(())
}

fn parse(data: &str) -> Result<Value, String> {
    serde_json::from_str(data).map_err(|error| format!("{error}: {data}"))
}

fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("no object: {other}")),
    }
}

fn list(value: Value) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(list) if !list.is_empty() => Ok(list),
        other => Err(format!("no list, or an empty one: {other}")),
    }
}

/// Returns a string member; `null` and absent ones are empty strings in Go.
fn string(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("{key} is no string: {other}")),
    }
}

fn filled(object: &Map<String, Value>, key: &str) -> Result<(), String> {
    match string(object, key)?.as_str() {
        "" => Err(format!("{key} is missing")),
        _ => Ok(()),
    }
}
