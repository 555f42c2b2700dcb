//! Ollama's clients in tests and tools.

use std::mem;

use bytes::Bytes;
use copilot_wire::json::{Json, Wire as _};
use copilot_wire::protocol::{EventDecoder, EventError, Notice, Protocol as _, ToolCall, Usage};
use copilot_wire::router::Mount;
use copilot_wire_kit::check::{Exam, Judge, Rule, Stream, Trial, rules};
use copilot_wire_kit::{
    BoxError, Effect, FrontEnd, Next, Node, Sample, Setup, Summary, ToolOutcome, Toolkit, post,
    question,
};
use http::HeaderMap;
use serde_json::Value;

use super::{ChatMessage, ChatRequest, Event, Model, Ollama, ToolUse};

/// A program with Ollama's library: it sends messages and tools, and reads lines.
#[derive(Debug)]
pub struct OllamaClient {
    request: ChatRequest,
    /// The answer so far.
    said: ChatMessage,
    failed: bool,
    calls: Vec<ToolUse>,
    decoder: EventDecoder<Ollama>,
}

impl OllamaClient {
    /// Creates a client that asks for this model.
    pub fn new(model: impl Into<String>) -> Self {
        Self::continuing(ChatRequest::new(model, Vec::new()))
    }

    /// Creates a client with the model, tools and options of a request; its messages become the history.
    pub fn continuing(mut request: ChatRequest) -> Self {
        request.stream = Some(true);
        Self {
            request,
            said: ChatMessage::default(),
            failed: false,
            calls: Vec::new(),
            decoder: EventDecoder::new(),
        }
    }
}

impl FrontEnd for OllamaClient {
    type Protocol = Ollama;

    const PATH: &'static str = "/api/chat";

    fn prompt(&mut self, text: &str) {
        self.request.messages.push(ChatMessage::new("user", text));
    }

    fn request(&self) -> http::Request<Bytes> {
        post(Self::PATH, self.request.to_json())
    }

    fn decode(&mut self, input: &mut &[u8]) -> Result<Option<Event>, EventError> {
        Ok(self.decoder.next(input)?.cloned())
    }

    fn receive(&mut self, event: &Event) -> Vec<Effect> {
        if let Some(error) = &event.error {
            self.failed = true;
            return vec![Effect::Error(Notice::new(error))];
        }
        let ChatMessage {
            content, thinking, ..
        } = &event.message;
        self.said.content.push_str(content);
        self.said.thinking.push_str(thinking);
        for call in &event.message.tool_calls {
            self.said.tool_calls.push(call.clone());
        }
        let mut effects = Vec::new();
        if !thinking.is_empty() {
            effects.push(Effect::Reasoning(thinking.clone()));
        }
        if !content.is_empty() {
            effects.push(Effect::Text(content.clone()));
        }
        if let (Some(input), Some(output)) = (event.prompt_eval_count, event.eval_count) {
            effects.push(Effect::Usage(Usage::new(input, output)));
        }
        effects
    }

    fn next(&mut self) -> Next {
        let mut decoder = mem::take(&mut self.decoder);
        let ended = decoder.end();
        // The event of a last line without a line end.
        while let Ok(Some(event)) = decoder.next(&mut &b""[..]) {
            let _ = self.receive(&event.clone());
        }
        let mut said = mem::take(&mut self.said);
        said.role = "assistant".into();
        let asked = question(&said.content);
        self.calls = said.tool_calls.iter().cloned().collect();
        self.request.messages.push(said);
        if mem::take(&mut self.failed) {
            self.calls.clear();
            return Next::Nothing;
        }
        if ended.is_err() {
            return Next::Broken("the stream ended without `done`");
        }
        if self.calls.is_empty() {
            return asked.map_or(Next::Nothing, Next::Question);
        }
        let calls = self.calls.iter().filter_map(|call| {
            let arguments = call.function.arguments.clone().unwrap_or_default();
            ToolCall::new(&*call.function.name, &arguments).ok()
        });
        Next::Calls(calls.collect())
    }

    fn answer(&mut self, answers: Vec<ToolOutcome>) {
        for (call, answer) in mem::take(&mut self.calls).into_iter().zip(answers) {
            let mut result = ChatMessage::new("tool", answer.into_text());
            result.tool_name = Some(call.function.name);
            result.tool_call_id = call.id;
            self.request.messages.push(result);
        }
    }
}

