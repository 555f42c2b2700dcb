//! How a command ends.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is as it should be.
    Clean,
    /// Something is wrong with what was looked at.
    Wrong,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Clean => Self::SUCCESS,
            Verdict::Wrong => Self::from(1),
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Whoever read the output has left.
    Closed,
    /// What to tell the user.
    Said(String),
}

impl Failure {
    /// A failure to tell the user about.
    pub(crate) fn new(message: impl Display) -> Self {
        Self::Said(message.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::new(error),
        }
    }
}

/// Tells the user something on standard error.
pub(crate) fn tell(message: impl Display) {
    // Without a standard error there is nobody to tell.
    let _ = writeln!(io::stderr(), "wire: {message}");
}
