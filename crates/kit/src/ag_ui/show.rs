//! Summaries of the events of AG-UI.

use crate::Summary;
use copilot_wire::ag_ui::Event;
use copilot_wire::json::Json;

/// Describes an event in a line.
pub(super) fn describe(event: &Event) -> Summary {
    let two = |kind: &'static str, one: &str, two: &str| Summary::new(kind, format!("{one} {two}"));
    match event {
        Event::RunStarted(run) => two("run", &run.thread_id, &run.run_id),
        Event::RunFinished(end) => {
            let waits = end.interrupts().iter().map(|interrupt| &*interrupt.id);
            // Not the last event: another run may follow.
            Summary::new("finish", waits.collect::<Vec<_>>().join(" "))
        }
        Event::RunError(error) => Summary::new("error", &error.message).failed(),
        Event::StepStarted(step) => Summary::new("step", &step.step_name),
        Event::StepFinished(step) => Summary::new("step end", &step.step_name),
        Event::TextMessageStart(start) => Summary::new("message", &start.message_id),
        Event::TextMessageContent(piece) => Summary::new("text", &piece.delta),
        Event::TextMessageEnd(end) => Summary::new("message end", &end.message_id),
        Event::TextMessageChunk(piece) => {
            Summary::new("text", piece.delta.as_deref().unwrap_or_default())
        }
        Event::ToolCallStart(call) => two("call", &call.tool_call_id, &call.tool_call_name),
        Event::ToolCallArgs(piece) => Summary::new("arguments", &piece.delta),
        Event::ToolCallEnd(end) => Summary::new("call end", &end.tool_call_id),
        Event::ToolCallChunk(piece) => {
            let name = piece.tool_call_name.as_deref().unwrap_or_default();
            let delta = piece.delta.as_deref().unwrap_or_default();
            two("call", name, delta)
        }
        Event::ToolCallResult(result) => {
            two("result", &result.tool_call_id, &result.content.text())
        }
        Event::StateSnapshot(state) => Summary::new("state", state.snapshot.text()),
        Event::StateDelta(changes) => Summary::new("state change", texts(&changes.delta)),
        Event::MessagesSnapshot(snapshot) => {
            Summary::new("messages", snapshot.messages.len().to_string())
        }
        Event::ActivitySnapshot(activity) => {
            two("activity", &activity.activity_type, activity.content.text())
        }
        Event::ActivityDelta(changes) => {
            let patch = texts(&changes.patch);
            two("activity change", &changes.activity_type, &patch)
        }
        Event::Raw(raw) => Summary::new("raw", raw.event.text()),
        Event::Custom(custom) => two("custom", &custom.name, custom.value.text()),
        Event::ReasoningStart(start) => Summary::new("reasoning start", &start.message_id),
        Event::ReasoningMessageStart(start) => Summary::new("message", &start.message_id),
        Event::ReasoningMessageContent(piece) => Summary::new("reasoning", &piece.delta),
        Event::ReasoningMessageEnd(end) => Summary::new("message end", &end.message_id),
        Event::ReasoningMessageChunk(piece) => {
            Summary::new("reasoning", piece.delta.as_deref().unwrap_or_default())
        }
        Event::ReasoningEnd(end) => Summary::new("reasoning end", &end.message_id),
        // Only the provider of the model can read the value.
        Event::ReasoningEncryptedValue(value) => two("encrypted", &value.subtype, &value.entity_id),
        Event::SubagentStarted(agent) => Summary::new("subagent", &agent.name),
        Event::SubagentFinished(agent) => Summary::new("subagent end", &agent.subagent_run_id),
        Event::SubagentError(agent) => Summary::new("subagent failed", &agent.message),
        Event::Unknown(json) => Summary::new("unknown", json.text()),
        _ => Summary::new("other", ""),
    }
}

fn texts(operations: &[Json]) -> String {
    let texts: Vec<_> = operations.iter().map(Json::text).collect();
    texts.join(" ")
}
