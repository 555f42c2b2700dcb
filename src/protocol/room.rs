//! A memory limit for state that grows with a stream.

use crate::sse::TooLarge;

pub(super) const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;

/// A counter of bytes with a limit. `LIMIT` is the limit of [`Default`].
///
/// ```
/// use copilot_wire::protocol::Room;
///
/// let mut room = Room::<1024>::default();
/// room.take(1000)?;
/// assert!(room.take(25).is_err());
/// room.free(1);
/// room.take(25)?;
/// # Ok::<(), copilot_wire::sse::TooLarge>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Room<const LIMIT: usize> {
    used: usize,
    limit: usize,
}

impl<const LIMIT: usize> Room<LIMIT> {
    /// Sets the limit in bytes.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Checks that `bytes` more bytes fit into the limit, and returns the number of used bytes including them.
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

    /// Counts `bytes` more bytes as used. In case of an error none of them are.
    ///
    /// # Errors
    ///
    /// [`TooLarge`] if the limit would be exceeded.
    pub fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.used = self.check(bytes)?;
        Ok(())
    }

    /// Subtracts `bytes` from the used bytes.
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
