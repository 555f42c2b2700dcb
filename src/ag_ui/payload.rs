//! The payloads of the events.

use serde::Serialize;

use super::content::{Content, text_or_parts};
use super::outcome::{Interrupt, RunOutcome, TokenUsage};
use super::request::Message;
use crate::json::wire::encode;
use crate::json::{Json, Kind, List, Members, WriteError};
use crate::payloads;

payloads! {
    {
        /// Metadata: an object. Clients fail at other types.
        metadata: Option<Members>,
    }

    /// The beginning of a run.
    RunStarted = "RUN_STARTED" {
        /// The id of the conversation.
        thread_id: String [always],
        /// The id of the run.
        run_id: String [always],
        /// The version of the protocol that the agent uses.
        protocol_version: Option<String>,
        /// The id of the run that this run follows.
        parent_run_id: Option<String>,
        /// The request, or `null`.
        input: Json,
    }
    /// The end of a run without a failure.
    RunFinished = "RUN_FINISHED" {
        /// The id of the conversation.
        thread_id: String [always],
        /// The id of the run.
        run_id: String [always],
        /// The result of the run for the program that started it, or `null`.
        result: Json,
        /// The outcome. `None` means success.
        outcome: Option<RunOutcome>,
        /// The tokens used by the run, by model.
        usage: List<TokenUsage>,
    }
    /// The end of a run that failed.
    RunError = "RUN_ERROR" [new = "Creates the end of a run that failed."] {
        /// A message for the user.
        message: String [always, hidden, new],
        /// A short name for the kind of failure.
        code: Option<String> [set = "Sets the short name for the kind of failure."],
    }
    /// The beginning of a step.
    StepStarted = "STEP_STARTED" {
        /// The name of the step. Two steps with the same name are never open at once.
        step_name: String [always],
    }
    /// The end of a step.
    StepFinished = "STEP_FINISHED" {
        /// The name of the step.
        step_name: String [always],
    }
    /// The beginning of a text.
    TextMessageStart = "TEXT_MESSAGE_START" {
        /// The id of the message.
        message_id: String [always],
        /// The role of the author; the assistant if `None`.
        role: Option<String>,
    }
    /// A piece of a text.
    TextMessageContent = "TEXT_MESSAGE_CONTENT" [new = "Creates a piece of a text."] {
        /// The id of the message, which has started.
        message_id: String [always, new],
        /// The piece. Clients before version 0.0.50 fail at an empty piece.
        delta: String [always, hidden, new],
    }
    /// The end of a text.
    TextMessageEnd = "TEXT_MESSAGE_END" {
        /// The id of the message.
        message_id: String [always],
    }
    /// A piece of a text, without start and end events.
    TextMessageChunk = "TEXT_MESSAGE_CHUNK" {
        /// The id of the message; needed in the first chunk.
        message_id: Option<String>,
        /// The role of the author.
        role: Option<String>,
        /// The piece.
        delta: Option<String> [hidden],
    }
    /// The beginning of a tool call.
    ToolCallStart = "TOOL_CALL_START" [new = "Creates the beginning of a tool call."] {
        /// The id of the call.
        tool_call_id: String [always, new],
        /// The tool.
        tool_call_name: String [always, new],
        /// The id of the message that the call belongs to.
        parent_message_id: Option<String>,
    }
    /// A piece of the arguments of a tool call.
    ToolCallArgs = "TOOL_CALL_ARGS" [new = "Creates a piece of the arguments of a tool call."] {
        /// The id of the call, which has started.
        tool_call_id: String [always, new],
        /// A piece of JSON text.
        delta: String [always, hidden, new],
    }
    /// The end of a tool call.
    ToolCallEnd = "TOOL_CALL_END" [new = "Creates the end of a tool call."] {
        /// The id of the call.
        tool_call_id: String [always, new],
    }
    /// A piece of a tool call, without start and end events.
    ToolCallChunk = "TOOL_CALL_CHUNK" {
        /// The id of the call; needed in the first chunk.
        tool_call_id: Option<String>,
        /// The tool; needed in the first chunk.
        tool_call_name: Option<String>,
        /// The id of the message that the call belongs to.
        parent_message_id: Option<String>,
        /// A piece of JSON text.
        delta: Option<String> [hidden],
    }
    /// The result of a tool that the agent ran.
    ToolCallResult = "TOOL_CALL_RESULT" {
        /// The id of the message that contains the result.
        message_id: String [always],
        /// The id of the call.
        tool_call_id: String [always],
        /// The result. Versions before 1.0 accept only text.
        content: Content [always, read = text_or_parts],
        /// The role, which is `tool`.
        role: Option<String>,
    }
    /// The complete state that app and agent share.
    StateSnapshot = "STATE_SNAPSHOT" {
        /// The state.
        snapshot: Json [always],
    }
    /// Changes of the state that app and agent share.
    StateDelta = "STATE_DELTA" {
        /// JSON Patch operations.
        delta: List<Json> [always, hidden],
    }
    /// The complete conversation.
    MessagesSnapshot = "MESSAGES_SNAPSHOT" [new = "Creates a conversation as a whole."] {
        /// The messages, oldest first.
        messages: List<Message> [always, new],
    }
    /// An activity, which a component of the app shows among the messages.
    ActivitySnapshot = "ACTIVITY_SNAPSHOT" {
        /// The id of the message that contains the activity.
        message_id: String [always],
        /// The type, which selects the component.
        activity_type: String [always],
        /// The content: an object.
        content: Json [always],
        /// `false` if the event does not replace an activity with the same id. `None` means `true`.
        replace: Option<bool>,
    }
    /// Changes of an activity.
    ActivityDelta = "ACTIVITY_DELTA" {
        /// The id of the message that contains the activity.
        message_id: String [always],
        /// The type of the activity.
        activity_type: String [always],
        /// JSON Patch operations.
        patch: List<Json> [always],
    }
    /// An unchanged event of another system.
    Raw = "RAW" {
        /// The event.
        event: Json [always],
        /// The source.
        source: Option<String>,
    }
    /// An event that agent and app have agreed on.
    Custom = "CUSTOM" {
        /// The name.
        name: String [always],
        /// The value.
        value: Json [always],
    }
    /// The beginning of a span of reasoning.
    ReasoningStart = "REASONING_START" {
        /// The id of the span.
        message_id: String [always],
    }
    /// The beginning of a text of reasoning.
    ReasoningMessageStart = "REASONING_MESSAGE_START" {
        /// The id of the message.
        message_id: String [always],
        /// The role, which is `reasoning`.
        role: String [always],
    }
    /// A piece of reasoning.
    ReasoningMessageContent = "REASONING_MESSAGE_CONTENT" {
        /// The id of the message, which has started.
        message_id: String [always],
        /// The piece.
        delta: String [always, hidden],
    }
    /// The end of a text of reasoning.
    ReasoningMessageEnd = "REASONING_MESSAGE_END" {
        /// The id of the message.
        message_id: String [always],
    }
    /// A piece of reasoning, without start and end events.
    ReasoningMessageChunk = "REASONING_MESSAGE_CHUNK" {
        /// The id of the message; needed in the first chunk.
        message_id: Option<String>,
        /// The piece.
        delta: Option<String> [hidden],
    }
    /// The end of a span of reasoning.
    ReasoningEnd = "REASONING_END" {
        /// The id of the span.
        message_id: String [always],
    }
    /// Reasoning that only its provider can read.
    ReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE" {
        /// The kind of the reasoning's owner: `tool-call` or `message`.
        subtype: String [always],
        /// The id of the owner.
        entity_id: String [always],
        /// The value.
        encrypted_value: String [always, hidden],
    }
    /// The beginning of the work of another agent.
    SubagentStarted = "SUBAGENT_STARTED" {
        /// The id of the other agent's run.
        subagent_run_id: String [always],
        /// The name of the agent.
        name: String [always],
    }
    /// The end of the work of another agent.
    SubagentFinished = "SUBAGENT_FINISHED" {
        /// The id of the other agent's run.
        subagent_run_id: String [always],
        /// The result, or `null`.
        result: Json,
        /// The outcome, or `null`.
        outcome: Json,
    }
    /// The failure of the work of another agent.
    SubagentError = "SUBAGENT_ERROR" {
        /// The id of the other agent's run.
        subagent_run_id: String [always],
        /// The error.
        message: String [always, hidden],
        /// A short name for the kind of failure.
        code: Option<String>,
    }
}

