//! What a front end's protocol must provide, and the vocabulary that all of them share.
//!
//! A protocol is a folder with one type that implements [`Protocol`]: how its request is read, how
//! each word of a reply is written, how a turn ends, and how its events are read back. The reply,
//! the body and the router are written against this trait alone.
//!
//! # The shared vocabulary
//!
//! What an agent for every front end says with the methods of [`Reply`](crate::Reply), and what
//! becomes of it. A word that a protocol lacks becomes its nearest honest equivalent, or nothing;
//! never an invalid or misleading event.
//!
//! | word | OpenBB | GitHub | OpenAI | Meilisearch |
//! |---|---|---|---|---|
//! | `text` | message chunk | text event | content | content |
//! | `status` | status update | nothing | nothing | nothing |
//! | `cite` | citation with an id; a widget where the document is one | one references event at the end | Markdown links at the end | Markdown links at the end |
//! | `table` | table artifact | Markdown table | Markdown table | Markdown table |
//! | `chart` | chart artifact | Markdown table | Markdown table | Markdown table |
//! | `error` | status update, as a warning | one errors event at the end | text | text |
//! | `confirm` | question in text, yes and no as suggestions | confirmation event | question in text | question in text |
//! | `call` | function call: an offered MCP tool or widget | an error | tool call: an offered tool | an error |
//!
//! A question in text ends with its id; the answer is a plain yes or no in the user's next message.

mod conversation;
mod decoder;
mod env;
mod error;
mod incident;

pub(crate) mod markdown;
mod refusal;
mod shape;
#[cfg(any(feature = "openbb", feature = "github", feature = "openai"))]
pub(crate) mod shown;
#[cfg(feature = "tokio")]
mod tokio;
mod word;

#[cfg(any(feature = "openbb", feature = "github", feature = "meilisearch"))]
pub(crate) use conversation::LONGEST_NAME;
pub use conversation::{Conversation, Decision, Document, Message, Role, Tool, ToolResult};
pub use decoder::EventDecoder;
pub use env::{Env, Environment, Ticks};
pub use error::{AgentError, EventError, SendError};
pub use incident::Incident;
pub use refusal::Refusal;
pub use shape::Shape;
#[cfg(feature = "tokio")]
pub use tokio::TokioEnv;
pub use word::{
    Chart, ChartKind, Citation, Confirmation, Level, Notice, Status, Table, TableError, ToolCall,
    Word,
};

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderMap;
use http::request::Parts;

use crate::sse;

/// What a protocol renders once per reply to write around every piece of text.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TextFrame {
    /// The bytes before the text.
    pub head: Bytes,
    /// The bytes behind it.
    pub tail: Bytes,
}

impl TextFrame {
    /// A frame.
    #[must_use]
    pub fn new(head: impl Into<Bytes>, tail: impl Into<Bytes>) -> Self {
        Self {
            head: head.into(),
            tail: tail.into(),
        }
    }
}

/// One chat front end: its requests, its events, and the rules of its stream.
///
/// The functions that write append to `out` and never remove what is there; whoever calls them
/// takes back a write that failed half-way.
pub trait Protocol: Sized + Send + Sync + 'static {
    /// The typed request.
    type Request: Conversation + Send + Sync + 'static;

    /// What may be said in the course of a turn.
    type Say: Send + 'static;

    /// What ends a turn with something to do for the front end.
    /// [`Infallible`](std::convert::Infallible) where there is no such thing.
    type Ending: Send + 'static;

    /// One event in either direction: what an agent sends and what a client's decoder hands out.
    type Event: From<Self::Say> + From<Self::Ending> + Send + 'static;

    /// What all events of one reply share: its id, its time, what the request switched on.
    type Session: Send + 'static;

    /// The name in incidents and messages, such as `openbb`.
    const NAME: &'static str;

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] that names the status and the place of the fault.
    fn read(parts: &Parts, body: Bytes) -> Result<Self::Request, Refusal>;

    /// The id that is stable over the turns of one conversation, when the front end gives one.
    fn conversation_id<'a>(
        request: &'a Self::Request,
        headers: &'a HeaderMap,
    ) -> Option<Cow<'a, str>>;

    /// Opens the session of one reply.
    fn session(request: &Self::Request, env: &Env) -> Self::Session;

    /// Writes what a stream begins with, before the agent's first word. Nothing by default.
    fn open(session: &mut Self::Session, out: &mut Vec<u8>) {
        let _ = (session, out);
    }

    /// Writes what is sent after a while of silence, and changes nothing for the reader. A comment
    /// by default.
    fn keep_alive(session: &Self::Session, out: &mut Vec<u8>) {
        let _ = session;
        out.extend_from_slice(b": ping\n\n");
    }

    /// What stands around every piece of text of this reply, from here on. Empty by default.
    fn text_frame(session: &Self::Session) -> TextFrame {
        let _ = session;
        TextFrame::default()
    }

    /// Writes a piece of the answer's text, given the [`text_frame`](Self::text_frame).
    ///
    /// Text is by far the most frequent word, so it is written without the session.
    fn text(frame: &TextFrame, text: &str, out: &mut Vec<u8>);

    /// Writes any other word of the shared vocabulary, or its nearest honest equivalent.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the word cannot be said to this front end.
    fn word(
        session: &mut Self::Session,
        word: Word<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError>;

    /// Writes one event.
    ///
    /// # Errors
    ///
    /// [`SendError`] when the event cannot be said to this front end.
    fn encode(
        session: &mut Self::Session,
        event: &Self::Event,
        out: &mut Vec<u8>,
    ) -> Result<(), SendError>;

    /// Whether `event` ends the turn, so that nothing may follow it.
    fn ends(event: &Self::Event) -> bool;

    /// Writes what closes a turn that went well.
    fn finish(session: &mut Self::Session, out: &mut Vec<u8>);

    /// Writes what closes a turn that failed after its first byte; `message` is fit for the user.
    fn fail(session: &mut Self::Session, message: &str, out: &mut Vec<u8>);

    /// Reads one event back.
    ///
    /// # Errors
    ///
    /// [`EventError`] when the data of a known event is not what the protocol says.
    fn decode(event: &sse::Event<'_>) -> Result<Self::Event, EventError>;

    /// Reads one event back, given the shape of one before it; what comes out is the same as from
    /// [`decode`](Self::decode). By default the shape is of no use.
    ///
    /// # Errors
    ///
    /// As for [`decode`](Self::decode).
    fn decode_like(
        shape: &mut Shape<Self::Event>,
        event: &sse::Event<'_>,
    ) -> Result<Self::Event, EventError> {
        let _ = shape;
        Self::decode(event)
    }

    /// The body of a refusal, in the form that clients of this protocol read. JSON.
    fn refuse(refusal: &Refusal) -> Vec<u8> {
        refusal.to_json()
    }
}
