//! A set of tasks that wait for a change.

use std::collections::BTreeMap;
use std::mem;
use std::task::{Context, Waker};

/// The wakers of tasks that wait for a change. Each waiter has one entry and removes it when it is dropped.
#[derive(Default)]
pub(crate) struct Wakers {
    wakers: BTreeMap<u64, Waker>,
    last: u64,
}

/// The key of a waiter in its [`Wakers`]; `None` until it has waited.
pub(crate) type Key = Option<u64>;

impl Wakers {
    /// Registers the task to be woken at the next change.
    pub(crate) fn wait(&mut self, key: &mut Key, cx: &Context<'_>) {
        let key = *key.get_or_insert_with(|| {
            self.last += 1;
            self.last
        });
        let waker = self.wakers.entry(key);
        waker
            // The waiter may have moved to another task: the newest waker is used. `clone_from` does nothing if the
            // waker is the same.
            .and_modify(|waker| waker.clone_from(cx.waker()))
            .or_insert_with(|| cx.waker().clone());
    }

    /// Removes the entry of a waiter that is dropped.
    pub(crate) fn remove(&mut self, key: Key) {
        if let Some(key) = key {
            self.wakers.remove(&key);
        }
    }

    /// Removes and returns all wakers, so that the caller can call them without a lock.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Waker> + use<> {
        mem::take(&mut self.wakers).into_values()
    }
}
