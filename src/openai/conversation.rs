//! The request as a conversation.

use std::borrow::Cow;

use super::relay::REASONING;
use super::{ChatMessage, ChatRequest, Content, Function};
use crate::json::{Json, Kind, Wire};
use crate::models::{texts, tool_choice};
use crate::protocol::{
    AnswerFormat, AnswerOptions, AnswerSchema, Call, Conversation, HistoryItem, Purpose,
    RawMessage, Role, Tool, ToolResult, odd_lines,
};

/// The beginnings of the system prompts with which clients request titles, memories and summaries: one recorded from
/// opencode 1.18.33, two from qwen-code 0.24.4.
const CHORES: &[(&str, Purpose)] = &[
    (
        "You are a title generator. You output ONLY a thread title.",
        Purpose::Title,
    ),
    (
        "You are now acting as the managed memory extraction subagent for an AI coding assistant.",
        Purpose::Memory,
    ),
    (
        "You are the component that summarizes internal chat history into a given structure.",
        Purpose::Compaction,
    ),
];

/// The text of the user message with which opencode sends the images of a preceding result (1.18.33, recorded).
const MEDIA: &str = "Attached media from tool result:";

impl Conversation for ChatRequest {
    /// Returns the history. A message with only tool calls becomes its calls; images and files of a message are
    /// attachments. The prefix that Copilot's command line adds to the user's text, the time, is a message of its own
    /// with [`Role::Other`]. The images of a result, which opencode sends in a user message after the result, are
    /// attachments of the result; the text of that message is omitted.
    fn raw_history(&self) -> impl DoubleEndedIterator<Item = HistoryItem<'_>> + Send {
        let messages = self.messages.iter().enumerate();
        messages.flat_map(|(at, message)| {
            let before = at.checked_sub(1).and_then(|at| self.messages.get(at));
            items(message)
                .into_iter()
                .skip(usize::from(is_media(before, message)))
        })
    }

    fn raw_messages(&self) -> impl Iterator<Item = RawMessage<'_>> + Send {
        let mut before = None;
        RawMessage::list(&self.messages, move |message| {
            match is_media(before.replace(message), message) {
                true => Role::Tool,
                false => RawMessage::author(role(message), &items(message)),
            }
        })
    }

    fn each_string(&self, each: &mut dyn FnMut(&str)) {
        Wire::each_string(self, each);
    }

    fn odd_values(&self) -> String {
        odd_lines(self, &["messages"])
    }

    /// Recognizes the requests of opencode and qwen-code for a title, for facts to remember and for a summary, by
    /// their system prompts.
    fn purpose(&self) -> Purpose {
        let first = self.messages.first();
        let system = first.filter(|message| role(message) == Role::System);
        let system = system.map(text).unwrap_or_default();
        let chore = CHORES.iter().find(|(words, _)| system.starts_with(words));
        chore.map(|(_, purpose)| *purpose).unwrap_or_default()
    }

    /// Returns the form in `response_format`.
    fn answer_format(&self) -> Option<AnswerFormat<'_>> {
        let format = self.response_format.as_ref()?;
        match &*format.get("type")?.string()? {
            "json_object" => Some(AnswerFormat::Json),
            "json_schema" => {
                let schema = AnswerSchema::read(&format.get("json_schema")?);
                schema.map(AnswerFormat::Schema)
            }
            _ => None,
        }
    }

    /// Returns the settings, also in the forms of earlier versions: `max_tokens`, and `user`.
    fn answer_options(&self) -> AnswerOptions<'_> {
        let member = |name| self.unknown.get(name).filter(|value| !value.is_null());
        let number = |name| member(name).filter(|it| it.kind() == Kind::Number).cloned();
        let text = |name| member(name).and_then(Json::string);
        let stop = member("stop");
        AnswerOptions {
            tool_choice: tool_choice(self.tool_choice.as_ref()),
            parallel_calls: member("parallel_tool_calls").and_then(Json::as_bool),
            max_tokens: number("max_completion_tokens")
                .or_else(|| number("max_tokens"))
                .and_then(|tokens| tokens.as_u64()),
            temperature: number("temperature"),
            top_p: number("top_p"),
            top_k: number("top_k"),
            seed: number("seed"),
            presence_penalty: number("presence_penalty"),
            frequency_penalty: number("frequency_penalty"),
            stop: match stop.and_then(Json::string) {
                Some(stop) => vec![stop],
                None => texts(stop),
            },
            effort: text("reasoning_effort"),
            user: text("safety_identifier").or_else(|| text("user")),
            metadata: member("metadata").cloned(),
        }
    }

    /// Returns the tools, also those in the deprecated member `functions`, and tools with free text as functions with the
    /// argument `input`.
    fn tools(&self) -> impl Iterator<Item = Tool<'_>> + Send {
        let deprecated = self.unknown.get("functions").into_iter();
        let deprecated = deprecated.flat_map(Json::elements);
        let deprecated = deprecated.filter_map(|function| Function::from_raw(&function));
        let deprecated = deprecated.map(|function| Tool {
            parameters: function.parameters,
            ..Tool::new(function.name, function.description.unwrap_or_default())
        });
        let tools = self.offered().map(|function| {
            let description = function.description.as_deref().unwrap_or_default();
            let mut tool = Tool::new(function.name.as_str(), description);
            tool.parameters.clone_from(&function.parameters);
            tool
        });
        tools.chain(self.free_text_tools()).chain(deprecated)
    }
}

/// Returns `true` if a message has the images of the result before it.
fn is_media(before: Option<&ChatMessage>, message: &ChatMessage) -> bool {
    before.is_some_and(|before| role(before) == Role::Tool)
        && role(message) == Role::User
        && text(message) == MEDIA
}

fn items(message: &ChatMessage) -> Vec<HistoryItem<'_>> {
    let role = role(message);
    let mut contents = message.content.contents(|_| None);
    contents.add_odd(message, &[]);
    if let (Content::Null, Some(refusal)) = (&message.content, &message.refusal) {
        contents.add_text(refusal.as_str());
    }
    let calls = message.tool_calls.iter().map(|call| {
        let (name, arguments) = call.named();
        Call::new(name, arguments).id(&*call.id)
    });
    let deprecated = message.function_call.as_ref();
    let deprecated = deprecated.map(|call| Call::new(&*call.name, &*call.arguments));
    let mut calls = calls.chain(deprecated).map(HistoryItem::Call).peekable();
    let thoughts = reasoning(message).filter(|_| role == Role::Assistant);
    let mut items = if role == Role::Tool {
        let mut result = ToolResult::new(message.name.as_deref().unwrap_or_default(), "");
        result.call_id = message.tool_call_id.as_deref().map(Cow::Borrowed);
        contents.into_result(result)
    } else if contents.is_empty() && calls.peek().is_some() {
        Vec::new()
    } else {
        contents.into_message(role)
    };
    items.extend(calls);
    if let Some(text) = thoughts.filter(|text| !text.is_empty()) {
        items.insert(0, HistoryItem::Reasoning(text));
    }
    items
}

/// Returns the reasoning in a message, by any of its names.
fn reasoning(message: &ChatMessage) -> Option<Cow<'_, str>> {
    let mut names = REASONING.iter();
    names.find_map(|name| message.unknown.get(name)?.string())
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

/// Returns the text of a message: its content, else the refusal.
fn text(message: &ChatMessage) -> Cow<'_, str> {
    match (&message.content, &message.refusal) {
        (Content::Null, Some(refusal)) => Cow::Borrowed(refusal),
        (content, _) => content.text(),
    }
}
