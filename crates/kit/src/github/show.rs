//! Descriptions of events in text.

use crate::Summary;
use copilot_wire::github::{CopilotError, Event, Output, Reference};

/// Describes an event in one line.
pub(super) fn describe(event: &Event) -> Summary {
    let output = match event {
        Event::Output(output) => output,
        Event::Confirmation(question) => {
            let data = question.confirmation.text();
            let text = format!("{}: {}  {data}", question.title, question.message);
            return Summary::new("question", text);
        }
        Event::Finish => return Summary::new("finish", "stop"),
        Event::Done => return Summary::new("done", "").last(),
        _ => return Summary::new("other", ""),
    };
    match output {
        Output::Text(text) => Summary::new("text", text),
        Output::References(list) => Summary::new("references", joined(list, reference)),
        Output::Errors(list) => Summary::new("errors", joined(list, error)),
        Output::Chunk(chunk) => {
            if let Some(message) = chunk.error() {
                return Summary::new("error", message).failed();
            }
            let mut text = chunk.content().unwrap_or_default();
            match chunk.finish_reason() {
                Some(reason) if text.is_empty() => return Summary::new("finish", reason),
                Some(reason) => text.push_str(&format!("  (finish: {reason})")),
                None => {}
            }
            Summary::new("text", text)
        }
        Output::Raw(event) => {
            Summary::new("unknown", format!("{} {}", event.name.as_str(), event.data))
        }
        _ => Summary::new("other", ""),
    }
}

fn joined<T>(list: &[T], describe: fn(&T) -> String) -> String {
    list.iter().map(describe).collect::<Vec<_>>().join(", ")
}

fn reference(reference: &Reference) -> String {
    let name = reference.display_name().unwrap_or(&reference.id);
    format!("{name} ({})", reference.kind)
}

fn error(error: &CopilotError) -> String {
    let (kind, code) = (error.kind.as_str(), &error.code);
    format!("{kind} {code} {}: {}", error.identifier, error.message)
}
