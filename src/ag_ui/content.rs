//! The content of a message: text or parts.

use std::borrow::Cow;

use crate::json::{Json, JsonError, Members, Reader, Wire};
use crate::protocol::{self, Attachment, AttachmentContent, AttachmentKind, ContentPart};

/// The content of a message, see [`protocol::Content`].
pub type Content = protocol::Content<InputContent>;

/// Reads a text or a list of parts: clients fail if a result is of another type.
pub(super) fn text_or_parts(reader: &mut Reader<'_>) -> Result<Option<Content>, JsonError> {
    let content = Content::read_from(reader)?;
    Ok(content.filter(|it| matches!(it, Content::Text(_) | Content::Parts(_))))
}

impl ContentPart for InputContent {
    fn said(&self) -> Option<Cow<'_, str>> {
        let text = self.text.as_deref().filter(|_| self.kind == "text");
        text.map(Cow::Borrowed)
    }
}

/// One part of a message: a text or a file.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", also_snake_case)]
pub struct InputContent {
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
    /// Metadata, or `null`. Apps store the name of a file in it.
    pub metadata: Json,
    /// Members that this crate does not know.
    pub unknown: Members,
}

/// The source of a file.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase", also_snake_case)]
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

impl InputContent {
    pub(super) fn attachment(&self) -> Option<Attachment<'_>> {
        let (file, media_type) = match (self.kind.as_str(), &self.source) {
            ("image" | "audio" | "video" | "document", Some(source)) => {
                (source.attachment()?, &source.mime_type)
            }
            ("binary", _) => {
                let data = self.data.as_deref().map(Cow::Borrowed);
                let id = || Some(AttachmentContent::Id(self.id.as_deref()?.into()));
                let file = match (data, self.url.as_deref()) {
                    // Inline content has precedence, because it needs no access to the app's storage.
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
        let file = match self.kind.as_str() {
            "image" => file.declared(AttachmentKind::Image),
            "audio" => file.declared(AttachmentKind::Audio),
            "video" => file.declared(AttachmentKind::Video),
            "document" => file.declared(AttachmentKind::Document),
            _ => file,
        };
        // Only `binary` parts have a member for the file name.
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
