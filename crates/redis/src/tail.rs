//! The recent events of a log, which the readers in this process share.
//!
//! One reader at a time reads from Redis, and all readers get the result. This only saves reads: a reader that needs
//! other events reads for itself.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use copilot_wire::replies::{LogPage, ReplyEnd};
use tokio::sync::watch;

/// The bytes of recent events that stay in memory.
const RING: usize = 64 * 1024;
/// The time for which a read counts: messages get lost, and logs expire.
const FRESH: Duration = Duration::from_millis(250);
/// The time between two checks of the process that writes a log. A waiting reader checks every second.
const CHECK: Duration = Duration::from_millis(900);
/// The time after which an earlier check of a lease no longer counts.
const FORGOTTEN: Duration = Duration::from_secs(5);

/// The recent events of a log that is read here.
pub(crate) struct Tail {
    /// The number of messages about this log.
    changes: watch::Sender<u64>,
    /// The lock of the reader that reads from Redis.
    pub(crate) turn: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

struct State {
    used: Instant,
    /// Parts of the log without a gap, each with the number of its first event.
    pages: VecDeque<(u64, Bytes)>,
    /// The bytes of `pages`.
    size: usize,
    /// The number of the event after the last page.
    next: u64,
    end: Option<ReplyEnd>,
    /// The time of the last read or message with events.
    looked: Option<Instant>,
    /// The number of messages before a read that reached the end of the log.
    complete: Option<u64>,
    /// The time of the last read that failed.
    failed: Option<Instant>,
    /// The time of the last check of the process that writes this log. The next field has the first and the last time
    /// at which its lease was missing.
    checked: Option<Instant>,
    missed: Option<(Instant, Instant)>,
}

/// The result of a search in the events that are shared.
pub(crate) enum Found {
    Page(LogPage),
    /// There is nothing new in Redis.
    Nothing,
    /// One reader must read from Redis, for all readers.
    Look,
    /// The event is not among the shared events: the reader reads for itself.
    Apart,
}

impl Tail {
    pub(crate) fn new() -> Self {
        Self {
            changes: watch::Sender::new(0),
            turn: tokio::sync::Mutex::default(),
            state: Mutex::new(State {
                used: Instant::now(),
                pages: VecDeque::new(),
                size: 0,
                next: 0,
                end: None,
                looked: None,
                complete: None,
                failed: None,
                checked: None,
                missed: None,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a receiver of the changes from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.lock().used = Instant::now();
        self.changes.subscribe()
    }

    /// Wakes all readers.
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Returns the number of changes so far.
    pub(crate) fn count(&self) -> u64 {
        *self.changes.borrow()
    }

    /// Adds the events of a message, if they are the next ones, and wakes all readers.
    pub(crate) fn append(&self, first: u64, count: u64, events: Bytes) {
        let mut state = self.lock();
        let changes = self.count();
        if state.looked.is_none() || state.end.is_some() || first != state.next {
            drop(state);
            return self.changed();
        }
        state.push(first, events);
        state.next = first.saturating_add(count);
        state.looked = Some(Instant::now());
        // If the shared events were complete before, they are complete with these.
        let is_complete = state.complete == Some(changes);
        state.complete = is_complete.then_some(changes + 1);
        self.changed();
    }

    /// Searches the shared events from event `from` on.
    pub(crate) fn find(&self, from: u64) -> Found {
        let state = self.lock();
        if !state.is_fresh() {
            return Found::Look;
        }
        if from >= state.next {
            return match (state.end, state.complete) {
                (Some(end), _) => Found::Page(LogPage::new(from..from, Bytes::new(), Some(end))),
                (None, Some(complete)) if complete == self.count() => Found::Nothing,
                _ => Found::Look,
            };
        }
        let after = state.pages.partition_point(|(first, _)| *first <= from);
        let page = after.checked_sub(1).and_then(|at| state.pages.get(at));
        match page {
            Some((first, events)) => {
                let next = state.pages.get(after).map_or(state.next, |(next, _)| *next);
                let end = state.end.filter(|_| next == state.next);
                Found::Page(LogPage::new(*first..next, events.clone(), end))
            }
            None => Found::Apart,
        }
    }

    /// Adds a page that was read from event `from` on: an event of the log, or the next one. `complete` is the number
    /// of changes before the read, if it reached the end of the log.
    pub(crate) fn add(&self, from: u64, page: &LogPage, complete: Option<u64>) {
        let mut state = self.lock();
        if from != state.next || !state.is_fresh() {
            state.clear();
        }
        (state.next, state.end) = (from, page.end);
        if !page.events.is_empty() {
            state.push(page.first, page.events.clone());
            state.next = page.next;
        }
        (state.looked, state.complete) = (Some(Instant::now()), complete);
    }

    /// Records that a read has failed.
    pub(crate) fn fail(&self) {
        self.lock().failed = Some(Instant::now());
    }

    /// Returns `true` if a read has failed since `start`.
    pub(crate) fn has_failed_since(&self, start: Instant) -> bool {
        self.lock().failed.is_some_and(|failed| failed >= start)
    }

    /// Returns `true` if the caller must check the process that writes this log: before the first reader waits, and
    /// after a silence. In a cluster, also while messages come: the process cannot know who gets them, so readers
    /// notify it.
    pub(crate) fn claim_check(&self, is_silent: bool, is_cluster: bool) -> bool {
        let mut state = self.lock();
        let is_due = match state.checked {
            Some(at) => {
                let since = at.elapsed();
                (is_silent && since >= CHECK) || (is_cluster && since >= 2 * CHECK)
            }
            None => true,
        };
        if is_due {
            state.checked = Some(Instant::now());
        }
        is_due
    }

    /// Records whether the process that writes this log is dead, and returns for how long. Zero if it is alive.
    pub(crate) fn note_producer(&self, is_dead: bool) -> Duration {
        let mut state = self.lock();
        if !is_dead {
            state.missed = None;
            return Duration::ZERO;
        }
        let now = Instant::now();
        let first = match state.missed {
            Some((first, last)) if now - last < FORGOTTEN => first,
            // Nobody checked in between, so the process may have been alive.
            _ => now,
        };
        state.missed = Some((first, now));
        now - first
    }

    /// Drops events that are too old to be used. Returns `true` if nobody has read the log for `time`.
    pub(crate) fn tidy(&self, time: Duration) -> bool {
        let mut state = self.lock();
        if !state.is_fresh() {
            state.clear();
        }
        state.used.elapsed() > time
    }
}

impl State {
    fn is_fresh(&self) -> bool {
        self.looked.is_some_and(|looked| looked.elapsed() < FRESH)
    }

    /// Adds events, the first of which has the number `first`.
    fn push(&mut self, first: u64, events: Bytes) {
        self.size += events.len();
        self.pages.push_back((first, events));
        while self.size > RING && self.pages.len() > 1 {
            let first = self.pages.pop_front();
            self.size -= first.map_or(0, |(_, events)| events.len());
        }
    }

    fn clear(&mut self) {
        (self.pages, self.size) = (VecDeque::new(), 0);
    }
}
