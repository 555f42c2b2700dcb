//! What went wrong, for the user to see.

use crate::json::{Json, JsonError, Kind, Members, Reader, ValueWriter, WriteError};
use crate::protocol::Notice;

use super::fields::{rest, string, text};

/// What went wrong, an element of `copilot_errors` (the SDK's `createErrorsEvent`).
///
/// VS Code shows the message as a warning. The debug command line demands that no member is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    odd: Option<Json>,
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

impl ErrorKind {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Reference => "reference",
            Self::Function => "function",
            Self::Agent => "agent",
            Self::Other(word) => word,
        }
    }

    fn from_word(word: String) -> Self {
        match word.as_str() {
            "reference" => Self::Reference,
            "function" => Self::Function,
            "agent" => Self::Agent,
            _ => Self::Other(word),
        }
    }
}

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
            odd: None,
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

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut it = Self::new(ErrorKind::Other(String::new()), "", "", "");
        if !reader.is(Kind::Object) {
            it.odd = Some(reader.value()?);
            return Ok(it);
        }
        let mut unknown = Members::new();
        reader.object_keeping(&mut unknown, |reader, key| {
            match &*key {
                "type" => it.kind = ErrorKind::from_word(string(reader)?.unwrap_or_default()),
                "code" => it.code = string(reader)?.unwrap_or_default(),
                "message" => it.message = string(reader)?.unwrap_or_default(),
                "identifier" => it.identifier = string(reader)?.unwrap_or_default(),
                "agent" => it.agent = text(reader)?,
                _ => {}
            }
            Ok(())
        })?;
        it.unknown = unknown;
        Ok(it)
    }

    pub(super) fn write(&self, place: ValueWriter<'_>) -> Result<(), WriteError> {
        if let Some(odd) = &self.odd {
            place.raw(odd);
            return Ok(());
        }
        place.object(|object| {
            for (key, value) in [
                ("type", self.kind.as_str()),
                ("code", &self.code),
                ("message", &self.message),
                ("identifier", &self.identifier),
            ] {
                // The SDK writes empty texts as well.
                if !value.is_empty() || self.unknown.get(key).is_none() {
                    object.str(key, value);
                }
            }
            object.opt_str("agent", self.agent.as_deref());
            rest(object, &self.unknown, |key| match key {
                "type" => !self.kind.as_str().is_empty(),
                "code" => !self.code.is_empty(),
                "message" => !self.message.is_empty(),
                "identifier" => !self.identifier.is_empty(),
                "agent" => self.agent.is_some(),
                _ => false,
            });
            Ok(())
        })
    }
}
