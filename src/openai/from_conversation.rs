//! Conversion of a conversation of any protocol to a model's request.

use super::{ChatMessage, ChatRequest, Content, Function, FunctionCall, Part, Tool, ToolCall};
use crate::json::{Json, List, Wire};
use crate::models::{
    CacheMarks, Effort, Profile, PromptItem, PromptResult, file_note, prompt_items, prompt_options,
    url_of,
};
use crate::protocol::{
    self, AnswerFormat, AnswerOptions, Attachment, AttachmentContent, AttachmentKind, Call,
    ContentPart as _, Conversation, ToolChoice,
};

impl ChatRequest {
    /// Creates a request from a conversation: the messages, the calls and their results,
    /// attachments, documents, the tools that the front end offers, the form of the answer, and its settings.
    ///
    /// Set the [`model`](Self::model), and add [`instructions`](Self::instructions). Conversations that models' servers
    /// refuse are corrected: a call without a result gets a placeholder result, and a result without a call gets a call. Documents become a user message before the latest one. The guide's chapter on
    /// [models](crate::guide::models#what-a-dialect-cannot-say) lists what the dialect cannot represent.
    ///
    /// ```
    /// use copilot_wire::Request;
    /// use copilot_wire::openai::ChatRequest;
    /// use copilot_wire::protocol::Protocol;
    ///
    /// fn prompt<P: Protocol>(request: &Request<P>) -> ChatRequest {
    ///     let mut prompt = ChatRequest::from_conversation(&**request)
    ///         .instructions("Answer briefly.")
    ///         .stream(true);
    ///     prompt.model = "gpt-4o".to_owned();
    ///     prompt
    /// }
    /// ```
    pub fn from_conversation(conversation: &impl Conversation) -> Self {
        Self::for_profile(conversation, &Profile::default())
    }

    /// Creates a request with what the server of a profile wants of the conversation.
    pub(super) fn for_profile(conversation: &impl Conversation, profile: &Profile) -> Self {
        let messages = prompt_items(conversation, 1, |messages, item| match item {
            PromptItem::System(text) => messages.push(ChatMessage::system(text)),
            PromptItem::User(text, files) => {
                messages.push(ChatMessage::user(content(&text, &files)));
            }
            PromptItem::Assistant(text, calls, reasoning) => {
                let mut message = assistant(text.into(), calls);
                let name = profile.reasoning.name().filter(|_| !reasoning.is_empty());
                let value = Json::encode(&*reasoning).ok();
                message.unknown.extend(name.zip(value));
                messages.push(message);
            }
            PromptItem::Results(results) => add_results(messages, results),
        });
        let mut request = Self {
            messages,
            tools: conversation.tools().map(Tool::from).collect(),
            response_format: conversation
                .answer_format()
                .map(|format| response_format(&format)),
            ..Self::default()
        };
        let options = prompt_options(conversation);
        let forms = [Effort::ReasoningEffort, Effort::Reasoning];
        let effort = profile.effort(options.effort.as_deref(), &forms);
        request.unknown.extend(effort);
        request.set(options);
        if profile.cache == CacheMarks::Made {
            super::profile::mark(&mut request);
        }
        request
    }

    /// Sets the settings that the dialect has.
    fn set(&mut self, options: AnswerOptions<'_>) {
        let text = |text: &str| Json::encode(text).ok();
        self.choose(&options.tool_choice);
        let stop = options.stop.iter().map(|stop| stop.to_string());
        let stop: Vec<_> = stop.collect();
        let user = options.user_id().and_then(text);
        let parallel = options.parallel_calls.filter(|_| !self.tools.is_empty());
        let members = [
            ("parallel_tool_calls", parallel.map(|it| it.to_raw())),
            (
                "max_completion_tokens",
                options.max_tokens.map(|it| it.to_raw()),
            ),
            ("temperature", options.temperature),
            ("top_p", options.top_p),
            ("seed", options.seed),
            ("presence_penalty", options.presence_penalty),
            ("frequency_penalty", options.frequency_penalty),
            (
                "stop",
                Json::encode(&stop).ok().filter(|_| !stop.is_empty()),
            ),
            ("user", user),
        ];
        for (name, value) in members {
            if let Some(value) = value {
                self.unknown.push(name, value);
            }
        }
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
            ToolChoice::Tool(name) => {
                let name = Json::object(|function| {
                    function.str("name", name);
                });
                Some(Json::object(|choice| {
                    choice.str("type", "function").raw("function", &name);
                }))
            }
        };
    }

    /// Appends a message of the assistant with these calls, and their results.
    pub(super) fn extend(
        &mut self,
        mut message: ChatMessage,
        calls: Vec<(Call<'_>, PromptResult<'_>)>,
    ) {
        let (calls, results): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
        // Each call keeps the members that only its server knows.
        let mut own = std::mem::take(&mut message.tool_calls).into_iter();
        let calls = calls.into_iter().map(|call| {
            let mut own = own.next().unwrap_or_default();
            own.id = call.id.unwrap_or_default().into_owned();
            own.function.name = call.name.into_owned();
            own.function.arguments = call.arguments.into_owned();
            own
        });
        message.tool_calls = calls.collect();
        // The older form of a call is among the calls.
        message.function_call = None;
        self.messages.push(message);
        add_results(&mut self.messages, results);
    }
}

