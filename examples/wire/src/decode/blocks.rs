//! Where in a stream its events begin.

/// Follows a stream and knows where the block of fields began that the newest byte belongs to.
///
/// A block begins with the first line that is no comment, and a blank line ends it.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    offset: u64,
    start: u64,
    open: bool,
    inside_line: bool,
    after_cr: bool,
}

impl Blocks {
    /// Passes over some bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                // The second half of a line end.
                b'\n' if self.after_cr => {}
                b'\n' | b'\r' => {
                    self.open &= self.inside_line;
                    self.inside_line = false;
                }
                _ if self.inside_line => {}
                byte => {
                    self.inside_line = true;
                    if byte != b':' && !self.open {
                        self.open = true;
                        self.start = self.offset;
                    }
                }
            }
            self.after_cr = byte == b'\r';
            self.offset += 1;
        }
    }

    /// How many bytes went by.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Where the newest block began.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Whether that block has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }
}
