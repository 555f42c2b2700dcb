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
        match event {
            Event::Stream(event) => answer.push(event),
            _ => Ok(()),
        }
    }

    fn failure(event: &Event) -> Option<ErrorObject> {
        match event {
            Event::Stream(event) if matches!(event.kind, EventKind::Failed | EventKind::Error) => {
                Some(event.error().unwrap_or_default())
            }
            _ => None,
        }
    }

    fn is_too_long(failure: &ErrorObject) -> bool {
        failure.is_too_long()
    }

    fn is_last(event: &Event) -> bool {
        matches!(event, Event::Stream(event) if event.is_last())
    }

    fn output(event: &Event) -> Option<StreamEvent> {
        match event {
            Event::Stream(event) => Some(StreamEvent::clone(event)),
            _ => None,
        }
    }

    async fn text<P: Protocol>(event: &Event, reply: &Reply<P>) -> Result<(), SendError> {
        let Event::Stream(event) = event else {
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
        match event {
            // Earlier responses have no usage, or that of their part.
            Event::Stream(event) if event.is_last() => {
                let response = event.response.as_ref()?;
                response.usage.as_ref().map(Usage::from)
            }
            _ => None,
        }
    }

    fn finish(answer: Accumulator) -> Option<Response> {
        answer.is_complete().then(|| answer.finish())
    }

    fn calls(answer: &Response) -> Result<Vec<ToolCall>, JsonError> {
        answer.calls().map(ToolCall::try_from).collect()
    }
}
