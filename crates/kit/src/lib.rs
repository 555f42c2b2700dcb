//! Tests for chat agents and chat protocols of [`copilot_wire`]: emulated front ends, virtual time, scripted models,
//! and conformance rules for endpoints in any language.
//!
//! ```
//! use copilot_wire::protocol::{AgentError, Conversation, Protocol};
//! use copilot_wire_kit::{FrontEnd, Harness, HarnessError};
//! use copilot_wire::{Agent, Reply, Request, async_trait};
//!
//! struct Echo;
//!
//! #[async_trait]
//! impl<P: Protocol> Agent<P> for Echo {
//!     async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
//!         Ok(reply.text(request.prompt().unwrap_or_default()).await?)
//!     }
//! }
//!
//! // For the front end of any protocol.
//! async fn echoes(front_end: impl FrontEnd) -> Result<(), HarnessError> {
//!     let turn = Harness::new(front_end, Echo).prompt("Hello").await?;
//!     assert_eq!(turn.text(), "Hello");
//!     assert!(turn.faults().is_empty());
//!     Ok(())
//! }
//! ```
//!
//! # What is where
//!
//! | item | contents |
//! |---|---|
//! | [`Harness`], [`Transcript`], [`Effect`] | an agent and an emulated front end in process, and what the user saw |
//! | [`FrontEnd`] | an emulated front end, which writes requests and reads answers as the real one does |
//! | a module for each protocol | its front end, such as `openai::OpenAiClient` |
//! | [`Clock`], [`Script`] | virtual time, and an agent with fixed texts, failures and pauses |
//! | [`mod@check`] | the conformance kit: checks an endpoint over HTTP, a router in process, or a recorded stream |
//! | [`Toolkit`], [`kit()`], [`kits`] | the test tools of one protocol as a trait and as a value; those of every protocol |
//! | [`Signer`], [`Keys`] | requests that are signed with keys made for tests |
//! | [`check_conversation_store`], `check_reply_store` | the rules of stores of conversations, and of replies (feature `resumable`) |
//!
//! Each protocol has a feature of the same name as in [`copilot_wire`]. Nothing here is meant for production.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "ag_ui")]
pub mod ag_ui;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(any(feature = "ag_ui", feature = "openai", feature = "responses"))]
mod call;
#[cfg(any(feature = "github", feature = "openai"))]
mod chat_stream;
pub mod check;
mod clock;
mod effect;
mod frames;
mod front_end;
#[cfg(feature = "github")]
pub mod github;
mod harness;
#[allow(dead_code, reason = "only front ends use it")]
mod heard;
mod kit;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "meilisearch")]
pub mod meilisearch;
#[cfg(any(feature = "anthropic", feature = "openai", feature = "responses"))]
mod models;
mod node;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "openbb")]
pub mod openbb;
mod protocols;
mod race;
mod reader;
#[cfg(feature = "responses")]
pub mod responses;
mod script;
mod setup;
mod signer;
mod stores;
mod transcript;
#[cfg(feature = "ui_stream")]
pub mod ui_stream;
#[cfg(any(feature = "ag_ui", feature = "ui_stream"))]
mod vocabulary;

pub use clock::Clock;
pub use effect::Effect;
pub use front_end::{
    AnyFrontEnd, CONVERSATION, EventOf, FrontEnd, Next, ToolOutcome, post, question,
};
pub use harness::{Harness, HarnessError};
pub use kit::{BoxError, Kit, Sample, Toolkit, kit};
pub use node::Node;
pub use protocols::{Visit, kits};
pub use reader::{EventReader, Summary};
pub use script::{RecordedRequest, Script, Step};
pub use setup::{Find, Setup};
pub use signer::{Keys, Signer};
pub use stores::{check_conversation_store, check_user_limit};
#[cfg(feature = "resumable")]
pub use stores::{check_dead_server, check_reply_store};
pub use transcript::Transcript;
