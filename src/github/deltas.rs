//! The deltas of the events of a reply.

use super::{Event, Output};
use crate::protocol::{Citation, Confirmation, Delta, Notice, Part, Question};

/// Reads the pieces of an event.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    match event {
        Event::Output(output) => read(output, to),
        Event::Confirmation(asked) => {
            let id = asked.confirmation.get("id").unwrap_or_default();
            let id = id.string().unwrap_or_default();
            let question = Confirmation::new(id, &asked.title, &asked.message);
            let question = question.data(asked.confirmation.clone());
            // The question is in a dialog.
            let no_text = |_: &Confirmation| Ok(String::new());
            to(Delta::Part(Part::Confirm(&Question::new(
                &question, &no_text,
            ))));
        }
        Event::Finish => to(Delta::Finished { needs_end: true }),
        Event::Done => to(Delta::End),
    }
}

fn read(output: &Output, to: &mut dyn FnMut(Delta<'_>)) {
    match output {
        Output::Text(text) => to(Delta::Text(text)),
        Output::References(references) => {
            for reference in references {
                let metadata = reference.metadata.as_ref();
                let name = metadata.and_then(|it| it.display_name.as_ref());
                let mut citation = Citation::new(name.unwrap_or(&reference.id));
                citation.url = metadata.and_then(|it| it.display_url.clone());
                citation.document = Some(reference.id.clone());
                to(Delta::Part(Part::Cite(&citation)));
            }
        }
        Output::Errors(errors) => {
            for error in errors {
                let notice = Notice::new(&error.message).code(error.code.clone());
                to(Delta::Part(Part::Error(
                    &notice.identifier(&error.identifier),
                )));
            }
        }
        Output::Chunk(chunk) => {
            if let Some(text) = chunk.content() {
                to(Delta::Text(&text));
            }
            if let Some(message) = chunk.error() {
                to(Delta::Part(Part::Error(&Notice::new(message))));
            }
            if chunk.finish_reason().is_some() {
                to(Delta::Finished { needs_end: true });
            }
        }
        Output::Raw(_) => {}
    }
}
