//! The staging buffer, to which text is written without a lock while a body polls its agent.
//!
//! With an uncontended lock in its place a token takes 212 instructions and not 197, and a third more
//! time (28 ns and 20 ns): two atomic operations. So for the time of one poll of the
//! agent the channel's buffer lies in a slot of the polling thread. [`channel`](super::channel) tells who
//! owns which bytes when.

use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

use crate::protocol::TextFrame;

/// The owner of a buffer that is staged.
pub(super) trait Owner: Send + Sync {
    /// Returns the buffer to the owner, with the number of texts that were written to it.
    fn unstage(&self, out: Vec<u8>, events: u64);
}

/// The staging buffer of a thread, with what writing text needs.
pub(super) struct Staging {
    /// The channel that the buffer belongs to.
    pub(super) id: usize,
    pub(super) out: Vec<u8>,
    /// The number of texts that were written here.
    pub(super) events: u64,
    /// The bytes around text, if it may be written here.
    pub(super) frame: Option<TextFrame>,
    /// Plain text need not be scanned.
    pub(super) quiet: bool,
    /// The size up to which a token is written without any other check: 0 where it may not be.
    pub(super) token_limit: usize,
    /// The size of the first buffer.
    pub(super) first: usize,
}

/// A write waits for the body to be polled while this many bytes are waiting.
pub(super) const HIGH_WATER: usize = 16 * 1024;

/// The spare capacity that is reserved before each write: enough for a typical event. Agents write an
/// event or two at a time or as many as go into a frame, so there is no size in between, and hardly
/// a byte is moved by growing.
const SPARE: usize = 512;

impl Staging {
    /// Reserves the spare capacity.
    pub(super) fn reserve(&mut self) {
        if self.out.capacity() - self.out.len() < SPARE {
            let size = match self.out.capacity() {
                0 => self.first,
                _ => HIGH_WATER,
            };
            self.out
                .reserve(size.saturating_sub(self.out.len()) + SPARE);
        }
    }

    /// Sets the size up to which a token is written without any other check.
    pub(super) fn limit_tokens(&mut self) {
        // One more than the room, as the length is compared with `<`.
        let room = (self.out.capacity() + 1).saturating_sub(SPARE);
        self.token_limit = if self.quiet { room.min(HIGH_WATER) } else { 0 };
    }
}

thread_local! {
    static SLOT: RefCell<Option<Staging>> = const { RefCell::new(None) };
}

/// Calls `work` with the staging buffer if it is the one of channel `id`.
#[inline]
pub(super) fn with<T>(id: usize, work: impl FnOnce(&mut Staging) -> T) -> Option<T> {
    // The slot is already borrowed only if `work` of an outer call writes, and gone only while
    // its thread ends; in both cases the caller takes the lock.
    let work = |slot: &RefCell<Option<Staging>>| match slot.try_borrow_mut().ok()?.as_mut() {
        Some(staging) if staging.id == id => Some(work(staging)),
        _ => None,
    };
    SLOT.try_with(work).ok().flatten()
}

/// Stages a buffer until the guard is dropped.
#[inline]
pub(super) fn stage(staging: Staging, owner: Arc<dyn Owner>) -> Staged {
    // A body that is polled inside another one restores the slot when it is done.
    let before = SLOT.try_with(|slot| {
        let mut slot = slot.borrow_mut();
        let before = slot.take().map(Box::new);
        *slot = Some(staging);
        before
    });
    Staged {
        before: before.ok().flatten(),
        owner,
    }
}

/// A guard of the staging buffer. Dropping it returns the buffer to its owner, also on unwind.
pub(super) struct Staged {
    before: Option<Box<Staging>>,
    owner: Arc<dyn Owner>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        let before = self.before.take().map(|before| *before);
        let staged = SLOT.try_with(|slot| {
            let mut slot = slot.borrow_mut();
            // The slot is large, so only what the owner wants is moved.
            let staged = slot.as_mut();
            let staged = staged.map(|staging| (mem::take(&mut staging.out), staging.events));
            *slot = before;
            staged
        });
        if let Ok(Some((out, events))) = staged {
            self.owner.unstage(out, events);
        }
    }
}
