//! What is wrong with the arguments of a call, and where.

use std::fmt;

use crate::protocol::shown::Cut;

/// A fault in the arguments of a call, without their values, and never longer than a few lines:
/// names and lists of the schema, which came with the request, are shortened.
pub(super) struct Fault {
    /// The way to it, the last step first.
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

    /// The same fault, seen from the object that the value is a member of.
    pub(super) fn in_member(mut self, name: &str) -> Self {
        self.path.push(format!(".{}", Cut(name)));
        self
    }

    /// The same fault, seen from the array that the value is an element of.
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
