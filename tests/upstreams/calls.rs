//! Calls of models: those that a front end has not offered reach none.

use copilot_wire::anthropic::{self, Anthropic, ToolUseBlock};
use copilot_wire::json::Wire as _;
use copilot_wire::openai::{self, OpenAi};
use copilot_wire::protocol::{AgentError, Protocol, SendError};
use copilot_wire::responses::{self as api, Item, Responses};
use copilot_wire::{Agent, Reply, Request, async_trait};
use copilot_wire_kit::Transcript;
use copilot_wire_kit::anthropic::AnthropicClient;
use copilot_wire_kit::responses::ResponsesClient;
use serde_json::{Value, json};

use crate::support::{
    Gateway, anthropic, app, ask, caller, copilot, openai, page, responses_client, search,
    workspace,
};

const IMPOSSIBLE: &str = "The model made a call that is not possible here.";
const INCOMPLETE: &str = "The model made a call that is not complete.";

fn bytes<P: Protocol>(turn: &Transcript<P>) -> String {
    String::from_utf8_lossy(turn.bytes()).into_owned()
}

/// A response with one item, which ends as `end` says.
fn response(item: &Value, status: &str) -> String {
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let response = json!({"id": "r", "status": status, "output": [item]});
    let end = json!({"type": format!("response.{status}"), "response": response});
    format!("data: {done}\n\ndata: {end}\n\n")
}

fn with_tool(tool: &Value) -> ResponsesClient {
    let tool = api::Tool::from_json(tool.to_string().as_bytes()).unwrap();
    ResponsesClient::new("m").tools([tool])
}

#[test]
fn a_responses_client_gets_calls_of_other_tools() {
    let patch = json!({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "rm"});
    let shell =
        json!({"type": "local_shell_call", "call_id": "c", "action": {"command": ["reboot"]}});
    let later = json!({"type": "drone_call", "call_id": "c", "input": "start"});
    for (item, tool) in [
        (&patch, json!({"type": "custom", "name": "patch"})),
        (&shell, json!({"type": "local_shell"})),
        (&later, json!({"type": "drone_2027_01_01"})),
    ] {
        let kind = item["type"].as_str().unwrap();
        let whole = || Gateway::<Responses>::new(response(item, "completed"), 7);
        let cut = || Gateway::<Responses>::new(response(item, "incomplete"), 7);
        let turn = ask(with_tool(&tool), whole());
        assert!(bytes(&turn).contains(kind), "{turn}");
        assert!(!bytes(&turn).contains("not possible"), "{turn}");
        let turn = ask(with_tool(&tool), cut());
        assert!(!bytes(&turn).contains(kind), "{turn}");
        assert!(bytes(&turn).contains(INCOMPLETE), "{turn}");
        let other = json!({"type": "custom", "name": "other"});
        for tool in [other, json!({"type": "function", "name": "patch"})] {
            let turn = ask(with_tool(&tool), whole());
            assert!(bytes(&turn).contains(kind), "{turn}");
        }
        for all in [
            bytes(&ask(openai(), whole())),
            bytes(&ask(anthropic(), whole())),
            bytes(&ask(page(), whole())),
            bytes(&ask(app(), whole())),
            bytes(&ask(workspace(), whole())),
            bytes(&ask(copilot(), whole())),
            bytes(&ask(search(), whole())),
            bytes(&ask(caller(), whole())),
        ] {
            assert!(all.contains(IMPOSSIBLE), "{all}");
        }
    }
    // Tools that run at the server are no calls for a client.
    let search = json!({"type": "web_search_call", "id": "ws", "status": "completed"});
    let turn = ask(
        responses_client(),
        Gateway::<Responses>::new(response(&search, "completed"), 7),
    );
    assert!(bytes(&turn).contains("web_search_call"), "{turn}");
}

/// A call that is none of a function is no call of a function whose name is that of its kind, or nothing.
#[test]
fn no_function_stands_for_a_call_of_another_kind() {
    let shell = json!({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}});
    for name in ["local_shell_call", "local_shell", ""] {
        let tool = json!({"name": name, "input_schema": {"type": "object"}});
        let tool = anthropic::Tool::from_json(tool.to_string().as_bytes()).unwrap();
        let turn = ask(
            AnthropicClient::new("m").tools([tool]),
            Gateway::<Responses>::new(response(&shell, "completed"), 7),
        );
        assert!(turn.calls().is_empty(), "{name}: {turn}");
        assert!(bytes(&turn).contains(IMPOSSIBLE), "{name}: {turn}");
    }
}

