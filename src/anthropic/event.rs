//! The events of a stream, and the endings of a turn.

use std::fmt;

use bytes::Bytes;

use super::{
    ContentBlock, ErrorObject, Message, MessageDelta, Stop, StopReason, ToolUseBlock, Usage,
};
use crate::json::wire::object;
use crate::json::{Escape, Json, JsonError, Kind, Reader, ValueWriter, Wire};
use crate::protocol::EventError;
use crate::protocol::redacted::Size;

/// An event of a stream, for writing and reading.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// `message_start`: the message, without content.
    MessageStart(Message),
    /// `content_block_start`: the start of a block.
    ContentBlockStart {
        /// The index of the block.
        index: u32,
        /// The block, without content.
        content_block: ContentBlock,
    },
    /// `content_block_delta`: a piece of a block.
    ContentBlockDelta {
        /// The index of the block.
        index: u32,
        /// The piece.
        delta: Delta,
    },
    /// `content_block_stop`: the end of a block.
    ContentBlockStop {
        /// The index of the block.
        index: u32,
    },
    /// `message_delta`: the end of the message, or new token counts.
    MessageDelta(MessageDelta),
    /// `message_stop`: the end of the stream.
    MessageStop,
    /// `ping`: a keep-alive.
    Ping,
    /// `error`: the answer failed. It is the last event.
    Error(ErrorObject),
    /// An event of any other type. It is read, and never written.
    Other(Json),
}

/// A piece of a block.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// `text_delta`: text.
    Text(String),
    /// `thinking_delta`: reasoning.
    Thinking(String),
    /// `signature_delta`: the signature of a thinking block.
    Signature(String),
    /// `input_json_delta`: a piece of the JSON text of a call's arguments.
    InputJson(String),
    /// `citations_delta`: a source of the text, an object with a `type`.
    Citation(Json),
    /// A piece of any other type.
    Other(Json),
}

/// Prints only lengths.
impl fmt::Debug for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, text) = match self {
            Self::Text(text) => ("Text", text),
            Self::Thinking(text) => ("Thinking", text),
            Self::Signature(text) => ("Signature", text),
            Self::InputJson(text) => ("InputJson", text),
            Self::Citation(json) => return f.debug_tuple("Citation").field(json).finish(),
            Self::Other(json) => return f.debug_tuple("Other").field(json).finish(),
        };
        f.debug_tuple(name).field(&Size::of(text)).finish()
    }
}

impl Wire for Delta {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if !reader.is(Kind::Object) {
            return Ok(None);
        }
        let json = reader.value()?;
        let text = |name| Some(json.get(name)?.string()?.into_owned());
        let delta = match text("type").as_deref() {
            Some("text_delta") => text("text").map(Self::Text),
            Some("thinking_delta") => text("thinking").map(Self::Thinking),
            Some("signature_delta") => text("signature").map(Self::Signature),
            Some("input_json_delta") => text("partial_json").map(Self::InputJson),
            Some("citations_delta") => json.get("citation").map(Self::Citation),
            _ => None,
        };
        Ok(Some(delta.unwrap_or(Self::Other(json))))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        let (kind, member, text) = match self {
            Self::Text(text) => ("text_delta", "text", text),
            Self::Thinking(text) => ("thinking_delta", "thinking", text),
            Self::Signature(text) => ("signature_delta", "signature", text),
            Self::InputJson(text) => ("input_json_delta", "partial_json", text),
            Self::Citation(citation) => {
                return object(to, |delta| {
                    delta.str("type", "citations_delta");
                    delta.raw("citation", citation);
                });
            }
            Self::Other(json) => return to.raw(json),
        };
        object(to, |delta| {
            delta.str("type", kind).str(member, text);
        });
    }
}

