//! The Model Context Protocol (MCP): an agent as a tool of any program that can call tools, such as Claude Code, Codex,
//! Copilot, VS Code, and agents written with any framework.
//!
//! * Server: [`Router::mount`](crate::Router::mount) with a [`Mount`] adds an agent as a tool to `POST /mcp`. Each
//!   agent mounted there is a tool.
//! * Client: serialize a [`CallRequest`], and read the answer as [`Event`]s with an
//!   [`EventDecoder`](crate::protocol::EventDecoder).
//!
//! ```
//! use copilot_wire::json::Wire as _;
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
mod client;
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
mod protocol;
mod random;
mod request;
#[cfg(feature = "resumable")]
mod resume;
mod server;
mod session;
mod thread;
mod versions;

pub use error::ErrorObject;
pub use event::{
    CallResponse, CallToolResult, ContentBlock, ElicitParams, Elicitation, Event, Failed,
    ImageContent, ProgressNotification, ResourceLink, TextContent,
};
pub use mount::Mount;
pub use protocol::Mcp;
pub use request::{CallParams, CallRequest, Meta};
pub use server::Server;
pub use session::Reply;
pub use versions::{STATELESS, VERSIONS};

/// The script that emulates the front end on the playground.
#[cfg(feature = "playground")]
pub(crate) const PLAYGROUND: &str = include_str!("playground.js");
