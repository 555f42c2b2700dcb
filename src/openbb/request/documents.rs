//! Files and keys in a request.

use crate::json::{Members, Wire};
use crate::openbb::{Secret, Url};
use crate::vocabulary::base64;

/// The user's own API keys. `Debug` does not print them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct ApiKeys {
    /// The key for OpenAI.
    pub openai_api_key: Option<Secret>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// A file, inline or by URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty)]
pub struct AttachedDocument {
    /// The id.
    pub id: String,
    /// The file's name.
    pub name: String,
    /// `pdf`, `docx`, `txt`, `md` or `html`.
    pub format: String,
    /// The file in base64.
    pub content_b64: String,
    /// The URL of the file.
    pub url: Url,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl AttachedDocument {
    /// Creates an inline file, for clients. Its format is what follows the last dot of its name.
    pub fn new(id: impl Into<String>, name: impl Into<String>, bytes: &[u8]) -> Self {
        let name = name.into();
        let format = name.rsplit_once('.').map_or("txt", |(_, format)| format);
        Self {
            id: id.into(),
            format: format.to_ascii_lowercase(),
            content_b64: base64::encode(bytes),
            name,
            ..Self::default()
        }
    }

    /// Decodes the inline file; `None` if there is none or it is not base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        inline(&self.content_b64)
    }
}

/// A file in the form that a third-party server sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty)]
pub struct UploadedFile {
    /// The file's name.
    pub name: String,
    /// The file's media type.
    pub mime: String,
    /// The file in base64.
    pub data_base64: String,
    /// The URL of the file.
    pub url: Url,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl UploadedFile {
    /// Decodes the inline file; `None` if there is none or it is not base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        inline(&self.data_base64)
    }
}

fn inline(text: &str) -> Option<Vec<u8>> {
    (!text.is_empty()).then(|| base64::decode(text)).flatten()
}
