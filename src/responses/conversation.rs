//! The request as a conversation.

use std::borrow::Cow;

use super::{Content, ContentPart, Input, Item, ResponsesRequest};
use crate::json::{Json, Kind, Wire};
use crate::models::{is_wrapping, split_reminder, tool_choice};
use crate::protocol::{
    AnswerFormat, AnswerOptions, AnswerSchema, Attachment, AttachmentContent, Call, Conversation,
    HistoryItem, Message, Purpose, RawMessage, Role, Tool, ToolResult,
};

/// The beginnings and ends of the texts that Codex sends in the user's place: recorded from 0.169.0, except
/// `<user_instructions>`, which only earlier versions send. The last one is the summary of a compaction, which a model
/// wrote.
const WRAPPINGS: &[(&str, &str)] = &[
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("# AGENTS.md instructions for ", "</INSTRUCTIONS>"),
    ("<turn_aborted>", "</turn_aborted>"),
    (
        "Another language model started to solve this problem and produced a summary of its thinking process.",
        "",
    ),
];

impl Conversation for ResponsesRequest {
    /// Returns the history: the instructions, then the input. Reasoning and items of other kinds are skipped; images
    /// and files of a message, and of a call's output, are attachments. A text that Codex sends in the user's place is
    /// a message of its own with [`Role::Other`]: `<environment_context>`, `<user_instructions>`, the instructions of
    /// an `AGENTS.md`, `<turn_aborted>`, and the summary of a compaction. The time that Copilot's command line puts
    /// before the text is such a message too.
    fn raw_history(&self) -> impl Iterator<Item = HistoryItem<'_>> + Send {
        let system = self.instructions.as_deref();
        let system = system.filter(|text| !text.is_empty());
        let text = match &self.input {
            Input::Text(text) => Some(text.as_str()),
            _ => None,
        };
        let message = |role, text| HistoryItem::Message(Message::new(role, text));
        system
            .map(|text| message(Role::System, text))
            .into_iter()
            .chain(text.map(|text| message(Role::User, text)))
            .chain(self.input.parts().iter().flat_map(items))
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        let (text, items) = match &self.input {
            Input::Text(text) => (Some(RawMessage::new(Role::User, text)), None),
            Input::Parts(items) => (None, Some(items)),
            _ => (None, None),
        };
        let items = items.into_iter();
        let items = items.flat_map(|items| RawMessage::list(items, author));
        text.into_iter().chain(items)
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    /// Returns the settings. The dialect has no stop sequences, penalties or seed.
    fn answer_options(&self) -> AnswerOptions<'_> {
        let member = |name| self.unknown.get(name).filter(|value| !value.is_null());
        let number = |name| member(name).filter(|it| it.kind() == Kind::Number).cloned();
        let text = |name| member(name).and_then(Json::string);
        let effort = member("reasoning").and_then(|reasoning| reasoning.get("effort"));
        AnswerOptions {
            tool_choice: tool_choice(self.tool_choice.as_ref()),
            parallel_calls: member("parallel_tool_calls").and_then(Json::as_bool),
            max_tokens: number("max_output_tokens").and_then(|tokens| tokens.as_u64()),
            temperature: number("temperature"),
            top_p: number("top_p"),
            effort: effort.and_then(|effort| Some(effort.string()?.into_owned().into())),
            user: text("safety_identifier").or_else(|| text("user")),
            metadata: member("metadata").cloned(),
            ..AnswerOptions::default()
        }
    }

    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        self.offered().map(|function| {
            let of = &*function.tool;
            let description = of.description.clone().unwrap_or_default();
            let mut tool = Tool::new(function.full_name().into_owned(), description);
            tool.parameters.clone_from(&of.parameters);
            tool
        })
    }

    /// Recognizes Codex's requests for a title and for a summary by their metadata, and by the item
    /// `compaction_trigger` (0.169.0, recorded).
    fn purpose(&self) -> Purpose {
        let metadata = self.unknown.get("client_metadata");
        let turn = metadata.and_then(|metadata| metadata.get("x-codex-turn-metadata"));
        // The member is a string that contains the JSON of an object.
        let turn = turn.and_then(|turn| Json::parse(turn.string()?.into_owned()).ok());
        let is = |name: &str, expected: &str| {
            let value = turn.as_ref().and_then(|turn| turn.get(name));
            value.is_some_and(|value| value.string().as_deref() == Some(expected))
        };
        let last = self.input.parts().last();
        let is_triggered = last.is_some_and(|item| item.kind == "compaction_trigger");
        if is("request_kind", "compaction") || is_triggered {
            Purpose::Compaction
        } else if is("thread_source", "thread_title") {
            Purpose::Title
        } else {
            Purpose::Answer
        }
    }

    /// Returns the form in `text.format`.
    fn answer_format(&self) -> Option<AnswerFormat<'_>> {
        let format = self.text.as_ref()?.get("format")?;
        match &*format.get("type")?.string()? {
            "json_object" => Some(AnswerFormat::Json),
            "json_schema" => AnswerSchema::read(&format).map(AnswerFormat::Schema),
            _ => None,
        }
    }
}

