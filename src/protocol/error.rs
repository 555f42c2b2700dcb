//! What can go wrong between an agent and its front end.

use std::error::Error;
use std::fmt;

use http::StatusCode;

use super::Failure;
use crate::json::{JsonError, WriteError};
use crate::sse::DecodeError;

/// Why something could not be said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The client is gone, or the turn is over. Nothing more can be said.
    #[error("the reply is closed")]
    Closed,
    /// The value did not serialise. Nothing of it was written; the turn may go on.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The front end that asked cannot take this. Nothing of it was written; the turn may go on.
    #[error("not supported by this front end: {0}")]
    Unsupported(&'static str),
    /// The value breaks a rule of the protocol. Nothing of it was written; the turn may go on.
    #[error("not valid in this protocol: {0}")]
    Invalid(String),
    /// The reply is larger than the protocol can send: it has to repeat, or to send at once, what
    /// was written. The turn fails.
    #[error("the reply is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Why an event that was received cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The stream cannot be read any further.
    #[error(transparent)]
    Stream(#[from] DecodeError),
    /// The data is not the JSON that the event's name promises.
    #[error("event data: {0}")]
    Data(#[from] JsonError),
    /// The data lacks a member that the event must have, or has it in another type.
    #[error("event data: {0}")]
    Shape(&'static str),
    /// The stream ended before the answer was complete.
    #[error("{0}")]
    Truncated(&'static str),
}

/// Why an agent gave up.
///
/// Any error converts into it with `?`. What the *user* reads is a plain sentence, by default one
/// that says nothing about the cause; [`user_message`](Self::user_message) sets another. The cause
/// itself goes to the observer only.
///
/// Clients are told not to run the turn again, because an agent with side effects would have them
/// twice; [`retryable`](Self::retryable) tells them that they may.
pub struct AgentError {
    message: Option<Box<str>>,
    retryable: bool,
    status: Option<StatusCode>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl AgentError {
    pub(crate) const DEFAULT: &'static str =
        "Sorry, something went wrong and the answer is incomplete.";

    /// A failure with a message that is fit for the user.
    #[must_use]
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: Some(message.into()),
            retryable: false,
            status: None,
            cause: None,
        }
    }

    /// Sets the message that the user reads.
    #[must_use]
    pub fn user_message(mut self, message: impl Into<Box<str>>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Tells the client that it may run the turn again.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Sets the status of an answer without a stream. The head of a stream is sent before the agent
    /// starts. The default is 400, which clients do not retry, or 503 for a
    /// [retryable](Self::retryable) failure.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    /// Returns the failure as the front end is told of it.
    #[must_use]
    pub fn failure(&self) -> Failure<'_> {
        Failure {
            message: self.message(),
            retryable: self.retryable,
        }
    }

    /// Returns the status of an answer without a stream.
    #[must_use]
    pub fn status_code(&self) -> StatusCode {
        self.status.unwrap_or(if self.retryable {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::BAD_REQUEST
        })
    }

    /// What the user reads.
    #[must_use]
    pub fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(Self::DEFAULT)
    }

    /// What went wrong, for the observer.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for AgentError {
    fn from(cause: E) -> Self {
        Self {
            message: None,
            retryable: false,
            status: None,
            cause: Some(Box::new(cause)),
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, &self.message) {
            (Some(cause), _) => cause.fmt(f),
            (None, Some(message)) => f.write_str(message),
            (None, None) => f.write_str(Self::DEFAULT),
        }
    }
}

impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentError")
            .field("message", &self.message())
            .field("retryable", &self.retryable)
            .field("cause", &self.cause)
            .finish()
    }
}
