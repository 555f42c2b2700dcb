//! Errors that are displayed to the user.

use crate::json::{Members, Wire, present};
use crate::protocol::Notice;

/// An error to display to the user: an element of `copilot_errors` (the SDK's `createErrorsEvent`).
///
/// VS Code displays the message as a warning. The debug command line requires that no member is
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(
    escape = Json,
    new = "Creates an error. None of the three texts should be empty."
)]
pub struct CopilotError {
    /// The part that failed.
    #[wire(name = "type", new)]
    pub kind: ErrorKind,
    /// A code of the agent's choice. For VS Code `sso` means that single sign-on is missing, and
    /// `identifier` is then the value of the header `X-GitHub-SSO`.
    #[wire(always, new)]
    pub code: String,
    /// The displayed message.
    #[wire(always, new)]
    pub message: String,
    /// The id of the object that the error is about: a reference, or the name of a function.
    #[wire(always, new)]
    pub identifier: String,
    /// The agent's slug. The platform adds it.
    #[wire(read = present)]
    pub agent: Option<String>,
    /// Members that have no field here.
    pub unknown: Members,
}

/// The part that failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
#[wire(empty)]
pub enum ErrorKind {
    /// A reference: `reference`.
    Reference,
    /// A function: `function`.
    Function,
    /// The agent: `agent`.
    Agent,
    /// A value that is not documented; empty if there is none.
    #[wire(other)]
    Other(String),
}

impl CopilotError {
    /// Creates an error for a failure or a notice of the agent. Empty texts are replaced by
    /// defaults.
    pub(super) fn agent(notice: &Notice, slug: &str) -> Self {
        let or = |text: &str, otherwise: &str| match text {
            "" => otherwise.to_owned(),
            text => text.to_owned(),
        };
        let identifier = notice.identifier.as_deref().unwrap_or_default();
        Self::new(
            ErrorKind::Agent,
            or(&notice.code, "error"),
            or(&notice.message, "Something went wrong."),
            // `gh debug-cli` fails on an empty member, so none of the four is ever empty.
            or(identifier, &or(slug, "agent")),
        )
    }
}
