//! Conversion of a conversation of any protocol to a model's request.

use std::mem;

use super::{ChatMessage, ChatRequest, Content, Function, FunctionCall, Part, ToolCall};
use crate::json::{Json, List};
use crate::protocol::{
    AnswerFormat, Attachment, AttachmentContent, Call, Conversation, HistoryItem, Message, Role,
    ToolResult,
};

/// The result for a call without one: a model's server refuses a request with such a call.
const NO_RESULT: &str = "The call has no result.";

impl ChatRequest {
    /// Creates a request from a conversation: the messages, the calls and their results,
    /// attachments, documents, the tools that the front end offers, and the form of the answer.
    ///
    /// Set the [`model`](Self::model), and add [`instructions`](Self::instructions). Conversations
    /// that models' servers refuse are corrected: a call without a result gets a placeholder
    /// result, and a result without a call becomes a user message. Documents become a user message
    /// before the latest one.
    ///
    /// ```
    /// use copilot_wire::Request;
    /// use copilot_wire::openai::ChatRequest;
    /// use copilot_wire::protocol::Protocol;
    ///
    /// fn prompt<P: Protocol>(request: &Request<P>) -> ChatRequest {
    ///     let mut prompt = ChatRequest::from_conversation(&**request)
    ///         .instructions("Answer briefly.")
    ///         .stream(true);
    ///     prompt.model = "gpt-4o".to_owned();
    ///     prompt
    /// }
    /// ```
    #[must_use]
    pub fn from_conversation(conversation: &impl Conversation) -> Self {
        let mut messages = Messages::default();
        for item in conversation.history() {
            match item {
                HistoryItem::Message(message) => messages.push_message(message),
                HistoryItem::Attachment(file) => messages.attached(&file),
                HistoryItem::Call(call) => messages.called(call),
                HistoryItem::Result(result) => messages.answered(result),
            }
        }
        messages.complete_calls();
        let mut messages = messages.all;
        let mut documents = String::new();
        for document in conversation.documents() {
            let title = if documents.is_empty() {
                "Documents in context:"
            } else {
                ""
            };
            let parts = [title, "\n\n# ", &document.name, "\n\n", &document.content];
            documents.extend(parts);
        }
        // Right before the latest message of the user: the instructions stay first, and the
        // question last.
        if !documents.is_empty() {
            let latest = messages.iter().rposition(|message| message.role == "user");
            messages.insert(latest.unwrap_or(0), ChatMessage::user(documents));
        }
        let tools = conversation.tools().map(|tool| {
            let mut function = Function::new(tool.name, tool.description);
            function.parameters = tool.parameters;
            function.into()
        });
        Self {
            messages: messages.into(),
            tools: tools.collect(),
            response_format: conversation
                .answer_format()
                .map(|format| response_format(&format)),
            ..Self::default()
        }
    }
}

/// Returns the form of an answer as a request has it in `response_format`.
#[must_use]
pub fn response_format(format: &AnswerFormat<'_>) -> Json {
    let AnswerFormat::Schema(wanted) = format else {
        return Json::object(|format| {
            format.str("type", "json_object");
        });
    };
    let schema = Json::object(|json| {
        // A name is required.
        let name = match &*wanted.name {
            "" => "answer",
            name => name,
        };
        let description = Some(&*wanted.description).filter(|text| !text.is_empty());
        json.str("name", name)
            .opt_str("description", description)
            .raw("schema", &wanted.schema)
            .bool("strict", wanted.strict);
    });
    Json::object(|format| {
        format
            .str("type", "json_schema")
            .raw("json_schema", &schema);
    })
}

/// The messages so far. The results of calls must follow the message with the calls directly.
#[derive(Default)]
struct Messages {
    all: Vec<ChatMessage>,
    /// The ids of the calls without results so far.
    waiting: Vec<String>,
    /// The files of results: a model accepts only text in a result.
    files: Vec<Part>,
    /// The number of calls without an id.
    unnamed: usize,
}

