//! Writes that are complete or undone.

/// A guard of a buffer: truncates the buffer to its former length when dropped, also on an error and while unwinding,
/// unless `keep` was called.
#[derive(Debug)]
pub(crate) struct Rollback<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    length: usize,
}

impl<'a> Rollback<'a> {
    #[inline]
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let length = out.len();
        Self { out, length }
    }

    /// Keeps the appended bytes.
    #[inline]
    pub(crate) fn keep(mut self) {
        self.length = usize::MAX;
    }
}

impl Drop for Rollback<'_> {
    #[inline]
    fn drop(&mut self) {
        self.out.truncate(self.length);
    }
}
