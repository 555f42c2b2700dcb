//! One message of a request.

use std::borrow::Cow;
use std::fmt;

use super::answer::Answer;
use super::reference::Reference;
use crate::json::model::{Field, json_api, model, present};
use crate::json::{Escape, Json, JsonError, Kind, List, Members, Reader, ValueWriter};
use crate::protocol::shown::{Cut, Size};

/// One message of a request, with the members that recorded requests, GitHub's SDK, VS Code and
/// `gh debug-cli` have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// `user`, `assistant` or `system`; `function` and `tool` exist as well. Any string may come.
    pub role: String,
    /// The author's name. `_session` marks the context message of github.com.
    pub name: Option<String>,
    /// What is said.
    pub content: Option<Content>,
    /// What is attached: context on a user's message, on an assistant's message what the agent
    /// itself sent in that turn.
    pub references: List<Reference>,
    /// Answers to confirmations. They count on the last message only:
    /// [`ChatRequest::answers`](super::ChatRequest::answers).
    pub confirmations: List<Answer>,
    /// Members that have no field here, and those of the fields above that came as `null` or empty.
    pub unknown: Members,
}

/// What a message says.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// OpenAI's array of parts. No stored request of the platform has one.
    Parts(Json),
}

impl Content {
    /// The text: of an array the `text` of its parts, joined.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let text = |part: Json| Some(part.get("text")?.string()?.into_owned());
                Cow::Owned(parts.elements().filter_map(text).collect())
            }
        }
    }
}

json_api!(Content);

impl Field for Content {
    const ESCAPE: Escape = Escape::Json;
    const EXPECTED: &'static str = "a text or parts";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if reader.is(Kind::Array) {
            return Ok(Some(Self::Parts(reader.value()?)));
        }
        Ok(String::read_from(reader)?.map(Self::Text))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Parts(parts) => to.raw(parts),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Says how long the content is, never what it is: people paste secrets into chats.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({:?})", Size::of(text)),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
        }
    }
}

/// A call that an assistant's message carries, or the deprecated `function_call`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The id that the result refers to; the deprecated form has none.
    pub id: Option<String>,
    /// The function.
    pub name: String,
    /// The arguments: a *string* of JSON, as the model wrote it.
    pub arguments: String,
}

/// Says how long the arguments are, never what they are.
impl fmt::Debug for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCall")
            .field("id", &self.id)
            .field("name", &Cut(&self.name))
            .field("arguments", &Size::of(&self.arguments))
            .finish()
    }
}

model!(Message, escape: Json {
    role: "role",
    name: "name" => present,
    content: "content",
    references: "copilot_references",
    confirmations: "copilot_confirmations",
});

impl Message {
    /// A message of this role.
    #[must_use]
    pub fn new(role: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            role: role.into(),
            content: Some(content.into()),
            ..Self::default()
        }
    }

    /// The text, empty when there is none.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.content
            .as_ref()
            .map_or(Cow::Borrowed(""), Content::text)
    }

    /// Whether this is the context message of github.com: its name is `_session`. Its role is
    /// `user` in recorded requests and `system` by another source, so the role says nothing.
    #[must_use]
    pub fn is_session(&self) -> bool {
        self.name.as_deref() == Some("_session")
    }

    /// The calls of an assistant's message.
    pub fn function_calls(&self) -> impl Iterator<Item = FunctionCall> {
        let string = |json: &Json, key: &str| Some(json.get(key)?.string()?.into_owned());
        let call = move |id: Option<String>, function: &Json| {
            Some(FunctionCall {
                id,
                name: string(function, "name")?,
                arguments: string(function, "arguments").unwrap_or_default(),
            })
        };
        let deprecated = self.unknown.get("function_call");
        let tool_calls = self.unknown.get("tool_calls");
        tool_calls
            .into_iter()
            .flat_map(Json::elements)
            .filter_map(move |entry| call(string(&entry, "id"), &entry.get("function")?))
            .chain(deprecated.and_then(move |function| call(None, function)))
    }

    /// The id of the call that a message of the role `tool` answers.
    #[must_use]
    pub fn tool_call_id(&self) -> Option<Cow<'_, str>> {
        self.unknown.get("tool_call_id")?.string()
    }

    /// The message as a model takes it: without the members that are GitHub's own.
    pub(super) fn for_model(&self) -> Self {
        const KEPT: [&str; 7] = [
            "role",
            "name",
            "content",
            "tool_calls",
            "tool_call_id",
            "function_call",
            "refusal",
        ];
        let mut message = Self {
            references: List::new(),
            confirmations: List::new(),
            ..self.clone()
        };
        message.unknown.retain(|key| KEPT.contains(&key));
        message
    }
}
