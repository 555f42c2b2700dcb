//! Members of what has gone by, kept for what is made of it.
//!
//! A value that was read is a slice of its event and keeps all of the event in memory; what outlives
//! the event is therefore copied.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::json::{Json, Kind, Members};

/// Members of which the newest counts, by their names. `null` takes nothing back.
#[derive(Clone, Debug, Default)]
pub(super) struct Newest(BTreeMap<String, Json>);

impl Newest {
    /// Takes a member; gives how much of the weight of both, its own and that of the one before it,
    /// is not held any more.
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

    /// Takes members; gives what [`put`](Self::put) gives of each.
    pub(super) fn put_all(&mut self, members: &Members) -> usize {
        let members = members.iter();
        members.map(|(key, value)| self.put(key, value)).sum()
    }

    /// The members in the order of their names.
    pub(super) fn into_members(self) -> Members {
        self.0.into_iter().collect()
    }
}

/// About how much memory a member takes.
pub(super) fn weight(key: &str, value: &Json) -> usize {
    OVERHEAD + key.len() + value.as_bytes().len()
}

/// What a member takes beside its key and its value.
pub(super) const OVERHEAD: usize = 96;

/// About how much memory members take.
pub(super) fn weigh(members: &Members) -> usize {
    members.iter().map(|(key, value)| weight(key, value)).sum()
}

/// The value in memory of its own.
pub(super) fn own(value: &Json) -> Json {
    // It is JSON already.
    Json::parse(Bytes::copy_from_slice(value.as_bytes())).unwrap_or_default()
}

/// Gives members memory of their own.
pub(super) fn detach(members: &mut Members) {
    if !members.is_empty() {
        *members = members
            .iter()
            .map(|(key, value)| (key, own(value)))
            .collect();
    }
}
