//! Relaying of the stream of another server.

use bytes::Bytes;

use super::stored_turn::is_own_id;
use super::{
    Accumulator, Ending, ErrorObject, Event, EventKind, Item, Response, Responses,
    ResponsesRequest, Session, StreamEvent,
};
use crate::agent::Reply;
use crate::json::{Json, JsonError, List, Wire};
use crate::models::{self, Upstream};
use crate::protocol::{
    Content, Conversation, Cut, FrameKind, Protocol, SendError, TooLarge, ToolCall, Usage,
};

/// A relay of another server's events into a reply.
pub type Relay = models::Relay<Responses>;

/// The reason why a stream of events cannot be relayed.
pub type RelayError = models::RelayError<ErrorObject>;

/// The value of `include` that asks for reasoning in encrypted form.
const ENCRYPTED: &str = "reasoning.encrypted_content";

impl Upstream for Responses {
    type Accumulator = Accumulator;
    type Answer = Response;
    type Failure = ErrorObject;

    const PROVIDER: &'static str = "openai";

    fn prompt(conversation: &impl Conversation) -> ResponsesRequest {
        ResponsesRequest::from_conversation(conversation)
    }

    /// Copies a request for a server that shall not store it. The copy has all items, without the ids that this crate
    /// has assigned, and without reasoning that only a server with stored items can read. If the model shall reason,
    /// the copy requests its reasoning in encrypted form.
    fn again(request: &ResponsesRequest) -> ResponsesRequest {
        let mut request = request.clone();
        request.input = match std::mem::take(&mut request.input) {
            Content::Parts(items) => {
                let is_readable = |item: &Item| {
                    let is_whole = item.encrypted_content().is_some() || !item.content.is_null();
                    item.kind != "reasoning" || is_whole
                };
                let items = items.into_iter().filter(is_readable).map(|mut item| {
                    item.id.take_if(|id| is_own_item(&item.kind, id));
                    item
                });
                Content::Parts(items.collect())
            }
            text => text,
        };
        (request.previous_response_id, request.conversation) = (None, None);
        let unknown = &mut request.unknown;
        unknown.retain(|name| !matches!(name, "previous_response_id" | "background" | "store"));
        unknown.push("store", false.to_raw());
        if unknown.get("reasoning").is_some_and(|it| !it.is_null()) {
            let include = unknown.get("include").cloned().unwrap_or_default();
            let wanted = Json::encode(ENCRYPTED).unwrap_or_default();
            let others = include.elements().filter(|it| *it != wanted);
            let include: List<Json> = others.chain([wanted.clone()]).collect();
            unknown.set("include", include.to_raw());
        }
        request
    }

    fn body(request: &mut ResponsesRequest) -> Bytes {
        request.stream = Some(true);
        request.to_json()
    }

    fn document_body(request: &mut ResponsesRequest) -> Bytes {
        request.stream = Some(false);
        request.to_json()
    }

    fn follow(session: &mut Session, event: &Event) -> FrameKind {
        session.follow(event)
    }

    fn document(document: &Json) -> Option<(Response, Option<Usage>)> {
        let response = Response::from_raw(document).filter(|it| !it.status.is_empty())?;
        let usage = response.usage.as_ref().map(Usage::from);
        Some((response, usage))
    }

    fn error(body: &Json) -> Option<ErrorObject> {
        ErrorObject::from_raw(&body.get("error").filter(|it| !it.is_null())?)
    }

    fn push(answer: &mut Accumulator, event: &Event) -> Result<(), TooLarge> {
        event.stream().map_or(Ok(()), |event| answer.push(event))
    }

    fn failure(event: &Event) -> Option<ErrorObject> {
        let event = event.stream()?;
        match &event.kind {
            EventKind::Failed | EventKind::Error => Some(event.error().unwrap_or_default()),
            // Some servers omit the type.
            EventKind::Other(name) if name.is_empty() => event.error(),
            _ => None,
        }
    }

    fn is_too_long(failure: &ErrorObject) -> bool {
        failure.is_too_long()
    }

    fn is_last(event: &Event) -> bool {
        event.stream().is_some_and(StreamEvent::is_last)
    }

    fn is_output(event: &Event) -> bool {
        let has_output = |event: &StreamEvent| event.item.is_some() || event.delta.is_some();
        event
            .stream()
            .is_none_or(|event| has_output(event) || event.is_last())
    }

    fn output(event: &Event) -> Option<StreamEvent> {
        event.stream().cloned()
    }

    fn passed(event: &Event) -> Option<StreamEvent> {
        let event = event.stream()?;
        let is_call = event
            .item
            .as_ref()
            .is_some_and(|item| item.client_tool().is_some());
        // Reasons that every dialect has are written at the end of the relay.
        let cut = event.response.as_ref().and_then(|it| Self::cut(it));
        let is_end = event.kind == EventKind::Incomplete && cut != Some(Cut::Other);
        (!is_call && !is_end).then(|| event.clone())
    }

    fn ending(answer: Response) -> Ending {
        Ending::Calls(client_calls(&answer).cloned().collect())
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
        // Responses in earlier events have no usage, or only a partial one.
        let event = event.stream().filter(|event| event.is_last())?;
        event.response.as_ref()?.usage.as_ref().map(Usage::from)
    }

    fn answer(answer: Accumulator) -> Option<Response> {
        answer.is_complete().then(|| answer.finish())
    }

    fn cut(answer: &Response) -> Option<Cut> {
        let details = answer.incomplete_details.as_ref();
        let is_cut = |item: &Item| item.status.as_deref() == Some("incomplete");
        match (&*answer.status, details.map(|it| &*it.reason)) {
            ("incomplete", Some("content_filter")) => Some(Cut::Filter),
            ("incomplete", Some("max_output_tokens") | None) => Some(Cut::Length),
            ("incomplete" | "cancelled" | "failed" | "in_progress" | "queued", _) => {
                Some(Cut::Other)
            }
            _ => client_calls(answer).any(is_cut).then_some(Cut::Other),
        }
    }

    fn answer_model(answer: &Response) -> &str {
        &answer.model
    }

    fn answer_text(answer: &Response) -> String {
        answer.text()
    }

    fn calls(answer: &Response) -> Result<Vec<ToolCall>, JsonError> {
        let calls = client_calls(answer).map(|item| match item.is_call() {
            true => ToolCall::try_from(item),
            // No function. A tool without a name is never offered, so it reaches no front end of another dialect.
            false => Ok(ToolCall {
                name: String::new(),
                arguments: Json::object(|_| ()),
                id: item.call_id.clone(),
            }),
        });
        calls.collect()
    }
}

/// Returns `true` for an id that this crate has assigned, in an item that needs none.
fn is_own_item(kind: &str, id: &str) -> bool {
    let needs_none = matches!(kind, "" | "message" | "reasoning")
        || kind.starts_with("function_call")
        || kind.starts_with("custom_tool_call");
    needs_none && is_own_id(id)
}

/// Returns the calls that the client may have to run.
fn client_calls(answer: &Response) -> impl Iterator<Item = &Item> {
    let items = answer.output.iter();
    items.filter(|item| item.client_tool().is_some())
}
