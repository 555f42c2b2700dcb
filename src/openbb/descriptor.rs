//! What the Workspace is told about an agent.

use crate::json::{Escape, ObjectWriter};

/// What the Workspace is told about an agent.
#[derive(Clone, Debug)]
pub struct Descriptor {
    id: String,
    name: String,
    description: String,
    query: String,
}

impl Descriptor {
    /// A descriptor.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            query: "/v1/query".into(),
        }
    }

    pub(crate) fn query_path(&self) -> &str {
        &self.query
    }
}

/// Why a descriptor would be refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// Two agents have one id.
    #[error("two agents have the id of one")]
    SameId,
}

/// The documents `agents.json` and `copilots.json`.
pub(crate) fn documents(descriptors: &[Descriptor]) -> Result<[Vec<u8>; 2], DescriptorError> {
    let mut out = Vec::new();
    let mut document = ObjectWriter::new(&mut out, Escape::Json);
    let _ = (&mut document, descriptors);
    document.finish();
    Ok([out.clone(), out])
}
