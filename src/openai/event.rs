//! The events of a stream, and what ends a turn.

use bytes::Bytes;

use super::{
    ChatCompletionChunk, Choice, Delta, ErrorObject, FinishReason, ToolCall, ToolCallDelta,
};
use crate::json::Reader;
use crate::protocol::EventError;

/// An event in either direction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A chunk.
    Chunk(ChatCompletionChunk),
    /// The answer failed. Nothing follows.
    Error(ErrorObject),
    /// The stream is complete: `[DONE]`. What follows is to be ignored.
    Done,
}

impl Event {
    /// Reads the data of one event.
    ///
    /// OpenAI chat streams, how clients parse: data that starts with `[DONE]` is the end, and a
    /// truthy member `error` is an error, whatever the name of the event.
    pub(crate) fn read(data: &str) -> Result<Self, EventError> {
        if data.trim_start().starts_with("[DONE]") {
            return Ok(Self::Done);
        }
        let data = Bytes::copy_from_slice(data.as_bytes());
        let mut reader = Reader::new(&data)?;
        let chunk = ChatCompletionChunk::read(&mut reader)?;
        reader.end()?;
        let error = chunk.unknown.get("error");
        Ok(match error.and_then(ErrorObject::from_member) {
            Some(error) => Self::Error(error),
            None => Self::Chunk(chunk),
        })
    }
}

impl From<ChatCompletionChunk> for Event {
    fn from(chunk: ChatCompletionChunk) -> Self {
        Self::Chunk(chunk)
    }
}

impl From<ErrorObject> for Event {
    fn from(error: ErrorObject) -> Self {
        Self::Error(error)
    }
}

/// What ends a turn in another way than a complete answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// The client shall run tools and come back with the results. The arguments are not checked:
    /// what a model wrote goes through.
    Calls(Vec<ToolCall>),
    /// The answer ended for this reason.
    Finish(FinishReason),
    /// The answer failed: an error object instead of a finish chunk, usage and `[DONE]`.
    Error(ErrorObject),
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

impl From<FinishReason> for Ending {
    fn from(reason: FinishReason) -> Self {
        Self::Finish(reason)
    }
}

impl From<ErrorObject> for Ending {
    fn from(error: ErrorObject) -> Self {
        Self::Error(error)
    }
}

impl From<Ending> for Event {
    fn from(ending: Ending) -> Self {
        let finish = |delta, reason| Choice::new(0, delta).finish(reason);
        let choice = match ending {
            Ending::Error(error) => return Self::Error(error),
            Ending::Finish(reason) => finish(Delta::default(), reason),
            Ending::Calls(calls) => {
                let delta = Delta {
                    tool_calls: (0..)
                        .zip(calls)
                        .map(|(index, call)| ToolCallDelta::whole(index, call))
                        .collect(),
                    ..Delta::default()
                };
                finish(delta, FinishReason::ToolCalls)
            }
        };
        Self::Chunk(choice.into())
    }
}
