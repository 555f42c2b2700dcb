//! The items of a conversation.

use std::borrow::Cow;

use super::Attachment;
use crate::json::{Json, JsonError, List, Wire};

/// An item of a conversation's history: a message, an attachment, a call, its result, or reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryItem<'a> {
    /// A message.
    Message(Message<'a>),
    /// A file that belongs to the preceding message or result.
    Attachment(Attachment<'a>),
    /// A call of the agent. The agent made consecutive calls in one turn, together with the assistant message before
    /// them.
    Call(Call<'a>),
    /// The result of a call.
    Result(ToolResult<'a>),
    /// The reasoning of the agent before the message or the calls that follow, unless only its provider can read it.
    Reasoning(Cow<'a, str>),
}

/// A tool call of the agent, from an earlier turn or the current one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct Call<'a> {
    /// The id that the result refers to. `None` if the protocol has no ids; the results then have the order of the
    /// calls.
    pub id: Option<Cow<'a, str>>,
    /// The name of the tool.
    pub name: Cow<'a, str>,
    /// The arguments as JSON text. It may not be a JSON object, because a model has written it.
    pub arguments: Cow<'a, str>,
}

impl<'a> Call<'a> {
    /// Creates a call without an id.
    pub fn new(name: impl Into<Cow<'a, str>>, arguments: impl Into<Cow<'a, str>>) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Sets the id that the result refers to.
    pub fn id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Returns the arguments as a JSON object. Empty text becomes an empty object, because some models write no
    /// arguments as an empty text.
    ///
    /// # Errors
    ///
    /// [`JsonError`] when the text is not a JSON object.
    pub fn json(&self) -> Result<Json, JsonError> {
        Json::parse_object(&self.arguments)
    }
}

/// The role of a message's author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Instructions of the agent's operator.
    System,
    /// The person at the front end.
    User,
    /// The agent, or another agent.
    Assistant,
    /// The result of a call.
    Tool,
    /// A role unknown to this crate.
    Other,
}

impl Role {
    /// Returns the name of this role in requests to models; `user` for [`Other`](Self::Other).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            // No model accepts other roles. As a user message the text is read, and it is never an instruction of the
            // system.
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
    /// The author.
    pub role: Role,
    /// The text, without the front end's markers.
    pub text: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// Creates a message.
    pub fn new(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            role,
            text: text.into(),
        }
    }
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// An answer for the user.
    #[default]
    Answer,
    /// A title for the conversation.
    Title,
    /// Facts of the conversation that the client wants to remember.
    Memory,
    /// A summary that replaces the conversation so far.
    Compaction,
}

/// The form that an answer must have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerFormat<'a> {
    /// Any JSON object.
    Json,
    /// JSON that matches a schema.
    Schema(AnswerSchema<'a>),
}

/// The schema that an answer must match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerSchema<'a> {
    /// The name; empty if there is none.
    pub name: Cow<'a, str>,
    /// A description for the model; empty if there is none.
    pub description: Cow<'a, str>,
    /// The JSON schema.
    pub schema: Json,
    /// `true` if the answer must match the schema exactly.
    pub strict: bool,
}

impl<'a> AnswerSchema<'a> {
    /// Creates a schema that an answer must match exactly.
    pub fn new(name: impl Into<Cow<'a, str>>, schema: Json) -> Self {
        Self {
            name: name.into(),
            description: Cow::Borrowed(""),
            schema,
            strict: true,
        }
    }

    /// Reads the members `name`, `description`, `schema` and `strict` of an object; `None` without a schema.
    pub fn read(json: &Json) -> Option<Self> {
        let text = |name| Some(json.get(name)?.string()?.into_owned());
        let schema = json.get("schema")?;
        Some(Self {
            description: text("description").unwrap_or_default().into(),
            strict: json.get("strict").and_then(|strict| strict.as_bool()) == Some(true),
            ..Self::new(text("name").unwrap_or_default(), schema)
        })
    }
}

/// A document in the context of the conversation: a file, a selection, or the data of a widget.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document<'a> {
    /// The id that the front end gave it.
    pub id: Cow<'a, str>,
    /// The display name.
    pub name: Cow<'a, str>,
    /// The content as text; structured data as JSON.
    pub content: Cow<'a, str>,
}

impl<'a> Document<'a> {
    /// Creates a document.
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
#[must_use]
pub struct Tool<'a> {
    /// The name.
    pub name: Cow<'a, str>,
    /// A description for the model.
    pub description: Cow<'a, str>,
    /// The JSON schema of the arguments.
    pub parameters: Option<Json>,
}

