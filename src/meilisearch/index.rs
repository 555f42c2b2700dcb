//! How an index is presented to the model.

use bytes::Bytes;

use crate::json::{Escape, Json, JsonError, Members, ObjectWriter, Reader};

use super::Setting;

/// How an index is presented to the model, as the server shows it. An index needs none of it to be
/// searched: every index that the key may read is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexSettings {
    /// What the index holds.
    pub description: Option<String>,
    /// What the model sees of a document, in Liquid. It may name attributes that are not displayed.
    pub document_template: Option<String>,
    /// How many bytes of it the model sees.
    pub document_template_max_bytes: Option<u64>,
    /// How the index is searched: an object of search parameters such as `limit` and `hybrid`.
    pub search_parameters: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl IndexSettings {
    /// Reads the body of a response.
    ///
    /// # Errors
    ///
    /// When it is not a JSON object.
    pub fn read(body: &Bytes) -> Result<Self, JsonError> {
        let mut settings = Self::default();
        let mut reader = Reader::new(body)?;
        reader.object_keeping(&mut settings.unknown, |reader, key| {
            match &*key {
                "description" => settings.description = reader.string()?.map(Into::into),
                "documentTemplate" => {
                    settings.document_template = reader.string()?.map(Into::into);
                }
                "documentTemplateMaxBytes" => {
                    settings.document_template_max_bytes = reader.u64()?;
                }
                "searchParameters" => settings.search_parameters = Some(reader.value()?),
                _ => {}
            }
            Ok(())
        })?;
        reader.end()?;
        Ok(settings)
    }
}

/// A change to how an index is presented to the model. The server does it in a task: its answer is
/// 202.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexChange {
    /// What the index holds.
    pub description: Setting<String>,
    /// What the model sees of a document, in Liquid.
    pub document_template: Setting<String>,
    /// How many bytes of it the model sees.
    pub document_template_max_bytes: Setting<u64>,
    /// How the index is searched: an object of search parameters.
    pub search_parameters: Setting<Json>,
}

impl IndexChange {
    /// The body of the request.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut body = ObjectWriter::new(&mut out, Escape::Json);
        self.description
            .write(&mut body, "description", |text, place| place.str(text));
        self.document_template
            .write(&mut body, "documentTemplate", |text, place| place.str(text));
        self.document_template_max_bytes.write(
            &mut body,
            "documentTemplateMaxBytes",
            |bytes, place| {
                place.u64(*bytes);
            },
        );
        self.search_parameters
            .write(&mut body, "searchParameters", |json, place| place.raw(json));
        body.finish();
        out
    }
}
