//! The waker of an agent that its body polls.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// A waker for an agent: it wakes the reader of the body and records that the agent must be polled.
///
/// A reader polls a body again after every frame. The agent need not be polled then unless it was
/// woken: it has left its waker with what it waits for, and that waker stays the same.
pub(super) struct Wakeup {
    shared: Arc<Shared>,
    waker: Waker,
}

struct Shared {
    woken: AtomicBool,
    reader: Mutex<Option<Waker>>,
}

impl Wakeup {
    /// Creates the waker of an agent that was not polled yet.
    pub(super) fn new() -> Self {
        let shared = Arc::new(Shared {
            // Set at first: a future has to be polled once before it can leave a waker.
            woken: AtomicBool::new(true),
            reader: Mutex::new(None),
        });
        let waker = Waker::from(Arc::clone(&shared));
        Self { shared, waker }
    }

    /// Sets the reader of the body. Returns the agent's waker if the agent was woken since the last
    /// call.
    ///
    /// The reader is set first: whoever wakes the agent after the flag is read wakes this reader.
    pub(super) fn take(&self, reader: &Context<'_>) -> Option<&Waker> {
        let mut known = self.shared.reader();
        if !known
            .as_ref()
            .is_some_and(|known| known.will_wake(reader.waker()))
        {
            *known = Some(reader.waker().clone());
        }
        drop(known);
        // Cleared before the agent is polled and not after: a wake during the poll counts for the
        // next one.
        let woken = self.shared.woken.swap(false, Ordering::AcqRel);
        woken.then_some(&self.waker)
    }

    /// Marks the agent as woken, without waking the reader, if `waker` is the agent's. Returns `false`
    /// if it is another one. The reader must poll again anyway.
    pub(super) fn absorb(&self, waker: &Waker) -> bool {
        let is_ours = waker.will_wake(&self.waker);
        if is_ours {
            self.shared.woken.store(true, Ordering::Release);
        }
        is_ours
    }
}

impl Shared {
    fn reader(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Before the reader is woken: it may poll at once, on another thread.
        self.woken.store(true, Ordering::Release);
        // A waker is foreign code: it is called without the lock.
        let reader = self.reader().clone();
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl fmt::Debug for Wakeup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wakeup")
    }
}
