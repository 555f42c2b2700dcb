//! Members that are retained after their event.
//!
//! A value that was read is a slice of its event and keeps the complete event in memory, so values
//! that outlive the event are copied.

use std::collections::BTreeMap;

use crate::json::{Json, Kind, Members, own};

/// Members by name, of which the latest value counts. A later `null` does not remove a value.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestMembers(BTreeMap<String, Json>);

impl LatestMembers {
    /// Adds a member. Returns the weight that is not retained: that of the replaced value, or of a value
    /// that changes nothing.
    pub(super) fn put(&mut self, key: &str, value: &Json) -> usize {
        match self.0.get_mut(key) {
            Some(old) if value.kind() == Kind::Null || old == value => weight(key, value),
            Some(old) => {
                let freed = weight(key, old);
                *old = own(value);
                freed
            }
            None => {
                self.0.insert(key.to_owned(), own(value));
                0
            }
        }
    }

    /// Adds members; returns the sum of what [`put`](Self::put) returns.
    pub(super) fn put_all(&mut self, members: &Members) -> usize {
        let members = members.iter();
        members.map(|(key, value)| self.put(key, value)).sum()
    }

    /// Returns the members ordered by name.
    pub(super) fn into_members(self) -> Members {
        self.0.into_iter().collect()
    }
}

/// Returns the approximate memory in bytes of a member.
pub(super) fn weight(key: &str, value: &Json) -> usize {
    OVERHEAD + key.len() + value.as_bytes().len()
}

/// The memory in bytes of a member besides its key and its value.
pub(super) const OVERHEAD: usize = 96;

/// Returns the approximate memory in bytes of members.
pub(super) fn weights(members: &Members) -> usize {
    members.iter().map(|(key, value)| weight(key, value)).sum()
}
