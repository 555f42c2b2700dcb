//! The request as a conversation.

use std::borrow::Cow;

use super::{Content, ContentPart, Input, Item, ResponsesRequest};
use crate::models::split_reminder;
use crate::protocol::{
    Attachment, AttachmentContent, Call, Conversation, HistoryItem, Message, Role, Tool, ToolResult,
};

impl Conversation for ResponsesRequest {
    /// Returns the history: the instructions, then the input. Reasoning and items of other kinds
    /// are skipped; images and files of a message, and of a call's output, are attachments. The
    /// prefix that Copilot's command line adds to the user's text, the time, is a message of its
    /// own with [`Role::Other`].
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let system = self.instructions.as_deref();
        let system = system.filter(|text| !text.is_empty());
        let text = match &self.input {
            Input::Text(text) => Some(text.as_str()),
            Input::Items(_) => None,
        };
        let message = |role, text| HistoryItem::Message(Message::new(role, text));
        system
            .map(|text| message(Role::System, text))
            .into_iter()
            .chain(text.map(|text| message(Role::User, text)))
            .chain(self.input.items().iter().flat_map(items))
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.offered().map(|(name, function)| {
            let description = function.description.as_deref().unwrap_or_default();
            let mut tool = Tool::new(name, description);
            tool.parameters.clone_from(&function.parameters);
            tool
        })
    }
}

fn items(item: &Item) -> impl Iterator<Item = HistoryItem<'_>> {
    let mut reminder = None;
    let (said, content) = if item.is_message() {
        let (role, mut text) = (role(item), item.content.text());
        if role == Role::User {
            (reminder, text) = split_reminder(text);
        }
        let message = Message::new(role, text);
        (Some(HistoryItem::Message(message)), &item.content)
    } else if item.is_call() {
        let name = item.name.as_deref().unwrap_or_default();
        let mut call = Call::new(name, item.arguments.as_deref().unwrap_or_default());
        call.id = item.call_id.as_deref().map(Cow::Borrowed);
        (Some(HistoryItem::Call(call)), &Content::Null)
    } else if item.kind == "function_call_output" {
        // An output does not repeat the name of its function; `Conversation` finds it by the id of
        // the call.
        let mut result = ToolResult::new("", item.output.text());
        result.call_id = item.call_id.as_deref().map(Cow::Borrowed);
        (Some(HistoryItem::Result(result)), &item.output)
    } else {
        (None, &Content::Null)
    };
    let attachments = content.parts().iter().filter_map(attachment);
    let reminder = reminder.map(|text| HistoryItem::Message(Message::new(Role::Other, text)));
    reminder
        .into_iter()
        .chain(said)
        .chain(attachments.map(HistoryItem::Attachment))
}

/// Returns the image or file of a part.
fn attachment(part: &ContentPart) -> Option<Attachment<'_>> {
    let member = |name: &str| Some(part.unknown.get(name)?.string()?.into_owned());
    let url = match part.kind.as_str() {
        "input_image" => member("image_url"),
        // Inline content first: a URL beside it says where the file came from.
        "input_file" => member("file_data").or_else(|| member("file_url")),
        _ => return None,
    };
    let file = match url {
        Some(url) => Attachment::from_url(url.into()),
        None => Attachment::new(AttachmentContent::Id(member("file_id")?.into())),
    };
    Some(match member("filename") {
        Some(name) => file.name(name),
        None => file,
    })
}

fn role(item: &Item) -> Role {
    match item.role.as_deref().unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::Other,
    }
}
