//! The effects of events, as a protocol reads them.

use copilot_wire::Protocol;
use copilot_wire::protocol::{Delta, Notice, Part};

use crate::Effect;

/// Returns the effects of an event on a user.
pub(crate) fn effects<P: Protocol>(event: &P::Event) -> Vec<Effect> {
    let mut effects = Vec::new();
    P::deltas(event, &mut |delta| effects.extend(effect(&delta)));
    effects
}

fn effect(delta: &Delta<'_>) -> Option<Effect> {
    Some(match delta {
        Delta::Text(text) if !text.is_empty() => Effect::Text((*text).to_owned()),
        Delta::Failed(failure) => Effect::Error(Notice::new(failure.message)),
        Delta::Part(part) => match *part {
            Part::Reasoning(text) if !text.is_empty() => Effect::Reasoning(text.to_owned()),
            Part::Status(status) => Effect::Status(status.clone()),
            Part::ToolRun(run) => Effect::ToolRun(run.clone()),
            Part::Cite(citation) => Effect::Citation(citation.clone()),
            Part::Table(table) => Effect::Table(table.clone()),
            Part::Chart(chart) => Effect::Chart(chart.to_table()),
            Part::Error(notice) => Effect::Error(notice.clone()),
            // Zeros mean that the usage is unknown.
            Part::Usage(usage) if usage.total_tokens() > 0 => Effect::Usage(*usage),
            _ => return None,
        },
        _ => return None,
    })
}
