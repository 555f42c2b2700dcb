//! `wire serve`: the gateway.

mod answers;
mod dashboard;
mod faults;
mod settings;
mod upstreams;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use server_tests::{Client, Response};

use crate::program::{run, wire};
use crate::upstream::{Script, stream};

/// The front ends that `wire chat` plays. MCP is asked by hand: its client wants the name of a tool.
pub(crate) const FRONT_ENDS: [&str; 8] = [
    "ag-ui",
    "anthropic",
    "github",
    "meilisearch",
    "openai",
    "openbb",
    "responses",
    "ui-stream",
];

pub(crate) const KEY: &str = "sk-upstream";

/// A running gateway.
pub(crate) struct Gateway {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    log: Receiver<String>,
}

impl Gateway {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let mut command = wire(&[&["serve"], arguments].concat());
        command
            .stdin(Stdio::null())
            .env("UPSTREAM_KEY", KEY)
            .env("USER_KEYS", "ali=sesame,dorothy=poppy")
            .env("NO_PROXY", "127.0.0.1");
        let mut child = command.spawn().unwrap();
        let (sender, log) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut greeting = String::new();
        stdout.read_line(&mut greeting).unwrap();
        let address = greeting.trim().rsplit("http://").next().unwrap();
        let address = address.split('"').next().unwrap();
        let Ok(address) = address.parse() else {
            let _ = child.kill();
            panic!("{greeting:?}: {:?}", log.iter().collect::<Vec<_>>())
        };
        std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        Self {
            child,
            address,
            log,
        }
    }

    /// Starts one in front of an upstream.
    pub(crate) fn before(upstream: SocketAddr, dialect: &str, more: &[&str]) -> Self {
        let url = format!("http://{upstream}");
        let all = [
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &url,
            "--dialect",
            dialect,
        ];
        Self::new(&[&all, more].concat())
    }

    /// Returns the next line of the log. A test that waits this long has failed.
    pub(crate) fn line(&self) -> String {
        self.log.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// Talks as a front end does, and returns what it shows.
    pub(crate) fn chat(&self, protocol: &str, prompt: &str) -> String {
        let url = format!("http://{}", self.address);
        let model = ["--model", "m"];
        let seen = run(
            &[&["chat", &url, "-p", protocol, "-m", prompt][..], &model].concat(),
            "",
        );
        seen.out + &seen.err
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> (Response, String) {
        let mut client = Client::connect(self.address).unwrap();
        let headers = [&["content-type: application/json"], headers].concat();
        client
            .request(method, path, &headers, body.as_bytes())
            .unwrap();
        client.response().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> (Response, String) {
        self.request("GET", path, &[], "")
    }

    /// Asks a model by chat completions, for a whole answer.
    pub(crate) fn ask(&self, model: &str, headers: &[&str]) -> (Response, Value) {
        let body =
            json!({"model": model, "messages": [{"role": "user", "content": "secret words"}]});
        let (head, body) = self.request("POST", "/v1/chat/completions", headers, &body.to_string());
        (head, serde_json::from_str(&body).unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let killed = std::process::Command::new("kill")
            .args(["-s", name, &id])
            .status();
        assert!(killed.unwrap().success());
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn chunk(delta: &Value, reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
    format!("data: {}\n\n", json!({"id": "c", "choices": [choice]}))
}

pub(crate) fn hello() -> Script {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}});
    let text = chunk(&json!({"content": "Hello."}), None) + &chunk(&json!({}), Some("stop"));
    stream(text + &format!("data: {usage}\n\ndata: [DONE]\n\n"))
}

pub(crate) fn calls(calls: &Value, reason: &str) -> Script {
    stream(chunk(&json!({"tool_calls": calls}), None) + &chunk(&json!({}), Some(reason)))
}

pub(crate) fn call(id: &str, index: usize, arguments: &str) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": "get_tide", "arguments": arguments}})
}
