//! Fragments of calls, put together again.

use std::collections::BTreeMap;

use super::{FunctionCall, ToolCall, ToolCallDelta, ToolKind, kept};
use crate::json::Members;

/// The calls of one choice, while their fragments come in.
///
/// A call is found by the index of its fragment, in any order. A fragment that has another id than
/// the call that its index stands for opens a new call, which the index then stands for: some
/// servers number every call 0. Id and name count once, the first time that they are not empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    list: Vec<Building>,
    /// Where the newest call of an index is in the list. A map, so that an index from the wire is
    /// never a size.
    newest: BTreeMap<u32, usize>,
}

/// A call of which more may come.
#[derive(Clone, Debug, Default)]
pub(super) struct Building {
    index: u32,
    pub(super) id: String,
    pub(super) kind: Option<ToolKind>,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Members of its fragments that this crate does not know.
    pub(super) unknown: Members,
}

/// How many unknown members of one call are kept.
const MAX_UNKNOWN: usize = 32;

impl Calls {
    /// Adds a fragment.
    pub(super) fn push(&mut self, fragment: &ToolCallDelta) {
        let id = fragment.id.as_deref().unwrap_or_default();
        let newest = self.newest.get(&fragment.index).copied();
        let found = newest.and_then(|at| self.list.get_mut(at));
        match found {
            Some(call) if id.is_empty() || call.id.is_empty() || call.id == id => {
                call.push(fragment);
            }
            _ => {
                self.newest.insert(fragment.index, self.list.len());
                let mut call = Building {
                    index: fragment.index,
                    ..Building::default()
                };
                call.push(fragment);
                self.list.push(call);
            }
        }
    }

    /// Adds a whole call behind all others.
    pub(super) fn push_whole(&mut self, id: String, name: &str, arguments: &str) {
        self.list.push(Building {
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

    /// The calls in the order of their indexes; those of one index in the order of their coming.
    pub(super) fn into_calls(self) -> impl Iterator<Item = ToolCall> {
        let mut list = self.list;
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
        for (key, value) in fragment.unknown.iter() {
            if self.unknown.len() < MAX_UNKNOWN {
                self.unknown.push(key, kept::own(value));
            }
        }
    }
}

/// About how much memory a fragment takes when it is kept.
pub(super) fn weight(fragment: &ToolCallDelta) -> usize {
    let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let function = fragment.function.as_ref();
    // The name comes with the fragment that opens the call.
    let opens = function.is_some_and(|function| function.name.is_some());
    let opening = if opens { size_of::<Building>() } else { 0 };
    64 + opening
        + len(&fragment.id)
        + fragment.kind.as_ref().map_or(0, |kind| kind.as_str().len())
        + function.map_or(0, |function| len(&function.name) + len(&function.arguments))
        + kept::weigh(&fragment.unknown)
}
