//! Failures of commands.

use std::fmt;

use copilot_wire::conversations::RecordError;
use copilot_wire::replies::StoreError;
use redis::{ErrorKind, RedisError};

/// The failure of a command. It contains neither the command nor the server's message, which may
/// repeat the command.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    text: String,
    /// `true` if the failure lasts until somebody changes the URL, the user's rights or the server.
    pub(crate) is_lasting: bool,
}

impl Fault {
    pub(crate) fn new(error: &RedisError) -> Self {
        // An error in a pipeline has the codes of its commands.
        let errors = error.clone().into_server_errors();
        let first = errors.as_deref().and_then(|errors| errors.first());
        let code = first
            .map(|(_, error)| error.code())
            .or_else(|| error.code());
        let message = error.to_string();
        let has = |text| message.contains(text);
        match code {
            // Only the message identifies these errors.
            _ if has("refused to switch database") || has("SELECT is not allowed") => {
                Self::lasting("no such database")
            }
            _ if has("invalid peer certificate") => Self::lasting("invalid certificate"),
            Some(code @ ("WRONGPASS" | "NOAUTH" | "NOPERM")) => Self::lasting(code),
            Some(code) => Self::passing(code),
            None => match error.kind() {
                ErrorKind::AuthenticationFailed => Self::lasting(error.category()),
                ErrorKind::Parse => Self::lasting("not an answer of Redis"),
                _ if error.is_timeout() => Self::passing("timeout"),
                _ if error.is_io_error() => Self::passing("connection failed"),
                _ => Self::passing(error.category()),
            },
        }
    }

    pub(crate) fn passing(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_lasting: false,
        }
    }

    pub(crate) fn lasting(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_lasting: true,
        }
    }

    /// Creates the fault for an answer of an unexpected form.
    pub(crate) fn unexpected() -> Self {
        Self::passing("unexpected answer")
    }

    /// Returns `true` if Redis does not have a script.
    pub(crate) fn is_unknown_script(&self) -> bool {
        self.text == "NOSCRIPT"
    }

    /// Returns `true` if Redis understood the command and refused it for what its keys contain.
    pub(crate) fn is_refused(&self) -> bool {
        self.text == "ERR"
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "redis: {}", self.text)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault.text.as_str() {
            "OOM" => Self::Full,
            // The value of the key is no log.
            "WRONGTYPE" => Self::Gone,
            _ => Self::Unavailable(Box::new(fault)),
        }
    }
}

impl From<Fault> for RecordError {
    fn from(fault: Fault) -> Self {
        match fault.text.as_str() {
            "OOM" => Self::Full,
            _ => Self::Unavailable(Box::new(fault)),
        }
    }
}
