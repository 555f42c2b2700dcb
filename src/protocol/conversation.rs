//! What every request has in common, whatever front end it came from.

use std::borrow::Cow;

use crate::json::Json;

/// A request as a conversation: the part that every front end has.
///
/// Empty is a fine answer to every question but the messages: a front end that has no such thing
/// offers none.
pub trait Conversation {
    /// The messages, oldest first. Calls that the agent made are not among them; their results
    /// are in [`results`](Self::results).
    fn messages(&self) -> impl Iterator<Item = Message<'_>> + Send;

    /// What the user says now: the text of the newest user message.
    fn prompt(&self) -> Option<Cow<'_, str>> {
        self.messages()
            .filter(|message| message.role == Role::User)
            .map(|message| message.text)
            .last()
    }

    /// The documents that the user or the front end put into context.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        std::iter::empty()
    }

    /// The tools that the front end offers to run.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        std::iter::empty()
    }

    /// The results of the calls that were made since the newest user message, in order.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        std::iter::empty()
    }

    /// The user's answer to the confirmation that the turn before asked for.
    ///
    /// An answer to an earlier question is none: only the newest message counts.
    fn decision(&self) -> Option<Decision<'_>> {
        None
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Instructions from whoever runs the agent.
    System,
    /// The person at the front end.
    User,
    /// The agent, or another agent.
    Assistant,
    /// The result of a call.
    Tool,
    /// A role that this crate does not know.
    Other,
}

impl Role {
    /// The name that models know the role by; `user` for a role nobody knows.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User | Self::Other => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said, free of the front end's markers.
    pub text: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// A message.
    #[must_use]
    pub fn new(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            role,
            text: text.into(),
        }
    }
}

/// A document in context: a file, a selection, a widget's data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document<'a> {
    /// The front end's id of it.
    pub id: Cow<'a, str>,
    /// What to call it.
    pub name: Cow<'a, str>,
    /// The content as text; JSON where the content is data.
    pub content: Cow<'a, str>,
}

impl<'a> Document<'a> {
    /// A document.
    #[must_use]
    pub fn new(
        id: impl Into<Cow<'a, str>>,
        name: impl Into<Cow<'a, str>>,
        content: impl Into<Cow<'a, str>>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            content: content.into(),
        }
    }
}

/// A tool that the front end offers to run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tool<'a> {
    /// The name to call it by.
    pub name: Cow<'a, str>,
    /// What it does.
    pub description: Cow<'a, str>,
    /// The JSON schema of its arguments.
    pub parameters: Option<Json>,
}

impl<'a> Tool<'a> {
    /// A tool without a schema.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>, description: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: None,
        }
    }

    /// Sets the JSON schema of the arguments.
    #[must_use]
    pub fn parameters(mut self, schema: Json) -> Self {
        self.parameters = Some(schema);
        self
    }
}

/// More than the name of any function has; providers take 64. Every result of a call repeats the name,
/// so one that only the call has, and that is longer, is not repeated in full.
pub(crate) const LONGEST_NAME: usize = 256;

/// What came back from a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult<'a> {
    /// The id of the call, where the protocol has one.
    pub call_id: Option<Cow<'a, str>>,
    /// The tool that was called.
    pub name: Cow<'a, str>,
    /// The arguments of the call, where they came back.
    pub arguments: Option<Json>,
    /// The result as text; JSON where the result is data.
    pub content: Cow<'a, str>,
    /// Whether the call failed, as far as the front end says.
    pub failed: bool,
}

impl<'a> ToolResult<'a> {
    /// A result of a call that went well.
    #[must_use]
    pub fn new(name: impl Into<Cow<'a, str>>, content: impl Into<Cow<'a, str>>) -> Self {
        Self {
            call_id: None,
            name: name.into(),
            arguments: None,
            content: content.into(),
            failed: false,
        }
    }
}

/// The user's answer to a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision<'a> {
    /// The id that the confirmation was asked under.
    pub id: Cow<'a, str>,
    /// Whether the user agreed.
    pub accepted: bool,
    /// The data that was sent along with the question, where it came back. It crossed the client:
    /// never trust it further than the user.
    pub data: Option<Json>,
}

impl<'a> Decision<'a> {
    /// An answer.
    #[must_use]
    pub fn new(id: impl Into<Cow<'a, str>>, accepted: bool) -> Self {
        Self {
            id: id.into(),
            accepted,
            data: None,
        }
    }
}
