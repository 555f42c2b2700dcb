//! The logs that this process writes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copilot_wire::replies::ReplyId;

/// The limit of remembered logs: all are forgotten beyond it.
const REMEMBERED: usize = 65_536;
/// The time for which a log counts as read elsewhere: readers repeat their message every second.
const FOLLOWED: Duration = Duration::from_secs(3);

/// A cache of facts about the logs that this process writes. It only saves Redis work.
#[derive(Default)]
pub(crate) struct Writers(Mutex<HashMap<ReplyId, Writer>>);

#[derive(Default)]
struct Writer {
    /// The number of the next event. `None` while it is not certain.
    next: Option<u64>,
    /// The last time at which the log was known to be read elsewhere.
    followed: Option<Instant>,
}

impl Writers {
    fn lock(&self) -> MutexGuard<'_, HashMap<ReplyId, Writer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns the number of the next event of a log. `None` if it is not known.
    pub(crate) fn take_next(&self, id: &ReplyId) -> Option<u64> {
        self.lock().get_mut(id)?.next.take()
    }

    /// Records the number of the next event of a log.
    pub(crate) fn set_next(&self, id: &ReplyId, number: u64) {
        let mut logs = self.lock();
        if logs.len() >= REMEMBERED && !logs.contains_key(id) {
            logs.clear();
        }
        logs.entry(*id).or_default().next = Some(number);
    }

    /// Records that a log is read elsewhere.
    pub(crate) fn follow(&self, id: &ReplyId) {
        if let Some(writer) = self.lock().get_mut(id) {
            writer.followed = Some(Instant::now());
        }
    }

    /// Returns `true` if a log is read elsewhere.
    pub(crate) fn is_followed(&self, id: &ReplyId) -> bool {
        let logs = self.lock();
        let followed = logs.get(id).and_then(|writer| writer.followed);
        followed.is_some_and(|at| at.elapsed() < FOLLOWED)
    }

    /// Forgets a log that has ended.
    pub(crate) fn remove(&self, id: &ReplyId) {
        self.lock().remove(id);
    }
}
