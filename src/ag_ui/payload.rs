//! The payloads of the events.

use serde::Serialize;

use super::content::Content;
use super::outcome::{Interrupt, Outcome, TokenUsage};
use super::request::Message;
use crate::json::wire::encode;
use crate::json::{Json, Kind, List, WriteError};
use crate::protocol::typed::payloads;

payloads! {
    {
        /// Metadata: an object, or `null` when there is none.
        metadata: Json = "metadata",
    }

    /// The beginning of a run.
    RunStarted = "RUN_STARTED" {
        /// The id of the conversation.
        thread_id: String = "threadId" always,
        /// The id of the run.
        run_id: String = "runId" always,
        /// The version of the protocol that the agent speaks.
        protocol_version: Option<String> = "protocolVersion",
        /// The run that this one follows.
        parent_run_id: Option<String> = "parentRunId",
        /// The request, or `null`.
        input: Json = "input",
    }
    /// The end of a run that did not fail.
    RunFinished = "RUN_FINISHED" {
        /// The id of the conversation.
        thread_id: String = "threadId" always,
        /// The id of the run.
        run_id: String = "runId" always,
        /// The result of the run for the program that started it, or `null`.
        result: Json = "result",
        /// The outcome. `None` means success.
        outcome: Option<Outcome> = "outcome",
        /// The tokens that the run took, by model.
        usage: List<TokenUsage> = "usage",
    }
    /// The end of a run that failed.
    RunError = "RUN_ERROR" {
        /// A message for the user.
        message: String = "message" always,
        /// A short name for the kind of failure.
        code: Option<String> = "code",
    }
    /// The beginning of a step.
    StepStarted = "STEP_STARTED" {
        /// The name of the step. Two steps of one name are never open at once.
        step_name: String = "stepName" always,
    }
    /// The end of a step.
    StepFinished = "STEP_FINISHED" {
        /// The name of the step.
        step_name: String = "stepName" always,
    }
    /// The beginning of a text.
    TextMessageStart = "TEXT_MESSAGE_START" {
        /// The id of the message.
        message_id: String = "messageId" always,
        /// The role of the author; the assistant if `None`.
        role: Option<String> = "role",
    }
    /// A piece of a text.
    TextMessageContent = "TEXT_MESSAGE_CONTENT" {
        /// The id of the message, which has started.
        message_id: String = "messageId" always,
        /// The piece. Versions before 0.0.50 fail at an empty one.
        delta: String = "delta" always,
    }
    /// The end of a text.
    TextMessageEnd = "TEXT_MESSAGE_END" {
        /// The id of the message.
        message_id: String = "messageId" always,
    }
    /// A piece of a text that starts and ends by itself.
    TextMessageChunk = "TEXT_MESSAGE_CHUNK" {
        /// The id of the message. The first chunk has it.
        message_id: Option<String> = "messageId",
        /// The role of the author.
        role: Option<String> = "role",
        /// The piece.
        delta: Option<String> = "delta",
    }
    /// The beginning of a tool call.
    ToolCallStart = "TOOL_CALL_START" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The tool.
        tool_call_name: String = "toolCallName" always,
        /// The message that the call belongs to.
        parent_message_id: Option<String> = "parentMessageId",
    }
    /// A piece of the arguments of a tool call.
    ToolCallArgs = "TOOL_CALL_ARGS" {
        /// The id of the call, which has started.
        tool_call_id: String = "toolCallId" always,
        /// A piece of JSON text.
        delta: String = "delta" always,
    }
    /// The end of a tool call.
    ToolCallEnd = "TOOL_CALL_END" {
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
    }
    /// A piece of a tool call that starts and ends by itself.
    ToolCallChunk = "TOOL_CALL_CHUNK" {
        /// The id of the call. The first chunk has it.
        tool_call_id: Option<String> = "toolCallId",
        /// The tool. The first chunk has it.
        tool_call_name: Option<String> = "toolCallName",
        /// The message that the call belongs to.
        parent_message_id: Option<String> = "parentMessageId",
        /// A piece of JSON text.
        delta: Option<String> = "delta",
    }
    /// The result of a tool that the agent ran.
    ToolCallResult = "TOOL_CALL_RESULT" {
        /// The id of the message that holds the result.
        message_id: String = "messageId" always,
        /// The id of the call.
        tool_call_id: String = "toolCallId" always,
        /// The result. Versions before 1.0 take text only.
        content: Content = "content" always,
        /// The role, which is `tool`.
        role: Option<String> = "role",
    }
    /// The state that app and agent share, as a whole.
    StateSnapshot = "STATE_SNAPSHOT" {
        /// The state.
        snapshot: Json = "snapshot" always,
    }
    /// Changes of the state that app and agent share.
    StateDelta = "STATE_DELTA" {
        /// JSON Patch operations.
        delta: List<Json> = "delta" always,
    }
    /// The conversation as a whole.
    MessagesSnapshot = "MESSAGES_SNAPSHOT" {
        /// The messages, oldest first.
        messages: List<Message> = "messages" always,
    }
    /// Something that a component of the app shows among the messages.
    ActivitySnapshot = "ACTIVITY_SNAPSHOT" {
        /// The id of the message that holds it.
        message_id: String = "messageId" always,
        /// The type, which chooses the component.
        activity_type: String = "activityType" always,
        /// The content: an object.
        content: Json = "content" always,
        /// `false` if this does not replace an activity with the same id. The default is `true`.
        replace: Option<bool> = "replace",
    }
    /// Changes of an activity.
    ActivityDelta = "ACTIVITY_DELTA" {
        /// The id of the message that holds it.
        message_id: String = "messageId" always,
        /// The type of the activity.
        activity_type: String = "activityType" always,
        /// JSON Patch operations.
        patch: List<Json> = "patch" always,
    }
    /// An event of another system, passed through.
    Raw = "RAW" {
        /// The event.
        event: Json = "event" always,
        /// The source.
        source: Option<String> = "source",
    }
    /// Anything that agent and app agreed upon.
    Custom = "CUSTOM" {
        /// The name.
        name: String = "name" always,
        /// The value.
        value: Json = "value" always,
    }
    /// The beginning of a span of reasoning.
    ReasoningStart = "REASONING_START" {
        /// The id of the span.
        message_id: String = "messageId" always,
    }
    /// The beginning of a text of reasoning.
    ReasoningMessageStart = "REASONING_MESSAGE_START" {
        /// The id of the message.
        message_id: String = "messageId" always,
        /// The role, which is `reasoning`.
        role: String = "role" always,
    }
    /// A piece of reasoning.
    ReasoningMessageContent = "REASONING_MESSAGE_CONTENT" {
        /// The id of the message, which has started.
        message_id: String = "messageId" always,
        /// The piece.
        delta: String = "delta" always,
    }
    /// The end of a text of reasoning.
    ReasoningMessageEnd = "REASONING_MESSAGE_END" {
        /// The id of the message.
        message_id: String = "messageId" always,
    }
    /// A piece of reasoning that starts and ends by itself.
    ReasoningMessageChunk = "REASONING_MESSAGE_CHUNK" {
        /// The id of the message. The first chunk has it.
        message_id: Option<String> = "messageId",
        /// The piece.
        delta: Option<String> = "delta",
    }
    /// The end of a span of reasoning.
    ReasoningEnd = "REASONING_END" {
        /// The id of the span.
        message_id: String = "messageId" always,
    }
    /// Reasoning that only its provider can read.
    ReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE" {
        /// The kind of its owner: `tool-call` or `message`.
        subtype: String = "subtype" always,
        /// The id of that.
        entity_id: String = "entityId" always,
        /// The value.
        encrypted_value: String = "encryptedValue" always,
    }
    /// The beginning of the work of another agent.
    SubagentStarted = "SUBAGENT_STARTED" {
        /// The id of that work.
        subagent_run_id: String = "subagentRunId" always,
        /// The name of the agent.
        name: String = "name" always,
    }
    /// The end of the work of another agent.
    SubagentFinished = "SUBAGENT_FINISHED" {
        /// The id of that work.
        subagent_run_id: String = "subagentRunId" always,
        /// The result, or `null`.
        result: Json = "result",
        /// The outcome, or `null`.
        outcome: Json = "outcome",
    }
    /// The failure of the work of another agent.
    SubagentError = "SUBAGENT_ERROR" {
        /// The id of that work.
        subagent_run_id: String = "subagentRunId" always,
        /// The error.
        message: String = "message" always,
        /// A short name for the kind of failure.
        code: Option<String> = "code",
    }
}

