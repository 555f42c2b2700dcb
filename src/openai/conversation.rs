//! The request as a conversation.

use std::borrow::Cow;

use super::{ChatMessage, ChatRequest, Content};
use crate::models::split_reminder;
use crate::protocol::{
    Attachment, AttachmentContent, Call, Conversation, HistoryItem, Message, Role, Tool, ToolResult,
};

impl Conversation for ChatRequest {
    /// Returns the history. A message with only tool calls becomes its calls; images and files of a
    /// message are attachments. The prefix that Copilot's command line adds to the user's text, the
    /// time, is a message of its own with [`Role::Other`].
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        self.messages.iter().flat_map(items)
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.offered().map(|function| {
            let description = function.description.as_deref().unwrap_or_default();
            let mut tool = Tool::new(function.name.as_str(), description);
            tool.parameters.clone_from(&function.parameters);
            tool
        })
    }
}

fn items(message: &ChatMessage) -> impl Iterator<Item = HistoryItem<'_>> {
    let (role, text) = (role(message), text(message));
    let (reminder, text) = match role {
        Role::User => split_reminder(text),
        _ => (None, text),
    };
    let reminder = reminder.map(|text| HistoryItem::Message(Message::new(Role::Other, text)));
    let calls = message.tool_calls.iter().map(|call| {
        let function = &call.function;
        Call::new(&*function.name, &*function.arguments).id(&*call.id)
    });
    let call = message.function_call.as_ref();
    let call = call.map(|function| Call::new(&*function.name, &*function.arguments));
    let mut calls = calls.chain(call).map(HistoryItem::Call).peekable();
    let item = if role == Role::Tool {
        let mut result = ToolResult::new(message.name.as_deref().unwrap_or_default(), text);
        result.call_id = message.tool_call_id.as_deref().map(Cow::Borrowed);
        Some(HistoryItem::Result(result))
    } else if text.is_empty() && calls.peek().is_some() {
        None
    } else {
        Some(HistoryItem::Message(Message::new(role, text)))
    };
    let attachments = attachments(&message.content).map(HistoryItem::Attachment);
    reminder
        .into_iter()
        .chain(item)
        .chain(attachments)
        .chain(calls)
}

/// Returns the images, files and sounds among the parts of a message.
fn attachments(content: &Content) -> impl Iterator<Item = Attachment<'_>> {
    let parts = match content {
        Content::Parts(parts) => parts.as_slice(),
        _ => &[],
    };
    parts.iter().filter_map(|part| {
        let kind = part.kind()?;
        let value = part.json().get(&kind)?;
        let member = |name: &str| Some(value.get(name)?.string()?.into_owned());
        let file = match kind.as_str() {
            "image_url" => Attachment::from_url(member("url")?.into()),
            "file" => match (member("file_data"), member("file_id")) {
                (Some(data), _) => Attachment::from_url(data.into()),
                // An id of a file at OpenAI: only the model's own server can resolve it.
                (None, Some(id)) => Attachment::new(AttachmentContent::Id(id.into())),
                (None, None) => return None,
            },
            "input_audio" => {
                let format = member("format").unwrap_or_default();
                let data = AttachmentContent::Base64(member("data")?.into());
                Attachment::new(data).media_type(format!("audio/{format}"))
            }
            _ => return None,
        };
        Some(match member("filename") {
            Some(name) => file.name(name),
            None => file,
        })
    })
}

fn role(message: &ChatMessage) -> Role {
    match message.role.as_str() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::Other,
    }
}

/// Returns the text of a message: its content, else the refusal.
fn text(message: &ChatMessage) -> Cow<'_, str> {
    match (&message.content, &message.refusal) {
        (Content::Null, Some(refusal)) => Cow::Borrowed(refusal),
        (content, _) => content.text(),
    }
}
