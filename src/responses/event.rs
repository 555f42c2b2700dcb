//! The events of a stream, and the endings of a turn.

use bytes::Bytes;

use super::{Annotation, ContentPart, ErrorObject, Item, Response, Usage};
use crate::json::{Json, List, Members, ValueWriter, Wire};
use crate::protocol::EventError;

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// An event with JSON data.
    Stream(Box<StreamEvent>),
    /// The end of the stream: `[DONE]`. Everything after it is ignored.
    Done,
}

impl Event {
    /// Returns the event with JSON data; `None` for `[DONE]`.
    pub(super) fn stream(&self) -> Option<&StreamEvent> {
        match self {
            Self::Stream(event) => Some(event),
            Self::Done => None,
        }
    }

    /// Reads the data of one event. `name` is the kind if the data has none.
    pub(super) fn read(name: &str, data: &str) -> Result<Self, EventError> {
        if data.trim_start().starts_with("[DONE]") {
            return Ok(Self::Done);
        }
        let mut event = StreamEvent::parse(&Bytes::copy_from_slice(data.as_bytes()))?;
        if event.kind.as_str().is_empty() {
            event.kind = match event.error() {
                // Some servers send an error as in chat completions, under any name.
                Some(_) => EventKind::Error,
                None => name.into(),
            };
        }
        Ok(Self::Stream(Box::new(event)))
    }
}

/// An end of a turn other than a complete answer in text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Calls of the client's tools, created with [`Item::call`].
    Calls(Vec<Item>),
    /// The answer is incomplete, with the reason: `max_output_tokens` or `content_filter`.
    Incomplete(String),
    /// The answer failed.
    Failed(ErrorObject),
}

from! {
    StreamEvent => Event: |event| Self::Stream(Box::new(event)),
    ErrorObject => Ending: Self::Failed,
}

/// The kind of an event: its name, and the member `type` of its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum EventKind {
    /// The start of the response.
    #[wire(name = "response.created")]
    Created,
    /// The progress of the response. Sent once, and as keep-alive.
    #[wire(name = "response.in_progress")]
    InProgress,
    /// The end of a complete response; the event contains the response.
    #[wire(name = "response.completed")]
    Completed,
    /// The end of an incomplete response.
    #[wire(name = "response.incomplete")]
    Incomplete,
    /// The end of a failed response.
    #[wire(name = "response.failed")]
    Failed,
    /// The start of an item.
    #[wire(name = "response.output_item.added")]
    ItemAdded,
    /// The end of an item; the event contains the complete item.
    #[wire(name = "response.output_item.done")]
    ItemDone,
    /// The start of a part of a message.
    #[wire(name = "response.content_part.added")]
    PartAdded,
    /// The end of a part of a message.
    #[wire(name = "response.content_part.done")]
    PartDone,
    /// A piece of the answer's text.
    #[wire(name = "response.output_text.delta")]
    TextDelta,
    /// The end of the text of a part.
    #[wire(name = "response.output_text.done")]
    TextDone,
    /// A citation in the text.
    #[wire(name = "response.output_text.annotation.added")]
    AnnotationAdded,
    /// A piece of a refusal.
    #[wire(name = "response.refusal.delta")]
    RefusalDelta,
    /// The end of a refusal.
    #[wire(name = "response.refusal.done")]
    RefusalDone,
    /// A piece of a call's arguments.
    #[wire(name = "response.function_call_arguments.delta")]
    ArgumentsDelta,
    /// The end of the arguments of a call.
    #[wire(name = "response.function_call_arguments.done")]
    ArgumentsDone,
    /// The start of a part of a reasoning summary.
    #[wire(name = "response.reasoning_summary_part.added")]
    SummaryPartAdded,
    /// The end of a part of a reasoning summary.
    #[wire(name = "response.reasoning_summary_part.done")]
    SummaryPartDone,
    /// A piece of a reasoning summary.
    #[wire(name = "response.reasoning_summary_text.delta")]
    SummaryDelta,
    /// The end of the text of a summary part.
    #[wire(name = "response.reasoning_summary_text.done")]
    SummaryDone,
    /// A piece of the reasoning itself.
    #[wire(name = "response.reasoning_text.delta")]
    ReasoningDelta,
    /// The end of the reasoning.
    #[wire(name = "response.reasoning_text.done")]
    ReasoningDone,
    /// An error outside a response.
    Error,
    /// A kind that this crate does not know.
    #[wire(other)]
    Other(String),
}

