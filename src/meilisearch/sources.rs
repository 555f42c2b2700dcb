//! The documents that a search found.

use crate::json::model::{Field as _, model};
use crate::json::{Json, Kind, Members};
use crate::protocol::EventError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `_meiliSearchSources`: the documents that a search found, as stored, in rank order and with the
/// displayed attributes only.
///
/// No documents: the search ran and found nothing, or its filter was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sources {
    /// The id of the notification itself, unrelated to `call_id`. One is made for an empty one.
    pub id: String,
    /// The search that found them.
    pub call_id: String,
    /// The documents as they came: an array of objects.
    pub documents: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Sources {
    /// The documents that a search found; they serialise to an array of objects.
    ///
    /// # Errors
    ///
    /// When they do not serialise.
    pub fn new<T: Serialize + ?Sized>(
        call_id: impl Into<String>,
        documents: &T,
    ) -> Result<Self, crate::json::WriteError> {
        Ok(Self {
            call_id: call_id.into(),
            documents: Json::encode(documents)?,
            ..Self::default()
        })
    }

    /// The documents one by one, as raw JSON: slices of the same bytes.
    ///
    /// One object in the place of the array, which the documentation of 2025 describes, is one
    /// document.
    pub fn iter(&self) -> impl Iterator<Item = Json> {
        let one = (self.documents.kind() == Kind::Object).then(|| self.documents.clone());
        one.into_iter().chain(self.documents.elements())
    }

    /// The documents as a type of their own.
    ///
    /// # Errors
    ///
    /// When one of them has another shape.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Vec<T>, EventError> {
        self.iter()
            .map(|document| document.decode().map_err(EventError::Data))
            .collect()
    }

    /// Reads the arguments of the notification.
    pub(super) fn read(json: &Json) -> Option<Self> {
        let mut sources = Self::from_raw(json)?;
        if sources.documents.is_null() {
            // The documentation's name for it; no server sends it.
            let documents = sources.unknown.get("documents")?;
            sources.documents = documents.clone();
            sources.unknown.retain(|key| key != "documents");
        }
        let is_list = |kind| matches!(kind, Kind::Array | Kind::Object);
        is_list(sources.documents.kind()).then_some(sources)
    }
}

model!(Sources, escape: Json {
    call_id: "call_id" always,
    documents: "sources" always,
});
