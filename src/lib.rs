//! An SDK for chat agents: write an agent once, and every chat front end can talk to it.
//!
//! The crate has typed models of the wire protocols of the OpenBB Workspace, GitHub Copilot, OpenAI
//! (chat completions and Responses), Anthropic Messages, Meilisearch chat, the AI SDK, AG-UI and MCP; one
//! [`Agent`] trait; and a [`Router`] that answers HTTP requests in any web stack. It contains no server,
//! no HTTP client and no client of language models.
//!
#![cfg_attr(
    feature = "full",
    doc = "The [guide] explains it from front to back: concepts, servers, every front end, models, access, testing."
)]
//!
//! # A server
//!
//! This agent answers every front end, and this server offers it to two of them. Anything that can call a
//! `tower` service, such as hyper and axum, can serve a router; `Router::handle` needs only the `http` crate.
//!
// The frameworks in it are no dependencies of this package: `tests/servers` compiles it.
#![cfg_attr(not(doctest), doc = include_str!("guide/first_server.md"))]
//!
//! The crate is not on crates.io yet: replace the version with the `path` of a clone of the repository.
//!
//! # Agents
//!
//! An agent reads a [`Request`] and writes to a [`Reply`]. An agent that is generic over the [`Protocol`]
//! uses the vocabulary that all front ends share: text, reasoning, steps, sources, tables, charts,
//! questions, tool calls. Each front end receives the part in its own form, or in the nearest one that it has.
//! An agent for one protocol has all of it: the typed request, [`Reply::send`] for any event and
//! [`Reply::end`] for events that end the turn. [`Request::native`](agent::Request::native) leads from the
//! one to the other.
//!
//! # Streams
//!
//! The response [`Body`] owns the agent: polling the body polls the agent, and dropping it cancels the
//! agent. A client that disconnects therefore stops the work, and a slow reader slows the agent down. Work
//! that must go on is [detached](Body::detach).
//!
//! A stream consists of server-sent events, or of [lines of JSON](lines) where a protocol
//! [says so](Protocol::FRAMING). [`sse`] encodes and decodes the former:
//!
//! ```
//! use copilot_wire::sse::{Decoder, Event, Frame, encode};
//!
//! let mut out = Vec::new();
//! encode(&Event::new("two\nlines"), &mut out);
//! assert_eq!(out, b"data: two\ndata: lines\n\n");
//!
//! let mut decoder = Decoder::new();
//! let frame = decoder.next(&mut &out[..])?;
//! assert_eq!(frame, Some(Frame::Event(Event::new("two\nlines"))));
//! # Ok::<(), copilot_wire::sse::TooLarge>(())
//! ```
//!
//! # Features
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | `openai` `responses` `anthropic` | OpenAI chat completions, OpenAI Responses and Anthropic Messages; the three together: `Router::mount_model` and `Router::mount_catch_all`, an agent as a model in all three | yes |
//! | `openbb` `github` `meilisearch` | the OpenBB Workspace, GitHub Copilot and Meilisearch chat | yes |
//! | `ui_stream` | web pages with `useChat` of the AI SDK | |
//! | `ag_ui` | CopilotKit and other AG-UI apps | |
//! | `mcp` | an agent as a tool of MCP clients: Claude Code, Codex, Copilot and others | |
//! | `agent` | agents and the router without a protocol, for one of your own; every other feature enables it | yes |
//! | `http-body` | [`Body`] as an `http_body::Body`, and `Router::handle_body` | |
//! | `tower` | [`Router`] as a `tower_service::Service` | |
//! | `tokio` | keep-alive and upload timeouts, with the timer of tokio's runtime; one built by hand needs [`enable_time`](protocol::Environment::ticks) | |
//! | `tracing` | spans of turns, calls of models and runs of tools, as OpenTelemetry names them, and an event with the outcome of each turn | |
//! | `playground` | `Router::playground`: a page that emulates every front end, for local work | |
//! | `compression` | request bodies in gzip, deflate, br and zstd; without it they are refused with status 415 | |
//! | `resumable` | `replies`: replies that outlive the connection that asked for them | |
//! | `verify` | signatures of GitHub Copilot requests | |
//! | `full` | all of them | |
//!
//! Without any feature the crate is [`sse`], [`lines`] and [`json`].
//!
//! What tests need is in the package `copilot-wire-kit`: emulated front ends, virtual time, scripted models,
//! conformance rules.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "agent"),
    allow(
        dead_code,
        unused_imports,
        reason = "agents are who calls the rest of the encoders"
    )
)]

