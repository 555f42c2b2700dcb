//! Notifications with the documents of a search.

use crate::json::{Json, Kind, Members, Wire};
use crate::protocol::EventError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `_meiliSearchSources`: the documents that a search found, as stored, in rank order, with the
/// displayed attributes only.
///
/// It is empty if the search found nothing, or if its filter was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json)]
pub struct Sources {
    /// The id of the notification, unrelated to `call_id`. An empty one is replaced by a random
    /// one.
    #[wire(skip)]
    pub id: String,
    /// The id of the search.
    #[wire(always)]
    pub call_id: String,
    /// The documents, unchanged: an array of objects.
    #[wire(name = "sources", always)]
    pub documents: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Sources {
    /// Creates a notification with documents, which serialize to an array of objects.
    ///
    /// # Errors
    ///
    /// If the documents cannot be serialized.
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

    /// Returns an iterator over the documents as raw JSON, as slices of the same bytes.
    ///
    /// A single object instead of the array, as in the documentation of 2025, is one document.
    pub fn iter(&self) -> impl Iterator<Item = Json> {
        let one = (self.documents.kind() == Kind::Object).then(|| self.documents.clone());
        one.into_iter().chain(self.documents.elements())
    }

    /// Deserializes the documents.
    ///
    /// # Errors
    ///
    /// If a document does not match the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Vec<T>, EventError> {
        self.iter()
            .map(|document| document.decode().map_err(EventError::Data))
            .collect()
    }

    /// Reads the arguments of the notification.
    pub(super) fn read(json: &Json) -> Option<Self> {
        let mut sources = Self::from_raw(json)?;
        if sources.documents.is_null() {
            // The name in the documentation; no server sends it.
            let documents = sources.unknown.get("documents")?;
            sources.documents = documents.clone();
            sources.unknown.retain(|key| key != "documents");
        }
        // One object is the form of the documentation of 2025.
        let is_list = |kind| matches!(kind, Kind::Array | Kind::Object);
        is_list(sources.documents.kind()).then_some(sources)
    }
}
