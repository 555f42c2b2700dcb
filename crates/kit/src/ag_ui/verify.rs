//! The order of events, as `@ag-ui/client` verifies it.

use std::collections::HashSet;

use serde_json::Value;

use crate::check::members::text;

/// A rule of the order of events that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An event before `RUN_STARTED`.
    BeforeStart,
    /// An event after the end of the run.
    AfterEnd,
    /// The start of a message, call or step that is open.
    Twice,
    /// A piece or an end of a message, call or step that is not open.
    NotOpen,
    /// The run finished while a message, call or step was open.
    LeftOpen,
}

impl Fault {
    /// Returns the fault and the reaction of an app.
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

/// Returns the type and the id of the span that an event belongs to, and the event's role in this span.
fn span<'a>(kind: &'a str, event: &'a Value) -> Option<(&'a str, &'a str, Role)> {
    let (family, role) = kind.rsplit_once('_')?;
    let id = match family {
        "TEXT_MESSAGE" | "REASONING" | "REASONING_MESSAGE" => "/messageId",
        "TOOL_CALL" => "/toolCallId",
        "STEP" => "/stepName",
        "SUBAGENT" => "/subagentRunId",
        _ => return None,
    };
    let role = match role {
        "START" | "STARTED" => Role::Start,
        "CONTENT" | "ARGS" => Role::Piece,
        "END" | "FINISHED" | "ERROR" => Role::End,
        _ => return None,
    };
    Some((family, text(event, id), role))
}

/// The state of a stream: its run and the open spans.
#[derive(Debug, Default)]
pub(super) struct Verify {
    started: bool,
    over: bool,
    failed: bool,
    open: HashSet<(String, String)>,
}

impl Verify {
    /// Returns `true` if the run has ended.
    pub(super) fn is_done(&self) -> bool {
        self.over
    }

    /// Verifies the next event.
    pub(super) fn take(&mut self, event: &Value) -> Result<(), Fault> {
        let kind = text(event, "/type");
        let error = kind == "RUN_ERROR";
        // A stream may have several runs in sequence, each of which begins without open spans.
        if kind == "RUN_STARTED" && (self.over || !self.started) {
            *self = Self {
                started: true,
                ..Self::default()
            };
            return Ok(());
        }
        // An error may follow a finished run, and may be the only event.
        if self.over && (!error || self.failed) {
            return Err(Fault::AfterEnd);
        }
        if !self.started && !error {
            self.started = true;
            // Only the first fault is returned: later events are verified as if the run had started.
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
        let span = (family.to_owned(), id.to_owned());
        let (is_right, fault) = match role {
            Role::Start => (self.open.insert(span), Fault::Twice),
            Role::Piece => (self.open.contains(&span), Fault::NotOpen),
            Role::End => (self.open.remove(&span), Fault::NotOpen),
        };
        is_right.then_some(()).ok_or(fault)
    }
}