impl From<protocol::Tool<'_>> for Tool {
    fn from(tool: protocol::Tool<'_>) -> Self {
        let mut function = Function::new(tool.name, tool.description);
        function.parameters = tool.parameters;
        function.into()
    }
}

/// Adds the results of the calls of one message. Their files become a message of the user, but for those that are text.
fn add_results(messages: &mut List<ChatMessage>, results: Vec<PromptResult<'_>>) {
    let mut files = List::default();
    for mut result in results {
        // A model accepts only text in a result.
        for file in std::mem::take(&mut result.files) {
            let part = part(&file);
            match part.said() {
                Some(text) if result.text.is_empty() => result.text = text.into_owned().into(),
                Some(text) => result.text.to_mut().extend(["\n\n", &text]),
                None => files.push(part),
            }
        }
        let id = result.id.clone();
        messages.push(ChatMessage::result(id, result.said()));
    }
    if !files.is_empty() {
        messages.push(ChatMessage::user(Content::Parts(files)));
    }
}

/// Returns the form of an answer as a request has it in `response_format`.
pub fn response_format(format: &AnswerFormat<'_>) -> Json {
    let AnswerFormat::Schema(wanted) = format else {
        return Json::object(|format| {
            format.str("type", "json_object");
        });
    };
    let schema = Json::object(|json| {
        // A name is required.
        let name = match &*wanted.name {
            "" => "answer",
            name => name,
        };
        let description = Some(&*wanted.description).filter(|text| !text.is_empty());
        json.str("name", name)
            .opt_str("description", description)
            .raw("schema", &wanted.schema)
            .bool("strict", wanted.strict);
    });
    Json::object(|format| {
        format
            .str("type", "json_schema")
            .raw("json_schema", &schema);
    })
}

/// Returns a message of the assistant.
fn assistant(text: Content, calls: Vec<Call<'_>>) -> ChatMessage {
    if calls.is_empty() {
        return ChatMessage::assistant(text);
    }
    let calls = calls.into_iter().map(|call| ToolCall {
        id: call.id.unwrap_or_default().into_owned(),
        function: FunctionCall {
            name: call.name.into_owned(),
            arguments: call.arguments.into_owned(),
            ..FunctionCall::default()
        },
        ..ToolCall::default()
    });
    let mut message = ChatMessage::calls(calls);
    // Beside calls an empty content is `null`, as OpenAI's servers write it.
    if !text.text().is_empty() {
        message.content = text;
    }
    message
}

/// Returns a text with files.
fn content(text: &str, files: &[Attachment<'_>]) -> Content {
    if files.is_empty() {
        return text.into();
    }
    let text = (!text.is_empty()).then(|| Part::new(text));
    let parts: List<_> = text.into_iter().chain(files.iter().map(part)).collect();
    Content::Parts(parts)
}

/// Converts a file to a part of a message. Text, and the URL of a file other than an image, become text: models'
/// servers accept only URLs of images.
fn part(file: &Attachment<'_>) -> Part {
    let format = match file.media_type_or_detected() {
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    };
    let (name, value) = match (file.kind(), &file.content, url_of(file)) {
        (AttachmentKind::Image, _, Some(url)) => return Part::image(&url),
        (AttachmentKind::Text, ..) if file.text().is_some() => return Part::new(&file_note(file)),
        (_, AttachmentContent::Url(_), _) => return Part::new(&file_note(file)),
        (AttachmentKind::Audio, AttachmentContent::Base64(data), _) if format.is_some() => {
            let audio = Json::object(|audio| {
                audio.str("data", data).opt_str("format", format);
            });
            return Part::raw(Json::object(|part| {
                part.str("type", "input_audio").raw("input_audio", &audio);
            }));
        }
        (_, AttachmentContent::Id(id), _) => ("file_id", id.to_string()),
        (_, _, url) => ("file_data", url.unwrap_or_default().into_owned()),
    };
    let file = Json::object(|members| {
        members
            .str(name, &value)
            .opt_str("filename", file.name.as_deref());
    });
    Part::raw(Json::object(|part| {
        part.str("type", "file").raw("file", &file);
    }))
}
