//! The parts of a reply that a front end displays in a component of its own.

use std::fmt;

/// A set of the parts of a reply for which a front end has a display or a dialog of its own. Other parts are shown as
/// text, or not at all.
///
/// An agent for every front end checks this set where it would present the same content differently:
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
    /// The empty set: text only.
    pub const TEXT: Self = Self(0);
    /// Steps of the work are shown apart from the answer.
    pub const STEPS: Self = Self(1);
    /// Sources are shown apart from the answer.
    pub const CITATIONS: Self = Self(1 << 1);
    /// Rows are shown in the front end's own table.
    pub const TABLES: Self = Self(1 << 2);
    /// Rows are drawn as charts.
    pub const CHARTS: Self = Self(1 << 3);
    /// An error that does not end the turn is shown apart from the answer.
    pub const ERRORS: Self = Self(1 << 4);
    /// A question is a dialog. Without this capability it is text at the end of the answer.
    pub const QUESTIONS: Self = Self(1 << 5);
    /// The front end runs tools that it offers in the request.
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
