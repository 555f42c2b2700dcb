//! The presentation of an index to the model.

use bytes::Bytes;

use crate::json::{Escape, Json, Members, ObjectWriter, Wire};

use super::Setting;

/// The presentation of an index to the model, as the server returns it. It is optional: the model
/// can search every index that the key may read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", null_is_absent, escape = Json)]
pub struct IndexSettings {
    /// A description of the index.
    pub description: Option<String>,
    /// A Liquid template of a document for the model. It can use attributes that are not displayed.
    pub document_template: Option<String>,
    /// The maximum size in bytes of a rendered document.
    pub document_template_max_bytes: Option<u64>,
    /// The search parameters: an object with members such as `limit` and `hybrid`.
    pub search_parameters: Option<Json>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// A change of the presentation of an index to the model. The server applies it in a task and
/// answers with status 202.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexChange {
    /// A description of the index.
    pub description: Setting<String>,
    /// A Liquid template of a document for the model.
    pub document_template: Setting<String>,
    /// The maximum size in bytes of a rendered document.
    pub document_template_max_bytes: Setting<u64>,
    /// The search parameters: an object.
    pub search_parameters: Setting<Json>,
}

impl IndexChange {
    /// Returns the body of the request.
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
