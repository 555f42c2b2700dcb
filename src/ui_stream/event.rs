//! The events of a stream, and the endings of a turn.

use bytes::Bytes;

use super::chunk::{
    Abort, Error, File, Finish, FinishStep, MessageMetadata, ReasoningDelta, ReasoningEnd,
    ReasoningStart, SourceDocument, SourceUrl, Start, StartStep, TextDelta, TextEnd, TextStart,
    ToolApprovalRequest, ToolInputAvailable, ToolInputDelta, ToolInputError, ToolInputStart,
    ToolOutputAvailable, ToolOutputDenied, ToolOutputError,
};
use super::data::{Data, PREFIX};
use crate::json::{Escape, Json, Members, ValueWriter, Wire};
use crate::protocol::EventError;
use crate::protocol::typed::outputs;

/// Makes an event of every chunk, by its type on the wire.
macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $type:literal,)*) => {
        /// An event in either direction: one chunk of a stream.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$doc])* $name($name),)*
            /// Data for a component of the page.
            Data(Data),
            /// A chunk of a type that this crate does not know: a JSON object.
            Unknown(Json),
            /// The end of the stream: `[DONE]`. Readers ignore the rest.
            Done,
        }

        impl Event {
            /// Reads a chunk of a known type. `None` if a required member is missing.
            fn read_known(kind: &str, json: &Json) -> Option<Self> {
                Some(match kind {
                    $($type => {
                        let chunk = $name::from_raw(json)?;
                        // The schema of the SDK demands these members; a page fails the whole reply
                        // without them.
                        Self::$name(Some(chunk).filter(|chunk| chunk.is_whole(json))?)
                    })*
                    _ if kind.starts_with(PREFIX) => {
                        Self::Data(Data::from_raw(json).filter(|_| json.get("data").is_some())?)
                    }
                    _ => Self::Unknown(json.clone()),
                })
            }

            /// Appends the event as frames of a stream, with the members that this crate does not
            /// know.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name(chunk) => frame(chunk, out),)*
                    Self::Data(chunk) => frame(chunk, out),
                    Self::Unknown(json) => frame(json, out),
                    Self::Done => out.extend_from_slice(DONE),
                }
            }

            /// Returns the names of the members that a chunk of a type, such as `text-delta`, must have, and of
            /// all that it may have. `None` for a type that this crate does not know.
            #[must_use]
            pub fn members(
                kind: &str,
            ) -> Option<(&'static [&'static str], &'static [&'static str])> {
                Some(match kind {
                    $($type => ($name::REQUIRED, $name::NAMES),)*
                    _ if kind.starts_with(PREFIX) => (&["data"], Data::NAMES),
                    _ => return None,
                })
            }

            /// Returns the event without members that this crate does not know.
            pub(super) fn strict(mut self) -> Self {
                match &mut self {
                    $(Self::$name(chunk) => chunk.unknown = Members::new(),)*
                    Self::Data(chunk) => chunk.unknown = Members::new(),
                    Self::Unknown(_) | Self::Done => {}
                }
                self
            }
        }

        $(impl From<$name> for Event {
            fn from(chunk: $name) -> Self {
                Self::$name(chunk)
            }
        })*
    };
}

events! {
    /// The reply begins.
    Start = "start",
    /// A step begins.
    StartStep = "start-step",
    /// A block of text begins.
    TextStart = "text-start",
    /// A piece of text.
    TextDelta = "text-delta",
    /// A block of text ends.
    TextEnd = "text-end",
    /// A block of reasoning begins.
    ReasoningStart = "reasoning-start",
    /// A piece of reasoning.
    ReasoningDelta = "reasoning-delta",
    /// A block of reasoning ends.
    ReasoningEnd = "reasoning-end",
    /// A source with an address.
    SourceUrl = "source-url",
    /// A source without an address.
    SourceDocument = "source-document",
    /// A file.
    File = "file",
    /// A tool call begins.
    ToolInputStart = "tool-input-start",
    /// A piece of the input of a tool call.
    ToolInputDelta = "tool-input-delta",
    /// A tool call with its input.
    ToolInputAvailable = "tool-input-available",
    /// A tool call whose input is not valid.
    ToolInputError = "tool-input-error",
    /// The output of a tool call.
    ToolOutputAvailable = "tool-output-available",
    /// The failure of a tool call.
    ToolOutputError = "tool-output-error",
    /// The question whether a tool call may be made.
    ToolApprovalRequest = "tool-approval-request",
    /// The user denied a tool call.
    ToolOutputDenied = "tool-output-denied",
    /// Metadata of the message.
    MessageMetadata = "message-metadata",
    /// A step ends.
    FinishStep = "finish-step",
    /// The reply is complete.
    Finish = "finish",
    /// The reply failed.
    Error = "error",
    /// The reply was cancelled.
    Abort = "abort",
}

const DONE: &[u8] = b"data: [DONE]\n\n";

/// Appends a chunk as a frame.
pub(super) fn frame(chunk: &impl Wire, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    chunk.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    out.extend_from_slice(b"\n\n");
}

impl Event {
    /// Reads the data of one event.
    pub(super) fn read(data: &str) -> Result<Self, EventError> {
        if data.trim() == "[DONE]" {
            return Ok(Self::Done);
        }
        let json = Json::parse(Bytes::copy_from_slice(data.as_bytes()))?;
        let shape = || EventError::Invalid("a chunk must be an object with a type");
        let kind = json.get("type").ok_or_else(shape)?;
        let kind = kind.string().ok_or_else(shape)?;
        let missing = EventError::Invalid("a member that the type of the chunk demands is missing");
        Self::read_known(&kind, &json).ok_or(missing)
    }
}

impl From<Data> for Event {
    fn from(data: Data) -> Self {
        Self::Data(data)
    }
}

outputs! {
    /// A chunk that an agent sends during a turn. The others are the reply's own.

    Data: "Data for a component of the page.",
    SourceUrl: "A source with an address.",
    SourceDocument: "A source without an address.",
    File: "A file.",
    ReasoningDelta: "A piece of reasoning. The reply has block ids of its own.",
    MessageMetadata: "Metadata of the message.",
    ToolInputStart: "A tool call begins.",
    ToolInputDelta: "A piece of the input of a tool call.",
    ToolInputAvailable: "A tool call with its input. The turn goes on: for a tool that the agent runs.",
    ToolOutputAvailable: "The output of a tool call, which ends the step.",
    ToolOutputError: "The failure of a tool call, which ends the step.",
}

/// An event that ends a turn, other than a complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The page shall run tools and come back with the results.
    Calls(Vec<ToolInputAvailable>),
    /// The answer failed.
    Error(Error),
}

impl From<ToolInputAvailable> for Ending {
    fn from(call: ToolInputAvailable) -> Self {
        Self::Calls(vec![call])
    }
}

impl From<Vec<ToolInputAvailable>> for Ending {
    fn from(calls: Vec<ToolInputAvailable>) -> Self {
        Self::Calls(calls)
    }
}

impl From<Error> for Ending {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
