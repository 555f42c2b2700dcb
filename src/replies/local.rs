//! The local memory of a reply that this process runs: its events, for readers in this process.
//!
//! The pump pushes frames, and each reader takes them by number, at its own speed. Frames that are stored are dropped
//! beyond [`RING`]; a reader that falls behind reads the store. Frames that are not stored remain, up to the limit of
//! the reply. So neither a reader nor the store delays anybody else.
//!
//! Once storing has ended, the furthest reader sets the pace: frames that it has taken are dropped beyond [`RING`], and
//! the pump waits while more bytes than [`RING`] remain. A reader that falls behind gets a failure.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::store::{ReplyEnd, ReplyState};
use crate::agent::{Key, Wakers};
use crate::protocol::Framing;
use crate::sync::{Mutex, MutexGuard};

/// The maximum size in bytes of the frames that stay in memory although they are stored.
const RING: usize = 256 * 1024;

/// The maximum size in bytes of one append, unless one frame is larger: the size of a page.
pub(super) const BATCH: usize = 64 * 1024;

pub(super) struct Local(Mutex<State>);

struct State {
    framing: Framing,
    frames: VecDeque<Frame>,
    /// The size of `frames` in bytes.
    size: usize,
    /// The number of the first event in `frames`.
    first: u64,
    /// The number of events that are stored.
    stored: u64,
    /// The number of all events.
    next: u64,
    end: Option<ReplyEnd>,
    cancelled: bool,
    /// `true` if the store has created the log, `false` if it has rejected it; `None` until it has answered.
    registered: Option<bool>,
    /// The number of the next event for the furthest reader.
    taken: u64,
    /// `true` once storing has ended.
    paced: bool,
    readers: usize,
    pump: Option<Waker>,
    waiting: Wakers,
}

struct Frame {
    first: u64,
    bytes: Bytes,
}

/// A reader of a reply that this process runs. The reply counts its readers until they are dropped.
pub(super) struct Reader {
    local: Arc<Local>,
    key: Key,
}

/// The result of a lookup in the local memory.
pub(super) enum Found {
    /// Events, and the number after them.
    Events(Bytes, u64),
    /// The end. The last frame of a reply tells how it ended, except for a lost reply: its pump was dropped, or another
    /// server has declared the agent's server dead.
    End(ReplyEnd),
    /// The events are only in the store.
    Dropped,
}

