//! Chat completions as a dialect of models.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;

use super::session::{self, Reply};
use super::tool_call::{FUNCTION_CALL, take_kind};
use super::{
    ChatCompletion, ChatCompletionChunk, ChatMessage, ChatRequest, Choice, CompletedChoice,
    Content, ErrorObject, Event, FunctionCall, FunctionDelta, Logprobs, OpenAi, Tool, ToolCall,
    ToolCallDelta, ToolKind,
};
use crate::json::{Json, List, Members, ObjectWriter, Wire};
use crate::models::{self, Names, Profile, Prompt, PromptResult, Upstream};
use crate::protocol::fragments::PartialCall;
use crate::protocol::{
    self, Call, CallDelta, Citation, CompletedItem, Completion, Conversation, Delta, Failure,
    FrameKind, Native, NativeForm, Part, Session, ToolChoice, Usage,
};

/// A relay of another server's chunks into a reply.
pub type Relay = models::Relay<OpenAi>;

/// The members of a delta and of a message that can contain reasoning; a server uses only one of them.
pub(super) const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

impl Upstream for OpenAi {
    const PROVIDER: &'static str = "openai";

    fn prompt(conversation: &impl Conversation, profile: &Profile) -> ChatRequest {
        ChatRequest::for_profile(conversation, profile)
    }

    fn document(document: &Json) -> Option<Vec<Event>> {
        let completion = ChatCompletion::from_raw(document).filter(|it| !it.choices.is_empty())?;
        Some(vec![Event::Chunk(completion.into()), Event::Done])
    }

    fn follow(session: &mut Session<Reply>, event: &Event) -> FrameKind {
        session::follow(session, event)
    }

    /// Only clients that requested several choices can receive them.
    fn native(event: &Event) -> Option<ChatCompletionChunk> {
        let Event::Chunk(chunk) = event else {
            return None;
        };
        let mut chunk = chunk.clone();
        let choices = std::mem::take(&mut chunk.choices).into_iter();
        chunk.choices = choices
            .map(|mut choice| {
                choice.delta.tool_calls = List::new();
                choice.delta.function_call = None;
                choice
            })
            .collect();
        Some(chunk)
    }
}

impl Prompt for ChatRequest {
    type Upstream = OpenAi;

    const LIMITS: &'static [&'static str] = &["max_completion_tokens", "max_tokens"];

    fn again(&self) -> Self {
        self.clone()
    }

    fn conform(&mut self, profile: &Profile, names: &mut Names) {
        super::profile::conform(self, profile, names);
    }

    fn body(&mut self, is_stream: bool) -> Bytes {
        self.stream = Some(is_stream);
        match is_stream {
            true => self.stream_options.get_or_insert_default().include_usage = Some(true),
            // Servers refuse it without a stream.
            false => self.stream_options = None,
        }
        self.to_json()
    }

    fn extend(&mut self, answer: Completion, calls: Vec<(Call<'_>, PromptResult<'_>)>) {
        let choice = ChatCompletion::from(answer).choices.into_iter().next();
        let message = choice.map(|choice| choice.message);
        self.extend(message.unwrap_or_default(), calls);
    }

    fn offer(&mut self, tools: Vec<protocol::Tool<'_>>) {
        let names: HashSet<_> = tools.iter().map(|tool| &*tool.name).collect();
        let is_other = |tool: &Tool| {
            let name = tool.function.as_ref().map(|function| &*function.name);
            name.is_none_or(|name| !names.contains(name))
        };
        self.tools.retain(is_other);
        self.tools.extend(tools.into_iter().map(Tool::from));
    }

    fn choose(&mut self, choice: &ToolChoice<'_>) {
        self.choose(choice);
    }
}

