//! The Model Context Protocol (MCP): an agent as a tool of any program that can call tools, such as Claude Code, Codex,
//! Copilot, VS Code, and agents written with any framework.
//!
//! * Server: [`Router::mount`](crate::Router::mount) with a [`Mount`] adds an agent as a tool to `POST /mcp`. Each
//!   agent mounted there is a tool.
//! * Client: serialize a [`CallRequest`], and read the answer as [`Event`]s with an
//!   [`EventDecoder`](crate::protocol::EventDecoder).
//!
//! ```
//! use copilot_wire::mcp::{CallRequest, Event, Mcp};
//! use copilot_wire::protocol::EventDecoder;
//!
//! let request = CallRequest::new(1, "ask", "How much?").progress(1);
//! let body = request.to_json(); // to be posted to /mcp
//! # drop(body);
//!
//! let mut decoder = EventDecoder::<Mcp>::new();
//! let mut input = &b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\
//!     {\"content\":[{\"type\":\"text\",\"text\":\"Up 3 %.\"}]}}\n\n"[..];
//! let mut text = String::new();
//! while let Some(event) = decoder.next(&mut input)? {
//!     if let Event::Result(answer) = event {
//!         text = answer.result.text();
//!     }
//! }
//! decoder.end()?;
//! assert_eq!(text, "Up 3 %.");
//! # Ok::<(), copilot_wire::protocol::EventError>(())
//! ```
//!
//! # How parts are sent
//!
//! | part | here |
//! |---|---|
//! | `text` | the single text of the result; about once a second its last line is sent as a progress message |
//! | `reasoning` | the progress message `Thinking`, about once a second |
//! | `status`, `tool_run` | a progress message |
//! | `cite` | a list of links at the end of the text |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text; the turn continues |
//! | `usage` | nothing |
//! | `confirm` | a dialog of the client, if it has dialogs; otherwise a question in text, if there is a store of conversations; otherwise a sentence that nothing was done |
//! | `call`, `calls` | an error: the tools of the caller are unknown |
//! | `cut` | a paragraph of text |
//!
//! Beyond parts, an agent for this protocol can send [`ContentBlock`]: images and links, which most clients do not show.
//!
//! # Two forms of the protocol
//!
//! One path serves both forms, determined for each request: version 2026-07-28, in which each request is complete in
//! itself, and versions 2024-11-05 to 2025-11-25, which begin with `initialize`. The id of a session is not stored: it
//! tells whether the client can ask questions, and identifies calls to cancel.
//!
//! # Rules of the stream
//!
//! 1. The answer is one text that contains everything, because `structuredContent` hides the text in Claude Code and
//!    Codex, and Copilot discards images and links. The stream has no `null` and no content type that clients may not
//!    know: either makes most of them lose the answer.
//! 2. A stream never ends without its result, even after a panic, at a shutdown, or when the server of a stored reply
//!    dies: without a result most clients wait for minutes. A failure is a result with `isError` and the text so far.
//! 3. Progress numbers increase. Progress is sent at least every 15 seconds, but only to clients that have sent a
//!    token. Other clients get comments.
//! 4. With [resumable replies](crate::Router) events have ids, and `GET` with `last-event-id` returns later events.
//!    Without a store no event has an id: a client would wait for events that never come.
//! 5. No event is larger than 1 MiB, which is the limit of Python's client: an answer has at most 960 KiB.
//!
//! # Questions
//!
//! In version 2026-07-28 a question is the result `input_required`, whose `requestState` is the proof of the question,
//! and the client calls again with the answer. In versions with sessions a question is a request on the open stream,
//! and the answer is a separate message, which is lost if it reaches another process. In both forms the agent runs
//! again with the answer, as in every other protocol. Only `accept` counts as a yes, once, and for the same tool,
//! arguments and user. A state of another form is an error. The text before a question is not part of the question.
//!
//! # Conversations
//!
//! With [conversations](crate::Router::conversations) each answer ends with a handle. A call with this handle as the
//! argument `conversation` continues the conversation, and the agent sees all of it. Another user's handle is unknown.

