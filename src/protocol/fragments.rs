//! Assembly of calls from fragments.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::mem;

use super::{CallDelta, CallForm, ToolCall};
use crate::json::merge::Merged;
use crate::json::{Json, Members, own};

/// The calls of an answer, while their fragments arrive.
///
/// A call is identified by the key of its fragments, in any order. A fragment with another id and a name starts a new
/// call at its key, because some servers number every call 0; without a name it belongs to the same call, because
/// others send a new id with each fragment. The first id and the first name that are not empty count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) list: Vec<PartialCall>,
    /// The position in the list of the latest call at a key. It is a map, so that memory does not depend on the value
    /// of a key.
    latest: BTreeMap<u64, usize>,
    /// The positions of complete calls, by their ids.
    complete: HashMap<String, usize>,
}

/// A call whose fragments arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartialCall {
    key: u64,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// The members that only the protocol of the call has.
    members: Members,
    /// The members that arrive in pieces, such as the text of a call of a free text tool.
    pieces: BTreeMap<String, Merged>,
    /// `true` if the call is not complete.
    pub(crate) is_open: bool,
}

/// The maximum number of unknown members of a call.
const MAX_MEMBERS: usize = 32;

impl Calls {
    /// Adds a fragment. Returns the approximate memory in bytes of the fragments that it replaces.
    pub(crate) fn push(&mut self, delta: &CallDelta<'_>) -> usize {
        let latest = self.latest.get(&delta.key).copied();
        let is_same = |call: &PartialCall| {
            let is_other = !delta.id.is_empty() && !call.id.is_empty() && call.id != delta.id;
            !is_other || delta.name.is_empty()
        };
        let is_whole = delta.form == CallForm::Whole;
        if is_whole && self.repeated(delta).is_some_and(|at| Some(at) != latest) {
            return weight(delta);
        }
        let end = self.list.len();
        let found = latest.and_then(|at| self.list.get_mut(at));
        if is_whole {
            // Nothing remains of a call that is replaced.
            if let Some(call) = &found {
                self.complete.remove(&call.id);
            }
            self.complete
                .insert(delta.id.to_owned(), latest.unwrap_or(end));
        }
        match found {
            Some(call) if is_whole => {
                let freed = call.weight();
                *call = PartialCall::at(delta.key);
                call.push(delta);
                freed
            }
            Some(call) if is_same(call) => {
                call.push(delta);
                0
            }
            None if delta.form == CallForm::Continued => weight(delta),
            _ => {
                self.latest.insert(delta.key, self.list.len());
                let mut call = PartialCall::at(delta.key);
                call.push(delta);
                self.list.push(call);
                0
            }
        }
    }

    /// Returns the position of the same complete call: the list at the end of an answer numbers its items from zero,
    /// and not every server numbers its events so.
    fn repeated(&self, delta: &CallDelta<'_>) -> Option<usize> {
        let at = *self
            .complete
            .get(delta.id)
            .filter(|_| !delta.id.is_empty())?;
        let call = self.list.get(at)?;
        (call.name == delta.name && call.arguments == delta.arguments).then_some(at)
    }

    /// Returns the calls ordered by key; those with the same key in order of arrival.
    pub(crate) fn into_sorted(mut self) -> Vec<PartialCall> {
        // The sort is stable, so calls with the same key remain in order of arrival.
        self.list.sort_by_key(|call| call.key);
        self.list
    }
}

impl PartialCall {
    pub(crate) fn at(key: u64) -> Self {
        Self {
            key,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, delta: &CallDelta<'_>) {
        for (to, from) in [(&mut self.id, delta.id), (&mut self.name, delta.name)] {
            if to.is_empty() {
                to.push_str(from);
            }
        }
        self.arguments.push_str(delta.arguments);
        for (key, value) in &*delta.members {
            if delta.form == CallForm::Whole {
                self.members.push(key, own(value));
            } else if let Some(first) = self.members.get(key) {
                let pieces = self.pieces.entry(key.to_owned());
                pieces.or_insert_with(|| Merged::new(first)).add(value);
            } else if self.members.len() < MAX_MEMBERS {
                self.members.push(key, own(value));
            }
        }
        self.is_open = delta.form == CallForm::Open;
    }

    /// Returns the number that the fragments of the call share.
    #[allow(dead_code, reason = "only protocols of models use it")]
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// Removes the members that only the protocol of the call has.
    pub(crate) fn take_members(&mut self) -> Members {
        let mut members = mem::take(&mut self.members);
        for (name, pieces) in mem::take(&mut self.pieces) {
            members.set(&name, pieces.into_json());
        }
        members
    }

    /// Returns `true` if there are members that only the protocol of the call has.
    #[allow(dead_code, reason = "only protocols of models use it")]
    pub(crate) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    fn weight(&self) -> usize {
        let fragment = CallDelta::new(self.key, &self.id, &self.name, &self.arguments);
        weight(&fragment) + members_weight(&self.members)
    }
}

impl ToolCall {
    /// Creates a call that a model made. Arguments that are not a JSON object become a string. A reply in which a model
    /// of its protocol may call any tool accepts such a call as it is.
    pub(crate) fn of_model(mut call: PartialCall) -> Self {
        let arguments = Json::parse_object(&call.arguments);
        Self {
            by_model: Some(call.take_members()),
            name: call.name,
            // Serializing a string cannot fail.
            arguments: arguments
                .or_else(|_| Json::encode(&call.arguments))
                .unwrap_or_default(),
            id: Some(call.id).filter(|id| !id.is_empty()),
        }
    }

    /// Returns the text of the arguments: the JSON object, or the text of a model that is not one.
    #[allow(dead_code, reason = "only protocols of models use it")]
    pub(crate) fn arguments_text(&self) -> Cow<'_, str> {
        let text = self.arguments.string().filter(|_| self.by_model.is_some());
        text.unwrap_or_else(|| Cow::Borrowed(self.arguments.text()))
    }
}

/// Returns the approximate memory in bytes that a fragment adds.
pub(crate) fn weight(delta: &CallDelta<'_>) -> usize {
    // Only the fragment that starts the call has the name.
    let opening = match delta.name {
        "" => 0,
        _ => size_of::<PartialCall>(),
    };
    64 + opening
        + delta.id.len()
        + delta.name.len()
        + delta.arguments.len()
        + members_weight(&delta.members)
}

fn members_weight(members: &Members) -> usize {
    let weights = members
        .iter()
        .map(|(key, value)| 96 + key.len() + value.as_bytes().len());
    weights.sum()
}
