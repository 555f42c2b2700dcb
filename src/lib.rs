//! Write a chat agent once, and every chat front end can talk to it: the OpenBB Workspace, GitHub
//! Copilot clients, Meilisearch chat, web pages on the AI SDK, and anything that reads an OpenAI
//! chat stream.
//!
//! What it is: typed models for those wire protocols, one [`Agent`] trait, and a [`Router`] that
//! turns HTTP requests into streams, whatever the web stack. What it is not: a server, an HTTP
//! client, or a client of language models.
//!
#![cfg_attr(
    all(
        feature = "ag_ui",
        feature = "anthropic",
        feature = "meilisearch",
        feature = "openbb",
        feature = "responses",
        feature = "testing",
        feature = "tokio",
        feature = "tower",
        feature = "ui_stream",
        feature = "verify",
    ),
    doc = "The [guide] is the tour: concepts, every front end, servers, models, access, testing."
)]
//!
//! # One agent
//!
//! An agent reads a request and speaks through a [`Reply`]. Generic over the [`Protocol`], it
//! speaks the vocabulary that all front ends share:
//!
//! ```
//! use copilot_wire::protocol::{AgentError, Citation, Conversation, Protocol};
//! use copilot_wire::{Agent, Reply, Request, async_trait};
//!
//! struct Librarian;
//!
//! #[async_trait]
//! impl<P: Protocol> Agent<P> for Librarian {
//!     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
//!         reply.status("Looking it up").await?;
//!         let prompt = request.prompt().unwrap_or_default();
//!         reply.text(&format!("There is a page on {prompt}.")).await?;
//!         reply.cite(Citation::new("The page").url("https://example.com/page")).await?;
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # One protocol
//!
//! An agent for one front end has all of it: the typed request, [`Reply::send`] for any event and
//! [`Reply::end`] for what ends a turn. A generic agent gets there with
//! [`Request::native`](agent::Request::native).
//!
//! # One event
//!
//! Everything on the wire is a server-sent event. [`sse`] writes and reads them:
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
//! # Ok::<(), copilot_wire::sse::DecodeError>(())
//! ```
//!
//! # Features
//!
//! | feature | what it adds | default |
//! |---|---|---|
//! | `openbb` `github` `openai` `meilisearch` | one protocol each | yes |
//! | `anthropic` | the protocol Anthropic Messages | |
//! | `responses` | the Responses protocol of OpenAI | |
//! | `ui_stream` | web pages with `useChat` of the AI SDK | |
//! | `ag_ui` | CopilotKit and other AG-UI apps | |
//! | `http-body` | [`Body`] as an `http_body::Body`, and `Router::handle_body` | |
//! | `tower` | [`Router`] as a `tower_service::Service` | |
//! | `tokio` | keep-alive and deadlines for uploads, from tokio's timer | |
//! | `tracing` | a span per turn, and how each turn ended, for [`tracing`](https://docs.rs/tracing) | |
//! | `playground` | `Router::playground`: a page that plays every front end, for local work | |
//! | `verify` | signatures of GitHub Copilot requests | |
//! | `testing` | front ends that are played, virtual time, scripted models; with `verify`, a signer | |
//!
//! # Floors
//!
//! | floor | module | what it is |
//! |---|---|---|
//! | 6 | `protocols` | the list of the protocols |
//! | 5 | `openbb`, `github`, `openai`, `responses`, `meilisearch`, `anthropic`, `ui_stream`, `ag_ui` | one module and one feature a protocol |
//! |   | `models` | how several of them are mounted, and the list of all models |
//! | 4 | [`router`], `testing` | one HTTP request in, one response out; tests; any protocol |
//! | 3 | [`agent`] | runs an agent and turns what it says into body frames |
//! | 2 | [`protocol`] | what a protocol must provide; the shared vocabulary |
//! | 1 | [`sse`], [`json`] | bytes only: no protocol, no clock, no I/O |
//!
//! # Cancel safety
//!
//! Dropping a [`Body`] drops its agent: that is how a client that leaves cancels the work, and what
//! servers do by themselves. Work that must go on is [detached](Body::detach).

#![cfg_attr(docsrs, feature(doc_cfg))]
// A build without every protocol leaves parts of the lower floors unused.
#![cfg_attr(
    not(all(
        feature = "openbb",
        feature = "github",
        feature = "openai",
        feature = "meilisearch",
        feature = "ui_stream"
    )),
    allow(dead_code, unused_imports, unused_macros, unused_mut, unused_variables)
)]

#[cfg(feature = "ag_ui")]
pub mod ag_ui;
pub mod agent;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(any(feature = "github", feature = "openai"))]
mod chat_stream;
#[cfg(feature = "github")]
pub mod github;
// Only documentation, and it speaks of everything: these features bring all the others.
#[cfg(all(
    any(doc, doctest),
    feature = "ag_ui",
    feature = "anthropic",
    feature = "meilisearch",
    feature = "openbb",
    feature = "responses",
    feature = "testing",
    feature = "tokio",
    feature = "tower",
    feature = "ui_stream",
    feature = "verify",
))]
#[cfg_attr(docsrs, doc(auto_cfg = false))]
pub mod guide;
pub mod json;
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
pub mod protocol;
#[cfg(any(
    feature = "playground",
    feature = "testing",
    all(feature = "anthropic", feature = "openai", feature = "responses"),
))]
pub mod protocols;
#[cfg(feature = "responses")]
pub mod responses;
pub mod router;
pub mod sse;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "ui_stream")]
pub mod ui_stream;

pub use agent::{Agent, Body, Reply, Request, agent_fn};
pub use async_trait::async_trait;
pub use protocol::Protocol;
pub use router::Router;

/// The examples of the README compile.
#[cfg(all(doctest, feature = "openai", feature = "openbb"))]
#[doc = include_str!("../README.md")]
struct Readme;