impl Default for EventKind {
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// An event of a stream. Its members depend on its kind.
///
/// If it is sent with a reply, the session of the reply writes its own ids, indexes and numbers,
/// opens and closes items, and repeats complete texts. So events of another server can be sent
/// unchanged. [`to_json`](Self::to_json) writes the event without changes.
#[derive(Clone, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
#[wire(null_is_absent)]
pub struct StreamEvent {
    /// The type of the event, such as `response.output_text.delta`.
    #[wire(name = "type", always)]
    pub kind: EventKind,
    /// The number of the event in the stream, from 0.
    pub sequence_number: Option<u64>,
    /// The response so far, see [`response`](Self::response). Of three in a stream only the last one is read.
    pub response: Option<Json>,
    /// The id of the item that the event belongs to.
    #[wire(secret)]
    pub item_id: Option<String>,
    /// The index in the output of the item that the event belongs to.
    pub output_index: Option<u64>,
    /// The index of the part in the item's content.
    #[wire(secret)]
    pub content_index: Option<u64>,
    /// The index of the part in the item's summary.
    #[wire(secret)]
    pub summary_index: Option<u64>,
    /// The index of the annotation in its part.
    #[wire(secret)]
    pub annotation_index: Option<u64>,
    /// The output item that was added or is done.
    pub item: Option<Box<Item>>,
    /// The content or summary part that was added or is done.
    pub part: Option<Box<ContentPart>>,
    /// The annotation that was added to the text.
    pub annotation: Option<Box<Annotation>>,
    /// A piece of text.
    #[wire(content)]
    pub delta: Option<String>,
    /// A complete text.
    #[wire(content)]
    pub text: Option<String>,
    /// A complete refusal.
    #[wire(content)]
    pub refusal: Option<String>,
    /// The log probabilities of the tokens of the text.
    pub logprobs: Option<List<Json>>,
    /// The name of the function of a call.
    pub name: Option<String>,
    /// The arguments of a call.
    #[wire(content)]
    pub arguments: Option<String>,
    /// Members that this crate does not know.
    pub unknown: Members,
}

impl StreamEvent {
    pub(super) fn new(kind: EventKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// Appends the event as a server-sent event.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(self.kind.as_str().as_bytes());
        out.extend_from_slice(b"\ndata: ");
        self.write_to(ValueWriter::new(out, Self::ESCAPE));
        out.extend_from_slice(b"\n\n");
    }

    /// Creates a piece of the answer's text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            delta: Some(text.into()),
            ..Self::new(EventKind::TextDelta)
        }
    }

    /// Creates a piece of a reasoning summary.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self {
            delta: Some(text.into()),
            ..Self::new(EventKind::SummaryDelta)
        }
    }

    /// Creates a citation in the text. Without indexes it refers to the end of the text so far.
    pub fn annotation(annotation: Annotation) -> Self {
        Self {
            annotation: Some(Box::new(annotation)),
            ..Self::new(EventKind::AnnotationAdded)
        }
    }

    /// Creates a complete item that is neither a message nor reasoning, such as a call.
    pub fn item(item: Item) -> Self {
        Self {
            item: Some(Box::new(item)),
            ..Self::new(EventKind::ItemDone)
        }
    }

    /// Creates the token counts of the answer; the last ones count.
    pub fn usage(usage: Usage) -> Self {
        let response = Response {
            usage: Some(usage),
            ..Response::default()
        };
        let mut event = Self::new(EventKind::InProgress);
        event.response = Some(response.to_raw());
        event
    }

    /// Reads the response so far.
    pub fn response(&self) -> Option<Response> {
        Response::from_raw(self.response.as_ref()?)
    }

    /// Returns the piece of text or of a refusal that the event adds.
    pub fn said(&self) -> Option<&str> {
        match self.kind {
            EventKind::TextDelta | EventKind::RefusalDelta => self.delta.as_deref(),
            _ => None,
        }
    }

    /// Returns the error of a failure: that of the response, or that of the event.
    pub fn error(&self) -> Option<ErrorObject> {
        let nested = self.unknown.get("error").and_then(ErrorObject::from_raw);
        let own = || {
            // The event has the members of an error object at its top level.
            let event = self.to_raw();
            let mut error = ErrorObject::from_raw(&event)?;
            // The `type` is the kind of the event, not the class of the error.
            error.kind = None;
            error.unknown = Members::new();
            Some(error)
        };
        match self.kind {
            EventKind::Failed => self.response()?.error,
            EventKind::Error => nested.or_else(own),
            _ => nested,
        }
    }

    /// Returns `true` if only `[DONE]` may follow.
    pub fn is_last(&self) -> bool {
        use EventKind::{Completed, Error, Failed, Incomplete};
        matches!(self.kind, Completed | Incomplete | Failed | Error)
    }
}
