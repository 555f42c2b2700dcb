//! Conversion of a conversation of any protocol to a model's request.

use std::collections::HashSet;

use super::{
    Content, ContentBlock, MessageParam, MessagesRequest, TextBlock, Tool, ToolResultBlock,
    ToolUseBlock,
};
use crate::json::{Json, Kind, List, Members, Wire};
use crate::models::{
    CacheMarks, Effort, Profile, PromptItem, PromptResult, file_note, prompt_items, prompt_options,
};
use crate::protocol::{
    self, AnswerFormat, AnswerOptions, Attachment, AttachmentContent, AttachmentKind, Call,
    Conversation, ToolChoice,
};

/// The text of the user message that is inserted if a conversation begins with an answer, because a request must begin
/// with a user message.
const NO_BEGINNING: &str = "(The beginning of the conversation is missing.)";

/// The instructions for an answer that shall be any JSON object.
const JSON: &str = "Answer with one JSON object and nothing else.";

impl MessagesRequest {
    /// The maximum number of tokens of an answer if the conversation has none: the dialect requires a maximum.
    pub const MAX_TOKENS: u64 = 8192;

    /// Creates a request from a conversation: the messages, the calls and their results,
    /// attachments, documents, the tools that the front end offers, the form of the answer, and its settings.
    ///
    /// Set the [`model`](Self::model). Conversations that models' servers refuse are corrected: messages of one role
    /// after each other become one, all instructions become the system prompt, a call without a result gets a
    /// placeholder result, and a result without a call gets a call. Documents become a user message before
    /// the latest one. The guide's chapter on [models](crate::guide::models#what-a-dialect-cannot-say) lists what the
    /// dialect cannot represent.
    ///
    /// ```
    /// use copilot_wire::Request;
    /// use copilot_wire::anthropic::MessagesRequest;
    /// use copilot_wire::protocol::Protocol;
    ///
    /// fn prompt<P: Protocol>(request: &Request<P>) -> MessagesRequest {
    ///     let mut prompt = MessagesRequest::from_conversation(&**request)
    ///         .instructions("Answer briefly.")
    ///         .stream(true);
    ///     prompt.model = "claude-haiku-4-5".to_owned();
    ///     prompt
    /// }
    /// ```
    pub fn from_conversation(conversation: &impl Conversation) -> Self {
        Self::for_profile(conversation, &Profile::default())
    }

    /// Creates a request with what the server of a profile wants of the conversation.
    pub(super) fn for_profile(conversation: &impl Conversation, profile: &Profile) -> Self {
        let mut system = Vec::new();
        let messages = prompt_items(conversation, 0, |messages, item| {
            let mut turns = Turns(messages);
            match item {
                PromptItem::System(text) => system.push(text.into_owned()),
                PromptItem::User(text, files) => turns.user(&text, &files),
                PromptItem::Assistant(text, calls, _) => turns.assistant(&text, calls),
                PromptItem::Results(results) => {
                    turns.add("user", results.into_iter().map(result));
                }
            }
        });
        let format = conversation.answer_format();
        if matches!(format, Some(AnswerFormat::Json)) {
            system.push(JSON.to_owned());
        }
        let mut request = Self {
            max_tokens: profile.max_tokens.or(Some(Self::MAX_TOKENS)),
            messages,
            tools: conversation.tools().map(Tool::from).collect(),
            output_config: format.as_ref().and_then(output_config),
            ..Self::default()
        };
        if request.tools.is_empty() {
            // Servers require the tools of earlier calls even if no tool may be called any more.
            let blocks = request.messages.iter().flat_map(|it| it.content.parts());
            let mut names = HashSet::new();
            let tools = blocks.filter_map(|block| match block {
                ContentBlock::ToolUse(call) if names.insert(&call.name) => {
                    Some(protocol::Tool::new(&*call.name, "").into())
                }
                _ => None,
            });
            request.tools = tools.collect();
            request.choose(&ToolChoice::None, None);
        } else {
            let options = prompt_options(conversation);
            let single = options.parallel_calls == Some(false);
            request.choose(&options.tool_choice, single.then_some(true));
        }
        let options = prompt_options(conversation);
        if let Some((_, effort)) =
            profile.effort(options.effort.as_deref(), &[Effort::OutputConfig])
        {
            let own = request.output_config.iter().flat_map(Json::members);
            let all: Members = own.chain(effort.members()).collect();
            request.output_config = Some(all.to_raw());
        }
        request.set(options);
        if !system.is_empty() {
            request = request.instructions(system.join("\n\n"));
        }
        if profile.cache == CacheMarks::Made {
            super::profile::mark(&mut request);
        }
        request
    }

