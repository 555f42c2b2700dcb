//! The request as a conversation.

use std::borrow::Cow;

use super::data::ReferenceData;
use super::message::Message;
use super::request::ChatRequest;
use crate::json::{Json, Place, Wire};
use crate::protocol::{
    self, Call, Conversation, Document, HistoryItem, RawMessage, Role, ToolResult,
};

impl Message {
    fn speaker(&self) -> Role {
        match self.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::System,
            "tool" | "function" => Role::Tool,
            _ => Role::Other,
        }
    }
}

impl Conversation for ChatRequest {
    /// Returns the messages without the client's own: `_session`, and those with references or
    /// answers but no text. The prefix `@slug ` of the user's earlier messages is removed.
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let last = self.messages.len().saturating_sub(1);
        let messages = self.messages.iter().enumerate();
        messages.flat_map(move |(index, message)| {
            let role = message.speaker();
            let mut text = message.text();
            // The current message has no prefix: `@slug ` at its start is what the user typed.
            if role == Role::User && index != last {
                if let Some(rest) = self.after_slug(&text) {
                    text = Cow::Owned(rest.to_owned());
                }
            }
            let (_, files) = message.content.contents(|_| None).text_and_files();
            let item = match role {
                Role::Tool => {
                    let name = message.name.as_deref().unwrap_or_default();
                    let mut result = ToolResult::new(name, text);
                    result.call_id = message.tool_call_id();
                    Some(HistoryItem::Result(result))
                }
                _ if message.is_session() || text.is_empty() && files.is_empty() => None,
                _ => Some(HistoryItem::Message(protocol::Message::new(role, text))),
            };
            let calls = message.function_calls().map(|call| {
                let mut made = Call::new(call.name, call.arguments);
                made.id = call.id.map(Cow::Owned);
                HistoryItem::Call(made)
            });
            let files = files.into_iter().filter(|_| item.is_some());
            let files: Vec<_> = files.map(HistoryItem::Attachment).collect();
            item.into_iter().chain(files).chain(calls)
        })
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        RawMessage::list(&self.messages, |message| match message.speaker() {
            Role::User if message.is_session() || message.text().is_empty() => Role::Other,
            role => role,
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn each_odd(&self, each: &mut dyn FnMut(&Place<'_>, &Json)) {
        Wire::each_odd(self, &Place::default(), each);
    }

    /// Returns the text of the last message if it is the user's. Empty text, such as that of an answer to a
    /// confirmation, gives `None`; the earlier question is not returned again.
    fn prompt(&self) -> Option<Cow<'_, str>> {
        let last = self.messages.last()?;
        if last.speaker() == Role::User && !last.is_session() {
            return Some(last.text()).filter(|text| !text.is_empty());
        }
        let mut latest = None;
        for message in Conversation::messages(self) {
            if message.role == Role::User {
                latest = Some(message.text);
            }
        }
        latest
    }

    /// Returns the files and selections of the current context. Files and snippets of github.com
    /// have only a URL; their content is their data.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let context = self.context();
        let documents = context.data().filter_map(|(reference, data)| {
            let name = reference.display_name().unwrap_or(&reference.id);
            let raw = reference.data.as_ref().map_or("", |data| data.text());
            Some(match data {
                ReferenceData::ClientFile(file) => {
                    Document::new(reference.id.as_str(), name, file.content)
                }
                ReferenceData::ClientSelection(selection) => {
                    let [start, end] = [selection.start, selection.end]
                        // Lines on the wire count from 0, in editors from 1.
                        .map(|position| position.line.saturating_add(1));
                    let name = format!("{name} (lines {start}-{end})");
                    Document::new(reference.id.as_str(), name, selection.content)
                }
                // What only says that something was left out, and the page on which the user is.
                ReferenceData::Redacted(_)
                | ReferenceData::Agent(_)
                | ReferenceData::Other(None) => return None,
                _ => Document::new(reference.id.as_str(), name, raw),
            })
        });
        documents.collect::<Vec<_>>().into_iter()
    }

    /// Returns the first answer on the last message, as GitHub's SDK does;
    /// [`decisions`](ChatRequest::decisions) returns all. The data is the complete confirmation.
    fn dialog_decision(&self) -> Option<protocol::Decision> {
        let answer = self.decisions().next()?;
        let id = answer.id().unwrap_or_default();
        let dialog = protocol::Decision::in_dialog(id, answer.is_accepted());
        Some(dialog.data(answer.confirmation.clone()))
    }
}

impl ChatRequest {
    /// Returns the text after `@slug `. Messages of earlier turns start with that prefix, the
    /// current one does not (recorded request of github.com).
    fn after_slug<'a>(&self, text: &'a str) -> Option<&'a str> {
        let slug = self.agent.as_deref()?;
        text.strip_prefix('@')?
            .strip_prefix(slug)?
            .strip_prefix(' ')
    }
}
