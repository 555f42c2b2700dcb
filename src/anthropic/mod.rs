//! The Messages protocol of Anthropic, used by Claude Code, the Anthropic clients and the AI SDK,
//! and optionally by Copilot's command line and VS Code.
//!
//! * Server: [`Router::mount`](crate::Router::mount) mounts an agent as a [`Model`]. It answers at
//!   `POST /v1/messages`, with or without a stream.
//! * Client: [`MessagesRequest`] is the request, an [`EventDecoder`](crate::protocol::EventDecoder)
//!   reads the answer as [`Event`]s. A [`Completion`](crate::protocol::Completion) assembles them, and converts into
//!   a [`Message`].
//! * Proxy: a [`Relay`] sends the answer of another server in a reply of any protocol, a
//!   [`Passthrough`](crate::models::Passthrough) as it came.
//!
//! ```
//! use copilot_wire::anthropic::{Anthropic, Message, MessageParam, MessagesRequest};
//! use copilot_wire::json::Wire as _;
//! use copilot_wire::protocol::{Completion, EventDecoder};
//!
//! let request = MessagesRequest::new("claude", 1024, [MessageParam::user("Hello")]).stream(true);
//! let body = request.to_json(); // to be posted to …/v1/messages
//! # drop(body);
//!
//! let stream = concat!(
//!     "event: content_block_delta\n",
//!     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
//!     "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
//! );
//! let mut decoder = EventDecoder::<Anthropic>::new();
//! let mut answer = Completion::new();
//! let mut bytes = stream.as_bytes();
//! while let Some(event) = decoder.next(&mut bytes)? {
//!     answer.push_event::<Anthropic>(event)?;
//! }
//! decoder.end()?;
//! assert_eq!(Message::from(answer).text(), "Hi");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Parts of a reply
//!
//! | part | output |
//! |---|---|
//! | `text` | deltas of the one text block, which the first text opens |
//! | `reasoning` | a thinking block before the text; nothing once text has started |
//! | `status`, `tool_run` | a line of that block |
//! | `cite` | a citation of the text block, and a Markdown list of links at the end of the answer |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text; the turn continues |
//! | `confirm` | a question in text, which the next user message answers with its code |
//! | `usage` | the token counts at the end |
//! | `call`, `calls` | `tool_use` blocks and the stop reason `tool_use`, if the request offered the tool |
//! | `cut` | the stop reason `max_tokens` or `refusal`, else a paragraph |
//!
//! Besides these parts, an agent for this protocol sends [`Output`]s, and ends with an [`Ending`]:
//! [`ToolUseBlock`]s, a [`StopReason`] or an [`ErrorObject`].
//!
//! # Encoding rules
//!
//! 1. `message_start` with token counts; blocks numbered from 0, one open at a time, each with its
//!    stop; `message_delta` with the stop reason; `message_stop`. Every event has an `event` line.
//! 2. One text block, open until a call: `claude -p` prints the last one only.
//! 3. Calls when the answer is complete, with the arguments as one delta.
//! 4. Never an answer without text or a call, after which Claude Code repeats the request: an empty
//!    answer gets a sentence.
//! 5. While the agent is silent, a `message_delta` without a change is sent: only this resets the timer
//!    after which Claude Code gives up.
//!
//! # Failures
//!
//! A failed turn is not repeated, unless the connection is cut: then every client sends it once more. Before the
//! first output, for which the head [waits](crate::Router::first_output_timeout), a failure has a status: 424 in place
//! of 400, after which Claude Code from version 2.1.330 on repeats a request with fewer features. Every response with
//! status 200 has the header
//! `x-should-retry: false`; a failure closes the open block, is written as text if there was none,
//! and ends the stream with an `error` event. As a result Claude Code, Copilot's command line, the
//! Anthropic clients and the AI SDK send only one request. The header is sent before the end of
//! the turn, so it cannot depend on the failure: one that the agent marks as
//! [retryable](crate::protocol::AgentError::retryable) is an `overloaded_error`, and
//! [`Model::retries`] omits the header.

