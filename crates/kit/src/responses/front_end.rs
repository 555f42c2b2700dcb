//! An emulated client of the Responses API.

use std::mem;

use bytes::Bytes;

use crate::call::tool_call;
use crate::models::too_large;
use crate::{Answer, Effect, FrontEnd, Next, post, question};
use copilot_wire::protocol::{Citation, EventDecoder, EventError, Notice};
use copilot_wire::responses::{
    Accumulator, Event, EventKind, Item, Responses, ResponsesRequest, StreamEvent, Tool,
};

/// An emulated program with an OpenAI library, or a coding client: it sends the complete conversation and its tools,
/// and reads a stream.
#[derive(Debug)]
pub struct ResponsesClient {
    request: ResponsesRequest,
    answer: Accumulator,
    failed: bool,
    calls: Vec<Item>,
    decoder: EventDecoder<Responses>,
}

impl ResponsesClient {
    /// Creates a client that requests this model.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self::continuing(ResponsesRequest::new(model, Vec::new()))
    }

    /// Creates a client with the model, tools and options of a request; its input becomes the history. The client
    /// always requests a stream.
    #[must_use]
    pub fn continuing(request: ResponsesRequest) -> Self {
        Self {
            request: request.stream(true),
            answer: Accumulator::new(),
            failed: false,
            calls: Vec::new(),
            decoder: EventDecoder::new(),
        }
    }

    /// Sets the tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.request = self.request.offer(tools);
        self
    }

    fn take(&mut self, event: &StreamEvent) -> Option<Effect> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        match event.kind {
            EventKind::TextDelta | EventKind::RefusalDelta => {
                Some(Effect::Text(text(&event.delta))).filter(|_| event.delta.is_some())
            }
            // The protocol does not distinguish a status from a model's reasoning.
            EventKind::SummaryDelta | EventKind::ReasoningDelta => {
                Some(Effect::Reasoning(text(&event.delta)))
            }
            EventKind::Completed => {
                let usage = event.response.as_ref()?.usage.as_ref()?;
                // Zeros mean that the usage is unknown.
                let known = usage.input_tokens > 0 || usage.output_tokens > 0;
                known.then(|| Effect::Usage(usage.into()))
            }
            EventKind::AnnotationAdded => {
                let source = event.annotation.as_deref()?;
                let mut citation = Citation::new(text(&source.title));
                citation.url.clone_from(&source.url);
                Some(Effect::Citation(citation))
            }
            EventKind::Incomplete => {
                let notice = Notice::new("the answer is incomplete");
                Some(Effect::Error(notice))
            }
            EventKind::Failed | EventKind::Error => {
                self.failed = true;
                let error = event.error().unwrap_or_default();
                Some(Effect::Error(Notice::new(error.message)))
            }
            _ => None,
        }
    }
}

impl FrontEnd for ResponsesClient {
    type Protocol = Responses;

    const PATH: &'static str = "/v1/responses";

    fn prompt(&mut self, text: &str) {
        self.request.input.push(Item::user(text));
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // Everything after the end is ignored.
        let Event::Stream(event) = event else {
            return Vec::new();
        };
        if self.answer.is_complete() || self.failed {
            return Vec::new();
        }
        if self.answer.push(event).is_err() {
            self.failed = true;
            return vec![too_large()];
        }
        self.take(event).into_iter().collect()
    }

    fn next(&mut self) -> Next {
        let answer = mem::take(&mut self.answer);
        let (ended, failed) = (answer.is_complete(), mem::take(&mut self.failed));
        self.decoder = EventDecoder::new();
        let answer = answer.finish();
        let text = answer.text();
        self.calls.clear();
        if failed {
            return Next::Nothing;
        }
        if !ended {
            return Next::Broken("the stream ended without response.completed");
        }
        for item in answer.output {
            if item.is_call() {
                self.calls.push(item.clone());
            }
            // Reasoning is sent too, as by Codex.
            self.request.input.push(item);
        }
        if self.calls.is_empty() {
            return question(&text).map_or(Next::Nothing, Next::Question);
        }
        let call = |it: &Item| tool_call(it, it.name.as_deref().unwrap_or_default(), &it.arguments);
        Next::Calls(self.calls.iter().filter_map(call).collect())
    }

    fn answer(&mut self, answers: Vec<Answer>) {
        for (call, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let id = call.call_id.unwrap_or_default();
            let output = Item::output(id, answer.into_text());
            self.request.input.push(output);
        }
    }
}
