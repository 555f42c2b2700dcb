//! The request as a conversation.

use std::borrow::Cow;

use super::{ChatMessage, ChatRequest, Content, ToolCall};
use crate::protocol::{Conversation, Decision, Message, Role, Tool, ToolResult, markdown};

impl Conversation for ChatRequest {
    /// Messages that only call tools, and the results of calls, are left out.
    fn messages(&self) -> impl Iterator<Item = Message<'_>> + Send {
        self.messages.iter().filter_map(|message| {
            let role = role(message);
            let calls = !message.tool_calls.is_empty() || message.function_call.is_some();
            let text = text(message);
            if role == Role::Tool || calls && text.is_empty() {
                return None;
            }
            Some(Message::new(role, text))
        })
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.offered().map(|function| {
            let description = function.description.as_deref().unwrap_or_default();
            let mut tool = Tool::new(function.name.as_str(), description);
            tool.parameters.clone_from(&function.parameters);
            tool
        })
    }

    /// The `tool` messages behind the newest user message, each with the call that its id names.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let newest = self
            .messages
            .iter()
            .rposition(|message| role(message) == Role::User);
        let start = newest.map_or(0, |at| at + 1);
        let results = self.messages.iter().enumerate().skip(start);
        results.filter_map(|(at, message)| {
            if role(message) != Role::Tool {
                return None;
            }
            let id = message.tool_call_id.as_deref();
            let call = self.messages.get(..at)?.iter().rev().find_map(|message| {
                let mut calls = message.tool_calls.iter();
                calls.find(|call| id == Some(call.id.as_str()))
            });
            let name = call.map_or(message.name.as_deref(), |call| Some(&call.function.name));
            let mut result = ToolResult::new(name.unwrap_or_default(), message.content.text());
            result.call_id = id.map(Cow::Borrowed);
            result.arguments = call.and_then(|call: &ToolCall| call.function.json().ok());
            Some(result)
        })
    }

    /// A yes or no of the user right behind the assistant's question.
    fn decision(&self) -> Option<Decision<'_>> {
        let [.., asked, answer] = self.messages.as_slice() else {
            return None;
        };
        if role(asked) != Role::Assistant || role(answer) != Role::User {
            return None;
        }
        let asked = asked.content.text();
        let decision = markdown::decision(&asked, &answer.content.text())?;
        Some(Decision::new(decision.id.into_owned(), decision.accepted))
    }
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

/// What a message says: its content, or the refusal in its place.
fn text(message: &ChatMessage) -> Cow<'_, str> {
    match (&message.content, &message.refusal) {
        (Content::Null, Some(refusal)) => Cow::Borrowed(refusal),
        (content, _) => content.text(),
    }
}
