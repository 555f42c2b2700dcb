//! References: attachments of messages.

use serde::Serialize;

use super::data::ReferenceData;
use crate::json::{Json, Kind, Members, Wire, present};
use crate::protocol::{Citation, SendError};

/// An attachment of a message: a file, a repository or a source. It is an element of
/// `copilot_references` in GitHub's documentation; VS Code's `remoteAgents.ts` displays it.
///
/// Requests and replies use the same type. References that an agent sends are on its own message in
/// later requests: they are the only memory of the protocol.
///
/// [`new`](Self::new) creates one that clients display:
///
/// ```
/// use copilot_wire::github::Reference;
/// use copilot_wire::json::Wire as _;
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, escape = Json)]
#[must_use]
pub struct Reference {
    /// The type on the wire, such as `client.file`.
    #[wire(name = "type")]
    pub kind: String,
    /// The id. Its meaning depends on the type.
    pub id: String,
    /// The data, unchanged. [`typed`](Self::typed) reads it by the type.
    #[wire(read = present)]
    pub data: Option<Json>,
    /// `true` if the client attached it automatically, `false` if the user chose it.
    pub is_implicit: Option<bool>,
    /// The display name, icon and URL.
    pub metadata: Option<Metadata>,
    /// Members that have no field here, and the fields above that were sent as `null` or empty.
    pub unknown: Members,
}

/// The display name, icon and URL of a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(escape = Json, new = "Creates metadata with a display name.")]
pub struct Metadata {
    /// The name. Clients may hide a reference without one.
    #[wire(read = present, new)]
    pub display_name: Option<String>,
    /// The URI of an icon. The documentation's example has `icon`, which is not a URI; VS Code
    /// parses the value as a URI, so omit it rather than send such a value.
    #[wire(read = present)]
    pub display_icon: Option<String>,
    /// The URL of the content.
    #[wire(read = present)]
    pub display_url: Option<String>,
    /// Members that have no field here, and the fields above that were sent as `null` or empty.
    pub unknown: Members,
}

impl Reference {
    /// Creates a reference for clients to display: with a name, and with `"data":{}`, because VS
    /// Code accesses `data` without a check and fails if it is absent.
    pub fn new(
        kind: impl Into<String>,
        id: impl Into<String>,
        display_name: impl Into<String>,
    ) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
            data: Some(Members::new().to_raw()),
            is_implicit: Some(false),
            metadata: Some(Metadata::new(display_name)),
            ..Self::default()
        }
    }

    /// Creates a reference with only a type and an id, as a client or GitHub's SDK may send it.
    /// Agents should use [`new`](Self::new): VS Code fails on a reference without data.
    pub fn bare(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
            ..Self::default()
        }
    }

    /// Sets the data, which later requests return. It must serialize to an object.
    ///
    /// # Errors
    ///
    /// [`SendError::Invalid`] if the value is not an object, or has a member `url` or `html_url`:
    /// VS Code then displays that URL and ignores the name. Where that is wanted, set the
    /// member `data` itself.
    pub fn data<T: Serialize + ?Sized>(mut self, data: &T) -> Result<Self, SendError> {
        let data = Json::encode(data)?;
        if data.kind() != Kind::Object {
            return Err(SendError::Invalid("data must be an object".into()));
        }
        if data
            .members()
            .any(|(key, _)| key == "url" || key == "html_url")
        {
            let message = "a url in data hides the name";
            return Err(SendError::Invalid(message.into()));
        }
        self.data = Some(data);
        Ok(self)
    }

    /// Sets the URL of the content.
    pub fn display_url(mut self, url: impl Into<String>) -> Self {
        self.metadata.get_or_insert_default().display_url = Some(url.into());
        self
    }

    /// Returns the data, typed by the reference's type.
    pub fn typed(&self) -> ReferenceData<'_> {
        ReferenceData::read(&self.kind, self.data.as_ref())
    }

    /// Returns the display name, if there is one.
    pub fn display_name(&self) -> Option<&str> {
        self.metadata.as_ref()?.display_name.as_deref()
    }

    /// Converts a citation of any protocol. The data never has a `url`, and there is always a name.
    pub(super) fn of_citation(citation: &Citation) -> Self {
        let document = citation.document.as_deref().filter(|id| !id.is_empty());
        // Clients display only absolute URLs.
        let url = citation.url.as_deref().filter(|url| url.contains("://"));
        let title = Some(citation.title.as_str()).filter(|title| !title.is_empty());
        let name = title.or(url).or(document).unwrap_or("Source");
        let mut reference = Self::new("citation", document.or(url).unwrap_or(name), name);
        let members = [
            ("document", document),
            ("excerpt", citation.excerpt.as_deref()),
        ];
        let members = members.into_iter().filter_map(|(key, value)| {
            let value = Json::encode(value?).ok()?;
            Some((key.to_owned(), value))
        });
        reference.data = Json::encode(&members.collect::<Members>()).ok();
        match url {
            Some(url) => reference.display_url(url),
            None => reference,
        }
    }
}
