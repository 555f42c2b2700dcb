//! The report of a turn, for operators.

use std::fmt;
use std::time::Duration;

use http::Extensions;

use super::{AgentError, OneLine, Refusal, Usage};

/// The report of one turn. It is made once, when the turn is over: the agent has ended, and its reply and body are
/// dropped. A refused request is reported too.
///
/// Observers receive it; see [`Env::observe`](super::Env::observe). Its `Display` is one line for a log.
#[derive(Debug)]
#[non_exhaustive]
pub struct Turn<'a> {
    /// The name of the protocol.
    pub protocol: &'static str,
    /// The path of the route as clients see it, with the [base path](crate::Router::base_path) and with the names of
    /// the parameters, such as `/agents/chats/{workspace}/chat/completions`. The number of paths is limited, so the
    /// path can label a metric. Empty for a body that was created without a router.
    pub path: &'a str,
    /// The id of the [`User`](super::User) that a guard or middleware has identified, even if a later guard refused the request. The
    /// number of users is not limited, so do not label a metric with the id.
    pub user: Option<&'a str>,
    /// The name under which the agent is mounted: the name of a model, of a listed agent or of a tool. It can label a
    /// metric. `None` if the mount has no name, or the request was refused.
    pub agent: Option<&'a str>,
    /// The id of the conversation, when the front end sent one.
    pub conversation_id: Option<&'a str>,
    /// The outcome: answered, refused, failed, and so on.
    pub outcome: Outcome<'a>,
    /// `true` if the agent was [detached](crate::Body::detach) from its body.
    pub detached: bool,
    /// `true` if the reply should have been stored, to outlive its connection or to be continued by its id, but could
    /// not be stored.
    pub unstored: bool,
    /// The time from the request to the agent's first output: text, reasoning, calls, or any other part of the answer.
    /// Steps, tool runs and usage are not output. `None` if there was no output.
    pub first_output: Option<Duration>,
    /// The time from the request to the end of the turn, by the clock of the environment.
    pub duration: Duration,
    /// The number of bytes of the body that were sent.
    pub bytes: u64,
    /// The number of texts, parts and protocol events that the agent wrote.
    pub events: u64,
    /// The tokens that the agent reported with [`Reply::usage`](crate::Reply::usage).
    pub usage: Option<Usage>,
    /// The extensions of the request, including those that guards and middleware have added. For a request that a guard
    /// refused, the extensions that this guard received.
    pub extensions: &'a Extensions,
}

/// The outcome of a turn.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Outcome<'a> {
    /// The agent answered.
    Answered,
    /// The request was refused before an agent could answer it.
    Refused(&'a Refusal),
    /// The agent returned an error.
    Failed {
        /// The error that the agent returned.
        error: &'a AgentError,
        /// `true` if the failure was sent to the front end. It is not sent if the turn had already ended.
        sent: bool,
    },
    /// The agent panicked, in its own task or in another task that held its reply.
    Panicked {
        /// `true` if the failure was sent to the front end.
        sent: bool,
    },
    /// The turn was cancelled, or no client read the reply for a long time.
    Cancelled,
    /// The server shut down before the agent had ended; see [`Router::drain`](crate::Router::drain).
    ShutDown,
    /// The client disconnected before it had the whole answer, or the agent was dropped for another reason.
    ClientLeft,
}

impl Outcome<'_> {
    /// Returns the name of the outcome: `answered`, `refused`, `failed`, `panicked`, `cancelled`,
    /// `shut_down` or `client_left`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused(_) => "refused",
            Self::Failed { .. } => "failed",
            Self::Panicked { .. } => "panicked",
            Self::Cancelled => "cancelled",
            Self::ShutDown => "shut_down",
            Self::ClientLeft => "client_left",
        }
    }

    /// Returns `true` if the agent failed or panicked.
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Panicked { .. })
    }
}

/// Writes one line, whatever an error contains: `PROTOCOL turn at /v1/query failed: the disk is full, at
/// src/main.rs:12`.
impl fmt::Display for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} turn", self.protocol)?;
        if !self.path.is_empty() {
            write!(f, " at {}", self.path)?;
        }
        let word = match self.outcome {
            Outcome::ClientLeft => "was left by its client",
            Outcome::Refused(_) => "was refused",
            Outcome::Cancelled => "was cancelled",
            Outcome::ShutDown => "was ended by a shutdown",
            outcome => outcome.as_str(),
        };
        write!(f, " {word}")?;
        match &self.outcome {
            Outcome::Failed { error, .. } => {
                let at = error.location();
                write!(f, ": {}, at {}:{}", OneLine(error), at.file(), at.line())
            }
            Outcome::Refused(refusal) => {
                write!(f, " ({}): {}", refusal.status(), OneLine(refusal))
            }
            _ => Ok(()),
        }
    }
}
