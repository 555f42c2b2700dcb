//! The order of events, as `@ag-ui/client` verifies it.

use serde_json::Value;

/// A rule of the order of events that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An event before `RUN_STARTED`.
    BeforeStart,
    /// An event after the end of the run.
    AfterEnd,
    /// The start of something that is open.
    Twice,
    /// A piece of something that is not open.
    NotOpen,
    /// The run finished while something was open.
    LeftOpen,
}

impl Fault {
    /// Returns what an app does about it.
    pub(super) fn effect(self) -> &'static str {
        match self {
            Self::BeforeStart => "an event before RUN_STARTED: the app fails the run",
            Self::AfterEnd => "an event after the end of the run: the app fails the run",
            Self::Twice => "the start of something that is open: the app fails the run",
            Self::NotOpen => "a piece of something that is not open: the app fails the run",
            Self::LeftOpen => "the run finished while something was open: the app fails the run",
        }
    }
}

/// The effect of an event on a span, which has a start and an end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Start,
    Piece,
    End,
}

/// Returns which span an event belongs to, by a word of its own, and what it does to it.
fn span<'a>(kind: &str, event: &'a Value) -> Option<(&'static str, &'a str, Role)> {
    let (family, name, role) = match kind {
        "TEXT_MESSAGE_START" => ("text", "messageId", Role::Start),
        "TEXT_MESSAGE_CONTENT" => ("text", "messageId", Role::Piece),
        "TEXT_MESSAGE_END" => ("text", "messageId", Role::End),
        "TOOL_CALL_START" => ("call", "toolCallId", Role::Start),
        "TOOL_CALL_ARGS" => ("call", "toolCallId", Role::Piece),
        "TOOL_CALL_END" => ("call", "toolCallId", Role::End),
        "STEP_STARTED" => ("step", "stepName", Role::Start),
        "STEP_FINISHED" => ("step", "stepName", Role::End),
        "REASONING_START" => ("span", "messageId", Role::Start),
        "REASONING_END" => ("span", "messageId", Role::End),
        "REASONING_MESSAGE_START" => ("reasoning", "messageId", Role::Start),
        "REASONING_MESSAGE_CONTENT" => ("reasoning", "messageId", Role::Piece),
        "REASONING_MESSAGE_END" => ("reasoning", "messageId", Role::End),
        "SUBAGENT_STARTED" => ("subagent", "subagentRunId", Role::Start),
        "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => ("subagent", "subagentRunId", Role::End),
        _ => return None,
    };
    let id = event.get(name).and_then(Value::as_str).unwrap_or_default();
    Some((family, id, role))
}

/// The state of a stream.
#[derive(Debug, Default)]
pub(super) struct Verify {
    started: bool,
    over: bool,
    failed: bool,
    open: Vec<(&'static str, String)>,
}

impl Verify {
    /// Returns `true` if the run has ended.
    pub(super) fn is_done(&self) -> bool {
        self.over
    }

    /// Verifies the next event.
    pub(super) fn take(&mut self, event: &Value) -> Result<(), Fault> {
        let kind = event.get("type").and_then(Value::as_str);
        let kind = kind.unwrap_or_default();
        let error = kind == "RUN_ERROR";
        // A stream may have several runs, one after the other; nothing stays open over their
        // border.
        if kind == "RUN_STARTED" && (self.over || !self.started) {
            *self = Self {
                started: true,
                ..Self::default()
            };
            return Ok(());
        }
        // An error may follow a finished run, and may be all there is.
        if self.over && (!error || self.failed) {
            return Err(Fault::AfterEnd);
        }
        if !self.started && !error {
            self.started = true;
            // The first fault counts; what follows is judged as if the run had started.
            return self.take(event).and(Err(Fault::BeforeStart));
        }
        if kind == "RUN_STARTED" {
            return Err(Fault::Twice);
        }
        if kind == "RUN_FINISHED" || error {
            self.over = true;
            self.failed = error;
            return match self.open.is_empty() || error {
                true => Ok(()),
                false => Err(Fault::LeftOpen),
            };
        }
        let Some((family, id, role)) = span(kind, event) else {
            return Ok(());
        };
        let at = self
            .open
            .iter()
            .position(|open| *open == (family, id.to_owned()));
        match (role, at) {
            (Role::Start, None) => self.open.push((family, id.to_owned())),
            (Role::Start, Some(_)) => return Err(Fault::Twice),
            (_, None) => return Err(Fault::NotOpen),
            (Role::Piece, Some(_)) => {}
            (Role::End, Some(at)) => drop(self.open.remove(at)),
        }
        Ok(())
    }
}
