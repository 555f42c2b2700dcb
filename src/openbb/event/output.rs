//! The events of a reply, for writing and reading.

use std::borrow::Cow;

use bytes::Bytes;

use super::raw::CALL;
use super::{
    Artifact, Citation, CitationCollection, ConversationSummary, Names, PromptSuggestions,
    RawEvent, StatusUpdate, TokenUsage,
};
use crate::json::{Escape, Json, Kind, ValueWriter, Wire, string_between};
use crate::openbb::function_call::FunctionCall;
use crate::protocol::{EventError, SendError, TextFrame};
use crate::sse;

/// An event that does not end the turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// A piece of the answer's text, in Markdown: `copilotMessageChunk`.
    MessageChunk(String),
    /// A step: `copilotStatusUpdate`.
    StatusUpdate(Box<StatusUpdate>),
    /// A table, chart or document: `copilotMessageArtifact`.
    MessageArtifact(Box<Artifact>),
    /// Citations: `copilotCitationCollection`.
    CitationCollection(CitationCollection),
    /// Suggested prompts: `copilotPromptSuggestions`.
    PromptSuggestions(PromptSuggestions),
    /// The token usage of the answer: `copilotTokenUsage`, a draft of the protocol.
    TokenUsage(TokenUsage),
    /// A summary of old messages: `copilotConversationSummary`, a draft of the protocol.
    ConversationSummary(ConversationSummary),
    /// An event that this crate does not know. The Workspace ignores unknown events.
    Raw(RawEvent),
}

/// An event of a reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// An event that does not end the turn.
    Output(Output),
    /// A function call, which ends the turn: `copilotFunctionCall`.
    FunctionCall(Box<FunctionCall>),
}

from! {
    StatusUpdate => Output: |event| Self::StatusUpdate(event.into()),
    Artifact => Output: |event| Self::MessageArtifact(event.into()),
    CitationCollection => Output: Self::CitationCollection,
    PromptSuggestions => Output: Self::PromptSuggestions,
    TokenUsage => Output: Self::TokenUsage,
    ConversationSummary => Output: Self::ConversationSummary,
    RawEvent => Output: Self::Raw,
    Citation => Output: |citation| Self::CitationCollection(CitationCollection::new([citation])),
    &str => Output: |text| Self::MessageChunk(text.to_owned()),
    String => Output: Self::MessageChunk,
    Output => Event: Self::Output,
    // Adds an empty state if the call has none, see [`FunctionCall`].
    FunctionCall => Event: |call| Self::FunctionCall(Box::new(call.filled())),
}

const CHUNK_NAME: &str = "copilotMessageChunk";
const STATUS: &str = "copilotStatusUpdate";
const ARTIFACT: &str = "copilotMessageArtifact";
const CITATIONS: &str = "copilotCitationCollection";
const SUGGESTIONS: &str = "copilotPromptSuggestions";
const USAGE: &str = "copilotTokenUsage";
const SUMMARY: &str = "copilotConversationSummary";

/// The frame of a text chunk.
///
/// U+2028 and U+2029 are escaped, here and everywhere: the Workspace's decoder treats them as line
/// breaks, and the turn fails.
pub(in crate::openbb) const CHUNK: TextFrame = TextFrame::from_static(
    b"event: copilotMessageChunk\ndata: {\"delta\":\"",
    b"\"}\n\n",
    Escape::JsonAndSeparators,
);

/// Writes an event whose data is a model.
pub(in crate::openbb) fn write_event(name: &str, data: &impl Wire, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    data.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    out.extend_from_slice(b"\n\n");
}

