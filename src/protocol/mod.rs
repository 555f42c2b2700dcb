//! The traits that a protocol implements, and the vocabulary that all protocols share.
//!
//! A protocol is a folder with one type that implements [`Protocol`]: it reads requests, writes replies ([`Session`])
//! and decodes events ([`Decode`]). The reply, the body and the router use only these traits.
//!
//! # The shared vocabulary
//!
//! An agent for every front end calls the methods of [`Reply`](crate::Reply). Each call becomes a [`Part`], and the
//! module of each protocol has a table of the events that it sends for each part. A part that a protocol does not have
//! becomes the closest accurate equivalent, or nothing, but never an invalid or misleading event.
//! [`Protocol::CAPABILITIES`] lists the parts for which a front end has its own display.
//!
//! # Questions
//!
//! If the front end has dialogs, the user answers a question in a dialog. Otherwise the question is a line of text
//! after the other text of the answer, which a model may have written. So the line has a proof that this server asked
//! the question at this place, and a code that only a reader of the line can know.
//! [`Request::answer`](crate::Request::answer) checks both.

mod answer_options;
mod attachment;
pub(crate) mod base64;
mod block_session;
mod blocks;
pub(crate) mod calls;
mod capabilities;
mod completion;
pub(crate) mod consent;
pub(crate) mod content;
mod contents;
mod conversation;
mod cut;
pub(crate) mod data;
mod decoder;
mod delta;
mod env;
mod error;
pub(crate) mod fragments;
pub(crate) mod frame_event;
mod framing;
mod items;
pub(crate) mod markdown;
mod one_line;
mod part;
mod payloads;
pub(crate) mod redacted;
mod refusal;
mod room;
#[cfg(any(
    feature = "anthropic",
    feature = "openai",
    feature = "openbb",
    feature = "responses"
))]
pub(crate) mod schema;
mod session;
#[cfg(feature = "tracing")]
pub(crate) mod spans;
mod surrogates;
mod text_template;
mod turn;
mod typed;
mod usage;
mod user;
mod variants;
mod wrapping;

pub use crate::sse::TooLarge;
pub use answer_options::{AnswerOptions, ToolChoice};
pub use attachment::{Attachment, AttachmentContent, AttachmentKind};
pub use block_session::{BlockSession, Followed, Writer};
pub use blocks::{AnswerDocument, Block, Blocks};
pub use capabilities::Capabilities;
pub use completion::{Completion, CompletionError};
pub use consent::{Answer, Verdict, find_question, plain_text};
pub use content::{Content, ContentPart};
pub use contents::Contents;
pub(crate) use conversation::with_reasoning;
pub use conversation::{
    AnswerFormat, AnswerSchema, Call, Conversation, Document, HistoryItem, Message, Purpose,
    RawMessage, Role, Tool, ToolResult,
};
/// Implements the trait `FrameEvent` for an enum.
pub use copilot_wire_derive::FrameEvent;
pub use cut::Cut;
pub use decoder::{Decode, EventDecoder, Events};
pub use delta::{CallDelta, CallForm, Delta, Native, NativeForm};
pub use env::{Env, Environment, Ticks, date_time};
pub use error::{AgentError, ContextTooLong, EventError, ModelFault, SendError};
pub use frame_event::{FrameDecoder, FrameEvent};
pub use framing::{Frames, Framing};
pub use items::CompletedItem;
pub use markdown::escape_markdown;
pub use one_line::OneLine;
pub use part::{
    Chart, ChartKind, Citation, Confirmation, Level, Notice, Part, Question, Status, Table,
    ToolCall, ToolRun,
};
pub use payloads::Payloads;
pub use redacted::RedactedUrl;
pub use refusal::Refusal;
pub use room::Room;
pub(crate) use session::LONGEST_PIECE;
pub use session::{Failure, FrameKind, Session, TextFrame};
pub use text_template::TextMember;
pub use turn::{Outcome, Turn};
pub(crate) use turn::{Progress, Record};
pub use usage::Usage;
pub use user::User;

use std::borrow::Cow;
use std::pin::Pin;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

/// The ability of a front end to resume a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resumption {
    /// The front end cannot request a reply again.
    Never,
    /// The front end may request a reply again.
    Possible,
    /// The front end was told that it can resume the reply, so a reply that cannot be stored is refused.
    Required,
}

/// A future that waits for the answer to a question; see [`Protocol::answered`].
pub type Answered<R> = Pin<Box<dyn Future<Output = Option<R>> + Send>>;

