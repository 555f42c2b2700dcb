//! Conversion of a conversation of any protocol to a model's request.

use super::{Content, ContentPart, Item, ResponsesRequest, Tool};
use crate::json::{Json, List, Members, Wire};
use crate::models::{
    Effort, Profile, PromptItem, PromptResult, file_note, prompt_items, prompt_options, url_of,
};
use crate::protocol::{
    self, AnswerFormat, AnswerOptions, Attachment, AttachmentContent, AttachmentKind, Call,
    Conversation, ToolChoice,
};

impl ResponsesRequest {
    /// Creates a request from a conversation: the messages, the calls and their results,
    /// attachments, documents, the tools that the front end offers, the form of the answer, and its settings. The answer
    /// is not stored.
    ///
    /// Set the [`model`](Self::model). Conversations that models' servers refuse are corrected: a call without a result
    /// gets a placeholder result, and a result without a call gets a call. Documents become a user message
    /// before the latest one. The guide's chapter on [models](crate::guide::models#what-a-dialect-cannot-say) lists
    /// what the dialect cannot represent.
    ///
    /// ```
    /// use copilot_wire::Request;
    /// use copilot_wire::protocol::Protocol;
    /// use copilot_wire::responses::ResponsesRequest;
    ///
    /// fn prompt<P: Protocol>(request: &Request<P>) -> ResponsesRequest {
    ///     let mut prompt = ResponsesRequest::from_conversation(&**request).stream(true);
    ///     prompt.model = "gpt-5".to_owned();
    ///     prompt
    /// }
    /// ```
    pub fn from_conversation(conversation: &impl Conversation) -> Self {
        Self::for_profile(conversation, &Profile::default())
    }

    /// Creates a request with what the server of a profile wants of the conversation.
    pub(super) fn for_profile(conversation: &impl Conversation, profile: &Profile) -> Self {
        let mut instructions = Vec::new();
        let items = prompt_items(conversation, 2, |items, item| {
            match item {
                // Later instructions remain in their position.
                PromptItem::System(text) if items.is_empty() => instructions.push(text),
                PromptItem::System(text) => items.push(Item::message("developer", text)),
                PromptItem::User(text, files) => items.push(Item::user(content(&text, &files))),
                PromptItem::Assistant(text, calls, _) => {
                    if !text.is_empty() {
                        items.push(Item::message("assistant", text));
                    }
                    for call in calls {
                        let id = call.id.unwrap_or_default();
                        items.push(Item::call(id, call.name, call.arguments));
                    }
                }
                PromptItem::Results(results) => items.extend(results.into_iter().map(output)),
            }
        });
        let mut request = Self {
            instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
            input: protocol::Content::Parts(items),
            tools: conversation.tools().map(Tool::from).collect(),
            text: conversation.answer_format().map(|form| text(&form)),
            ..Self::default()
        };
        let options = prompt_options(conversation);
        let effort = profile.effort(options.effort.as_deref(), &[Effort::Reasoning]);
        request.unknown.extend(effort);
        request.set(options);
        request
    }

    /// Sets the choice among the tools.
    pub(super) fn choose(&mut self, choice: &ToolChoice<'_>) {
        let text = |text: &str| Json::encode(text).ok();
        self.tool_choice = match choice {
            // Servers refuse a choice without tools.
            _ if self.tools.is_empty() => None,
            ToolChoice::Auto => None,
            ToolChoice::None => text("none"),
            ToolChoice::Required => text("required"),
            ToolChoice::Tool(name) => Some(Json::object(|choice| {
                choice.str("type", "function").str("name", name);
            })),
        };
    }

    /// Appends the items of an answer with these calls, and their results.
    pub(super) fn extend(&mut self, items: List<Item>, calls: Vec<(Call<'_>, PromptResult<'_>)>) {
        let (calls, results): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
        let mut calls = calls.into_iter();
        let mut is_whole = true;
        for mut item in items {
            // A server that has not stored it cannot read it, and refuses the ids that refer to it.
            if !item.is_readable() {
                is_whole = false;
                continue;
            }
            if !is_whole {
                item.id = None;
            }
            if item.is_call() {
                if let Some(call) = calls.next() {
                    item.call_id = call.id.map(Into::into);
                    item.arguments = Some(call.arguments.into_owned());
                }
            }
            self.input.push(item);
        }
        let calls =
            calls.map(|call| Item::call(call.id.unwrap_or_default(), call.name, call.arguments));
        calls
            .chain(results.into_iter().map(output))
            .for_each(|item| self.input.push(item));
    }

