//! Files and keys that come with a request.

use crate::json::Members;
use crate::json::model::model;
use crate::openbb::{Secret, Url, base64};

/// Keys of the user's own. `Debug` never shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiKeys {
    /// A key for OpenAI.
    pub openai_api_key: Option<Secret>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(ApiKeys {
    openai_api_key: "openai_api_key"
});

/// A file, inline or by URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttachedDocument {
    /// Its id.
    pub id: String,
    /// The file's name.
    pub name: String,
    /// `pdf`, `docx`, `txt`, `md` or `html`.
    pub format: String,
    /// The file in base64.
    pub content_b64: String,
    /// Where the file is.
    pub url: Url,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(AttachedDocument {
    id: "id",
    name: "name",
    format: "format",
    content_b64: "content_b64",
    url: "url",
});

impl AttachedDocument {
    /// The inline file.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        inline(&self.content_b64)
    }
}

/// A file, in the form of a third-party server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadedFile {
    /// The file's name.
    pub name: String,
    /// The file's media type.
    pub mime: String,
    /// The file in base64.
    pub data_base64: String,
    /// Where the file is.
    pub url: Url,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

model!(UploadedFile {
    name: "name",
    mime: "mime",
    data_base64: "data_base64",
    url: "url"
});

impl UploadedFile {
    /// The inline file.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        inline(&self.data_base64)
    }
}

fn inline(text: &str) -> Option<Vec<u8>> {
    (!text.is_empty()).then(|| base64::decode(text)).flatten()
}
