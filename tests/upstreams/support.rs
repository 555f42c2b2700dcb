//! Answers of models, as each dialect writes them, and agents that relay them.

use copilot_wire::json::{Json, Wire as _};
use copilot_wire::models::{Relay, Upstream};
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::ui_stream::ChatRequest;
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::ag_ui::App;
use copilot_wire_kit::anthropic::AnthropicClient;
use copilot_wire_kit::github::CopilotChat;
use copilot_wire_kit::mcp::McpClient;
use copilot_wire_kit::meilisearch::SearchChat;
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::responses::ResponsesClient;
use copilot_wire_kit::ui_stream::ChatPage;
use copilot_wire_kit::{FrontEnd, Harness, ToolOutcome, Transcript};
use futures::executor::block_on;
use serde_json::{Value, json};

/// The tools that front ends offer.
pub(crate) const TOOLS: [&str; 2] = ["get_tide", "get_wind"];

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stop,
    Length,
    Filter,
}

/// A call: id, name and arguments.
pub(crate) type Call = (String, String, Value);

/// An answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) reasoning: Vec<String>,
    pub(crate) text: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) end: End,
    /// Tokens of the prompt, of them from a cache, of the answer, and of them reasoning.
    pub(crate) usage: [u64; 4],
}

/// Pieces of a text.
fn cut(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<_> = text.chars().collect();
    chars.chunks(size).map(String::from_iter).collect()
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named(value: &Value) -> String {
    format!(
        "event: {}\ndata: {value}\n\n",
        value["type"].as_str().unwrap()
    )
}

/// A chat completion, with arguments in pieces of this size.
pub(crate) fn chat(said: &Said, size: usize) -> String {
    let chunk = |delta: Value, reason: Option<&str>| {
        data(
            &json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "up",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}),
        )
    };
    let mut all = chunk(json!({"role": "assistant", "content": ""}), None);
    for piece in &said.reasoning {
        all += &chunk(json!({"reasoning_content": piece}), None);
    }
    for piece in &said.text {
        all += &chunk(json!({"content": piece}), None);
    }
    for (at, (id, name, arguments)) in said.calls.iter().enumerate() {
        let call = json!({"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
        all += &chunk(json!({"tool_calls": [call]}), None);
        for piece in cut(&arguments.to_string(), size) {
            let call = json!({"index": at, "function": {"arguments": piece}});
            all += &chunk(json!({"tool_calls": [call]}), None);
        }
    }
    let reason = match (said.end, said.calls.is_empty()) {
        (End::Stop, false) => "tool_calls",
        (End::Stop, true) => "stop",
        (End::Length, _) => "length",
        (End::Filter, _) => "content_filter",
    };
    all += &chunk(json!({}), Some(reason));
    let [input, cached, output, reasoning] = said.usage;
    all += &data(
        &json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "up", "choices": [],
        "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning}}}),
    );
    all + "data: [DONE]\n\n"
}

/// A message.
pub(crate) fn messages(said: &Said, size: usize) -> String {
    let [input, cached, output, _] = said.usage;
    let mut all = named(
        &json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "up", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": 1}}}),
    );
    all += &named(&json!({"type": "ping"}));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        all +=
            &named(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            all += &named(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        all += &named(&json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if !said.reasoning.is_empty() {
        let pieces = said.reasoning.iter();
        let mut deltas: Vec<_> = pieces
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": "c2lnbmVk"}));
        block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
        );
    }
    if !said.text.is_empty() {
        let pieces = said.text.iter();
        let deltas = pieces.map(|piece| json!({"type": "text_delta", "text": piece}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for (id, name, arguments) in &said.calls {
        let pieces = cut(&arguments.to_string(), size).into_iter();
        let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            deltas.collect(),
        );
    }
    let reason = match (said.end, said.calls.is_empty()) {
        (End::Stop, false) => "tool_use",
        (End::Stop, true) => "end_turn",
        (End::Length, _) => "max_tokens",
        (End::Filter, _) => "refusal",
    };
    all += &named(
        &json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": output}}),
    );
    all + &named(&json!({"type": "message_stop"}))
}

/// A response.
pub(crate) fn responses(said: &Said, size: usize) -> String {
    let mut all = String::new();
    let mut number = 0;
    let mut event = |mut value: Value| {
        value["sequence_number"] = json!(number);
        number += 1;
        all += &named(&value);
    };
    let response = |status: &str| {
        json!({"id": "resp_up", "object": "response", "created_at": 1, "model": "up",
        "status": status, "error": null, "incomplete_details": null, "output": [], "usage": null})
    };
    event(json!({"type": "response.created", "response": response("in_progress")}));
    let mut output = Vec::new();
    if !said.reasoning.is_empty() {
        let at = output.len();
        let item = |summary: Value| json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"});
        event(
            json!({"type": "response.output_item.added", "output_index": at, "item": item(json!([]))}),
        );
        for piece in &said.reasoning {
            event(
                json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": at,
                "summary_index": 0, "delta": piece}),
            );
        }
        let whole = item(json!([{"type": "summary_text", "text": said.reasoning.concat()}]));
        event(json!({"type": "response.output_item.done", "output_index": at, "item": whole}));
        output.push(whole);
    }
    if !said.text.is_empty() {
        let at = output.len();
        let item = |content: Value| json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content});
        event(
            json!({"type": "response.output_item.added", "output_index": at, "item": item(json!([]))}),
        );
        for piece in &said.text {
            event(
                json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": at,
                "content_index": 0, "delta": piece}),
            );
        }
        let whole =
            item(json!([{"type": "output_text", "text": said.text.concat(), "annotations": []}]));
        event(json!({"type": "response.output_item.done", "output_index": at, "item": whole}));
        output.push(whole);
    }
    for (id, name, arguments) in &said.calls {
        let at = output.len();
        let item = |arguments: &str| {
            json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": id, "name": name,
            "arguments": arguments, "status": "completed"})
        };
        event(json!({"type": "response.output_item.added", "output_index": at, "item": item("")}));
        let arguments = arguments.to_string();
        for piece in cut(&arguments, size) {
            event(
                json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": piece}),
            );
        }
        event(
            json!({"type": "response.output_item.done", "output_index": at, "item": item(&arguments)}),
        );
        output.push(item(&arguments));
    }
    let (kind, reason) = match said.end {
        End::Stop => ("completed", None),
        End::Length => ("incomplete", Some("max_output_tokens")),
        End::Filter => ("incomplete", Some("content_filter")),
    };
    let mut last = response(kind);
    last["output"] = output.into();
    last["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({"reason": reason}));
    let [input, cached, tokens, reasoning] = said.usage;
    last["usage"] = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": tokens, "output_tokens_details": {"reasoning_tokens": reasoning}, "total_tokens": input + tokens});
    event(json!({"type": format!("response.{kind}"), "response": last}));
    all
}

