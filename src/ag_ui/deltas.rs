//! The deltas of the events of a run.

use super::{Custom, Event};
use crate::json::Wire;
use crate::protocol::{Chart, Citation, Delta, Failure, Part, Status, Table, Usage};
use crate::vocabulary::data::text_of;

/// Reads the pieces of an event. Calls and their results are events of their own, with an id.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    match event {
        Event::TextMessageContent(piece) => to(Delta::Text(&piece.delta)),
        Event::ReasoningMessageContent(piece) => {
            to(Delta::Part(Part::Reasoning(&piece.delta)));
        }
        Event::StepStarted(step) => {
            let metadata = step.metadata.as_ref().map(Wire::to_raw).unwrap_or_default();
            let status = Status::read(&*step.step_name, &metadata);
            to(Delta::Part(Part::Status(&status)));
        }
        Event::ActivitySnapshot(activity) => {
            let content = &activity.content;
            match &*activity.activity_type {
                "table" => {
                    if let Some(table) = Table::read(content) {
                        to(Delta::Part(Part::Table(&table)));
                    }
                }
                "chart" => {
                    if let Some(chart) = Chart::read(content) {
                        to(Delta::Part(Part::Chart(&chart)));
                    }
                }
                _ => {}
            }
        }
        Event::Custom(custom) => citations(custom, to),
        Event::RunFinished(end) => {
            for usage in &end.usage {
                to(Delta::Part(Part::Usage(&Usage::from(usage))));
            }
            to(Delta::Finished { needs_end: false });
            to(Delta::End);
        }
        Event::RunError(error) => to(Delta::Failed(Failure {
            retryable: error.code.as_deref() == Some("retryable"),
            code: error.code.as_deref(),
            ..Failure::new(&error.message)
        })),
        _ => {}
    }
}

fn citations(custom: &Custom, to: &mut dyn FnMut(Delta<'_>)) {
    if custom.name == "citations" {
        for json in custom.value.elements() {
            let mut citation = Citation::new(text_of(&json, "title").unwrap_or_default());
            citation.url = text_of(&json, "url");
            citation.document = text_of(&json, "document");
            citation.excerpt = text_of(&json, "excerpt");
            to(Delta::Part(Part::Cite(&citation)));
        }
    }
}
