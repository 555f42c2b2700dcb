//! The events of a stream, and the endings of a turn.

use bytes::Bytes;

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
use crate::json::{Escape, Json, Kind, Members, ValueWriter, Wire};
use crate::protocol::EventError;
use crate::protocol::typed::outputs;

/// Makes an event of every payload, by its type on the wire.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $type:literal,)*) => {
        /// An event in either direction.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
            /// An event of a type that this crate does not know: a JSON object.
            Unknown(Json),
        }

        impl Event {
            /// Reads an event of a known type. `None` if a required member is missing.
            fn read_known(kind: &str, json: &Json) -> Option<Self> {
                Some(match kind {
                    $($type => {
                        let payload = $name::from_raw(json)?;
                        Self::$name(Some(payload).filter(|payload| payload.is_whole(json))?)
                    })*
                    _ => Self::Unknown(json.clone()),
                })
            }

            /// Appends the event as frames of a stream, with the members that this crate does not
            /// know.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name(payload) => frame(payload, out),)*
                    Self::Unknown(json) => frame(json, out),
                }
            }

            /// Returns the names of the members that an event of a type, such as `RUN_STARTED`, must have. `None`
            /// for a type that this crate does not know.
            #[must_use]
            pub fn required_members(kind: &str) -> Option<&'static [&'static str]> {
                Some(match kind {
                    $($type => $name::REQUIRED,)*
                    _ => return None,
                })
            }

            /// Returns the event without what a client may fail at: members that this crate does not know
            /// and metadata that is not an object.
            pub(super) fn strict(mut self) -> Self {
                match &mut self {
                    $(Self::$name(payload) => {
                        payload.unknown = Members::new();
                        payload.drop_odd();
                        if payload.metadata.kind() != Kind::Object {
                            payload.metadata = Json::default();
                        }
                    })*
                    Self::Unknown(_) => {}
                }
                self
            }
        }

        $(impl From<$name> for Event {
            fn from(payload: $name) -> Self {
                Self::$name(payload)
            }
        })*
    };
}

events! {
    /// The run begins.
    RunStarted = "RUN_STARTED",
    /// The run is complete, or waits for the user.
    RunFinished = "RUN_FINISHED",
    /// The run failed.
    RunError = "RUN_ERROR",
    /// A step begins.
    StepStarted = "STEP_STARTED",
    /// A step ends.
    StepFinished = "STEP_FINISHED",
    /// A text begins.
    TextMessageStart = "TEXT_MESSAGE_START",
    /// A piece of a text.
    TextMessageContent = "TEXT_MESSAGE_CONTENT",
    /// A text ends.
    TextMessageEnd = "TEXT_MESSAGE_END",
    /// A piece of a text that starts and ends by itself.
    TextMessageChunk = "TEXT_MESSAGE_CHUNK",
    /// A tool call begins.
    ToolCallStart = "TOOL_CALL_START",
    /// A piece of the arguments of a tool call.
    ToolCallArgs = "TOOL_CALL_ARGS",
    /// A tool call ends.
    ToolCallEnd = "TOOL_CALL_END",
    /// A piece of a tool call that starts and ends by itself.
    ToolCallChunk = "TOOL_CALL_CHUNK",
    /// The result of a tool that the agent ran.
    ToolCallResult = "TOOL_CALL_RESULT",
    /// The shared state as a whole.
    StateSnapshot = "STATE_SNAPSHOT",
    /// Changes of the shared state.
    StateDelta = "STATE_DELTA",
    /// The conversation as a whole.
    MessagesSnapshot = "MESSAGES_SNAPSHOT",
    /// An activity as a whole.
    ActivitySnapshot = "ACTIVITY_SNAPSHOT",
    /// Changes of an activity.
    ActivityDelta = "ACTIVITY_DELTA",
    /// An event of another system.
    Raw = "RAW",
    /// Anything that agent and app agreed upon.
    Custom = "CUSTOM",
    /// A span of reasoning begins.
    ReasoningStart = "REASONING_START",
    /// A text of reasoning begins.
    ReasoningMessageStart = "REASONING_MESSAGE_START",
    /// A piece of reasoning.
    ReasoningMessageContent = "REASONING_MESSAGE_CONTENT",
    /// A text of reasoning ends.
    ReasoningMessageEnd = "REASONING_MESSAGE_END",
    /// A piece of reasoning that starts and ends by itself.
    ReasoningMessageChunk = "REASONING_MESSAGE_CHUNK",
    /// A span of reasoning ends.
    ReasoningEnd = "REASONING_END",
    /// Reasoning that only its provider can read.
    ReasoningEncryptedValue = "REASONING_ENCRYPTED_VALUE",
    /// The work of another agent begins.
    SubagentStarted = "SUBAGENT_STARTED",
    /// The work of another agent ends.
    SubagentFinished = "SUBAGENT_FINISHED",
    /// The work of another agent failed.
    SubagentError = "SUBAGENT_ERROR",
}

/// Appends a payload as a frame: one line of data that ends with LF, because clients fail at CR.
pub(super) fn frame(payload: &impl Wire, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    payload.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    out.extend_from_slice(b"\n\n");
}

impl Event {
    /// Reads the data of one event.
    pub(super) fn read(data: &str) -> Result<Self, EventError> {
        let json = Json::parse(Bytes::copy_from_slice(data.as_bytes()))?;
        let shape = || EventError::Invalid("an event must be an object with a type");
        let kind = json.get("type").ok_or_else(shape)?;
        let kind = kind.string().ok_or_else(shape)?;
        let missing = EventError::Invalid("a member that the type of the event demands is missing");
        Self::read_known(&kind, &json).ok_or(missing)
    }
}

outputs! {
    /// An event that an agent sends during a turn. The others are the reply's own.

    StateSnapshot: "The shared state as a whole.",
    StateDelta: "Changes of the shared state.",
    MessagesSnapshot: "The conversation as a whole.",
    ActivitySnapshot: "An activity as a whole.",
    ActivityDelta: "Changes of an activity.",
    Custom: "Anything that agent and app agreed upon.",
    Raw: "An event of another system.",
    ToolCallStart: "A call of a tool that the agent runs begins.",
    ToolCallArgs: "A piece of its arguments.",
    ToolCallEnd: "The call ends.",
    ToolCallResult: "Its result.",
}

/// An event that ends a turn, other than a complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The app shall run tools and come back with the results.
    Calls(Vec<ToolCall>),
    /// The run ends with an outcome or a result.
    Finished(RunFinished),
    /// The run failed.
    Error(RunError),
}

impl From<ToolCall> for Ending {
    fn from(call: ToolCall) -> Self {
        Self::Calls(vec![call])
    }
}

impl From<Vec<ToolCall>> for Ending {
    fn from(calls: Vec<ToolCall>) -> Self {
        Self::Calls(calls)
    }
}

impl From<Interrupt> for Ending {
    fn from(interrupt: Interrupt) -> Self {
        Self::Finished(RunFinished::interrupted([interrupt]))
    }
}

impl From<RunFinished> for Ending {
    fn from(end: RunFinished) -> Self {
        Self::Finished(end)
    }
}

impl From<RunError> for Ending {
    fn from(error: RunError) -> Self {
        Self::Error(error)
    }
}
