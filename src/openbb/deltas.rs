//! The deltas of the events of a reply.

use super::{Artifact, ArtifactType, ChartType, Citation, Event, EventType, Output, StatusUpdate};
use crate::json::{Json, Wire};
use crate::protocol::{self, CallDelta, CallForm, Chart, ChartKind, Delta, Part, Status, Table};

/// Reads the pieces of an event. The end of a stream is the end of its body.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    let output = match event {
        Event::Output(output) => output,
        Event::FunctionCall(call) => {
            let arguments = call.input_arguments.to_raw();
            let call = CallDelta::new(0, "", &call.function, arguments.text());
            return to(Delta::Call(call.form(CallForm::Whole)));
        }
    };
    match output {
        Output::MessageChunk(text) => to(Delta::Text(text)),
        Output::StatusUpdate(update) if !update.hidden => status(update, to),
        Output::MessageArtifact(added) => artifact(added, to),
        Output::CitationCollection(collection) => {
            // The Workspace does not display a citation without an id.
            let shown = collection.citations.iter().filter(|it| !it.id.is_empty());
            shown.for_each(|it| to(Delta::Part(Part::Cite(&citation(it)))));
        }
        _ => {}
    }
}

fn status(update: &StatusUpdate, to: &mut dyn FnMut(Delta<'_>)) {
    let mut step = match update.event_type {
        EventType::Info => Status::new(&update.message),
        _ => Status::warning(&update.message),
    };
    let details = update.details.iter().flatten();
    for (name, value) in details.flat_map(Json::members) {
        step = step.detail(name, value.string().unwrap_or_else(|| value.text().into()));
    }
    to(Delta::Part(Part::Status(&step)));
    update
        .artifacts
        .iter()
        .flatten()
        .for_each(|it| artifact(it, to));
}

fn artifact(artifact: &Artifact, to: &mut dyn FnMut(Delta<'_>)) {
    let rows = artifact.content.clone().unwrap_or_default();
    let Ok(mut table) = Table::new(&artifact.name, &rows) else {
        return;
    };
    table.description = Some(artifact.description.clone()).filter(|text| !text.is_empty());
    match artifact.kind {
        ArtifactType::Table => to(Delta::Part(Part::Table(&table))),
        ArtifactType::Chart => {
            if let Some(kind) = kind(artifact) {
                let Table {
                    name,
                    description,
                    rows,
                } = table;
                to(Delta::Part(Part::Chart(&Chart {
                    name,
                    description,
                    kind,
                    rows,
                })));
            }
        }
        _ => {}
    }
}

fn kind(artifact: &Artifact) -> Option<ChartKind> {
    let params = artifact.chart_params.as_ref()?;
    let (x, y) = (params.x_key.clone(), params.y_key.to_vec());
    let (angle, label) = (params.angle_key.clone(), params.callout_label_key.clone());
    Some(match params.chart_type {
        ChartType::Line => ChartKind::Line { x, y },
        ChartType::Bar => ChartKind::Bar { x, y },
        ChartType::Scatter => ChartKind::Scatter { x, y },
        ChartType::Pie => ChartKind::Pie { angle, label },
        ChartType::Donut => ChartKind::Donut { angle, label },
        ChartType::Other(_) => return None,
    })
}

fn citation(citation: &Citation) -> protocol::Citation {
    let source = &citation.source_info;
    let names = [&source.name, &source.widget_id, &source.origin];
    let name = names.into_iter().find(|name| !name.is_empty());
    let mut cited = protocol::Citation::new(name.map_or("", String::as_str));
    if source.kind == "web" {
        cited.url = Some(source.name.clone());
    }
    cited.document = Some(source.uuid.clone()).filter(|id| !id.is_empty());
    cited
}
