//! The query request, in the forms of all eras.

mod context;
mod conversation;
mod documents;
mod options;
mod query;
mod tool_names;
mod widget_tools;

pub use context::{AttachedContext, ContextEntry};
pub use documents::{ApiKeys, AttachedDocument, UploadedFile};
pub use options::{OptionValue, Options};
pub use query::{Delegation, QueryRequest};

pub(super) use widget_tools::widget_tools;
