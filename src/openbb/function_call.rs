//! Function calls.

use std::collections::HashMap;

use serde::Serialize;

use crate::json::{Json, Kind, Members, Wire, WriteError};

/// A call of a function of the Workspace. It ends the turn.
///
/// The result is in the messages of the next request. The typed calls, such as
/// [`GetWidgetData`](super::GetWidgetData), convert into this type; [`new`](Self::new) calls any
/// function by its name.
///
/// Every call has a state that is not empty, because the published Workspace drops the result of a
/// call without one. Unless the agent sets a
/// state, it has the arguments, or the function's name if they are large.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[must_use]
pub struct FunctionCall {
    /// The name of the function.
    #[wire(always)]
    pub function: String,
    /// The arguments: an object.
    #[wire(always)]
    pub input_arguments: Json,
    /// The arguments of the model's own call; only in calls of 2024.
    pub copilot_function_call_arguments: Option<Json>,
    /// The state, which is returned with the result: an object.
    pub extra_state: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
    #[wire(skip)]
    pub(super) origin: Origin,
}

/// The origin of a call. It is no part of the call's value, so all origins compare equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Origin {
    /// Created in this process: adapted to the form of the request, and checked.
    #[default]
    Made,
    /// Created in this process, with a state that this crate added.
    Filled,
    /// Created in this process as a raw call: adapted to the form of the request, not checked.
    Raw,
    /// Read from the wire: written unchanged.
    Received,
}

impl PartialEq for Origin {
    // A call that was made equals the same call read back, as `decode(encode(e)) == e` demands.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Default for FunctionCall {
    fn default() -> Self {
        Self::raw("", Json::default())
    }
}

/// The maximum size in bytes of arguments that are copied into the state of a call.
const MAX_COPIED: usize = 4 * 1024;

impl FunctionCall {
    /// Creates a call of any function, with arguments that serialize to an object.
    ///
    /// Sending fails for functions that the request's front end does not support. See
    /// [`raw`](Self::raw).
    ///
    /// # Errors
    ///
    /// If the arguments cannot be serialized as JSON.
    pub fn new<T: Serialize + ?Sized>(
        function: impl Into<String>,
        input_arguments: &T,
    ) -> Result<Self, WriteError> {
        let arguments = crate::json::wire::encode(input_arguments)?;
        Ok(Self::made(function, arguments))
    }

    /// Creates a call that is sent without checks, for functions that are newer than this crate.
    pub fn raw(function: impl Into<String>, input_arguments: Json) -> Self {
        Self {
            origin: Origin::Raw,
            ..Self::made(function, input_arguments)
        }
    }

    pub(super) fn made(function: impl Into<String>, input_arguments: Json) -> Self {
        Self {
            function: function.into(),
            input_arguments,
            copilot_function_call_arguments: None,
            extra_state: None,
            unknown: Members::new(),
            origin: Origin::Made,
        }
    }

    /// Reads a call; `None` if the value is not an object with a string `function` and an object
    /// `input_arguments`.
    pub(super) fn received(json: &Json) -> Option<Self> {
        let mut call = Self::from_raw(json)?;
        call.origin = Origin::Received;
        let is_call = json.get("function")?.kind() == Kind::String
            && call.input_arguments.kind() == Kind::Object;
        is_call.then_some(call)
    }

    /// Sets the state, which is returned with the result: an object.
    pub fn extra_state(mut self, state: Json) -> Self {
        self.extra_state = Some(state);
        self
    }

    /// Adds a member to the state, which is returned with the result.
    pub fn state_member(mut self, key: &str, value: Json) -> Self {
        let state = self.extra_state.take().unwrap_or_default();
        self.extra_state = Some(with_members(&state, vec![(key.to_owned(), value)]));
        self
    }

    /// Sets the line that the user reads while the call runs, such as `Fetch the price of TSLA`.
    pub fn summary(self, summary: &str) -> Self {
        let mut arguments = Members::new();
        arguments.push("summary", super::text::string(summary));
        let arguments = arguments.to_raw();
        self.state_member(MODEL_ARGUMENTS, arguments)
    }

    /// Adds a state to a call that was created here and has none.
    pub(super) fn filled(mut self) -> Self {
        let is_empty = |state: &Json| state.members().next().is_none();
        let empty = self.extra_state.as_ref().is_none_or(is_empty);
        if matches!(self.origin, Origin::Received) || !empty {
            return self;
        }
        let mut state = Members::new();
        // The Workspace drops a `get_widget_data` call and its result from later requests if the
        // state is empty, so there is always a member. Large arguments are not sent twice.
        let arguments = if self.input_arguments.as_bytes().len() <= MAX_COPIED {
            self.input_arguments.clone()
        } else {
            let mut summary = Members::new();
            summary.push("summary", super::text::string(&self.function));
            summary.to_raw()
        };
        state.push(MODEL_ARGUMENTS, arguments);
        self.extra_state = Some(state.to_raw());
        // A raw call keeps its origin, because otherwise it would be checked.
        if matches!(self.origin, Origin::Made) {
            self.origin = Origin::Filled;
        }
        self
    }
}

/// The state member in which the Workspace looks for the model's own arguments.
pub(super) const MODEL_ARGUMENTS: &str = "copilot_function_call_arguments";

/// Returns an object with new members appended. A new member replaces all others with its name.
pub(super) fn with_members(object: &Json, new: Vec<(String, Json)>) -> Json {
    let last: HashMap<&str, usize> = new
        .iter()
        .enumerate()
        .map(|(at, (key, _))| (key.as_str(), at))
        .collect();
    let retained = object
        .members()
        .filter(|(key, _)| !last.contains_key(&**key))
        .map(|(key, value)| (key.into_owned(), value));
    let added = new
        .iter()
        .enumerate()
        .filter(|(at, (key, _))| last.get(key.as_str()) == Some(at))
        .map(|(_, member)| member.clone());
    retained.chain(added).collect::<Members>().to_raw()
}
