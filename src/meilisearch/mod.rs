//! The Meilisearch chat protocol.

mod api_error;
mod api_key;
mod append;
mod calls;
mod chunk;
mod decoder;
mod event;
mod failure;
mod history;
mod index;
mod instance;
mod message;
mod outcome;
mod progress;
mod protocol;
mod quote;
mod request;
mod session;
mod setting;
mod sources;
mod tools;
mod workspace;

pub use crate::openai::FinishReason;
pub use api_error::ApiError;
pub use api_key::{ApiKey, InvalidKey};
pub use append::Append;
pub use decoder::Decoder;
pub use event::{Ending, Event, Say, Unknown};
pub use failure::{Failure, SearchFailure};
pub use history::History;
pub use index::{IndexChange, IndexSettings};
pub use instance::{Instance, InvalidAddress};
pub use message::{Call, Message};
pub use outcome::Outcome;
pub use progress::{Progress, Search};
pub use protocol::Meilisearch;
pub use request::ChatRequest;
pub use session::Session;
pub use setting::Setting;
pub use sources::Sources;
pub use tools::Tools;
pub use workspace::{
    Prompts, PromptsChange, Source, WorkspaceChange, WorkspaceSettings, Workspaces,
};