fn items(item: &Item) -> impl Iterator<Item = HistoryItem<'_>> {
    let mut others = Vec::new();
    let (said, content) = if item.is_message() {
        let (role, mut text) = (role(item), Some(item.content.text()));
        if role == Role::User {
            text = own_text(&item.content, &mut others);
        }
        let message = text.map(|text| HistoryItem::Message(Message::new(role, text)));
        (message, &item.content)
    } else if item.is_call() {
        let arguments = item.arguments.as_deref().unwrap_or_default();
        let mut call = Call::new(item.full_name(), arguments);
        call.id = item.call_id.as_deref().map(Cow::Borrowed);
        (Some(HistoryItem::Call(call)), &Content::Null)
    } else if item.kind == "function_call_output" {
        // An output does not repeat the name of its function; `Conversation` finds it by the id of
        // the call.
        let mut result = ToolResult::new("", item.output.text());
        result.call_id = item.call_id.as_deref().map(Cow::Borrowed);
        (Some(HistoryItem::Result(result)), &item.output)
    } else {
        (None, &Content::Null)
    };
    let attachments = content.parts().iter().filter_map(attachment);
    let others = others.into_iter();
    let others = others.map(|text| HistoryItem::Message(Message::new(Role::Other, text)));
    others
        .chain(said)
        .chain(attachments.map(HistoryItem::Attachment))
}

/// Returns the user's own text, and adds the texts that a client sent in the user's place to `others`. `None` if
/// there is nothing else.
fn own_text<'a>(content: &'a Content, others: &mut Vec<Cow<'a, str>>) -> Option<Cow<'a, str>> {
    let parts = content.parts();
    let is_other = |text: &str| is_wrapping(text, WRAPPINGS);
    if !parts.iter().filter_map(ContentPart::said).any(is_other) {
        let text = content.text();
        if is_other(&text) {
            others.push(text);
            return None;
        }
        let (reminder, text) = split_reminder(text);
        others.extend(reminder);
        return Some(text);
    }
    let (wrapped, own): (Vec<_>, Vec<_>) = parts
        .iter()
        .partition(|part| part.said().is_some_and(is_other));
    let wrapped = wrapped.into_iter().filter_map(ContentPart::said);
    others.extend(wrapped.map(Cow::Borrowed));
    if own.is_empty() {
        return None;
    }
    let own = own.into_iter().filter_map(ContentPart::said);
    let (reminder, text) = split_reminder(own.collect::<Vec<_>>().join("\n").into());
    others.extend(reminder);
    Some(text)
}

/// Returns the image or file of a part.
fn attachment(part: &ContentPart) -> Option<Attachment<'_>> {
    let member = |name: &str| Some(part.unknown.get(name)?.string()?.into_owned());
    let url = match part.kind.as_str() {
        "input_image" => member("image_url"),
        // Inline content is preferred: a URL beside it is the origin of the file.
        "input_file" => member("file_data").or_else(|| member("file_url")),
        _ => return None,
    };
    let file = match url {
        Some(url) => Attachment::from_url(url.into()),
        None => Attachment::new(AttachmentContent::Id(member("file_id")?.into())),
    };
    Some(match member("filename") {
        Some(name) => file.name(name),
        None => file,
    })
}

/// Returns the author of an item; items that are not messages are the agent's.
fn author(item: &Item) -> Role {
    if !item.is_message() {
        return Role::Assistant;
    }
    match role(item) {
        Role::User if own_text(&item.content, &mut Vec::new()).is_none() => Role::Other,
        role => role,
    }
}

fn role(item: &Item) -> Role {
    match item.role.as_deref().unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::Other,
    }
}
