//! Assembly of calls from fragments.

use std::collections::BTreeMap;

use super::{FunctionCall, ToolCall, ToolCallDelta, ToolKind, retained};
use crate::json::{Members, own};

/// The calls of one choice, while their fragments arrive.
///
/// A call is identified by the index of its fragments, in any order. A fragment with another id than the call at its
/// index starts a new call at that index, because some servers number every call 0. The first id and the first name
/// that are not empty count.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    list: Vec<Building>,
    /// The position in the list of the latest call at an index. It is a map, so that memory does
    /// not depend on the value of an index.
    latest: BTreeMap<u32, usize>,
}

/// A call that is not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Building {
    index: u32,
    pub(super) id: String,
    pub(super) kind: Option<ToolKind>,
    pub(super) name: String,
    pub(super) arguments: String,
    /// The unknown members of its fragments.
    pub(super) unknown: Members,
}

/// The maximum number of unknown members of a call.
const MAX_UNKNOWN: usize = 32;

impl Calls {
    /// Adds a fragment.
    pub(super) fn push(&mut self, fragment: &ToolCallDelta) {
        let id = fragment.id.as_deref().unwrap_or_default();
        let latest = self.latest.get(&fragment.index).copied();
        let found = latest.and_then(|at| self.list.get_mut(at));
        match found {
            Some(call) if id.is_empty() || call.id.is_empty() || call.id == id => {
                call.push(fragment);
            }
            _ => {
                // Another id at a known index starts another call: compatible servers send index 0
                // for every call.
                self.latest.insert(fragment.index, self.list.len());
                let mut call = Building {
                    index: fragment.index,
                    ..Building::default()
                };
                call.push(fragment);
                self.list.push(call);
            }
        }
    }

    /// Adds a complete call after all others.
    pub(super) fn push_whole(&mut self, id: String, name: &str, arguments: &str) {
        self.list.push(Building {
            // The index places the call after all others.
            index: u32::MAX,
            id,
            kind: None,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            unknown: Members::new(),
        });
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Building> {
        self.list.get_mut(at)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the calls ordered by index; those with the same index in order of arrival.
    pub(super) fn into_calls(self) -> impl Iterator<Item = ToolCall> {
        let mut list = self.list;
        // The sort is stable, so calls with the same index remain in order of arrival.
        list.sort_by_key(|call| call.index);
        list.into_iter().map(|call| ToolCall {
            id: call.id,
            kind: call.kind.unwrap_or_default(),
            function: FunctionCall {
                name: call.name,
                arguments: call.arguments,
                unknown: Members::new(),
            },
            unknown: call.unknown,
        })
    }
}

impl Building {
    fn push(&mut self, fragment: &ToolCallDelta) {
        if let (true, Some(id)) = (self.id.is_empty(), &fragment.id) {
            self.id.clone_from(id);
        }
        if self.kind.is_none() {
            self.kind.clone_from(&fragment.kind);
        }
        if let Some(function) = &fragment.function {
            if let (true, Some(name)) = (self.name.is_empty(), &function.name) {
                self.name.clone_from(name);
            }
            self.arguments
                .push_str(function.arguments.as_deref().unwrap_or_default());
        }
        for (key, value) in &fragment.unknown {
            if self.unknown.len() < MAX_UNKNOWN {
                self.unknown.push(key, own(value));
            }
        }
    }
}

/// Returns the approximate memory in bytes that a fragment adds.
pub(super) fn weight(fragment: &ToolCallDelta) -> usize {
    let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let function = fragment.function.as_ref();
    // Only the fragment that starts the call has the name.
    let opens = function.is_some_and(|function| function.name.is_some());
    let opening = if opens { size_of::<Building>() } else { 0 };
    64 + opening
        + len(&fragment.id)
        + fragment.kind.as_ref().map_or(0, |kind| kind.as_str().len())
        + function.map_or(0, |function| len(&function.name) + len(&function.arguments))
        + retained::weights(&fragment.unknown)
}
