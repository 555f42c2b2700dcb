//! Events in words.

mod github;
mod meilisearch;
mod openai;
mod openbb;

pub(crate) use github::github;
pub(crate) use meilisearch::meilisearch;
pub(crate) use openai::openai;
pub(crate) use openbb::openbb;

use std::borrow::Cow;

/// What an event says.
#[derive(Debug)]
pub(crate) struct Said {
    /// What it is, in a word.
    pub(crate) kind: Cow<'static, str>,
    /// What it says, for people.
    pub(crate) text: String,
    /// Whether no event may follow.
    pub(crate) over: bool,
    /// What is wrong although it can be read.
    pub(crate) wrong: Option<&'static str>,
}

impl Said {
    pub(crate) fn new(kind: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            text: text.into(),
            over: false,
            wrong: None,
        }
    }

    /// The same, as the last event.
    pub(crate) fn over(self) -> Self {
        Self { over: true, ..self }
    }

    /// The same, with what is wrong.
    pub(crate) fn wrong(self, what: &'static str) -> Self {
        Self {
            wrong: Some(what),
            ..self
        }
    }
}

/// The answer did not come to its end.
const FAILED: &str = "the answer failed";
