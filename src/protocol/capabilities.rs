//! The parts of a reply that a front end shows in its own form.

use std::fmt;

/// The parts of a reply that a front end shows, or asks, in a way of its own rather than as text or
/// not at all.
///
/// An agent for every front end looks here where it would say the same thing in another way:
///
/// ```
/// use copilot_wire::protocol::{AgentError, Capabilities, Protocol};
/// use copilot_wire::{Agent, Reply, Request, async_trait};
///
/// struct Worker;
///
/// #[async_trait]
/// impl<P: Protocol> Agent<P> for Worker {
///     async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
///         reply.status("Reading the report").await?;
///         if !P::CAPABILITIES.contains(Capabilities::STEPS) {
///             reply.text("I am reading the report.\n\n").await?;
///         }
///         Ok(())
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Capabilities(u16);

impl Capabilities {
    /// Text and nothing else.
    pub const TEXT: Self = Self(0);
    /// Steps of the work are shown apart from the answer.
    pub const STEPS: Self = Self(1);
    /// Sources are shown apart from the answer.
    pub const CITATIONS: Self = Self(1 << 1);
    /// Rows are shown as a table of the front end's own.
    pub const TABLES: Self = Self(1 << 2);
    /// Rows are drawn.
    pub const CHARTS: Self = Self(1 << 3);
    /// An error that does not end the turn is shown apart from the answer.
    pub const ERRORS: Self = Self(1 << 4);
    /// A question is a dialog. Elsewhere it is the end of the answer's text.
    pub const QUESTIONS: Self = Self(1 << 5);
    /// The front end runs tools that it offered.
    pub const CALLS: Self = Self(1 << 6);
    /// A model's reasoning is shown apart from the answer.
    pub const REASONING: Self = Self(1 << 7);
    /// A tool that the agent ran is shown with its arguments and its result.
    pub const TOOL_RUNS: Self = Self(1 << 8);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns `true` if this set contains all of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::STEPS, "STEPS"),
            (Self::CITATIONS, "CITATIONS"),
            (Self::TABLES, "TABLES"),
            (Self::CHARTS, "CHARTS"),
            (Self::ERRORS, "ERRORS"),
            (Self::QUESTIONS, "QUESTIONS"),
            (Self::CALLS, "CALLS"),
            (Self::REASONING, "REASONING"),
            (Self::TOOL_RUNS, "TOOL_RUNS"),
        ];
        let names = names
            .iter()
            .filter(|(capability, _)| self.contains(*capability));
        f.debug_set().entries(names.map(|(_, name)| name)).finish()
    }
}
