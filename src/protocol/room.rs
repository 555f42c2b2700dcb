//! The memory that something may take that grows with a stream.

use crate::sse::TooLarge;

/// A limit in bytes for what is kept of a stream, and how many of them are used. `LIMIT` is the limit that `Default` sets.
///
/// ```
/// use copilot_wire::protocol::Room;
///
/// let mut room = Room::<1024>::default();
/// room.take(1000)?;
/// assert!(room.take(25).is_err());
/// room.free(1);
/// room.take(25)?;
/// # Ok::<(), copilot_wire::protocol::TooLarge>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Room<const LIMIT: usize> {
    used: usize,
    limit: usize,
}

impl<const LIMIT: usize> Room<LIMIT> {
    /// Sets another limit.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Checks that bytes are left, and returns the number of all that are used with them.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded.
    pub fn check(&self, bytes: usize) -> Result<usize, TooLarge> {
        let used = self.used.saturating_add(bytes);
        match used > self.limit {
            true => Err(TooLarge::new(self.limit)),
            false => Ok(used),
        }
    }

    /// Takes bytes: all of them, or none.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded.
    pub fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.used = self.check(bytes)?;
        Ok(())
    }

    /// Gives bytes back.
    pub fn free(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

impl<const LIMIT: usize> Default for Room<LIMIT> {
    fn default() -> Self {
        Self {
            used: 0,
            limit: LIMIT,
        }
    }
}
