//! Summaries of the events of a UI message stream.

use crate::Summary;
use copilot_wire::ui_stream::Event;

/// Describes an event in a line.
pub(super) fn describe(event: &Event) -> Summary {
    let two = |kind: &'static str, one: &str, two: &str| Summary::new(kind, format!("{one} {two}"));
    match event {
        Event::Start(start) => Summary::new("start", start.message_id.as_deref().unwrap_or("")),
        Event::StartStep(_) => Summary::new("step", ""),
        Event::TextStart(start) => Summary::new("block", &start.id),
        Event::TextDelta(piece) => Summary::new("text", &piece.delta),
        Event::TextEnd(end) => Summary::new("block end", &end.id),
        Event::ReasoningStart(start) => Summary::new("block", &start.id),
        Event::ReasoningDelta(piece) => Summary::new("reasoning", &piece.delta),
        Event::ReasoningEnd(end) => Summary::new("block end", &end.id),
        Event::SourceUrl(source) => {
            let title = source.title.as_deref().unwrap_or("");
            Summary::new("source", format!("{title} <{}>", source.url))
        }
        Event::SourceDocument(source) => Summary::new("source", &source.title),
        Event::File(file) => {
            // A `data:` URL is the whole file.
            let place = file.url.split(',').next().unwrap_or_default();
            two("file", &file.media_type, place)
        }
        Event::ToolInputStart(call) => two("call", &call.tool_call_id, &call.tool_name),
        Event::ToolInputDelta(piece) => Summary::new("input", &piece.input_text_delta),
        Event::ToolInputAvailable(call) => {
            let (id, name) = (&call.tool_call_id, &call.tool_name);
            Summary::new("call", format!("{id} {name} {}", call.input.text()))
        }
        Event::ToolInputError(call) => {
            let (id, name) = (&call.tool_call_id, &call.tool_name);
            Summary::new("call failed", format!("{id} {name}: {}", call.error_text))
        }
        Event::ToolOutputAvailable(output) => {
            two("output", &output.tool_call_id, output.output.text())
        }
        Event::ToolOutputError(output) => {
            let id = format!("{}:", output.tool_call_id);
            two("call failed", &id, &output.error_text)
        }
        Event::ToolApprovalRequest(request) => {
            let id = format!("{} for", request.approval_id);
            two("approval", &id, &request.tool_call_id)
        }
        Event::ToolOutputDenied(output) => Summary::new("denied", &output.tool_call_id),
        Event::MessageMetadata(chunk) => Summary::new("metadata", chunk.metadata.text()),
        Event::FinishStep(_) => Summary::new("step end", ""),
        Event::Finish(_) => Summary::new("finish", ""),
        Event::Error(error) => Summary::new("error", &error.error_text).failed(),
        Event::Abort(_) => Summary::new("abort", ""),
        Event::Data(data) => Summary::new(data.kind.clone(), data.data.text()),
        Event::Unknown(json) => Summary::new("unknown", json.text()),
        Event::Done => Summary::new("done", "").last(),
        _ => Summary::new("other", ""),
    }
}
