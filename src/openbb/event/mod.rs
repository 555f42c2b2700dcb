//! The events of a reply.

mod artifact;
mod chart;
mod citation;
mod details;
mod more;
mod names;
mod output;
mod raw;
mod status;

pub use artifact::{Artifact, ArtifactType, QueryDataSource};
pub use chart::{ChartParams, ChartType};
pub use citation::{BoundingBox, Citation, CitationCollection, SourceInfo};
pub use more::{ConversationSummary, PromptSuggestions, TokenCount, TokenUsage};
pub use output::{Event, Output};
pub use raw::RawEvent;
pub use status::{EventType, StatusUpdate};

pub(super) use chart::no_axes;
pub(super) use names::Names;
pub(super) use output::{CHUNK, write_event};
pub(super) use raw::CALL;
