//! Relaying of the stream of another server.

use super::{Accumulator, ChatCompletion, ChatCompletionChunk, ErrorObject, Event, OpenAi};
use crate::agent::Reply;
use crate::json::{Json, JsonError};
use crate::models::{self, Upstream};
use crate::protocol::{Protocol, SendError, TooLarge, ToolCall, Usage};

/// A relay of another server's chunks into a reply.
pub type Relay = models::Relay<OpenAi>;

/// The reason why a stream of chunks cannot be relayed.
pub type RelayError = models::RelayError<ErrorObject>;

impl Upstream for OpenAi {
    type Accumulator = Accumulator;
    type Answer = ChatCompletion;
    type Failure = ErrorObject;

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

    fn output(event: &Event) -> Option<ChatCompletionChunk> {
        match event {
            Event::Chunk(chunk) => Some(chunk.clone()),
            _ => None,
        }
    }

    async fn text<P: Protocol>(event: &Event, reply: &Reply<P>) -> Result<(), SendError> {
        let Event::Chunk(chunk) = event else {
            return Ok(());
        };
        let choices = chunk.choices.iter();
        for choice in choices.filter(|choice| choice.index == 0) {
            // Before the text: a chunk with both is the border between reasoning and answer.
            let reasoning = choice.delta.unknown.get("reasoning_content");
            if let Some(text) = reasoning.and_then(Json::string) {
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

    /// If only the `[DONE]` is missing, the answer is complete.
    fn finish(answer: Accumulator) -> Option<ChatCompletion> {
        answer.is_complete().then(|| answer.finish())
    }

    fn calls(answer: &ChatCompletion) -> Result<Vec<ToolCall>, JsonError> {
        answer.calls().iter().map(ToolCall::try_from).collect()
    }
}