mod calls;
mod conversation;
mod deltas;
mod dialog;
mod documents;
mod endpoint;
mod error;
mod event;
mod message;
mod mount;
mod position;
mod request;
#[cfg(feature = "resumable")]
mod resume;
mod session;
mod thread;

pub use error::ErrorObject;
pub use event::{
    CallResponse, CallToolResult, ContentBlock, ElicitParams, Elicitation, Event, Failed,
    ImageContent, ProgressNotification, ResourceLink, TextContent,
};
pub use mount::{Mount, Server};
pub use request::{CallParams, CallRequest, Meta, STATELESS, VERSIONS};
pub use session::Reply;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response};

use crate::protocol::{
    AgentError, Capabilities, Delta, Env, Extras, FrameDecoder, FrameEvent as _, Protocol, Refusal,
    Resumption, Session,
};
use error::RpcError;
use message::Message;

/// The Model Context Protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Mcp;

impl Protocol for Mcp {
    type Request = CallRequest;
    type Settings = ();
    type Event = Event;
    type Blocks = Reply;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "mcp";
    const CAPABILITIES: Capabilities = Capabilities::STEPS;
    const EXTRAS: Extras<Self> = Extras {
        stores_keep_alive: true,
        question_scope,
        // Waits for the answer to a question on the open stream.
        answered: |request| {
            let dialog = Arc::clone(request.found.dialog.as_ref()?);
            let mut next = request.clone();
            Some(Box::pin(async move {
                next.found.answer = Some(dialog.answered().await?);
                Some(next)
            }))
        },
        resumption: |request| {
            let has_token = !request.params.meta.progress_token.is_null();
            match request.found.is_stream && (has_token || request.found.is_primed) {
                true => Resumption::Possible,
                // The first event id that this client would see is the id of the last event.
                false => Resumption::Never,
            }
        },
        stored: |reply| reply.is_stored = true,
        lost: |first_event, _, out| {
            if let Some(id) = position::call_of(first_event) {
                lost(id, out);
            }
        },
        ..Extras::NONE
    };

    fn read(parts: &Parts, body: Bytes) -> Result<CallRequest, Refusal> {
        let message = Message::read(body).map_err(|error| error.to_refusal())?;
        let call = message.era(&parts.headers);
        let call = call.and_then(|era| CallRequest::read(&message, era));
        let mut call = call.map_err(|error| error.to_refusal())?;
        call.look(&parts.headers);
        Ok(call)
    }

    /// Returns the part of the handle that is the same in all turns of a conversation. A call with the answer to a
    /// question belongs to the conversation of the call that asked it, even without a store.
    fn conversation_id<'a>(request: &'a CallRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        let root = request.handle();
        let root = root.and_then(|handle| thread::root(&handle).map(str::to_owned));
        root.or_else(|| thread::new_root(request)).map(Cow::Owned)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        deltas::deltas(event, to);
    }

    fn session(request: &CallRequest, (): &(), env: &Env) -> Session<Reply> {
        session::session(request, env)
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let json = HeaderValue::from_static("application/json");
        refusal.to_response(json, RpcError::of(refusal).to_body(None))
    }
}

/// Binds a question in a dialog to the tool and its arguments. A question in text, which another call answers, is bound
/// only to the tool.
fn question_scope(request: &CallRequest) -> Option<Cow<'_, str>> {
    let tool = &request.params.name;
    if !request.has_forms() && request.found.dialog.is_none() && request.response().is_none() {
        return Some(Cow::Borrowed(tool));
    }
    let question = request.question().unwrap_or_default();
    let handle = request.handle().unwrap_or_default();
    let (length, nonce) = (question.len(), request.nonce());
    Some(Cow::Owned(format!(
        "{tool} {length} {question}{handle} {nonce}"
    )))
}

/// Writes the result of a call whose reply was lost.
fn lost(id: crate::json::Json, out: &mut Vec<u8>) {
    let mut result = CallToolResult::failed(AgentError::LOST);
    // Required in the version without sessions, and ignored in the others.
    "complete".clone_into(&mut result.result_type);
    Event::Result(CallResponse { id, result }).write(out);
}

/// The script that emulates the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
