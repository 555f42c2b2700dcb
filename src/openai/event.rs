//! The events of a stream, and the endings of a turn.

use crate::json::Wire;
use bytes::Bytes;

use super::{ChatCompletionChunk, ErrorObject, FinishReason, ToolCall};
use crate::protocol::EventError;

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A chunk.
    Chunk(ChatCompletionChunk),
    /// An error. It is the last event.
    Error(ErrorObject),
    /// The end of the stream: `[DONE]`. Everything after it is ignored.
    Done,
}

impl Event {
    /// Reads the data of one event.
    ///
    /// As in OpenAI's clients, data that starts with `[DONE]` is the end, and a truthy member
    /// `error` is an error, independent of the event's name.
    pub(crate) fn read(data: &str) -> Result<Self, EventError> {
        if data.trim_start().starts_with("[DONE]") {
            return Ok(Self::Done);
        }
        Self::read_json(&Bytes::copy_from_slice(data.as_bytes()))
    }

    fn read_json(data: &Bytes) -> Result<Self, EventError> {
        let chunk = ChatCompletionChunk::parse(data)?;
        // Parsed as a chunk first, as nearly all events are chunks: `error` is then an unknown
        // member.
        let error = chunk.unknown.get("error");
        Ok(match error.and_then(ErrorObject::from_member) {
            Some(error) => Self::Error(error),
            None => {
                let mut chunk = chunk;
                let choices = chunk.choices.iter_mut().map(|choice| &mut choice.delta);
                choices.for_each(super::Delta::split_thinking);
                Self::Chunk(chunk)
            }
        })
    }
}

/// An end of a turn other than a complete answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The client should run tools and send their results. The arguments, written by the model, are
    /// not checked.
    Calls(Vec<ToolCall>),
    /// The answer ends for this reason.
    Finish(FinishReason),
    /// The answer failed. An error object is written instead of a finish reason, usage and
    /// `[DONE]`.
    Error(ErrorObject),
}

from! {
    ToolCall => Ending: |call| Self::Calls(vec![call]),
}

crate::from_values!(Event { Chunk(ChatCompletionChunk) });

crate::from_values!(Ending { Calls(Vec<ToolCall>), Finish(FinishReason), Error(ErrorObject) });
