//! What a client is told about the models of a server.

use crate::json::model::{model, object};
use crate::json::{Escape, Members, ValueWriter};

/// The path below a base URL.
pub(super) const COMPLETIONS: &str = "/chat/completions";

/// A model, as a client sees it: the name that an agent is mounted under.
///
/// ```
/// use copilot_wire::openai::Model;
///
/// let model = Model::new("analyst-1").owned_by("Example Ltd").created(1_764_000_000);
/// assert_eq!(model.id(), "analyst-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    id: String,
    created: u64,
    owned_by: String,
    pub(super) path: String,
    unknown: Members,
}

model!(Model, null: absent {
    id: "id" always,
    "object" = "model",
    created: "created" always,
    owned_by: "owned_by" always,
});

impl Default for Model {
    fn default() -> Self {
        Self::new("")
    }
}

impl Model {
    /// A model.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            created: 0,
            owned_by: "copilot-wire".into(),
            path: format!("/v1{COMPLETIONS}"),
            unknown: Members::new(),
        }
    }

    /// Sets who the model belongs to.
    #[must_use]
    pub fn owned_by(mut self, owner: impl Into<String>) -> Self {
        self.owned_by = owner.into();
        self
    }

    /// Sets when the model was made, in seconds since 1970.
    #[must_use]
    pub fn created(mut self, unix_time: u64) -> Self {
        self.created = unix_time;
        self
    }

    /// Sets the path, which ends in `/chat/completions`. The default is `/v1/chat/completions`.
    /// Clients are given what is before that as their base URL; the models are listed beside it.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// What requests ask for it by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the path of the client's base URL; `None` when the path is not below one.
    pub(super) fn base_path(&self) -> Option<&str> {
        let path = self.path.strip_suffix('/').unwrap_or(&self.path);
        path.strip_suffix(COMPLETIONS)
    }
}

impl From<&str> for Model {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for Model {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// Writes the list of models as a document.
pub(crate) fn documents<'a>(models: impl Iterator<Item = &'a Model>) -> Vec<u8> {
    let mut out = Vec::new();
    object(
        ValueWriter::new(&mut out, Escape::JsonAndSeparators),
        |list| {
            list.str("object", "list");
            // Models always serialise.
            let _ = list.value("data", &models.collect::<Vec<_>>());
        },
    );
    out
}
