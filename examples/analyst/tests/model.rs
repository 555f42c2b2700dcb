//! With a model: it is given the whole conversation, and may call what the front end offers.
// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use analyst::{Analyst, Model};
use copilot_wire::openai::Function;
use copilot_wire::openbb::{Tier, Widget};
use copilot_wire::{Body, Router};
use copilot_wire_kit::openai::OpenAiClient;
use copilot_wire_kit::openbb::Workspace;
use copilot_wire_kit::{Harness, ToolOutcome};
use futures_util::StreamExt;
use serde_json::{Value, json};

/// A model that sends these streams, one a request, and returns the requests.
fn model(streams: Vec<String>) -> (Model, JoinHandle<Vec<Value>>) {
    server("200 OK\r\ncontent-type: text/event-stream", streams)
}

/// A model that refuses one request with this body.
fn refusing(body: String) -> (Model, JoinHandle<Vec<Value>>) {
    server("400 Bad Request", vec![body])
}

fn server(status: &'static str, streams: Vec<String>) -> (Model, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let answer = |stream: String| {
            let (mut socket, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(socket.try_clone().unwrap());
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n");
            socket.write_all(head.as_bytes()).unwrap();
            socket.write_all(stream.as_bytes()).unwrap();
            serde_json::from_slice(&body).unwrap()
        };
        streams.into_iter().map(answer).collect()
    });
    let model = Model::new(&base, None, "m".into()).unwrap();
    (model, served)
}

fn stream(chunks: impl IntoIterator<Item = Value>) -> String {
    let chunks = chunks.into_iter().map(|delta| {
        let reason = delta.get("content").map_or("tool_calls", |_| "stop");
        let delta = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        format!("data: {delta}\n\n")
    });
    chunks.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn call(index: usize, name: &str) -> Value {
    let function = json!({"name": name, "arguments": "{}"});
    json!({"index": index, "id": format!("c{index}"), "type": "function", "function": function})
}

#[tokio::test]
async fn the_model_sees_every_call_and_its_result() {
    let calls = json!({"tool_calls": [call(0, "get_tide"), call(1, "get_wind")]});
    let answer = json!({"content": "Calm."});
    let (model, served) = model(vec![
        stream([calls]),
        stream([answer.clone()]),
        stream([answer]),
    ]);
    let tools = ["get_tide", "get_wind"].map(|name| Function::new(name, ""));
    let client = OpenAiClient::new("analyst").tools(tools);
    let mut harness = Harness::new(client, Analyst::new(Some(model)));
    let turn = harness.prompt("How is the sea?").await.unwrap();
    assert_eq!(turn.calls().len(), 2, "{turn}");
    let results = [ToolOutcome::text("low"), ToolOutcome::text("none")];
    let turn = harness.answer(results).await.unwrap();
    assert_eq!(turn.text(), "Calm.");
    harness.prompt("And tomorrow?").await.unwrap();

    let requests = served.join().unwrap();
    assert_eq!(requests[0]["tools"].as_array().unwrap().len(), 2);
    let messages = requests[2]["messages"].as_array().unwrap();
    let said: Vec<_> = messages
        .iter()
        .map(|message| {
            (
                message["role"].as_str().unwrap(),
                message["content"].as_str(),
            )
        })
        .collect();
    let expected = [
        ("user", Some("How is the sea?")),
        ("assistant", None),
        ("tool", Some("low")),
        ("tool", Some("none")),
        ("assistant", Some("Calm.")),
        ("user", Some("And tomorrow?")),
    ];
    assert_eq!(said[1..], expected);
    let names: Vec<_> = messages[2]["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(names.len(), 2);
}

#[tokio::test]
async fn the_data_of_a_widget_reaches_the_model() {
    let (model, served) = model(vec![stream([json!({"content": "High."})])]);
    let widget = Widget::new("Sample", "tides", "Tides", "");
    let rows = ToolOutcome::data(&json!([{"day": "Mon", "metres": 4.2}])).unwrap();
    let front = Workspace::new().widget(Tier::Primary, widget, rows);
    let mut harness = Harness::new(front, Analyst::new(Some(model)));
    harness.prompt("How high is the tide?").await.unwrap();
    let turn = harness.answer_itself().await.unwrap();
    assert_eq!(turn.text(), "High.");
    assert!(turn.to_string().contains("citation: Tides"), "{turn}");
    let requests = served.join().unwrap();
    let messages = requests[0]["messages"].to_string();
    assert!(messages.contains("metres"), "{messages}");
}

/// Posts a small request for a stream, and returns the status and the error.
async fn failure(model: Model, path: &str) -> (u16, Value) {
    let router = Router::new()
        .mount_model("analyst", Analyst::new(Some(model)))
        .unwrap();
    let message = json!([{"role": "user", "content": "hi"}]);
    let body = json!({"stream": true, "max_tokens": 9, "messages": message, "input": "hi"});
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(Body::full(body.to_string()))
        .unwrap();
    let (head, body) = router.handle(request).await.into_parts();
    assert_eq!(head.headers["x-should-retry"], "false");
    let frames: Vec<_> = body.map(Result::unwrap).collect().await;
    let body: Value = serde_json::from_slice(&frames.concat()).unwrap();
    (head.status.as_u16(), body["error"].clone())
}

/// After 400 Claude Code tries again with fewer features.
fn final_status(path: &str) -> u16 {
    match path.ends_with("/messages") {
        true => 424,
        false => 400,
    }
}

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

#[tokio::test]
async fn a_model_that_cannot_be_reached_fails_the_turn_for_good() {
    for path in PATHS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        drop(listener);
        let model = Model::new(&base, None, "m".into()).unwrap();
        let (status, error) = failure(model, path).await;
        assert_eq!(status, final_status(path), "{path}");
        assert_eq!(error["message"], "The model's server did not answer.");
    }
}

#[tokio::test]
async fn a_model_that_refuses_fails_the_turn_for_good() {
    for (error, message) in [
        (
            r#"{"error":{"message":"9 tokens","code":"context_length_exceeded"}}"#,
            "The prompt is too long for the model.",
        ),
        ("no such model", "The model's server refused the request."),
    ] {
        for path in PATHS {
            let (model, served) = refusing(error.to_owned());
            let (status, error) = failure(model, path).await;
            let expected = match message.starts_with("The prompt") {
                true => 400,
                false => final_status(path),
            };
            assert_eq!((status, &error["message"]), (expected, &json!(message)));
            served.join().unwrap();
        }
    }
}
