//! How an index is presented to the model.

use bytes::Bytes;

use crate::json::model::model;
use crate::json::{Escape, Json, Members, ObjectWriter};

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

model!(IndexSettings, null: absent, escape: Json {
    description: "description",
    document_template: "documentTemplate",
    document_template_max_bytes: "documentTemplateMaxBytes",
    search_parameters: "searchParameters",
});

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
    pub fn to_json(&self) -> Bytes {
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
        out.into()
    }
}
