//! Lines of an input, of bounded length.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The maximum length of a line in bytes.
pub(crate) const LONGEST: usize = 32 * 1024 * 1024;

/// The capacity that is kept for the next line.
const KEPT: usize = 64 * 1024;

/// The lines of an input.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// `true` while the rest of a line is skipped.
    is_long: bool,
}

/// A line.
pub(crate) enum Line {
    /// A line, without its end.
    Text(Vec<u8>),
    /// A line that was skipped.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input: BufReader::with_capacity(KEPT, input),
            line: Vec::new(),
            is_long: false,
        }
    }

    /// Returns the next line. `None` at the end of the input.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, nothing is lost.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let bytes = self.input.fill_buf().await?;
            let end = memchr::memchr(b'\n', bytes);
            let is_end = bytes.is_empty();
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            if self.is_long || self.line.len() + piece.len() > LONGEST {
                self.is_long = true;
                // What was read of it is of no use.
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_none() && !is_end {
                continue;
            }
            let is_long = std::mem::take(&mut self.is_long);
            let line = std::mem::take(&mut self.line);
            return Ok(match (is_long, line.is_empty() && is_end) {
                (true, _) => Some(Line::TooLong),
                (false, true) => None,
                (false, false) => Some(Line::Text(line)),
            });
        }
    }
}
