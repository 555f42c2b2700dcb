//! The request: the whole conversation.

use std::borrow::Cow;

use copilot_wire::json::{Json, Kind, List, Members, Wire};
use copilot_wire::protocol::{
    AnswerFormat, AnswerSchema, Attachment, AttachmentContent, Call, Conversation, HistoryItem,
    Message, RawMessage, Role, Tool, ToolResult,
};

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(null_is_absent, new = "Creates a request.")]
pub struct ChatRequest {
    /// The model.
    #[wire(always, new)]
    pub model: String,
    /// The conversation, oldest message first.
    #[wire(always, new)]
    pub messages: List<ChatMessage>,
    /// The tools of the client.
    pub tools: List<OfferedTool>,
    /// `false` for an answer that is one document.
    pub stream: Option<bool>,
    /// `true`, `false`, or how much the model reasons.
    pub think: Option<Json>,
    /// `json`, or a schema that the answer shall match.
    pub format: Option<Json>,
    /// The options of the model, such as `temperature`.
    pub options: Option<Json>,
    /// Members without a field.
    pub unknown: Members,
}

/// A message, in requests and answers.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[wire(null_is_absent, empty_is_absent, new = "Creates a message.")]
pub struct ChatMessage {
    /// `system`, `user`, `assistant` or `tool`.
    #[wire(always, new)]
    pub role: String,
    /// The text.
    #[wire(always, new, content)]
    pub content: String,
    /// The reasoning.
    #[wire(content)]
    pub thinking: String,
    /// Images in base64.
    #[wire(secret)]
    pub images: List<String>,
    /// Calls of the client's tools.
    pub tool_calls: List<ToolUse>,
    /// The tool whose result this is.
    pub tool_name: Option<String>,
    /// The call whose result this is. Older clients do not send it.
    pub tool_call_id: Option<String>,
    /// Members without a field.
    pub unknown: Members,
}

/// A tool of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(fixed(type = "function"))]
pub struct OfferedTool {
    /// The function.
    #[wire(always)]
    pub function: Function,
    /// Members without a field.
    pub unknown: Members,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(null_is_absent)]
pub struct ToolUse {
    /// The id. Older clients do not send it back.
    pub id: Option<String>,
    /// The function.
    #[wire(always)]
    pub function: Function,
    /// Members without a field.
    pub unknown: Members,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(null_is_absent)]
pub struct Function {
    /// The name.
    #[wire(always)]
    pub name: String,
    /// The description, in an offer.
    pub description: Option<String>,
    /// The schema of the arguments, in an offer.
    pub parameters: Option<Json>,
    /// The arguments, in a call.
    pub arguments: Option<Json>,
    /// Members without a field.
    pub unknown: Members,
}

impl Conversation for ChatRequest {
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        self.messages.iter().flat_map(ChatMessage::items)
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        RawMessage::list(&self.messages, ChatMessage::role)
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.tools.iter().map(|OfferedTool { function, .. }| {
            let description = function.description.as_deref().unwrap_or_default();
            let mut tool = Tool::new(function.name.as_str(), description);
            tool.parameters.clone_from(&function.parameters);
            tool
        })
    }

    fn answer_format(&self) -> Option<AnswerFormat<'_>> {
        let format = self.format.as_ref()?;
        match format.kind() {
            Kind::Object => Some(AnswerFormat::Schema(AnswerSchema::new("", format.clone()))),
            _ => (format.string()? == "json").then_some(AnswerFormat::Json),
        }
    }
}

impl ChatMessage {
    fn role(&self) -> Role {
        match self.role.as_str() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::Other,
        }
    }

    fn items(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let text = self.content.as_str();
        let role = self.role();
        let said = match role {
            Role::Tool => {
                let name = self.tool_name.as_deref().unwrap_or_default();
                let mut result = ToolResult::new(name, text);
                result.call_id = self.tool_call_id.as_deref().map(Cow::Borrowed);
                Some(HistoryItem::Result(result))
            }
            _ if text.is_empty() && !self.tool_calls.is_empty() => None,
            _ => Some(HistoryItem::Message(Message::new(role, text))),
        };
        let images = self.images.iter().map(|image| {
            let content = AttachmentContent::Base64(Cow::Borrowed(image));
            HistoryItem::Attachment(Attachment::new(content))
        });
        let calls = self.tool_calls.iter().map(|ToolUse { id, function, .. }| {
            let arguments = function.arguments.as_ref().map_or("{}", Json::text);
            let mut call = Call::new(function.name.as_str(), arguments);
            call.id = id.as_deref().map(Cow::Borrowed);
            HistoryItem::Call(call)
        });
        said.into_iter().chain(images).chain(calls)
    }
}
