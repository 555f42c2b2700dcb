//! Relaying of the stream of another server.

use bytes::Bytes;

use super::session::{self, Session};
use super::{
    Accumulator, ChatCompletion, ChatCompletionChunk, ChatRequest, Ending, ErrorObject, Event,
    FinishReason, OpenAi,
};
use crate::agent::Reply;
use crate::json::{Json, JsonError, List, Wire as _};
use crate::models::{self, Upstream};
use crate::protocol::{
    Conversation, Cut, FrameKind, Protocol, SendError, TooLarge, ToolCall, Usage,
};

/// A relay of another server's chunks into a reply.
pub type Relay = models::Relay<OpenAi>;

/// The reason why a stream of chunks cannot be relayed.
pub type RelayError = models::RelayError<ErrorObject>;

/// The members of a delta that can contain reasoning; a server uses only one of them.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

impl Upstream for OpenAi {
    type Accumulator = Accumulator;
    type Answer = ChatCompletion;
    type Failure = ErrorObject;

    const PROVIDER: &'static str = "openai";

    fn prompt(conversation: &impl Conversation) -> ChatRequest {
        ChatRequest::from_conversation(conversation)
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

    fn follow(session: &mut Session, event: &Event) -> FrameKind {
        session::follow(session, event)
    }

    fn document(document: &Json) -> Option<(ChatCompletion, Option<Usage>)> {
        let completion = ChatCompletion::from_raw(document).filter(|it| !it.choices.is_empty())?;
        let usage = completion.usage.as_ref().map(Usage::from);
        Some((completion, usage))
    }

    fn error(body: &Json) -> Option<ErrorObject> {
        ErrorObject::find(body)
    }

    fn push(answer: &mut Accumulator, event: &Event) -> Result<(), TooLarge> {
        match event {
            Event::Chunk(chunk) => answer.push(chunk),
            _ => Ok(()),
        }
    }

    fn failure(event: &Event) -> Option<ErrorObject> {
        match event {
            Event::Error(error) => Some(error.clone()),
            _ => None,
        }
    }

    fn is_too_long(failure: &ErrorObject) -> bool {
        failure.is_too_long()
    }

    fn is_last(event: &Event) -> bool {
        *event == Event::Done
    }

    fn is_output(event: &Event) -> bool {
        let Event::Chunk(chunk) = event else {
            return true;
        };
        // The first chunk has the role and an empty text.
        chunk.choices.iter().any(|choice| {
            let delta = &choice.delta;
            let has_text = |text: &Option<String>| text.as_ref().is_some_and(|it| !it.is_empty());
            let mut unknown = delta.unknown.iter();
            choice.finish_reason.is_some()
                || has_text(&delta.content)
                || has_text(&delta.refusal)
                || !delta.tool_calls.is_empty()
                || delta.function_call.is_some()
                || unknown.any(|(_, value)| !matches!(value.text(), "null" | "\"\"" | "[]"))
        })
    }

    fn output(event: &Event) -> Option<ChatCompletionChunk> {
        match event {
            Event::Chunk(chunk) => Some(chunk.clone()),
            _ => None,
        }
    }

    fn passed(event: &Event) -> Option<ChatCompletionChunk> {
        let mut chunk = Self::output(event)?;
        let choices = std::mem::take(&mut chunk.choices).into_iter();
        // Only clients that requested several choices can receive them.
        chunk.choices = choices
            .map(|mut choice| {
                choice.delta.tool_calls = List::new();
                choice
            })
            .collect();
        Some(chunk)
    }

    fn ending(answer: ChatCompletion) -> Ending {
        match answer.calls() {
            // A call in the deprecated form was relayed.
            [] => Ending::Finish(FinishReason::FunctionCall),
            calls => Ending::Calls(calls.to_vec()),
        }
    }

    async fn text<P: Protocol>(event: &Event, reply: &Reply<P>) -> Result<(), SendError> {
        let Event::Chunk(chunk) = event else {
            return Ok(());
        };
        let choices = chunk.choices.iter();
        for choice in choices.filter(|choice| choice.index == 0) {
            // Reasoning is written before text: a chunk with both ends the reasoning and starts the answer.
            let unknown = &choice.delta.unknown;
            let mut names = REASONING.into_iter();
            if let Some(text) = names.find_map(|name| unknown.get(name)?.string()) {
                reply.reasoning(text).await?;
            }
            let pieces = [&choice.delta.content, &choice.delta.refusal];
            for piece in pieces.into_iter().flatten() {
                if !piece.is_empty() {
                    reply.text(piece).await?;
                }
            }
        }
        Ok(())
    }

    fn usage(event: &Event, _: &Accumulator) -> Option<Usage> {
        match event {
            Event::Chunk(chunk) => chunk.usage.as_ref().map(Usage::from),
            _ => None,
        }
    }

    /// An answer is complete even if only the `[DONE]` is missing.
    fn answer(answer: Accumulator) -> Option<ChatCompletion> {
        answer.is_complete().then(|| answer.finish())
    }

    fn cut(answer: &ChatCompletion) -> Option<Cut> {
        let choice = answer.choices.first()?;
        choice.finish_reason.as_ref().and_then(FinishReason::cut)
    }

    fn answer_model(answer: &ChatCompletion) -> &str {
        &answer.model
    }

    fn answer_text(answer: &ChatCompletion) -> String {
        answer
            .message()
            .map_or_else(String::new, |message| message.content.text().into_owned())
    }

    fn calls(answer: &ChatCompletion) -> Result<Vec<ToolCall>, JsonError> {
        let function = answer.message().and_then(|it| it.function_call.as_ref());
        // Some servers send a call in both forms.
        let function = function.filter(|_| answer.calls().is_empty());
        let function = function.map(|it| {
            Ok(ToolCall {
                name: it.name.clone(),
                arguments: it.json()?,
                id: None,
            })
        });
        let calls = answer.calls().iter().map(ToolCall::try_from);
        calls.chain(function).collect()
    }
}
