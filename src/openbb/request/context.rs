//! The context of a request.

use crate::json::{Json, List, Members, Wire};
use crate::openbb::result::{ResultItem, items_of};

/// The context that the user attached to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttachedContext {
    /// One text (requests up to July 2024).
    Text(String),
    /// Entries: artifacts that the agent made in this chat, selected rows, and until January 2025
    /// widgets.
    Entries(List<ContextEntry>),
}

impl AttachedContext {
    /// Returns the entries; none if the context is one text.
    pub fn entries(&self) -> impl Iterator<Item = &ContextEntry> + Send {
        let entries = match self {
            Self::Text(_) => None,
            Self::Entries(entries) => Some(entries.iter()),
        };
        entries.into_iter().flatten()
    }

    /// Returns the text if the context is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Entries(_) => None,
        }
    }
}

two_forms!(AttachedContext: Entries, Text(String));

/// One entry of the context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty)]
pub struct ContextEntry {
    /// The id. For an artifact it is the id that the agent sent it with.
    pub uuid: String,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// Metadata in any form.
    pub metadata: Option<Json>,
    /// The content (2024). Use [`items`](Self::items).
    pub content: Option<Json>,
    /// The content and its metadata. Use [`items`](Self::items).
    pub data: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl ContextEntry {
    /// Returns the content in the form of any era: `data.items`, `data.content` or `content`.
    pub fn items(&self) -> Vec<ResultItem> {
        if let Some(data) = &self.data {
            return items_of(data);
        }
        let content = self.content.as_ref().filter(|content| !content.is_null());
        content.cloned().map(ResultItem::of).into_iter().collect()
    }
}
