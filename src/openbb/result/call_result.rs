//! The result of one call, with the call.

use serde::de::DeserializeOwned;

use super::{Item, Outcome};
use crate::json::model::Field;
use crate::json::{Json, JsonError, Kind};
use crate::openbb::FunctionCall;
use crate::openbb::call::DataSource;
use crate::openbb::request::{Message, Role};

/// The result of one call, with the call that it answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallResult {
    /// The function that was called.
    pub function: String,
    /// Its arguments: what the Workspace repeated, else what the call before said.
    pub input_arguments: Option<Json>,
    /// What came back. For widget data one outcome for each data source, in order.
    pub outcomes: Vec<Outcome>,
    /// What the agent sent along with the call. It crossed the browser: never trust it further
    /// than the user.
    pub extra_state: Option<Json>,
    /// The call, as the conversation has it.
    pub call: Option<FunctionCall>,
}

impl CallResult {
    /// The results among messages, each with the call right before it.
    pub(in crate::openbb) fn all<'a>(messages: impl Iterator<Item = &'a Message>) -> Vec<Self> {
        let mut call = None;
        let mut results = Vec::new();
        for message in messages {
            match message.role() {
                Role::Ai => call = message.call(),
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

    /// Reads all but the data, which may be large.
    pub(in crate::openbb) fn without_outcomes(
        message: &Message,
        call: Option<FunctionCall>,
    ) -> Self {
        let object = |json: &Json| json.kind() == Kind::Object;
        let function = match (&message.function, &call) {
            (function, Some(call)) if function.is_empty() => call.function.clone(),
            (function, _) => function.clone(),
        };
        // A result answers the call right before it, or none that is known.
        let call = call.filter(|call| call.function == function);
        let repeated = message.input_arguments.clone().filter(object);
        let arguments = || call.as_ref().map(|call| call.input_arguments.clone());
        // Until 2025 the call itself came back character for character, with its state.
        let state = || call.as_ref()?.extra_state.clone();
        Self {
            input_arguments: repeated.or_else(arguments),
            outcomes: Vec::new(),
            extra_state: message.extra_state.clone().or_else(state).filter(object),
            function,
            call,
        }
    }

    /// The data sources that were asked, whatever the era's form of the arguments.
    #[must_use]
    pub fn data_sources(&self) -> Vec<DataSource> {
        self.input_arguments
            .as_ref()
            .map(crate::openbb::call::data_sources)
            .unwrap_or_default()
    }

    /// Every outcome with the data source that it answers: element *i* answers source *i*.
    pub fn by_source(&self) -> impl Iterator<Item = (Option<DataSource>, &Outcome)> {
        let mut sources = self.data_sources().into_iter();
        self.outcomes
            .iter()
            .map(move |outcome| (sources.next(), outcome))
    }

    /// Whether every outcome says that the call failed, and there is one.
    #[must_use]
    pub fn failed(&self) -> bool {
        !self.outcomes.is_empty() && self.outcomes.iter().all(Outcome::failed)
    }

    /// The rows of the first outcome, as a type of your own.
    ///
    /// # Errors
    ///
    /// When there is no table, or a row does not fit.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, JsonError> {
        match self.outcomes.first() {
            Some(outcome) => outcome.rows(),
            None => Item::default().rows(),
        }
    }
}

/// Sorts what a tool message holds.
fn outcomes(message: &Message) -> Vec<Outcome> {
    let Some(data) = message.data.as_ref().filter(|data| !data.is_null()) else {
        // The first results were one text in `content`.
        let content = message.content.clone().map(Item::of).map(Outcome::Item);
        return content.into_iter().collect();
    };
    match data.kind() {
        Kind::Object => Field::from_raw(data)
            .map(Outcome::Item)
            .into_iter()
            .collect(),
        Kind::Array => {
            let sorted: Vec<Outcome> = data.elements().map(Outcome::of).collect();
            let is_row = |outcome: &Outcome| matches!(outcome, Outcome::Row(_));
            let is_entry =
                |outcome: &Outcome| matches!(outcome, Outcome::Items(_) | Outcome::Error(_));
            // `content: ""` beside `data`: rows of 2024, whatever their columns are called.
            let beside_text = message.content.as_ref().is_some_and(is_string);
            let rows = sorted.iter().all(is_row) || beside_text && !sorted.iter().any(is_entry);
            if rows && !sorted.is_empty() {
                return vec![Outcome::Rows(data.clone())];
            }
            sorted
        }
        _ => vec![Outcome::Unknown(data.clone())],
    }
}

fn is_string(json: &Json) -> bool {
    json.kind() == Kind::String
}
