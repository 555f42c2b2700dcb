//! The request as a conversation.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Content, ContentBlock, MessageParam, MessagesRequest, ToolResultBlock, ToolUseBlock};
use crate::json::{Json, Kind};
use crate::protocol::{
    Conversation, Decision, Document, LONGEST_NAME, Message, Role, Tool, ToolResult, markdown,
};

/// A part of a message, in order.
enum Item<'a> {
    Message(Message<'a>),
    Call(&'a ToolUseBlock),
    Result(&'a ToolResultBlock),
}

impl Conversation for MessagesRequest {
    /// The system prompt comes first. Thinking is left out. A text that Claude Code adds to what the
    /// user says, a `<system-reminder>`, is a message of its own with [`Role::Other`], so that the
    /// prompt is what the user typed.
    fn messages(&self) -> impl Iterator<Item = Message<'_>> + Send {
        let system = self.system.text();
        let system = (!system.is_empty()).then(|| Message::new(Role::System, system));
        let items = self.messages.iter().flat_map(items);
        system
            .into_iter()
            .chain(items.filter_map(|item| match item {
                Item::Message(message) => Some(message),
                _ => None,
            }))
    }

    /// The documents with a text, in the order of the messages. The id of one is its place.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let blocks = self
            .messages
            .iter()
            .flat_map(|message| message.content.blocks());
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

    /// The results in and behind the newest message in which the user says something, each with the
    /// call that its id names. Results of parallel calls come in the order of completion.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let says = |message: &MessageParam| {
            let is_text = |item: Item<'_>| matches!(item, Item::Message(message) if message.role == Role::User);
            items(message).into_iter().any(is_text)
        };
        let start = self.messages.iter().rposition(says).unwrap_or(0);
        let mut calls: HashMap<&str, &ToolUseBlock> = HashMap::new();
        let messages = self.messages.iter().enumerate();
        messages.flat_map(move |(at, message)| {
            let mut results = Vec::new();
            for item in items(message) {
                match item {
                    Item::Call(call) => {
                        calls.insert(&call.id, call);
                    }
                    Item::Result(found) if at >= start => {
                        results.push(result(
                            found,
                            calls.get(found.tool_use_id.as_str()).copied(),
                        ));
                    }
                    _ => {}
                }
            }
            results
        })
    }

    /// A yes or no of the user right behind the assistant's question.
    fn decision(&self) -> Option<Decision<'_>> {
        let mut spoken = self
            .messages
            .iter()
            .flat_map(items)
            .filter(|item| match item {
                Item::Message(message) => matches!(message.role, Role::User | Role::Assistant),
                _ => true,
            });
        let (mut asked, mut answer) = (None, spoken.next());
        for item in spoken {
            asked = answer.replace(item);
        }
        let (Some(Item::Message(asked)), Some(Item::Message(answer))) = (asked, answer) else {
            return None;
        };
        if asked.role != Role::Assistant || answer.role != Role::User {
            return None;
        }
        let decision = markdown::decision(&asked.text, &answer.text)?;
        Some(Decision::new(decision.id.into_owned(), decision.accepted))
    }
}

/// Returns the parts of a message. Texts that follow each other are one.
fn items(message: &MessageParam) -> Vec<Item<'_>> {
    let role = match message.role.as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    };
    let mut items = Vec::new();
    if let Content::Text(text) = &message.content {
        add_text(&mut items, role, text);
    }
    for block in message.content.blocks() {
        match block {
            ContentBlock::Text(block) => add_text(&mut items, role, &block.text),
            ContentBlock::ToolUse(call) => items.push(Item::Call(call)),
            ContentBlock::ToolResult(result) => items.push(Item::Result(result)),
            ContentBlock::Thinking(_) | ContentBlock::Other(_) => {}
        }
    }
    items
}

fn add_text<'a>(items: &mut Vec<Item<'a>>, role: Role, text: &'a str) {
    let trimmed = text.trim();
    let is_reminder = role == Role::User
        && trimmed.starts_with("<system-reminder>")
        && trimmed.ends_with("</system-reminder>");
    let role = if is_reminder { Role::Other } else { role };
    match items.last_mut() {
        _ if text.is_empty() => {}
        Some(Item::Message(last)) if last.role == role => {
            let all = last.text.to_mut();
            all.push('\n');
            all.push_str(text);
        }
        _ => items.push(Item::Message(Message::new(role, text))),
    }
}

fn result<'a>(found: &'a ToolResultBlock, call: Option<&'a ToolUseBlock>) -> ToolResult<'a> {
    let name = call.map_or("", |call| &call.name);
    let name = match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => name.get(..end).unwrap_or_default(),
        None => name,
    };
    let mut result = ToolResult::new(name, found.text());
    result.call_id = Some(Cow::Borrowed(&found.tool_use_id));
    let arguments = call.map(|call| &call.input);
    result.arguments = arguments
        .filter(|input| input.kind() == Kind::Object)
        .cloned();
    result.failed = found.is_error;
    result
}

/// Returns the title and the text of a `document` block that has a text.
fn document(block: &Json) -> Option<(Option<String>, String)> {
    if block.get("type")?.string()? != "document" {
        return None;
    }
    let title = block.get("title");
    let title = title.and_then(|title| Some(title.string()?.into_owned()));
    let source = block.get("source")?;
    if source.get("type")?.string()? != "text" {
        return None;
    }
    Some((title, source.get("data")?.string()?.into_owned()))
}