impl RunFinished {
    /// Creates the end of a run that waits for the user. The reply sets the ids of the run.
    #[must_use]
    pub fn interrupted(interrupts: impl IntoIterator<Item = Interrupt>) -> Self {
        Self {
            outcome: Some(Outcome::interrupt(interrupts)),
            ..Self::default()
        }
    }

    /// Creates the end of a run with a result for the program that started it. The reply sets the ids
    /// of the run.
    #[must_use]
    pub fn result(result: Json) -> Self {
        Self {
            result,
            ..Self::default()
        }
    }

    /// Returns what the run waits for.
    #[must_use]
    pub fn interrupts(&self) -> &[Interrupt] {
        let outcome = self.outcome.as_ref();
        outcome.map_or(&[], |outcome| &*outcome.interrupts)
    }
}

impl RunError {
    /// Creates the end of a run that failed.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Sets the short name for the kind of failure.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}

impl TextMessageContent {
    /// Creates a piece of a text.
    #[must_use]
    pub fn new(message_id: impl Into<String>, delta: impl Into<String>) -> Self {
        Self {
            message_id: message_id.into(),
            delta: delta.into(),
            ..Self::default()
        }
    }
}

impl ToolCallStart {
    /// Creates the beginning of a tool call.
    #[must_use]
    pub fn new(tool_call_id: impl Into<String>, tool_call_name: impl Into<String>) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            tool_call_name: tool_call_name.into(),
            ..Self::default()
        }
    }
}

