//! The staging buffer, to which text is written without a lock while a body polls its agent.
//!
//! For the duration of a poll, the channel's buffer is in a slot of the polling thread. With an uncontended lock, a
//! token would take 212 instructions instead of 197 and a third more time (28 ns instead of 20 ns), because of two
//! atomic operations. [`channel`](super::channel) documents which side owns the bytes at which time.

use std::cell::{Cell, RefCell};
use std::mem;

use bytes::Bytes;

use crate::protocol::TextFrame;
use crate::sync::thread_local;

/// The buffer of a channel, with the data that text writes need.
pub(super) struct Staging {
    /// The id of the channel that the buffer belongs to. Set when it is staged.
    pub(super) id: usize,
    pub(super) out: Vec<u8>,
    /// The number of texts that were written to this buffer.
    pub(super) events: u64,
    /// The number of bytes that were sent from this buffer without the lock.
    pub(super) sent: u64,
    /// The bytes before and after text; `None` if text must be written under the lock.
    pub(super) frame: Option<TextFrame>,
    /// The length of `out` up to which a token is written without further checks.
    pub(super) token_limit: usize,
    /// The capacity that the next frame is expected to need.
    first: usize,
}

/// The number of unsent bytes from which on a write waits until the body is polled.
pub(super) const HIGH_WATER: usize = 16 * 1024;

/// The spare capacity that is reserved before each write: enough for a typical event. Agents write either one or two
/// events at a time or as many as fit into a frame, so intermediate sizes are not needed, and growing moves hardly any
/// bytes.
const SPARE: usize = 512;

/// The size up to which a frame is copied out of its buffer, so that the buffer is reused, which saves its growth. Whole
/// answers of few events are as large.
const COPIED: usize = 4096;

impl Staging {
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self {
            id: 0,
            out,
            events: 0,
            sent: 0,
            frame: None,
            token_limit: 0,
            first: 0,
        }
    }

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

    /// Sets the length of `out` up to which a token is written without further checks.
    pub(super) fn limit_tokens(&mut self) {
        // Plus one, because the length is compared with `<`.
        let room = (self.out.capacity() + 1).saturating_sub(SPARE);
        self.token_limit = match self.frame {
            Some(_) => room.min(HIGH_WATER),
            None => 0,
        };
    }

    /// Borrows the spare buffer of the thread, if this channel has no buffer of its own.
    pub(super) fn borrow_spare(&mut self) {
        if self.out.capacity() == 0 {
            self.out = SPARE_BUFFER.try_with(Cell::take).unwrap_or_default();
            self.limit_tokens();
        }
    }

    /// Returns the spare buffer, which is empty, to the thread.
    fn return_spare(&mut self) {
        if (1..=2 * HIGH_WATER).contains(&self.out.capacity()) {
            let buffer = mem::take(&mut self.out);
            // If the slot does not exist, the thread is ending, and the buffer is freed.
            let _ = SPARE_BUFFER.try_with(|spare| spare.set(buffer));
        }
    }

    /// Returns all bytes as one frame, and empties the buffer.
    pub(super) fn take_frame(&mut self) -> Bytes {
        let length = self.out.len();
        if length == 0 {
            self.return_spare();
            return Bytes::new();
        }
        // A frame that is much larger than usual contains one large event, and the write of such an event reserves its
        // own space.
        self.first = match length < 2 * HIGH_WATER {
            true => length.min(HIGH_WATER),
            false => 0,
        };
        if length > COPIED {
            return mem::take(&mut self.out).into();
        }
        let frame = Bytes::copy_from_slice(&self.out);
        self.out.clear();
        self.return_spare();
        frame
    }
}

thread_local! {
    static SLOT: RefCell<Option<Box<Staging>>> = const { RefCell::new(None) };

    /// The spare buffer for the next channel that is polled: the channel of a waiting agent has no buffer of its own.
    static SPARE_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Calls `work` with the staging buffer of this thread if it belongs to channel `id`.
#[inline]
pub(super) fn with<T>(id: usize, work: impl FnOnce(&mut Staging) -> T) -> Option<T> {
    // The slot is already borrowed only if `work` of an outer call writes, and destroyed only while its thread ends. In
    // both cases the caller takes the lock.
    let work = |slot: &RefCell<Option<Box<Staging>>>| match slot.try_borrow_mut().ok()?.as_mut() {
        Some(staging) if staging.id == id => Some(work(staging)),
        _ => None,
    };
    SLOT.try_with(work).ok().flatten()
}

/// Exchanges the buffer in the thread's slot, and returns the previous one. A body that is polled inside another body
/// restores the buffer of the outer body afterwards.
///
/// If the slot cannot be used, see [`with`], the function returns its argument. So two exchanges always return the
/// buffer.
#[inline]
pub(super) fn exchange(mut staging: Option<Box<Staging>>) -> Option<Box<Staging>> {
    let _ = SLOT.try_with(|slot| {
        if let Ok(mut slot) = slot.try_borrow_mut() {
            mem::swap(&mut *slot, &mut staging);
        }
    });
    staging
}
