//! An emulated client of the Responses API.

use std::collections::BTreeMap;
use std::mem;

use bytes::Bytes;

use crate::call::tool_call;
use crate::heard::effects;
use crate::models::too_large;
use crate::{Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{Completion, EventDecoder, EventError, Notice};
use copilot_wire::responses::{
    Event, EventKind, Item, Responses, ResponsesRequest, StreamEvent, Tool,
};

/// An emulated program with an OpenAI library, or a coding client: it sends the complete conversation and its tools,
/// and reads a stream.
#[derive(Debug)]
pub struct ResponsesClient {
    request: ResponsesRequest,
    answer: Completion,
    /// The complete items.
    items: BTreeMap<u64, Item>,
    is_too_large: bool,
    calls: Vec<Item>,
    decoder: EventDecoder<Responses>,
}

impl ResponsesClient {
    /// Creates a client that requests this model.
    pub fn new(model: impl Into<String>) -> Self {
        Self::continuing(ResponsesRequest::new(model, Vec::new()))
    }

    /// Creates a client with the model, tools and options of a request; its input becomes the history. The client
    /// always requests a stream.
    pub fn continuing(request: ResponsesRequest) -> Self {
        Self {
            request: request.stream(true),
            answer: Completion::new(),
            items: BTreeMap::new(),
            is_too_large: false,
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

    fn take(&mut self, event: &StreamEvent) {
        if let (EventKind::ItemDone, Some(item)) = (&event.kind, &event.item) {
            let index = event.output_index.unwrap_or(0);
            self.items.insert(index, (**item).clone());
        }
        let response = event.response().filter(|_| event.is_last());
        if let Some(response) = response.filter(|it| !it.output.is_empty()) {
            // The server's own list is preferred, as the official clients do.
            self.items = (0..).zip(response.output.iter().cloned()).collect();
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
        if self.answer.is_over() || self.is_too_large {
            return Vec::new();
        }
        if self.answer.push_event::<Responses>(event).is_err() {
            self.is_too_large = true;
            return vec![too_large()];
        }
        let mut effects = effects::<Responses>(event);
        if let Event::Stream(event) = event {
            self.take(event);
            if event.kind == EventKind::Incomplete {
                effects.push(Effect::Error(Notice::new("the answer is incomplete")));
            }
        }
        effects
    }

    fn next(&mut self) -> Next {
        let answer = mem::take(&mut self.answer);
        let items = mem::take(&mut self.items);
        let failed = mem::take(&mut self.is_too_large) || answer.error().is_some();
        self.decoder = EventDecoder::new();
        self.calls.clear();
        if failed {
            return Next::Nothing;
        }
        if !answer.is_complete() {
            return Next::Broken("the stream ended without response.completed");
        }
        for item in items.into_values() {
            if item.is_call() {
                self.calls.push(item.clone());
            }
            // Reasoning is sent too, as by Codex.
            self.request.input.push(item);
        }
        if self.calls.is_empty() {
            return question(answer.text()).map_or(Next::Nothing, Next::Question);
        }
        let call = |it: &Item| tool_call(it, it.name.as_deref().unwrap_or_default(), &it.arguments);
        Next::Calls(self.calls.iter().filter_map(call).collect())
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        for (call, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let id = call.call_id.unwrap_or_default();
            let output = Item::output(id, answer.into_text());
            self.request.input.push(output);
        }
    }
}
