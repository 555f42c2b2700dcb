//! All events, in either direction.

use bytes::Bytes;

use super::{
    Artifact, Citation, CitationCollection, ConversationSummary, PromptSuggestions, RawEvent,
    RawEventError, StatusUpdate, TokenUsage,
};
use crate::json::model::Field;
use crate::json::{Escape, Json, Kind, ValueWriter};
use crate::openbb::{FunctionCall, Session, call, vocabulary};
use crate::protocol::{EventError, SendError, TextFrame};
use crate::sse;

/// What may be said in the course of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "an event is moved once, from agent to encoder"
)]
pub enum Say {
    /// A piece of the answer's text, in Markdown: `copilotMessageChunk`.
    MessageChunk(String),
    /// A step of the work: `copilotStatusUpdate`.
    StatusUpdate(StatusUpdate),
    /// A table, a chart, a document: `copilotMessageArtifact`.
    MessageArtifact(Artifact),
    /// Sources of the answer: `copilotCitationCollection`.
    CitationCollection(CitationCollection),
    /// What the user may ask next: `copilotPromptSuggestions`.
    PromptSuggestions(PromptSuggestions),
    /// What the answer cost: `copilotTokenUsage`, a draft of the protocol.
    TokenUsage(TokenUsage),
    /// What stands for old messages: `copilotConversationSummary`, a draft of the protocol.
    ConversationSummary(ConversationSummary),
    /// An event that this crate does not know. The Workspace skips events that it does not know.
    Raw(RawEvent),
}

/// An event in either direction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "an event is moved once, from agent to encoder"
)]
pub enum Event {
    /// Something said in the course of the turn.
    Say(Say),
    /// A function call, which ends the turn: `copilotFunctionCall`.
    FunctionCall(FunctionCall),
}

macro_rules! say_from {
    ($($model:ident => $variant:ident),*) => {$(
        impl From<$model> for Say {
            fn from(event: $model) -> Self {
                Self::$variant(event)
            }
        }
    )*};
}

say_from!(
    StatusUpdate => StatusUpdate,
    Artifact => MessageArtifact,
    CitationCollection => CitationCollection,
    PromptSuggestions => PromptSuggestions,
    TokenUsage => TokenUsage,
    ConversationSummary => ConversationSummary,
    RawEvent => Raw
);

impl From<Citation> for Say {
    fn from(citation: Citation) -> Self {
        Self::CitationCollection(CitationCollection::new([citation]))
    }
}

impl From<&str> for Say {
    fn from(text: &str) -> Self {
        Self::MessageChunk(text.to_owned())
    }
}

impl From<Say> for Event {
    fn from(say: Say) -> Self {
        Self::Say(say)
    }
}

/// Gives the call a state when it has none, see [`FunctionCall`].
impl From<FunctionCall> for Event {
    fn from(call: FunctionCall) -> Self {
        Self::FunctionCall(call.filled())
    }
}

const CHUNK_NAME: &str = "copilotMessageChunk";
const STATUS: &str = "copilotStatusUpdate";
const ARTIFACT: &str = "copilotMessageArtifact";
const CITATIONS: &str = "copilotCitationCollection";
const SUGGESTIONS: &str = "copilotPromptSuggestions";
const USAGE: &str = "copilotTokenUsage";
const SUMMARY: &str = "copilotConversationSummary";
pub(super) const CALL: &str = "copilotFunctionCall";

/// The bytes around the text of a chunk.
///
/// U+2028 and U+2029 are escaped, here and everywhere: the Workspace's reader takes them for line
/// breaks and fails the turn.
pub(in crate::openbb) const CHUNK: TextFrame = TextFrame::from_static(
    b"event: copilotMessageChunk\ndata: {\"delta\":\"",
    b"\"}\n\n",
    Escape::JsonAndSeparators,
);

/// Writes an event that is there as a model.
pub(in crate::openbb) fn write_event(name: &str, data: &impl Field, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    data.write_to(ValueWriter::new(out, Escape::JsonAndSeparators));
    out.extend_from_slice(b"\n\n");
}

