//! A server that says what a test wants, in order, and keeps what it was sent.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Server {
    pub(crate) base: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves raw answers one after the other; the last one again and again.
    pub(crate) async fn new(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut answers = answers.into_iter().peekable();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read(&mut stream).await;
                seen.lock().unwrap().push(request);
                let answer = answers.next().unwrap();
                if answers.peek().is_none() {
                    answers = vec![answer.clone()].into_iter().peekable();
                }
                // A client that is gone is not the server's fault.
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { base, requests }
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<serde_json::Value> {
        let requests = self.requests.lock().unwrap();
        let bodies = requests.iter().map(|r| r.split_once("\r\n\r\n").unwrap().1);
        bodies
            .map(|body| serde_json::from_str(body).unwrap())
            .collect()
    }

    /// Returns the request lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests
            .iter()
            .map(|r| r.lines().next().unwrap().to_owned())
            .collect()
    }
}

async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) || count == 0 {
            return text;
        }
    }
}

/// Creates a whole response.
pub(crate) fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}

/// Creates the response of a chat model.
pub(crate) fn chat(text: &str) -> String {
    completion(&serde_json::json!({ "role": "assistant", "content": text }))
}

/// Creates the response of a chat model that calls a tool.
pub(crate) fn call(name: &str, arguments: &str) -> String {
    let function = serde_json::json!({ "name": name, "arguments": arguments });
    let call =
        serde_json::json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
    completion(&serde_json::json!({ "role": "assistant", "tool_calls": [call] }))
}

fn completion(delta: &serde_json::Value) -> String {
    let answered = serde_json::json!({
        "model": "tea-1",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": "stop" }],
    });
    let used = serde_json::json!({
        "choices": [],
        "usage": { "prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7 },
    });
    let body = format!("data: {answered}\n\ndata: {used}\n\ndata: [DONE]\n\n");
    answer("200 OK", "text/event-stream", &body)
}
