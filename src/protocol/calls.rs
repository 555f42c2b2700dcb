//! The calls of a conversation, in which the call of each result is found.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Call, ToolResult};

/// The calls of a conversation. Finding the call of a result takes the same time for any number of calls.
#[derive(Default)]
pub(crate) struct Calls<'a> {
    all: Vec<Link>,
    by_id: HashMap<Cow<'a, str>, Queue>,
    by_name: HashMap<Cow<'a, str>, Queue>,
    any: Queue,
    /// The position of the first call since the last user message.
    turn: usize,
}

/// A call, and the next calls with the same id and with the same name.
#[derive(Default)]
struct Link {
    has_result: bool,
    id: usize,
    name: usize,
}

/// The positions of the first call that may have no result yet, and of the last call.
#[derive(Clone, Copy, Default)]
struct Queue {
    first: usize,
    last: usize,
}

impl<'a> Calls<'a> {
    /// Adds a call, whose position is the number of calls before it.
    pub(crate) fn push(&mut self, call: &Call<'a>, has_result: bool) {
        let at = self.all.len();
        let new = Queue {
            first: at,
            last: at,
        };
        // An empty id refers to no call.
        if let Some(id) = call.id.as_ref().filter(|id| !id.is_empty()) {
            let queue = self.by_id.entry(id.clone()).or_insert(new);
            if let Some(before) = self.all.get_mut(queue.last) {
                before.id = at;
            }
            queue.last = at;
        }
        let queue = self.by_name.entry(call.name.clone()).or_insert(new);
        if let Some(before) = self.all.get_mut(queue.last) {
            before.name = at;
        }
        queue.last = at;
        self.any.last = at;
        self.all.push(Link {
            has_result,
            ..Link::default()
        });
    }

    /// Begins a turn. A result belongs to a call of an earlier turn only if no later call fits: some providers reuse
    /// ids, and calls may remain without a result.
    pub(crate) fn turn(&mut self) {
        self.turn = self.all.len();
    }

    /// Returns the position of the last call with this id.
    #[allow(dead_code, reason = "only dialects of models ask for it")]
    pub(crate) fn last(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).map(|queue| queue.last)
    }

    /// Returns the position of the call that a result belongs to: of the calls with its id the first of this turn that
    /// has no result, else the last; without an id, of the calls of its tool, and without a name, of all calls, the
    /// first that has no result.
    pub(crate) fn answered(&mut self, result: &ToolResult<'_>) -> Option<usize> {
        let all = &mut self.all;
        let id = result.call_id.as_deref().filter(|id| !id.is_empty());
        let (queue, next): (_, fn(usize, &Link) -> usize) = match (id, &*result.name) {
            (Some(id), _) => (self.by_id.get_mut(id)?, |_, link| link.id),
            (None, "") => (&mut self.any, |at, _| at + 1),
            (None, name) => (self.by_name.get_mut(name)?, |_, link| link.name),
        };
        // Each step moves the beginning of a queue for good.
        while let Some(link) = all.get(queue.first) {
            let is_open = !link.has_result && queue.first >= self.turn;
            if is_open || queue.first >= queue.last {
                break;
            }
            queue.first = next(queue.first, link);
        }
        let link = all.get_mut(queue.first)?;
        let is_new = !std::mem::replace(&mut link.has_result, true);
        (is_new || id.is_some()).then_some(queue.first)
    }
}
