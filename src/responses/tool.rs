//! Tools of a request.

use crate::json::{Json, Members, Wire};

/// A tool that a request offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct Tool {
    /// The kind: `function`, or another one such as `web_search`, which an agent does not call. The
    /// members of other kinds are in `unknown`.
    #[wire(name = "type", always)]
    pub kind: String,
    /// The name of a function.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    #[wire(set = "Sets the JSON schema of the arguments.")]
    pub parameters: Option<Json>,
    /// Set if the arguments must match the schema exactly.
    pub strict: Option<bool>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Tool {
    /// Creates a function without arguments.
    #[must_use]
    pub fn function(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            kind: "function".into(),
            name: Some(name.into()),
            description: Some(description.into()),
            ..Self::default()
        }
    }

    /// Returns the name of the tool if it is a function that can be called.
    pub(super) fn callable(&self) -> Option<&str> {
        let name = self.name.as_deref().filter(|name| !name.is_empty());
        name.filter(|_| self.kind == "function")
    }
}