#[test]
fn an_anthropic_client_gets_calls_of_typed_tools() {
    let event = |event: Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    let block = json!({"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}});
    let stream = [
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}),
        json!({"type": "message_stop"}),
    ];
    let stream: String = stream.into_iter().map(event).collect();
    let gateway = || Gateway::<Anthropic>::new(stream.as_bytes(), 7);
    let tool =
        |text: &[u8]| AnthropicClient::new("m").tools([anthropic::Tool::from_json(text).unwrap()]);
    let turn = ask(
        tool(br#"{"type":"bash_20250124","name":"bash"}"#),
        gateway(),
    );
    assert_eq!(turn.calls()[0].name, "bash", "{turn}");
    let turn = ask(tool(br#"{"type":"bash_20250124","name":"sh"}"#), gateway());
    assert_eq!(turn.calls()[0].name, "bash", "{turn}");
}

#[test]
fn a_call_in_the_deprecated_form_is_a_call() {
    let stream = |reason: &str| {
        let call = json!({"name": "get_tide", "arguments": "{\"port\":\"Brest\"}"});
        format!(
            "data: {}\n\ndata: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"function_call": call}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        )
    };
    let whole = || Gateway::<OpenAi>::new(stream("function_call"), 7);
    for turn in [
        ask(anthropic(), whole()).calls().to_vec(),
        ask(page(), whole()).calls().to_vec(),
    ] {
        assert_eq!(turn[0].arguments.text(), r#"{"port":"Brest"}"#);
    }
    // A client of the same dialect gets it as it was sent.
    let turn = ask(openai(), whole());
    assert!(
        bytes(&turn).contains(r#""finish_reason":"function_call""#),
        "{turn}"
    );
    assert!(!bytes(&turn).contains("tool_calls"), "{turn}");
    let cut = Gateway::<OpenAi>::new(stream("length"), 7);
    assert!(bytes(&ask(page(), cut)).contains(INCOMPLETE));
}

/// An agent that makes a call in the form of each dialect, before anything else.
struct Caller;

const UNSUPPORTED: SendError = SendError::Unsupported("a tool that the request did not offer");

#[async_trait]
impl Agent<OpenAi> for Caller {
    async fn answer(&self, _: Request<OpenAi>, reply: Reply<OpenAi>) -> Result<(), AgentError> {
        let fragment = openai::ToolCallDelta::start(0, "c", "reboot");
        let mut delta = openai::Delta::default();
        delta.tool_calls.push(fragment);
        assert_eq!(reply.send(delta).await, Err(UNSUPPORTED));
        let call = openai::ToolCall::new("c", "reboot", &json!({})).unwrap();
        Ok(reply.end(openai::Ending::Calls(vec![call]))?)
    }
}

#[async_trait]
impl Agent<Anthropic> for Caller {
    async fn answer(
        &self,
        _: Request<Anthropic>,
        reply: Reply<Anthropic>,
    ) -> Result<(), AgentError> {
        let call = ToolUseBlock::new("c", "reboot", &json!({})).unwrap();
        let start = anthropic::Output::Start(call.clone().into());
        assert_eq!(reply.send(start).await, Err(UNSUPPORTED));
        Ok(reply.end(anthropic::Ending::Calls(vec![call]))?)
    }
}

#[async_trait]
impl Agent<Responses> for Caller {
    async fn answer(
        &self,
        _: Request<Responses>,
        reply: Reply<Responses>,
    ) -> Result<(), AgentError> {
        let call = Item::call("c", "reboot", "{}");
        Ok(reply.end(api::Ending::Calls(vec![call]))?)
    }
}

#[test]
fn no_agent_can_call_what_was_not_offered_and_its_stream_has_its_beginning() {
    let check = |all: String, faults: &[String]| {
        assert!(!all.contains("reboot"), "{all}");
        assert!(all.contains("something went wrong"), "{all}");
        assert_eq!(
            faults,
            [
                "the agent failed: not supported by this front end: a tool that the request did not offer"
            ]
        );
    };
    let turn = ask(openai(), Caller);
    check(bytes(&turn), turn.faults());
    let turn = ask(anthropic(), Caller);
    check(bytes(&turn), turn.faults());
    assert!(bytes(&turn).starts_with("event: message_start"), "{turn}");
    let turn = ask(responses_client(), Caller);
    check(bytes(&turn), turn.faults());
}
