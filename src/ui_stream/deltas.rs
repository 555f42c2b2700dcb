//! The deltas of the chunks of a stream.

use super::{Data, Event};
use crate::json::Json;
use crate::protocol::{Chart, Citation, Cut, Delta, Failure, Part, Status, Table, Usage};
use crate::vocabulary::data::text_of;

/// Reads the pieces of a chunk. Calls and their outcomes are chunks of their own, with an id.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    match event {
        Event::TextDelta(piece) => to(Delta::Text(&piece.delta)),
        Event::ReasoningDelta(piece) => to(Delta::Part(Part::Reasoning(&piece.delta))),
        Event::SourceUrl(source) => {
            let title = source.title.as_ref().unwrap_or(&source.url);
            let citation = Citation::new(title).url(&source.url);
            to(Delta::Part(Part::Cite(&citation)));
        }
        Event::SourceDocument(source) => {
            to(Delta::Part(Part::Cite(&Citation::new(&source.title))));
        }
        Event::MessageMetadata(chunk) => usage(&chunk.metadata, to),
        Event::Data(data) => read(data, to),
        Event::Error(error) => to(Delta::Failed(Failure::new(&error.error_text))),
        Event::Abort(_) => {
            to(Delta::Part(Part::Cut(Cut::Other)));
            to(Delta::Finished { needs_end: false });
        }
        Event::Finish(_) => to(Delta::Finished { needs_end: false }),
        Event::Done => to(Delta::End),
        _ => {}
    }
}

/// Reads the usage in metadata.
fn usage(metadata: &Json, to: &mut dyn FnMut(Delta<'_>)) {
    let Some(figures) = metadata.get("usage") else {
        return;
    };
    let figure = |name: &str| {
        let figure = figures.get(name).and_then(|figure| figure.as_u64());
        figure.unwrap_or_default()
    };
    let usage = Usage::new(figure("inputTokens"), figure("outputTokens"))
        .cached_input_tokens(figure("cachedInputTokens"))
        .reasoning_tokens(figure("reasoningTokens"));
    to(Delta::Part(Part::Usage(&usage)));
}

/// Reads data for a component that shows a part of the shared vocabulary.
fn read(data: &Data, to: &mut dyn FnMut(Delta<'_>)) {
    let json = &data.data;
    match data.name() {
        "status" => {
            if let Some(message) = text_of(json, "message") {
                to(Delta::Part(Part::Status(&Status::read(message, json))));
            }
        }
        "table" => {
            if let Some(table) = Table::read(json) {
                to(Delta::Part(Part::Table(&table)));
            }
        }
        "chart" => {
            if let Some(chart) = Chart::read(json) {
                to(Delta::Part(Part::Chart(&chart)));
            }
        }
        _ => {}
    }
}
