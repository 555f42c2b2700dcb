//! Descriptions of events in text.

use crate::Summary;
use copilot_wire::meilisearch::{Event, SearchProgress, Unknown};

/// Describes an event in one line.
pub(super) fn describe(event: &Event) -> Summary {
    match event {
        Event::Text(text) => Summary::new("text", text),
        Event::Refusal(text) => Summary::new("refusal", text),
        Event::Progress(progress) => Summary::new("search", search(progress)),
        Event::Append(append) => Summary::new("append", append.message.json().text()),
        Event::Sources(sources) => {
            let documents: Vec<_> = sources.iter().collect();
            let texts: Vec<_> = documents.iter().map(|document| document.text()).collect();
            Summary::new("sources", format!("{}: {}", texts.len(), texts.join(", ")))
        }
        Event::Error(failure) => {
            let summary = Summary::new("error", format!("{}: {}", failure.kind, failure.message));
            match failure.is_terminal() {
                true => summary.failed(),
                false => summary,
            }
        }
        Event::Provider(provider) => Summary::new("provider", format!("{provider:?}")),
        Event::Logprobs(logprobs) => Summary::new("logprobs", logprobs.text()),
        Event::RoundBreak => Summary::new("round", "the next round of the model"),
        Event::Finish(reason) => Summary::new("finish", reason.as_str()),
        Event::Done => Summary::new("done", "").last(),
        Event::Unknown(Unknown::Call(call)) => {
            Summary::new("unknown", format!("{} {}", call.name, call.arguments))
        }
        Event::Unknown(Unknown::Frame(frame)) => Summary::new("unknown", frame.text()),
        _ => Summary::new("other", ""),
    }
}

/// Describes a search. The model wrote the arguments, so they can be invalid.
fn search(progress: &SearchProgress) -> String {
    match progress.search() {
        Ok(search) => {
            let query = search.q.unwrap_or_default();
            let mut text = format!("{} for {query:?}", search.index_uid);
            if let Some(filter) = search.filter.filter(|filter| !filter.is_empty()) {
                text.push_str(&format!(" where {filter}"));
            }
            text
        }
        Err(_) => format!("{} {}", progress.function_name, progress.function_arguments),
    }
}
