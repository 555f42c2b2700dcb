//! Descriptions of events in text.

use crate::Summary;
use copilot_wire::openbb::{Artifact, Event, Output, SourceInfo};

/// Describes an event in one line.
pub(super) fn describe(event: &Event) -> Summary {
    let output = match event {
        Event::Output(output) => output,
        Event::FunctionCall(call) => {
            let text = format!("{} {}", call.function, call.input_arguments.text());
            return Summary::new("call", text).last();
        }
        _ => return Summary::new("other", ""),
    };
    match output {
        Output::MessageChunk(text) => Summary::new("text", text),
        Output::StatusUpdate(status) => {
            let mut text = format!("{} {}", status.event_type.as_str(), status.message);
            for detail in status.details.iter().flat_map(|details| details.iter()) {
                text.push_str(&format!("  {}", detail.text()));
            }
            for added in status.artifacts.iter().flat_map(|list| list.iter()) {
                text.push_str(&format!("  [{}]", artifact(added)));
            }
            Summary::new("status", text)
        }
        Output::MessageArtifact(added) => Summary::new("artifact", artifact(added)),
        Output::CitationCollection(collection) => {
            let names = collection.citations.iter();
            let names = names.map(|citation| source(&citation.source_info));
            Summary::new("citations", names.collect::<Vec<_>>().join(", "))
        }
        Output::PromptSuggestions(prompts) => {
            let prompts: Vec<_> = prompts.suggestions.iter().map(String::as_str).collect();
            Summary::new("suggestions", prompts.join(" | "))
        }
        Output::TokenUsage(usage) => {
            let total = usage.total.map(|total| total.to_string());
            let total = total.as_deref().unwrap_or("?");
            Summary::new("usage", format!("{total} tokens"))
        }
        Output::ConversationSummary(summary) => Summary::new("summary", &*summary.content),
        Output::Raw(event) => Summary::new(
            "unknown",
            format!("{} {}", event.name(), event.data().text()),
        ),
        _ => Summary::new("other", ""),
    }
}

fn artifact(artifact: &Artifact) -> String {
    let mut text = format!("{} {}", artifact.kind.as_str(), artifact.name);
    if let Some(chart) = &artifact.chart_params {
        text.push_str(&format!(", {}", chart.chart_type.as_str()));
    }
    if let Some(content) = &artifact.content {
        match content.string() {
            Some(content) => text.push_str(&format!(": {content}")),
            None => text.push_str(&format!(", {} rows", content.elements().count())),
        }
    }
    text
}

fn source(source: &SourceInfo) -> String {
    let name = match source.name.as_str() {
        "" => &source.widget_id,
        name => name,
    };
    format!("{name} ({})", source.kind)
}
