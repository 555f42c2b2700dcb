//! The request for a response.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use super::{Item, Tool};
use crate::json::wire::json_api;
use crate::json::{Json, JsonError, Kind, List, Members, Reader, ValueWriter, Wire, WriteError};
use crate::protocol::Refusal;
use crate::protocol::redacted::Size;

/// A request for a response, for clients and servers.
///
/// Members without a field, such as `temperature`, are in `unknown`.
///
/// ```
/// use copilot_wire::responses::ResponsesRequest;
///
/// let request = ResponsesRequest::new("gpt-5", "Hello").stream(true);
/// assert_eq!(&*request.to_json(), br#"{"model":"gpt-5","input":"Hello","stream":true}"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent, new = "Creates a request.")]
pub struct ResponsesRequest {
    /// The requested model; empty if there is none.
    #[wire(always, new)]
    pub model: String,
    /// Instructions of the agent's operator.
    #[wire(content)]
    pub instructions: Option<String>,
    /// The conversation. Never empty in a request that was read.
    #[wire(always, new)]
    pub input: Input,
    /// Set if the answer should be streamed; absent means `false`.
    #[wire(set = "Sets if the answer should be streamed.")]
    pub stream: Option<bool>,
    /// The tools that the answer may call.
    pub tools: List<Tool>,
    /// The choice among the tools: `none`, `auto`, `required`, or an object.
    pub tool_choice: Option<Json>,
    /// Settings of the answer's text: an object with its `format`.
    #[wire(secret)]
    pub text: Option<Json>,
    /// The response that this request continues, for servers that store responses.
    #[wire(secret)]
    pub previous_response_id: Option<String>,
    /// The stored conversation: its id, or an object with its id.
    #[wire(secret)]
    pub conversation: Option<Json>,
    /// A key that is the same in all turns of a conversation.
    #[wire(secret)]
    pub prompt_cache_key: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl ResponsesRequest {
    /// Sets the instructions.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the tools that the answer may call.
    #[must_use]
    pub fn offer(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Adds any other member, such as `temperature`.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if the value cannot be serialized.
    pub fn with<T: Serialize + ?Sized>(
        mut self,
        member: impl Into<String>,
        value: &T,
    ) -> Result<Self, WriteError> {
        self.unknown.push(member, Json::encode(value)?);
        Ok(self)
    }

    /// Reads the body of a request and refuses requests that need stored responses.
    pub(crate) fn read(body: &Bytes) -> Result<Self, Refusal> {
        let request = Self::parse(body)?;
        let refuse = |message| Refusal::new(StatusCode::BAD_REQUEST, message);
        // An id of another type is unknown: ignoring it would answer without the history too.
        if request.unknown.get("previous_response_id").is_some()
            || request.previous_response_id.is_some()
        {
            // After this code VS Code repeats the turn with the complete history.
            let refusal = refuse("responses are not stored: send the whole conversation");
            return Err(refusal
                .at("previous_response_id")
                .code("previous_response_not_found"));
        }
        let mut items = request.input.items().iter();
        // Only a server that stores items can follow a reference. Skipping it would lose a part of
        // the conversation.
        if let Some(at) = items.position(|item| item.kind == "item_reference") {
            let refusal = refuse("items are not stored: send the item itself");
            return Err(refusal.at(format!("input[{at}]")));
        }
        if request.input.is_empty() {
            let refusal = refuse("must be a text or an array with at least one item");
            return Err(refusal.at("input"));
        }
        Ok(request)
    }

    /// Returns `true` if the answer should be streamed.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.stream == Some(true)
    }

    /// Returns `true` if the response shall go on when its client leaves, for servers that store responses.
    #[must_use]
    pub fn is_background(&self) -> bool {
        let background = self.unknown.get("background");
        background.is_some_and(|background| background.text() == "true")
    }

    /// Returns the id that is the same in all turns of a conversation: `prompt_cache_key`, else
    /// `conversation`.
    pub(super) fn conversation_id(&self) -> Option<Cow<'_, str>> {
        let key = self.prompt_cache_key.as_deref().map(Cow::Borrowed);
        let conversation = || {
            let conversation = self.conversation.as_ref()?;
            let id = match conversation.kind() {
                Kind::Object => conversation.get("id")?.string()?.into_owned(),
                _ => conversation.string()?.into_owned(),
            };
            Some(Cow::Owned(id))
        };
        key.filter(|key| !key.is_empty())
            .or_else(conversation)
            .filter(|id| !id.is_empty())
    }

    /// Returns an iterator over the functions that may be called; empty if `tool_choice` is `none`.
    pub(super) fn offered(&self) -> impl Iterator<Item = (&str, &Tool)> + Send {
        let choice = self.tool_choice.as_ref();
        let none = choice.is_some_and(|choice| choice.text() == "\"none\"");
        let tools = self.tools.iter().filter(move |_| !none);
        tools.filter_map(|tool| Some((tool.callable()?, tool)))
    }
}

/// The conversation in a request: one text of the user, or items.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// One message of the user.
    Text(String),
    /// Items, oldest first.
    Items(List<Item>),
}

impl Input {
    /// Returns the items; none if the input is one text.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        match self {
            Self::Text(_) => &[],
            Self::Items(items) => items,
        }
    }

    /// Adds an item. A text becomes a message first.
    pub fn push(&mut self, item: Item) {
        match self {
            Self::Items(items) => items.push(item),
            Self::Text(text) => {
                let text = Item::user(std::mem::take(text));
                *self = Self::Items(vec![text, item].into());
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Items(items) => items.is_empty(),
        }
    }
}

json_api!(Input);

impl Wire for Input {
    const EXPECTED: &'static str = "a text or an array";

    fn read_from(reader: &mut Reader<'_>) -> Result<Option<Self>, JsonError> {
        if let Some(text) = reader.string()? {
            return Ok(Some(Self::Text(text.into_owned())));
        }
        Ok(List::read_from(reader)?.map(Self::Items))
    }

    fn write_to(&self, to: ValueWriter<'_>) {
        match self {
            Self::Text(text) => to.str(text),
            Self::Items(items) => items.write_to(to),
        }
    }
}

impl Default for Input {
    fn default() -> Self {
        Self::Items(List::new())
    }
}

/// Prints only the length of a text.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(&Size::of(text)).finish(),
            Self::Items(items) => items.fmt(f),
        }
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Input {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Item>> for Input {
    fn from(items: Vec<Item>) -> Self {
        Self::Items(items.into())
    }
}