/// An agent that relays the stream of a model.
pub(crate) struct Gateway<U: Upstream> {
    stream: Vec<u8>,
    size: usize,
    dialect: std::marker::PhantomData<fn() -> U>,
}

impl<U: Upstream> Gateway<U> {
    pub(crate) fn new(stream: impl Into<Vec<u8>>, size: usize) -> Self {
        let (stream, dialect) = (stream.into(), std::marker::PhantomData);
        Self {
            stream,
            size,
            dialect,
        }
    }
}

#[async_trait]
impl<U: Upstream, P: Protocol> Agent<P> for Gateway<U> {
    async fn answer(&self, _: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        let mut relay = Relay::<U>::new();
        for piece in self.stream.chunks(self.size) {
            relay.pass(piece, &reply).await?;
        }
        Ok(relay.end(reply)?)
    }
}

/// Asks with a front end, and checks that it understands all of the answer.
pub(crate) fn ask<F: FrontEnd>(
    front: F,
    agent: impl Agent<F::Protocol> + 'static,
) -> Transcript<F::Protocol> {
    block_on(Harness::new(front, agent).prompt("How is the tide?")).unwrap()
}

pub(crate) fn schema() -> Json {
    Json::parse(&br#"{"type":"object"}"#[..]).unwrap()
}

pub(crate) fn openai() -> OpenAiClient {
    let function = |name| copilot_wire::openai::Function::new(name, "").parameters(schema());
    OpenAiClient::new("m").tools(TOOLS.map(function))
}

pub(crate) fn anthropic() -> AnthropicClient {
    let tool = |name| copilot_wire::anthropic::Tool::new(name, "").input_schema(schema());
    AnthropicClient::new("m").tools(TOOLS.map(tool))
}

pub(crate) fn responses_client() -> ResponsesClient {
    let tool = |name| copilot_wire::responses::Tool::function(name, "").parameters(schema());
    ResponsesClient::new("m").tools(TOOLS.map(tool))
}

pub(crate) fn page() -> ChatPage {
    let mut request = ChatRequest::default();
    for name in TOOLS {
        let tool = br#"{"description":"","parameters":{"type":"object"}}"#;
        request.tools.push(name, Json::parse(&tool[..]).unwrap());
    }
    ChatPage::continuing(request)
}

pub(crate) fn app() -> App {
    let mut input = copilot_wire::ag_ui::RunAgentInput::new("", "", []);
    for name in TOOLS {
        input
            .tools
            .push(copilot_wire::ag_ui::Tool::new(name, "", schema()));
    }
    App::continuing(input)
}

pub(crate) fn workspace() -> Workspace {
    TOOLS.iter().fold(Workspace::new(), |workspace, name| {
        let tool = json!({"server_id": "s", "name": name, "description": "", "url": "http://127.0.0.1",
            "input_schema": {"type": "object"}});
        let tool = copilot_wire::openbb::Tool::from_json(tool.to_string().as_bytes()).unwrap();
        workspace.tool(tool, ToolOutcome::text("calm"))
    })
}

pub(crate) fn copilot() -> CopilotChat {
    CopilotChat::new("agent")
}

pub(crate) fn search() -> SearchChat {
    SearchChat::new("default")
}

/// A program that has the agent as a tool.
pub(crate) fn caller() -> McpClient {
    McpClient::new("ask")
}
