//! The reasons why an answer is not complete.

use super::Notice;

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
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Filter => "content_filter",
            Self::Other => "cut_off",
        }
    }

    /// Returns the reason as a notice, for front ends that cannot show it otherwise.
    #[must_use]
    pub fn to_notice(self) -> Notice {
        let message = match self {
            Self::Length => "The answer has reached its limit of tokens and is not complete.",
            Self::Filter => "The rest of the answer was withheld by the model.",
            Self::Other => "The model ended its answer before it was complete.",
        };
        Notice::new(message).code(self.as_str())
    }
}
