//! How far a command is.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// One line of a terminal on standard error, written again and again; nothing elsewhere.
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

    /// Shows how far it is.
    pub(crate) fn show(&self, text: impl Display) {
        if self.terminal {
            let mut err = io::stderr();
            // Without a standard error there is nobody to tell.
            let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        self.show("");
    }
}