impl Output {
    pub(in crate::openbb) fn write(
        &self,
        names: &mut Names,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        match self {
            Self::MessageChunk(text) => CHUNK.write(text, out),
            Self::StatusUpdate(status) if status.artifacts.is_none() => {
                write_event(STATUS, status, out);
            }
            Self::StatusUpdate(status) => {
                let mut status = status.clone();
                // An artifact inside a step has a marker by its name too, so it shares the names of
                // the chat.
                for artifact in status.artifacts.iter_mut().flat_map(|list| list.iter_mut()) {
                    artifact.name = names.unique(artifact);
                }
                write_event(STATUS, &status, out);
            }
            Self::MessageArtifact(artifact) => {
                let mut artifact = artifact.clone();
                artifact.name = names.unique(&artifact);
                write_event(ARTIFACT, &artifact, out);
            }
            Self::CitationCollection(citations) => {
                let mut all = citations.citations.iter();
                if all.any(|citation| citation.id.is_empty()) {
                    // The front end builds its marker from the id; without one the user sees
                    // nothing.
                    return Err(SendError::Invalid("a citation needs an id".into()));
                }
                write_event(CITATIONS, citations, out);
            }
            Self::PromptSuggestions(data) => write_event(SUGGESTIONS, data, out),
            Self::TokenUsage(data) => write_event(USAGE, data, out),
            Self::ConversationSummary(data) => write_event(SUMMARY, data, out),
            Self::Raw(event) => {
                // The name is checked again, because a relayed event was not created with `new`.
                event.check()?;
                write_event(event.name(), event.data(), out);
            }
        }
        Ok(())
    }
}

impl Event {
    pub(in crate::openbb) fn read(event: &sse::Event<'_>) -> Result<Self, EventError> {
        // Nearly all events are text, so the common form is read without building a value.
        if event.name() == CHUNK_NAME {
            if let Some(delta) = delta(event.data()) {
                return Ok(Self::Output(Output::MessageChunk(delta.into_owned())));
            }
        }
        let data = Json::parse(Bytes::copy_from_slice(event.data().as_bytes()))?;
        let output = match event.name() {
            CHUNK_NAME => {
                let delta = data.get("delta");
                let delta = delta.as_ref().and_then(Json::string);
                let delta = delta.ok_or(EventError::Invalid("a chunk needs a string `delta`"))?;
                Output::MessageChunk(delta.into_owned())
            }
            CALL => {
                let call = FunctionCall::received(&data).ok_or(EventError::Invalid(
                    "a call needs a string `function` and an object `input_arguments`",
                ))?;
                return Ok(Self::FunctionCall(call.into()));
            }
            STATUS => Output::StatusUpdate(object(&data)?),
            ARTIFACT => Output::MessageArtifact(object(&data)?),
            CITATIONS => {
                let wrong = "citations need an array `citations`";
                array(&data, "citations").ok_or(EventError::Invalid(wrong))?;
                Output::CitationCollection(object(&data)?)
            }
            SUGGESTIONS => {
                let wrong = "suggestions need an array `suggestions`";
                array(&data, "suggestions").ok_or(EventError::Invalid(wrong))?;
                Output::PromptSuggestions(object(&data)?)
            }
            USAGE => Output::TokenUsage(object(&data)?),
            SUMMARY => Output::ConversationSummary(object(&data)?),
            name => Output::Raw(RawEvent::received(name, data)),
        };
        Ok(Self::Output(output))
    }
}

/// Returns the text of a chunk in the common form: no other member, and no white space but the space
/// that Python writes after the colon.
fn delta(data: &str) -> Option<Cow<'_, str>> {
    let inside = data.strip_prefix("{\"delta\":")?;
    let inside = inside.strip_prefix(' ').unwrap_or(inside);
    let text = inside.strip_prefix('"')?.strip_suffix("\"}")?;
    // Both are slices of `data`, so their lengths give the position of the string in it. It is
    // checked to be one string: `{"delta":"a","x":"b"}` begins and ends in the same way.
    let end = data.len() - "\"}".len();
    string_between(data, end - text.len(), end)
}

fn object<T: Wire>(data: &Json) -> Result<T, EventError> {
    Wire::from_raw(data).ok_or(EventError::Invalid(
        "the data of this event must be an object",
    ))
}

fn array(data: &Json, key: &str) -> Option<Json> {
    data.get(key).filter(|list| list.kind() == Kind::Array)
}
