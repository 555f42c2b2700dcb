//! Writes that are all or nothing.

/// A buffer that is truncated again to its length unless what was added is kept: on drop, and so on
/// an error and while unwinding too.
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

    /// Keeps what was added.
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
