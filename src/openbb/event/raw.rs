//! An event that this crate does not know.

use serde::Serialize;

use super::say::CALL;
use crate::json::{Json, WriteError};
use crate::sse::EventName;

/// An event that this crate does not know, for front ends that are newer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawEvent {
    name: String,
    data: Json,
}

/// Why an event cannot be sent as a raw one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RawEventError {
    /// A function call ends the turn: see [`FunctionCall::raw`](crate::openbb::FunctionCall::raw).
    #[error("a function call must be an ending")]
    FunctionCall,
    /// The name holds U+2028 or U+2029, where the Workspace ends it: what stands before would be
    /// the name of another event.
    #[error("event name holds a line end of the Workspace at byte {offset}")]
    LineEnd {
        /// Where it stands.
        offset: usize,
    },
    /// The data cannot be JSON.
    #[error(transparent)]
    Data(#[from] WriteError),
}

impl RawEvent {
    /// An event of any name but `copilotFunctionCall`, without U+2028 and U+2029.
    ///
    /// # Errors
    ///
    /// [`RawEventError`] for a function call, a name that the Workspace would cut, or data that
    /// cannot be JSON.
    pub fn new<T: Serialize + ?Sized>(name: &EventName, data: &T) -> Result<Self, RawEventError> {
        if name.as_str() == CALL {
            return Err(RawEventError::FunctionCall);
        }
        let event = Self {
            name: name.as_str().to_owned(),
            data: crate::json::model::encode(data)?,
        };
        event.check()?;
        Ok(event)
    }

    /// Checks a name that may have been read: others write what the Workspace would cut.
    pub(super) fn check(&self) -> Result<(), RawEventError> {
        match self.name.find(['\u{2028}', '\u{2029}']) {
            Some(offset) => Err(RawEventError::LineEnd { offset }),
            None => Ok(()),
        }
    }

    /// For the decoder, whose names hold no line break of the stream.
    pub(super) fn received(name: &str, data: Json) -> Self {
        Self {
            name: name.to_owned(),
            data,
        }
    }

    /// The event's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The event's data.
    #[must_use]
    pub fn data(&self) -> &Json {
        &self.data
    }
}
