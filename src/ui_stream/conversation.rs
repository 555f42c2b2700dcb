//! A request as a conversation.

use std::borrow::Cow;
use std::mem;

use super::request::Approval;
use super::session::QUESTION;
use super::{ChatRequest, UiMessage, UiPart};
use crate::json::{Json, Wire};
use crate::protocol::{
    Attachment, Call, Contents, Conversation, Decision, HistoryItem, Message, RawMessage, Role,
    Tool, ToolResult, odd_lines,
};

impl Conversation for ChatRequest {
    /// Returns the history. Text parts of a message are joined, up to the next tool call. Files follow the message that
    /// contains them. What the user wrote while the agent answered (`steering-message`) has [`Role::Other`]: it is no
    /// prompt, and answers no question.
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let system = self.system.as_deref().filter(|text| !text.is_empty());
        let system = system.map(|text| HistoryItem::Message(Message::new(Role::System, text)));
        system
            .into_iter()
            .chain(self.messages.iter().flat_map(items))
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        RawMessage::list(&self.messages, |message| {
            RawMessage::author(role(message), &items(message))
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn odd_values(&self) -> String {
        odd_lines(self, &["messages"])
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
            // A question is a call on the wire, but its answer is returned by `dialog_decision`.
            .filter(|part| !part.provider_executed && !is_question(part))
            .filter_map(|part| {
                let (mut result, _) = result(part)?;
                result.arguments.clone_from(&part.input);
                Some(result)
            })
    }

    /// Returns the answer to an approval request.
    fn dialog_decision(&self) -> Option<Decision> {
        let part = self.decided()?;
        let approval = part.approval.as_ref()?;
        let data = part.input.as_ref().and_then(|input| input.get("data"));
        Some(Decision::in_dialog(&*approval.id, approval.approved == Some(true)).data(data))
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

fn said<'a>(part: &'a UiPart, kind: &str) -> Option<&'a str> {
    let text = part.text.as_deref().filter(|_| part.kind == kind)?;
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
    let mut unknown = Contents::default();
    unknown.add_odd(message, &["parts"]);
    // The results of calls that were made together follow the last of these calls.
    let mut results = Vec::new();
    for part in &message.parts {
        if let Some(said) = said(part, "text") {
            items.append(&mut results);
            add(&mut text, said);
        } else if part.kind == "step-start" {
            items.append(&mut results);
        } else if let Some(thoughts) = said(part, "reasoning") {
            items.append(&mut results);
            items.push(HistoryItem::Reasoning(thoughts.into()));
        } else if let Some(file) = attachment(part) {
            files.push(HistoryItem::Attachment(file));
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
            // An input that could not be parsed is in `rawInput`, as the model wrote it.
            let raw = part.unknown.get("rawInput");
            let input = match (&part.input, raw) {
                (Some(input), _) => input.text().into(),
                (None, Some(raw)) => raw.string().unwrap_or_else(|| raw.text().into()),
                (None, None) => Cow::Borrowed(""),
            };
            let mut call = Call::new(name, input);
            call.id = part.tool_call_id.as_deref().map(Cow::Borrowed);
            items.push(HistoryItem::Call(call));
            let (result, files) = result(part).unzip();
            results.extend(result.map(HistoryItem::Result));
            let files = files.into_iter().flatten();
            results.extend(files.map(HistoryItem::Attachment));
        } else if part.kind == "steering-message" && role == Role::Assistant {
            // What the user wrote while the agent answered, in its place.
            items.append(&mut results);
            if !text.is_empty() {
                items.push(HistoryItem::Message(Message::new(
                    role,
                    mem::take(&mut text),
                )));
            }
            items.append(&mut files);
            let parts = part.unknown.get("parts").cloned().unwrap_or_default();
            items.extend(Contents::read(&parts).into_message(Role::Other));
        } else if is_shown(part) {
            unknown.add_part(&part.to_raw());
            continue;
        }
        unknown.add_odd(part, &[]);
    }
    if message.parts.is_empty() {
        // Pages of older versions, and those on the data stream of assistant-ui, have no parts.
        let content = message.unknown.get("content").cloned().unwrap_or_default();
        unknown.append(Contents::read(&content));
        return unknown.into_message(role);
    }
    if !unknown.is_empty() {
        let (said, more) = unknown.text_and_files();
        files.extend(more.into_iter().map(HistoryItem::Attachment));
        let role = match role {
            Role::User => Role::Other,
            role => role,
        };
        // Before everything else: a result follows its call, and a question is the last text.
        items.insert(0, HistoryItem::Message(Message::new(role, said)));
    }
    items.append(&mut results);
    // A message of the user counts even if it has no text.
    if !text.is_empty() || !files.is_empty() || role == Role::User {
        items.push(HistoryItem::Message(Message::new(role, text)));
    }
    items.append(&mut files);
    items
}

/// Returns `true` for a part that the user sees, beside texts, files and tools: sources and data.
fn is_shown(part: &UiPart) -> bool {
    !matches!(part.kind.as_str(), "text" | "reasoning" | "")
}

fn attachment(part: &UiPart) -> Option<Attachment<'_>> {
    if part.kind != "file" {
        return None;
    }
    let mut file = Attachment::from_url(part.url.as_deref()?.into());
    if let Some(media_type) = &part.media_type {
        file = file.media_type(media_type);
    }
    Some(match &part.filename {
        Some(name) => file.name(name),
        None => file,
    })
}

/// Returns the final result of a tool call and its files; `None` if it has none yet.
fn result(part: &UiPart) -> Option<(ToolResult<'_>, Vec<Attachment<'static>>)> {
    let mut files = Vec::new();
    let denied = part.approval.as_ref();
    let denied = denied.filter(|approval| approval.approved == Some(false));
    let content = match part.state.as_deref()? {
        // A preliminary output is followed by another output of the same call.
        "output-available" if !part.preliminary => match &part.output {
            Some(output) if !output.is_null() => {
                let (text, more) = Contents::read(output).text_and_files();
                files = more;
                text
            }
            _ => "null".into(),
        },
        "output-error" => part.error_text.as_deref().unwrap_or_default().into(),
        "output-denied" => denial(denied),
        "approval-responded" if denied.is_some() => denial(denied),
        _ => return None,
    };
    let mut result = ToolResult::new(part.tool_name()?, content);
    result.call_id = part.tool_call_id.as_deref().map(Cow::Borrowed);
    result.failed = !part.is("output-available");
    Some((result, files))
}

/// Returns the result of a call that the user did not allow, with the user's reason.
fn denial(approval: Option<&Approval>) -> Cow<'static, str> {
    match approval.and_then(|approval| approval.reason.as_deref()) {
        Some(reason) if !reason.is_empty() => format!("The user denied this call: {reason}").into(),
        _ => "The user denied this call.".into(),
    }
}