impl ToolCallArgs {
    /// Creates a piece of the arguments of a tool call.
    #[must_use]
    pub fn new(tool_call_id: impl Into<String>, delta: impl Into<String>) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            delta: delta.into(),
            ..Self::default()
        }
    }
}

impl ToolCallEnd {
    /// Creates the end of a tool call.
    #[must_use]
    pub fn new(tool_call_id: impl Into<String>) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            ..Self::default()
        }
    }
}

impl ToolCallResult {
    /// Creates the result of a tool that the agent ran.
    #[must_use]
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
    /// Creates a state as a whole.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the state does not serialize.
    pub fn new<T: Serialize + ?Sized>(state: &T) -> Result<Self, WriteError> {
        Ok(Self {
            snapshot: encode(state)?,
            ..Self::default()
        })
    }
}

impl StateDelta {
    /// Creates changes of the state: `patch` serializes to a list of JSON Patch operations.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the operations do not serialize.
    pub fn new<T: Serialize + ?Sized>(patch: &T) -> Result<Self, WriteError> {
        Ok(Self {
            delta: operations(patch)?,
            ..Self::default()
        })
    }
}

impl MessagesSnapshot {
    /// Creates a conversation as a whole.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl ActivitySnapshot {
    /// Creates an activity: `content` serializes to an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the content does not serialize.
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
    /// Creates changes of an activity: `patch` serializes to a list of JSON Patch operations.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the operations do not serialize.
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

/// Serializes JSON Patch operations. Any other value becomes one operation, which replies refuse.
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
    /// [`WriteError`] when the event does not serialize.
    pub fn new<T: Serialize + ?Sized>(event: &T) -> Result<Self, WriteError> {
        Ok(Self {
            event: encode(event)?,
            ..Self::default()
        })
    }
}

impl Custom {
    /// Creates an event that agent and app agreed upon.
    ///
    /// # Errors
    ///
    /// [`WriteError`] when the value does not serialize.
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
