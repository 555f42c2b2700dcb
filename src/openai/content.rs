//! Contents of messages: a text, parts, or none.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::json::{Json, JsonError, Reader, ValueWriter, Wire};
use crate::protocol::{self, ContentPart};

/// The content of a message. The type is [`protocol::Content`].
pub type Content = protocol::Content<Part>;

/// A part of a message, of any kind. It is a slice of the request, so an image is not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use]
pub struct Part(Json);

impl Part {
    /// Creates a text.
    pub fn new(text: &str) -> Self {
        Self(Json::object(|part| {
            part.str("type", "text").str("text", text);
        }))
    }

    /// Creates an image from its URL, which may be a `data:` URL.
    pub fn image(url: &str) -> Self {
        let image = Json::object(|image| {
            image.str("url", url);
        });
        Self(Json::object(|part| {
            part.str("type", "image_url").raw("image_url", &image);
        }))
    }

    /// Creates a part of any kind.
    pub fn raw(part: Json) -> Self {
        Self(part)
    }

    /// Returns the kind, such as `text`, `image_url` or `file`.
    pub fn kind(&self) -> Option<String> {
        Some(self.0.get("type")?.string()?.into_owned())
    }

    /// Returns the part as JSON, unchanged.
    pub fn json(&self) -> &Json {
        &self.0
    }
}

impl Wire for Part {
    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        reader.value().map(|json| Some(Self(json)))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        to.raw(&self.0);
    }
}

impl ContentPart for Part {
    /// Returns the text of a text or a refusal.
    fn said(&self) -> Option<Cow<'_, str>> {
        let member = match self.kind()?.as_str() {
            "text" | "input_text" | "output_text" => "text",
            "refusal" => "refusal",
            _ => return None,
        };
        Some(Cow::Owned(self.0.get(member)?.string()?.into_owned()))
    }
}