impl<'a> Tool<'a> {
    /// Creates a tool without a schema.
    pub fn new(name: impl Into<Cow<'a, str>>, description: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: None,
        }
    }

    /// Sets the JSON schema of the arguments.
    pub fn parameters(mut self, schema: Json) -> Self {
        self.parameters = Some(schema);
        self
    }
}

/// The maximum length in bytes of a call's name that is copied into its results. A longer name is left out unless it is
/// borrowed. Providers allow 64.
const LONGEST_NAME: usize = 256;

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ToolResult<'a> {
    /// The id of the call, if the protocol has one.
    pub call_id: Option<Cow<'a, str>>,
    /// The tool that was called.
    pub name: Cow<'a, str>,
    /// The arguments of the call, if the call is known.
    pub arguments: Option<Json>,
    /// The result as text; structured data as JSON.
    pub content: Cow<'a, str>,
    /// `true` if the front end reports that the call failed.
    pub failed: bool,
}

impl<'a> ToolResult<'a> {
    /// Creates the result of a successful call.
    pub fn new(name: impl Into<Cow<'a, str>>, content: impl Into<Cow<'a, str>>) -> Self {
        Self {
            call_id: None,
            name: name.into(),
            arguments: None,
            content: content.into(),
            failed: false,
        }
    }

    /// Sets the id of the call.
    pub fn call_id(mut self, id: impl Into<Cow<'a, str>>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Adds the name and the arguments of the call, if they are missing. `arguments` caches the parsed arguments for
    /// all results of one call.
    pub(crate) fn join(&mut self, call: &Call<'a>, arguments: &mut Option<Option<Json>>) {
        if self.name.is_empty() {
            self.name = match &call.name {
                // Many results of one call with a long name could exhaust the memory, as each copies the name. A
                // borrowed name is not copied.
                Cow::Owned(name) if name.len() > LONGEST_NAME => Cow::Borrowed(""),
                name => name.clone(),
            };
        }
        if self.arguments.is_none() {
            let arguments = arguments.get_or_insert_with(|| call.json().ok());
            self.arguments.clone_from(arguments);
        }
    }
}

/// A message as the client sent it, or any other item of a conversation.
#[derive(Clone, Copy)]
pub struct RawMessage<'a> {
    /// The author. [`Role::System`] and [`Role::Other`] are for messages that neither the user nor the agent nor a tool
    /// has written.
    pub role: Role,
    json: &'a (dyn Strings + Sync),
    shown: fn(&str) -> Cow<'_, str>,
}

impl<'a> RawMessage<'a> {
    /// Creates a message from the value that the client sent.
    pub fn new<T: Wire + Sync>(role: Role, json: &'a T) -> Self {
        Self {
            role,
            json,
            shown: |text| Cow::Borrowed(text),
        }
    }

    /// Sets the function that returns a string as the front end shows it, without the marks of a front end that are not
    /// shown as text.
    #[must_use]
    pub fn shown(mut self, shown: fn(&str) -> Cow<'_, str>) -> Self {
        self.shown = shown;
        self
    }

    /// Returns the messages of a list, each with the role that `role` returns. Elements that are no messages are the
    /// agent's.
    pub fn list<T: Wire + Sync>(
        list: &'a List<T>,
        mut role: impl FnMut(&'a T) -> Role + Send,
    ) -> impl Iterator<Item = Self> + Send {
        list.all().map(move |message| match message {
            Ok(message) => Self::new(role(message), message),
            Err(json) => Self::new(Role::Assistant, json),
        })
    }

    /// Returns the author of a message with a role and these items. A message in the user's place without the user's
    /// own words is that of a tool or of the client.
    pub fn author(role: Role, items: &[HistoryItem<'_>]) -> Role {
        if role != Role::User {
            return role;
        }
        let mut author = Role::Other;
        for item in items {
            match item {
                HistoryItem::Message(message) if message.role == Role::User => return Role::User,
                HistoryItem::Result(_) => author = Role::Tool,
                _ => {}
            }
        }
        author
    }

    /// Calls `each` with every string and every number of the message, and with the keys that its types do not declare.
    pub fn each_string(&self, each: &mut dyn FnMut(&str)) {
        self.json.each(&mut |text| each(&(self.shown)(text)));
    }
}

impl std::fmt::Debug for RawMessage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut message = f.debug_struct("RawMessage");
        message.field("role", &self.role).finish_non_exhaustive()
    }
}

/// [`Wire::each_string`] of a value of any type.
trait Strings {
    fn each(&self, each: &mut dyn FnMut(&str));
}

impl<T: Wire> Strings for T {
    fn each(&self, each: &mut dyn FnMut(&str)) {
        self.each_string(each);
    }
}
