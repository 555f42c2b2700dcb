//! Descriptions of events in text.

use crate::Summary;
use copilot_wire::openai::{ChatCompletionChunk, Event, ToolCallDelta};

/// Describes an event in one line.
pub(super) fn describe(event: &Event) -> Summary {
    match event {
        Event::Chunk(chunk) => describe_chunk(chunk),
        Event::Error(error) => {
            let kind = error.kind.as_deref().unwrap_or("error");
            Summary::new("error", format!("{kind}: {}", error.message)).failed()
        }
        Event::Done => Summary::new("done", "").last(),
        _ => Summary::new("end", ""),
    }
}

/// Describes a chunk. Its first part is the kind.
fn describe_chunk(chunk: &ChatCompletionChunk) -> Summary {
    let mut parts: Vec<(&'static str, String)> = Vec::new();
    for choice in &chunk.choices {
        let delta = &choice.delta;
        let mut add = |kind, text: &str| {
            let index = match choice.index {
                0 => String::new(),
                index => format!("[{index}] "),
            };
            parts.push((kind, format!("{index}{text}")));
        };
        if let Some(text) = delta.content.as_deref().filter(|text| !text.is_empty()) {
            add("text", text);
        }
        if let Some(text) = &delta.refusal {
            add("refusal", text);
        }
        for call in &delta.tool_calls {
            add("call", &fragment(call));
        }
        if let Some(call) = &delta.function_call {
            let name = call.name.as_deref().unwrap_or_default();
            let arguments = call.arguments.as_deref().unwrap_or_default();
            add("call", &format!("{name} {arguments}"));
        }
        if let Some(reason) = &choice.finish_reason {
            add("finish", reason.as_str());
        }
    }
    if let Some(usage) = &chunk.usage {
        let (prompt, completion) = (usage.prompt_tokens, usage.completion_tokens);
        parts.push(("usage", format!("{prompt} + {completion} tokens")));
    }
    let kind = parts.first().map_or("opening", |(kind, _)| kind);
    let texts = parts.iter().map(|(part, text)| match *part {
        part if part == kind => text.clone(),
        part => format!("({part}: {text})"),
    });
    Summary::new(kind, texts.collect::<Vec<_>>().join("  "))
}

fn fragment(call: &ToolCallDelta) -> String {
    let mut text = format!("#{}", call.index);
    if let Some(id) = &call.id {
        text.push_str(&format!(" {id}"));
    }
    if let Some(function) = &call.function {
        for part in [&function.name, &function.arguments].into_iter().flatten() {
            text.push_str(&format!(" {part}"));
        }
    }
    text
}
