//! An OpenAI client.

use std::mem;

use bytes::Bytes;

use crate::json::{Json, WriteError};
use crate::openai::{
    Accumulator, ChatMessage, ChatRequest, Content, Event, OpenAi, Tool, ToolCall,
};
use crate::protocol::{self, EventDecoder, EventError, Notice};
use crate::testing::{Answer, FrontEnd, Heard, Next, post, question};

/// A program with an OpenAI library: it sends messages and tools, and reads chunks.
#[derive(Debug)]
pub struct OpenAiClient {
    request: ChatRequest,
    answer: Accumulator,
    failed: bool,
    done: bool,
    calls: Vec<ToolCall>,
    decoder: EventDecoder<OpenAi>,
}

impl OpenAiClient {
    /// A client that asks for this model.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self::continuing(ChatRequest::new(model, Vec::new()))
    }

    /// A client with the model, tools and options of a request; its messages count as said. It
    /// always asks for a stream, with the usage.
    #[must_use]
    pub fn continuing(request: ChatRequest) -> Self {
        Self {
            request: request.stream(true).include_usage(),
            answer: Accumulator::new(),
            failed: false,
            done: false,
            calls: Vec::new(),
            decoder: EventDecoder::new(),
        }
    }

    /// Instructions, before everything that is said.
    #[must_use]
    pub fn system(mut self, text: impl Into<Content>) -> Self {
        self.request = self.request.instructions(text);
        self
    }

    /// The tools to offer.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<Tool>>) -> Self {
        let tools = tools.into_iter().map(Into::into);
        self.request = self.request.offer(tools);
        self
    }

    /// Any other member of the request.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON.
    pub fn with<T: serde::Serialize + ?Sized>(
        mut self,
        name: &str,
        value: &T,
    ) -> Result<Self, WriteError> {
        self.request = self.request.with(name, value)?;
        Ok(self)
    }
}

impl FrontEnd for OpenAiClient {
    type Protocol = OpenAi;

    const PATH: &'static str = "/v1/chat/completions";

    fn say(&mut self, text: &str) {
        self.request.messages.push(ChatMessage::user(text));
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        self.decoder.next(input)
    }

    fn hear(&mut self, event: &Event) -> Vec<Heard> {
        // What follows the end is not read.
        if self.done || self.failed {
            return Vec::new();
        }
        match event {
            Event::Chunk(chunk) => {
                if self.answer.push(chunk).is_err() {
                    self.failed = true;
                    let notice = Notice::new("the answer is larger than the client takes");
                    return vec![Heard::Error(notice)];
                }
                let mut heard = Vec::new();
                for choice in chunk.choices.iter().filter(|choice| choice.index == 0) {
                    let reasoning = choice.delta.unknown.get("reasoning_content");
                    let reasoning = reasoning.and_then(|json| json.string());
                    heard.extend(reasoning.map(|text| Heard::Reasoning(text.into_owned())));
                    let texts = [&choice.delta.content, &choice.delta.refusal];
                    let texts = texts.into_iter().flatten().filter(|text| !text.is_empty());
                    heard.extend(texts.cloned().map(Heard::Text));
                }
                heard.extend(chunk.usage.as_ref().map(|usage| Heard::Usage(usage.into())));
                heard
            }
            Event::Error(error) => {
                self.failed = true;
                vec![Heard::Error(Notice::new(&error.message))]
            }
            Event::Done | Event::End(_) => {
                self.done = true;
                Vec::new()
            }
        }
    }

    fn next(&mut self) -> Next {
        let answer = mem::take(&mut self.answer).finish();
        let (done, failed) = (mem::take(&mut self.done), mem::take(&mut self.failed));
        self.decoder = EventDecoder::new();
        let complete = answer.is_complete();
        let text = match answer.message() {
            Some(message) => {
                self.request.messages.push(message.clone());
                message.content.text().into_owned()
            }
            None => String::new(),
        };
        self.calls = answer.calls().to_vec();
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
        Next::Calls(self.calls.iter().map(call).collect())
    }

    fn answer(&mut self, answers: Vec<Answer>) {
        for (call, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let result = ChatMessage::result(call.id, answer.into_text());
            self.request.messages.push(result);
        }
    }

    fn decide(&mut self, accepted: bool) {
        self.say(if accepted { "yes" } else { "no" });
    }
}

/// A call as the shared vocabulary has it. Arguments that are no JSON are a string.
fn call(call: &ToolCall) -> protocol::ToolCall {
    protocol::ToolCall::try_from(call).unwrap_or_else(|_| protocol::ToolCall {
        name: call.function.name.clone(),
        arguments: Json::encode(&call.function.arguments).unwrap_or_default(),
    })
}
