//! A request as a conversation.

use std::borrow::Cow;

use super::content::InputContent;
use super::request::{Message, ResumeStatus, RunAgentInput};
use crate::json::{Json, Wire};
use crate::protocol::{
    self, Call, Contents, Conversation, Decision, Document, HistoryItem, RawMessage, Role, Tool,
    ToolResult, odd_lines,
};

impl Conversation for RunAgentInput {
    /// Returns the history. Activities are messages of the agent with their JSON.
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        // What the user has entered at an interrupt, beside a yes or a no.
        let entered = self.resume.iter().filter_map(|entry| {
            let payload = &entry.payload;
            let is_decision = payload.is_null()
                || payload.as_bool().is_some()
                || payload.get("accepted").is_some();
            let text = (!is_decision).then(|| payload.text())?;
            Some(HistoryItem::Message(protocol::Message::new(
                Role::Other,
                text,
            )))
        });
        self.messages.iter().flat_map(items).chain(entered)
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        // Reasoning, activities and unknown roles are the agent's.
        RawMessage::list(&self.messages, |message| {
            let role = role(message).unwrap_or(Role::Assistant);
            RawMessage::author(role, &items(message))
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn odd_values(&self) -> String {
        odd_lines(self, &["messages"])
    }

    /// Returns the context of the app as documents, whose name and id are the description, and then the state, if it
    /// has members.
    fn documents(&self) -> impl Iterator<Item = Document<'_>> + Send {
        let context = self.context.iter();
        let context = context
            .map(|entry| Document::new(&*entry.description, &*entry.description, &*entry.value));
        let state = Some(&self.state).filter(|state| !matches!(state.text(), "null" | "{}"));
        context.chain(state.map(|state| Document::new("state", "state", state.text())))
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.tools.iter().map(|tool| {
            let mut offered = Tool::new(&*tool.name, &*tool.description);
            offered.parameters.clone_from(&tool.parameters);
            offered
        })
    }

    /// Returns the answer to an interrupt.
    fn dialog_decision(&self) -> Option<Decision> {
        let answer = self.resume.first()?;
        let payload = &answer.payload;
        let accepted = payload
            .as_bool()
            .or_else(|| payload.get("accepted")?.as_bool());
        // Both are needed: an interrupt that the user cancelled can have a payload too.
        let resolved = answer.status == ResumeStatus::Resolved;
        let accepted = resolved && accepted == Some(true);
        Some(Decision::in_dialog(&*answer.interrupt_id, accepted).data(payload.get("data")))
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

fn items(message: &Message) -> Vec<HistoryItem<'_>> {
    let Some(role) = role(message) else {
        return unknown(message);
    };
    let mut contents = message.content.contents(InputContent::attachment);
    contents.add_odd(message, &[]);
    let mut items = match role {
        Role::Tool => {
            if let Some(error) = &message.error {
                contents.add_text(error.as_str());
            }
            let mut result = ToolResult::new(message.name.as_deref().unwrap_or_default(), "");
            result.call_id = message.tool_call_id.as_deref().map(Into::into);
            result.failed = message.is_failure();
            contents.into_result(result)
        }
        // A message that calls tools may have no text.
        Role::Assistant if contents.is_empty() => Vec::new(),
        role => contents.into_message(role),
    };
    let calls = message.tool_calls.iter().map(|call| {
        let function = &call.function;
        HistoryItem::Call(Call::new(&*function.name, &*function.arguments).id(&*call.id))
    });
    items.extend(calls);
    items
}

/// Returns an activity, which the user has seen, as a message of the agent, or reasoning.
fn unknown(message: &Message) -> Vec<HistoryItem<'_>> {
    let mut contents = match message.role.as_str() {
        "activity" => {
            let kind = message.unknown.get("activityType").and_then(Json::string);
            let content = message.content.to_json();
            let content = String::from_utf8_lossy(&content);
            let text = format!("{}: {content}", kind.unwrap_or(Cow::Borrowed("activity")));
            Contents::from(text)
        }
        _ => message.content.contents(InputContent::attachment),
    };
    contents.add_odd(message, &[]);
    match message.role.as_str() {
        "reasoning" => {
            let (text, _) = contents.text_and_files();
            let text = Some(text).filter(|text| !text.is_empty());
            text.into_iter().map(HistoryItem::Reasoning).collect()
        }
        "activity" => contents.into_message(Role::Assistant),
        _ => contents.into_message(Role::Other),
    }
}
