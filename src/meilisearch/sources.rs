//! The documents that a search found.

use crate::json::{Json, Kind, Members};
use crate::protocol::EventError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::quote::Quoted;

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

    pub(super) fn read(json: &Json) -> Option<Self> {
        let mut sources = Self::default();
        let mut documents = None;
        let mut reader = json.reader();
        let read = reader.object_keeping(&mut sources.unknown, |reader, key| {
            match &*key {
                "call_id" => {
                    if let Some(id) = reader.string()? {
                        sources.call_id = id.into_owned();
                    }
                }
                // The documentation's name for it; no server sends it.
                "sources" | "documents"
                    if documents.is_none()
                        && (reader.is(Kind::Array) || reader.is(Kind::Object)) =>
                {
                    documents = Some(reader.value()?);
                }
                _ => {}
            }
            Ok(())
        });
        sources.documents = documents?;
        read.is_ok().then_some(sources)
    }

    pub(super) fn write(&self, arguments: &mut Quoted<'_>) {
        arguments
            .raw(r#"{"call_id":"#)
            .str(&self.call_id)
            .raw(r#","sources":"#)
            .json(&self.documents)
            .members(&self.unknown)
            .raw("}");
    }
}
