//! An emulated OpenAI client.

use std::mem;

use bytes::Bytes;

use crate::call::tool_call;
use crate::heard::effects;
use crate::models::too_large;
use crate::{Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::json::Wire as _;
use copilot_wire::openai::{
    ChatCompletion, ChatMessage, ChatRequest, Event, OpenAi, Tool, ToolCall,
};
use copilot_wire::protocol::{Completion, EventDecoder, EventError};

/// An emulated program with an OpenAI library: it sends messages and tools, and reads chunks.
#[derive(Debug)]
pub struct OpenAiClient {
    request: ChatRequest,
    answer: Completion,
    failed: bool,
    done: bool,
    calls: Vec<ToolCall>,
    decoder: EventDecoder<OpenAi>,
}

impl OpenAiClient {
    /// Creates a client that requests this model.
    pub fn new(model: impl Into<String>) -> Self {
        Self::continuing(ChatRequest::new(model, Vec::new()))
    }

    /// Creates a client with the model, tools and options of a request; its messages become the history. The client
    /// always requests a stream with the usage.
    pub fn continuing(request: ChatRequest) -> Self {
        Self {
            request: request.stream(true).include_usage(),
            answer: Completion::new(),
            failed: false,
            done: false,
            calls: Vec::new(),
            decoder: EventDecoder::new(),
        }
    }

    /// Sets the tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<Tool>>) -> Self {
        let tools = tools.into_iter().map(Into::into);
        self.request = self.request.offer(tools);
        self
    }
}

impl FrontEnd for OpenAiClient {
    type Protocol = OpenAi;

    const PATH: &'static str = "/v1/chat/completions";

    fn prompt(&mut self, text: &str) {
        self.request.messages.push(ChatMessage::user(text));
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // Everything after the end is ignored.
        if self.done || self.failed {
            return Vec::new();
        }
        if self.answer.push_event::<OpenAi>(event).is_err() {
            self.failed = true;
            return vec![too_large()];
        }
        match event {
            Event::Error(_) => self.failed = true,
            Event::Done => self.done = true,
            _ => {}
        }
        effects::<OpenAi>(event)
    }

    fn next(&mut self) -> Next {
        let answer = mem::take(&mut self.answer);
        let (done, failed) = (mem::take(&mut self.done), mem::take(&mut self.failed));
        self.decoder = EventDecoder::new();
        let complete = failed || answer.is_complete();
        let answer = ChatCompletion::from(answer);
        let text = match answer.message() {
            Some(message) => {
                self.request.messages.push(message.clone());
                message.content.text().into_owned()
            }
            None => String::new(),
        };
        self.calls = answer.calls().to_vec();
        // Official clients throw at an error, so nothing of the turn is used.
        if failed {
            self.calls.clear();
            return Next::Nothing;
        }
        if !complete {
            return Next::Broken("the stream ended without a finish_reason");
        }
        if !done {
            return Next::Broken("the stream ended without [DONE]");
        }
        if self.calls.is_empty() {
            return question(&text).map_or(Next::Nothing, Next::Question);
        }
        let call = |it: &ToolCall| tool_call(it, &it.function.name, &it.function.arguments);
        Next::Calls(self.calls.iter().filter_map(call).collect())
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        for (call, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let result = ChatMessage::result(call.id, answer.into_text());
            self.request.messages.push(result);
        }
    }
}
