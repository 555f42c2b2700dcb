//! The output of one choice: its written part, and the part buffered for its end.

use std::borrow::Cow;
use std::mem;

use super::tool_call::{FUNCTION_CALL, take_kind};
use super::{Choice, Delta, FinishReason, FunctionDelta, ToolCallDelta, ToolKind};
use crate::json::{Json, Members, Wire};
use crate::models::free_text_input;
use crate::protocol::fragments::{Calls, PartialCall};
use crate::protocol::{self, CallDelta, Env};

/// One choice of a reply.
#[derive(Debug)]
pub(super) struct Turn {
    index: u32,
    /// Set once the role has been written.
    opened: bool,
    /// The calls. The argument text of the current call is removed as it is written.
    calls: Calls,
    /// The number of finished calls, and the number of those that were written.
    finished: usize,
    written: u32,
    /// The progress of the current call.
    current: Progress,
    reason: Option<FinishReason>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Nothing,
    /// Id, type and name have been written, but no arguments.
    Named,
    /// A part of the arguments has been written.
    Begun,
}

impl Turn {
    pub(super) fn new(index: u32) -> Self {
        Self {
            index,
            opened: false,
            calls: Calls::default(),
            finished: 0,
            written: 0,
            current: Progress::Nothing,
            reason: None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.opened
    }

    /// Returns `true` if the choice does not end early, for a limit or a filter.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.reason, None | Some(FinishReason::Stop))
    }

    /// Returns `true` if the choice ends early, for a limit or a filter.
    fn is_cut(&self) -> bool {
        matches!(
            self.reason,
            Some(FinishReason::Length | FinishReason::ContentFilter)
        )
    }

    /// Returns the chunk with only the role: both official clients count log probabilities in the
    /// first chunk of a choice twice.
    pub(super) fn open(&mut self) -> Choice {
        self.opened = true;
        Choice::new(
            self.index,
            Delta {
                role: Some("assistant".into()),
                content: Some(String::new()),
                ..Delta::default()
            },
        )
    }

    /// Adds the addition of a chunk; returns the part to write now.
    pub(super) fn add(&mut self, choice: &Choice, env: &Env) -> Option<Choice> {
        let delta = &choice.delta;
        if let Some(reason) = &choice.finish_reason {
            self.reason = Some(reason.clone());
        }
        for fragment in &delta.tool_calls {
            self.calls.push(&fragment.delta());
        }
        // Rule 3: empty texts and lists are omitted, and the role is written by `open` only. Rule 5: the
        // finish reason is buffered in `self.reason`.
        let some = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let mut piece = Choice {
            index: self.index,
            delta: Delta {
                role: None,
                content: some(&delta.content),
                refusal: some(&delta.refusal),
                tool_calls: self.stream(env).into(),
                function_call: delta.function_call.clone(),
                unknown: delta.unknown.clone(),
            },
            logprobs: choice.logprobs.clone(),
            finish_reason: None,
            unknown: choice.unknown.clone(),
        };
        // Invalid values of known members are not relayed: a strict client would refuse them.
        piece.drop_odd();
        let nothing = Choice::new(self.index, Delta::default());
        (piece != nothing).then_some(piece)
    }

    /// Returns the part of the current call that can be written. Later calls are buffered until the
    /// current one is known to be complete, which is at the end: fragments of several calls must
    /// not be interleaved.
    fn stream(&mut self, env: &Env) -> Vec<ToolCallDelta> {
        // Only the first unfinished call is examined. VS Code appends a fragment without an id to the last call,
        // whatever its index says.
        let Some(call) = self.calls.list.get_mut(self.finished) else {
            return Vec::new();
        };
        if self.current == Progress::Nothing {
            // The name must be in the first fragment, so a call without one waits for it.
            if call.name.is_empty() {
                return Vec::new();
            }
            let fragment = start(self.written, call, env);
            self.current = Progress::Named;
            if arguments(&fragment).is_some_and(|piece| !piece.is_empty()) {
                self.current = Progress::Begun;
            }
            return vec![fragment];
        }
        if call.arguments.is_empty() && !call.has_members() {
            return Vec::new();
        }
        self.current = Progress::Begun;
        vec![ToolCallDelta {
            unknown: call.take_members(),
            // The index counts written calls: relayed indexes can have gaps, and a client's list cannot.
            ..ToolCallDelta::arguments(self.written, mem::take(&mut call.arguments))
        }]
    }

