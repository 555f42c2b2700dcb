//! State of the agent's own that travels with a call.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::FunctionCall;
use crate::json::model::Field;
use crate::json::{JsonError, Members, WriteError};
use crate::openbb::QueryRequest;

/// State of the agent's own that travels with a call and comes back with its result.
///
/// It has a name and a version, so that an agent that was changed between two requests does not
/// take old state for new.
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
pub struct State {
    name: &'static str,
    version: u64,
    limit: usize,
}

/// Why state cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// It is of another version of the agent.
    #[error("the state is of another version: {found:?}")]
    Version {
        /// The version that it says, if it says one.
        found: Option<u64>,
    },
    /// It is larger than it may be.
    #[error("the state is too large: {size} bytes")]
    Size {
        /// Its size in bytes.
        size: usize,
    },
    /// It does not fit the type.
    #[error(transparent)]
    Shape(#[from] JsonError),
}

/// A value that crossed the browser. It may be anything that its type allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Takes the value if it passes a check.
    #[must_use]
    pub fn verify(self, check: impl FnOnce(&T) -> bool) -> Option<T> {
        check(&self.0).then_some(self.0)
    }

    /// Takes the value as it is, knowing that a user can have made it up.
    #[must_use]
    pub fn trust(self) -> T {
        self.0
    }
}

impl State {
    /// A state under a name of the agent's own, in a version.
    #[must_use]
    pub const fn new(name: &'static str, version: u64) -> Self {
        Self {
            name,
            version,
            limit: 256 * 1024,
        }
    }

    /// Sets the size in bytes up to which a state is read. The default is 256 KiB.
    #[must_use]
    pub const fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Sends a value along with a call.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON.
    pub fn put<T: Serialize + ?Sized>(
        &self,
        call: impl Into<FunctionCall>,
        value: &T,
    ) -> Result<FunctionCall, WriteError> {
        let mut state = Members::new();
        state.push("version", crate::json::model::encode(&self.version)?);
        state.push("value", crate::json::model::encode(value)?);
        Ok(call.into().state_member(self.name, state.to_raw()))
    }

    /// Takes what came back with the newest result; `None` when there is no such state.
    ///
    /// # Errors
    ///
    /// [`StateError`] when it is of another version, too large, or of another shape.
    pub fn take<T: DeserializeOwned>(
        &self,
        request: &QueryRequest,
    ) -> Result<Option<Untrusted<T>>, StateError> {
        let state = request.extra_state();
        let Some(own) = state.and_then(|state| state.get(self.name)) else {
            return Ok(None);
        };
        let size = own.as_bytes().len();
        if size > self.limit {
            return Err(StateError::Size { size });
        }
        let found = own.get("version").and_then(|version| version.as_u64());
        if found != Some(self.version) {
            return Err(StateError::Version { found });
        }
        let value = own.get("value").unwrap_or_default();
        Ok(Some(Untrusted(value.decode()?)))
    }
}
