//! The open questions and the used questions of this process.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::proof::PlaceId;

/// The time for which a question may be answered, in minutes.
pub(super) const MINUTES: u64 = 60;

/// The number of minutes by which the clock may go back without consequences: turns run at the same time.
const BACK: u64 = 2;

/// The maximum number of open questions, and of used questions, that are stored.
const MOST: usize = 1 << 16;

/// A bounded store of the open questions and the used questions.
///
/// A question that is forgotten because a limit was reached counts as used, so it cannot be answered again.
#[derive(Default)]
pub(super) struct Ledger {
    /// `false` if no question is open. Most turns read only this flag and take no lock.
    asked: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: BTreeSet<(PlaceId, Asked)>,
    /// The open questions in the order of asking. Questions that were closed since may still be in it.
    order: VecDeque<(PlaceId, Asked)>,
    used: BTreeSet<Asked>,
    /// All questions that were asked up to this minute count as used.
    forgotten: Option<u64>,
    /// The latest minute that the clock has shown since it last went back.
    latest: u64,
    /// `true` if the turns have several clocks, so that a time tells nothing about another.
    has_many_clocks: bool,
}

/// A question, identified by the minute of asking and the tag of its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Asked {
    pub(super) minute: u64,
    pub(super) tag: u64,
}

/// Writes a text that is unique to the question.
#[cfg(feature = "resumable")]
impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.minute, self.tag)
    }
}

impl Ledger {
    /// Creates a ledger of turns with several clocks, which drops used questions only at its limit.
    pub(super) fn of_many_clocks() -> Self {
        let ledger = Self::default();
        ledger.lock(0).has_many_clocks = true;
        ledger
    }

    fn lock(&self, now: u64) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code under it panics in the middle of a change.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.note(now);
        state
    }

    /// Adds an open question.
    pub(super) fn open(&self, place: PlaceId, asked: Asked) {
        let mut state = self.lock(asked.minute);
        self.asked.store(true, Ordering::Release);
        if state.order.len() >= MOST {
            if let Some((place, oldest)) = state.order.pop_front() {
                if state.open.remove(&(place, oldest)) {
                    state.spend(oldest);
                }
            }
        }
        state.open.insert((place, asked));
        state.order.push_back((place, asked));
    }

    /// Returns `true` if any question may be open.
    pub(super) fn has_open(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Marks the open questions of a place as used, and returns them.
    pub(super) fn close(&self, place: PlaceId, now: u64) -> Vec<Asked> {
        let mut state = self.lock(now);
        let from = Asked { minute: 0, tag: 0 };
        let to = Asked {
            minute: u64::MAX,
            tag: u64::MAX,
        };
        let range = state.open.range((place, from)..=(place, to));
        let closed: Vec<Asked> = range.map(|(_, asked)| *asked).collect();
        for asked in &closed {
            state.open.remove(&(place, *asked));
            state.spend(*asked);
        }
        if state.open.is_empty() {
            state.order.clear();
            self.asked.store(false, Ordering::Release);
        }
        closed
    }

    /// Marks a question as used. Returns `false` if it was used already.
    pub(super) fn spend(&self, place: PlaceId, asked: Asked, now: u64) -> bool {
        let mut state = self.lock(now);
        state.open.remove(&(place, asked));
        state.spend(asked)
    }
}

impl State {
    /// Notes the time. Another server or the store may have forgotten used questions while the clock was ahead, so all
    /// questions that were asked count as used once the clock goes back.
    fn note(&mut self, now: u64) {
        if self.has_many_clocks {
            return;
        }
        if now + BACK < self.latest {
            self.forget(now);
            self.latest = now;
        }
        self.latest = self.latest.max(now);
    }

    fn spend(&mut self, asked: Asked) -> bool {
        let is_new =
            self.forgotten.is_none_or(|minute| asked.minute > minute) && self.used.insert(asked);
        // Questions from before this minute count as stale, so they need not be stored. They would count again if the
        // clock went back, so the minute is remembered.
        let stale = self.latest.saturating_sub(MINUTES + BACK);
        while let Some(oldest) = self.used.first().map(|oldest| oldest.minute) {
            if oldest >= stale && self.used.len() <= MOST {
                break;
            }
            // Forgets the whole minute: a single forgotten question could not be told from a new one.
            self.forget(oldest);
        }
        is_new
    }

    /// Removes the used questions up to a minute. All questions of that time count as used from now on.
    fn forget(&mut self, minute: u64) {
        self.used = self.used.split_off(&Asked {
            minute: minute.saturating_add(1),
            tag: 0,
        });
        self.forgotten = self.forgotten.max(Some(minute));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> PlaceId {
        PlaceId::new("", "", "", text)
    }

    #[test]
    fn as_many_answers_count_as_are_stored() {
        let (ledger, place) = (Ledger::default(), place("a"));
        let spend = |tag| ledger.spend(place, Asked { minute: 1000, tag }, 1000);
        assert!((0..=MOST as u64).all(spend));
        // The one beyond them made the ledger forget the minute.
        assert!(!spend(MOST as u64 + 1));
    }

    #[test]
    fn a_million_questions_have_a_bound_and_none_is_accepted_twice() {
        let (ledger, place) = (Ledger::default(), place("a"));
        let asked = |tag| Asked {
            minute: 1000 + tag / 20_000,
            tag,
        };
        for tag in 0..1_000_000 {
            let asked = asked(tag);
            ledger.open(place, asked);
            if tag % 2 == 0 {
                assert!(ledger.spend(place, asked, asked.minute), "{tag}");
            }
        }
        let state = ledger.lock(1050);
        assert!(state.open.len() <= MOST && state.used.len() <= MOST && state.order.len() <= MOST);
        drop(state);
        for tag in (0..1_000_000).step_by(2) {
            assert!(!ledger.spend(place, asked(tag), 1050), "{tag}");
        }
    }
}
