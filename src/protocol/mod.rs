//! The traits that a front end's protocol implements, and the vocabulary that all protocols share.
//!
//! A protocol is a folder with one type that implements [`Protocol`]: how its request is read, how
//! one reply is written ([`Session`]) and how its events are read back ([`Decode`]). The reply, the
//! body and the router are written against these traits alone.
//!
//! # The shared vocabulary
//!
//! An agent for every front end speaks with the methods of [`Reply`](crate::Reply); each becomes a
//! [`Part`], and each protocol's module has a table of what it sends for it. A part that a protocol
//! lacks becomes its nearest honest equivalent, or nothing; never an invalid or misleading event.
//! [`Protocol::CAPABILITIES`] says which parts a front end shows in a way of its own.
//!
//! # Questions
//!
//! A question that a front end shows as a dialog is answered there. Elsewhere it is a line of text behind the
//! answer's other text, which a model may have written, so the line carries a proof that this server has asked
//! it at this place, and a code that only its reader knows. [`Request::answer`](crate::Request::answer) checks
//! both.

mod answer_options;
mod block_session;
mod blocks;
mod capabilities;
pub(crate) mod consent;
pub(crate) mod content;
mod conversation;
mod cut;
mod data;
mod decoder;
mod env;
mod error;
pub(crate) mod frame_event;
mod framing;
pub(crate) mod markdown;
mod one_line;
mod part;
mod payloads;
pub(crate) mod redacted;
mod refusal;
mod room;
mod session;
#[cfg(feature = "tracing")]
pub(crate) mod spans;
mod text_template;
mod turn;
mod typed;
mod usage;
mod user;
mod variants;

pub use crate::sse::TooLarge;
pub use answer_options::{AnswerOptions, ToolChoice};
pub use block_session::{BlockSession, Writer};
pub use blocks::{AnswerDocument, Block, Blocks};
pub use capabilities::Capabilities;
pub use consent::{Answer, Verdict, find_question, plain_text};
pub use content::{Content, ContentPart};
pub use conversation::{
    AnswerFormat, AnswerSchema, Attachment, AttachmentContent, Call, Conversation, Document,
    HistoryItem, Message, Purpose, Role, Tool, ToolResult,
};
/// Implements the trait of this name.
pub use copilot_wire_derive::FrameEvent;
pub use cut::Cut;
pub use decoder::{Decode, EventDecoder, Events};
pub use env::{Env, Environment, Ticks, date_time};
pub use error::{AgentError, ContextTooLong, EventError, ModelFault, SendError};
pub use frame_event::{FrameDecoder, FrameEvent};
pub use framing::{Frames, Framing};
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
pub use session::{Failure, Session, TextFrame};
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
    /// It cannot ask for it.
    Never,
    /// It may ask for it.
    Possible,
    /// The client was told that it can, so a reply that cannot be stored is refused.
    Required,
}

/// A wait for the answer to a question, see [`Protocol::answered`].
pub type Answered<R> = Pin<Box<dyn Future<Output = Option<R>> + Send>>;

