//! The UI message stream of the AI SDK, the protocol of web pages with `useChat` (React, Vue, Svelte,
//! Angular, assistant-ui and others).
//!
//! * Server: [`Router::mount`](crate::Router::mount) with a [`Mount`] serves an agent at `POST /api/chat`, the default
//!   path of these pages. No Node.js server is needed in between.
//! * Client: serialize a [`ChatRequest`], and read the reply as [`Event`]s with an
//!   [`EventDecoder`](crate::protocol::EventDecoder).
//!
//! ```
//! use copilot_wire::json::Wire as _;
//! use copilot_wire::protocol::EventDecoder;
//! use copilot_wire::ui_stream::{ChatRequest, Event, UiMessage, UiStream};
//!
//! let request = ChatRequest::new("chat-1", [UiMessage::user("u1", "Hello")]);
//! let body = request.to_json(); // to be posted to /api/chat
//! # drop(body);
//!
//! let mut decoder = EventDecoder::<UiStream>::new();
//! let mut text = String::new();
//! let mut input = &b"data: {\"type\":\"text-delta\",\"id\":\"t1\",\"delta\":\"Hi\"}\n\n\
//!     data: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n"[..];
//! while let Some(event) = decoder.next(&mut input)? {
//!     match event {
//!         Event::TextDelta(piece) => text.push_str(&piece.delta),
//!         Event::Error(error) => panic!("{}", error.error_text),
//!         _ => {}
//!     }
//! }
//! decoder.end()?;
//! assert_eq!(text, "Hi");
//! # Ok::<(), copilot_wire::protocol::EventError>(())
//! ```
//!
//! # How parts are sent
//!
//! | part | here |
//! |---|---|
//! | `text` | one block: `text-start`, `text-delta`s, `text-end` |
//! | `reasoning` | a block of `reasoning-start`, `reasoning-delta`s, `reasoning-end` |
//! | `status` | `data-status` for `onData` of the page, transient: `{level, message, details}` |
//! | `tool_run` | a tool call with `providerExecuted` and its output, followed by a new step |
//! | `cite` | `source-url`, or `source-document` without an `http` or `https` address |
//! | `table` | `data-table`, `{name, description, rows}`, and a Markdown table |
//! | `chart` | `data-chart`, a table with `kind` and the names of its members, and a Markdown table |
//! | `error` | a paragraph of text; the turn continues |
//! | `usage` | `message-metadata`: `{usage: {inputTokens, outputTokens, ..}}` |
//! | `confirm` | a question in text, or with [`Mount::approvals`] an approval request |
//! | `call`, `calls` | calls of tools that the page runs, if the request or the [`Mount`] names them |
//! | `cut` | a paragraph of text, and the `finishReason` `length`, `content-filter` or `other` |
//!
//! A question in text is recognized by the id in its last line, which has passed through the client: if a yes can do
//! harm, use ids that are hard to guess, and let no model repeat them.
//!
//! Beyond parts, an agent for this protocol can send any [`Output`], such as [`Data`] for a component of the page, a
//! [`File`], or the call and the output of a tool that runs for long. It can end with an [`Ending`]: calls of any
//! tools, or an [`Error`].
//!
//! # Rules of the stream
//!
//! Version 5.0.0 of the package `ai` is the strictest reader: all later versions accept the bytes that it accepts. The
//! session of a reply ensures these rules, whatever an agent sends:
//!
//! 1. Only chunks and members of version 5.0.0 are sent, because it rejects all others; so `tool-input-error` is not
//!    sent. The exceptions are settings of the [`Mount`]: `finishReason`, for versions from 5.0.93 on, is sent by
//!    default; approvals, which version 6 introduced, must be enabled.
//! 2. If the request ends with a message of the assistant, the reply has the id of that message. Otherwise the page
//!    would show the message twice.
//! 3. A step begins before any content, and a new step after the output of a tool. A page posts the results of tools by
//!    itself if the last step contains only finished tools: without the new step it would post again and again. A page
//!    recognizes a step by its first part, so the new step is never left empty.
//! 4. A piece of text belongs to an open block. Blocks are opened by their first piece.
//! 5. A failure is an `error` chunk: pages accept a truncated stream as complete.
//! 6. A refusal is plain text, because the page shows the body.
//!
//! `tests/interop/ui-stream/run` lets `ai` 5.0.0, 5.0.277, 6.0.326 and 7.0.173 read the same bytes.

mod chunk;
mod conversation;
mod data;
mod deltas;
mod event;
mod mount;
mod request;
mod session;
mod socket;

pub use chunk::{
    Abort, Error, File, Finish, FinishStep, MessageMetadata, ReasoningDelta, ReasoningEnd,
    ReasoningStart, SourceDocument, SourceUrl, Start, StartStep, TextDelta, TextEnd, TextStart,
    ToolApprovalRequest, ToolInputAvailable, ToolInputDelta, ToolInputError, ToolInputStart,
    ToolOutputAvailable, ToolOutputDenied, ToolOutputError,
};
pub use data::Data;
pub use event::{Ending, Event, Output};
pub use mount::{Mount, Settings};
pub use request::{Approval, ChatRequest, Trigger, UiMessage, UiPart};
pub use session::Reply;

use std::borrow::Cow;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response};

use crate::protocol::{
    AgentError, Capabilities, Delta, Env, Extras, FrameDecoder, FrameEvent as _, Protocol, Refusal,
    Resumption, Session,
};

/// The UI message stream of the AI SDK.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct UiStream;

impl Protocol for UiStream {
    type Request = ChatRequest;
    type Event = Event;
    type Settings = Settings;
    type Blocks = Reply;
    type Decoder = FrameDecoder<Event>;

    const NAME: &'static str = "ui-stream";
    const CAPABILITIES: Capabilities = Capabilities::STEPS
        .with(Capabilities::CITATIONS)
        .with(Capabilities::CALLS)
        .with(Capabilities::REASONING)
        .with(Capabilities::TOOL_RUNS);
    const EXTRAS: Extras<Self> = Extras {
        // The page's own description of a tool has precedence over the mount's.
        apply: |settings, request| {
            for (name, tool) in settings.tools.iter() {
                if request.tools.get(name).is_none() {
                    request.tools.push(name, tool.clone());
                }
            }
        },
        resumption: |_| Resumption::Possible,
        lost: |_, _, out| {
            Event::from(Error::new(AgentError::LOST)).write(out);
            Event::Done.write(out);
        },
        // The protocol's version, as the SDK's own servers send it.
        response_headers: |headers| {
            let name = HeaderName::from_static("x-vercel-ai-ui-message-stream");
            headers.insert(name, HeaderValue::from_static("v1"));
        },
        ..Extras::NONE
    };

    fn read(_: &Parts, body: Bytes) -> Result<ChatRequest, Refusal> {
        ChatRequest::read(&body)
    }

    fn conversation_id<'a>(request: &'a ChatRequest, _: &'a HeaderMap) -> Option<Cow<'a, str>> {
        let id = Some(&*request.id).filter(|id| !id.is_empty());
        id.map(Cow::Borrowed)
    }

    fn deltas(event: &Self::Event, to: &mut dyn FnMut(Delta<'_>)) {
        deltas::deltas(event, to);
    }

    fn session(request: &ChatRequest, settings: &Settings, env: &Env) -> Session<Reply> {
        session::session(request, settings, env)
    }

    /// Creates a refusal whose body is one sentence, because the page shows the complete body.
    fn refuse(refusal: &Refusal) -> Response<Bytes> {
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        refusal.to_response(kind, refusal.to_string())
    }
}

/// The script that emulates the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