    /// Returns the unwritten parts of all calls, one call after the other.
    fn rest(&mut self, env: &Env) -> Vec<ToolCallDelta> {
        let mut list = Vec::new();
        while self.finished < self.calls.list.len() {
            list.append(&mut self.stream(env));
            // A call without a name is invalid and is dropped.
            if self.current != Progress::Nothing {
                // The arguments are not completed if the answer was truncated: clients would run an incomplete call.
                if self.current == Progress::Named && !self.is_cut() {
                    // Arguments must be JSON, and empty text is not.
                    list.push(ToolCallDelta::arguments(self.written, "{}"));
                }
                self.written += 1;
            }
            self.finished += 1;
            self.current = Progress::Nothing;
        }
        list
    }

    /// Sets the reason of the end.
    pub(super) fn end_with(&mut self, reason: FinishReason) {
        self.reason = Some(reason);
    }

    /// Adds a call and returns all calls that are not written yet.
    pub(super) fn call(&mut self, call: &protocol::ToolCall, env: &Env) -> Choice {
        let (name, arguments) = (call.name.clone(), call.arguments_text().into_owned());
        let members = call.by_model.clone().unwrap_or_default();
        let kind = members.get("type").and_then(Json::string);
        if kind.is_some_and(|kind| kind == FUNCTION_CALL) {
            self.reason = Some(FinishReason::FunctionCall);
            let delta = Delta {
                function_call: Some(FunctionDelta {
                    name: Some(name),
                    arguments: Some(arguments),
                    unknown: Members::new(),
                }),
                ..Delta::default()
            };
            return Choice::new(self.index, delta);
        }
        let id = call.id.clone().unwrap_or_else(|| env.new_id("call"));
        let whole = CallDelta::new(0, &id, &name, &arguments).members(Cow::Owned(members));
        let mut call = PartialCall::at(u64::MAX);
        call.push(&whole);
        self.calls.list.push(call);
        self.reason = Some(FinishReason::ToolCalls);
        let delta = Delta {
            tool_calls: self.rest(env).into(),
            ..Delta::default()
        };
        Choice::new(self.index, delta)
    }

    /// Adds the call of a tool with free text and returns all calls that are not written yet.
    pub(super) fn free_text_call(&mut self, call: &protocol::ToolCall, env: &Env) -> Choice {
        let custom = Json::object(|custom| {
            let input = free_text_input(&call.arguments);
            custom.str("name", &call.name).str("input", &input);
        });
        let mut calls = self.rest(env);
        let id = call.id.clone().unwrap_or_else(|| env.new_id("call"));
        let mut fragment = ToolCallDelta {
            index: self.written,
            id: Some(id),
            kind: Some(ToolKind::Other("custom".into())),
            ..ToolCallDelta::default()
        };
        fragment.unknown.push("custom", custom);
        calls.push(fragment);
        self.written += 1;
        self.reason = Some(FinishReason::ToolCalls);
        let delta = Delta {
            tool_calls: calls.into(),
            ..Delta::default()
        };
        Choice::new(self.index, delta)
    }

    /// Returns the unwritten parts of the choice: the role, calls, the finish reason.
    pub(super) fn finish(&mut self, env: &Env) -> Vec<Choice> {
        let mut pieces = Vec::with_capacity(3);
        if !self.opened {
            pieces.push(self.open());
        }
        let delta = Delta {
            tool_calls: self.rest(env).into(),
            ..Delta::default()
        };
        if !delta.tool_calls.is_empty() {
            pieces.push(Choice::new(self.index, delta));
        }
        // The finish reason must match the calls that were written, not those that were announced.
        let reason = match self.reason.take() {
            Some(FinishReason::ToolCalls) | None if self.written == 0 => FinishReason::Stop,
            Some(FinishReason::Other(name)) if name.is_empty() => FinishReason::Stop,
            Some(reason) => reason,
            None => FinishReason::ToolCalls,
        };
        pieces.push(Choice::new(self.index, Delta::default()).finish(reason));
        pieces
    }
}

/// Returns the first fragment of a call, with its arguments so far.
fn start(index: u32, call: &mut PartialCall, env: &Env) -> ToolCallDelta {
    if call.id.is_empty() {
        call.id = env.new_id("call");
    }
    let mut members = call.take_members();
    ToolCallDelta {
        index,
        id: Some(call.id.clone()),
        kind: Some(take_kind(&mut members)),
        function: Some(FunctionDelta {
            name: Some(call.name.clone()),
            arguments: Some(mem::take(&mut call.arguments)),
            unknown: Members::new(),
        }),
        unknown: members,
    }
}

fn arguments(fragment: &ToolCallDelta) -> Option<&str> {
    fragment.function.as_ref()?.arguments.as_deref()
}
