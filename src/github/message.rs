//! Messages of a request.

use std::borrow::Cow;
use std::fmt;

use super::decision::ConfirmationDecision;
use super::reference::Reference;
use crate::json::{Json, Kind, List, Members, Wire, present};
use crate::protocol::{self, ContentPart};
use crate::vocabulary::redacted::{Cut, Size};

/// A message of a request, with the members of recorded requests, GitHub's SDK, VS Code and
/// `gh debug-cli`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, escape = Json)]
pub struct Message {
    /// The role: `user`, `assistant` or `system`; also `function`, `tool` or any other text.
    pub role: String,
    /// The author's name. `_session` marks the context message of github.com.
    #[wire(read = present)]
    pub name: Option<String>,
    /// The content.
    pub content: Content,
    /// The references. On a user message they are context; on an assistant message they are those
    /// that the agent sent in that turn.
    #[wire(name = "copilot_references")]
    pub references: List<Reference>,
    /// Answers to confirmations. Only those on the last message count, see
    /// [`ChatRequest::decisions`](super::ChatRequest::decisions).
    #[wire(name = "copilot_confirmations")]
    pub confirmations: List<ConfirmationDecision>,
    /// Members that have no field here, and the fields above that were sent as `null` or empty.
    pub unknown: Members,
}

/// The content of a message: a text, or OpenAI's array of parts, which no recorded request of the platform has. The
/// type is [`protocol::Content`].
pub type Content = protocol::Content<Json>;

impl ContentPart for Json {
    /// Returns the member `text`, or the text that is in place of a part.
    fn said(&self) -> Option<Cow<'_, str>> {
        let text = self.get("text");
        let text = text.as_ref().and_then(Self::string).map(Cow::into_owned);
        text.map(Cow::Owned).or_else(|| self.string())
    }
}

/// A tool call in an assistant message, or the deprecated `function_call`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// The id that the result refers to; the deprecated form has none.
    pub id: Option<String>,
    /// The name of the function.
    pub name: String,
    /// The arguments: a *string* of JSON, as written by the model.
    pub arguments: String,
}

/// Prints only the length of the arguments.
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
    /// Creates a message with a role and a content.
    pub fn new(role: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
            ..Self::default()
        }
    }

    /// Returns the text; empty if there is none.
    pub fn text(&self) -> Cow<'_, str> {
        self.content.text()
    }

    /// Returns `true` if this is the context message of github.com: its name is `_session`. Its
    /// role is `user` in recorded requests and `system` in another source, so it is ignored.
    pub(super) fn is_session(&self) -> bool {
        self.name.as_deref() == Some("_session")
    }

    /// Returns an iterator over the calls in an assistant message.
    pub fn function_calls(&self) -> impl Iterator<Item = FunctionCall> {
        let string = |json: &Json, key: &str| Some(json.get(key)?.string()?.into_owned());
        let call = move |id: Option<String>, function: &Json| {
            Some(FunctionCall {
                id,
                name: string(function, "name")?,
                // Some servers of models send the object itself.
                arguments: match function.get("arguments") {
                    Some(json) if json.kind() == Kind::Object => json.text().to_owned(),
                    json => json
                        .and_then(|it| Some(it.string()?.into_owned()))
                        .unwrap_or_default(),
                },
            })
        };
        // Both forms, the older one last: no sender is known to use both.
        let deprecated = self.unknown.get("function_call");
        let tool_calls = self.unknown.get("tool_calls");
        tool_calls
            .into_iter()
            .flat_map(Json::elements)
            .filter_map(move |entry| call(string(&entry, "id"), &entry.get("function")?))
            .chain(deprecated.and_then(move |function| call(None, function)))
    }

    /// Returns the id of the call whose result this message is, for the role `tool`.
    pub fn tool_call_id(&self) -> Option<Cow<'_, str>> {
        self.unknown.get("tool_call_id")?.string()
    }

    /// Returns the message in the form of a model's API, without the members that are GitHub's own.
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
        // Strict endpoints refuse unknown members of a message, and the agent's references are not
        // for the model.
        message.unknown.retain(|key| KEPT.contains(&key));
        message
    }
}
