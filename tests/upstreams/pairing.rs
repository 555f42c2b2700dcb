//! Calls and their results, wherever a client puts them: in the request to a model each call is followed by its result.

use copilot_wire::ag_ui::AgUi;
use copilot_wire::anthropic::{Anthropic, MessagesRequest};
use copilot_wire::json::Wire as _;
use copilot_wire::openai::{ChatRequest, OpenAi};
use copilot_wire::openbb::OpenBb;
use copilot_wire::protocol::{Conversation, Protocol};
use copilot_wire::responses::{Responses, ResponsesRequest};
use copilot_wire::ui_stream::UiStream;
use serde_json::{Value, json};

/// Something in a conversation.
#[derive(Clone, Copy)]
enum It {
    User(&'static str),
    Said(&'static str),
    /// The id, and the value of the argument.
    Call(&'static str, u8),
    Result(&'static str, &'static str),
}

use It::{Call, Result, Said, User};

/// The orders of clients, and what a model reads: `id name(argument)=result`, and texts with their roles.
const ORDERS: &str = r"user q | call a 1 | said m | result a r => user q | a f(1)=r | assistant m
user q | call a 1 | result a r | call a 1 | result a r | user n => user q | a f(1)=r | user n
user q | call a 1 | call a 1 | result a r | user n => user q | a f(1)=r | user n
user q | call a 1 | result a r | result a r | user n => user q | a f(1)=r | user n
user q | call a 1 | result a r | result a more | user n => user q | a f(1)=r\n\nmore | user n
user q | call a 1 | call b 2 | result b s | result a r | user n => user q | a f(1)=r | b f(2)=s | user n
user q | result a r | call a 1 | user n => user q | a f(1)=r | user n
user q | call a 1 | user n | result a r | user o => user q | a f(1)=r | user n | user o
# Providers reuse ids: in the next step, and in the next turn.
user q | call a 1 | result a r | call a 2 | result a s | user n => user q | a f(1)=r | unnamed_1 f(2)=s | user n
user q | call a 1 | user n | call a 1 | result a s | user o => user q | a f(1)=The call has no result. | user n | unnamed_1 f(1)=s | user o
user q | call a 1 | result a r | call a 1 | result a s | user n => user q | a f(1)=r | unnamed_1 f(1)=s | user n
user q | result a r | result a r | user n => user q | a unknown_tool()=r | user n";

fn orders() -> impl Iterator<Item = (Vec<It>, Vec<&'static str>)> {
    let lines = ORDERS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (items, expected) = line.split_once(" => ").unwrap();
        let items = items
            .split(" | ")
            .map(|item| match item.split(' ').collect::<Vec<_>>()[..] {
                ["user", text] => User(text),
                ["said", text] => Said(text),
                ["call", id, x] => Call(id, x.parse().unwrap()),
                ["result", id, text] => Result(id, text),
                _ => panic!("{line}"),
            });
        let expected = expected
            .split(" | ")
            .map(|text| &*text.replace("\\n", "\n").leak());
        (items.collect(), expected.collect())
    })
}

fn chat(items: &[It]) -> Value {
    let message = |it: &It| match *it {
        User(text) => json!({"role": "user", "content": text}),
        Said(text) => json!({"role": "assistant", "content": text}),
        Call(id, x) => {
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "f", "arguments": format!("{{\"x\":{x}}}")}}]})
        }
        Result(id, text) => json!({"role": "tool", "tool_call_id": id, "content": text}),
    };
    json!({"model": "m", "messages": items.iter().map(message).collect::<Vec<_>>()})
}

fn ag_ui(items: &[It]) -> Value {
    let mut body = chat(items);
    for (at, message) in body["messages"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        message["id"] = at.to_string().into();
        if let Some(id) = message.get("tool_call_id").cloned() {
            message["toolCallId"] = id;
        }
        if let Some(calls) = message.get("tool_calls").cloned() {
            message["toolCalls"] = calls;
        }
    }
    json!({"threadId": "t", "runId": "r", "state": {}, "messages": body["messages"], "tools": [], "context": [],
        "forwardedProps": {}})
}

