//! The request as a conversation.

use std::borrow::Cow;

use super::data::ReferenceData;
use super::message::Message;
use super::request::ChatRequest;
use crate::json::Wire;
use crate::protocol::{
    self, Call, Contents, Conversation, Document, HistoryItem, RawMessage, Role, ToolResult,
    odd_lines,
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
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let last = self.messages.len().saturating_sub(1);
        let messages = self.messages.iter().enumerate();
        messages.flat_map(move |(index, message)| {
            let mut items = items(message);
            // The current message has no prefix: `@slug ` at its start is what the user typed.
            for item in items.iter_mut().filter(|_| index != last) {
                if let HistoryItem::Message(protocol::Message {
                    role: Role::User,
                    text,
                    ..
                }) = item
                {
                    if let Some(rest) = self.after_slug(text) {
                        *text = Cow::Owned(rest.to_owned());
                    }
                }
            }
            items
        })
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        RawMessage::list(&self.messages, |message| {
            RawMessage::author(message.speaker(), &items(message))
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn odd_values(&self) -> String {
        odd_lines(self, &["messages"])
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

/// Returns the result, or the message with its files, and the calls of a message.
fn items(message: &Message) -> Vec<HistoryItem<'_>> {
    let mut contents = match message.is_session() {
        true => Contents::default(),
        false => message.content.contents(|_| None),
    };
    contents.add_odd(message, &[]);
    let mut items = match message.speaker() {
        Role::Tool => {
            let mut result = ToolResult::new(message.name.as_deref().unwrap_or_default(), "");
            result.call_id = message.tool_call_id();
            contents.into_result(result)
        }
        _ if contents.is_empty() => Vec::new(),
        role => contents.into_message(role),
    };
    items.extend(message.function_calls().map(|call| {
        let mut made = Call::new(call.name, call.arguments);
        made.id = call.id.map(Cow::Owned);
        HistoryItem::Call(made)
    }));
    items
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