    /// Sets the settings that the dialect has.
    fn set(&mut self, options: AnswerOptions<'_>) {
        let text = |text: &str| Json::encode(text).ok();
        self.choose(&options.tool_choice);
        let parallel = options.parallel_calls.filter(|_| !self.tools.is_empty());
        let user = options.user_id().and_then(text);
        let members = [
            ("store", Some(false.to_raw())),
            ("parallel_tool_calls", parallel.map(|it| it.to_raw())),
            (
                "max_output_tokens",
                options.max_tokens.map(|it| it.to_raw()),
            ),
            ("temperature", options.temperature),
            ("top_p", options.top_p),
            ("safety_identifier", user),
            ("metadata", options.metadata),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                self.unknown.push(name, value);
            }
        }
    }
}

/// Without `strict` the dialect would demand that arguments match the schema exactly, and refuse schemas for which that is
/// not possible.
impl From<protocol::Tool<'_>> for Tool {
    fn from(tool: protocol::Tool<'_>) -> Self {
        let parameters = tool.parameters.unwrap_or_else(|| {
            // The member is required.
            let none = Members::new().to_raw();
            Json::object(|schema| {
                schema.str("type", "object").raw("properties", &none);
            })
        });
        Self {
            strict: Some(false),
            ..Self::function(tool.name, tool.description).parameters(parameters)
        }
    }
}

/// Returns the result of a call as an item.
fn output(mut result: PromptResult<'_>) -> Item {
    let (id, files) = (result.id.clone(), std::mem::take(&mut result.files));
    Item::output(id, content(&result.said(), &files))
}

/// Returns the form of an answer for the member `text` of a request.
fn text(format: &AnswerFormat<'_>) -> Json {
    let format = Json::object(|json| match format {
        AnswerFormat::Json => {
            json.str("type", "json_object");
        }
        AnswerFormat::Schema(wanted) => {
            // A name is required.
            let name = match &*wanted.name {
                "" => "answer",
                name => name,
            };
            let description = Some(&*wanted.description).filter(|text| !text.is_empty());
            json.str("type", "json_schema")
                .str("name", name)
                .opt_str("description", description)
                .raw("schema", &wanted.schema)
                .bool("strict", wanted.strict);
        }
    });
    Json::object(|text| {
        text.raw("format", &format);
    })
}

/// Returns a text with files.
fn content(text: &str, files: &[Attachment<'_>]) -> Content {
    if files.is_empty() {
        return text.into();
    }
    let text = (!text.is_empty()).then(|| ContentPart::input_text(text));
    let parts: Vec<_> = text.into_iter().chain(files.iter().map(part)).collect();
    parts.into()
}

/// Converts a file to a part of a message.
fn part(file: &Attachment<'_>) -> ContentPart {
    let (member, value) = match (file.kind(), &file.content, url_of(file)) {
        (AttachmentKind::Image, _, Some(url)) => return ContentPart::input_image(&url),
        (AttachmentKind::Text, ..) if file.text().is_some() => {
            return ContentPart::input_text(file_note(file));
        }
        // The dialect has no sounds and no videos.
        (AttachmentKind::Audio | AttachmentKind::Video, ..) => {
            return ContentPart::input_text(file_note(file));
        }
        (_, AttachmentContent::Id(id), _) => ("file_id", id.to_string()),
        (_, AttachmentContent::Url(url), _) => ("file_url", url.to_string()),
        (_, _, url) => ("file_data", url.unwrap_or_default().into_owned()),
    };
    let mut part = ContentPart {
        kind: "input_file".into(),
        ..ContentPart::default()
    };
    // Serializing a string cannot fail.
    part.unknown
        .push(member, Json::encode(&value).unwrap_or_default());
    if let (Some(name), "file_data") = (&file.name, member) {
        part.unknown
            .push("filename", Json::encode(name).unwrap_or_default());
    }
    part
}
