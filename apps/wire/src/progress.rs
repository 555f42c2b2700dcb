//! The progress of a command.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// A progress line on standard error, if that is a terminal.
pub(crate) struct Line {
    terminal: bool,
}

impl Line {
    pub(crate) fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            terminal: io::stderr().is_terminal() && !dumb,
        }
    }

    /// Shows the progress.
    pub(crate) fn show(&self, text: impl Display) {
        if self.terminal {
            let mut err = io::stderr();
            // Standard error may be closed.
            let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.show("");
    }
}
