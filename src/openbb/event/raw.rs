//! Events that this crate does not know.

use serde::Serialize;

use super::output::CALL;
use crate::json::{Json, WriteError};
use crate::sse::EventName;

/// An event that this crate does not know, for later front ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawEvent {
    name: String,
    data: Json,
}

/// The reason why an event cannot be sent as a raw event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawEventError {
    /// The event is a function call, which ends the turn: use
    /// [`FunctionCall::raw`](crate::openbb::FunctionCall::raw).
    #[error("a function call must end the turn: it cannot be a raw event")]
    FunctionCall,
    /// The name contains U+2028 or U+2029. The Workspace ends a line there, and would read the part
    /// before it as the name of another event.
    #[error("event name has a line separator at byte {offset}")]
    LineEnd {
        /// The byte offset of the character in the name.
        offset: usize,
    },
    /// The data cannot be serialized as JSON.
    #[error(transparent)]
    Data(#[from] WriteError),
}

impl RawEvent {
    /// Creates an event with any name except `copilotFunctionCall` and names with U+2028 or U+2029.
    ///
    /// # Errors
    ///
    /// [`RawEventError`] if the event is a function call, the name has U+2028 or U+2029, or the
    /// data cannot be serialized as JSON.
    pub fn new<T: Serialize + ?Sized>(name: &EventName, data: &T) -> Result<Self, RawEventError> {
        if name.as_str() == CALL {
            return Err(RawEventError::FunctionCall);
        }
        let event = Self {
            name: name.as_str().to_owned(),
            data: crate::json::wire::encode(data)?,
        };
        event.check()?;
        Ok(event)
    }

    /// Checks the name. Names that were read can contain U+2028 and U+2029.
    pub(super) fn check(&self) -> Result<(), RawEventError> {
        match self.name.find(['\u{2028}', '\u{2029}']) {
            Some(offset) => Err(RawEventError::LineEnd { offset }),
            None => Ok(()),
        }
    }

    /// Creates an event from a frame, whose name has no CR or LF.
    pub(super) fn received(name: &str, data: Json) -> Self {
        Self {
            name: name.to_owned(),
            data,
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the data.
    #[must_use]
    pub fn data(&self) -> &Json {
        &self.data
    }
}