fn responses(items: &[It]) -> Value {
    let item = |it: &It| match *it {
        User(text) => json!({"type": "message", "role": "user", "content": text}),
        Said(text) => json!({"type": "message", "role": "assistant", "content": text}),
        Call(id, x) => {
            json!({"type": "function_call", "call_id": id, "name": "f", "arguments": format!("{{\"x\":{x}}}")})
        }
        Result(id, text) => json!({"type": "function_call_output", "call_id": id, "output": text}),
    };
    json!({"model": "m", "input": items.iter().map(item).collect::<Vec<_>>()})
}

fn messages(items: &[It]) -> Value {
    let message = |it: &It| match *it {
        User(text) => json!({"role": "user", "content": text}),
        Said(text) => json!({"role": "assistant", "content": text}),
        Call(id, x) => {
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {"x": x}}]})
        }
        Result(id, text) => {
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]})
        }
    };
    json!({"model": "m", "max_tokens": 1, "messages": items.iter().map(message).collect::<Vec<_>>()})
}

/// Returns the request of a dialect for this body of a front end.
fn asked<P: Protocol, T>(body: &Value, of: impl Fn(&P::Request) -> T) -> T
where
    P::Request: Conversation,
{
    let mut head = http::Request::post("/").body(()).unwrap().into_parts().0;
    let json = http::HeaderValue::from_static("application/json");
    head.headers.insert("content-type", json);
    of(&P::read(&head, body.to_string().into()).unwrap())
}

fn line(call: &Value, x: &Value, result: &Value) -> String {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let x = if x.is_null() {
        String::new()
    } else {
        x.to_string()
    };
    format!(
        "{} {}({x})={}",
        text(&call[0]),
        text(&call[1]),
        text(result)
    )
}

fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

/// Returns what a model reads in a request of chat completions.
fn read_chat(request: &ChatRequest) -> Vec<String> {
    let json = value(&request.to_json());
    let mut said = Vec::new();
    let mut results = json["messages"].as_array().unwrap().iter().peekable();
    while let Some(message) = results.next() {
        let text = message["content"].as_str().unwrap_or_default();
        if !text.is_empty() {
            said.push(format!("{} {text}", message["role"].as_str().unwrap()));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let result = results.next().unwrap();
            assert_eq!(result["tool_call_id"], call["id"], "{json:#}");
            let function = &call["function"];
            let arguments = value(function["arguments"].as_str().unwrap().as_bytes());
            let name = json!([call["id"], function["name"]]);
            said.push(line(&name, &arguments["x"], &result["content"]));
        }
    }
    said
}

fn read_responses(request: &ResponsesRequest) -> Vec<String> {
    let json = value(&request.to_json());
    let items = json["input"].as_array().unwrap();
    let output = |call: &Value| {
        let is_it =
            |it: &&Value| it["type"] == "function_call_output" && it["call_id"] == call["call_id"];
        let mut found = items.iter().filter(is_it);
        let output = found.next().unwrap()["output"].clone();
        assert!(found.next().is_none(), "{json:#}");
        output
    };
    let of = |item: &Value| match item["type"].as_str().unwrap() {
        "message" => Some(format!(
            "{} {}",
            item["role"].as_str().unwrap(),
            item["content"].as_str().unwrap()
        )),
        "function_call" => {
            let arguments = value(item["arguments"].as_str().unwrap().as_bytes());
            let name = json!([item["call_id"], item["name"]]);
            Some(line(&name, &arguments["x"], &output(item)))
        }
        _ => None,
    };
    items.iter().filter_map(of).collect()
}

fn read_messages(request: &MessagesRequest) -> Vec<String> {
    let json = value(&request.to_json());
    let messages = json["messages"].as_array().unwrap();
    let blocks = |message: &Value| match &message["content"] {
        Value::Array(blocks) => blocks.clone(),
        text => vec![json!({"type": "text", "text": text})],
    };
    let mut said = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for block in blocks(message) {
            match block["type"].as_str().unwrap() {
                "text" => said.push(format!(
                    "{} {}",
                    message["role"].as_str().unwrap(),
                    block["text"].as_str().unwrap()
                )),
                "tool_use" => {
                    let next = blocks(&messages[at + 1]);
                    let result = next
                        .iter()
                        .find(|it| it["tool_use_id"] == block["id"])
                        .unwrap();
                    let name = json!([block["id"], block["name"]]);
                    said.push(line(&name, &block["input"]["x"], &result["content"]));
                }
                _ => {}
            }
        }
    }
    said
}

