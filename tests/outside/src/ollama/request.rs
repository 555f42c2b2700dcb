//! The request: the whole conversation.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use copilot_wire::json::{Json, Kind, List, Members, Wire};
use copilot_wire::protocol::{
    AnswerFormat, AnswerSchema, Attachment, AttachmentContent, Call, Conversation, HistoryItem,
    Message, Role, Tool, ToolResult,
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
#[wire(null_is_absent, new = "Creates a message.")]
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

impl Conversation for ChatRequest {
    /// Returns the history. A call without an id gets one, and so does a result without one: that of the first call
    /// of its tool in the messages before it that has no result yet.
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let mut open = Open::default();
        self.messages
            .iter()
            .flat_map(move |message| open.items(message))
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

/// The calls without a result, by the names of their tools.
#[derive(Default)]
struct Open<'a> {
    calls: HashMap<&'a str, VecDeque<Cow<'a, str>>>,
    count: usize,
}

impl<'a> Open<'a> {
    fn items(&mut self, message: &'a ChatMessage) -> Vec<HistoryItem<'a>> {
        let text = message.content.as_str();
        let item = match message.role.as_str() {
            "tool" => HistoryItem::Result(self.result(message)),
            role => HistoryItem::Message(Message::new(role_of(role), text)),
        };
        let is_empty = text.is_empty() && !message.tool_calls.is_empty();
        let mut items: Vec<_> = Some(item).filter(|_| !is_empty).into_iter().collect();
        items.extend(message.images.iter().map(|image| {
            let content = AttachmentContent::Base64(Cow::Borrowed(image));
            HistoryItem::Attachment(Attachment::new(content))
        }));
        for call in &message.tool_calls {
            items.push(HistoryItem::Call(self.call(call)));
        }
        items
    }

    fn call(&mut self, call: &'a ToolUse) -> Call<'a> {
        self.count += 1;
        let id: Cow<'_, str> = match &call.id {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(format!("call_{}", self.count)),
        };
        let name = call.function.name.as_str();
        self.calls.entry(name).or_default().push_back(id.clone());
        let arguments = call.function.arguments.as_ref();
        Call::new(name, arguments.map_or("{}", Json::text)).id(id)
    }

    fn result(&mut self, message: &'a ChatMessage) -> ToolResult<'a> {
        let name = message.tool_name.as_deref().unwrap_or_default();
        let mut result = ToolResult::new(name, message.content.as_str());
        let first = self.calls.get_mut(name).and_then(VecDeque::pop_front);
        result.call_id = match &message.tool_call_id {
            Some(id) => Some(Cow::Borrowed(id)),
            None => first,
        };
        result
    }
}

fn role_of(role: &str) -> Role {
    match role {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    }
}
