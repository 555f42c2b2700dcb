//! The events of a stream, and the endings of a turn.

use super::outcome::Interrupt;
use super::payload::{
    ActivityDelta, ActivitySnapshot, Custom, MessagesSnapshot, Raw, ReasoningEncryptedValue,
    ReasoningEnd, ReasoningMessageChunk, ReasoningMessageContent, ReasoningMessageEnd,
    ReasoningMessageStart, ReasoningStart, RunError, RunFinished, RunStarted, StateDelta,
    StateSnapshot, StepFinished, StepStarted, SubagentError, SubagentFinished, SubagentStarted,
    TextMessageChunk, TextMessageContent, TextMessageEnd, TextMessageStart, ToolCallArgs,
    ToolCallChunk, ToolCallEnd, ToolCallResult, ToolCallStart,
};
use super::request::ToolCall;
use crate::json::Json;
use crate::protocol::FrameEvent;

/// An event in either direction.
#[derive(Clone, Debug, PartialEq, Eq, FrameEvent)]
#[non_exhaustive]
// The limit of clients, in characters.
#[event(
    whole,
    limit = 10_000_000,
    truncated = "the stream ended without RUN_FINISHED"
)]
#[event(output = "An event that an agent sends during a turn. The others are the reply's own.")]
pub enum Event {
    /// The run begins.
    #[event(first)]
    RunStarted(RunStarted),
    /// The run is complete, or waits for the user.
    #[event(last)]
    RunFinished(RunFinished),
    /// The run failed.
    #[event(last)]
    RunError(RunError),
    /// A step begins.
    StepStarted(StepStarted),
    /// A step ends.
    StepFinished(StepFinished),
    /// A text begins.
    TextMessageStart(TextMessageStart),
    /// A piece of a text.
    #[event(text = "delta")]
    TextMessageContent(TextMessageContent),
    /// A text ends.
    TextMessageEnd(TextMessageEnd),
    /// A piece of a text, without start and end events.
    TextMessageChunk(TextMessageChunk),
    /// A tool call begins.
    #[event(output)]
    ToolCallStart(ToolCallStart),
    /// A piece of the arguments of a tool call.
    #[event(output)]
    ToolCallArgs(ToolCallArgs),
    /// A tool call ends.
    #[event(output)]
    ToolCallEnd(ToolCallEnd),
    /// A piece of a tool call, without start and end events.
    ToolCallChunk(ToolCallChunk),
    /// The result of a tool that the agent ran.
    #[event(output)]
    ToolCallResult(ToolCallResult),
    /// The complete shared state.
    #[event(output)]
    StateSnapshot(StateSnapshot),
    /// Changes of the shared state.
    #[event(output)]
    StateDelta(StateDelta),
    /// The complete conversation.
    #[event(output)]
    MessagesSnapshot(MessagesSnapshot),
    /// A complete activity.
    #[event(output)]
    ActivitySnapshot(ActivitySnapshot),
    /// Changes of an activity.
    #[event(output)]
    ActivityDelta(ActivityDelta),
    /// An event of another system.
    #[event(output)]
    Raw(Raw),
    /// An event that agent and app have agreed on.
    #[event(output)]
    Custom(Custom),
    /// A span of reasoning begins.
    ReasoningStart(ReasoningStart),
    /// A text of reasoning begins.
    ReasoningMessageStart(ReasoningMessageStart),
    /// A piece of reasoning.
    ReasoningMessageContent(ReasoningMessageContent),
    /// A text of reasoning ends.
    ReasoningMessageEnd(ReasoningMessageEnd),
    /// A piece of reasoning, without start and end events.
    ReasoningMessageChunk(ReasoningMessageChunk),
    /// A span of reasoning ends.
    ReasoningEnd(ReasoningEnd),
    /// Reasoning that only its provider can read.
    ReasoningEncryptedValue(ReasoningEncryptedValue),
    /// The work of another agent begins.
    SubagentStarted(SubagentStarted),
    /// The work of another agent ends.
    SubagentFinished(SubagentFinished),
    /// The work of another agent failed.
    SubagentError(SubagentError),
    /// An event of a type that this crate does not know: a JSON object.
    #[event(other)]
    Unknown(Json),
}

/// An event that ends a turn, other than a complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Calls of tools that the app runs. Its next request has the results.
    Calls(Vec<ToolCall>),
    /// The run ends with an outcome or a result.
    Finished(RunFinished),
    /// The run failed.
    Error(RunError),
}

from! {
    ToolCall => Ending: |call| Self::Calls(vec![call]),
    Vec<ToolCall> => Ending: Self::Calls,
    Interrupt => Ending: |interrupt| Self::Finished(RunFinished::interrupted([interrupt])),
    RunFinished => Ending: Self::Finished,
    RunError => Ending: Self::Error,
}
