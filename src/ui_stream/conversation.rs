//! A request as a conversation.

use std::borrow::Cow;
use std::mem;

use super::session::QUESTION;
use super::{ChatRequest, UiMessage, UiPart};
use crate::json::{Json, Wire};
use crate::protocol::{
    Answer, Attachment, Call, Conversation, HistoryItem, Message, RawMessage, Role, Tool,
    ToolResult,
};

impl Conversation for ChatRequest {
    /// Returns the history. Text parts of a message are joined, up to the next tool call. Files follow the message that
    /// contains them.
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let system = self.system.as_deref().filter(|text| !text.is_empty());
        let system = system.map(|text| HistoryItem::Message(Message::new(Role::System, text)));
        system
            .into_iter()
            .chain(self.messages.iter().flat_map(items))
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        RawMessage::list(&self.messages, role)
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    /// Returns the tools of the request and of its mount.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.tools.iter().map(|(name, tool)| {
            let description = tool.get("description");
            let description = description.as_ref().and_then(Json::string);
            let mut offered = Tool::new(name, description.unwrap_or_default().into_owned());
            offered.parameters = tool.get("parameters");
            offered
        })
    }

    /// Returns the results of the page's tools. Runs of the agent's tools, which the page returns too, are only in the
    /// history.
    fn results(&self) -> impl Iterator<Item = ToolResult<'_>> + Send {
        let newest = self
            .messages
            .iter()
            .rposition(|message| role(message) == Role::User);
        let since = self.messages.iter().skip(newest.map_or(0, |at| at + 1));
        let parts = since.flat_map(|message| &message.parts);
        parts
            // A question is a call on the wire, but its answer is returned by `dialog_answer`.
            .filter(|part| !part.provider_executed && !is_question(part))
            .filter_map(|part| {
                let mut result = result(part)?;
                result.arguments.clone_from(&part.input);
                Some(result)
            })
    }

    /// Returns the answer to an approval request.
    fn dialog_answer(&self) -> Option<Answer> {
        let part = self.decided()?;
        let approval = part.approval.as_ref()?;
        let data = part.input.as_ref().and_then(|input| input.get("data"));
        Some(Answer::in_dialog(&*approval.id, approval.approved == Some(true)).data(data))
    }
}

impl ChatRequest {
    /// Returns the question of the last message that the user has answered, if no reply has settled it.
    pub(super) fn decided(&self) -> Option<&UiPart> {
        // Only in the last message: a question of an earlier turn was settled by the reply to its answer.
        let mut parts = self.continued()?.parts.iter().rev();
        parts.find(|part| is_question(part) && part.is("approval-responded"))
    }
}

fn role(message: &UiMessage) -> Role {
    match message.role.as_str() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Other,
    }
}

/// Returns `true` for the call that represents a confirmation.
fn is_question(part: &UiPart) -> bool {
    part.approval.is_some() && part.kind == "dynamic-tool" && part.tool_name() == Some(QUESTION)
}

fn said(part: &UiPart) -> Option<&str> {
    let text = part.text.as_deref().filter(|_| part.kind == "text")?;
    Some(text).filter(|text| !text.is_empty())
}

fn add<'a>(all: &mut Cow<'a, str>, text: &'a str) {
    if all.is_empty() {
        *all = Cow::Borrowed(text);
    } else {
        let all = all.to_mut();
        all.push_str("\n\n");
        all.push_str(text);
    }
}

/// Returns the history of a message, in the order of its parts.
fn items(message: &UiMessage) -> Vec<HistoryItem<'_>> {
    let role = role(message);
    let mut items = Vec::new();
    let mut text = Cow::Borrowed("");
    let mut files = Vec::new();
    // The results of calls that were made together follow the last of these calls.
    let mut results = Vec::new();
    for part in &message.parts {
        if let Some(said) = said(part) {
            items.append(&mut results);
            add(&mut text, said);
        } else if part.kind == "step-start" {
            items.append(&mut results);
        } else if part.kind == "file" {
            files.extend(attachment(part).map(HistoryItem::Attachment));
        } else if is_question(part) {
            let texts = ["title", "message"].map(|name| part.input.as_ref()?.get(name));
            let asked = texts.iter().flatten().filter_map(Json::string);
            let asked: Vec<_> = asked.filter(|text| !text.is_empty()).collect();
            let asked = Message::new(Role::Assistant, asked.join("\n\n"));
            items.push(HistoryItem::Message(asked));
        } else if let Some(name) = part.tool_name().filter(|_| !part.is("input-streaming")) {
            if !text.is_empty() {
                // The text before a call becomes a separate message, which preserves the order of the parts.
                let said = Message::new(role, mem::take(&mut text));
                items.push(HistoryItem::Message(said));
            }
            let input = part.input.as_ref().map_or("", Json::text);
            let mut call = Call::new(name, input);
            call.id = part.tool_call_id.as_deref().map(Cow::Borrowed);
            items.push(HistoryItem::Call(call));
            results.extend(result(part).map(HistoryItem::Result));
        }
    }
    items.append(&mut results);
    // A message of the user counts even if it has no text.
    if !text.is_empty() || !files.is_empty() || role == Role::User {
        items.push(HistoryItem::Message(Message::new(role, text)));
    }
    items.append(&mut files);
    items
}

fn attachment(part: &UiPart) -> Option<Attachment<'_>> {
    let mut file = Attachment::from_url(part.url.as_deref()?.into());
    if let Some(media_type) = &part.media_type {
        file = file.media_type(media_type);
    }
    Some(match &part.filename {
        Some(name) => file.name(name),
        None => file,
    })
}

/// Returns the final result of a tool call; `None` if it has none yet.
fn result(part: &UiPart) -> Option<ToolResult<'_>> {
    let content = match part.state.as_deref()? {
        // A preliminary output is followed by another output of the same call.
        "output-available" if !part.preliminary => match &part.output {
            Some(output) => output.string().unwrap_or_else(|| output.text().into()),
            None => "null".into(),
        },
        "output-error" => part.error_text.as_deref().unwrap_or_default().into(),
        "output-denied" => "The user denied this call.".into(),
        _ => return None,
    };
    let mut result = ToolResult::new(part.tool_name()?, content);
    result.call_id = part.tool_call_id.as_deref().map(Cow::Borrowed);
    result.failed = !part.is("output-available");
    Some(result)
}
