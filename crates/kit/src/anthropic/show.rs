//! Descriptions of events in text.

use crate::Summary;
use copilot_wire::anthropic::{ContentBlock, Delta, Event};
use copilot_wire::json::Json;

/// Describes an event in one line.
pub(super) fn describe(event: &Event) -> Summary {
    match event {
        Event::MessageStart(message) => Summary::new("start", &message.model),
        Event::ContentBlockStart {
            index,
            content_block,
        } => Summary::new("block", format!("#{index} {}", block(content_block))),
        Event::ContentBlockDelta { delta, .. } => match delta {
            Delta::Text(text) => Summary::new("text", text),
            Delta::Thinking(text) => Summary::new("thinking", text),
            Delta::Signature(text) => Summary::new("signature", format!("{} bytes", text.len())),
            Delta::InputJson(text) => Summary::new("input", text),
            Delta::Citation(json) => Summary::new("citation", json.text()),
            Delta::Other(json) => Summary::new("delta", json.text()),
            _ => Summary::new("delta", ""),
        },
        Event::ContentBlockStop { index } => Summary::new("block end", format!("#{index}")),
        Event::MessageDelta(delta) => {
            let reason = delta.delta.stop_reason.as_ref();
            let reason = reason.map_or("alive", |reason| reason.as_str());
            let (input, output) = (delta.usage.input_tokens, delta.usage.output_tokens);
            let input = input.map(|input| format!("{input} + ")).unwrap_or_default();
            Summary::new("message", format!("{reason} ({input}{output} tokens)"))
        }
        Event::MessageStop => Summary::new("stop", "").last(),
        Event::Ping => Summary::new("ping", ""),
        Event::Error(error) => {
            Summary::new("error", format!("{}: {}", error.kind, error.message)).failed()
        }
        Event::Other(json) => Summary::new("other", json.text()),
        _ => Summary::new("end", ""),
    }
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(block) => format!("text {}", block.text),
        ContentBlock::Thinking(block) => format!("thinking {}", block.thinking),
        ContentBlock::ToolUse(call) => format!("tool_use {} {}", call.id, call.name),
        ContentBlock::ToolResult(result) => format!("tool_result {}", result.tool_use_id),
        ContentBlock::Other(json) => {
            let kind = json.get("type");
            let kind = kind.as_ref().and_then(Json::string);
            kind.unwrap_or_default().into_owned()
        }
        _ => String::new(),
    }
}