    /// Inserts instructions before the existing ones.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        let own = std::mem::take(&mut self.system);
        self.system = match own {
            Content::Parts(parts) => {
                let first = ContentBlock::from(TextBlock::new(text));
                Content::Parts(std::iter::once(first).chain(parts).collect())
            }
            own if own.text().is_empty() => text.into(),
            own => format!("{text}\n\n{}", own.text()).into(),
        };
        self
    }

    /// Sets the choice among the tools. `single` is set if the model may make only one call.
    pub(super) fn choose(&mut self, choice: &ToolChoice<'_>, single: Option<bool>) {
        self.tool_choice = match choice {
            // Servers refuse a choice without tools.
            _ if self.tools.is_empty() => None,
            ToolChoice::None => Some(choice_of("none", None, None)),
            ToolChoice::Required => Some(choice_of("any", None, single)),
            ToolChoice::Tool(name) => Some(choice_of("tool", Some(name), single)),
            ToolChoice::Auto => single.map(|_| choice_of("auto", None, single)),
        };
    }

    /// Appends an answer with these calls, and their results.
    pub(super) fn extend(
        &mut self,
        content: List<ContentBlock>,
        calls: Vec<(Call<'_>, PromptResult<'_>)>,
    ) {
        let (calls, results): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
        let mut calls = calls.into_iter();
        let mut blocks = Vec::new();
        for block in content {
            match block {
                // Servers refuse empty texts.
                ContentBlock::Text(text) if text.text.trim().is_empty() => {}
                ContentBlock::ToolUse(own) => blocks.push(match calls.next() {
                    Some(call) => tool_use(call, own.unknown),
                    None => own.into(),
                }),
                block => blocks.push(block),
            }
        }
        blocks.extend(calls.map(|call| tool_use(call, Members::new())));
        let results: Vec<_> = results.into_iter().map(result).collect();
        self.messages.push(MessageParam::assistant(blocks));
        self.messages.push(MessageParam::user(results));
    }

    /// Sets the settings that the dialect has.
    fn set(&mut self, options: AnswerOptions<'_>) {
        if let Some(tokens) = options.max_tokens {
            self.max_tokens = Some(tokens);
        }
        // The maximum is 1 in this dialect and 2 in others.
        let temperature = options.temperature.map(|it| match it.as_f64() {
            Some(high) if high > 1.0 => 1_u64.to_raw(),
            _ => it,
        });
        let stop = options.stop.iter().filter(|stop| !stop.trim().is_empty());
        let stop: Vec<_> = stop.map(|stop| stop.to_string()).collect();
        let members = [
            ("temperature", temperature),
            ("top_p", options.top_p),
            ("top_k", options.top_k),
            (
                "stop_sequences",
                Json::encode(&stop).ok().filter(|_| !stop.is_empty()),
            ),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                self.unknown.push(name, value);
            }
        }
        self.metadata = options.user.map(|user| {
            Json::object(|metadata| {
                metadata.str("user_id", &user);
            })
        });
    }
}

/// The messages so far; consecutive messages of one role are merged.
struct Turns<'a>(&'a mut List<MessageParam>);

impl Turns<'_> {
    fn add(&mut self, role: &str, blocks: impl IntoIterator<Item = ContentBlock>) {
        let mut blocks = blocks.into_iter().peekable();
        // A message without content is refused.
        if blocks.peek().is_none() {
            return;
        }
        if self.0.is_empty() && role != "user" {
            self.add("user", [ContentBlock::text(NO_BEGINNING)]);
        }
        match self.0.last_mut() {
            Some(MessageParam {
                role: last,
                content: Content::Parts(parts),
                ..
            }) if last == role => blocks.for_each(|block| parts.push(block)),
            _ => {
                let content = Content::Parts(blocks.collect());
                self.0.push(MessageParam::new(role, content));
            }
        }
    }

    fn user(&mut self, text: &str, files: &[Attachment<'_>]) {
        self.add(
            "user",
            said_text(text).into_iter().chain(files.iter().map(file)),
        );
    }

    fn assistant(&mut self, text: &str, calls: Vec<Call<'_>>) {
        let calls = calls.into_iter();
        let calls = calls.map(|call| tool_use(call, Members::new()));
        // Servers refuse a last message that is an answer with trailing white space.
        self.add(
            "assistant",
            said_text(text.trim_end()).into_iter().chain(calls),
        );
    }
}

