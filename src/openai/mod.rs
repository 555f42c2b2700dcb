//! The chat completion protocol of OpenAI: what its own clients, VS Code's custom endpoints,
//! Copilot's command line and every "OpenAI-compatible" program speak.
//!
//! * Server: [`Router::mount`](crate::Router::mount) mounts an agent as a [`Model`]. It answers at
//!   `POST /v1/chat/completions`, in chunks or whole, and is listed at `GET /v1/models`.
//! * Client: [`ChatRequest`] is written, and an [`EventDecoder`](crate::protocol::EventDecoder) reads
//!   the answer as [`Event`]s, which an [`Accumulator`] puts together to a [`ChatCompletion`].
//! * In between: a [`Relay`] passes the answer of another server on, inside any reply.
//!
//! ```
//! use copilot_wire::openai::{Accumulator, ChatMessage, ChatRequest, Event, OpenAi};
//! use copilot_wire::protocol::EventDecoder;
//!
//! let request = ChatRequest::new("gpt-4o", vec![ChatMessage::user("Hello")]).stream(true);
//! let body = request.to_json(); // to be posted to …/chat/completions
//! # drop(body);
//!
//! let mut decoder = EventDecoder::<OpenAi>::new();
//! let mut whole = Accumulator::new();
//! let mut done = false;
//! for mut bytes in [&b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\nda"[..], b"ta: [DONE]\n\n"] {
//!     while let Some(event) = decoder.next(&mut bytes)? {
//!         match event {
//!             Event::Chunk(chunk) => whole.push(&chunk)?,
//!             Event::Error(error) => panic!("{}", error.message),
//!             Event::Done => done = true,
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(done);
//! assert_eq!(whole.text(), "Hi");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How words are said
//!
//! | word | here |
//! |---|---|
//! | `text` | a chunk with `content` |
//! | `reasoning` | a chunk with `reasoning_content`, which other servers of this dialect write |
//! | `status`, `tool_run` | nothing: the protocol has no place for it, and as text it would be part of the answer |
//! | `cite` | a Markdown list of links at the end of the answer |
//! | `table`, `chart` | a Markdown table |
//! | `error` | a paragraph of text; the turn goes on |
//! | `confirm` | a question in text; the answer is read from the next user message |
//! | `usage` | the usage, if the request asked for it |
//! | `call`, `calls` | `tool_calls` and the finish reason `tool_calls`, if the request offered the tool |
//!
//! A question is found again by the id in its last line, which crossed the client: make ids hard to
//! guess where a yes does harm, and let no model repeat them.
//!
//! Beyond words, an agent for this protocol sends a [`ChatCompletionChunk`], a [`Choice`], a
//! [`Delta`] or a [`Usage`], and ends with an [`Ending`]: [`ToolCall`]s, a [`FinishReason`] or an
//! [`ErrorObject`].
//!
//! # What is written
//!
//! Seven rules satisfy all known readers: the two official clients, VS Code, and `gh models`, which is
//! the strictest. The session of a reply keeps them whatever an agent or an upstream server says.
//!
//! 1. One line `data: `, compact JSON, and a blank line; nothing else but comments. No `event` lines,
//!    which `gh models` refuses; no `id` lines, after which the Python client fails at a comment.
//! 2. `id`, `object`, `created` and `model` in every chunk, and the same in all.
//! 3. The role in the first chunk of a choice only (the Python client joins roles), and alone (both
//!    clients count log probabilities of that chunk twice). Content is never null, the list of calls
//!    never empty, and the list of choices only beside the usage.
//! 4. One call at a time, with id, type and name in its first fragment: VS Code appends to the last
//!    call, whatever the index. What comes mixed is held back until the end.
//! 5. Exactly one finish reason a choice, then the usage if it was asked for and is known, then
//!    exactly one `[DONE]`. So finish reasons and usage are kept until the turn is over.
//! 6. After a failure one error object, and the end: no finish reason, no `[DONE]`.
//! 7. Every poll of the body sends all there is; silence is broken with a comment.
//!
//! A request without `stream` gets the same reply, collected; a failure is then status 400, which no client retries.
//!
//! # Checked with the official clients
//!
//! `tests/interop/openai/run` lets `openai` 6.49.0 for Node and 3.52.0 for Python read replies of this
//! crate, chunk by chunk and with their accumulating helpers:
//!
//! | situation | Node | Python |
//! |---|---|---|
//! | text, with everything that text can hold: chunks, helper, whole | yes | yes |
//! | keep-alive comments between the chunks | yes | yes |
//! | a tool call: chunks, helper, whole; there and back | yes | yes |
//! | several calls, also such that came mixed | yes | yes |
//! | usage: chunks, helper, whole; only if asked for | yes | yes |
//! | refusal, `length`, `content_filter` | yes | yes: its helper raises the last two, as ever |
//! | two choices at once, log probabilities | yes | yes |
//! | failure on the way, at once, and without `stream`; a panic | `APIError` | `APIError` |
//! | a relayed stream, whole and cut | yes | yes |
//! | a question and its answer | yes | yes |
//! | the list of models, one model, an unknown one, a bad request | yes | yes |
//! | a client that leaves | yes | yes |

mod accumulator;
mod calls;
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
mod kept;
mod logprobs;
mod message;
mod mount;
mod relay;
mod request;
mod session;
mod shape;
#[cfg(feature = "testing")]
pub mod testing;
mod tool;
mod tool_call;
mod turn;
mod usage;

pub use accumulator::{Accumulator, TooLarge};
pub use chunk::{ChatCompletionChunk, Choice};
pub use completion::{ChatCompletion, CompletedChoice};
pub use content::{Content, Part};
pub use decoder::Decoder;
pub use delta::Delta;
pub use error::ErrorObject;
pub use event::{Ending, Event};
pub use finish_reason::FinishReason;
pub use logprobs::{Logprobs, TokenLogprob, TopLogprob};
pub use message::ChatMessage;
pub use mount::Model;
pub use relay::{Relay, RelayError};
pub use request::{ChatRequest, StreamOptions};
pub use session::Session;
pub use tool::{Function, Tool};
pub use tool_call::{FunctionCall, FunctionDelta, ToolCall, ToolCallDelta, ToolKind};
pub use usage::Usage;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response};

use crate::protocol::{Capabilities, Env, Protocol, Refusal};

/// The chat completion protocol of OpenAI.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenAi;

impl Protocol for OpenAi {
    type Request = ChatRequest;
    type Output = ChatCompletionChunk;
    type Ending = Ending;
    type Event = Event;
    type Session = Session;
    type Decoder = Decoder;

    const NAME: &'static str = "openai";
    const CAPABILITIES: Capabilities = Capabilities::CALLS.and(Capabilities::REASONING);

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        ChatRequest::read(&body)
    }

    fn session(request: &ChatRequest, env: &Env) -> Session {
        Session::new(request, env)
    }

    fn is_stream(request: &ChatRequest) -> bool {
        request.is_stream()
    }

    fn ends(event: &Event) -> bool {
        matches!(event, Event::End(_) | Event::Error(_))
    }

    fn text_of(event: &Event) -> Option<&str> {
        match event {
            Event::Chunk(chunk) => chunk.text(),
            _ => None,
        }
    }

    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        refusal.to_response(
            HeaderValue::from_static("application/json"),
            ErrorObject::refusal(refusal).to_body(),
        )
    }
}

/// Plays the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
