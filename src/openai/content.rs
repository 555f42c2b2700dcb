//! Contents of messages: a text, parts, or none.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::wire::json_api;
use crate::json::{Json, JsonError, Kind, Reader, ValueWriter, Wire};
use crate::protocol::redacted::Size;

/// The content of a message.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A list of texts, images, files and sounds.
    Parts(Vec<Part>),
    /// A value of another type, as some clients send it: a part without a list, or a number.
    Other(Json),
    /// No content: a message that calls tools or refuses.
    #[default]
    Null,
}

impl Content {
    /// Returns the text. The texts of parts are joined with line breaks; other parts are skipped.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let parts = match self {
            Self::Text(text) => return Cow::Borrowed(text),
            Self::Parts(parts) => parts,
            Self::Other(json) if json.kind() == Kind::Object => {
                return Part(json.clone())
                    .text()
                    .unwrap_or_default()
                    .into_owned()
                    .into();
            }
            // As its JSON: some clients send a number where they mean a text.
            Self::Other(json) => return Cow::Borrowed(json.text()),
            Self::Null => return Cow::Borrowed(""),
        };
        let mut texts = parts.iter().filter_map(Part::text);
        let mut all = texts.next().unwrap_or_default();
        for text in texts {
            let all = all.to_mut();
            all.push('\n');
            all.push_str(&text);
        }
        all
    }

    /// Returns `true` if there is no content.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

json_api!(Content);

impl Wire for Content {
    const EXPECTED: &'static str = "content";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if let Some(text) = reader.string()? {
            return Ok(Some(Self::Text(text.into_owned())));
        }
        let value = reader.value()?;
        Ok(Some(match value.kind() {
            Kind::Null => Self::Null,
            Kind::Array => Self::Parts(value.elements().map(Part).collect()),
            _ => Self::Other(value),
        }))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Parts(parts) => {
                // Serializing raw values cannot fail.
                let _ = to.array(parts, |part, to| {
                    to.raw(&part.0);
                    Ok(())
                });
            }
            Self::Other(json) => to.raw(json),
            // A value that is not written becomes `null`.
            Self::Null => {}
        }
    }
}

/// Prints only the length of the content.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(&Size::of(text)).finish(),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
            Self::Other(json) => f.debug_tuple("Other").field(json).finish(),
            Self::Null => f.write_str("Null"),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Part>> for Content {
    fn from(parts: Vec<Part>) -> Self {
        Self::Parts(parts)
    }
}

/// A part of a message, of any kind. It is a slice of the request, so an image is not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Part(Json);

impl Part {
    /// Creates a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        #[derive(Serialize)]
        struct Text<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        let text = Text {
            r#type: "text",
            text,
        };
        // Serializing two strings cannot fail.
        Self(Json::encode(&text).unwrap_or_default())
    }

    /// Creates an image from its URL, which may be a `data:` URL.
    #[must_use]
    pub fn image(url: &str) -> Self {
        #[derive(Serialize)]
        struct Image<'a> {
            r#type: &'static str,
            image_url: Url<'a>,
        }
        #[derive(Serialize)]
        struct Url<'a> {
            url: &'a str,
        }
        let image = Image {
            r#type: "image_url",
            image_url: Url { url },
        };
        // Serializing two strings cannot fail.
        Self(Json::encode(&image).unwrap_or_default())
    }

    /// Creates a part of any kind.
    #[must_use]
    pub fn raw(part: Json) -> Self {
        Self(part)
    }

    /// Returns the kind, such as `text`, `image_url` or `file`.
    #[must_use]
    pub fn kind(&self) -> Option<String> {
        Some(self.0.get("type")?.string()?.into_owned())
    }

    /// Returns the text of a text or a refusal.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        let member = match self.kind()?.as_str() {
            "text" | "input_text" | "output_text" => "text",
            "refusal" => "refusal",
            _ => return None,
        };
        Some(Cow::Owned(self.0.get(member)?.string()?.into_owned()))
    }

    /// Returns the part as JSON, unchanged.
    #[must_use]
    pub fn json(&self) -> &Json {
        &self.0
    }
}
