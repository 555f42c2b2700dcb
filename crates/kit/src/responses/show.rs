//! Descriptions of events in text.

use crate::Summary;
use copilot_wire::responses::{Event, EventKind, Item, StreamEvent};

/// Describes an event in one line.
pub(super) fn describe(event: &Event) -> Summary {
    match event {
        Event::Stream(event) => said(event),
        Event::Done => Summary::new("done", "").last(),
        _ => Summary::new("end", ""),
    }
}

fn said(event: &StreamEvent) -> Summary {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    match &event.kind {
        EventKind::TextDelta => Summary::new("text", text(&event.delta)),
        EventKind::RefusalDelta => Summary::new("refusal", text(&event.delta)),
        EventKind::SummaryDelta | EventKind::ReasoningDelta => {
            Summary::new("reasoning", text(&event.delta))
        }
        EventKind::ArgumentsDelta => Summary::new("arguments", text(&event.delta)),
        EventKind::AnnotationAdded => {
            let source = event.annotation.as_deref().cloned().unwrap_or_default();
            let (title, url) = (text(&source.title), text(&source.url));
            Summary::new("annotation", format!("{title} {url}").trim())
        }
        EventKind::ItemDone => match event.item.as_deref() {
            Some(item) if item.is_call() => Summary::new("call", call(item)),
            Some(item) => Summary::new("item", item.kind.as_str()),
            None => Summary::new("item", ""),
        },
        EventKind::Completed => {
            let usage = event.response().and_then(|response| response.usage);
            let usage = usage.map(|usage| {
                let (input, output) = (usage.input_tokens, usage.output_tokens);
                format!("{input} + {output} tokens")
            });
            Summary::new("completed", usage.unwrap_or_default())
        }
        EventKind::Incomplete => {
            let details = event
                .response()
                .and_then(|response| response.incomplete_details);
            let reason = details.map(|details| details.reason);
            Summary::new("incomplete", reason.unwrap_or_default()).failed()
        }
        EventKind::Failed | EventKind::Error => {
            let error = event.error().unwrap_or_default();
            let code = error.code.as_deref().unwrap_or("error");
            Summary::new("error", format!("{code}: {}", error.message)).failed()
        }
        kind => Summary::new("event", kind.as_str()),
    }
}

fn call(item: &Item) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (id, name) = (text(&item.call_id), text(&item.name));
    format!("{id} {name} {}", text(&item.arguments))
}
