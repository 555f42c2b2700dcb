//! Parsing of a frame.

use std::borrow::Cow;

use bytes::Bytes;

use crate::json::{Json, JsonError, Kind, Reader};

use super::{Failure, FinishReason, Provider};

/// A parsed frame.
pub(super) enum Frame {
    /// A chat completion chunk.
    Chunk(Chunk),
    /// An error.
    Error(Failure),
    /// Any other JSON.
    Other(Json),
}

/// The members of a chat completion chunk that belong to the answer.
#[derive(Default)]
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
    Call(CallPiece),
    Logprobs(Json),
    Finish(FinishReason),
}

/// An entry of `tool_calls`: a complete call, or a fragment of one.
pub(super) struct CallPiece {
    pub(super) index: u64,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: String,
    /// The entry, unchanged.
    pub(super) raw: Json,
}

/// The members of a choice, independent of their order.
#[derive(Default)]
struct Choice {
    index: u64,
    is_assistant: bool,
    content: Option<String>,
    refusal: Option<String>,
    calls: Vec<CallPiece>,
    logprobs: Option<Json>,
    finish: Option<FinishReason>,
}

impl Frame {
    /// Parses the data of a frame.
    ///
    /// In Meilisearch 1.50 an error is a frame with `error` and without `choices`, and a chunk with
    /// empty `choices` has no content.
    pub(super) fn read(data: &str) -> Result<Self, JsonError> {
        let body = Bytes::copy_from_slice(data.as_bytes());
        let mut reader = Reader::new(&body)?;
        if !reader.is(Kind::Object) {
            return Json::parse(body).map(Self::Other);
        }
        let mut chunk = Chunk::default();
        let mut choices = None;
        let mut error = None;
        let mut event_id = None;
        reader.object(|reader, key| {
            match &*key {
                "id" => chunk.id = owned(reader.string()?),
                "service_tier" => chunk.provider.service_tier = owned(reader.string()?),
                "system_fingerprint" => {
                    chunk.provider.system_fingerprint = owned(reader.string()?);
                }
                "event_id" => event_id = owned(reader.string()?),
                "error" if !reader.is(Kind::Null) => error = Some(reader.value()?),
                "choices" if reader.is(Kind::Array) => {
                    let mut count = 0_usize;
                    reader.array(|reader, _| {
                        count += 1;
                        // An invalid choice is skipped. Choices other than 0 are other answers.
                        match reader.value_or_raw(Choice::read)? {
                            Ok(choice) if choice.index == 0 => {
                                chunk.has_role |= choice.is_assistant;
                                choice.pieces(&mut chunk.pieces);
                            }
                            _ => {}
                        }
                        Ok(())
                    })?;
                    choices = Some(count);
                }
                _ => {}
            }
            Ok(())
        })?;
        reader.end()?;
        Ok(match (error, choices) {
            (Some(error), None | Some(0)) => Self::Error(Failure::read(event_id, &error)),
            (_, Some(_)) => Self::Chunk(chunk),
            (None, None) => Self::Other(Json::parse(body)?),
        })
    }
}

impl Choice {
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut choice = Self::default();
        reader.object(|reader, key| {
            match &*key {
                "index" => choice.index = reader.u64()?.unwrap_or_default(),
                "delta" if reader.is(Kind::Object) => choice.read_delta(reader)?,
                "logprobs" if reader.is(Kind::Object) => choice.logprobs = Some(reader.value()?),
                "finish_reason" => {
                    let name = reader.string()?;
                    // Some providers send an empty text where OpenAI sends `null`.
                    let name = name.filter(|name| !name.is_empty());
                    choice.finish = name.map(|name| FinishReason::from(&*name));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(choice)
    }

    fn read_delta(&mut self, reader: &mut Reader<'_>) -> Result<(), JsonError> {
        reader.object(|reader, key| {
            match &*key {
                "role" => self.is_assistant = reader.string()?.is_some_and(|it| it == "assistant"),
                "content" => self.content = owned(reader.string()?),
                "refusal" => self.refusal = owned(reader.string()?),
                "tool_calls" if reader.is(Kind::Array) => reader.array(|reader, _| {
                    if reader.is(Kind::Object) {
                        self.calls.push(CallPiece::read(reader)?);
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })
    }

    /// Appends the parts of the choice. Empty text has no content: it only starts a round.
    fn pieces(self, pieces: &mut Vec<Piece>) {
        let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        pieces.extend(non_empty(self.content).map(Piece::Text));
        pieces.extend(non_empty(self.refusal).map(Piece::Refusal));
        pieces.extend(self.calls.into_iter().map(Piece::Call));
        pieces.extend(self.logprobs.map(Piece::Logprobs));
        // Last: providers such as Mistral put a call and its finish reason into one chunk.
        pieces.extend(self.finish.map(Piece::Finish));
    }
}

impl CallPiece {
    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        // The entry is kept: a call of no known kind is passed on as it came.
        let raw = reader.value()?;
        let mut piece = Self {
            index: 0,
            id: None,
            name: None,
            arguments: String::new(),
            raw: Json::default(),
        };
        raw.reader().object(|reader, key| {
            match &*key {
                "index" => piece.index = reader.u64()?.unwrap_or_default(),
                "id" => piece.id = owned(reader.string()?),
                "function" if reader.is(Kind::Object) => reader.object(|reader, key| {
                    match &*key {
                        "name" => {
                            piece.name = owned(reader.string()?).filter(|name| !name.is_empty());
                        }
                        "arguments" => {
                            piece.arguments = owned(reader.string()?).unwrap_or_default();
                        }
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(Self { raw, ..piece })
    }
}

fn owned(text: Option<Cow<'_, str>>) -> Option<String> {
    text.map(Cow::into_owned)
}
