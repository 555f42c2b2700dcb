//! The request for a response.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;

use super::tool::Function;
use super::{Item, Tool};
use crate::json::{Json, Kind, List, Members, Wire};
use crate::protocol::{self, ContentPart, Refusal};

/// A request for a response, for clients and servers.
///
/// Members without a field, such as `temperature`, are in `unknown`.
///
/// ```
/// use copilot_wire::json::Wire as _;
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
    #[wire(content, set = "Sets the instructions.")]
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

crate::models::setters::request_setters!(ResponsesRequest);

impl ResponsesRequest {
    /// Reads the body of a request, and refuses requests that need stored responses where there are none.
    pub(crate) fn read(body: &Bytes, has_store: bool) -> Result<Self, Refusal> {
        let request = Self::parse(body)?;
        let refuse = |message| Refusal::new(StatusCode::BAD_REQUEST, message);
        // An id that is not a string is refused as unknown: if it were ignored, the answer would lack the history.
        let is_odd = request.unknown.get("previous_response_id").is_some();
        if (is_odd || request.previous_response_id.is_some()) && !has_store {
            return Err(unknown_response("responses are not stored"));
        }
        if is_odd {
            return Err(unknown_response("no such response"));
        }
        if request.conversation.is_some() && !has_store {
            let refusal = refuse("conversations are not stored: send all items");
            return Err(refusal.at("conversation"));
        }
        let mut items = request.input.parts().iter();
        // Only a server that stores items can follow a reference. Skipping it would lose a part of
        // the conversation.
        if let Some(at) = items.position(|item| item.is_reference() && !has_store) {
            let refusal = refuse("items are not stored: send the item itself");
            return Err(refusal.at(format!("input[{at}]")));
        }
        let refusal = refuse("must be a text or an array with at least one item");
        match &request.input {
            Input::Text(_) => {}
            Input::Parts(items) if items.is_empty() => {
                return Err(refusal.at_list("input", items));
            }
            Input::Parts(_) => {}
            _ => return Err(refusal.at("input")),
        }
        Ok(request)
    }

    /// Returns `true` if the answer should be streamed.
    pub fn is_stream(&self) -> bool {
        self.stream == Some(true)
    }

    /// Returns `true` if the response shall go on when its client leaves, for servers that store responses.
    pub(super) fn is_background(&self) -> bool {
        let background = self.unknown.get("background");
        background.is_some_and(|background| background.text() == "true")
    }

    /// Returns `true` if a server that stores responses should store the answer, which is the default.
    pub fn is_stored(&self) -> bool {
        let store = self.unknown.get("store");
        store.is_none_or(|store| store.text() != "false")
    }

    /// Returns the id that is the same in all turns of a conversation: `prompt_cache_key`.
    pub(super) fn conversation_id(&self) -> Option<Cow<'_, str>> {
        let key = self.prompt_cache_key.as_deref();
        key.filter(|key| !key.is_empty()).map(Cow::Borrowed)
    }

    /// Takes the id of the stored conversation. Without another one it is the key of the conversation from now on:
    /// the agent has the whole conversation, and a server that it asks does not know the id.
    pub(super) fn take_conversation(&mut self) -> Result<Option<String>, Refusal> {
        let Some(conversation) = self.conversation.take() else {
            return Ok(None);
        };
        let id = match conversation.kind() {
            Kind::Object => conversation.get("id").unwrap_or_default(),
            _ => conversation,
        };
        let Some(id) = id.string().map(Cow::into_owned) else {
            let message = "must be the id of a conversation, or an object with it";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message).at("conversation"));
        };
        if self.conversation_id().is_none() {
            self.prompt_cache_key = Some(id.clone());
        }
        Ok(Some(id))
    }

    /// Returns an iterator over the functions that may be called, those last that items of the conversation have added:
    /// the results of a search for tools, and tools of a later turn. Empty if `tool_choice` is `none`.
    pub(super) fn offered(&self) -> impl Iterator<Item = Function<'_>> + Send {
        let items = match &self.input {
            Input::Parts(items) if self.allows_calls() => &items[..],
            _ => &[],
        };
        let added = items.iter().flat_map(Item::added_tools);
        let added = added.flat_map(|tool| {
            tool.functions()
                .into_iter()
                .map(Function::into_owned)
                .collect::<Vec<_>>()
        });
        self.allowed().flat_map(Tool::functions).chain(added)
    }

    /// Returns an iterator over the tools that are not functions; empty if `tool_choice` is `none`.
    pub(super) fn others(&self) -> impl Iterator<Item = &Tool> + Send {
        let is_function = |tool: &&Tool| matches!(&*tool.kind, "function" | "namespace");
        self.allowed().filter(move |tool| !is_function(tool))
    }

    fn allowed(&self) -> impl Iterator<Item = &Tool> + Send {
        let allows_calls = self.allows_calls();
        self.tools.iter().filter(move |_| allows_calls)
    }

    fn allows_calls(&self) -> bool {
        let choice = self.tool_choice.as_ref();
        choice.is_none_or(|choice| choice.text() != "\"none\"")
    }
}

/// Returns the refusal of a request that continues a response which cannot be continued.
pub(super) fn unknown_response(reason: &str) -> Refusal {
    let message = format!("{reason}: send the whole conversation");
    // After this code VS Code repeats the turn with the complete history.
    Refusal::new(StatusCode::BAD_REQUEST, message)
        .at("previous_response_id")
        .code("previous_response_not_found")
}

/// The conversation in a request: one message of the user, or items, oldest first. The type is
/// [`protocol::Content`].
pub type Input = protocol::Content<Item>;

impl Input {
    /// Adds an item. Anything else than items becomes a message first.
    pub fn push(&mut self, item: Item) {
        match self {
            Self::Parts(items) => items.push(item),
            Self::Text(text) => {
                let text = Item::user(std::mem::take(text));
                *self = vec![text, item].into();
            }
            _ => *self = vec![item].into(),
        }
    }
}

impl ContentPart for Item {
    fn said(&self) -> Option<Cow<'_, str>> {
        Some(self.content.text())
    }
}
