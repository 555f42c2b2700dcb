//! What went wrong, for the user to see.

use crate::json::Members;
use crate::json::model::{model, names, present};
use crate::protocol::Notice;

/// What went wrong, an element of `copilot_errors` (the SDK's `createErrorsEvent`).
///
/// VS Code shows the message as a warning. The debug command line demands that no member is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopilotError {
    /// What sort of thing failed.
    pub kind: ErrorKind,
    /// A name for the kind of failure, of the agent's choice. VS Code takes `sso` for a missing
    /// single sign-on, and `identifier` then for the value of the header `X-GitHub-SSO`.
    pub code: String,
    /// What the user reads.
    pub message: String,
    /// What it happened to: the id of a reference, the name of a function.
    pub identifier: String,
    /// The agent's slug. The platform adds it on the way to the client.
    pub agent: Option<String>,
    /// Members that have no field here.
    pub unknown: Members,
}

/// What sort of thing failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `reference`
    Reference,
    /// `function`
    Function,
    /// `agent`
    Agent,
    /// A word that is not documented; empty when there is none.
    Other(String),
}

names!(ErrorKind {
    Reference: "reference",
    Function: "function",
    Agent: "agent"
});

impl Default for ErrorKind {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

model!(CopilotError, escape: Json {
    kind: "type",
    code: "code" always,
    message: "message" always,
    identifier: "identifier" always,
    agent: "agent" => present,
});

impl CopilotError {
    /// An error. None of the three texts should be empty.
    #[must_use]
    pub fn new(
        kind: ErrorKind,
        code: impl Into<String>,
        message: impl Into<String>,
        identifier: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            code: code.into(),
            message: message.into(),
            identifier: identifier.into(),
            agent: None,
            unknown: Members::new(),
        }
    }

    /// The agent's failure, or a notice of the shared vocabulary. What is empty is filled in.
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
            or(identifier, &or(slug, "agent")),
        )
    }
}
