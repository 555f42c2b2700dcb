//! The chat completion protocol of OpenAI, used by its own clients, VS Code's custom endpoints,
//! Copilot's command line and every "OpenAI-compatible" program.
//!
//! * Server: [`Router::mount`](crate::Router::mount) mounts an agent as a [`Model`]. It answers at
//!   `POST /v1/chat/completions`, with or without a stream, and is listed at `GET /v1/models`.
//! * Client: [`ChatRequest`] is the request, an [`EventDecoder`](crate::protocol::EventDecoder) reads
//!   the answer as [`Event`]s. A [`Completion`](crate::protocol::Completion) assembles them, and converts into a
//!   [`ChatCompletion`].
//! * Proxy: a [`Relay`] sends the answer of another server in a reply of any protocol, a
//!   [`Passthrough`](crate::models::Passthrough) as it came.
//!
//! ```
//! use copilot_wire::json::Wire as _;
//! use copilot_wire::openai::{ChatCompletion, ChatMessage, ChatRequest, OpenAi};
//! use copilot_wire::protocol::{Completion, EventDecoder};
//!
//! let request = ChatRequest::new("gpt-4o", vec![ChatMessage::user("Hello")]).stream(true);
//! let body = request.to_json(); // to be posted to …/chat/completions
//! # drop(body);
//!
//! let mut decoder = EventDecoder::<OpenAi>::new();
//! let mut answer = Completion::new();
//! for mut bytes in [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\nda"[..], b"ta: [DONE]\n\n"] {
//!     while let Some(event) = decoder.next(&mut bytes)? {
//!         answer.push_event::<OpenAi>(event)?;
//!     }
//! }
//! assert!(answer.is_over());
//! assert_eq!(ChatCompletion::from(answer).text(), "Hi");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Parts of a reply
//!
//! | part | output |
//! |---|---|
//! | `text` | a chunk with `content` |
//! | `reasoning` | `reasoning_content`, which other compatible servers write |
//! | `status`, `tool_run` | nothing: the protocol has no member for it, and text would become part of the answer |
//! | `cite` | a Markdown list of links at the end of the answer |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text; the turn continues |
//! | `confirm` | a question in text, which the next user message answers with its code |
//! | `usage` | the usage, if requested |
//! | `call`, `calls` | `tool_calls` and the finish reason `tool_calls`, if the request offered the tool |
//! | `cut` | the finish reason `length` or `content_filter`, else a paragraph |
//!
//! A question is identified by the id in its last line, which the client can change: use ids that
//! are hard to guess where a consent does harm, and do not let a model repeat them.
//!
//! Besides these parts, an agent for this protocol sends a [`ChatCompletionChunk`], a [`Choice`], a
//! [`Delta`] or a [`Usage`], and ends with an [`Ending`]: [`ToolCall`]s, a [`FinishReason`] or an
//! [`ErrorObject`].
//!
//! # Encoding rules
//!
//! Seven rules satisfy all known clients: the two official ones, VS Code, and `gh models`, which is
//! the strictest. The session of a reply enforces them for every agent and every relayed stream.
//!
//! 1. One line `data: `, compact JSON, and a blank line; nothing else but comments. No `event` lines,
//!    which `gh models` refuses; no `id` lines, after which the Python client fails at a comment.
//! 2. `id`, `object`, `created` and `model` in every chunk, and the same in all.
//! 3. The role in the first chunk of a choice only (the Python client joins roles), and alone (both
//!    clients count log probabilities of that chunk twice). Content is never null, the list of calls
//!    never empty, and the list of choices only beside the usage.
//! 4. One call at a time, with id, type and name in its first fragment: VS Code appends to the last
//!    call and ignores the index. Interleaved fragments are buffered until the end.
//! 5. Exactly one finish reason for each choice, then the usage if it was requested and is known, then
//!    exactly one `[DONE]`. So finish reasons and usage are buffered until the end of the turn.
//! 6. After a failure one error object, and the end: no finish reason, no `[DONE]`. Its type is
//!    `invalid_request_error`, its code `invalid_prompt`, after which no client but aider repeats the turn.
//! 7. Every poll of the body sends all available bytes; comments are sent while the agent is silent.
//!
//! A request without `stream` gets the same reply, collected. A failure is then status 400, which no client retries, as
//! it is in a stream before the first output: the head [waits](crate::Router::first_output_timeout) for that.
//!
//! # Checked with the official clients
//!
//! `tests/interop/openai/run` lets `openai` 6.49.0 for Node and 3.52.0 for Python read replies of this
//! crate, chunk by chunk and with their accumulating helpers:
//!
//! | situation | Node | Python |
//! |---|---|---|
//! | text with all kinds of characters: chunks, helper, without a stream | yes | yes |
//! | keep-alive comments between the chunks | yes | yes |
//! | a tool call: chunks, helper, without a stream; with its result | yes | yes |
//! | several calls, also interleaved ones | yes | yes |
//! | usage: chunks, helper, without a stream; only if requested | yes | yes |
//! | refusal, `length`, `content_filter` | yes | yes: its helper raises the last two |
//! | two choices at once, log probabilities | yes | yes |
//! | failure after text, immediately, and without `stream`; a panic | `APIError` | `APIError` |
//! | a relayed stream, complete and truncated | yes | yes |
//! | a question and its answer | yes | yes |
//! | the list of models, one model, an unknown one, a bad request | yes | yes |
//! | a client that disconnects | yes | yes |

