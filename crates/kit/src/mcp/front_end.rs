//! An emulated client that calls a tool.

use std::mem;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, header::ACCEPT};

use crate::heard::effects;
use crate::{Effect, FrontEnd, Next, ToolOutcome, post};
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::mcp::{CallRequest, CallToolResult, Event, Mcp, STATELESS};
use copilot_wire::protocol::{Confirmation, EventDecoder, EventError, find_question};

/// An emulated client, such as a coding client: it calls one tool with the user's messages, shows progress, asks the
/// user the questions of the tool, and continues the conversation that an answer names.
#[derive(Debug)]
pub struct McpClient {
    call: CallRequest,
    /// The number of the next call.
    next: u64,
    result: Option<CallToolResult>,
    failed: bool,
    decoder: EventDecoder<Mcp>,
}

impl McpClient {
    /// Creates a client of version 2026-07-28 that calls this tool, and shows questions as forms.
    pub fn new(tool: impl Into<String>) -> Self {
        Self::continuing(CallRequest::new(0, tool, "").stateless().progress(0))
    }

    /// Creates a client with the tool and the form of a recorded call.
    pub fn continuing(call: CallRequest) -> Self {
        Self {
            next: call.id.as_u64().unwrap_or_default(),
            call,
            result: None,
            failed: false,
            decoder: EventDecoder::new(),
        }
    }

    /// Sets a new number for the next call.
    fn count(&mut self) {
        self.next += 1;
        let number = Json::encode(&self.next).unwrap_or_default();
        self.call.id = number.clone();
        let token = &mut self.call.params.meta.progress_token;
        if !token.is_null() {
            *token = number;
        }
    }
}

/// Returns the conversation handle at the end of an answer, if there is one.
fn handle(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once("call again with `conversation`: \"")?;
    Some(rest.split_once('"')?.0)
}

impl FrontEnd for McpClient {
    type Protocol = Mcp;

    const PATH: &'static str = "/mcp";

    fn prompt(&mut self, text: &str) {
        self.count();
        let handle = self.call.handle();
        let meta = mem::take(&mut self.call.params.meta);
        let tool = mem::take(&mut self.call.params.name);
        let call = CallRequest::new(self.next, tool, text);
        self.call = match handle {
            Some(handle) => call.conversation(&handle),
            None => call,
        };
        self.call.params.meta = meta;
    }

    fn request(&self) -> http::Request<Bytes> {
        let mut request = post(Self::PATH, self.call.to_json());
        let headers = request.headers_mut();
        let accept = "application/json, text/event-stream";
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if self.call.params.meta.version() == STATELESS {
            let name = HeaderValue::from_str(&self.call.params.name);
            let values = [
                ("mcp-protocol-version", HeaderValue::from_static(STATELESS)),
                ("mcp-method", HeaderValue::from_static("tools/call")),
                ("mcp-name", name.unwrap_or(HeaderValue::from_static(""))),
            ];
            headers.extend(values.map(|(name, value)| (HeaderName::from_static(name), value)));
        }
        request
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        // Clients pass the first result to their model.
        if self.result.is_some() || self.failed {
            return Vec::new();
        }
        match event {
            Event::Result(answer) if answer.id == self.call.id => {
                self.result = Some(answer.result.clone());
            }
            Event::Error(failed) if failed.id == self.call.id => self.failed = true,
            Event::Progress(_) => {}
            _ => return Vec::new(),
        }
        effects::<Mcp>(event)
    }

    fn next(&mut self) -> Next {
        self.decoder = EventDecoder::new();
        self.call.params.input_responses = Default::default();
        self.call.params.request_state = String::new();
        if mem::take(&mut self.failed) {
            return Next::Nothing;
        }
        let Some(result) = self.result.take() else {
            return Next::Broken("the stream ended without the result");
        };
        if let Some(question) = result.question() {
            self.call
                .params
                .request_state
                .clone_from(&result.request_state);
            let id = find_question(&result.request_state).map(|(id, _)| id);
            // In a dialog, the text before the first blank line is the title; a question in text has none.
            let text = question.message;
            let (title, message) = text.split_once("\n\n").unwrap_or((&text, ""));
            let id = id.unwrap_or_default();
            return Next::Question(Confirmation::new(id, title, message));
        }
        let text = result.text();
        if let Some(handle) = handle(&text) {
            self.call = mem::take(&mut self.call).conversation(handle);
        }
        crate::question(&text).map_or(Next::Nothing, Next::Question)
    }

    fn answer(&mut self, _: Vec<ToolOutcome>) {}

    fn decide(&mut self, question: &Confirmation, accepted: bool) {
        let state = mem::take(&mut self.call.params.request_state);
        if state.is_empty() {
            return self.prompt(crate::front_end::typed_answer(question, accepted));
        }
        self.count();
        self.call = mem::take(&mut self.call).respond(state, accepted);
    }
}
