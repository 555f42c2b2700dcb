//! Results of calls.

use serde::de::DeserializeOwned;

use super::{CallOutcome, ResultItem};
use crate::json::{Json, JsonError, Kind, Wire};
use crate::openbb::data_source::{DataSource, data_sources};
use crate::openbb::function_call::FunctionCall;
use crate::openbb::message::{Message, Role};

/// The result of one call, with the call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallResult {
    /// The function that was called.
    pub function: String,
    /// The arguments: as repeated by the Workspace, else those of the call.
    pub input_arguments: Option<Json>,
    /// The outcomes. A call for widget data has one for each data source, in order.
    pub outcomes: Vec<CallOutcome>,
    /// The state that the agent sent with the call. The browser can change it: trust it no more
    /// than the user.
    pub extra_state: Option<Json>,
    /// The call, if it is in the conversation.
    pub call: Option<FunctionCall>,
}

impl CallResult {
    /// Returns the results among the messages, each with the call right before it.
    pub(in crate::openbb) fn all<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<Self> {
        let mut call = None;
        let mut results = Vec::new();
        for message in messages {
            match message.role() {
                Role::Ai => call = message.call(),
                // Taken: a second result right after the first one belongs to no known call.
                Role::Tool => results.push(Self::new(message, call.take())),
                _ => call = None,
            }
        }
        results
    }

    pub(in crate::openbb) fn new(message: &Message, call: Option<FunctionCall>) -> Self {
        Self {
            outcomes: outcomes(message),
            ..Self::without_outcomes(message, call)
        }
    }

    /// Reads everything except the data, which may be large.
    pub(in crate::openbb) fn without_outcomes(
        message: &Message,
        call: Option<FunctionCall>,
    ) -> Self {
        let object = |json: &Json| json.kind() == Kind::Object;
        let function = match (&message.function, &call) {
            (function, Some(call)) if function.is_empty() => call.function.clone(),
            (function, _) => function.clone(),
        };
        // A result belongs to the call right before it, or to no known call.
        let call = call.filter(|call| call.function == function);
        let repeated = message.input_arguments.clone().filter(object);
        let arguments = || call.as_ref().map(|call| call.input_arguments.clone());
        // Until 2025 the call was repeated unchanged, with its state.
        let state = || call.as_ref()?.extra_state.clone();
        Self {
            input_arguments: repeated.or_else(arguments),
            outcomes: Vec::new(),
            extra_state: message.extra_state.clone().or_else(state).filter(object),
            function,
            call,
        }
    }

    /// Returns the data sources of the call, in the form of any era.
    pub fn data_sources(&self) -> Vec<DataSource> {
        self.input_arguments
            .as_ref()
            .map(data_sources)
            .unwrap_or_default()
    }

    /// Returns an iterator over the outcomes, each with its data source: outcome *i* belongs to
    /// source *i*.
    pub fn by_source(&self) -> impl Iterator<Item = (Option<DataSource>, &CallOutcome)> {
        let mut sources = self.data_sources().into_iter();
        self.outcomes
            .iter()
            .map(move |outcome| (sources.next(), outcome))
    }

    /// Returns `true` if there is at least one outcome and all of them are failures.
    pub fn failed(&self) -> bool {
        !self.outcomes.is_empty() && self.outcomes.iter().all(CallOutcome::failed)
    }

    /// Deserializes the rows of the first outcome.
    ///
    /// # Errors
    ///
    /// If there is no table, or a row does not match the type.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, JsonError> {
        match self.outcomes.first() {
            Some(outcome) => outcome.rows(),
            None => ResultItem::default().rows(),
        }
    }
}

/// Returns the outcomes in a tool message.
fn outcomes(message: &Message) -> Vec<CallOutcome> {
    let Some(data) = message.data.as_ref().filter(|data| !data.is_null()) else {
        // The first requests had the result as one text in `content`.
        let content = message
            .content
            .clone()
            .map(ResultItem::of)
            .map(CallOutcome::Item);
        return content.into_iter().collect();
    };
    match data.kind() {
        Kind::Object => Wire::from_raw(data)
            .map(CallOutcome::Item)
            .into_iter()
            .collect(),
        Kind::Array => {
            let sorted: Vec<CallOutcome> = data.elements().map(CallOutcome::of).collect();
            let is_row = |outcome: &CallOutcome| matches!(outcome, CallOutcome::Row(_));
            let is_entry = |outcome: &CallOutcome| {
                matches!(outcome, CallOutcome::Items(_) | CallOutcome::Error(_))
            };
            // `content: ""` beside `data` is the form of 2024: these are rows, with any column
            // names.
            let beside_text = message.content.as_ref().is_some_and(is_string);
            let rows = sorted.iter().all(is_row) || beside_text && !sorted.iter().any(is_entry);
            if rows && !sorted.is_empty() {
                return vec![CallOutcome::Rows(data.clone())];
            }
            sorted
        }
        _ => vec![CallOutcome::Unknown(data.clone())],
    }
}

fn is_string(json: &Json) -> bool {
    json.kind() == Kind::String
}
