//! The content of a message.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Attachment;
use super::contents::{Contents, join};
use super::redacted::Size;
use crate::json::{Json, JsonError, Kind, List, Reader, ValueWriter, Wire, wire};

/// The content of a message: one text, a list of parts, or nothing.
///
/// A value of another type is retained and written unchanged. `Debug` prints only the length of a text.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content<P> {
    /// One text.
    Text(String),
    /// Parts in order, such as texts, images and files.
    Parts(List<P>),
    /// A value of another type, as some clients send it: a part without a list, or a number.
    Other(Json),
    /// No content.
    #[default]
    Null,
}

/// A part of a [`Content`].
pub trait ContentPart: Wire {
    /// Returns the text of the part if it belongs to the text of the message. `None` for images, files and the like.
    fn said(&self) -> Option<Cow<'_, str>>;
}

impl<P: ContentPart> Content<P> {
    /// Returns the text of the content. The texts of parts are joined with line breaks, and other parts are skipped. A
    /// part without a list is read as a part, and any other value is JSON as text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => join(parts.iter().filter_map(P::said)),
            Self::Other(json) => Contents::read(json).text_and_files().0,
            Self::Null => Cow::Borrowed(""),
        }
    }

    /// Returns the texts and the files of the content. `file` reads a file for which the part has members of its own.
    #[allow(dead_code, reason = "not every protocol has parts")]
    pub(crate) fn contents<'a>(
        &'a self,
        file: impl Fn(&'a P) -> Option<Attachment<'a>>,
    ) -> Contents<'a> {
        let mut contents = Contents::default();
        match self {
            Self::Text(text) => contents.add_text(text.as_str()),
            Self::Parts(parts) => {
                for part in parts {
                    if let Some(said) = part.said() {
                        contents.add_text(said);
                    } else if let Some(file) = file(part) {
                        contents.add_file(file);
                    } else {
                        contents.add_part(&part.to_raw());
                        continue;
                    }
                    contents.add_odd(part, &[]);
                }
                for part in parts.invalid() {
                    contents.add_part(part);
                }
            }
            Self::Other(json) => contents = Contents::read(json),
            Self::Null => {}
        }
        contents
    }
}

impl<P> Content<P> {
    /// Returns the parts. Empty if the content is one text.
    pub fn parts(&self) -> &[P] {
        match self {
            Self::Parts(parts) => parts,
            _ => &[],
        }
    }

    /// Returns `true` if there is no content.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

impl<P: Wire> Wire for Content<P> {
    const EXPECTED: &'static str = "content";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if let Some(text) = reader.string()? {
            return Ok(Some(Self::Text(text.into_owned())));
        }
        if reader.is(Kind::Array) {
            return Ok(List::read_from(reader)?.map(Self::Parts));
        }
        Ok(Some(match reader.value()? {
            value if value.is_null() => Self::Null,
            value => Self::Other(value),
        }))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Parts(parts) => parts.write_to(to),
            Self::Other(json) => to.raw(json),
            // A `ValueWriter` that is dropped unused writes `null`.
            Self::Null => {}
        }
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        match self {
            Self::Text(text) => each(text),
            Self::Parts(parts) => parts.each_string(each),
            Self::Other(json) => json.each_string(each),
            Self::Null => {}
        }
    }

    fn is_absent(&self) -> bool {
        self.is_null()
    }

    fn drop_odd(&mut self) {
        if let Self::Parts(parts) = self {
            parts.drop_odd();
        }
    }
}

impl<P: Wire> Serialize for Content<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire::serialize(self, serializer)
    }
}

impl<'de, P: Wire> Deserialize<'de> for Content<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::deserialize(deserializer)
    }
}

impl<P: fmt::Debug> fmt::Debug for Content<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(&Size::of(text)).finish(),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
            Self::Other(json) => f.debug_tuple("Other").field(json).finish(),
            Self::Null => f.write_str("Null"),
        }
    }
}

impl<P> From<&str> for Content<P> {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<P> From<String> for Content<P> {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<P> From<Cow<'_, str>> for Content<P> {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Text(text.into_owned())
    }
}

impl<P> From<Vec<P>> for Content<P> {
    fn from(parts: Vec<P>) -> Self {
        Self::Parts(parts.into())
    }
}
