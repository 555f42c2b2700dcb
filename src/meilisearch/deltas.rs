//! The deltas of the events of a stream.

use super::Event;
use crate::json::Json;
use crate::protocol::{Citation, Delta, Failure, Notice, Part, Status};
use crate::vocabulary::data::text_of;

/// Reads the pieces of an event.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    match event {
        Event::Text(text) | Event::Refusal(text) => to(Delta::Text(text)),
        Event::Progress(progress) => {
            let query = progress.search().ok().and_then(|search| search.q);
            let message = format!("Searching for {:?}", query.unwrap_or_default());
            to(Delta::Part(Part::Status(&Status::new(message))));
        }
        Event::Sources(sources) => {
            for found in sources.iter() {
                to(Delta::Part(Part::Cite(&source(&found))));
            }
        }
        Event::Error(failure) if failure.is_terminal() => to(Delta::Failed(Failure {
            code: Some(&failure.kind),
            ..Failure::new(&failure.message)
        })),
        Event::Error(failure) => {
            let notice = Notice::new(&failure.message).code(failure.kind.clone());
            to(Delta::Part(Part::Error(&notice)));
        }
        Event::Finish(reason) => {
            if let Some(cut) = reason.cut() {
                to(Delta::Part(Part::Cut(cut)));
            }
            to(Delta::Finished { needs_end: true });
        }
        Event::Done => to(Delta::End),
        _ => {}
    }
}

/// Converts a document to a citation, with its title from one of the usual members.
fn source(found: &Json) -> Citation {
    let text = |names: &[&str]| names.iter().find_map(|name| text_of(found, name));
    let title = text(&["title", "name", "label", "headline", "id"]);
    let mut citation = Citation::new(title.unwrap_or_else(|| found.text().to_owned()));
    citation.url = text(&["url", "link", "href"]);
    citation
}