impl Local {
    pub(super) fn new(framing: Framing) -> Self {
        Self(Mutex::new(State {
            framing,
            frames: VecDeque::new(),
            size: 0,
            first: 0,
            stored: 0,
            next: 0,
            end: None,
            cancelled: false,
            registered: None,
            taken: 0,
            paced: false,
            readers: 0,
            pump: None,
            waiting: Wakers::default(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code under it panics in the middle of a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame of whole events and returns the number of events so far.
    pub(super) fn push(&self, bytes: Bytes) -> u64 {
        let mut state = self.lock();
        let first = state.next;
        state.next += state.framing.count(&bytes);
        state.size += bytes.len();
        state.frames.push_back(Frame { first, bytes });
        state.trim();
        let next = state.next;
        state.wake();
        next
    }

    /// Returns the next batch of events that are not stored, with the number of the first event and the number after
    /// the last.
    pub(super) fn unstored(&self) -> Option<(u64, Bytes, u64)> {
        let state = self.lock();
        // Frames are sorted by number, and appends end at the end of a frame, so no frame is partly stored.
        let start = state.frames.partition_point(|it| it.first < state.stored);
        let first = state.frames.get(start)?;
        let mut size = 0;
        let fits = |frame: &&Frame| {
            size += frame.bytes.len();
            size <= BATCH
        };
        let count = state.frames.iter().skip(start).take_while(fits).count();
        // At least one frame: a frame that is larger than a batch is returned alone.
        let end = start + count.max(1);
        let next = state.frames.get(end).map_or(state.next, |it| it.first);
        let bytes = match end - start {
            1 => first.bytes.clone(),
            _ => {
                let frames = state.frames.range(start..end.min(state.frames.len()));
                let frames: Vec<_> = frames.map(|frame| &*frame.bytes).collect();
                frames.concat().into()
            }
        };
        Some((first.first, bytes, next))
    }

    /// Records that all events before `next` are stored.
    pub(super) fn stored(&self, next: u64) {
        let mut state = self.lock();
        state.stored = next;
        state.trim();
    }

    /// Ends the reply. Only the first call has an effect.
    pub(super) fn end(&self, end: ReplyEnd) {
        let mut state = self.lock();
        state.end.get_or_insert(end);
        state.wake();
    }

    /// Returns `true` if more frames may follow.
    pub(super) fn is_running(&self) -> bool {
        self.lock().end.is_none()
    }

    /// Records whether the store has created the log.
    pub(super) fn set_registered(&self, created: bool) {
        let mut state = self.lock();
        state.registered = Some(created);
        state.wake();
    }

    /// Returns `true` if all events are stored or will be stored, so that the reply can be resumed.
    pub(super) fn is_resumable(&self) -> bool {
        let state = self.lock();
        state.registered == Some(true) && !state.paced
    }

    /// Returns `true` if the store has created the log.
    pub(super) fn is_stored(&self) -> bool {
        self.lock().registered == Some(true)
    }

    /// Records that storing has ended, so that from now on readers set the pace.
    pub(super) fn pace(&self) {
        let mut state = self.lock();
        state.paced = true;
        state.trim();
    }

    /// Returns `true` if storing has ended and readers must take frames before more are pushed.
    pub(super) fn is_full(&self) -> bool {
        let state = self.lock();
        state.paced && state.size > RING
    }

    /// Returns the state of the reply, as this process sees it.
    pub(super) fn state(&self) -> ReplyState {
        let state = self.lock();
        ReplyState {
            next: state.next,
            end: state.end,
            attended: state.readers > 0,
        }
    }

    /// Creates a reader.
    pub(super) fn reader(self: Arc<Self>) -> Reader {
        self.lock().readers += 1;
        Reader {
            local: self,
            key: None,
        }
    }

    /// Makes the pump cancel the reply.
    pub(super) fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        state.wake_pump();
    }

    /// Returns `true` if the reply must be cancelled. Otherwise a later cancellation wakes the task of the pump.
    pub(super) fn poll_cancelled(&self, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        match &mut state.pump {
            Some(pump) => pump.clone_from(cx.waker()),
            pump => *pump = Some(cx.waker().clone()),
        }
        state.cancelled
    }

    pub(super) fn has_readers(&self) -> bool {
        self.lock().readers > 0
    }
}

impl Reader {
    /// Returns the events from number `from` on, or the end. Waits if there is neither.
    pub(super) fn poll(&mut self, from: u64, cx: &Context<'_>) -> Poll<Found> {
        let mut state = self.local.lock();
        let found = state.find(from);
        if found.is_none() {
            state.waiting.wait(&mut self.key, cx);
        }
        state.take(from);
        found.map_or(Poll::Pending, Poll::Ready)
    }

    /// Returns `true` if the reply can be resumed.
    pub(super) fn is_resumable(&self) -> bool {
        self.local.is_resumable()
    }

    /// Waits until the store has created or rejected the log.
    pub(super) fn poll_registered(&mut self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.local.lock();
        if state.registered.is_some() || state.end.is_some() {
            return Poll::Ready(());
        }
        state.waiting.wait(&mut self.key, cx);
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.local.lock();
        state.waiting.remove(self.key);
        state.readers -= 1;
        if state.readers == 0 {
            state.wake_pump();
        }
    }
}

impl State {
    /// Returns the events from number `from` on, or the end; `None` if there is neither yet.
    fn find(&self, from: u64) -> Option<Found> {
        if from < self.first {
            return Some(Found::Dropped);
        }
        if from >= self.next {
            return self.end.map(Found::End);
        }
        let at = self.frames.partition_point(|it| it.first <= from);
        let next = self.frames.get(at).map_or(self.next, |it| it.first);
        let frame = self.frames.get(at.checked_sub(1)?)?;
        let bytes = match from - frame.first {
            0 => frame.bytes.clone(),
            skip => frame.bytes.slice(self.framing.skip(&frame.bytes, skip)..),
        };
        Some(Found::Events(bytes, next))
    }

    /// Drops frames beyond the ring that are stored or, once storing has ended, were taken.
    fn trim(&mut self) {
        let end = match self.paced {
            true => self.stored.max(self.taken),
            false => self.stored,
        };
        while self.size > RING {
            let after = self.frames.get(1).map_or(self.next, |it| it.first);
            // A frame that is not stored has no other copy. While the store is unavailable, memory grows up to the
            // limit of the reply.
            if after > end {
                return;
            }
            let Some(frame) = self.frames.pop_front() else {
                return;
            };
            self.size -= frame.bytes.len();
            self.first = after;
        }
    }
}

/// Methods that wake readers after they have released the lock.
trait Wake {
    fn wake(self);
    fn wake_pump(self);

    /// Records that a reader has taken the events before number `from`.
    fn take(self, from: u64);
}

impl Wake for MutexGuard<'_, State> {
    fn wake(mut self) {
        // Wakers are foreign code and may poll a reader immediately, so they are called without the lock.
        let waiting = self.waiting.take();
        drop(self);
        waiting.for_each(Waker::wake);
    }

    fn take(mut self, from: u64) {
        // A caller that waits only for the end passes a number beyond the end.
        if from <= self.taken || from > self.next {
            return;
        }
        self.taken = from;
        if self.paced {
            self.trim();
            // Even if the memory was not full: frames that were stored late may have freed the space.
            if self.size <= RING {
                self.wake_pump();
            }
        }
    }

    fn wake_pump(self) {
        let pump = self.pump.clone();
        drop(self);
        if let Some(pump) = pump {
            pump.wake();
        }
    }
}
