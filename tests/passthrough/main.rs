//! Replies that are the answer of a model's server: what arrives is what was sent.

// Helpers of tests may be blunt too; `clippy.toml` reaches the test functions only.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod broken;
mod counts;
mod documents;
#[path = "../exchange/mod.rs"]
mod exchange;
mod framing;
mod headers;
mod known_servers;
mod odd;
mod profiles;
mod relayed;
mod reports;
mod same;
mod stored;
mod streams;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use copilot_wire::anthropic::Anthropic;
use copilot_wire::models::{Passthrough, Profile, Upstream};
use copilot_wire::openai::OpenAi;
use copilot_wire::protocol::{AgentError, Protocol};
use copilot_wire::responses::Responses;
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use exchange::{send, whole};
use http::{HeaderMap, Response};
use serde_json::{Value, json};
use streams::{CHAT, MESSAGES, RESPONSES};

/// A gateway before a model of one dialect, which is named by the path of its requests.
#[derive(Clone)]
pub(crate) struct Gateway {
    pub(crate) path: &'static str,
    /// The pieces of the answer.
    pub(crate) pieces: Vec<Bytes>,
    /// Set if the model's server stays silent after the pieces.
    pub(crate) hangs: bool,
    /// The headers of the answer.
    pub(crate) headers: HeaderMap,
    /// The bodies of the requests to the model's server.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
}

impl Gateway {
    pub(crate) fn new(path: &'static str, answer: impl AsRef<[u8]>) -> Self {
        Self::pieces(path, answer, usize::MAX)
    }

    pub(crate) fn pieces(path: &'static str, answer: impl AsRef<[u8]>, size: usize) -> Self {
        let pieces = answer.as_ref().chunks(size);
        Self {
            path,
            pieces: pieces.map(Bytes::copy_from_slice).collect(),
            hangs: false,
            headers: HeaderMap::new(),
            asked: Arc::default(),
        }
    }

    pub(crate) fn router(&self) -> Router {
        Router::new().mount_model("m", self.clone()).unwrap()
    }

    /// Asks, and returns the status and the body.
    pub(crate) fn ask(&self, body: &Value) -> (u16, String) {
        ask(&self.router(), self.path, body)
    }

    async fn serve<U: Upstream, P: Protocol>(
        &self,
        request: Request<P>,
        reply: Reply<P>,
    ) -> Result<(), AgentError> {
        let mut passthrough = Passthrough::<U, P>::new(&request, reply);
        let body = passthrough.body(&mut Profile::default().ask::<U, _>(&request));
        let body = serde_json::from_slice(&body).unwrap();
        self.asked.lock().unwrap().push(body);
        passthrough.headers(&self.headers);
        for piece in &self.pieces {
            passthrough.write(piece).await?;
        }
        if self.hangs {
            std::future::pending::<()>().await;
        }
        Ok(passthrough.end().await?)
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Gateway {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        match self.path {
            CHAT => self.serve::<OpenAi, P>(request, reply).await,
            RESPONSES => self.serve::<Responses, P>(request, reply).await,
            _ => self.serve::<Anthropic, P>(request, reply).await,
        }
    }

    fn is_gateway(&self) -> bool {
        true
    }
}

pub(crate) fn ask(router: &Router, path: &str, body: &Value) -> (u16, String) {
    let response: Response<String> =
        send(router, http::Request::post(path), body.to_string()).map(whole);
    (response.status().as_u16(), response.into_body())
}

/// A request of a client that wants the usage.
pub(crate) fn request(path: &str, is_stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": "q"}]);
    match path {
        RESPONSES => json!({"model": "m", "stream": is_stream, "input": "q"}),
        MESSAGES => {
            json!({"model": "m", "stream": is_stream, "max_tokens": 99, "messages": messages})
        }
        _ if is_stream => {
            json!({"model": "m", "stream": true, "messages": messages, "stream_options": {"include_usage": true}})
        }
        _ => json!({"model": "m", "messages": messages}),
    }
}

/// Returns the data of the events of a stream as this crate writes it, without `[DONE]`.
pub(crate) fn data(stream: &str) -> Vec<Value> {
    let lines = stream.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
