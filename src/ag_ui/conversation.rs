//! A request as a conversation.

use super::Content;
use super::request::{Message, ResumeStatus, RunAgentInput};
use crate::json::Wire;
use crate::protocol::{
    self, Answer, Call, Conversation, Document, HistoryItem, RawMessage, Role, Tool, ToolResult,
};

impl Conversation for RunAgentInput {
    /// Returns the history, without reasoning, activities, and messages whose role this crate does not know.
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        self.messages.iter().flat_map(items)
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        // Reasoning, activities and unknown roles are the agent's.
        RawMessage::list(&self.messages, |message| {
            role(message).unwrap_or(Role::Assistant)
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    /// Returns the context of the app as documents, whose name and id are the description.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let context = self.context.iter();
        context.map(|entry| Document::new(&*entry.description, &*entry.description, &*entry.value))
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.tools.iter().map(|tool| {
            let mut offered = Tool::new(&*tool.name, &*tool.description);
            offered.parameters.clone_from(&tool.parameters);
            offered
        })
    }

    /// Returns the answer to an interrupt.
    fn dialog_answer(&self) -> Option<Answer> {
        let answer = self.resume.first()?;
        let payload = &answer.payload;
        let accepted = payload
            .as_bool()
            .or_else(|| payload.get("accepted")?.as_bool());
        // Both are needed: an interrupt that the user cancelled can have a payload too.
        let resolved = answer.status == ResumeStatus::Resolved;
        let accepted = resolved && accepted == Some(true);
        Some(Answer::in_dialog(&*answer.interrupt_id, accepted).data(payload.get("data")))
    }
}

fn role(message: &Message) -> Option<Role> {
    Some(match message.role.as_str() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => return None,
    })
}

fn items(message: &Message) -> impl Iterator<Item = HistoryItem<'_>> + use<'_> {
    let text = message.content.text();
    let role = role(message);
    let said = match role {
        None => None,
        Some(Role::Tool) => {
            let mut result = ToolResult::new(message.name.as_deref().unwrap_or_default(), text);
            result.call_id = message.tool_call_id.as_deref().map(Into::into);
            result.failed = message.is_failure();
            if let Some(error) = message
                .error
                .as_deref()
                .filter(|_| result.content.is_empty())
            {
                // A failed call may have an error and no result, and a model needs some text.
                result.content = error.into();
            }
            Some(HistoryItem::Result(result))
        }
        // A message that calls tools may have no text.
        Some(Role::Assistant) if text.is_empty() => None,
        Some(role) => Some(HistoryItem::Message(protocol::Message::new(role, text))),
    };
    let content = Some(&message.content).filter(|_| role.is_some());
    let attachments = content.into_iter().flat_map(Content::attachments);
    let calls = message.tool_calls.iter().filter(move |_| role.is_some());
    let calls = calls.map(|call| {
        let function = &call.function;
        Call::new(&*function.name, &*function.arguments).id(&*call.id)
    });
    let attachments = attachments.map(HistoryItem::Attachment);
    said.into_iter()
        .chain(attachments)
        .chain(calls.map(HistoryItem::Call))
}
