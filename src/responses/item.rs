//! Items of a conversation, in requests and responses.

use std::borrow::Cow;

use super::tool::full_name;
use super::{Content, ContentPart, Tool};
use crate::json::{Json, JsonError, List, Members, Wire};
use crate::protocol;

/// An item of a conversation: a message, a call, its output, reasoning, or another kind.
///
/// Its members depend on its kind. Those of unknown kinds are in `unknown`.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(never_empty, null_is_absent)]
pub struct Item {
    /// The id, such as `msg_1`.
    pub id: Option<String>,
    /// The kind: `message`, `function_call`, `function_call_output`, `reasoning` or another. Empty
    /// if a message of a request omits it.
    #[wire(name = "type")]
    pub kind: String,
    /// The status: `in_progress`, `completed` or `incomplete`.
    pub status: Option<String>,
    /// The role of a message: `user`, `assistant`, `system` or `developer`.
    pub role: Option<String>,
    /// The content of a message.
    pub content: Content,
    /// The id of a call, which its output repeats.
    pub call_id: Option<String>,
    /// The name of the called function.
    pub name: Option<String>,
    /// The namespace of the called function. Codex puts all tools of an MCP server into one namespace.
    pub namespace: Option<String>,
    /// The arguments of a call as JSON text, as written by the model: not always valid.
    #[wire(content)]
    pub arguments: Option<String>,
    /// The output of a call.
    pub output: Content,
    /// The displayable summary of reasoning.
    pub summary: Option<Box<List<ContentPart>>>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl Item {
    /// Creates a message.
    pub fn message(role: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            kind: "message".into(),
            role: Some(role.into()),
            content: content.into(),
            ..Self::default()
        }
    }

    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::message("user", content)
    }

    /// Creates a call; `arguments` are a JSON text.
    pub fn call(
        call_id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            kind: "function_call".into(),
            call_id: Some(call_id.into()),
            name: Some(name.into()),
            arguments: Some(arguments.into()),
            ..Self::default()
        }
    }

    /// Creates the output of a call.
    pub fn output(call_id: impl Into<String>, output: impl Into<Content>) -> Self {
        Self {
            kind: "function_call_output".into(),
            call_id: Some(call_id.into()),
            output: output.into(),
            ..Self::default()
        }
    }

    /// Returns `true` if this is a message.
    pub(super) fn is_message(&self) -> bool {
        self.kind == "message" || self.kind.is_empty() && self.role.is_some()
    }

    /// Returns `true` if this is a call of a function.
    pub fn is_call(&self) -> bool {
        self.kind == "function_call"
    }

    /// Returns the kind of the tool that this item calls, such as `function`, `custom_tool` or `local_shell`; `None` if
    /// it is not a call, or a call that has its result in it.
    pub(super) fn called_tool(&self) -> Option<&str> {
        let with_result = [
            "code_interpreter",
            "file_search",
            "image_generation",
            "mcp",
            "web_search",
        ];
        let tool = self.kind.strip_suffix("_call")?;
        (!with_result.contains(&tool)).then_some(tool)
    }

    /// Returns the members that have no field.
    pub(super) fn other_members(&self) -> Members {
        let mut members = self.unknown.clone();
        members.retain(|name| !Self::NAMES.contains(&name));
        members
    }

    /// Returns the kind of the tool that this item calls, if the client runs it.
    pub(super) fn client_tool(&self) -> Option<&str> {
        let is =
            |value: Option<&Json>, text| value.and_then(Json::string).is_some_and(|it| it == text);
        let environment = self
            .unknown
            .get("environment")
            .and_then(|it| it.get("type"));
        let is_hosted = is(self.unknown.get("execution"), "server")
            || is(environment.as_ref(), "container_reference");
        self.called_tool().filter(|_| !is_hosted)
    }

    /// Returns the tools that this item adds to those of the request.
    pub(super) fn added_tools(&self) -> impl Iterator<Item = Tool> + use<'_> {
        let adds = matches!(&*self.kind, "additional_tools" | "tool_search_output");
        let tools = self.unknown.get("tools").filter(|_| adds);
        let tools = tools.into_iter().flat_map(Json::elements);
        tools.filter_map(|tool| Tool::from_raw(&tool))
    }

    /// Returns the name by which agents know the called function.
    pub(super) fn full_name(&self) -> Cow<'_, str> {
        full_name(
            self.namespace.as_deref(),
            self.name.as_deref().unwrap_or_default(),
        )
    }

    /// Returns the encrypted content of reasoning, by which its server reads it again.
    pub(super) fn encrypted_content(&self) -> Option<&Json> {
        let content = self.unknown.get("encrypted_content");
        content.filter(|content| content.string().is_some_and(|text| !text.is_empty()))
    }

    /// Returns `false` for reasoning that only a server can read which has stored it: neither in encrypted form nor as it
    /// is.
    pub(super) fn is_readable(&self) -> bool {
        let has_content = !self.content.text().is_empty();
        self.kind != "reasoning" || has_content || self.encrypted_content().is_some()
    }

    /// Returns the prefix of the ids of items of this kind.
    pub(super) fn id_prefix(&self) -> &'static str {
        match self.kind.as_str() {
            "function_call" => "fc",
            "function_call_output" => "fco",
            "reasoning" => "rs",
            _ if self.is_message() => "msg",
            _ => "item",
        }
    }

    /// Returns `true` if this stands for an item that the server has stored.
    pub(super) fn is_reference(&self) -> bool {
        self.kind == "item_reference"
    }

    /// Returns the arguments of a call as a JSON object. Empty text is an object without members.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if this is not a call, or the text is not a JSON object.
    pub fn json(&self) -> Result<Json, JsonError> {
        let text = match self.is_call() {
            true => self.arguments.as_deref().unwrap_or_default(),
            // An item of another kind gives the error for a value that is not an object.
            false => "null",
        };
        Json::parse_object(text)
    }
}

impl TryFrom<&Item> for protocol::ToolCall {
    type Error = JsonError;

    /// Converts a call to that of the shared vocabulary, for a reply of any protocol.
    fn try_from(item: &Item) -> Result<Self, JsonError> {
        Ok(Self {
            name: item.full_name().into_owned(),
            arguments: item.json()?,
            id: item.call_id.clone().filter(|id| !id.is_empty()),
            by_model: None,
        })
    }
}