//!
//! # Threads
//!
//! With [conversations](crate::Router::conversations) a request with `"thread": {"type": "create"}` begins a thread,
//! which stores the request's `system` and `tools`, and a request with `"type": "continue"` and the
//! `previous_message_id` of any of its answers has only the new messages: the tool runners of both official clients do
//! so by default. An unknown id is refused with status 404 and the code `thread_not_found`, after which the tool
//! runners send the whole conversation in a new thread; without a store, and for a thread beyond its limits, every
//! `thread` is refused with status 400 and the code `thread_unsupported_request`, after which the tool runners continue
//! without threads. Unlike at the official service an answer may be continued more than once. Changes of tools in
//! messages are left to the agent.

mod block;
mod content;
mod conversation;
mod error;
mod event;
mod from_conversation;
mod message;
mod mount;
mod profile;
mod relay;
mod request;
mod session;
mod thread;

pub use block::{ContentBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock};
pub use content::Content;
pub use error::ErrorObject;
pub use event::{Delta, Ending, Event, Output};
pub use message::{Message, MessageDelta, Stop, StopReason, Usage};
pub use mount::Model;
pub use relay::Relay;
pub use request::{MessageParam, MessagesRequest, Tool};
pub use session::Reply;

use std::borrow::Cow;

use bytes::Bytes;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::conversations::UserConversations;
use crate::json::Json;
use crate::protocol::{
    self, AgentError, Capabilities, Env, Extras, FrameDecoder, FrameEvent as _, Protocol, Refusal,
    Session,
};

/// The header that tells clients if they may repeat a request.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// The header with the id that clients display with errors.
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
/// The header with Claude Code's id of a conversation.
const SESSION_ID: HeaderName = HeaderName::from_static("x-claude-code-session-id");

/// The Messages protocol of Anthropic.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Anthropic;

impl Protocol for Anthropic {
    type Request = MessagesRequest;
    type Event = Event;
    type Settings = ();
    type Blocks = Reply;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "anthropic";
    const CAPABILITIES: Capabilities = Capabilities::STEPS
        .with(Capabilities::REASONING)
        .with(Capabilities::TOOL_RUNS)
        .with(Capabilities::CALLS);
    const EXTRAS: Extras<Self> = Extras {
        awaits_output: true,
        is_stream: MessagesRequest::is_stream,
        lost: |_, _, out| {
            let error = ErrorObject::new(ErrorObject::INVALID_REQUEST, AgentError::LOST);
            Event::Error(error).write(out);
        },
        // Forbids clients to repeat a turn that failed in its stream.
        response_headers: |headers| {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        },
        ..Extras::NONE
    };

    fn read(parts: &Parts, body: Bytes) -> Result<MessagesRequest, Refusal> {
        let has_store = parts.extensions.get::<UserConversations>().is_some();
        MessagesRequest::read(&body, has_store)
    }

    /// Returns Claude Code's id of the conversation, from a header or from the JSON text in
    /// `metadata.user_id`.
    fn conversation_id<'a>(
        request: &'a MessagesRequest,
        headers: &'a HeaderMap,
    ) -> Option<Cow<'a, str>> {
        let header = headers.get(SESSION_ID).and_then(|id| id.to_str().ok());
        if let Some(id) = header.filter(|id| !id.is_empty()) {
            return Some(Cow::Borrowed(id));
        }
        let user = request.metadata.as_ref()?.get("user_id")?;
        // Other clients send any text that identifies the user.
        let user = Json::parse(user.string()?.into_owned()).ok()?;
        let id = user.get("session_id")?.string()?.into_owned();
        (!id.is_empty()).then_some(Cow::Owned(id))
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(protocol::Delta<'_>)) {
        relay::deltas(event, to);
    }

    fn session(request: &MessagesRequest, (): &(), env: &Env) -> Session<Reply> {
        session::session(request, env)
    }

    /// A turn that failed has the status 424 here in place of 400: after 400 and 422 Claude Code repeats the
    /// request, in versions from 2.1.330 on, five times with fewer features, whatever the header says.
    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let mut response = refusal.to_response(
            HeaderValue::from_static("application/json"),
            ErrorObject::refusal(refusal).to_body(),
        );
        let has_failed = refusal.kind() == "agent_failed";
        if has_failed && refusal.status() == StatusCode::BAD_REQUEST {
            *response.status_mut() = StatusCode::FAILED_DEPENDENCY;
        }
        response
    }
}

/// The playground's script for this front end.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
