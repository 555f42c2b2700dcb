//! Events that this crate does not know.

use serde::Serialize;

use crate::json::Json;
use crate::protocol::SendError;
use crate::sse::EventName;

/// The event of a function call, which is never raw.
pub(in crate::openbb) const CALL: &str = "copilotFunctionCall";

/// An event that this crate does not know, for later front ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawEvent {
    name: String,
    data: Json,
}

impl RawEvent {
    /// Creates an event with any name except `copilotFunctionCall`, for which there is
    /// [`FunctionCall::raw`](crate::openbb::FunctionCall::raw), and names with U+2028 or U+2029.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the event is a function call, the name has U+2028 or U+2029, or the
    /// data cannot be serialized as JSON.
    pub fn new<T: Serialize + ?Sized>(name: &EventName, data: &T) -> Result<Self, SendError> {
        if name.as_str() == CALL {
            let reason = "a function call must end the turn: it cannot be a raw event";
            return Err(SendError::Invalid(reason.into()));
        }
        let event = Self {
            name: name.as_str().to_owned(),
            data: crate::json::wire::encode(data)?,
        };
        event.check()?;
        Ok(event)
    }

    /// Checks the name. Names that were read can contain U+2028 and U+2029. The Workspace ends a line there, and would
    /// read the part before as the name of another event.
    pub(super) fn check(&self) -> Result<(), SendError> {
        match self.name.find(['\u{2028}', '\u{2029}']) {
            Some(offset) => Err(SendError::Invalid(format!(
                "event name has a line separator at byte {offset}"
            ))),
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
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the data.
    pub fn data(&self) -> &Json {
        &self.data
    }
}