/// One chat front end: its requests, its events, and the rules of its stream.
pub trait Protocol: Sized + Send + Sync + 'static {
    /// The typed request.
    type Request: Conversation + Send + Sync + 'static;

    /// An event that does not end the turn.
    type Output: Send + 'static;

    /// An event that ends the turn and asks the front end for something, such as a tool call.
    /// [`Infallible`](std::convert::Infallible) if the protocol has none.
    type Ending: Send + 'static;

    /// The settings of a mount for its replies. `()` if there are none.
    type Settings: Clone + Default + Send + Sync + 'static;

    /// An event of a stream, as a client's decoder returns it.
    type Event: Send + 'static;

    /// One reply, as it is written.
    type Session: Session<Output = Self::Output, Ending = Self::Ending>;

    /// One stream, as it is read.
    type Decoder: Decode<Event = Self::Event>;

    /// The name in reports and messages: lower-case letters, digits and `-`.
    const NAME: &'static str;

    /// The parts of a reply for which the front end has a display of its own.
    const CAPABILITIES: Capabilities;

    /// How the events of a stream are told apart. [`Framing::Sse`] by default.
    const FRAMING: Framing = Framing::Sse;

    /// `true` if the head of a streamed response waits for the first output of the agent, so that a turn that
    /// fails before has a status: for clients that repeat a turn whose stream fails. See
    /// [`Router::first_output_timeout`](crate::Router::first_output_timeout). `false` by default.
    const AWAITS_OUTPUT: bool = false;

    /// `true` if the [keep-alive](Session::keep_alive) of a session is an event that changes it, such as one with a
    /// number. It is stored with the others then, where replies are resumable. `false` by default.
    const STORES_KEEP_ALIVE: bool = false;

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] with the status and the place of the fault.
    fn read(parts: &Parts, body: Bytes) -> Result<Self::Request, Refusal>;

    /// Returns the id that is stable over the turns of one conversation, when the front end sends
    /// one. `None` by default.
    fn conversation_id<'a>(
        request: &'a Self::Request,
        headers: &'a HeaderMap,
    ) -> Option<Cow<'a, str>> {
        let _ = (request, headers);
        None
    }

    /// Returns the words that bind a question to its conversation: a proof that was made with other words does not
    /// count. The [id of the conversation](Self::conversation_id), if it is in the body, by default.
    fn question_scope(request: &Self::Request) -> Option<Cow<'_, str>> {
        // Not from the headers: some have the id of a trace.
        let no_headers = HeaderMap::new();
        let id = Self::conversation_id(request, &no_headers)?;
        Some(Cow::Owned(id.into_owned()))
    }

    /// Returns a future that waits until the user has answered the question that ends the turn, where the answer
    /// arrives while the stream is open: the agent then runs again, with the request that the future returns, and the
    /// same reply goes on. `None`, from here or from the future: the reply ends. `None` by default.
    fn answered(request: &Self::Request) -> Option<Answered<Self::Request>> {
        let _ = request;
        None
    }

    /// Adds the settings of a mount to a request, such as tools that the request does not list. Nothing by default.
    fn apply(settings: &Self::Settings, request: &mut Self::Request) {
        let _ = (settings, request);
    }

    /// Starts the reply to `request`, which a mount with these settings got.
    fn session(request: &Self::Request, settings: &Self::Settings, env: &Env) -> Self::Session;

    /// Returns `false` if the request wants the answer as one JSON document in place of a stream.
    ///
    /// The session then writes that document when the turn was answered, and nothing before. A turn that
    /// failed is answered by [`refuse`](Self::refuse). `true` by default.
    fn is_stream(request: &Self::Request) -> bool {
        let _ = request;
        true
    }

    /// Returns what ends the turn before the agent is asked: the next call, where several were made
    /// at once and the front end runs one a turn. `None` by default.
    fn next_call(request: &Self::Request) -> Option<Self::Ending> {
        let _ = request;
        None
    }

    /// Returns how far the front end relies on asking for the reply to this request again, from a router
    /// with resumable replies. [`Resumption::Never`] by default.
    fn resumption(request: &Self::Request) -> Resumption {
        let _ = request;
        Resumption::Never
    }

    /// Writes the end of a stream whose server died, for a client that another server sends the rest of the
    /// reply to: a failure. `first_event` is the first event of the reply, if it is known, and `next` the
    /// number of the event that would come next. Nothing by default.
    fn lost(first_event: &[u8], next: u64, out: &mut Vec<u8>) {
        let _ = (first_event, next, out);
    }

    /// Adds the headers that every stream of this protocol has, beside those of all streams. None
    /// by default.
    fn response_headers(headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Returns the response that refuses a request, in the form that clients of this protocol
    /// read. [`Refusal::to_json`] by default.
    ///
    /// It is also the response to a turn that failed where the failure has a status: because the request wants
    /// one JSON document, or because nothing was sent [yet](Self::AWAITS_OUTPUT). The code of the refusal is then
    /// `agent_failed`, `overloaded` for a [retryable](AgentError::retryable) failure, or
    /// `context_length_exceeded` for one that is [too long](AgentError::too_long).
    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            refusal.to_json(),
        )
    }
}