// What `json::Wire` derives names this crate, here as anywhere.
extern crate self as copilot_wire;

/// Implements `From` by a function or a closure.
#[cfg(feature = "agent")]
macro_rules! from {
    ($($value:ty => $event:ident: $convert:expr,)*) => {$(
        impl From<$value> for $event {
            fn from(value: $value) -> Self {
                let convert: fn($value) -> Self = $convert;
                convert(value)
            }
        }
    )*};
}

/// Implements `Debug` for types whose contents are not shown, because they are large, secret or of no interest.
macro_rules! opaque_debug {
    ($name:ident) => {
        opaque_debug!(impl[] $name for $name);
    };
    (impl[$($generics:tt)*] $name:ident for $type:ty) => {
        impl<$($generics)*> std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

/// Paths of routes, the features that have them, and whether this build does. For the message of a debug build.
#[cfg(feature = "agent")]
const ROUTES: [(&str, &str, bool); 9] = [
    ("/", "playground", cfg!(feature = "playground")),
    ("/agui", "ag_ui", cfg!(feature = "ag_ui")),
    ("/api/chat", "ui_stream", cfg!(feature = "ui_stream")),
    ("/github", "github", cfg!(feature = "github")),
    ("/mcp", "mcp", cfg!(feature = "mcp")),
    ("/v1/chat/completions", "openai", cfg!(feature = "openai")),
    ("/v1/messages", "anthropic", cfg!(feature = "anthropic")),
    ("/v1/query", "openbb", cfg!(feature = "openbb")),
    ("/v1/responses", "responses", cfg!(feature = "responses")),
];

#[cfg(feature = "ag_ui")]
pub mod ag_ui;
#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(feature = "agent")]
mod consent;
#[cfg(feature = "agent")]
pub mod conversations;
#[cfg(feature = "github")]
pub mod github;
#[cfg(feature = "agent")]
mod vocabulary;
// Documentation only. Its links need every feature.
#[cfg(all(any(doc, doctest), feature = "full"))]
#[cfg_attr(docsrs, doc(auto_cfg = false))]
pub mod guide;
pub mod json;
pub mod lines;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "meilisearch")]
pub mod meilisearch;
#[cfg(any(feature = "anthropic", feature = "openai", feature = "responses"))]
pub mod models;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "openbb")]
pub mod openbb;
#[cfg(feature = "playground")]
mod playground;
#[cfg(feature = "agent")]
pub mod protocol;
#[cfg(any(
    feature = "playground",
    all(feature = "anthropic", feature = "openai", feature = "responses"),
))]
pub mod protocols;
#[cfg(feature = "resumable")]
pub mod replies;
#[cfg(feature = "responses")]
pub mod responses;
#[cfg(feature = "agent")]
pub mod router;
pub mod sse;
#[cfg(feature = "agent")]
mod sync;
#[cfg(feature = "ui_stream")]
pub mod ui_stream;

#[cfg(feature = "agent")]
#[doc(inline)]
pub use agent::{Agent, Body, Reply, Request, agent_fn};
#[cfg(feature = "agent")]
#[doc(no_inline)]
pub use async_trait::async_trait;
#[cfg(feature = "agent")]
#[doc(inline)]
pub use protocol::Protocol;
#[cfg(feature = "agent")]
#[doc(inline)]
pub use router::Router;

/// What the code that `json::Wire` derives calls.
#[doc(hidden)]
pub mod __private {
    pub use crate::json::wire::{
        Wire, deserialize, is_unset, key, object, odd_members, read, serialize, take, take_fixed,
    };
    #[cfg(feature = "agent")]
    pub use crate::protocol::frame_event::{
        MISSING, UNTYPED, drop_unknown, is_distinct, whole, writer,
    };
    #[cfg(feature = "agent")]
    pub use crate::vocabulary::redacted::{Hidden, Redact};
    pub use bytes::Bytes;
    pub use serde::{Deserialize, Deserializer, Serialize, Serializer};
}