impl From<ChatCompletion> for ChatCompletionChunk {
    /// Converts a completion into one chunk that says the same.
    fn from(completion: ChatCompletion) -> Self {
        let choices = completion.choices.into_iter().map(|choice| {
            let message = choice.message;
            let text = message.content.text();
            let calls = (0..).zip(message.tool_calls);
            let call = message.function_call.map(|call| FunctionDelta {
                name: Some(call.name),
                arguments: Some(call.arguments),
                unknown: call.unknown,
            });
            Choice {
                index: choice.index,
                delta: super::Delta {
                    role: Some(message.role),
                    content: (!message.content.is_null()).then(|| text.into_owned()),
                    refusal: message.refusal,
                    tool_calls: calls
                        .map(|(index, call)| ToolCallDelta::complete(index, call))
                        .collect(),
                    function_call: call,
                    unknown: message.unknown,
                },
                logprobs: choice.logprobs,
                finish_reason: choice.finish_reason,
                unknown: choice.unknown,
            }
        });
        Self {
            id: Some(completion.id),
            created: Some(completion.created),
            model: Some(completion.model),
            service_tier: completion.service_tier,
            system_fingerprint: completion.system_fingerprint,
            choices: choices.collect(),
            usage: completion.usage,
            unknown: completion.unknown,
        }
    }
}

impl From<Completion> for ChatCompletion {
    /// Creates the completion of an answer.
    fn from(mut completion: Completion) -> Self {
        let others = completion.take_others().into_iter();
        let calls = completion.partial_calls();
        let (answer, items) = completion.into_items();
        let has_first = !items.is_empty() || !calls.is_empty();
        let first = has_first.then(|| choice(0, items, calls));
        let others = others.map(|(index, other)| {
            let calls = other.partial_calls();
            choice(index, other.into_items().1, calls)
        });
        Self {
            choices: first.into_iter().chain(others).collect(),
            ..Self::from_raw(&answer).unwrap_or_default()
        }
    }
}

/// The items of a choice: a member of its message or of the choice has an item of its own.
mod item {
    /// The message, with its content.
    pub(super) const MESSAGE: u64 = 0;
    pub(super) const REFUSAL: u64 = 1;
    pub(super) const LOGPROBS: u64 = 2;
    /// The choice itself.
    pub(super) const CHOICE: u64 = 3;
    /// The first of the members with reasoning.
    pub(super) const REASONING: u64 = 4;
}

/// The role of every answer.
const ASSISTANT: &str = "assistant";

/// Creates a choice from its items.
fn choice(index: u32, items: Vec<CompletedItem>, calls: Vec<PartialCall>) -> CompletedChoice {
    let mut message = ChatMessage {
        role: ASSISTANT.into(),
        ..ChatMessage::default()
    };
    let mut choice = CompletedChoice::default();
    let mut reasoning = None;
    for item in items {
        match item.key {
            item::MESSAGE => {
                message.unknown = item.members.members().collect();
                message.content = item.text.map_or(Content::Null, Content::Text);
            }
            item::REFUSAL => message.refusal = item.text,
            item::LOGPROBS => choice.logprobs = Logprobs::from_raw(&item.members),
            item::CHOICE => {
                let logprobs = choice.logprobs.take();
                choice = CompletedChoice::from_raw(&item.members).unwrap_or_default();
                choice.logprobs = logprobs;
            }
            key => {
                let name = usize::try_from(key - item::REASONING).unwrap_or_default();
                reasoning = REASONING.get(name).copied().zip(item.reasoning);
            }
        }
    }
    if let Some((name, text)) = reasoning {
        message.unknown.set(name, text.to_raw());
    }
    if let Some(role) = message.unknown.get("role").and_then(Json::string) {
        message.role = role.into_owned();
        message.unknown.retain(|name| name != "role");
    }
    for call in calls.into_iter().map(PartialCall::into_tool_call) {
        match &call.kind {
            ToolKind::Other(kind) if kind == FUNCTION_CALL => {
                message.function_call = Some(Box::new(call.function));
            }
            _ => message.tool_calls.push(call),
        }
    }
    let instead = !message.tool_calls.is_empty() || message.refusal.is_some();
    // The empty text of the chunk with the role is omitted beside calls or a refusal.
    if instead && message.content.text().is_empty() {
        message.content = Content::Null;
    }
    CompletedChoice {
        index,
        message,
        ..choice
    }
}

