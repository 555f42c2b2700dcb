//! VS Code, behind the platform that relays an agent's events to it, as a checker.
//!
//! Written after its source (`src/platform/networking/node/stream.ts` and
//! `src/extension/conversation/vscode-node/remoteAgents.ts` of microsoft/vscode-copilot-chat). It
//! ignores and logs invalid input; here that is an error, and so is input that it does not display.

use serde_json::{Value, json};

/// The content of a reply as the user sees it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Chat {
    pub(crate) text: String,
    /// The title, message and data of the dialogs.
    pub(crate) dialogs: Vec<(String, String, Value)>,
    pub(crate) warnings: Vec<String>,
    /// The displayed URL or name of each reference.
    pub(crate) references: Vec<String>,
    /// The references that the next request has in its history.
    pub(crate) memory: Vec<Value>,
    pub(crate) finished: bool,
}

/// Relays a reply like the platform: a named event becomes a member of a chunk without choices.
pub(crate) fn relay(reply: &str) -> Result<String, String> {
    let mut relayed = String::new();
    for block in reply.split_terminator("\n\n") {
        match block.split_once('\n') {
            None => relayed += block,
            Some((event, data)) => {
                let name = event.strip_prefix("event: ").ok_or(event)?;
                let data = data.strip_prefix("data: ").ok_or(data)?;
                let data: Value = serde_json::from_str(data).map_err(|error| error.to_string())?;
                let chunk = json!({"choices": null, "id": null, name: data});
                relayed += &format!("data: {chunk}");
            }
        }
        relayed += "\n\n";
    }
    Ok(relayed)
}

/// Reads a stream of chunks, relayed by the platform or from an OpenAI endpoint.
pub(crate) fn read(stream: &str) -> Result<Chat, String> {
    let mut chat = Chat::default();
    for line in stream.split('\n').filter(|line| !line.is_empty()) {
        if line.starts_with(':') {
            continue;
        }
        // VS Code strips the first five characters of any line; another field then fails to parse.
        let data = line.get(5..).ok_or("a short line")?.trim();
        if data == "[DONE]" {
            if !chat.finished {
                return Err("the answer has no finish reason".into());
            }
            return Ok(chat);
        }
        let chunk: Value =
            serde_json::from_str(data).map_err(|error| format!("{error}: {line}"))?;
        if let Some(dialog) = chunk.get("copilot_confirmation").filter(|it| !it.is_null()) {
            confirmation(dialog, &mut chat)?;
        }
        match chunk.get("choices") {
            None | Some(Value::Null) => extras(&chunk, &mut chat)?,
            Some(choices) => {
                for choice in choices.as_array().ok_or("choices is no array")? {
                    self::choice(choice, &mut chat)?;
                }
            }
        }
    }
    Err("the stream has no [DONE]".into())
}

fn choice(choice: &Value, chat: &mut Chat) -> Result<(), String> {
    if choice["index"] != 0 {
        return Err(format!("a choice that nobody asked for: {choice}"));
    }
    let delta = choice["delta"]
        .as_object()
        .ok_or("a choice without delta")?;
    let text = match delta.get("content") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(other) => return Err(format!("content is no string: {other}")),
    };
    if chat.finished {
        return Err(format!("ignored, because the answer has ended: {choice}"));
    }
    chat.text += text;
    match &choice["finish_reason"] {
        Value::Null => {}
        Value::String(reason) if reason == "stop" => chat.finished = true,
        other => return Err(format!("finish_reason: {other}")),
    }
    Ok(())
}

fn confirmation(it: &Value, chat: &mut Chat) -> Result<(), String> {
    let (Some(title), Some(message)) = (it["title"].as_str(), it["message"].as_str()) else {
        return Err(format!("no dialog: {it}"));
    };
    let data = &it["confirmation"];
    let falsy = [json!(null), json!(false), json!(0), json!("")];
    if falsy.contains(data) {
        return Err(format!("no dialog without data: {it}"));
    }
    chat.dialogs
        .push((title.into(), message.into(), data.clone()));
    Ok(())
}

fn extras(chunk: &Value, chat: &mut Chat) -> Result<(), String> {
    let extra = |key: &str| chunk.get(key).filter(|value| !value.is_null());
    let names = [
        "copilot_confirmation",
        "copilot_references",
        "copilot_errors",
    ];
    if names.iter().all(|name| extra(name).is_none()) {
        return Err(format!("no choices and nothing else: {chunk}"));
    }
    for error in extra("copilot_errors")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let message = error["message"].as_str().ok_or("a warning without text")?;
        if error["code"] != "sso" {
            chat.warnings.push(message.into());
        }
    }
    for it in extra("copilot_references")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        reference(it, chat)?;
    }
    Ok(())
}

fn reference(it: &Value, chat: &mut Chat) -> Result<(), String> {
    // VS Code reads `reference.data.results` without a check, then `'url' in reference.data`.
    let data = it["data"]
        .as_object()
        .ok_or_else(|| format!("it throws: {it}"))?;
    if data.get("type") == Some(&json!("github.agent")) || it["type"] == "github.text" {
        return Ok(());
    }
    let url = [it.get("url"), data.get("url"), data.get("html_url")]
        .into_iter()
        .flatten()
        .next()
        .and_then(Value::as_str)
        .filter(|url| !url.is_empty());
    if let Some(url) = url {
        if !url.contains("://") {
            return Err(format!("new URL throws: {url}"));
        }
        chat.references.push(url.into());
        chat.memory.push(it.clone());
        return Ok(());
    }
    let metadata = it["metadata"]
        .as_object()
        .ok_or_else(|| format!("not displayed: {it}"))?;
    let text = |key: &str| {
        metadata
            .get(key)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty())
    };
    if text("display_icon").is_some_and(|icon| !icon.contains(':')) {
        return Err(format!("no URI of an icon: {it}"));
    }
    let value = text("display_url").or_else(|| text("display_name"));
    chat.references
        .push(value.ok_or_else(|| format!("not displayed: {it}"))?.into());
    chat.memory.push(it.clone());
    Ok(())
}
