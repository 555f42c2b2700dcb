//! The offsets of events in a stream.

use copilot_wire::protocol::Framing;

/// A scanner that finds the offset of the current block of fields.
///
/// A block begins with the first line that is not a comment, and ends with a blank line. In a stream of lines, each
/// line is a block.
#[derive(Debug)]
pub(crate) struct Blocks {
    framing: Framing,
    offset: u64,
    start: u64,
    open: bool,
    inside_line: bool,
    after_cr: bool,
}

impl Blocks {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            offset: 0,
            start: 0,
            open: false,
            inside_line: false,
            after_cr: false,
        }
    }

    /// Scans bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' if self.framing == Framing::Lines => self.open = false,
                byte if self.framing == Framing::Lines => {
                    if !self.open && !byte.is_ascii_whitespace() {
                        self.open = true;
                        self.start = self.offset;
                    }
                }
                // The second byte of a CR LF.
                b'\n' if self.after_cr => {}
                // Only a blank line ends a block; the end of any other line does not.
                b'\n' | b'\r' => {
                    self.open &= self.inside_line;
                    self.inside_line = false;
                }
                _ if self.inside_line => {}
                byte => {
                    self.inside_line = true;
                    // A comment before an event is not part of it.
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

    /// Returns the number of scanned bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the offset of the current block.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns `true` if the stream has ended inside a block, which readers discard. Never in a stream of lines, whose
    /// last line counts.
    pub(crate) fn is_cut(&self) -> bool {
        self.open && self.framing != Framing::Lines
    }
}
