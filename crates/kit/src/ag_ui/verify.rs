//! The order of events, as `@ag-ui/client` verifies it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::check::members::text;

/// A rule of the order of events that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An event before `RUN_STARTED`.
    BeforeStart,
    /// An event after the end of the run.
    AfterEnd,
    /// The start, or the first chunk, of a message, call or step that is open.
    Twice,
    /// A piece or an end of a message, call or step that is not open, or a first chunk without an id or a name.
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

/// A type of spans, and the id of one.
type Span = (String, String);

/// Returns the type of the spans that a chunk belongs to, and the member with its id.
fn chunk_of(kind: &str) -> Option<(&str, &'static str)> {
    match kind.strip_suffix("_CHUNK")? {
        family @ ("TEXT_MESSAGE" | "REASONING_MESSAGE") => Some((family, "messageId")),
        family @ "TOOL_CALL" => Some((family, "toolCallId")),
        _ => None,
    }
}

/// The state of a stream: its run and the open spans.
#[derive(Debug, Default)]
pub(super) struct Verify {
    started: bool,
    over: bool,
    failed: bool,
    open: HashSet<Span>,
    /// The span of each subagent that began with a chunk, which the next event of another kind ends.
    chunked: HashMap<String, Span>,
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
        if let Some((family, member)) = chunk_of(kind) {
            return self.chunk(family, event.get(member).and_then(Value::as_str), event);
        }
        self.end_chunks(kind, event);
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

    /// Verifies a chunk: a start, if its span is not the one that the last chunk began, and a piece.
    fn chunk(&mut self, family: &str, id: Option<&str>, event: &Value) -> Result<(), Fault> {
        let lane = text(event, "/subagentRunId").to_owned();
        let continues = |span: &Span| span.0 == family && id.is_none_or(|id| span.1 == id);
        let same = self.chunked.get(&lane).is_some_and(continues);
        // A chunk without an id and a subagent belongs to the only span of its type.
        let mut others = self.chunked.values().filter(|span| span.0 == family);
        if same || (id.is_none() && lane.is_empty() && others.next().is_some()) {
            return Ok(());
        }
        self.end_chunk(&lane);
        let has_name = family != "TOOL_CALL" || event.get("toolCallName").is_some();
        let Some(id) = id.filter(|_| has_name) else {
            return Err(Fault::NotOpen);
        };
        let span = (family.to_owned(), id.to_owned());
        if !self.open.insert(span.clone()) {
            return Err(Fault::Twice);
        }
        self.chunked.insert(lane, span);
        Ok(())
    }

    /// Ends the spans of chunks that an event of another kind ends.
    fn end_chunks(&mut self, kind: &str, event: &Value) {
        match kind {
            "RUN_FINISHED" | "RUN_ERROR" | "MESSAGES_SNAPSHOT" => {
                for span in std::mem::take(&mut self.chunked).into_values() {
                    self.open.remove(&span);
                }
            }
            "RAW"
            | "ACTIVITY_SNAPSHOT"
            | "ACTIVITY_DELTA"
            | "REASONING_ENCRYPTED_VALUE"
            | "SUBAGENT_STARTED" => {}
            _ => self.end_chunk(text(event, "/subagentRunId")),
        }
    }

    fn end_chunk(&mut self, lane: &str) {
        if let Some(span) = self.chunked.remove(lane) {
            self.open.remove(&span);
        }
    }
}
