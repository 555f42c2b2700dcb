//! The events of GitHub Copilot in words.

use copilot_wire::github::{CopilotError, Event, Reference, Say};

use super::{FAILED, Said};

/// What an event says.
pub(crate) fn github(event: &Event) -> Said {
    let say = match event {
        Event::Say(say) => say,
        Event::Confirmation(question) => {
            let text = format!(
                "{}: {}  {}",
                question.title,
                question.message,
                question.confirmation.text()
            );
            return Said::new("question", text);
        }
        Event::Finish => return Said::new("finish", "stop"),
        Event::Done => return Said::new("done", "").over(),
        _ => return Said::new("other", ""),
    };
    match say {
        Say::Text(text) => Said::new("text", text),
        Say::References(list) => Said::new("references", joined(list, reference)),
        Say::Errors(list) => Said::new("errors", joined(list, error)),
        Say::Chunk(chunk) => {
            if let Some(message) = chunk.error() {
                return Said::new("error", message).wrong(FAILED);
            }
            let mut text = chunk.content().unwrap_or_default();
            match chunk.finish_reason() {
                Some(reason) if text.is_empty() => return Said::new("finish", reason),
                Some(reason) => text.push_str(&format!("  (finish: {reason})")),
                None => {}
            }
            Said::new("text", text)
        }
        Say::Raw(event) => Said::new("unknown", format!("{} {}", event.name.as_str(), event.data)),
        _ => Said::new("other", ""),
    }
}

fn joined<T>(list: &[T], words: fn(&T) -> String) -> String {
    list.iter().map(words).collect::<Vec<_>>().join(", ")
}

fn reference(reference: &Reference) -> String {
    let name = reference.display_name().unwrap_or(&reference.id);
    format!("{name} ({})", reference.kind)
}

fn error(error: &CopilotError) -> String {
    let kind = error.kind.as_str();
    format!(
        "{kind} {} {}: {}",
        error.code, error.identifier, error.message
    )
}