/// The protocol of one chat front end: its requests, its events, and the rules of its stream.
pub trait Protocol: Sized + Send + Sync + 'static {
    /// The typed request.
    type Request: Conversation + Send + Sync + 'static;

    /// An event that does not end the turn.
    type Output: Send + 'static;

    /// An event that ends the turn and asks the front end for something, such as a tool call.
    /// [`Infallible`](std::convert::Infallible) if the protocol has none.
    type Ending: Send + 'static;

    /// The settings of a mount that its replies use. `()` if there are none.
    type Settings: Clone + Default + Send + Sync + 'static;

    /// An event of a stream, as the decoder of a client returns it.
    type Event: Send + 'static;

    /// The writer of one reply.
    type Session: Session<Output = Self::Output, Ending = Self::Ending>;

    /// The decoder of one stream.
    type Decoder: Decode<Event = Self::Event>;

    /// The name in reports and messages: lower-case letters, digits and `-`.
    const NAME: &'static str;

    /// The parts of a reply for which the front end has a display of its own.
    const CAPABILITIES: Capabilities;

    /// The framing of a stream. [`Framing::Sse`] by default.
    const FRAMING: Framing = Framing::Sse;

    /// `true` if the head of a streamed response is sent only with the first output of the agent, so that an earlier
    /// failure has an HTTP status: for clients that retry a turn whose stream fails. See
    /// [`Router::first_output_timeout`](crate::Router::first_output_timeout). `false` by default.
    const AWAITS_OUTPUT: bool = false;

    /// `true` if the [keep-alive](Session::keep_alive) of a session is an event that changes the session, such as a
    /// numbered event. A resumable reply then stores it like other events. `false` by default.
    const STORES_KEEP_ALIVE: bool = false;

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status and the place of the fault.
    fn read(parts: &Parts, body: Bytes) -> Result<Self::Request, Refusal>;

    /// Returns the id that all turns of a conversation share. `None` if the front end sends none, which is the default.
    fn conversation_id<'a>(
        request: &'a Self::Request,
        headers: &'a HeaderMap,
    ) -> Option<Cow<'a, str>> {
        let _ = (request, headers);
        None
    }

    /// Returns the text that binds a question to its conversation: a proof counts only with the same text. By default
    /// the [id of the conversation](Self::conversation_id) if the body contains it.
    fn question_scope(request: &Self::Request) -> Option<Cow<'_, str>> {
        // Headers are ignored: some clients send the id of a trace in them.
        let no_headers = HeaderMap::new();
        let id = Self::conversation_id(request, &no_headers)?;
        Some(Cow::Owned(id.into_owned()))
    }

    /// Returns a future that waits for the user's answer to the question that ends the turn, for front ends that send
    /// the answer while the stream is open. The agent then runs again with the request that the future returns, and
    /// continues the same reply. If the method or the future returns `None`, the reply ends. `None` by default.
    fn answered(request: &Self::Request) -> Option<Answered<Self::Request>> {
        let _ = request;
        None
    }

    /// Adds the settings of a mount to a request, such as tools that the request does not list. Nothing by default.
    fn apply(settings: &Self::Settings, request: &mut Self::Request) {
        let _ = (settings, request);
    }

    /// Creates the session of the reply to `request`. `settings` are those of the mount that received the request.
    fn session(request: &Self::Request, settings: &Self::Settings, env: &Env) -> Self::Session;

    /// Reads what an event of a stream adds to the answer, and passes each piece to `to`: the inverse of what the
    /// [session](Self::session) writes for the parts of the shared vocabulary. An event that is specific to the protocol
    /// adds nothing, which is the default.
    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        let _ = (event, to);
    }

    /// Returns `false` if the request wants the answer as one JSON document in place of a stream.
    ///
    /// The session then writes that document once the turn is answered, and nothing before. A failed turn is answered
    /// by [`refuse`](Self::refuse). `true` by default.
    fn is_stream(request: &Self::Request) -> bool {
        let _ = request;
        true
    }

    /// Returns an event that ends the turn without running the agent: the next of several calls that an agent made at
    /// once, for a front end that runs one call per turn. `None` by default.
    fn next_call(request: &Self::Request) -> Option<Self::Ending> {
        let _ = request;
        None
    }

    /// Returns whether the front end can request the reply to this request again, from a router with resumable replies.
    /// [`Resumption::Never`] by default.
    fn resumption(request: &Self::Request) -> Resumption {
        let _ = request;
        Resumption::Never
    }

    /// Writes a failure as the end of a stream whose server crashed, when another server sends the stored events of the
    /// reply to the client. `first_event` is the first event of the reply, empty if it is not known, and `next` is the
    /// number that the next event would have. Writes nothing by default.
    fn lost(first_event: &[u8], next: u64, out: &mut Vec<u8>) {
        let _ = (first_event, next, out);
    }

    /// Adds the headers that all streams of this protocol have in addition to the common headers. Adds none by default.
    fn response_headers(headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Returns the response that refuses a request, in the format that clients of this protocol expect.
    /// [`Refusal::to_json`] by default.
    ///
    /// It is also the response to a failed turn if the failure has a status: because the request wants one JSON
    /// document, or because nothing was sent [yet](Self::AWAITS_OUTPUT). The code of the refusal is then
    /// `agent_failed`, `overloaded` for a [retryable](AgentError::retryable) failure, or `context_length_exceeded` for
    /// a conversation that is [too long](AgentError::too_long).
    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            refusal.to_json(),
        )
    }
}