mod chunk;
mod completion;
mod content;
mod conversation;
mod decoder;
mod delta;
mod error;
mod event;
mod finish_reason;
mod from_conversation;
mod logprobs;
mod message;
mod mount;
mod profile;
mod relay;
mod request;
mod session;
mod tool;
mod tool_call;
mod turn;
mod usage;

pub use chunk::{ChatCompletionChunk, Choice};
pub use completion::{ChatCompletion, CompletedChoice};
pub use content::{Content, Part};
pub use decoder::Decoder;
pub use delta::Delta;
pub use error::ErrorObject;
pub use event::{Ending, Event};
pub use finish_reason::FinishReason;
pub use from_conversation::response_format;
pub use logprobs::{Logprobs, TokenLogprob, TopLogprob};
pub use message::ChatMessage;
pub use mount::Model;
pub use relay::Relay;
pub use request::{ChatRequest, StreamOptions};
pub use session::Reply;
pub use tool::{Function, Tool};
pub use tool_call::{FunctionCall, FunctionDelta, ToolCall, ToolCallDelta, ToolKind};
pub use usage::Usage;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response};

use crate::protocol::{
    self, AgentError, Capabilities, Env, Extras, Failure, Protocol, Refusal, Session,
};

/// The chat completion protocol of OpenAI.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenAi;

impl Protocol for OpenAi {
    type Request = ChatRequest;
    type Event = Event;
    type Settings = ();
    type Blocks = Reply;
    type Decoder = Decoder;

    const NAME: &'static str = "openai";
    const CAPABILITIES: Capabilities = Capabilities::CALLS.with(Capabilities::REASONING);
    const EXTRAS: Extras<Self> = Extras {
        awaits_output: true,
        is_stream: ChatRequest::is_stream,
        lost: |_, _, out| {
            let error = ErrorObject::failure(&Failure::new(AgentError::LOST));
            out.extend_from_slice(b"data: ");
            error.write_body(out);
            out.extend_from_slice(b"\n\n");
        },
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        ChatRequest::read(&body)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(protocol::Delta<'_>)) {
        relay::deltas(event, to);
    }

    fn session(request: &ChatRequest, (): &(), env: &Env) -> Session<Reply> {
        session::session(request, env)
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            ErrorObject::refusal(refusal).to_body(),
        )
    }
}

/// The playground's script for this front end.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
