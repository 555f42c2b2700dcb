//! The result of a command.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No fault was found.
    Clean,
    /// A fault was found.
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

/// The failure of a command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has closed it.
    Closed,
    /// A message for the user.
    Said(String),
}

impl Failure {
    /// Creates a failure with a message.
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

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the reader of the output has left"),
            Self::Said(message) => f.write_str(message),
        }
    }
}

/// Writes a message to standard error.
pub(crate) fn tell(message: impl Display) {
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "wire: {message}");
}
