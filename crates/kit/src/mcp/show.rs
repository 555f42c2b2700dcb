//! Summaries of the messages of a stream.

use crate::Summary;
use copilot_wire::mcp::Event;

/// Describes an event in a line.
pub(super) fn describe(event: &Event) -> Summary {
    match event {
        Event::Progress(progress) => {
            let message = progress.message.as_deref().unwrap_or_default();
            Summary::new(
                "progress",
                format!("{} {message}", progress.progress.text()),
            )
        }
        Event::Question(question) => Summary::new("question", &question.params.message),
        Event::Result(answer) => {
            let result = &answer.result;
            if let Some(question) = result.question() {
                return Summary::new("question", question.message).last();
            }
            match result.is_error {
                true => Summary::new("failed", result.text()).failed().last(),
                false => Summary::new("result", result.text()).last(),
            }
        }
        Event::Error(failed) => Summary::new("error", &failed.error.message).failed(),
        Event::Other(json) => Summary::new("message", json.text()),
        _ => Summary::new("other", ""),
    }
}
