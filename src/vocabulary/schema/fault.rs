//! Errors in the arguments of a call.

use std::fmt;

use crate::vocabulary::redacted::Cut;

/// An error in the arguments of a call. It contains no values, and is never longer than a few
/// lines: names and lists of the schema, which came with the request, are truncated.
pub(crate) struct Fault {
    /// The path to the value, innermost step first.
    path: Vec<String>,
    about: String,
}

impl Fault {
    pub(super) fn new(about: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            about: about.into(),
        }
    }

    /// Adds the object member that contains the value to the path.
    pub(super) fn in_member(mut self, name: &str) -> Self {
        self.path.push(format!(".{}", Cut(name)));
        self
    }

    /// Adds the array element that contains the value to the path.
    pub(super) fn in_element(mut self, index: usize) -> Self {
        self.path.push(format!("[{index}]"));
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: String = self.path.iter().rev().map(String::as_str).collect();
        let path = path.strip_prefix('.').unwrap_or(&path);
        let shown = if path.is_empty() {
            "the arguments"
        } else {
            path
        };
        write!(f, "{shown} {}", self.about)
    }
}
