//! Where an agent's words land while its body polls it.
//!
//! A lock for every token would cost as much as the token. So for the time of one poll the buffer
//! lies on a desk of the polling thread, where text is written without one. Everything else, and a
//! reply that is used from another thread, takes the lock.

use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

use super::channel::{Frames, HIGH_WATER};
use crate::protocol::TextFrame;

pub(super) struct Desk {
    /// The channel that the buffer belongs to.
    pub(super) id: usize,
    pub(super) out: Vec<u8>,
    /// What stands around text now.
    pub(super) frame: TextFrame,
    /// How large a buffer to begin with.
    pub(super) first: usize,
}

/// Room for a word with what stands around it.
const WORD: usize = 512;

impl Desk {
    /// Makes room for one more word. Agents say a word or two at a time or as many as go into a
    /// frame, so there is no size in between, and hardly a byte is moved by growing.
    #[inline]
    pub(super) fn make_room(&mut self) {
        if self.out.capacity() - self.out.len() < WORD {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = match self.out.capacity() {
            0 => self.first,
            _ => HIGH_WATER,
        };
        self.out.reserve(size.saturating_sub(self.out.len()) + WORD);
    }
}

thread_local! {
    static DESK: RefCell<Option<Desk>> = const { RefCell::new(None) };
}

/// Works at the desk if the buffer of channel `id` lies on it.
#[inline]
pub(super) fn with<T>(id: usize, work: impl FnOnce(&mut Desk) -> T) -> Option<T> {
    // The desk is busy only while something that it calls writes as well, and gone only while its
    // thread ends; both then take the lock.
    let work = |desk: &RefCell<Option<Desk>>| match desk.try_borrow_mut().ok()?.as_mut() {
        Some(desk) if desk.id == id => Some(work(desk)),
        _ => None,
    };
    DESK.try_with(work).ok().flatten()
}

/// Lays a buffer on the desk, until what is returned is dropped.
pub(super) fn lay(desk: Desk, frames: Arc<dyn Frames>) -> OnDesk {
    // A body that is polled inside another finds the desk in use, and leaves it as it was.
    let before = DESK.try_with(|slot| slot.replace(Some(desk)));
    OnDesk {
        before: before.ok().flatten(),
        frames,
    }
}

/// A buffer on the desk. Dropping this gives it back to its channel, also on unwind.
pub(super) struct OnDesk {
    before: Option<Desk>,
    frames: Arc<dyn Frames>,
}

impl Drop for OnDesk {
    fn drop(&mut self) {
        let before = mem::take(&mut self.before);
        if let Ok(Some(desk)) = DESK.try_with(|slot| slot.replace(before)) {
            self.frames.check_in(desk.out);
        }
    }
}
