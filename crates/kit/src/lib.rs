//! Tools for the tests of agents: emulated front ends, virtual time, scripted models, and a
//! conformance kit for endpoints.
//!
//! [`Harness`] runs an agent and a [`FrontEnd`] in process. The front end writes its requests
//! and reads the answers as the real one does; each turn returns a
//! [`Transcript`].
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
//! Each protocol's front end is in the module of the protocol. [`Toolkit`] is the trait that a
//! protocol implements for this module and the tools built on it; [`kit`] turns it into a value.
//!
//! [`check`] checks an endpoint in any language over HTTP, or a router in process.

#[cfg(feature = "ag_ui")]
pub mod ag_ui;
#[cfg(feature = "anthropic")]
pub mod anthropic;
#[cfg(any(feature = "github", feature = "openai"))]
mod chat_stream;
pub mod check;
#[cfg(feature = "github")]
pub mod github;
#[cfg(feature = "meilisearch")]
pub mod meilisearch;
#[cfg(feature = "openai")]
pub mod openai;
#[cfg(feature = "openbb")]
pub mod openbb;
#[cfg(feature = "responses")]
pub mod responses;
#[cfg(feature = "ui_stream")]
pub mod ui_stream;
mod clock;
mod effect;
mod frames;
mod front_end;
mod harness;
mod kit;
mod node;
mod protocols;
mod reader;
#[cfg(feature = "resumable")]
mod reply_store;
mod script;
mod setup;
mod signer;
mod transcript;

pub use clock::Clock;
pub use effect::Effect;
pub(crate) use front_end::typed_answer;
pub use front_end::{Answer, AnyFrontEnd, CONVERSATION, EventOf, FrontEnd, Next, post, question};
pub use harness::{Harness, HarnessError};
pub use kit::{BoxError, Kit, Sample, Toolkit, kit};
pub use node::Node;
pub use protocols::{Visit, kits, visit};
pub use reader::{EventReader, Summary};
#[cfg(feature = "resumable")]
pub use reply_store::{check_dead_server, check_reply_store};
pub use script::{RecordedRequest, Script, Step};
pub use setup::{Find, Setup};
pub use signer::{Keys, Signer};
pub use transcript::Transcript;
