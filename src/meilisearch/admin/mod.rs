//! Administration of a Meilisearch server: workspaces and their settings, and the presentation of
//! indexes to the model.
//!
//! An [`Instance`](super::Instance) makes the requests; the types here are their bodies and the
//! bodies of the responses.

mod index;
mod requests;
mod setting;
mod workspace;

pub use index::{IndexChange, IndexSettings};
pub use setting::Setting;
pub use workspace::{
    Prompts, PromptsChange, Source, WorkspaceChange, WorkspaceEntry, WorkspaceSettings, Workspaces,
};
