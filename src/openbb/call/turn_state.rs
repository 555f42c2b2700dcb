//! The state of a turn that takes several requests.

use crate::json::{Members, Wire};
use crate::openbb::{FunctionCall, QueryRequest};
use crate::protocol::Usage;

/// The state of a turn that takes several requests, in the members of `extra_state` that OpenBB's own
/// agent uses.
///
/// A turn with calls is several requests, and only the first one has the user's time zone. An agent
/// that sends this state with every call has the time zone in all of them, can join them in one trace,
/// and knows the tokens of the whole turn:
///
/// ```
/// use copilot_wire::openbb::{FunctionCall, GetWidgetData, QueryRequest};
/// use copilot_wire::protocol::Usage;
///
/// fn ask(request: &QueryRequest, call: GetWidgetData, spent: Usage) -> FunctionCall {
///     let mut turn = request.turn_state();
///     turn.add_usage(spent);
///     FunctionCall::from(call).turn_state(&turn)
/// }
/// ```
///
/// The state is sent through the browser, which can change it: check it before you rely on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct TurnState {
    /// The header `traceparent` of the turn's first request.
    pub traceparent: String,
    /// The user's time zone by its IANA name.
    pub timezone: String,
    /// The tokens of the turn so far.
    pub turn_usage: Option<TurnUsage>,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

/// The tokens of a turn so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(rename_all = "camelCase")]
pub struct TurnUsage {
    /// The number of tokens of the prompts, including those that were read from a cache.
    #[wire(always)]
    pub input_tokens: u64,
    /// The number of tokens of the prompts that were read from a cache.
    #[wire(always)]
    pub cached_input_tokens: u64,
    /// Tokens of the prompts that were written to a cache.
    #[wire(always)]
    pub cache_write_tokens: u64,
    /// Tokens of the answers.
    #[wire(always)]
    pub output_tokens: u64,
    /// Tokens of prompts and answers.
    #[wire(always)]
    pub total_tokens: u64,
    /// The number of requests.
    #[wire(always)]
    pub post_count: u64,
    /// Members that this crate does not know or cannot read.
    pub unknown: Members,
}

impl TurnState {
    /// Adds the tokens of one request, and counts the request.
    pub fn add_usage(&mut self, usage: Usage) {
        let turn = self.turn_usage.get_or_insert_default();
        // The browser can change the totals to any number.
        let add = |total: &mut u64, tokens: u64| *total = total.saturating_add(tokens);
        add(&mut turn.input_tokens, usage.input_tokens);
        add(&mut turn.cached_input_tokens, usage.cached_input_tokens);
        add(&mut turn.output_tokens, usage.output_tokens);
        let both = usage.input_tokens.saturating_add(usage.output_tokens);
        add(&mut turn.total_tokens, both);
        add(&mut turn.post_count, 1);
    }
}

impl QueryRequest {
    /// Returns the state of the turn: the state that was returned with the result; for the first request of a turn,
    /// only its time zone. Members of another type count as absent.
    pub fn turn_state(&self) -> TurnState {
        // After a message of the user a new turn begins: the state of the previous one is not its
        // own.
        let state = self.is_result().then(|| self.extra_state()).flatten();
        let turn = state.and_then(|state| TurnState::from_raw(&state));
        let mut turn = turn.unwrap_or_default();
        // The other members belong to other writers of the state.
        turn.unknown = Members::new();
        // The Workspace sends the time zone with the user's message only, not with results.
        if turn.timezone.is_empty() {
            turn.timezone.clone_from(&self.timezone);
        }
        turn
    }
}

impl FunctionCall {
    /// Adds the state of the turn to the state that is returned with the result of the call. Empty members are omitted.
    pub fn turn_state(mut self, turn: &TurnState) -> Self {
        for (key, value) in turn.to_raw().members() {
            self = self.state_member(&key, value);
        }
        self
    }
}