rules! {
    DONE = Error "ollama/done",
        "the last line has `done`, or is an error, and no other line has",
        "the JavaScript client throws at a stream without it, and stops reading there",
        "write one line with `done: true` behind everything else";
    MESSAGE = Error "ollama/message",
        "every line but an error has `model`, `created_at` and a `message` with `role` and `content`",
        "the Python client raises an error for a line without a message, providers of the AI SDK for one without a time",
        "write all of them in every line";
    WHOLE = Error "ollama/whole",
        "with `stream: false` the answer is one object with all members of a line, and `done`",
        "clients read the answer from it",
        "write one object, with all pieces of the answer";
}

/// The members of every line that are text.
const MEMBERS: [&str; 4] = ["/model", "/created_at", "/message/role", "/message/content"];

impl Toolkit for Ollama {
    const TITLE: &'static str = "Programs with Ollama's clients";

    const SAMPLE: Sample = Sample::new(
        r#"{"model":"agent","messages":[{"role":"user","content":"hi"}]}"#,
        &["/api/chat", "/api/tags", "/api/show", "/api/version"],
        &[],
    );

    const RULES: &'static [&'static [&'static Rule]] = &[RULES];

    type FrontEnd = OllamaClient;

    fn front_end(setup: &Setup<'_>) -> Result<OllamaClient, BoxError> {
        let mut client = match &setup.request {
            Some(body) => OllamaClient::continuing(ChatRequest::from_json(body)?),
            None => OllamaClient::new("agent"),
        };
        if let Some(model) = &setup.model {
            client.request.model.clone_from(model);
        }
        Ok(client)
    }

    fn describe(event: &Event) -> Summary {
        let message = &event.message;
        if let Some(error) = &event.error {
            return Summary::new("failed", error).failed();
        }
        if event.done == Some(true) {
            return Summary::new("done", &message.content).last();
        }
        if let Some(call) = message.tool_calls.iter().next() {
            let arguments = call.function.arguments.as_ref();
            let arguments = arguments.map_or("{}", Json::text);
            return Summary::new("call", format!("{} {arguments}", call.function.name));
        }
        match message.thinking.is_empty() {
            true => Summary::new("text", &message.content),
            false => Summary::new("reasoning", &message.thinking),
        }
    }

    fn native(request: &ChatRequest, _: &HeaderMap) -> Node {
        Node::object([
            ("model", request.model.clone().into()),
            ("stream", (Self::EXTRAS.is_stream)(request).into()),
            ("think", request.think.clone().into()),
            ("format", request.format.clone().into()),
            ("options", request.options.clone().into()),
        ])
    }

    fn to_body(request: &ChatRequest) -> Option<Bytes> {
        Some(request.to_json())
    }

    fn mount() -> impl Mount<Protocol = Self> {
        Model::new("agent")
    }

    async fn check(exam: &mut Exam<'_>) {
        let path = exam.path().unwrap_or(OllamaClient::PATH);
        let sample = Trial::new(None, "the sample", Self::SAMPLE.request);
        let sample = match exam.model() {
            Some(model) => sample.model(model),
            None => sample,
        };
        exam.plan(2);
        if let Some(exchange) = exam.ask_agent(path, &sample).await {
            if let Some(stream) = exam.answered(&sample, &exchange) {
                Self::judge(exam.judge(), &stream);
            }
        }
        let mut whole = sample.json();
        if let Some(whole) = whole.as_object_mut() {
            whole.insert("stream".to_owned(), false.into());
        }
        let whole = Trial::new(None, "an answer without a stream", whole.to_string());
        if let Some(exchange) = exam.ask_agent(path, &whole).await {
            let answer = exchange.json();
            let is_done = answer.get("done") == Some(&Value::Bool(true));
            let is_text = |path: &str| answer.pointer(path).is_some_and(Value::is_string);
            let holds = is_done && MEMBERS.into_iter().all(is_text);
            let evidence = exchange.evidence();
            exam.judge().expect(&WHOLE, holds, &exchange.name, evidence);
        }
        exam.rest(path, &sample.body).await;
    }

    fn judge(judge: &mut Judge, stream: &Stream<'_>) {
        let at = &stream.exchange.name;
        let mut ended = false;
        for block in &stream.blocks {
            let Some(event) = &block.event else { continue };
            judge.expect(&DONE, !ended, at, block.raw);
            let line: Value = serde_json::from_str(event.data()).unwrap_or_default();
            let is_text = |path: &str| line.pointer(path).is_some_and(Value::is_string);
            let failed = is_text("/error");
            ended = failed || line.get("done") == Some(&Value::Bool(true));
            let whole = failed || MEMBERS.into_iter().all(is_text);
            judge.expect(&MESSAGE, whole, at, block.raw);
        }
        judge.expect(&DONE, ended, at, &stream.exchange.body);
    }
}