impl Event {
    /// Reads the data of one event. The member `type` determines the event; the name in the frame
    /// is ignored.
    pub(super) fn read(data: &str) -> Result<Self, EventError> {
        let json = Json::parse(Bytes::copy_from_slice(data.as_bytes()))?;
        let kind = json.get("type");
        let kind = kind.as_ref().and_then(Json::string);
        let index = || {
            let index = json.get("index").and_then(|index| index.as_u64());
            let index = index.and_then(|index| u32::try_from(index).ok());
            index.ok_or(EventError::Invalid(
                "an event of a block must have an index",
            ))
        };
        Ok(match kind.as_deref() {
            Some("message_start") => Self::MessageStart(member(&json, "message")?),
            Some("content_block_start") => Self::ContentBlockStart {
                index: index()?,
                content_block: member(&json, "content_block")?,
            },
            Some("content_block_delta") => Self::ContentBlockDelta {
                index: index()?,
                delta: member(&json, "delta")?,
            },
            Some("content_block_stop") => Self::ContentBlockStop { index: index()? },
            Some("message_delta") => {
                // All members are optional here: keep-alives have the form of this event.
                let delta = MessageDelta::from_raw(&json);
                Self::MessageDelta(delta.unwrap_or_default())
            }
            Some("message_stop") => Self::MessageStop,
            Some("ping") => Self::Ping,
            Some("error") => Self::Error(member(&json, "error")?),
            _ => Self::Other(json),
        })
    }

    /// Appends the event as a frame, without the rules that a reply enforces. Writes nothing for
    /// [`Other`](Self::Other).
    pub fn write(&self, out: &mut Vec<u8>) {
        let name = match self {
            Self::MessageStart(_) => "message_start",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta(_) => "message_delta",
            Self::MessageStop => "message_stop",
            Self::Ping => "ping",
            Self::Error(_) => "error",
            Self::Other(_) => return,
        };
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\ndata: ");
        match self {
            Self::MessageDelta(delta) => {
                delta.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
            }
            Self::Error(error) => error.write_body(out),
            event => object(ValueWriter::new(out, Escape::JsonAndSeparators), |data| {
                data.str("type", name);
                match event {
                    Self::MessageStart(message) => message.write_to(data.member("message")),
                    Self::ContentBlockStart {
                        index,
                        content_block,
                    } => {
                        data.u64("index", u64::from(*index));
                        content_block.write_to(data.member("content_block"));
                    }
                    Self::ContentBlockDelta { index, delta } => {
                        data.u64("index", u64::from(*index));
                        delta.write_to(data.member("delta"));
                    }
                    Self::ContentBlockStop { index } => {
                        data.u64("index", u64::from(*index));
                    }
                    _ => {}
                }
            }),
        }
        out.extend_from_slice(b"\n\n");
    }
}

/// Reads a member that an event must have.
fn member<T: Wire>(json: &Json, name: &str) -> Result<T, EventError> {
    let value = json.get(name).and_then(|value| T::from_raw(&value));
    value.ok_or(EventError::Invalid("an event must have its object"))
}

/// An event that an agent of this protocol sends besides the shared parts. The reply numbers the
/// blocks.
///
/// A call is buffered until the answer is complete, because Claude Code runs a call even if an
/// error follows it. Thinking and blocks of other types are dropped once text has started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Starts a block.
    Start(ContentBlock),
    /// Adds a piece to the block.
    Delta(Delta),
    /// Ends the block.
    Stop,
    /// Sets the end of the message and the token counts, which are written at the end.
    Message(MessageDelta),
}

impl From<Delta> for Output {
    fn from(delta: Delta) -> Self {
        Self::Delta(delta)
    }
}

impl From<Usage> for Output {
    fn from(usage: Usage) -> Self {
        Self::Message(usage.into())
    }
}

/// An end of a turn other than a complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The client should run tools and send their results. The calls are not checked against the
    /// tools of the request.
    Calls(Vec<ToolUseBlock>),
    /// The message ends for this reason.
    Stop(Stop),
    /// The answer failed.
    Error(ErrorObject),
}

impl From<Vec<ToolUseBlock>> for Ending {
    fn from(calls: Vec<ToolUseBlock>) -> Self {
        Self::Calls(calls)
    }
}

impl From<ToolUseBlock> for Ending {
    fn from(call: ToolUseBlock) -> Self {
        Self::Calls(vec![call])
    }
}

impl From<Stop> for Ending {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl From<StopReason> for Ending {
    fn from(reason: StopReason) -> Self {
        Self::Stop(reason.into())
    }
}

impl From<ErrorObject> for Ending {
    fn from(error: ErrorObject) -> Self {
        Self::Error(error)
    }
}
