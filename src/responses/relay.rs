//! Relaying of the stream of another server.

use super::{Accumulator, ErrorObject, Event, EventKind, Response, Responses, StreamEvent};
use crate::agent::Reply;
use crate::json::JsonError;
use crate::models::{self, Upstream};
use crate::protocol::{Protocol, SendError, TooLarge, ToolCall, Usage};

/// A relay of another server's events into a reply.
pub type Relay = models::Relay<Responses>;

/// The reason why a stream of events cannot be relayed.
pub type RelayError = models::RelayError<ErrorObject>;

impl Upstream for Responses {
    type Accumulator = Accumulator;
    type Answer = Response;
    type Failure = ErrorObject;

    fn push(answer: &mut Accumulator, event: &Event) -> Result<(), TooLarge> {
        event.stream().map_or(Ok(()), |event| answer.push(event))
    }

    fn failure(event: &Event) -> Option<ErrorObject> {
        let event = event.stream()?;
        let is_failure = matches!(event.kind, EventKind::Failed | EventKind::Error);
        is_failure.then(|| event.error().unwrap_or_default())
    }

    fn is_too_long(failure: &ErrorObject) -> bool {
        failure.is_too_long()
    }

    fn is_last(event: &Event) -> bool {
        event.stream().is_some_and(StreamEvent::is_last)
    }

    fn output(event: &Event) -> Option<StreamEvent> {
        event.stream().cloned()
    }

    async fn text<P: Protocol>(event: &Event, reply: &Reply<P>) -> Result<(), SendError> {
        let Some(event) = event.stream() else {
            return Ok(());
        };
        let delta = event.delta.as_deref().unwrap_or_default();
        match event.kind {
            EventKind::TextDelta | EventKind::RefusalDelta => reply.text(delta).await?,
            EventKind::SummaryDelta | EventKind::ReasoningDelta => reply.reasoning(delta).await?,
            _ => {}
        }
        Ok(())
    }

    fn usage(event: &Event, _: &Accumulator) -> Option<Usage> {
        // Earlier responses have no usage, or that of their part.
        let event = event.stream().filter(|event| event.is_last())?;
        event.response.as_ref()?.usage.as_ref().map(Usage::from)
    }

    fn finish(answer: Accumulator) -> Option<Response> {
        answer.is_complete().then(|| answer.finish())
    }

    fn calls(answer: &Response) -> Result<Vec<ToolCall>, JsonError> {
        answer.calls().map(ToolCall::try_from).collect()
    }
}
