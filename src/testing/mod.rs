//! For the tests of agents: front ends that are played, virtual time, scripted models, and a kit
//! that judges whole endpoints.
//!
//! [`Stage`] puts an agent and a [`FrontEnd`] together in process. The front end writes its requests
//! as the real one does and reads the answer as the real one does; each turn comes back as a
//! [`Transcript`].
//!
//! | front end | what it plays |
//! |---|---|
#![cfg_attr(
    feature = "openbb",
    doc = "| [`Workspace`] | the OpenBB Workspace, with widgets on a dashboard |"
)]
#![cfg_attr(
    feature = "github",
    doc = "| [`CopilotChat`] | the GitHub Copilot platform, with references and confirmations |"
)]
#![cfg_attr(
    feature = "openai",
    doc = "| [`OpenAiClient`] | a program with an OpenAI library, with tools |"
)]
#![cfg_attr(
    feature = "meilisearch",
    doc = "| [`SearchChat`] | a chat client of Meilisearch |"
)]
//!
//! [`check`] judges an endpoint of any language over HTTP, or a router in process.

pub mod check;
mod clock;
mod frames;
mod front_end;
mod script;
mod stage;
mod transcript;

pub use clock::Clock;
#[cfg(feature = "github")]
pub use front_end::CopilotChat;
#[cfg(feature = "openai")]
pub use front_end::OpenAiClient;
#[cfg(feature = "meilisearch")]
pub use front_end::SearchChat;
#[cfg(feature = "openbb")]
pub use front_end::Workspace;
pub use front_end::{Answer, EventOf, FrontEnd, Heard, Next};
pub use script::{Asked, Script, Step};
pub use stage::{Stage, StageError};
pub use transcript::Transcript;
