//! A model that says what a test tells it to, in each dialect, and an agent with tools that asks it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Profile, Toolset, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Conversation, HistoryItem, Protocol, Usage};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::{Harness, Setup, Toolkit, Visit};
use futures::stream;
use serde_json::{Value, json};

/// What the model says in one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) reasoning: &'static str,
    pub(crate) text: &'static str,
    /// Ids, names and arguments.
    pub(crate) calls: Vec<(&'static str, &'static str, &'static str)>,
}

impl Said {
    pub(crate) fn text(text: &'static str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    pub(crate) fn calls<const N: usize>(
        calls: [(&'static str, &'static str, &'static str); N],
    ) -> Self {
        Self {
            calls: calls.to_vec(),
            ..Self::default()
        }
    }
}

/// The tokens of each answer.
pub(crate) const USAGE: (u64, u64) = (100, 10);

/// A dialect in which the model can answer.
pub(crate) trait Model: Upstream {
    fn events(said: &Said) -> Vec<Value>;

    /// What must be in the next request, if there was reasoning.
    const REASONING: &'static str;
}

impl Model for OpenAi {
    const REASONING: &'static str = r#""reasoning_content":"Hm.""#;

    fn events(said: &Said) -> Vec<Value> {
        let chunk = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        let mut events = vec![chunk(json!({"role": "assistant"}), Value::Null)];
        if !said.reasoning.is_empty() {
            events.push(chunk(
                json!({"reasoning_content": said.reasoning}),
                Value::Null,
            ));
        }
        if !said.text.is_empty() {
            events.push(chunk(json!({"content": said.text}), Value::Null));
        }
        for (index, (id, name, arguments)) in said.calls.iter().enumerate() {
            let (one, two) = arguments.split_at(arguments.len() / 2);
            let call = json!({"index": index, "id": id, "type": "function", "extra": "kept", "function": {"name": name, "arguments": one}});
            events.push(chunk(json!({"tool_calls": [call]}), Value::Null));
            let rest = json!({"index": index, "function": {"arguments": two}});
            events.push(chunk(json!({"tool_calls": [rest]}), Value::Null));
        }
        let reason = if said.calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        events.push(chunk(json!({}), reason.into()));
        events.push(json!({"choices": [], "usage": {"prompt_tokens": USAGE.0, "completion_tokens": USAGE.1, "total_tokens": 0}}));
        events
    }
}

impl Model for Anthropic {
    const REASONING: &'static str = r#"{"type":"thinking","thinking":"Hm.","signature":"sig"}"#;

    fn events(said: &Said) -> Vec<Value> {
        let mut blocks = Vec::new();
        let delta = |kind: &str, name: &str, text: &str| json!({"type": kind, name: text});
        if !said.reasoning.is_empty() {
            let deltas = vec![
                delta("thinking_delta", "thinking", said.reasoning),
                delta("signature_delta", "signature", "sig"),
            ];
            blocks.push((
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                deltas,
            ));
        }
        if !said.text.is_empty() {
            let deltas = vec![delta("text_delta", "text", said.text)];
            blocks.push((json!({"type": "text", "text": ""}), deltas));
        }
        for (id, name, arguments) in &said.calls {
            let (one, two) = arguments.split_at(arguments.len() / 2);
            let deltas = [one, two].map(|text| delta("input_json_delta", "partial_json", text));
            let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            blocks.push((start, deltas.to_vec()));
        }
        let mut events = vec![json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m",
            "usage": {"input_tokens": USAGE.0, "output_tokens": 1}}})];
        for (index, (start, deltas)) in blocks.into_iter().enumerate() {
            events.push(
                json!({"type": "content_block_start", "index": index, "content_block": start}),
            );
            let deltas = deltas.into_iter();
            events.extend(deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let reason = if said.calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        };
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": USAGE.1}}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

impl Model for Responses {
    const REASONING: &'static str = r#""encrypted_content":"sig""#;

    fn events(said: &Said) -> Vec<Value> {
        let (mut output, mut events) = (
            Vec::new(),
            vec![
                json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
            ],
        );
        if !said.reasoning.is_empty() {
            events.push(json!({"type": "response.reasoning_summary_text.delta", "output_index": output.len(), "summary_index": 0, "delta": said.reasoning}));
            output.push(json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": said.reasoning}], "encrypted_content": "sig"}));
            events.push(json!({"type": "response.output_item.done", "output_index": output.len() - 1, "item": output.last()}));
        }
        if !said.text.is_empty() {
            events.push(json!({"type": "response.output_text.delta", "output_index": output.len(), "content_index": 0, "delta": said.text}));
            output.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": said.text, "annotations": []}]}));
            events.push(json!({"type": "response.output_item.done", "output_index": output.len() - 1, "item": output.last()}));
        }
        for (id, name, arguments) in &said.calls {
            let item = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments, "status": "completed"});
            events.push(json!({"type": "response.output_item.added", "output_index": output.len(), "item": {"type": "function_call", "call_id": id, "name": name, "arguments": ""}}));
            events.push(json!({"type": "response.function_call_arguments.delta", "output_index": output.len(), "delta": arguments}));
            events.push(json!({"type": "response.output_item.done", "output_index": output.len(), "item": item}));
            output.push(item);
        }
        events.push(json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": output,
            "usage": {"input_tokens": USAGE.0, "output_tokens": USAGE.1, "total_tokens": 0}}}));
        events
    }
}

