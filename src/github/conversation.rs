//! The request as a conversation.

use std::borrow::Cow;

use super::data::Data;
use super::message::Message;
use super::request::ChatRequest;
use crate::protocol::{
    self, Call, Conversation, Decision, Document, HistoryItem, Role, ToolResult,
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
    /// Without the client's own messages: `_session`, and those that carry references or answers
    /// and no text. The `@slug ` that starts earlier messages of the user is taken off.
    fn history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let last = self.messages.len().saturating_sub(1);
        let messages = self.messages.iter().enumerate();
        messages.flat_map(move |(index, message)| {
            let role = message.speaker();
            let mut text = message.text();
            if role == Role::User && index != last {
                if let Some(said) = self.after_slug(&text) {
                    text = Cow::Owned(said.to_owned());
                }
            }
            let said = match role {
                Role::Tool => {
                    let name = message.name.as_deref().unwrap_or_default();
                    let mut result = ToolResult::new(name, text);
                    result.call_id = message.tool_call_id();
                    Some(HistoryItem::Result(result))
                }
                _ if message.is_session() || text.is_empty() => None,
                _ => Some(HistoryItem::Message(protocol::Message::new(role, text))),
            };
            let calls = message.function_calls().map(|call| {
                let mut made = Call::new(call.name, call.arguments);
                made.id = call.id.map(Cow::Owned);
                HistoryItem::Call(made)
            });
            said.into_iter().chain(calls)
        })
    }

    /// The text of the last message when it is the user's. `None` when it is empty, which an answer
    /// to a confirmation is: the question before it is not asked again.
    fn prompt(&self) -> Option<Cow<'_, str>> {
        let last = self.messages.last()?;
        if last.speaker() == Role::User && !last.is_session() {
            return Some(last.text()).filter(|text| !text.is_empty());
        }
        let mut newest = None;
        for message in Conversation::messages(self) {
            if message.role == Role::User {
                newest = Some(message.text);
            }
        }
        newest
    }

    /// Files and selections in the current context. What only has an address, the files and
    /// snippets of github.com, has its data as content.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let context = self.context();
        let documents = context.data().filter_map(|(reference, data)| {
            let name = reference.display_name().unwrap_or(&reference.id);
            let raw = reference.data.as_ref().map_or("", |data| data.text());
            Some(match data {
                Data::ClientFile(file) => Document::new(reference.id.as_str(), name, file.content),
                Data::ClientSelection(selection) => {
                    let [start, end] = [selection.start, selection.end]
                        .map(|position| position.line.saturating_add(1));
                    let name = format!("{name} (lines {start}-{end})");
                    Document::new(reference.id.as_str(), name, selection.content)
                }
                Data::File(_) | Data::Snippet(_) => Document::new(reference.id.as_str(), name, raw),
                _ => return None,
            })
        });
        documents.collect::<Vec<_>>().into_iter()
    }

    /// The first answer on the last message, as GitHub's SDK has it;
    /// [`answers`](ChatRequest::answers) has all. The data is the whole confirmation.
    fn decision(&self) -> Option<Decision<'_>> {
        let answer = self.answers().next()?;
        let mut decision = Decision::new(answer.id().unwrap_or_default(), answer.is_accepted());
        decision.data.clone_from(&answer.confirmation);
        Some(decision)
    }
}

impl ChatRequest {
    /// What follows `@slug `. Messages of earlier turns start with it, the current one does not
    /// (recorded request of github.com).
    fn after_slug<'a>(&self, text: &'a str) -> Option<&'a str> {
        let slug = self.agent.as_deref()?;
        text.strip_prefix('@')?
            .strip_prefix(slug)?
            .strip_prefix(' ')
    }
}
