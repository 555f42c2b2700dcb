//! Conversion of a conversation of any protocol to a model's request.

use super::{Content, ContentPart, Item, ResponsesRequest, Tool};
use crate::json::{Json, Members, Wire};
use crate::models::{PromptItem, file_note, prompt_items, prompt_options, url_of};
use crate::protocol::{
    AnswerFormat, AnswerOptions, Attachment, AttachmentContent, AttachmentKind, Conversation,
    ToolChoice,
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
    #[must_use]
    pub fn from_conversation(conversation: &impl Conversation) -> Self {
        let mut instructions = Vec::new();
        let items = prompt_items(conversation, 2, |items, item| {
            match item {
                // Later instructions remain in their position.
                PromptItem::System(text) if items.is_empty() => instructions.push(text),
                PromptItem::System(text) => items.push(Item::message("developer", text)),
                PromptItem::User(text, files) => items.push(Item::user(content(&text, &files))),
                PromptItem::Assistant(text, calls) => {
                    if !text.is_empty() {
                        items.push(Item::message("assistant", text));
                    }
                    for call in calls {
                        let id = call.id.unwrap_or_default();
                        items.push(Item::call(id, call.name, call.arguments));
                    }
                }
                PromptItem::Results(results) => {
                    for mut result in results {
                        let (id, files) = (result.id.clone(), std::mem::take(&mut result.files));
                        let output = content(&result.said(), &files);
                        items.push(Item::output(id, output));
                    }
                }
            }
        });
        let mut request = Self {
            instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
            input: items.into(),
            tools: conversation.tools().map(tool).collect(),
            text: conversation.answer_format().map(|form| text(&form)),
            ..Self::default()
        };
        request.set(prompt_options(conversation));
        request
    }

    /// Sets the settings that the dialect has.
    fn set(&mut self, options: AnswerOptions<'_>) {
        let text = |text: &str| Json::encode(text).ok();
        // Servers refuse a `tool_choice` without tools.
        let has_tools = !self.tools.is_empty();
        self.tool_choice = match &options.tool_choice {
            ToolChoice::Required if has_tools => text("required"),
            ToolChoice::Tool(name) if has_tools => Some(Json::object(|choice| {
                choice.str("type", "function").str("name", name);
            })),
            _ => None,
        };
        let parallel = options.parallel_calls.filter(|_| has_tools);
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

/// Converts a tool. Without `strict` the dialect would demand that arguments match the schema exactly, and refuse schemas
/// for which that is not possible.
fn tool(tool: crate::protocol::Tool<'_>) -> Tool {
    let parameters = tool.parameters.unwrap_or_else(|| {
        // The member is required.
        let none = Members::new().to_raw();
        Json::object(|schema| {
            schema.str("type", "object").raw("properties", &none);
        })
    });
    Tool {
        strict: Some(false),
        ..Tool::function(tool.name, tool.description).parameters(parameters)
    }
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
