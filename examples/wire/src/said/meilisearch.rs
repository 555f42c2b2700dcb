//! The events of Meilisearch chat in words.

use copilot_wire::meilisearch::{Event, Progress, Unknown};

use super::{FAILED, Said};

/// What an event says.
pub(crate) fn meilisearch(event: &Event) -> Said {
    match event {
        Event::Text(text) => Said::new("text", text),
        Event::Refusal(text) => Said::new("refusal", text),
        Event::Progress(progress) => Said::new("search", search(progress)),
        Event::Append(append) => Said::new("append", append.message.json().text()),
        Event::Sources(sources) => {
            let documents: Vec<_> = sources.iter().collect();
            let texts: Vec<_> = documents.iter().map(|document| document.text()).collect();
            Said::new("sources", format!("{}: {}", texts.len(), texts.join(", ")))
        }
        Event::Error(failure) => {
            let said = Said::new("error", format!("{}: {}", failure.kind, failure.message));
            match failure.is_terminal() {
                true => said.wrong(FAILED),
                false => said,
            }
        }
        Event::RoundBreak => Said::new("round", "the model speaks anew"),
        Event::Finish(reason) => Said::new("finish", reason.as_str()),
        Event::Done => Said::new("done", "").over(),
        Event::Unknown(Unknown::Call(call)) => {
            Said::new("unknown", format!("{} {}", call.name, call.arguments))
        }
        Event::Unknown(Unknown::Frame(frame)) => Said::new("unknown", frame.text()),
        _ => Said::new("other", ""),
    }
}

/// The model wrote the arguments, so they may be anything.
fn search(progress: &Progress) -> String {
    match progress.search() {
        Ok(search) => {
            let mut text = format!(
                "{} for {:?}",
                search.index_uid,
                search.q.unwrap_or_default()
            );
            if let Some(filter) = search.filter.filter(|filter| !filter.is_empty()) {
                text.push_str(&format!(" where {filter}"));
            }
            text
        }
        Err(_) => format!("{} {}", progress.function_name, progress.function_arguments),
    }
}
