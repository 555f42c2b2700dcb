//! The request as a conversation.

use std::borrow::Cow;
use std::collections::HashMap;

use super::data::Data;
use super::message::Message;
use super::request::ChatRequest;
use crate::protocol::{self, Conversation, Decision, Document, LONGEST_NAME, Role, ToolResult};

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
    fn messages(&self) -> impl Iterator<Item = protocol::Message<'_>> + Send {
        let last = self.messages.len().saturating_sub(1);
        let messages = self.messages.iter().enumerate();
        messages.filter_map(move |(index, message)| {
            let role = message.speaker();
            let mut text = message.text();
            if message.is_session() || text.is_empty() {
                return None;
            }
            if role == Role::User && index != last {
                if let Some(said) = self.after_slug(&text) {
                    text = Cow::Owned(said.to_owned());
                }
            }
            Some(protocol::Message::new(role, text))
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

    /// The messages of the roles `tool` and `function` behind the newest one of the user.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let asked = self
            .messages
            .iter()
            .rposition(|message| message.speaker() == Role::User);
        let answered = self
            .messages
            .iter()
            .skip(asked.map_or(0, |asked| asked + 1));
        let mut names = None;
        answered
            .filter(|message| message.speaker() == Role::Tool)
            .map(move |message| {
                let call_id = message.tool_call_id();
                let name = match (&message.name, &call_id) {
                    (Some(name), _) => Cow::Borrowed(name.as_str()),
                    (None, Some(id)) => {
                        let names = names.get_or_insert_with(|| self.names_of_calls());
                        Cow::Owned(names.get(&**id).cloned().unwrap_or_default())
                    }
                    (None, None) => Cow::Borrowed(""),
                };
                let mut result = ToolResult::new(name, message.text());
                result.call_id = call_id;
                result
            })
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

    /// The function of every call by its id; the first one of an id counts.
    fn names_of_calls(&self) -> HashMap<String, String> {
        let calls = self.messages.iter().flat_map(Message::function_calls);
        let mut names = HashMap::new();
        for call in calls {
            if let Some(id) = call.id {
                let name = Some(call.name).filter(|name| name.len() <= LONGEST_NAME);
                names.entry(id).or_insert_with(|| name.unwrap_or_default());
            }
        }
        names
    }
}
