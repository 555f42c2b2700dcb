//! State of the agent in a call.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::{JsonError, Members, Wire, WriteError};
use crate::openbb::{FunctionCall, QueryRequest};

/// State of the agent that is sent with a call and returned with its result.
///
/// It has a name and a version, so that an agent that changed between two requests does not misread
/// the state of its old version.
///
/// ```
/// use copilot_wire::openbb::{FunctionCall, GetWidgetData, QueryRequest, State, StateError};
///
/// const STEPS: State = State::new("steps", 1);
///
/// fn ask(call: GetWidgetData, done: u32) -> Result<FunctionCall, copilot_wire::json::WriteError> {
///     STEPS.put(call, &done)
/// }
///
/// fn resume(request: &QueryRequest) -> Result<Option<u32>, StateError> {
///     let Some(steps) = STEPS.take::<u32>(request)? else { return Ok(None) };
///     // It crossed the browser: never more than a hint.
///     Ok(steps.verify(|&steps| steps < 10))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct State {
    name: &'static str,
    version: u64,
    limit: usize,
}

/// The reason why a state cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The state is of another version of the agent.
    #[error("the state is of another version: {found:?}")]
    Version {
        /// The version of the state, if it has one.
        found: Option<u64>,
    },
    /// The state is too large.
    #[error("the state is too large: {size} bytes")]
    Size {
        /// The size in bytes.
        size: usize,
    },
    /// The state does not match the type.
    #[error(transparent)]
    Type(#[from] JsonError),
}

/// A value that the browser returned. It may be any value of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Returns the value if it passes a check.
    #[must_use]
    pub fn verify(self, check: impl FnOnce(&T) -> bool) -> Option<T> {
        check(&self.0).then_some(self.0)
    }

    /// Returns the value without a check. A user can have forged it.
    #[must_use]
    pub fn trust(self) -> T {
        self.0
    }
}

impl State {
    /// Creates a state with a name and a version.
    pub const fn new(name: &'static str, version: u64) -> Self {
        Self {
            name,
            version,
            // A browser sends the state with each further request of the turn, so more than this is
            // a mistake, or forged.
            limit: 256 * 1024,
        }
    }

    /// Sets the maximum size in bytes of a state that is read. The default is 256 KiB.
    pub const fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Adds a value to the state of a call.
    ///
    /// # Errors
    ///
    /// If the value cannot be serialized as JSON.
    pub fn put<T: Serialize + ?Sized>(
        &self,
        call: impl Into<FunctionCall>,
        value: &T,
    ) -> Result<FunctionCall, WriteError> {
        let mut state = Members::new();
        state.push("version", crate::json::wire::encode(&self.version)?);
        state.push("value", crate::json::wire::encode(value)?);
        Ok(call.into().state_member(self.name, state.to_raw()))
    }

    /// Reads the value that was returned with the latest result; `None` if there is none.
    ///
    /// # Errors
    ///
    /// [`StateError`] if the state is of another version, too large, or does not match the type.
    pub fn take<T: DeserializeOwned>(
        &self,
        request: &QueryRequest,
    ) -> Result<Option<Untrusted<T>>, StateError> {
        let state = request.extra_state();
        let Some(own) = state.and_then(|state| state.get(self.name)) else {
            return Ok(None);
        };
        // The size is checked first: the state comes from the browser and may be of any size.
        let size = own.as_bytes().len();
        if size > self.limit {
            return Err(StateError::Size { size });
        }
        // The version comes before the value: another version may have another type.
        let found = own.get("version").and_then(|version| version.as_u64());
        if found != Some(self.version) {
            return Err(StateError::Version { found });
        }
        let value = own.get("value").unwrap_or_default();
        Ok(Some(Untrusted(value.decode()?)))
    }
}