/// The stream of an answer.
fn stream<U: Model>(said: &Said) -> String {
    let frames = U::events(said).into_iter().map(|event| {
        let name = event["type"].as_str();
        let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
        format!("{name}data: {event}\n\n")
    });
    frames.collect::<String>() + "data: [DONE]\n\n"
}

/// The answers that the model has not given yet, and the requests to it.
#[derive(Clone, Default)]
pub(crate) struct Script {
    answers: Arc<Mutex<VecDeque<Said>>>,
    requests: Arc<Mutex<Vec<Bytes>>>,
}

impl Script {
    pub(crate) fn new(answers: impl IntoIterator<Item = Said>) -> Self {
        let script = Self::default();
        script.extend(answers);
        script
    }

    pub(crate) fn extend(&self, answers: impl IntoIterator<Item = Said>) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// Drops the answers that the model has not given.
    pub(crate) fn clear(&self) {
        self.answers.lock().unwrap().clear();
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let requests = requests.iter();
        requests
            .map(|body| String::from_utf8(body.to_vec()).unwrap())
            .collect()
    }

    /// Returns the calls and the results in the last request, a line each.
    pub(crate) fn calls<U: Model>(&self) -> Vec<String> {
        let body = self.requests.lock().unwrap().last().unwrap().clone();
        let (parts, ()) = http::Request::new(()).into_parts();
        let request = U::read(&parts, body).unwrap();
        let lines = request.history().filter_map(|item| match item {
            HistoryItem::Call(call) => Some(format!(
                "{} {} {}",
                call.id.unwrap_or_default(),
                call.name,
                call.arguments
            )),
            HistoryItem::Result(result) => {
                let id = result.call_id.unwrap_or_default();
                let failed = if result.failed { "failed: " } else { "" };
                Some(format!(
                    "{id} = {failed}{}",
                    result.content.replace("The call failed: ", "failed: ")
                ))
            }
            _ => None,
        });
        lines.collect()
    }

    fn post<U: Model>(
        &self,
        body: Bytes,
    ) -> impl futures::Stream<Item = Result<Bytes, Infallible>> + use<U> {
        self.requests.lock().unwrap().push(body);
        let said = self.answers.lock().unwrap().pop_front().expect("an answer");
        let stream = stream::<U>(&said).into_bytes();
        let pieces: Vec<_> = stream
            .chunks(7)
            .map(|piece| Ok(Bytes::copy_from_slice(piece)))
            .collect();
        stream::iter(pieces)
    }
}

/// An agent with tools.
pub(crate) struct Subject<U> {
    tools: Arc<Toolset<'static>>,
    script: Script,
    /// `true` if a request of the same dialect is copied.
    copies: bool,
    dialect: PhantomData<fn() -> U>,
}

#[async_trait]
impl<U: Model, P: Protocol> Agent<P> for Subject<U> {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut prompt = match self.copies {
            true => Profile::default().ask::<U, _>(&request),
            false => U::prompt(&*request, &Profile::default()),
        };
        *U::model(&mut prompt) = "m".to_owned();
        let post = |body| {
            let stream = self.script.post::<U>(body);
            async { Ok(stream) }
        };
        self.tools.answer(prompt, &request, reply, post).await
    }
}

/// The conversation of one front end with the agent.
pub(crate) type Chat<P> = Harness<<P as Toolkit>::FrontEnd>;

/// Begins a conversation, or continues that of a request.
pub(crate) fn chat<U: Model, P: Toolkit>(
    tools: Toolset<'static>,
    script: &Script,
    request: Option<Value>,
) -> Chat<P> {
    let subject = Subject::<U> {
        tools: Arc::new(tools),
        script: script.clone(),
        copies: request.is_some(),
        dialect: PhantomData,
    };
    let mut setup = Setup::default();
    setup.request = request.map(|request| request.to_string().into());
    Harness::new(P::front_end(&setup).unwrap(), subject)
}

/// What is to be true with each front end and each dialect of the model.
pub(crate) trait Case {
    /// The answers of the model.
    fn answers(&self) -> Vec<Said>;

    fn tools(&self) -> Toolset<'static>;

    fn check<U: Model, P: Toolkit>(&self, chat: Chat<P>, script: &Script);
}

/// Checks a case with each front end and each dialect.
pub(crate) fn everywhere(case: impl Case) {
    Everywhere(case).visit_all();
}

struct Everywhere<C>(C);

impl<C: Case> Everywhere<C> {
    fn with<U: Model, P: Toolkit>(&self) {
        let script = Script::new(self.0.answers());
        let chat = chat::<U, P>(self.0.tools(), &script, None);
        self.0.check::<U, P>(chat, &script);
    }
}

impl<C: Case> Visit for Everywhere<C> {
    fn visit<P: Toolkit>(&mut self) {
        self.with::<OpenAi, P>();
        self.with::<Responses, P>();
        self.with::<Anthropic, P>();
    }
}

/// Returns the tokens of some answers.
pub(crate) fn usage(answers: u64) -> Usage {
    Usage::new(answers * USAGE.0, answers * USAGE.1)
}
