//! What is attached to a message, in either direction.

use serde::Serialize;

use super::data::Data;
use crate::json::model::{Field, model, present};
use crate::json::{Json, Kind, Members};
use crate::protocol::{Citation, SendError};

/// What is attached to a message: a file, a repository, a source (`copilot_references` in GitHub's
/// documentation, shown as VS Code's `remoteAgents.ts` shows it).
///
/// The same type comes with requests and goes out in `copilot_references`. What an agent sends
/// comes back on its own message in later requests: the only memory that the protocol has.
///
/// [`new`](Self::new) makes one that clients show:
///
/// ```
/// use copilot_wire::github::Reference;
///
/// let reference = Reference::new("tides.table", "brest", "Brest tide table")
///     .display_url("https://tides.example/brest")
///     .data(&[("port", "Brest")].into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
/// assert_eq!(
///     reference.to_json(),
///     r#"{"type":"tides.table","id":"brest","data":{"port":"Brest"},"is_implicit":false,"metadata":{"display_name":"Brest tide table","display_url":"https://tides.example/brest"}}"#,
/// );
/// # Ok::<(), copilot_wire::protocol::SendError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reference {
    /// The type on the wire, such as `client.file`.
    pub kind: String,
    /// The id; its meaning depends on the type.
    pub id: String,
    /// The data as it came. [`typed`](Self::typed) reads it by the type.
    pub data: Option<Json>,
    /// Whether the client attached it by itself (true), or the user chose it (false).
    pub is_implicit: Option<bool>,
    /// How to show it.
    pub metadata: Option<Metadata>,
    /// Members that have no field here, and those of the fields above that came as `null` or empty.
    pub unknown: Members,
}

/// How a reference is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// The name. Without one, clients may leave the reference out.
    pub display_name: Option<String>,
    /// The URI of an icon. The documentation's example says `icon`, which is no URI; VS Code parses
    /// it as one, so leave it out rather than send a word.
    pub display_icon: Option<String>,
    /// Where the reference can be read.
    pub display_url: Option<String>,
    /// Members that have no field here, and those of the fields above that came as `null` or empty.
    pub unknown: Members,
}

model!(Metadata, escape: Json {
    display_name: "display_name" => present,
    display_icon: "display_icon" => present,
    display_url: "display_url" => present,
});

impl Metadata {
    /// A name to show.
    #[must_use]
    pub fn new(display_name: impl Into<String>) -> Self {
        Self {
            display_name: Some(display_name.into()),
            ..Self::default()
        }
    }
}

model!(Reference, escape: Json {
    kind: "type",
    id: "id",
    data: "data" => present,
    is_implicit: "is_implicit",
    metadata: "metadata",
});

impl Reference {
    /// A reference for clients to show: with a name, and with `"data":{}`, because VS Code reads
    /// into `data` without a check and fails where there is none.
    #[must_use]
    pub fn new(
        kind: impl Into<String>,
        id: impl Into<String>,
        display_name: impl Into<String>,
    ) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
            data: Some(empty()),
            is_implicit: Some(false),
            metadata: Some(Metadata::new(display_name)),
            ..Self::default()
        }
    }

    /// A reference with nothing but a type and an id, as a client or GitHub's SDK may send it.
    /// An agent wants [`new`](Self::new): VS Code fails on a reference without data.
    #[must_use]
    pub fn bare(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
            ..Self::default()
        }
    }

    /// Sets the data to get back in later requests: it serialises to an object.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] when it is no object, or has a member `url` or `html_url`: VS Code
    /// then shows that URL and ignores the name. If that is what the user should see, say so with
    /// [`show_bare_url`](Self::show_bare_url).
    pub fn data<T: Serialize + ?Sized>(mut self, data: &T) -> Result<Self, SendError> {
        let data = Json::encode(data)?;
        if data.kind() != Kind::Object {
            return Err(SendError::Invalid("data must be an object".into()));
        }
        if data
            .members()
            .any(|(key, _)| key == "url" || key == "html_url")
        {
            let message = "a url in data hides the name; `show_bare_url` says that it shall";
            return Err(SendError::Invalid(message.into()));
        }
        self.data = Some(data);
        Ok(self)
    }

    /// Has the client show this URL in place of the name. It goes into the data as `url`.
    #[must_use]
    pub fn show_bare_url(mut self, url: &str) -> Self {
        let mut members: Members = self.data.iter().flat_map(Json::members).collect();
        if let Ok(url) = Json::encode(url) {
            members.push("url", url);
        }
        self.data = Json::encode(&members).ok();
        self
    }

    /// Sets where the reference can be read.
    #[must_use]
    pub fn display_url(mut self, url: impl Into<String>) -> Self {
        self.metadata.get_or_insert_default().display_url = Some(url.into());
        self
    }

    /// Sets the URI of an icon.
    #[must_use]
    pub fn display_icon(mut self, uri: impl Into<String>) -> Self {
        self.metadata.get_or_insert_default().display_icon = Some(uri.into());
        self
    }

    /// Sets whether the client attached it by itself.
    #[must_use]
    pub fn implicit(mut self, is_implicit: bool) -> Self {
        self.is_implicit = Some(is_implicit);
        self
    }

    /// The data by the reference's type.
    #[must_use]
    pub fn typed(&self) -> Data<'_> {
        Data::read(&self.kind, self.data.as_ref())
    }

    /// The name to show, if it has one.
    #[must_use]
    pub fn display_name(&self) -> Option<&str> {
        self.metadata.as_ref()?.display_name.as_deref()
    }

    /// A citation of the shared vocabulary. Never a `url` in the data, always a name.
    pub(super) fn of_citation(citation: &Citation) -> Self {
        let document = citation.document.as_deref().filter(|id| !id.is_empty());
        // Anything but an absolute URL is none to a client.
        let url = citation.url.as_deref().filter(|url| url.contains("://"));
        let title = Some(citation.title.as_str()).filter(|title| !title.is_empty());
        let name = title.or(url).or(document).unwrap_or("Source");
        let mut reference = Self::new("citation", document.or(url).unwrap_or(name), name);
        let mut data = Members::new();
        for (key, value) in [
            ("document", document),
            ("excerpt", citation.excerpt.as_deref()),
        ] {
            if let Some(value) = value.and_then(|value| Json::encode(value).ok()) {
                data.push(key, value);
            }
        }
        if !data.is_empty() {
            reference.data = Json::encode(&data).ok();
        }
        match url {
            Some(url) => reference.display_url(url),
            None => reference,
        }
    }
}

/// `{}`
fn empty() -> Json {
    Members::new().to_raw()
}