impl Messages {
    fn push_message(&mut self, message: Message<'_>) {
        self.complete_calls();
        let role = match message.role {
            // A result without a call, from a front end that sends it as a message.
            Role::Tool => "user",
            role => role.as_str(),
        };
        self.all
            .push(ChatMessage::new(role, message.text.into_owned()));
    }

    fn called(&mut self, call: Call<'_>) {
        let id = call.id.map_or_else(
            || {
                self.unnamed += 1;
                format!("unnamed_{}", self.unnamed)
            },
            Into::into,
        );
        let call = ToolCall {
            id: id.clone(),
            function: FunctionCall {
                name: call.name.into_owned(),
                arguments: call.arguments.into_owned(),
                ..FunctionCall::default()
            },
            ..ToolCall::default()
        };
        match self.all.last_mut() {
            // Calls and the text before them are one message of the assistant.
            Some(last) if last.role == "assistant" => {
                last.tool_calls.push(call);
                // Beside calls the content is `null`, as OpenAI's servers write it.
                if last.content.text().is_empty() {
                    last.content = Content::Null;
                }
            }
            _ => {
                self.complete_calls();
                self.all.push(ChatMessage::calls([call]));
            }
        }
        self.waiting.push(id);
    }

    fn answered(&mut self, result: ToolResult<'_>) {
        let position = match &result.call_id {
            Some(id) => self.waiting.iter().position(|waiting| waiting == id),
            None if self.waiting.is_empty() => None,
            // Results without ids are in the order of their calls.
            None => Some(0),
        };
        let content = result.content.into_owned();
        if let Some(position) = position {
            let id = self.waiting.remove(position);
            self.all.push(ChatMessage::result(id, content));
            return;
        }
        self.complete_calls();
        // A `tool` message without its call is refused, so the result becomes a message of the
        // user.
        let text = format!("Result of {}:\n\n{content}", result.name);
        self.all.push(ChatMessage::user(text));
    }

    fn attached(&mut self, file: &Attachment<'_>) {
        let part = part(file);
        match self.all.last_mut() {
            Some(last) if last.role == "user" => {
                let mut parts = match mem::take(&mut last.content) {
                    Content::Parts(parts) => parts,
                    // Nothing to keep: a part for it would be empty.
                    Content::Text(text) if text.is_empty() => List::new(),
                    content => vec![Part::new(&content.text())].into(),
                };
                parts.push(part);
                last.content = Content::Parts(parts);
            }
            _ => self.files.push(part),
        }
    }

    /// Adds results to the calls without one, and the files of the others.
    fn complete_calls(&mut self) {
        let missing = mem::take(&mut self.waiting).into_iter();
        self.all
            .extend(missing.map(|id| ChatMessage::result(id, NO_RESULT)));
        let files = mem::take(&mut self.files);
        if !files.is_empty() {
            self.all.push(ChatMessage::user(files));
        }
    }
}

/// Converts a file to a part of a message. A URL of a file other than an image becomes text:
/// models' servers accept no other.
fn part(file: &Attachment<'_>) -> Part {
    let media_type = file.media_type.as_deref().unwrap_or_default();
    let is_image = media_type.starts_with("image/");
    let (name, value) = match &file.content {
        AttachmentContent::Url(url) if is_image || media_type.is_empty() => {
            return Part::image(url);
        }
        AttachmentContent::Url(url) => return Part::new(url),
        AttachmentContent::Base64(data) if is_image => {
            return Part::image(&format!("data:{media_type};base64,{data}"));
        }
        AttachmentContent::Base64(data) => {
            ("file_data", format!("data:{media_type};base64,{data}"))
        }
        AttachmentContent::Id(id) => ("file_id", id.to_string()),
    };
    let file = Json::object(|members| {
        members
            .str(name, &value)
            .opt_str("filename", file.name.as_deref());
    });
    Part::raw(Json::object(|part| {
        part.str("type", "file").raw("file", &file);
    }))
}
