//! The events of the OpenBB Workspace in words.

use crate::openbb::{Artifact, Event, Say, SourceInfo};
use crate::testing::Summary;

/// Describes an event in a line.
pub(super) fn describe(event: &Event) -> Summary {
    let say = match event {
        Event::Say(say) => say,
        Event::FunctionCall(call) => {
            let text = format!("{} {}", call.function, call.input_arguments.text());
            return Summary::new("call", text).last();
        }
    };
    match say {
        Say::MessageChunk(text) => Summary::new("text", text),
        Say::StatusUpdate(status) => {
            let mut text = format!("{} {}", status.event_type.as_str(), status.message);
            for detail in status.details.iter().flat_map(|details| details.iter()) {
                text.push_str(&format!("  {}", detail.text()));
            }
            for shown in status.artifacts.iter().flat_map(|list| list.iter()) {
                text.push_str(&format!("  [{}]", artifact(shown)));
            }
            Summary::new("status", text)
        }
        Say::MessageArtifact(shown) => Summary::new("artifact", artifact(shown)),
        Say::CitationCollection(collection) => {
            let names = collection.citations.iter();
            let names = names.map(|citation| source(&citation.source_info));
            Summary::new("citations", names.collect::<Vec<_>>().join(", "))
        }
        Say::PromptSuggestions(prompts) => {
            let prompts: Vec<_> = prompts.suggestions.iter().map(String::as_str).collect();
            Summary::new("suggestions", prompts.join(" | "))
        }
        Say::TokenUsage(usage) => {
            let total = usage
                .total
                .map_or_else(|| "?".to_owned(), |total| total.to_string());
            Summary::new("usage", format!("{total} tokens"))
        }
        Say::ConversationSummary(summary) => Summary::new("summary", &*summary.content),
        Say::Raw(event) => Summary::new(
            "unknown",
            format!("{} {}", event.name(), event.data().text()),
        ),
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
