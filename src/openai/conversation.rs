//! The request as a conversation.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use super::{ChatMessage, ChatRequest, Content, FunctionCall};
use crate::json::Json;
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
        // The newest call of an id so far.
        let mut calls: HashMap<&str, Called<'_>> = HashMap::new();
        let messages = self.messages.iter().enumerate();
        messages.filter_map(move |(at, message)| {
            let is_result = at >= start && role(message) == Role::Tool;
            let result = is_result.then(|| {
                let id = message.tool_call_id.as_deref();
                let call = id.and_then(|id| calls.get(id));
                let name = match call {
                    Some(call) => &call.function.name,
                    None => message.name.as_deref().unwrap_or_default(),
                };
                let mut result = ToolResult::new(name, message.content.text());
                result.call_id = id.map(Cow::Borrowed);
                result.arguments = call.and_then(Called::arguments);
                result
            });
            // Of one message the first call of an id counts.
            let made = message.tool_calls.iter().rev();
            calls.extend(made.map(|call| (call.id.as_str(), Called::new(&call.function))));
            result
        })
    }

    /// A yes or no of the user right behind the assistant's question.
    fn decision(&self) -> Option<Decision<'_>> {
        let [.., asked, answer] = &*self.messages else {
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

/// A call, and its arguments once a result has asked for them: a call may have many results.
struct Called<'a> {
    function: &'a FunctionCall,
    arguments: OnceCell<Option<Json>>,
}

impl<'a> Called<'a> {
    fn new(function: &'a FunctionCall) -> Self {
        Self {
            function,
            arguments: OnceCell::new(),
        }
    }

    fn arguments(&self) -> Option<Json> {
        let arguments = self.arguments.get_or_init(|| self.function.json().ok());
        arguments.clone()
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
