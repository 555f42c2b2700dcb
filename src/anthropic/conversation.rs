//! The request as a conversation.

use std::borrow::Cow;

use super::{Content, ContentBlock, MessageParam, MessagesRequest, ToolResultBlock};
use crate::json::Json;
use crate::models::split_reminder;
use crate::protocol::{
    Attachment, AttachmentContent, Call, Conversation, Document, HistoryItem, Message, Role, Tool,
    ToolResult,
};

impl Conversation for MessagesRequest {
    /// Returns the history: the system prompt first, then the messages without thinking. A text
    /// that Claude Code adds to the user's text, a `<system-reminder>`, or Copilot, the time, is a
    /// message of its own with [`Role::Other`], so that the prompt is the user's own text.
    fn history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let system = self.system.text();
        let system = (!system.is_empty()).then(|| said(Role::System, system));
        system
            .into_iter()
            .chain(self.messages.iter().flat_map(items))
    }

    /// Returns the documents with a text, in the order of the messages. The id of a document is its
    /// position.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let messages = self.messages.iter();
        let blocks = messages.flat_map(|message| message.content.blocks());
        let documents = blocks.filter_map(|block| match block {
            ContentBlock::Other(json) => document(json),
            _ => None,
        });
        documents.enumerate().map(|(at, (title, text))| {
            let id = format!("document-{}", at + 1);
            let name = title.unwrap_or_else(|| id.clone());
            Document::new(id, name, text)
        })
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.offered().map(|tool| {
            let description = tool.description.as_deref().unwrap_or_default();
            let mut found = Tool::new(tool.name.as_str(), description);
            found.parameters.clone_from(&tool.input_schema);
            found
        })
    }
}

fn said<'a>(role: Role, text: Cow<'a, str>) -> HistoryItem<'a> {
    HistoryItem::Message(Message::new(role, text))
}

/// Returns the items of a message: results, text, files and calls.
fn items(message: &MessageParam) -> Vec<HistoryItem<'_>> {
    let role = match message.role.as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    };
    let (mut items, mut files, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let mut text: Option<Cow<'_, str>> = match &message.content {
        Content::Text(text) => Some(Cow::Borrowed(text)),
        _ => None,
    };
    for block in message.content.blocks() {
        match block {
            ContentBlock::Text(block) if role == Role::User && is_reminder(&block.text) => {
                items.push(said(Role::Other, Cow::Borrowed(&block.text)));
            }
            ContentBlock::Text(block) => match &mut text {
                None => text = Some(Cow::Borrowed(&block.text)),
                Some(text) => {
                    let text = text.to_mut();
                    text.push('\n');
                    text.push_str(&block.text);
                }
            },
            ContentBlock::ToolResult(block) => {
                items.push(HistoryItem::Result(result(block)));
                // The images of a result follow it, because the result itself is text only.
                let content = block.content.iter().flat_map(Json::elements);
                items.extend(content.filter_map(|json| file(&json)));
            }
            ContentBlock::ToolUse(call) => {
                let call = Call::new(&*call.name, call.input.text()).id(&*call.id);
                calls.push(HistoryItem::Call(call));
            }
            ContentBlock::Other(json) => files.extend(file(json)),
            // Reasoning is for the model that wrote it, which is not necessarily this agent's.
            ContentBlock::Thinking(_) => {}
        }
    }
    let text = text.unwrap_or_default();
    let (reminder, text) = match role {
        Role::User => split_reminder(text),
        _ => (None, text),
    };
    // Results come before the text of the same message: they answer the calls of the message
    // before.
    items.extend(reminder.map(|text| said(Role::Other, text)));
    // A file belongs to the message before it.
    if !text.is_empty() || !files.is_empty() {
        items.push(said(role, text));
    }
    items.append(&mut files);
    items.append(&mut calls);
    items
}

fn is_reminder(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

fn result(block: &ToolResultBlock) -> ToolResult<'_> {
    let mut result = ToolResult::new("", block.text()).call_id(&*block.tool_use_id);
    result.failed = block.is_error;
    result
}

/// Returns the file of an `image` or `document` block, unless it is text.
fn file<'a>(block: &Json) -> Option<HistoryItem<'a>> {
    let text = |json: &Json, name: &str| Some(json.get(name)?.string()?.into_owned());
    if !matches!(text(block, "type")?.as_str(), "image" | "document") {
        return None;
    }
    let source = block.get("source")?;
    let (member, content): (_, fn(Cow<'a, str>) -> _) = match text(&source, "type")?.as_str() {
        "base64" => ("data", AttachmentContent::Base64),
        "url" => ("url", AttachmentContent::Url),
        "file" => ("file_id", AttachmentContent::Id),
        _ => return None,
    };
    let mut file = Attachment::new(content(text(&source, member)?.into()));
    if let Some(media_type) = text(&source, "media_type") {
        file = file.media_type(media_type);
    }
    if let Some(title) = text(block, "title") {
        file = file.name(title);
    }
    Some(HistoryItem::Attachment(file))
}

/// Returns the title and the text of a `document` block that has a text.
fn document(block: &Json) -> Option<(Option<String>, String)> {
    let text = |json: &Json, name: &str| Some(json.get(name)?.string()?.into_owned());
    let source = block.get("source")?;
    if text(block, "type")? != "document" || text(&source, "type")? != "text" {
        return None;
    }
    Some((text(block, "title"), text(&source, "data")?))
}
