//! Chat completions as a dialect of models.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;

use super::session::{self, Reply};
use super::{
    Accumulator, ChatCompletion, ChatCompletionChunk, ChatMessage, ChatRequest, Choice, Content,
    ErrorObject, Event, FunctionCall, FunctionDelta, OpenAi, Tool, ToolCall, ToolCallDelta,
    ToolKind,
};
use crate::json::{Json, List, Members, Wire};
use crate::models::{self, CallResult, Names, Profile, Prompt, Upstream};
use crate::protocol::fragments::PartialCall;
use crate::protocol::{
    self, Call, CallDelta, Completion, Conversation, Delta, Failure, FrameKind, Part, Session,
    TooLarge, ToolChoice, Usage,
};

/// A relay of another server's chunks into a reply.
pub type Relay = models::Relay<OpenAi>;

/// The kind of a call in the form that preceded tools.
pub(super) const FUNCTION_CALL: &str = "function_call";

/// The members of a delta and of a message that can contain reasoning; a server uses only one of them.
pub(super) const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

impl Upstream for OpenAi {
    type Answer = Accumulator;

    const PROVIDER: &'static str = "openai";

    const LIMITS: &'static [&'static str] = &["max_completion_tokens", "max_tokens"];

    fn prompt_with(conversation: &impl Conversation, profile: &Profile) -> ChatRequest {
        ChatRequest::for_profile(conversation, profile)
    }

    fn conform(request: &mut ChatRequest, profile: &Profile, names: &mut Names) {
        super::profile::conform(request, profile, names);
    }

    fn again(request: &ChatRequest) -> ChatRequest {
        request.clone()
    }

    fn body(request: &mut ChatRequest) -> Bytes {
        request.stream = Some(true);
        let options = request.stream_options.get_or_insert_default();
        options.include_usage = Some(true);
        request.to_json()
    }

    fn document_body(request: &mut ChatRequest) -> Bytes {
        request.stream = Some(false);
        // Servers refuse it without a stream.
        request.stream_options = None;
        request.to_json()
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

    fn assemble(answer: &mut Accumulator, event: &Event) -> Result<(), TooLarge> {
        match event {
            Event::Chunk(chunk) => answer.push(chunk),
            _ => Ok(()),
        }
    }

    fn extend(
        request: &mut ChatRequest,
        answer: Accumulator,
        calls: Vec<(Call<'_>, CallResult<'_>)>,
    ) {
        let choice = answer.finish().choices.into_iter().next();
        let message = choice.map(|choice| choice.message);
        request.extend(message.unwrap_or_default(), calls);
    }

    fn offer(request: &mut ChatRequest, tools: Vec<protocol::Tool<'_>>) {
        let names: HashSet<_> = tools.iter().map(|tool| &*tool.name).collect();
        let is_other = |tool: &Tool| {
            let name = tool.function.as_ref().map(|function| &*function.name);
            name.is_none_or(|name| !names.contains(name))
        };
        request.tools.retain(is_other);
        request.tools.extend(tools.into_iter().map(Tool::from));
    }

    fn choose(request: &mut ChatRequest, choice: &ToolChoice<'_>) {
        request.choose(choice);
    }
}

impl Prompt for ChatRequest {
    type Upstream = OpenAi;
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
                    content: (!text.is_empty()).then(|| text.into_owned()),
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
    for choice in &chunk.choices {
        match choice.index {
            0 => choice_deltas(choice, to),
            index => to(Delta::OtherChoice {
                index,
                is_finished: choice.finish_reason.is_some(),
            }),
        }
    }
    if let Some(usage) = &chunk.usage {
        to(Delta::Part(Part::Usage(&Usage::from(usage))));
    }
}

fn choice_deltas(choice: &Choice, to: &mut dyn FnMut(Delta<'_>)) {
    let delta = &choice.delta;
    // Reasoning is first: a chunk with both ends the reasoning and starts the answer.
    let mut names = REASONING.into_iter();
    if let Some(text) = names.find_map(|name| delta.unknown.get(name)?.string()) {
        to(Delta::Part(Part::Reasoning(&text)));
    }
    for text in [&delta.content, &delta.refusal].into_iter().flatten() {
        to(Delta::Text(text));
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
        ToolCall {
            id: self.id,
            kind: take_kind(&mut self.members),
            function: FunctionCall {
                name: self.name,
                arguments: self.arguments,
                ..FunctionCall::default()
            },
            unknown: self.members,
        }
    }
}

/// Removes the kind of a tool from the members of a call.
pub(super) fn take_kind(members: &mut Members) -> ToolKind {
    let kind = members.get("type").and_then(ToolKind::from_raw);
    if kind.is_some() {
        members.retain(|name| name != "type");
    }
    kind.unwrap_or_default()
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
