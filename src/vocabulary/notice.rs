//! Notices about an answer: errors, and the reason why it is not complete.

use std::borrow::Cow;

/// The reason why an answer ended before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// The answer has reached the maximum number of tokens.
    Length,
    /// A filter withheld the remaining text, or the model refused to continue.
    Filter,
    /// Any other reason, such as a fault of the model's server.
    Other,
}

impl Cut {
    /// Returns the name of the reason, such as `length`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Filter => "content_filter",
            Self::Other => "cut_off",
        }
    }

    /// Returns the reason as a notice, for front ends that cannot show it otherwise.
    pub fn to_notice(self) -> Notice {
        let message = match self {
            Self::Length => "The answer has reached its limit of tokens and is not complete.",
            Self::Filter => "The rest of the answer was withheld by the model.",
            Self::Other => "The model ended its answer before it was complete.",
        };
        Notice::new(message).code(self.as_str())
    }
}

/// An error that the user should know about and that does not end the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Notice {
    /// A message for the user.
    pub message: String,
    /// A short name for the kind of failure.
    pub code: Cow<'static, str>,
    /// The names and values that the error concerns.
    pub identifier: Option<String>,
}

impl Notice {
    /// Creates a notice with the code `error`.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: Cow::Borrowed("error"),
            identifier: None,
        }
    }

    /// Returns the message as Markdown, in a paragraph of its own.
    pub fn to_markdown(&self) -> String {
        super::markdown::notice(self)
    }

    /// Sets the short name for the kind of failure.
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }

    /// Sets the names and values that the error concerns.
    pub fn identifier(mut self, identifier: impl Into<String>) -> Self {
        self.identifier = Some(identifier.into());
        self
    }
}
