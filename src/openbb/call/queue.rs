//! Several calls at once.

use super::FunctionCall;
use crate::json::model::Field;
use crate::json::{Json, Kind, List};
use crate::openbb::QueryRequest;

/// Where the calls wait in the state of the one that runs: the name that OpenBB's own agent uses.
pub(super) const PENDING: &str = "pending_bridge_calls";

/// More calls than this do not wait: a state from the browser may hold anything.
const MOST: usize = 64;

/// Calls that are made one after the other.
///
/// A reply can hold one call. When a model asks for several different ones, put them all in a queue and
/// end with the first: the others travel in its state, and each is made in answer to the request that
/// brings the result before it. The agent is asked again once all have run, with all results, or when
/// a person speaks meanwhile.
///
/// ```
/// use copilot_wire::openbb::{CallQueue, ExecuteClientSql, GetSkillContent, OpenBb};
/// use copilot_wire::protocol::SendError;
/// use copilot_wire::Reply;
///
/// fn ask(reply: Reply<OpenBb>, skill: GetSkillContent, sql: ExecuteClientSql) -> Result<(), SendError> {
///     let mut queue = CallQueue::new();
///     queue.push(skill);
///     queue.push(sql);
///     match queue.next() {
///         Some(call) => reply.end(call),
///         None => Ok(()),
///     }
/// }
/// ```
///
/// What comes back crossed the browser. Every call is checked again when it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQueue {
    calls: std::collections::VecDeque<FunctionCall>,
}

impl CallQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the calls that wait, as the request brings them back; none when a person speaks now.
    /// What is no call is left out, and so is everything past 64 calls.
    pub(in crate::openbb) fn of(request: &QueryRequest) -> Self {
        // What waited when a person spoke is not what that person wants now.
        let state = request.is_result().then(|| request.extra_state()).flatten();
        let pending = state.and_then(|state| state.get(PENDING));
        let calls = pending.iter().flat_map(Json::elements);
        let call = |json: Json| {
            let call = FunctionCall::received(&json)?;
            let named = !call.function.is_empty() && call.input_arguments.kind() == Kind::Object;
            // Made anew: what waited in the browser is checked like a call of the agent's own.
            named.then(|| FunctionCall {
                extra_state: call.extra_state,
                ..FunctionCall::made(call.function, call.input_arguments)
            })
        };
        Self {
            calls: calls.filter_map(call).take(MOST).collect(),
        }
    }

    /// Adds a call behind the others.
    pub fn push(&mut self, call: impl Into<FunctionCall>) {
        self.calls.push_back(call.into());
    }

    /// How many calls wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// True when no call waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The first call, to end the turn with; the others wait in its state. `None`: none waits.
    #[must_use]
    pub fn next(mut self) -> Option<FunctionCall> {
        let first = self.calls.pop_front()?;
        if self.calls.is_empty() {
            return Some(first);
        }
        let rest: List<FunctionCall> = self.calls.into_iter().collect();
        Some(first.filled_with(PENDING, rest.to_raw()))
    }
}

impl FunctionCall {
    /// Adds a member to the state, beside what it would carry anyway.
    fn filled_with(self, key: &str, value: Json) -> Self {
        let made = self.origin;
        let mut call = self.filled().state_member(key, value);
        call.origin = made;
        call
    }
}