/// The member with OpenAI's padding, which hides the length of the pieces. It is no part of the answer.
const PADDING: &str = "obfuscation";

/// Reads the pieces of an event. Of several choices, the first is the answer.
pub(super) fn deltas(event: &Event, to: &mut dyn FnMut(Delta<'_>)) {
    let chunk = match event {
        Event::Chunk(chunk) => chunk,
        Event::Error(error) => return to(Delta::Failed(error.as_failure())),
        Event::Done => return to(Delta::End),
    };
    if let Some(model) = &chunk.model {
        to(Delta::Model(model));
    }
    let is_piece = |choice: &Choice| choice.delta.role.is_none() && choice.finish_reason.is_none();
    let mut unknown = chunk.unknown.iter();
    // The pieces between the first chunk and the last repeat its members.
    if !chunk.choices.iter().all(is_piece)
        || chunk.choices.is_empty()
        || chunk.usage.is_some()
        || unknown.any(|(name, _)| name != PADDING)
    {
        to(Delta::Native(Native::of_answer(
            NativeForm::Latest,
            &|| Json::object(|members| head(chunk, members)),
        )));
    }
    for choice in &chunk.choices {
        match choice.index {
            0 => choice_deltas(choice, to),
            index => choice_deltas(choice, &mut |delta| to(Delta::Choice(index, &delta))),
        }
    }
    if let Some(usage) = &chunk.usage {
        to(Delta::Part(Part::Usage(&Usage::from(usage))));
    }
}

/// Writes the members of a chunk that belong to the whole answer.
fn head(chunk: &ChatCompletionChunk, members: &mut ObjectWriter<'_>) {
    members.opt_str("id", chunk.id.as_deref());
    if let Some(created) = chunk.created {
        members.u64("created", created);
    }
    members
        .opt_str("model", chunk.model.as_deref())
        .opt_str("service_tier", chunk.service_tier.as_deref())
        .opt_str("system_fingerprint", chunk.system_fingerprint.as_deref());
    if let Some(usage) = &chunk.usage {
        usage.write_to(members.member("usage"));
    }
    let unknown = chunk.unknown.iter();
    let own = |name| ["choices", "object", PADDING].contains(&name);
    for (name, value) in unknown.filter(|(name, _)| !own(name)) {
        members.member(name).raw(value);
    }
}

fn choice_deltas(choice: &Choice, to: &mut dyn FnMut(Delta<'_>)) {
    let delta = &choice.delta;
    let mut names = (item::REASONING..).zip(REASONING);
    let reasoning =
        names.find_map(|(key, name)| Some((key, name, delta.unknown.get(name)?.string()?)));
    let others = delta.unknown.iter();
    let mut others = others.filter(|(name, _)| reasoning.as_ref().is_none_or(|it| it.1 != *name));
    let role = delta.role.as_deref().filter(|role| *role != ASSISTANT);
    let has_end = choice.finish_reason.is_some();
    if role.is_some() || others.next().is_some() || !has_end && *delta == super::Delta::default() {
        let form = NativeForm::Piece;
        to(Delta::Native(Native::of_item(item::MESSAGE, form, &|| {
            Json::object(|members| {
                for (name, value) in &delta.unknown {
                    if reasoning.as_ref().is_none_or(|it| it.1 != name) {
                        members.member(name).raw(value);
                    }
                }
                members.opt_str("role", role);
            })
        })));
    }
    // Reasoning is first: a chunk with both ends the reasoning and starts the answer.
    if let Some((key, _, text)) = &reasoning {
        to(Delta::Item(*key));
        to(Delta::Part(Part::Reasoning(text)));
    }
    for (key, text) in [
        (item::MESSAGE, &delta.content),
        (item::REFUSAL, &delta.refusal),
    ] {
        if let Some(text) = text {
            to(Delta::Item(key));
            to(Delta::Text(text));
        }
    }
    if let Some(annotations) = delta.unknown.get("annotations") {
        for annotation in annotations.elements() {
            let source = annotation.get("url_citation").unwrap_or_default();
            let text = |name| Some(source.get(name)?.string()?.into_owned());
            let Some(url) = text("url") else { continue };
            let title = text("title").unwrap_or_else(|| url.clone());
            to(Delta::Part(Part::Cite(&Citation::new(title).url(url))));
        }
    }
    for fragment in &delta.tool_calls {
        to(Delta::Call(fragment.delta()));
    }
    // Some servers send a call in both forms.
    if let (Some(call), []) = (&delta.function_call, &*delta.tool_calls) {
        let name = call.name.as_deref().unwrap_or_default();
        let arguments = call.arguments.as_deref().unwrap_or_default();
        let call = CallDelta::new(0, "", name, arguments);
        let mut members = Members::new();
        if !name.is_empty() {
            members.push("type", FUNCTION_CALL.to_owned().to_raw());
        }
        to(Delta::Call(call.members(Cow::Owned(members))));
    }
    if let Some(logprobs) = &choice.logprobs {
        let form = NativeForm::Piece;
        to(Delta::Native(Native::of_item(
            item::LOGPROBS,
            form,
            &|| logprobs.to_raw(),
        )));
    }
    if choice.finish_reason.is_some() || !choice.unknown.is_empty() {
        let form = NativeForm::Latest;
        to(Delta::Native(Native::of_item(item::CHOICE, form, &|| {
            Json::object(|members| {
                // The message is assembled from the deltas.
                for (name, value) in choice.unknown.iter().filter(|it| it.0 != "message") {
                    members.member(name).raw(value);
                }
                if let Some(reason) = &choice.finish_reason {
                    reason.write_to(members.member("finish_reason"));
                }
            })
        })));
    }
    if let Some(reason) = &choice.finish_reason {
        if let Some(cut) = reason.cut() {
            to(Delta::Part(Part::Cut(cut)));
        }
        // An answer is complete even if only the `[DONE]` is missing.
        to(Delta::Finished { needs_end: false });
    }
}

impl ErrorObject {
    fn as_failure(&self) -> Failure<'_> {
        Failure {
            too_long: self.is_too_long(),
            code: self.code.as_deref().or(self.kind.as_deref()),
            ..Failure::new(&self.message)
        }
    }
}

impl ToolCallDelta {
    /// Returns the fragment in the form of every protocol.
    pub(super) fn delta(&self) -> CallDelta<'_> {
        let function = self.function.as_ref();
        let name = function.and_then(|it| it.name.as_deref());
        let arguments = function.and_then(|it| it.arguments.as_deref());
        let mut members = Cow::Borrowed(&self.unknown);
        if let Some(ToolKind::Other(kind)) = &self.kind {
            members.to_mut().push("type", kind.to_raw());
        }
        CallDelta::new(
            self.index.into(),
            self.id.as_deref().unwrap_or_default(),
            name.unwrap_or_default(),
            arguments.unwrap_or_default(),
        )
        .members(members)
    }
}

impl PartialCall {
    /// Returns the call in the form of a message.
    pub(super) fn into_tool_call(mut self) -> ToolCall {
        let mut members = self.take_members();
        ToolCall {
            id: self.id,
            kind: take_kind(&mut members),
            function: FunctionCall {
                name: self.name,
                arguments: self.arguments,
                ..FunctionCall::default()
            },
            unknown: members,
        }
    }
}

impl From<&Completion> for ChatMessage {
    /// Creates the message of the assistant that repeats an answer in the next request.
    fn from(completion: &Completion) -> Self {
        let mut message = Self::assistant(match completion.text() {
            "" => Content::Null,
            text => text.into(),
        });
        let calls = completion.partial_calls().into_iter();
        message.tool_calls = calls.map(PartialCall::into_tool_call).collect();
        message
    }
}
