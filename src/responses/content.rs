//! Contents of messages and outputs of calls: a text or parts.

use std::borrow::Cow;
use std::fmt;

use crate::json::wire::json_api;
use crate::json::{Json, JsonError, List, Members, Reader, ValueWriter, Wire};
use crate::protocol::redacted::Size;

/// The content of a message, or the output of a call.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A list of texts, images and files.
    Parts(List<ContentPart>),
    /// No content.
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
            Self::Null => return Cow::Borrowed(""),
        };
        let mut texts = parts.iter().filter_map(ContentPart::said);
        let mut all = Cow::Borrowed(texts.next().unwrap_or_default());
        for text in texts {
            let all = all.to_mut();
            all.push('\n');
            all.push_str(text);
        }
        all
    }

    /// Returns the parts; none if the content is plain text.
    #[must_use]
    pub fn parts(&self) -> &[ContentPart] {
        match self {
            Self::Parts(parts) => parts,
            _ => &[],
        }
    }
}

json_api!(Content);

impl Wire for Content {
    const EXPECTED: &'static str = "content";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if let Some(text) = reader.string()? {
            return Ok(Some(Self::Text(text.into_owned())));
        }
        Ok(List::read_from(reader)?.map(Self::Parts))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Parts(parts) => parts.write_to(to),
            // A value that is not written becomes `null`.
            Self::Null => {}
        }
    }

    fn is_absent(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// Prints only the length of a text.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(&Size::of(text)).finish(),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
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

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts.into())
    }
}

/// A part of a message, of a call's output or of a reasoning summary.
///
/// The members of images and files are in `unknown`, as slices of the request: they are not copied.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct ContentPart {
    /// The kind: `input_text`, `output_text`, `summary_text`, `refusal`, `input_image`, `input_file`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The text, if the part has one.
    pub text: Option<String>,
    /// The refusal, if the part is one.
    pub refusal: Option<String>,
    /// The citations of an `output_text`.
    pub annotations: Option<List<Annotation>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ContentPart {
    /// Creates a text of the user.
    #[must_use]
    pub fn input_text(text: impl Into<String>) -> Self {
        Self::new("input_text", text)
    }

    /// Creates a text of the assistant.
    #[must_use]
    pub fn output_text(text: impl Into<String>) -> Self {
        Self {
            // The schema requires the member, also without citations.
            annotations: Some(List::new()),
            ..Self::new("output_text", text)
        }
    }

    /// Creates an image of the user from its URL, which may be a `data:` URL.
    #[must_use]
    pub fn input_image(url: &str) -> Self {
        let mut unknown = Members::new();
        // Serializing a string cannot fail.
        unknown.push("image_url", Json::encode(url).unwrap_or_default());
        Self {
            kind: "input_image".into(),
            unknown,
            ..Self::default()
        }
    }

    pub(super) fn new(kind: &str, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// Returns the text or the refusal.
    #[must_use]
    pub fn said(&self) -> Option<&str> {
        self.text.as_deref().or(self.refusal.as_deref())
    }
}

/// Prints only the lengths of texts.
impl fmt::Debug for ContentPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentPart")
            .field("kind", &self.kind)
            .field("said", &self.said().map(Size::of))
            .field("annotations", &self.annotations)
            .field("unknown", &self.unknown)
            .finish()
    }
}

/// A citation in a text.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Annotation {
    /// The kind, such as `url_citation`. The members of others are in `unknown`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The start of the cited text, in characters of its part.
    pub start_index: Option<u64>,
    /// The end of the cited text.
    pub end_index: Option<u64>,
    /// The URL of the source.
    #[wire(content)]
    pub url: Option<String>,
    /// The title of the source.
    #[wire(content)]
    pub title: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Annotation {
    /// Creates a citation of a web page.
    #[must_use]
    pub fn url_citation(url: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            kind: "url_citation".into(),
            url: Some(url.into()),
            title: Some(title.into()),
            ..Self::default()
        }
    }
}
