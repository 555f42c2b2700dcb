//! A queue of calls that are made one after the other.

use std::collections::HashSet;

use crate::json::{Json, Kind, List, Wire};
use crate::openbb::QueryRequest;
use crate::openbb::function_call::{FunctionCall, MODEL_ARGUMENTS, with_members};

/// The state member with the queued calls. OpenBB's own agent uses the same name.
const PENDING: &str = "pending_bridge_calls";

/// The maximum number of queued calls; the state from the browser can have any size.
const MAX_QUEUED: usize = 64;

/// A queue of calls that are made one after the other.
///
/// A reply can have one call. If a model makes several different ones, put them all in a queue and
/// end the reply with the first: the others are sent in its state, and each is made in reply to the
/// request with the previous result. The agent runs again once all calls have results, or when the
/// user writes a message in between.
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
/// The browser can change the state, so every call is checked again when it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQueue {
    calls: std::collections::VecDeque<FunctionCall>,
}

impl CallQueue {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the queued calls in the request's state; none if the latest message is the user's.
    /// Entries that are not calls are skipped, and so are entries after the 64th.
    pub(in crate::openbb) fn of(request: &QueryRequest) -> Self {
        // A message of the user cancels the queued calls.
        let state = request.is_result().then(|| request.extra_state()).flatten();
        let pending = state.and_then(|state| state.get(PENDING));
        let calls = pending.iter().flat_map(Json::elements);
        let call = |json: Json| {
            let call = FunctionCall::received(&json)?;
            let named = !call.function.is_empty() && call.input_arguments.kind() == Kind::Object;
            // The origin is `Made`, so that a call from the browser is checked like the agent's
            // own.
            named.then(|| FunctionCall {
                extra_state: call.extra_state,
                ..FunctionCall::made(call.function, call.input_arguments)
            })
        };
        Self {
            calls: calls.filter_map(call).take(MAX_QUEUED).collect(),
        }
    }

    /// Appends a call.
    pub fn push(&mut self, call: impl Into<FunctionCall>) {
        self.calls.push_back(call.into());
    }

    /// Returns the first call, with the others in its state, to end the turn with. Returns `None`
    /// if the queue is empty.
    #[must_use]
    pub fn next(mut self) -> Option<FunctionCall> {
        let first = self.calls.pop_front()?;
        // Without a queue nothing is added: the event adds the default state, marked as such.
        if self.calls.is_empty() {
            return Some(first);
        }
        let rest: List<FunctionCall> = self.calls.into_iter().collect();
        Some(first.filled_with(PENDING, rest.to_raw()))
    }
}

impl FunctionCall {
    /// Copies the state that came with the latest result into this call. Only the state of the last
    /// call is returned, so every call must repeat the state that is still needed.
    pub fn state_from(mut self, request: &QueryRequest) -> Self {
        let Some(old) = request.extra_state() else {
            return self;
        };
        let own = self.extra_state.clone().unwrap_or_default();
        let mut set: HashSet<_> = own.members().map(|(key, _)| key).collect();
        // These two belong to the call that was answered: its arguments, and the queue before it
        // was taken. Copied, they would describe the wrong call, and make the queued calls again.
        set.extend([MODEL_ARGUMENTS.into(), PENDING.into()]);
        let carried: Vec<_> = old
            .members()
            // `insert` also drops further members with the same key: the first one counts.
            .filter(|(key, _)| set.insert(key.clone()))
            .map(|(key, value)| (key.into_owned(), value))
            .collect();
        if !carried.is_empty() {
            self.extra_state = Some(with_members(&own, carried));
        }
        self
    }

    /// Adds a member to the state that the call has by default.
    fn filled_with(self, key: &str, value: Json) -> Self {
        // `filled` would mark the call as one whose state old front ends need not get, but the queue
        // must be sent to all.
        let made = self.origin;
        let mut call = self.filled().state_member(key, value);
        call.origin = made;
        call
    }
}
