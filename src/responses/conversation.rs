//! The request as a conversation.

use std::borrow::Cow;

use super::{ContentPart, Input, Item, ResponsesRequest};
use crate::json::{Json, Kind, List, Wire};
use crate::models::{free_text_arguments, free_text_tool, tool_choice};
use crate::protocol::{
    AnswerFormat, AnswerOptions, AnswerSchema, Attachment, AttachmentContent, AttachmentKind, Call,
    Contents, Conversation, HistoryItem, Message, Purpose, RawMessage, Role, Tool, ToolResult,
    odd_lines,
};

impl Conversation for ResponsesRequest {
    /// Returns the history: the instructions, then the input. Encrypted reasoning is skipped; images
    /// and files of a message, and of a call's output, are attachments. A text that Codex sends in the user's place is
    /// a message of its own with [`Role::Other`]: `<environment_context>`, `<user_instructions>`, the instructions of
    /// an `AGENTS.md`, `<turn_aborted>`, and the summary of a compaction. The time that Copilot's command line puts
    /// before the text is such a message too.
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let system = self.instructions.as_deref();
        let system = system.filter(|text| !text.is_empty());
        let (text, list) = match &self.input {
            Input::Text(text) => (Some(text.as_str()), None),
            Input::Parts(list) => (None, Some(list)),
            _ => (None, None),
        };
        let message = |role, text| HistoryItem::Message(Message::new(role, text));
        system
            .map(|text| message(Role::System, text))
            .into_iter()
            .chain(text.map(|text| message(Role::User, text)))
            .chain(list.into_iter().flat_map(all_items))
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

    fn odd_values(&self) -> String {
        odd_lines(self, &[])
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

    /// Returns the functions, and tools with free text as functions with the argument `input`.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        let functions = self.offered().map(|function| {
            let of = &*function.tool;
            let description = of.description.clone().unwrap_or_default();
            let mut tool = Tool::new(function.full_name().into_owned(), description);
            tool.parameters.clone_from(&of.parameters);
            tool
        });
        let custom = self.others().filter(|tool| tool.kind == "custom");
        functions.chain(custom.filter_map(|tool| free_text_tool(&tool.to_raw())))
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

/// Returns what the items say. Those in another form that follow each other are one message.
fn all_items(list: &List<Item>) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
    list.rows().flat_map(|(mut odd, item)| {
        let is_row = odd.len() > 1;
        let said = match odd.next() {
            Some(json) if is_row => {
                let mut row = json.text().to_owned();
                odd.for_each(|json| row.extend(["\n", json.text()]));
                vec![HistoryItem::Message(Message::new(Role::Other, row))]
            }
            Some(json) if !json.is_null() => Contents::read(json).into_message(Role::Other),
            _ => Vec::new(),
        };
        let mut all = item.map(items).unwrap_or_default();
        all.splice(..0, said);
        all
    })
}

fn items(item: &Item) -> Vec<HistoryItem<'_>> {
    let mut odd = Contents::default();
    match item.unknown.get("arguments") {
        // They are the arguments of the call.
        Some(_) if item.called_tool().is_some() => {
            let mut rest = item.clone();
            rest.unknown.retain(|name| name != "arguments");
            odd.add_odd(&rest, &[]);
        }
        _ => odd.add_odd(item, &[]),
    }
    if item.is_message() {
        odd.append(item.content.contents(attachment));
        return odd.into_message(role(item));
    }
    if item.kind.ends_with("_output") {
        return output(item, odd);
    }
    let own = match (call(item), item.kind.as_str()) {
        (Some(call), _) => Some(HistoryItem::Call(call)),
        (_, "reasoning") => reasoning(item),
        // A reference or a trigger says nothing.
        (_, "item_reference" | "compaction_trigger" | "additional_tools") => None,
        (_, "image_generation_call") => {
            odd.add_part(&generated_image(item));
            None
        }
        _ => {
            odd = Contents::default();
            odd.add_part(&item.to_raw());
            None
        }
    };
    let odd = match odd.is_empty() {
        true => Vec::new(),
        false => odd.into_message(Role::Assistant),
    };
    odd.into_iter().chain(own).collect()
}

/// Returns reasoning, unless only the server that wrote it can read it.
fn reasoning(item: &Item) -> Option<HistoryItem<'_>> {
    let text = match item.content.text() {
        text if text.is_empty() => {
            let summary = item.summary.iter().flat_map(|parts| parts.iter());
            let texts: Vec<_> = summary.filter_map(ContentPart::said).collect();
            texts.join("\n\n").into()
        }
        text => text,
    };
    let is_readable = item.encrypted_content().is_none() && !text.is_empty();
    is_readable.then_some(HistoryItem::Reasoning(text))
}

/// Returns the call in an item whose result is an item of its own. Its arguments are the item's members, except for
/// functions and tools with free text.
fn call(item: &Item) -> Option<Call<'_>> {
    let tool = item.called_tool()?;
    // Hosted searches of tools have an object in place of a text.
    let odd = item.unknown.get("arguments").map(Json::text);
    let arguments = item.arguments.as_deref().or(odd);
    let mut call = match item.is_call() {
        true => Call::new(item.full_name(), arguments.unwrap_or_default()),
        false => {
            let members = || match (tool, item.unknown.get("input")) {
                ("custom_tool", Some(input)) => free_text_arguments(input),
                _ => item.other_members().to_raw(),
            };
            let arguments = arguments.map(str::to_owned);
            let arguments = arguments.unwrap_or_else(|| members().text().to_owned());
            let name = match &item.name {
                Some(_) => item.full_name(),
                None => tool.into(),
            };
            Call::new(name, arguments)
        }
    };
    let id = item.call_id.as_deref().or(item.id.as_deref());
    call.id = id.map(Cow::Borrowed);
    Some(call)
}

/// Returns the output of a call. It does not repeat the name of its tool; `Conversation` finds it by the id of the call.
fn output<'a>(item: &'a Item, odd: Contents<'a>) -> Vec<HistoryItem<'a>> {
    let mut contents = item.output.contents(attachment);
    if item.output.is_null() {
        contents.add_part(&item.other_members().to_raw());
    }
    contents.append(odd);
    let mut result = ToolResult::new("", "");
    let id = item.call_id.as_deref().or(item.id.as_deref());
    result.call_id = id.map(Cow::Borrowed);
    result.failed = item.status.as_deref() == Some("failed");
    contents.into_result(result)
}

/// Returns the image that a server's tool has made, as a part of a message.
fn generated_image(item: &Item) -> Json {
    Json::object(|part| {
        part.str("type", "image")
            .opt_raw("data", item.unknown.get("result"));
    })
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
        // Clients send the data of a file with and without the form of a URL.
        Some(data) if part.unknown.get("file_data").is_some() && !data.contains(':') => {
            Attachment::new(AttachmentContent::Base64(data.into()))
        }
        Some(url) => Attachment::from_url(url.into()),
        None => Attachment::new(AttachmentContent::Id(member("file_id")?.into())),
    };
    let file = match part.kind.as_str() {
        "input_image" => file.declared(AttachmentKind::Image),
        _ => file,
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
    RawMessage::author(role(item), &items(item))
}

fn role(item: &Item) -> Role {
    match item.role.as_deref().unwrap_or_default() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::Other,
    }
}
