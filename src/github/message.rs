//! One message of a request.

use std::borrow::Cow;
use std::fmt;

use super::answer::Answer;
use super::fields::{list, rest, text};
use super::reference::Reference;
use crate::json::{Json, JsonError, Kind, Members, ObjectWriter, Reader, ValueWriter, WriteError};
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
    pub references: Vec<Reference>,
    /// Answers to confirmations. They count on the last message only:
    /// [`ChatRequest::answers`](super::ChatRequest::answers).
    pub confirmations: Vec<Answer>,
    /// Members that have no field here, and those of the fields above that came as `null` or empty.
    pub unknown: Members,
    /// An element of the list that is no object. It is written back as it came.
    odd: Option<Json>,
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

    /// Whether this was no object at all.
    pub(super) fn is_odd(&self) -> bool {
        self.odd.is_some()
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

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut message = Self::default();
        if !reader.is(Kind::Object) {
            message.odd = Some(reader.value()?);
            return Ok(message);
        }
        let mut unknown = Members::new();
        reader.object_keeping(&mut unknown, |reader, key| {
            match &*key {
                "role" => message.role = text(reader)?.unwrap_or_default(),
                "name" => message.name = text(reader)?,
                "content" => {
                    message.content = match reader.kind()? {
                        Kind::String => reader.string()?.map(|text| Content::Text(text.into())),
                        Kind::Array => Some(Content::Parts(reader.value()?)),
                        _ => None,
                    };
                }
                "copilot_references" => message.references = list(reader, Reference::read)?,
                "copilot_confirmations" => message.confirmations = list(reader, Answer::read)?,
                _ => {}
            }
            Ok(())
        })?;
        message.unknown = unknown;
        Ok(message)
    }

    pub(super) fn write(&self, place: ValueWriter<'_>) -> Result<(), WriteError> {
        if let Some(odd) = &self.odd {
            place.raw(odd);
            return Ok(());
        }
        place.object(|object| {
            self.write_openai(object);
            if !self.references.is_empty() {
                object.array("copilot_references", &self.references, Reference::write)?;
            }
            if !self.confirmations.is_empty() {
                object.array("copilot_confirmations", &self.confirmations, Answer::write)?;
            }
            rest(object, &self.unknown, |key| match key {
                "copilot_references" => !self.references.is_empty(),
                "copilot_confirmations" => !self.confirmations.is_empty(),
                _ => self.has(key),
            });
            Ok(())
        })
    }

    /// Writes what an OpenAI endpoint takes; `transformPayloadForOpenAICompatibility` of GitHub's
    /// SDK loses the calls and their ids, which breaks a history with tools.
    pub(super) fn write_for_model(&self, object: &mut ObjectWriter<'_>) {
        const KEPT: [&str; 7] = [
            "role",
            "name",
            "content",
            "tool_calls",
            "tool_call_id",
            "function_call",
            "refusal",
        ];
        self.write_openai(object);
        rest(object, &self.unknown, |key| {
            !KEPT.contains(&key) || self.has(key)
        });
    }

    fn write_openai(&self, object: &mut ObjectWriter<'_>) {
        if !self.role.is_empty() {
            object.str("role", &self.role);
        }
        object.opt_str("name", self.name.as_deref());
        match &self.content {
            Some(Content::Text(text)) => object.str("content", text),
            Some(Content::Parts(parts)) => object.raw("content", parts),
            None => object,
        };
    }

    /// Whether the field of this member, one of OpenAI's, is written.
    fn has(&self, key: &str) -> bool {
        match key {
            "role" => !self.role.is_empty(),
            "name" => self.name.is_some(),
            "content" => self.content.is_some(),
            _ => false,
        }
    }
}
