//! An emulated Anthropic client.

use std::mem;

use bytes::Bytes;

use crate::heard::effects;
use crate::models::too_large;
use crate::{Effect, FrontEnd, Next, ToolOutcome, post, question};
use copilot_wire::anthropic::{
    Anthropic, Content, ContentBlock, Event, Message, MessageParam, MessagesRequest, Tool,
    ToolResultBlock, ToolUseBlock,
};
use copilot_wire::json::Wire as _;
use copilot_wire::protocol::{Completion, EventDecoder, EventError, ToolCall};

/// An emulated program with an Anthropic library: it sends messages and tools, and reads blocks.
#[derive(Debug)]
pub struct AnthropicClient {
    request: MessagesRequest,
    answer: Completion,
    failed: bool,
    calls: Vec<ToolUseBlock>,
    decoder: EventDecoder<Anthropic>,
}

impl AnthropicClient {
    /// Creates a client that requests this model.
    pub fn new(model: impl Into<String>) -> Self {
        Self::continuing(MessagesRequest::new(model, 4096, []))
    }

    /// Creates a client with the model, tools and options of a request; its messages become the history. The client
    /// always requests a stream.
    pub fn continuing(request: MessagesRequest) -> Self {
        Self {
            request: request.stream(true),
            answer: Completion::new(),
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
}

impl FrontEnd for AnthropicClient {
    type Protocol = Anthropic;

    const PATH: &'static str = "/v1/messages";

    fn prompt(&mut self, text: &str) {
        self.request.messages.push(MessageParam::user(text));
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // Everything after the end is ignored.
        if self.failed || self.answer.is_complete() {
            return Vec::new();
        }
        if self.answer.push_event::<Anthropic>(event).is_err() {
            self.failed = true;
            return vec![too_large()];
        }
        self.failed = matches!(event, Event::Error(_));
        effects::<Anthropic>(event)
    }

    fn next(&mut self) -> Next {
        let answer = mem::take(&mut self.answer);
        let failed = mem::take(&mut self.failed);
        self.decoder = EventDecoder::new();
        let complete = answer.is_complete();
        let message = Message::from(answer);
        self.calls.clear();
        let text = message.text();
        let calls: Vec<_> = message.calls().cloned().collect();
        if !message.content.is_empty() {
            let content = Content::Parts(message.content);
            self.request.messages.push(MessageParam::assistant(content));
        }
        if failed {
            return Next::Nothing;
        }
        if !complete {
            return Next::Broken("the stream ended without message_stop");
        }
        if calls.is_empty() {
            return question(&text).map_or(Next::Nothing, Next::Question);
        }
        self.calls = calls;
        Next::Calls(self.calls.iter().map(ToolCall::from).collect())
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        let calls = mem::take(&mut self.calls).into_iter();
        let results = calls.zip(answers).map(|(call, answer)| {
            let failed = matches!(answer, ToolOutcome::Failed(_));
            let mut result = ToolResultBlock::new(call.id, &answer.into_text());
            result.is_error = failed;
            ContentBlock::ToolResult(result)
        });
        let results: Vec<_> = results.collect();
        // The protocol demands all results in one message of the user.
        self.request.messages.push(MessageParam::user(results));
    }
}
