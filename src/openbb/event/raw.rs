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
    /// The data cannot be JSON.
    #[error(transparent)]
    Data(#[from] WriteError),
}

impl RawEvent {
    /// An event of any name but `copilotFunctionCall`.
    ///
    /// # Errors
    ///
    /// [`RawEventError`] for a function call, or data that cannot be JSON.
    pub fn new<T: Serialize + ?Sized>(name: &EventName, data: &T) -> Result<Self, RawEventError> {
        if name.as_str() == CALL {
            return Err(RawEventError::FunctionCall);
        }
        Ok(Self {
            name: name.as_str().to_owned(),
            data: crate::openbb::wire::encode(data)?,
        })
    }

    /// For the decoder, whose names hold no line break.
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
