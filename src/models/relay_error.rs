//! Errors of relays.

use std::error::Error;
use std::fmt;

use crate::json::JsonError;
use crate::protocol::{CompletionError, ContextTooLong, Cut, EventError, ModelFault, SendError};
use crate::sse::TooLarge;

/// The reason why a stream cannot be relayed.
///
/// It converts with `?` into an [`AgentError`](crate::protocol::AgentError) with the user message of its source, a
/// [`ModelFault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayError {
    /// The stream contains a frame that is not a valid event.
    Event(EventError),
    /// The upstream server sent an error.
    Upstream(CompletionError),
    /// The upstream server reports that the conversation is too long for the model. With `?` it converts into
    /// [`AgentError::too_long`](crate::protocol::AgentError::too_long).
    ContextTooLong(ContextTooLong),
    /// The upstream server did not send a stream.
    NoStream,
    /// The stream ended before the answer was complete.
    Truncated,
    /// The answer exceeds the limit.
    TooLarge(TooLarge),
    /// The arguments of a call are not a JSON object.
    Arguments(JsonError),
    /// The answer was cut off and has calls, of which the last may be incomplete.
    CutCall(Cut),
    /// The front end does not offer the tool of a call, or the tool does not accept its arguments.
    ImpossibleCall(SendError),
    /// The reply could not be written.
    Send(SendError),
}

impl fmt::Display for RelayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(error) => write!(f, "upstream: {error}"),
            // Only the code: the message may contain anything.
            Self::Upstream(error) => {
                let code = error.code.as_deref().unwrap_or("no code");
                write!(f, "upstream failed: {code}")
            }
            Self::ContextTooLong(error) => write!(f, "upstream: {error}"),
            Self::NoStream => f.write_str("upstream: the answer is not a stream"),
            Self::Truncated => f.write_str("upstream ended before the answer was complete"),
            Self::TooLarge(error) => write!(f, "upstream: the answer is {error}"),
            Self::Arguments(error) => write!(f, "upstream: arguments of a call: {error}"),
            Self::CutCall(cut) => {
                let why = cut.as_str();
                write!(f, "upstream: an answer with calls was cut off: {why}")
            }
            Self::ImpossibleCall(error) => write!(f, "upstream: a call: {error}"),
            Self::Send(error) => error.fmt(f),
        }
    }
}

impl Error for RelayError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::ContextTooLong(error) => error,
            Self::Upstream(error) => match error.fault() {
                Some(ModelFault::Busy) => &ModelFault::Busy,
                Some(ModelFault::Key) => &ModelFault::Key,
                Some(ModelFault::Quota) => &ModelFault::Quota,
                Some(ModelFault::UnknownModel) => &ModelFault::UnknownModel,
                _ => &ModelFault::Failed,
            },
            Self::Truncated => &ModelFault::Truncated,
            Self::TooLarge(_) | Self::Send(SendError::TooLarge(_)) => &ModelFault::TooLarge,
            Self::Event(_) | Self::NoStream | Self::Send(SendError::Invalid(_)) => {
                &ModelFault::NotAnAnswer
            }
            Self::Arguments(_) | Self::CutCall(_) => &ModelFault::BadCall,
            Self::ImpossibleCall(_) => &ModelFault::ImpossibleCall,
            Self::Send(error) => return error.source(),
        })
    }
}

from! {
    EventError => RelayError: Self::Event,
    ContextTooLong => RelayError: Self::ContextTooLong,
    TooLarge => RelayError: Self::TooLarge,
    JsonError => RelayError: Self::Arguments,
    CompletionError => RelayError: |error| match error.too_long {
        true => ContextTooLong.into(),
        false => Self::Upstream(error),
    },
    // Only calls can be unsupported among the relayed output.
    SendError => RelayError: |error| match error {
        SendError::Unsupported(_) => Self::ImpossibleCall(error),
        error => Self::Send(error),
    },
}
