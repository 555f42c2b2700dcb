//! The content of a message: text or parts.

use std::borrow::Cow;
use std::fmt;

use crate::json::wire::json_api;
use crate::json::{Json, JsonError, Kind, List, Members, Reader, ValueWriter, Wire};
use crate::protocol::redacted::Size;
use crate::protocol::{Attachment, AttachmentContent};

/// The content of a message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Texts and files in a row.
    Parts(List<Part>),
}

impl Content {
    /// Returns the text; that of parts is joined with line breaks.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let parts = match self {
            Self::Text(text) => return Cow::Borrowed(text),
            Self::Parts(parts) => parts,
        };
        let mut texts = parts.iter().filter_map(Part::text);
        let first = Cow::Borrowed(texts.next().unwrap_or_default());
        texts.fold(first, |mut all, text| {
            all.to_mut().push('\n');
            all.to_mut().push_str(text);
            all
        })
    }

    /// Returns the files.
    pub fn attachments(&self) -> impl Iterator<Item = Attachment<'_>> {
        let parts = match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => &**parts,
        };
        parts.iter().filter_map(Part::attachment)
    }
}

json_api!(Content);

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Wire for Content {
    const EXPECTED: &'static str = "text or a list of parts";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if reader.is(Kind::Array) {
            return Ok(List::read_from(reader)?.map(Self::Parts));
        }
        Ok(String::read_from(reader)?.map(Self::Text))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Parts(parts) => parts.write_to(to),
        }
    }

    fn drop_odd(&mut self) {
        if let Self::Parts(parts) = self {
            parts.drop_odd();
        }
    }
}

/// Shows the length of the content, never the content.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(&Size::of(text)).finish(),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
        }
    }
}

impl<T: Into<String>> From<T> for Content {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// One part of a message: a text or a file.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct Part {
    /// The type: `text`, `image`, `audio`, `video` or `document`; in 0.0.x also `binary`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The text of a `text` part.
    #[wire(content)]
    pub text: Option<String>,
    /// The source of the file.
    pub source: Option<Source>,
    /// The media type of a `binary` part.
    pub mime_type: Option<String>,
    /// The content of a `binary` part, in base64.
    #[wire(content)]
    pub data: Option<String>,
    /// The address of a `binary` part.
    #[wire(content)]
    pub url: Option<String>,
    /// The id of a `binary` part.
    #[wire(secret)]
    pub id: Option<String>,
    /// The name of a `binary` part.
    pub filename: Option<String>,
    /// Metadata, or `null`. Apps put the name of a file there.
    pub metadata: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The source of a file.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct Source {
    /// The type: `data`, `url` or `file`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The content in base64, the address, or the provider's id of the file.
    #[wire(always, content)]
    pub value: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Part {
    fn text(&self) -> Option<&str> {
        self.text.as_deref().filter(|_| self.kind == "text")
    }

    fn attachment(&self) -> Option<Attachment<'_>> {
        let (file, media_type) = match (self.kind.as_str(), &self.source) {
            ("image" | "audio" | "video" | "document", Some(source)) => {
                (source.attachment()?, &source.mime_type)
            }
            ("binary", _) => {
                let data = self.data.as_deref().map(Cow::Borrowed);
                let id = || Some(AttachmentContent::Id(self.id.as_deref()?.into()));
                let file = match (data, self.url.as_deref()) {
                    // Inline content first: it needs no access to the app's storage.
                    (Some(data), _) => Attachment::new(AttachmentContent::Base64(data)),
                    (None, Some(url)) => Attachment::from_url(url.into()),
                    (None, None) => Attachment::new(id()?),
                };
                (file, &self.mime_type)
            }
            _ => return None,
        };
        let file = match media_type.as_deref() {
            Some(media_type) => file.media_type(media_type),
            None => file,
        };
        // Only `binary` parts have a member for the name.
        let noted = || Some(self.metadata.get("filename")?.string()?.into_owned().into());
        let name = self.filename.as_deref().map(Cow::Borrowed);
        Some(match name.or_else(noted) {
            Some(name) => file.name(name),
            None => file,
        })
    }
}

impl Source {
    fn attachment(&self) -> Option<Attachment<'_>> {
        let value = self.value.as_str();
        Some(match self.kind.as_str() {
            "data" => Attachment::new(AttachmentContent::Base64(value.into())),
            "url" => Attachment::from_url(value.into()),
            "file" => Attachment::new(AttachmentContent::Id(value.into())),
            _ => return None,
        })
    }
}
