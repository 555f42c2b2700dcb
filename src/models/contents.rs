//! The contents of calls of models, in the format of OpenTelemetry's conventions for generative AI.

use std::borrow::Cow;

use serde::Serialize;
use tracing::Span;

use crate::json::Json;
use crate::protocol::{Attachment, Completion, Conversation, Cut, HistoryItem, Role, ToolCall};

/// The field with the answer of the model. Only spans with contents have it.
const OUTPUT: &str = "gen_ai.output.messages";

/// A message: the parts of one author.
#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        content: Cow<'a, str>,
    },
    Reasoning {
        content: Cow<'a, str>,
    },
    ToolCall {
        id: Option<Cow<'a, str>>,
        name: Cow<'a, str>,
        arguments: Json,
    },
    ToolCallResponse {
        id: Option<Cow<'a, str>>,
        response: Cow<'a, str>,
    },
    /// A file, by its name and type.
    Attachment {
        name: Option<Cow<'a, str>>,
        mime_type: Option<Cow<'a, str>>,
    },
}

/// Records the instructions and the conversation of a request to a model.
pub(super) fn record_prompt(span: &Span, prompt: &impl Conversation) {
    let (mut instructions, mut messages) = (Vec::new(), Vec::<Message<'_>>::new());
    for item in prompt.raw_history() {
        let (role, part) = match item {
            HistoryItem::Message(message) => {
                let part = Part::Text {
                    content: message.text,
                };
                if message.role == Role::System && messages.is_empty() {
                    instructions.push(part);
                    continue;
                }
                messages.push(message_of(message.role.as_str(), part));
                continue;
            }
            HistoryItem::Reasoning(content) => ("assistant", Part::Reasoning { content }),
            HistoryItem::Call(call) => {
                let text = || Json::encode(&*call.arguments).unwrap_or_default();
                let arguments = call.json().unwrap_or_else(|_| text());
                let (id, name) = (call.id, call.name);
                let part = Part::ToolCall {
                    id,
                    name,
                    arguments,
                };
                ("assistant", part)
            }
            HistoryItem::Result(result) => {
                let (id, response) = (result.call_id, result.content);
                ("tool", Part::ToolCallResponse { id, response })
            }
            HistoryItem::Attachment(Attachment {
                name, media_type, ..
            }) => {
                let mime_type = media_type;
                let last = messages.last().map_or("user", |message| message.role);
                (last, Part::Attachment { name, mime_type })
            }
        };
        match messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.parts.push(part),
            None => messages.push(message_of(role, part)),
        }
    }
    if !instructions.is_empty() {
        record(span, "gen_ai.system_instructions", &instructions);
    }
    record(span, "gen_ai.input.messages", &messages);
}

fn message_of<'a>(role: &'static str, part: Part<'a>) -> Message<'a> {
    Message {
        role,
        parts: vec![part],
        finish_reason: None,
    }
}

/// Records a complete answer in the current span: the model, the finish reason and, if the span has the field, the
/// contents.
pub(super) fn record_answer(answer: &Completion) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    let calls = answer.calls();
    let reason = match answer.cut() {
        Some(Cut::Length) => "length",
        Some(Cut::Filter) => "content_filter",
        Some(Cut::Other) => "error",
        None if calls.is_empty() => "stop",
        None => "tool_call",
    };
    let model = answer.model();
    if !model.is_empty() {
        span.record("gen_ai.response.model", model);
    }
    // A JSON array of texts, because a field of a span cannot be a list.
    span.record(
        "gen_ai.response.finish_reasons",
        tracing::field::debug([reason]),
    );
    if span.has_field(OUTPUT) {
        let text = answer.text();
        let text = (!text.is_empty()).then(|| Part::Text {
            content: text.into(),
        });
        let calls = calls.into_iter().map(|call| {
            let ToolCall {
                id,
                name,
                arguments,
                ..
            } = call;
            Part::ToolCall {
                id: id.map(Cow::Owned),
                name: name.into(),
                arguments,
            }
        });
        let message = Message {
            role: "assistant",
            parts: text.into_iter().chain(calls).collect(),
            finish_reason: Some(reason),
        };
        record(&span, OUTPUT, &[message]);
    }
}

fn record(span: &Span, name: &str, value: &impl Serialize) {
    if let Ok(json) = serde_json::to_string(value) {
        span.record(name, json);
    }
}
