//! The form in which the texts of an answer are written.

use copilot_wire::protocol::{Capabilities, Protocol, plain_text};

use super::markdown::{self, code_span, without_images};

/// The format of the texts of an answer that may end with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The question is a dialog, which no text changes.
    Markdown,
    /// The question is text too. Markup above it could change what is seen of it, so a yes counts only below plain
    /// text.
    Plain,
}

impl Style {
    /// Returns the form for a front end.
    pub(super) fn of<P: Protocol>() -> Self {
        match P::CAPABILITIES.contains(Capabilities::QUESTIONS) {
            true => Self::Markdown,
            false => Self::Plain,
        }
    }

    /// Returns the words of a model or a tool.
    pub(super) fn words(self, text: &str) -> String {
        match self {
            Self::Markdown => without_images(text),
            Self::Plain => plain_text(text),
        }
    }

    /// Returns the thoughts of a model that has no words for the user.
    pub(super) fn thought(self, text: &str) -> String {
        match self {
            Self::Markdown => markdown::quote(&without_images(text)),
            Self::Plain => format!("Thoughts: {}", plain_text(text)),
        }
    }

    /// Returns the start of a command.
    pub(super) fn code(self, text: &str) -> String {
        match self {
            Self::Markdown => code_span(text),
            Self::Plain => plain_text(&markdown::line(text)),
        }
    }
}