impl Event {
    pub(in crate::openbb) fn write(
        &self,
        session: &mut Session,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        match self {
            Self::FunctionCall(call) => {
                let call = call::prepare(call, session)?;
                // Nothing may follow the call.
                vocabulary::sources(session, out);
                write_event(CALL, &call, out);
            }
            Self::Say(Say::MessageChunk(text)) => CHUNK.write(text, out),
            Self::Say(Say::StatusUpdate(status)) => {
                let shown = status.artifacts.iter().flat_map(|list| list.iter());
                let names: Vec<String> = shown
                    .clone()
                    .map(|artifact| session.names.unique(artifact))
                    .collect();
                if shown.zip(&names).all(|(shown, name)| shown.name == *name) {
                    write_event(STATUS, status, out);
                } else {
                    let mut status = status.clone();
                    let shown = status.artifacts.iter_mut().flat_map(|list| list.iter_mut());
                    for (artifact, name) in shown.zip(names) {
                        artifact.name = name;
                    }
                    write_event(STATUS, &status, out);
                }
            }
            Self::Say(Say::MessageArtifact(artifact)) => {
                let name = session.names.unique(artifact);
                if name == artifact.name {
                    write_event(ARTIFACT, artifact, out);
                } else {
                    let mut artifact = artifact.clone();
                    artifact.name = name;
                    write_event(ARTIFACT, &artifact, out);
                }
            }
            Self::Say(Say::CitationCollection(citations)) => {
                if citations
                    .citations
                    .iter()
                    .any(|citation| citation.id.is_empty())
                {
                    return Err(SendError::Invalid("a citation needs an id".into()));
                }
                write_event(CITATIONS, citations, out);
            }
            Self::Say(Say::PromptSuggestions(data)) => write_event(SUGGESTIONS, data, out),
            Self::Say(Say::TokenUsage(data)) => write_event(USAGE, data, out),
            Self::Say(Say::ConversationSummary(data)) => write_event(SUMMARY, data, out),
            Self::Say(Say::Raw(event)) => {
                let invalid = |error: RawEventError| SendError::Invalid(error.to_string());
                event.check().map_err(invalid)?;
                write_event(event.name(), event.data(), out);
            }
        }
        Ok(())
    }

    pub(in crate::openbb) fn read(event: &sse::Event<'_>) -> Result<Self, EventError> {
        if event.name() == CHUNK_NAME {
            if let Some(delta) = plain_delta(event.data()) {
                return Ok(Self::Say(Say::MessageChunk(delta.to_owned())));
            }
        }
        let data = Json::parse(Bytes::copy_from_slice(event.data().as_bytes()))?;
        let say = match event.name() {
            CHUNK_NAME => {
                let delta = data.get("delta");
                let delta = delta.as_ref().and_then(Json::string);
                let delta = delta.ok_or(EventError::Shape("a chunk needs a string `delta`"))?;
                Say::MessageChunk(delta.into_owned())
            }
            CALL => {
                let call = FunctionCall::received(&data).ok_or(EventError::Shape(
                    "a call needs a string `function` and an object `input_arguments`",
                ))?;
                return Ok(Self::FunctionCall(call));
            }
            STATUS => Say::StatusUpdate(object(&data)?),
            ARTIFACT => Say::MessageArtifact(object(&data)?),
            CITATIONS => {
                if data.get("citations").unwrap_or_default().kind() != Kind::Array {
                    return Err(EventError::Shape("citations need an array `citations`"));
                }
                Say::CitationCollection(object(&data)?)
            }
            SUGGESTIONS => {
                if data.get("suggestions").unwrap_or_default().kind() != Kind::Array {
                    return Err(EventError::Shape("suggestions need an array `suggestions`"));
                }
                Say::PromptSuggestions(object(&data)?)
            }
            USAGE => Say::TokenUsage(object(&data)?),
            SUMMARY => Say::ConversationSummary(object(&data)?),
            name => Say::Raw(RawEvent::received(name, data)),
        };
        Ok(Self::Say(say))
    }
}

/// The text of a chunk as encoders write it, when nothing in it is escaped. Nearly all of a stream.
fn plain_delta(data: &str) -> Option<&str> {
    let inside = data.strip_prefix("{\"delta\":")?.strip_suffix("\"}")?;
    // Python writes a space behind the colon.
    let text = inside
        .strip_prefix(' ')
        .unwrap_or(inside)
        .strip_prefix('"')?;
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    text.bytes().all(plain).then_some(text)
}

fn object<T: Field>(data: &Json) -> Result<T, EventError> {
    Field::from_raw(data).ok_or(EventError::Shape("the data of this event is an object"))
}
