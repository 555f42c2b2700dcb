//! A function call as it is on the wire.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::json::model::{Field, model};
use crate::json::{Json, Kind, Members, WriteError};

/// Asks the Workspace to do something; ends the turn.
///
/// The result is among the messages of the next request. The typed functions, such as
/// [`GetWidgetData`](super::GetWidgetData), convert into it; [`new`](Self::new) calls any function
/// by its name.
///
/// Every call carries a state that is not empty, because the published Workspace drops the result
/// of a call without one. A call that says nothing else carries what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The function.
    pub function: String,
    /// Its arguments: an object.
    pub input_arguments: Json,
    /// The arguments of the model's own call, where calls of 2024 had them.
    pub copilot_function_call_arguments: Option<Json>,
    /// What comes back with the result: an object.
    pub extra_state: Option<Json>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
    pub(super) origin: Origin,
}

/// Where a call comes from. It is not part of what the call is, so all origins are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Origin {
    /// Made here: adapted to the request that it answers, and checked.
    #[default]
    Made,
    /// Made here, with a state that nobody asked for.
    Filled,
    /// Made here as an escape hatch: adapted, not checked.
    Raw,
    /// Read from the wire: written again as it came.
    Received,
}

impl PartialEq for Origin {
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

model!(FunctionCall {
    function: "function" always,
    input_arguments: "input_arguments" always,
    copilot_function_call_arguments: "copilot_function_call_arguments",
    extra_state: "extra_state",
});

/// Arguments up to this size are repeated in the state that a call gets by itself.
const REPEATED: usize = 4 * 1024;

impl FunctionCall {
    /// A call of any function, with any arguments that serialise to an object.
    ///
    /// Functions that only newer front ends know are refused when it is sent, unless the request
    /// shows that its front end knows them. See [`raw`](Self::raw).
    ///
    /// # Errors
    ///
    /// When the arguments cannot be JSON.
    pub fn new<T: Serialize + ?Sized>(
        function: impl Into<String>,
        input_arguments: &T,
    ) -> Result<Self, WriteError> {
        let arguments = crate::json::model::encode(input_arguments)?;
        Ok(Self::made(function, arguments))
    }

    /// A call that is sent whatever the request says that its front end knows: for functions that
    /// are newer than this crate.
    #[must_use]
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

    /// Reads a call; `None` when it is not an object with a string `function` and an object
    /// `input_arguments`.
    pub(in crate::openbb) fn received(json: &Json) -> Option<Self> {
        let mut call = Self::from_raw(json)?;
        call.origin = Origin::Received;
        let is_call = json.get("function")?.kind() == Kind::String
            && call.input_arguments.kind() == Kind::Object;
        is_call.then_some(call)
    }

    /// Sets what comes back with the result: an object.
    #[must_use]
    pub fn extra_state(mut self, state: Json) -> Self {
        self.extra_state = Some(state);
        self
    }

    /// Adds a member to what comes back with the result.
    #[must_use]
    pub fn state_member(mut self, key: &str, value: Json) -> Self {
        let state = self.extra_state.take().unwrap_or_default();
        self.extra_state = Some(with_members(&state, vec![(key.to_owned(), value)]));
        self
    }

    /// Sets the line that the user reads while the call runs, such as `Fetch the price of TSLA`.
    #[must_use]
    pub fn summary(self, summary: &str) -> Self {
        let mut asked = Members::new();
        asked.push("summary", crate::openbb::request::string(summary));
        let asked = asked.to_raw();
        self.state_member(ASKED, asked)
    }

    /// Carries on the state that came with the newest result: only the state of the last call
    /// comes back, so what is still needed has to go with every one.
    #[must_use]
    pub fn carrying(mut self, request: &crate::openbb::QueryRequest) -> Self {
        let Some(old) = request.extra_state() else {
            return self;
        };
        let own = self.extra_state.clone().unwrap_or_default();
        let mut set: HashSet<_> = own.members().map(|(key, _)| key).collect();
        set.extend([ASKED.into(), super::queue::PENDING.into()]);
        let carried: Vec<_> = old
            .members()
            .filter(|(key, _)| set.insert(key.clone()))
            .map(|(key, value)| (key.into_owned(), value))
            .collect();
        if !carried.is_empty() {
            self.extra_state = Some(with_members(&own, carried));
        }
        self
    }

    /// Gives a call that was made here a state when it has none.
    pub(in crate::openbb) fn filled(mut self) -> Self {
        let is_empty = |state: &Json| state.members().next().is_none();
        let empty = self.extra_state.as_ref().is_none_or(is_empty);
        if matches!(self.origin, Origin::Received) || !empty {
            return self;
        }
        let mut state = Members::new();
        let asked = if self.input_arguments.as_bytes().len() <= REPEATED {
            self.input_arguments.clone()
        } else {
            let mut summary = Members::new();
            summary.push("summary", crate::openbb::request::string(&self.function));
            summary.to_raw()
        };
        state.push(ASKED, asked);
        self.extra_state = Some(state.to_raw());
        if matches!(self.origin, Origin::Made) {
            self.origin = Origin::Filled;
        }
        self
    }
}

/// Where the Workspace looks for what the model asked for.
const ASKED: &str = "copilot_function_call_arguments";

/// The members of an object with new ones behind them. A new one takes the place of all others of
/// its name.
pub(super) fn with_members(object: &Json, new: Vec<(String, Json)>) -> Json {
    let last: HashMap<&str, usize> = new
        .iter()
        .enumerate()
        .map(|(at, (key, _))| (key.as_str(), at))
        .collect();
    let kept = object
        .members()
        .filter(|(key, _)| !last.contains_key(&**key))
        .map(|(key, value)| (key.into_owned(), value));
    let added = new
        .iter()
        .enumerate()
        .filter(|(at, (key, _))| last.get(key.as_str()) == Some(at))
        .map(|(_, member)| member.clone());
    kept.chain(added).collect::<Members>().to_raw()
}
