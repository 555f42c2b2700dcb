//! Contents of messages and outputs of calls: a text or parts.

use std::borrow::Cow;

use crate::json::{Json, List, Members, Wire};
use crate::protocol;

/// The content of a message, or the output of a call. The type is [`protocol::Content`].
pub type Content = protocol::Content<ContentPart>;

/// A part of a message, of a call's output or of a reasoning summary.
///
/// The members of images and files are in `unknown`, as slices of the request: they are not copied.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, null_is_absent)]
#[must_use]
pub struct ContentPart {
    /// The kind: `input_text`, `output_text`, `summary_text`, `refusal`, `input_image`, `input_file`.
    #[wire(name = "type")]
    pub kind: String,
    /// The text, if the part has one.
    #[wire(content)]
    pub text: Option<String>,
    /// The refusal, if the part is one.
    #[wire(content)]
    pub refusal: Option<String>,
    /// The citations of an `output_text`.
    pub annotations: Option<List<Annotation>>,
    /// The log probabilities of the tokens of an `output_text`.
    pub logprobs: Option<List<Json>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ContentPart {
    /// Creates a text of the user.
    pub fn input_text(text: impl Into<String>) -> Self {
        Self::new("input_text", text)
    }

    /// Creates a text of the assistant.
    pub fn output_text(text: impl Into<String>) -> Self {
        Self {
            // The schema requires the member even if there are no citations.
            annotations: Some(List::new()),
            ..Self::new("output_text", text)
        }
    }

    /// Creates an image of the user from its URL, which may be a `data:` URL.
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

    /// Creates a refusal of the assistant.
    pub fn refusal(text: impl Into<String>) -> Self {
        Self {
            kind: "refusal".into(),
            refusal: Some(text.into()),
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
    pub(super) fn said(&self) -> Option<&str> {
        self.text.as_deref().or(self.refusal.as_deref())
    }
}

impl protocol::ContentPart for ContentPart {
    fn said(&self) -> Option<Cow<'_, str>> {
        Self::said(self).map(Cow::Borrowed)
    }
}

/// A citation in a text.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Annotation {
    /// The kind, such as `url_citation`. The members of other kinds are in `unknown`.
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
    pub fn url_citation(url: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            kind: "url_citation".into(),
            url: Some(url.into()),
            title: Some(title.into()),
            ..Self::default()
        }
    }
}
