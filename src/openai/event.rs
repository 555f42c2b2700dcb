//! The events of a stream, and what ends a turn.

use bytes::Bytes;

use super::{
    ChatCompletionChunk, Choice, Delta, ErrorObject, FinishReason, ToolCall, ToolCallDelta,
};
use crate::json::{Json, Kind, Reader};
use crate::protocol::{EventError, Shape};

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
        Self::read_json(&Bytes::copy_from_slice(data.as_bytes()))
    }

    fn read_json(data: &Bytes) -> Result<Self, EventError> {
        let mut reader = Reader::new(data)?;
        let chunk = ChatCompletionChunk::read(&mut reader)?;
        reader.end()?;
        let error = chunk.unknown.get("error");
        Ok(match error.and_then(ErrorObject::from_member) {
            Some(error) => Self::Error(error),
            None => Self::Chunk(chunk),
        })
    }
}

impl Event {
    /// The same as [`read`](Self::read), without parsing where only the text of the first choice
    /// is another than in an event before.
    pub(crate) fn read_like(shape: &mut Shape<Self>, data: &str) -> Result<Self, EventError> {
        if let Some((Self::Chunk(chunk), text)) = shape.find(data) {
            let mut chunk = chunk.clone();
            if let [choice] = chunk.choices.as_mut_slice() {
                choice.delta.content = Some(text.into_owned());
                return Ok(Self::Chunk(chunk));
            }
        }
        let event = Self::read(data)?;
        if shape.wants(data) {
            event.teach(shape, data);
        }
        Ok(event)
    }

    /// Teaches the shape of a chunk that adds plain text to one choice.
    fn teach(&self, shape: &mut Shape<Self>, data: &str) {
        let Self::Chunk(chunk) = self else {
            return;
        };
        let [choice] = chunk.choices.as_slice() else {
            return;
        };
        let Some(text) = &choice.delta.content else {
            return;
        };
        let Some((start, len)) = content(data).filter(|&(_, len)| len == text.len()) else {
            return;
        };
        let mut blank = chunk.clone();
        if let Some(choice) = blank.choices.first_mut() {
            // Every use has a text of its own.
            choice.delta.content = None;
        }
        shape.learn(data, start, len, Self::Chunk(blank));
    }
}

/// Where the JSON string `choices[0].delta.content` begins, and its length without the quotes.
fn content(data: &str) -> Option<(usize, usize)> {
    let json = Json::parse(Bytes::copy_from_slice(data.as_bytes())).ok()?;
    let choices = json.get("choices")?;
    let mut elements = choices.elements();
    let choice = elements.next()?;
    if elements.next().is_some() {
        return None;
    }
    let content = choice.get("delta")?.get("content")?;
    if content.kind() != Kind::String {
        return None;
    }
    // Both are slices of one buffer; the white space before the whole is not part of it.
    let place = |json: &Json| json.as_bytes().as_ptr().addr();
    let before = data.len() - data.trim_ascii_start().len();
    let start = place(&content).checked_sub(place(&json))? + before;
    Some((start, content.as_bytes().len().checked_sub(2)?))
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