/// Returns a text block; `None` for a text without content, which is refused.
fn said_text(text: &str) -> Option<ContentBlock> {
    (!text.trim().is_empty()).then(|| ContentBlock::text(text))
}

/// Returns a call as a block.
fn tool_use(call: Call<'_>, unknown: Members) -> ContentBlock {
    ContentBlock::ToolUse(ToolUseBlock {
        input: input(&call),
        id: call.id.unwrap_or_default().into_owned(),
        name: call.name.into_owned(),
        unknown,
    })
}

/// Returns the arguments of a call: an object. Text that is not a JSON object becomes a member of one.
fn input(call: &Call<'_>) -> Json {
    call.json().unwrap_or_else(|_| {
        Json::object(|input| {
            input.str("invalid_json", &call.arguments);
        })
    })
}

fn result(result: PromptResult<'_>) -> ContentBlock {
    let is_error = result.failed;
    let mut block = ToolResultBlock::new(&*result.id, &result.text);
    block.is_error = is_error;
    if !result.files.is_empty() {
        let text = said_text(&result.text).into_iter();
        let blocks: Vec<_> = text.chain(result.files.iter().map(file)).collect();
        block.content = Some(List::from(blocks).to_raw());
    }
    ContentBlock::ToolResult(block)
}

/// Returns an image or a document; a text for a file that the dialect has no block for.
fn file(file: &Attachment<'_>) -> ContentBlock {
    const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    let media_type = file.media_type_or_detected();
    let is_pdf = matches!(media_type, "application/pdf" | "");
    let kind = match file.kind() {
        AttachmentKind::Image => "image",
        AttachmentKind::Document if is_pdf => "document",
        AttachmentKind::Text => "document",
        _ => return ContentBlock::text(file_note(file)),
    };
    let source = match (&file.content, file.text()) {
        (_, Some(text)) => Json::object(|source| {
            source
                .str("type", "text")
                .str("media_type", "text/plain")
                .str("data", &text);
        }),
        (AttachmentContent::Base64(data), None)
            if media_type == "application/pdf" || IMAGES.contains(&media_type) =>
        {
            Json::object(|source| {
                source
                    .str("type", "base64")
                    .str("media_type", media_type)
                    .str("data", data);
            })
        }
        // Of documents by URL, the dialect has PDF.
        (AttachmentContent::Url(url), None) if file.kind() != AttachmentKind::Text => {
            Json::object(|source| {
                source.str("type", "url").str("url", url);
            })
        }
        // A file id is valid only at its own provider.
        _ => return ContentBlock::text(file_note(file)),
    };
    let title = file.name.as_deref().filter(|_| kind == "document");
    ContentBlock::Other(Json::object(|block| {
        block
            .str("type", kind)
            .raw("source", &source)
            .opt_str("title", title);
    }))
}

/// A schema is required, and must be that of an object.
impl From<protocol::Tool<'_>> for Tool {
    fn from(tool: protocol::Tool<'_>) -> Self {
        let is_object = |schema: &Json| {
            let kind = schema.get("type");
            kind.is_some_and(|kind| kind.string().as_deref() == Some("object"))
        };
        let schema = match tool.parameters {
            Some(schema) if is_object(&schema) => schema,
            schema => {
                let mut members = schema
                    .as_ref()
                    .and_then(Members::from_raw)
                    .unwrap_or_default();
                // Serializing a string cannot fail.
                members.set("type", Json::encode("object").unwrap_or_default());
                members.to_raw()
            }
        };
        Self {
            description: Some(tool.description.into_owned()).filter(|text| !text.is_empty()),
            ..Self::new(tool.name, "").input_schema(schema)
        }
    }
}

fn choice_of(kind: &str, name: Option<&str>, single: Option<bool>) -> Json {
    Json::object(|choice| {
        choice.str("type", kind).opt_str("name", name);
        if let Some(single) = single {
            choice.bool("disable_parallel_tool_use", single);
        }
    })
}

/// Returns the form of an answer as a request has it.
fn output_config(format: &AnswerFormat<'_>) -> Option<Json> {
    let AnswerFormat::Schema(wanted) = format else {
        return None;
    };
    let format = Json::object(|format| {
        format
            .str("type", "json_schema")
            .raw("schema", &wanted.schema);
    });
    let is_object = wanted.schema.kind() == Kind::Object;
    is_object.then(|| {
        Json::object(|config| {
            config.raw("format", &format);
        })
    })
}
