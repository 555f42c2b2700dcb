//! A chat model that lets every run execute one program and end.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// The server of the model; it ends with the process.
pub(crate) struct Model {
    pub(crate) base: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The number of calls for each goal.
    calls: Mutex<HashMap<String, usize>>,
    gate: Mutex<bool>,
    changed: Condvar,
}

impl Model {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&shared);
                // A client that is gone is no fault of the model.
                std::thread::spawn(move || answer(&state, stream.unwrap()));
            }
        });
        Self { base, state }
    }

    /// Returns how often the model was called for a goal.
    pub(crate) fn calls(&self, goal: &str) -> usize {
        let calls = self.state.calls.lock().unwrap();
        calls.get(goal).copied().unwrap_or(0)
    }

    pub(crate) fn wait_for_calls(&self, goal: &str, count: usize) {
        for _ in 0..1000 {
            if self.calls(goal) >= count {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the model is not called");
    }

    /// Answers the second call for `goal pause`, which waits until then.
    pub(crate) fn open_gate(&self) {
        *self.state.gate.lock().unwrap() = true;
        self.state.changed.notify_all();
    }
}

fn answer(state: &State, mut stream: TcpStream) -> std::io::Result<()> {
    let body = request(&mut stream)?;
    let messages = body["messages"].as_array().unwrap();
    let prompt = messages[0]["content"].as_str().unwrap();
    let goal = prompt.lines().find_map(|line| line.strip_prefix("1. goal"));
    let goal = format!("goal{}", goal.unwrap());
    let call = {
        let mut calls = state.calls.lock().unwrap();
        let call = calls.entry(goal.clone()).or_default();
        *call += 1;
        *call
    };
    if goal == "goal pause" && call == 2 {
        let open = state.gate.lock().unwrap();
        drop(state.changed.wait_while(open, |open| !*open).unwrap());
    }
    let replied = messages.iter().any(|it| it["role"] == "assistant");
    let command = match replied {
        false => json!({ "name": "execute_python_file", "args": { "file": "effect.py" } }),
        true => json!({ "name": "task_complete", "args": { "reason": goal } }),
    };
    let reply = json!({ "thoughts": { "speak": "So be it." }, "command": command });
    let delta = json!({ "role": "assistant", "content": reply.to_string() });
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": "stop" }] });
    let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all((head + &body).as_bytes())
}

fn request(stream: &mut TcpStream) -> std::io::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
