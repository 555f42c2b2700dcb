//! Relaying of the stream of another server.

use super::{Accumulator, Anthropic, Delta, ErrorObject, Event, Message, Output};
use crate::agent::Reply;
use crate::json::JsonError;
use crate::models::{self, TooLarge, Upstream};
use crate::protocol::{Protocol, SendError, ToolCall};

/// A relay of another server's events into a reply.
pub type Relay = models::Relay<Anthropic>;

/// The reason why a stream of events cannot be relayed.
pub type RelayError = models::RelayError<ErrorObject>;

impl Upstream for Anthropic {
    type Accumulator = Accumulator;
    type Answer = Message;
    type Failure = ErrorObject;

    fn push(answer: &mut Accumulator, event: &Event) -> Result<(), TooLarge> {
        answer.push(event)
    }

    fn failure(event: &Event) -> Option<ErrorObject> {
        match event {
            Event::Error(error) => Some(error.clone()),
            _ => None,
        }
    }

    fn is_last(event: &Event) -> bool {
        matches!(event, Event::MessageStop)
    }

    fn output(event: Event) -> Option<Output> {
        match event {
            // The count of the request's tokens may be in this event only; the rest of the message
            // is the reply's own.
            Event::MessageStart(message) => Some(Output::Message(message.usage.into())),
            Event::ContentBlockStart { content_block, .. } => Some(Output::Start(content_block)),
            Event::ContentBlockDelta { delta, .. } => Some(Output::Delta(delta)),
            Event::ContentBlockStop { .. } => Some(Output::Stop),
            Event::MessageDelta(delta) => Some(Output::Message(delta)),
            _ => None,
        }
    }

    async fn text<P: Protocol>(
        event: &Event,
        answer: &Accumulator,
        reply: &Reply<P>,
    ) -> Result<(), SendError> {
        match event {
            Event::ContentBlockDelta { delta, .. } => match delta {
                Delta::Text(text) => reply.text(text).await,
                Delta::Thinking(text) => reply.reasoning(text.as_str()).await,
                _ => Ok(()),
            },
            // From the accumulator: the event itself has the tokens of the answer only.
            Event::MessageDelta(_) => reply.usage(answer.usage().into()).await,
            _ => Ok(()),
        }
    }

    fn finish(answer: Accumulator) -> Option<Message> {
        answer.is_complete().then(|| answer.finish())
    }

    fn calls(answer: &Message) -> Result<Vec<ToolCall>, JsonError> {
        Ok(answer.calls().map(ToolCall::from).collect())
    }
}
