//! Skills: functions that the platform's model calls, one endpoint each.

use async_trait::async_trait;
use http::HeaderMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::caller::Token;
use crate::json::{Json, WriteError};
use crate::protocol::AgentError;

/// A skill of a skillset (GitHub's documentation, "Building Copilot skillsets"): it receives typed
/// arguments and returns plain data. There is no stream, no confirmation and no reference; the
/// platform's model reads the result.
///
/// An App is either an agent or a skillset, of up to five skills. Mount each with
/// [`Mount::skill`](super::Mount::skill).
///
/// ```
/// use copilot_wire::async_trait;
/// use copilot_wire::github::{Skill, SkillCall, SkillReply};
/// use copilot_wire::protocol::AgentError;
///
/// #[derive(serde::Deserialize)]
/// struct Port {
///     port: String,
/// }
///
/// struct HighWater;
///
/// #[async_trait]
/// impl Skill for HighWater {
///     type Arguments = Port;
///
///     async fn call(&self, call: SkillCall<Port>) -> Result<SkillReply, AgentError> {
///         Ok(SkillReply::text(format!("High water at {} is at noon.", call.arguments.port)))
///     }
/// }
/// ```
#[async_trait]
pub trait Skill: Send + Sync {
    /// The arguments. The platform sends `{}` if the schema has no parameters.
    type Arguments: DeserializeOwned + Send;

    /// Answers one call.
    ///
    /// # Errors
    ///
    /// Any error that prevents an answer. The response has status 500, with the error's message for
    /// the model.
    async fn call(&self, call: SkillCall<Self::Arguments>) -> Result<SkillReply, AgentError>;
}

/// A call of a skill.
#[non_exhaustive]
pub struct SkillCall<T> {
    /// The arguments, as filled in by the model.
    pub arguments: T,
    /// The headers of the HTTP request. Some contain secrets.
    pub headers: HeaderMap,
}

impl<T> SkillCall<T> {
    /// Creates a call.
    pub fn new(arguments: T, headers: HeaderMap) -> Self {
        Self { arguments, headers }
    }

    /// Returns the user's token.
    pub fn token(&self) -> Option<Token<'_>> {
        Token::from_headers(&self.headers)
    }
}

opaque_debug!(impl[T] SkillCall for SkillCall<T>);

/// The result of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillReply {
    /// Text.
    Text(String),
    /// Data.
    Json(Json),
}

impl SkillReply {
    /// Creates a result with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a result with data.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the value cannot be serialized.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, WriteError> {
        Json::encode(value).map(Self::Json)
    }
}
