//! What came of one turn.

use std::fmt;
use std::time::Duration;

use super::front_end::Next;
use super::heard::{Heard, Line};
use crate::protocol::{Confirmation, Protocol, ToolCall};

/// What came of one turn: every event with its time, what the user perceived, and what is next.
///
/// `Display` is made to be compared: a line for everything that was heard, pieces of text joined,
/// then the calls or the question, then what went wrong. `{:#}` puts the time before every line.
///
/// ```text
/// status: Looking it up
/// text: There is a page on tides.
/// citation: The page <https://example.com/page>
/// ```
pub struct Transcript<P: Protocol> {
    pub(super) events: Vec<(Duration, P::Event)>,
    pub(super) heard: Vec<(Duration, Heard)>,
    pub(super) bytes: Vec<u8>,
    pub(super) next: Next,
    pub(super) faults: Vec<String>,
    pub(super) took: Duration,
}

impl<P: Protocol> Transcript<P> {
    pub(super) fn new() -> Self {
        Self {
            events: Vec::new(),
            heard: Vec::new(),
            bytes: Vec::new(),
            next: Next::Nothing,
            faults: Vec::new(),
            took: Duration::ZERO,
        }
    }

    /// The events, each with the time since the request.
    #[must_use]
    pub fn events(&self) -> &[(Duration, P::Event)] {
        &self.events
    }

    /// What the user perceived, each with the time since the request.
    #[must_use]
    pub fn heard(&self) -> &[(Duration, Heard)] {
        &self.heard
    }

    /// The text of the answer, whole.
    #[must_use]
    pub fn text(&self) -> String {
        let text = |(_, heard): &(Duration, Heard)| match heard {
            Heard::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.heard.iter().filter_map(text).collect()
    }

    /// What the front end does next.
    #[must_use]
    pub fn next(&self) -> &Next {
        &self.next
    }

    /// The calls that the front end is to make.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        match &self.next {
            Next::Calls(calls) => calls,
            _ => &[],
        }
    }

    /// The question that the front end asks its user.
    #[must_use]
    pub fn question(&self) -> Option<&Confirmation> {
        match &self.next {
            Next::Question(question) => Some(question),
            _ => None,
        }
    }

    /// What went wrong: events that cannot be read, a stream that breaks off, and the failures of
    /// the agent that only its environment hears of.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// How long the turn took.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took
    }

    /// The stream as it was sent.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines of `Display`, each with its time.
    fn lines(&self) -> Vec<(Duration, String)> {
        let mut lines: Vec<(Duration, String)> = Vec::new();
        let mut last: Option<&Heard> = None;
        for (time, heard) in &self.heard {
            match (last, heard, lines.last_mut()) {
                (Some(Heard::Text(_)), Heard::Text(text), Some((_, line)))
                | (Some(Heard::Reasoning(_)), Heard::Reasoning(text), Some((_, line))) => {
                    line.push_str(&Line(text).to_string());
                }
                _ => lines.push((*time, heard.to_string())),
            }
            last = Some(heard);
        }
        let mut end = |line: String| lines.push((self.took, line));
        match &self.next {
            Next::Calls(calls) => {
                for call in calls {
                    let (name, arguments) = (Line(&call.name), call.arguments.text());
                    end(format!("call: {name} {}", Line(arguments)));
                }
            }
            Next::Question(asked) => {
                let words =
                    [&asked.id, &asked.title, &asked.message].map(|word| Line(word).to_string());
                end(format!("question: {}", words.join(" ").trim_end()));
            }
            Next::Nothing | Next::Broken(_) => {}
        }
        self.faults
            .iter()
            .for_each(|fault| end(format!("fault: {}", Line(fault))));
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

/// The same as `Display` with times.
impl<P: Protocol> fmt::Debug for Transcript<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