fn check<P: Protocol>(body: &Value, expected: &[&str])
where
    P::Request: Conversation,
{
    let name = std::any::type_name::<P>();
    let chat = asked::<P, _>(body, |it| read_chat(&ChatRequest::from_conversation(it)));
    assert_eq!(chat, expected, "{name}, chat completions: {body:#}");
    let items = asked::<P, _>(body, |it| {
        read_responses(&ResponsesRequest::from_conversation(it))
    });
    assert_eq!(items, expected, "{name}, Responses: {body:#}");
    let blocks = asked::<P, _>(body, |it| {
        read_messages(&MessagesRequest::from_conversation(it))
    });
    assert_eq!(blocks, expected, "{name}, Messages: {body:#}");
}

#[test]
fn each_call_is_followed_by_its_result_wherever_the_client_puts_it() {
    for (items, expected) in orders() {
        check::<OpenAi>(&chat(&items), &expected);
        check::<AgUi>(&ag_ui(&items), &expected);
        check::<Responses>(&responses(&items), &expected);
        check::<Anthropic>(&messages(&items), &expected);
    }
}

#[test]
fn parts_of_a_page_that_repeat_a_call_are_one() {
    let part = |id: &str| json!({"type": "tool-f", "toolCallId": id, "state": "output-available", "input": {"x": 1}, "output": "r"});
    let of = |parts: &Value| {
        json!({"id": "c", "messages": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "q"}]},
        {"id": "2", "role": "assistant", "parts": parts},
        {"id": "3", "role": "user", "parts": [{"type": "text", "text": "n"}]}]})
    };
    let expected = ["user q", "a f(1)=r", "user n"];
    check::<UiStream>(&of(&json!([part("a"), part("a")])), &expected);
}

/// The results of widgets belong to the sources that the Workspace names, whatever their order, and a result that is
/// repeated is one.
#[test]
fn results_of_a_workspace_belong_to_their_sources() {
    let source = |id: &str, x: u8| json!({"origin": "o", "id": id, "input_args": {"x": x}});
    let items = |text: &str| json!({"items": [{"content": text}]});
    let call = json!({"function": "get_widget_data",
        "input_arguments": {"data_sources": [source("a", 1), source("b", 2), source("a", 3)]}});
    let orders = [
        json!([
            [source("a", 1), "r"],
            [source("b", 2), "s"],
            [source("a", 3), "t"]
        ]),
        json!([
            [source("b", 2), "s"],
            [source("a", 3), "t"],
            [source("a", 1), "r"]
        ]),
        json!([
            [source("b", 2), "s"],
            [source("a", 1), "r"],
            [source("a", 3), "t"]
        ]),
    ];
    for order in orders {
        let order = order.as_array().unwrap();
        let sources: Vec<_> = order.iter().map(|it| &it[0]).collect();
        let data: Vec<_> = order
            .iter()
            .map(|it| items(it[1].as_str().unwrap()))
            .collect();
        let result = json!({"role": "tool", "function": "get_widget_data",
            "input_arguments": {"data_sources": sources}, "data": data});
        for repeated in [1, 2] {
            let mut messages = vec![
                json!({"role": "human", "content": "q"}),
                json!({"role": "ai", "content": call.to_string()}),
            ];
            messages.extend(std::iter::repeat_n(result.clone(), repeated));
            let body = json!({"messages": messages, "widgets": {"primary": [
                {"origin": "o", "widget_id": "a", "name": "A"}, {"origin": "o", "widget_id": "b", "name": "B"}]}});
            let expected = [
                "user q",
                "call_1_0 openbb_widget_a(1)=r",
                "call_1_1 openbb_widget_b(2)=s",
                "call_1_2 openbb_widget_a(3)=t",
            ];
            check::<OpenBb>(&body, &expected);
        }
    }
}
