//! The memory that something may take that grows with a stream.

use crate::sse::TooLarge;

/// A limit in bytes, and how many of them are used. `LIMIT` is the default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room<const LIMIT: usize> {
    used: usize,
    limit: usize,
}

impl<const LIMIT: usize> Room<LIMIT> {
    /// Returns the room with another limit.
    pub(crate) fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Checks that there are bytes left, and returns the number of those that are used with them.
    pub(crate) fn check(&self, bytes: usize) -> Result<usize, TooLarge> {
        let used = self.used.saturating_add(bytes);
        match used > self.limit {
            true => Err(TooLarge::new(self.limit)),
            false => Ok(used),
        }
    }

    /// Takes bytes: all of them, or none.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.used = self.check(bytes)?;
        Ok(())
    }

    /// Gives bytes back.
    pub(crate) fn free(&mut self, bytes: usize) {
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