impl RunFinished {
    /// Creates the end of a run that waits for the user. The reply sets the ids of the run.
    pub fn interrupted(interrupts: impl IntoIterator<Item = Interrupt>) -> Self {
        Self {
            outcome: Some(RunOutcome::interrupt(interrupts)),
            ..Self::default()
        }
    }

    /// Returns the interrupts for which the run waits.
    pub fn interrupts(&self) -> &[Interrupt] {
        let outcome = self.outcome.as_ref();
        outcome.map_or(&[], |outcome| &*outcome.interrupts)
    }
}

impl ToolCallResult {
    /// Creates the result of a tool that the agent ran.
    pub fn new(
        message_id: impl Into<String>,
        tool_call_id: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        Self {
            message_id: message_id.into(),
            tool_call_id: tool_call_id.into(),
            content: Content::Text(content.into()),
            role: Some("tool".to_owned()),
            ..Self::default()
        }
    }
}

impl StateSnapshot {
    /// Creates the event with the complete state.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the state cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(state: &T) -> Result<Self, WriteError> {
        Ok(Self {
            snapshot: encode(state)?,
            ..Self::default()
        })
    }
}

impl StateDelta {
    /// Creates changes of the state. `patch` must serialize to a list of JSON Patch operations.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the operations cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(patch: &T) -> Result<Self, WriteError> {
        Ok(Self {
            delta: operations(patch)?,
            ..Self::default()
        })
    }
}

impl ActivitySnapshot {
    /// Creates an activity. `content` must serialize to an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the content cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(
        message_id: impl Into<String>,
        activity_type: impl Into<String>,
        content: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            message_id: message_id.into(),
            activity_type: activity_type.into(),
            content: encode(content)?,
            ..Self::default()
        })
    }
}

impl ActivityDelta {
    /// Creates changes of an activity. `patch` must serialize to a list of JSON Patch operations.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the operations cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(
        message_id: impl Into<String>,
        activity_type: impl Into<String>,
        patch: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            message_id: message_id.into(),
            activity_type: activity_type.into(),
            patch: operations(patch)?,
            ..Self::default()
        })
    }
}

/// Serializes JSON Patch operations. A value that is not a list becomes one operation, which replies reject.
fn operations<T: Serialize + ?Sized>(patch: &T) -> Result<List<Json>, WriteError> {
    let patch = encode(patch)?;
    Ok(match patch.kind() {
        Kind::Array => patch.elements().collect(),
        _ => List::from(vec![patch]),
    })
}

impl Raw {
    /// Creates an event of another system.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the event cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(event: &T) -> Result<Self, WriteError> {
        Ok(Self {
            event: encode(event)?,
            ..Self::default()
        })
    }
}

impl Custom {
    /// Creates an event that agent and app have agreed on.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the value cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(
        name: impl Into<String>,
        value: &T,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            name: name.into(),
            value: encode(value)?,
            ..Self::default()
        })
    }
}
