//! Chunks, and parsing of a frame.

use bytes::Bytes;

use crate::json::{Json, JsonError, Kind, List, Members, Wire, present};

use super::{Provider, StreamError};
use crate::openai::FinishReason;

/// A chunk as Meilisearch 1.50 writes it: every chunk has all keys, absent values are `null`, and the order of the
/// keys is fixed.
#[derive(Default, PartialEq, Wire)]
#[wire(fixed(object = "chat.completion.chunk", after = system_fingerprint))]
pub(super) struct ChatChunk {
    #[wire(always)]
    pub(super) id: Option<String>,
    #[wire(always)]
    pub(super) choices: Option<List<Choice>>,
    #[wire(always)]
    pub(super) created: u64,
    #[wire(always)]
    pub(super) model: String,
    #[wire(always)]
    pub(super) service_tier: Option<String>,
    #[wire(always)]
    pub(super) system_fingerprint: Option<String>,
    #[wire(always)]
    pub(super) usage: Option<Json>,
    pub(super) unknown: Members,
}

/// A choice of a chunk.
#[derive(Default, PartialEq, Wire)]
pub(super) struct Choice {
    #[wire(always)]
    pub(super) index: u64,
    #[wire(always)]
    pub(super) delta: Delta,
    // Some providers send an empty text where OpenAI sends `null`.
    #[wire(always, read = present)]
    pub(super) finish_reason: Option<FinishReason>,
    #[wire(always)]
    pub(super) logprobs: Option<Json>,
    pub(super) unknown: Members,
}

/// A piece of the message of a choice.
#[derive(Default, PartialEq, Wire)]
pub(super) struct Delta {
    #[wire(always)]
    pub(super) content: Option<String>,
    #[wire(always)]
    pub(super) function_call: Option<Json>,
    #[wire(always)]
    pub(super) tool_calls: Option<List<Json>>,
    #[wire(always)]
    pub(super) role: Option<String>,
    #[wire(always)]
    pub(super) refusal: Option<String>,
    pub(super) unknown: Members,
}

/// A parsed frame.
pub(super) enum Frame {
    /// A chat completion chunk.
    Chunk(Chunk),
    /// An error.
    Error(StreamError),
    /// Any other JSON.
    Other(Json),
}

/// The addition of one chat completion chunk to the answer.
pub(super) struct Chunk {
    /// The id, which is the same in all chunks of a round.
    pub(super) id: Option<String>,
    /// Set if the delta has the assistant's role.
    pub(super) has_role: bool,
    pub(super) provider: Provider,
    pub(super) pieces: Vec<Piece>,
}

/// A part of a chunk. A chunk's parts are processed in this order.
pub(super) enum Piece {
    Text(String),
    Refusal(String),
    /// An entry of `tool_calls`: a complete call, or a fragment of one.
    Call(Json),
    Logprobs(Json),
    Finish(FinishReason),
}

impl Frame {
    /// Parses the data of a frame.
    ///
    /// In Meilisearch 1.50 an error is a frame with `error` and without `choices`, and a chunk with
    /// empty `choices` has no content.
    pub(super) fn read(data: &str) -> Result<Self, JsonError> {
        let body = Bytes::copy_from_slice(data.as_bytes());
        let Some(chunk) = ChatChunk::parse_any(&body)? else {
            return Json::parse(body).map(Self::Other);
        };
        let error = chunk.unknown.get("error").filter(|error| !error.is_null());
        let choices = chunk.choices.as_ref();
        Ok(match error {
            Some(error) if choices.is_none_or(List::is_absent) => {
                let event_id = chunk.unknown.get("event_id").and_then(Json::string);
                Self::Error(StreamError::read(
                    event_id.unwrap_or_default().into(),
                    error,
                ))
            }
            _ if choices.is_some() => Self::Chunk(chunk.into()),
            _ => Self::Other(Json::parse(body)?),
        })
    }
}

impl From<ChatChunk> for Chunk {
    fn from(chunk: ChatChunk) -> Self {
        let mut pieces = Vec::new();
        let mut has_role = false;
        // Choices other than 0 are other answers.
        let choices = chunk.choices.into_iter().flatten();
        for choice in choices.filter(|choice| choice.index == 0) {
            let delta = choice.delta;
            has_role |= delta.role.is_some_and(|role| role == "assistant");
            // Empty text has no content: it only starts a round.
            let non_empty = |text: &String| !text.is_empty();
            pieces.extend(delta.content.filter(non_empty).map(Piece::Text));
            pieces.extend(delta.refusal.filter(non_empty).map(Piece::Refusal));
            let is_object = |json: &Json| json.kind() == Kind::Object;
            let calls = delta.tool_calls.into_iter().flatten();
            pieces.extend(calls.filter(is_object).map(Piece::Call));
            let logprobs = choice.logprobs.filter(is_object);
            pieces.extend(logprobs.map(Piece::Logprobs));
            // The finish reason is processed last: providers such as Mistral send a call and the finish reason in one
            // chunk.
            pieces.extend(choice.finish_reason.map(Piece::Finish));
        }
        Self {
            id: chunk.id,
            has_role,
            provider: Provider {
                service_tier: chunk.service_tier,
                system_fingerprint: chunk.system_fingerprint,
            },
            pieces,
        }
    }
}
