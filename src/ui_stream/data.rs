//! Data for a component of the page.

use serde::Serialize;

use crate::json::wire::encode;
use crate::json::{Json, Members, Wire, WriteError};

/// The prefix of the type of a data chunk.
pub(super) const PREFIX: &str = "data-";

/// Data for a component of the page: a `data-NAME` chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Data {
    /// The type: `data-NAME`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The id. Data with the type and id of an earlier chunk replaces the data of that chunk.
    #[wire(set = "Sets the id: later data of this name with this id replaces this.")]
    pub id: Option<String>,
    /// The data, of any JSON type.
    #[wire(always)]
    pub data: Json,
    /// `true` if the page only passes the data to `onData`, without adding it to the message.
    #[wire(set = "Sets that only `onData` of the page gets the data.")]
    pub transient: bool,
    /// Members that this crate does not know. Replies omit them, because `ai` 5.0.0 rejects them.
    pub unknown: Members,
}

impl Data {
    /// Creates data under a name, of the type `data-NAME`.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the data cannot be serialized.
    pub fn new<T: Serialize + ?Sized>(name: &str, data: &T) -> Result<Self, WriteError> {
        Ok(Self {
            kind: format!("{PREFIX}{name}"),
            data: encode(data)?,
            ..Self::default()
        })
    }

    /// Returns the name, without `data-`.
    pub fn name(&self) -> &str {
        self.kind.strip_prefix(PREFIX).unwrap_or(&self.kind)
    }
}
