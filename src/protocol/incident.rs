//! What the people who run an agent should hear about.

use super::AgentError;

/// Something that a stream could not, or not fully, tell its reader.
///
/// Handed to [`Environment::incident`](super::Environment::incident).
#[derive(Debug)]
#[non_exhaustive]
pub enum Incident<'a> {
    /// The agent returned an error. `told` says whether the front end was told: once a turn has
    /// ended, nothing can follow.
    Failed {
        /// The protocol that the agent spoke.
        protocol: &'static str,
        /// What the agent returned.
        error: &'a AgentError,
        /// Whether the front end was told.
        told: bool,
    },
    /// The agent panicked, in its own task or in another one that held its reply.
    Panicked {
        /// The protocol that the agent spoke.
        protocol: &'static str,
        /// Whether the front end was told.
        told: bool,
    },
}
