//! The record of one turn.

use std::fmt;
use std::time::Duration;

use super::effect::Effect;
use super::front_end::Next;
use copilot_wire::protocol::{Confirmation, OneLine, Protocol, ToolCall};

/// The record of one turn: every event with its time, its effect on the user, and the next action.
///
/// `Display` is meant for comparisons: a line for every effect, with pieces of text joined,
/// then the calls or the question, then the faults. `{:#}` puts the time before every line.
///
/// ```text
/// status: Looking it up
/// text: There is a page on tides.
/// citation: The page <https://example.com/page>
/// ```
pub struct Transcript<P: Protocol> {
    pub(super) events: Vec<(Duration, P::Event)>,
    pub(super) effects: Vec<(Duration, Effect)>,
    pub(super) bytes: Vec<u8>,
    pub(super) next: Next,
    pub(super) faults: Vec<String>,
    pub(super) took: Duration,
}

impl<P: Protocol> Transcript<P> {
    pub(super) fn new() -> Self {
        Self {
            events: Vec::new(),
            effects: Vec::new(),
            bytes: Vec::new(),
            next: Next::Nothing,
            faults: Vec::new(),
            took: Duration::ZERO,
        }
    }

    /// Returns the events, each with the time since the request.
    pub fn events(&self) -> &[(Duration, P::Event)] {
        &self.events
    }

    /// Returns the effects on the user, each with the time since the request.
    pub fn effects(&self) -> &[(Duration, Effect)] {
        &self.effects
    }

    /// Returns the whole text of the answer.
    pub fn text(&self) -> String {
        let effects = self.effects.iter();
        effects.filter_map(|(_, effect)| effect.text()).collect()
    }

    /// Returns the next action of the front end.
    pub fn next(&self) -> &Next {
        &self.next
    }

    /// Returns the calls that the front end has to make. Empty if there are none.
    pub fn calls(&self) -> &[ToolCall] {
        self.next.calls()
    }

    /// Returns the question to the user. `None` if there is none.
    pub fn question(&self) -> Option<&Confirmation> {
        match &self.next {
            Next::Question(question) => Some(question),
            _ => None,
        }
    }

    /// Returns the faults: events that cannot be read, a truncated stream, and failures of
    /// the agent that are only reported to observers.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Returns the duration of the turn.
    pub fn duration(&self) -> Duration {
        self.took
    }

    /// Returns the bytes of the stream.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the lines of `Display`, each with its time.
    fn lines(&self) -> Vec<(Duration, String)> {
        let mut lines: Vec<(Duration, String)> = Vec::new();
        let mut last: Option<&Effect> = None;
        for (time, effects) in &self.effects {
            match (last, effects, lines.last_mut()) {
                (Some(Effect::Text(_)), Effect::Text(text), Some((_, line)))
                | (Some(Effect::Reasoning(_)), Effect::Reasoning(text), Some((_, line))) => {
                    // Pieces are joined: where an agent's text was split is arbitrary, and must not make two
                    // transcripts differ.
                    line.push_str(&OneLine(text).to_string());
                }
                _ => lines.push((*time, effects.to_string())),
            }
            last = Some(effects);
        }
        // The front end chooses its next action at the end of the turn, so these lines have the time of the end.
        let mut end = |line: String| lines.push((self.took, line));
        for call in self.calls() {
            let (name, arguments) = (OneLine(&call.name), call.arguments.text());
            end(format!("call: {name} {}", OneLine(arguments)));
        }
        if let Some(asked) = self.question() {
            let words = [&asked.id, &asked.title, &asked.message];
            let words = words.map(|word| OneLine(word).to_string()).join(" ");
            end(format!("question: {}", words.trim_end()));
        }
        for fault in &self.faults {
            end(format!("fault: {}", OneLine(fault)));
        }
        lines
    }
}

impl<P: Protocol> fmt::Display for Transcript<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (time, line) in self.lines() {
            if f.alternate() {
                write!(f, "{:>9.3} s  ", time.as_secs_f64())?;
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// Formats like `Display` with times.
impl<P: Protocol> fmt::Debug for Transcript<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
