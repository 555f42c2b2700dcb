//! A client of a socket, in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake};

use bytes::Bytes;
use copilot_wire::protocol::{
    AgentError, Conversation as _, HistoryItem, Protocol, Purpose, Refusal, Role, ToolCall, User,
};
use copilot_wire::responses::Model;
use copilot_wire::router::socket::{Socket, SocketMessage};
use copilot_wire::{Body, Reply, Request, Router, async_trait, ui_stream};
use futures::StreamExt as _;
use futures::executor::block_on;
use http::Response;
use http::request::Parts;
use serde_json::{Value, json};

/// An agent that tells what it sees, and does what the last word of the user says: `call`, `fail`, `retry`, `long`,
/// `wait`.
#[derive(Default)]
pub(crate) struct Witness {
    pub(crate) runs: AtomicUsize,
    /// The number of agents that were dropped before their end.
    pub(crate) dropped: AtomicUsize,
    pub(crate) gate: tokio::sync::Notify,
}

struct Guard<'a>(&'a AtomicUsize, bool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl<P: Protocol> copilot_wire::Agent<P> for Witness {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let mut guard = Guard(&self.dropped, false);
        if request.purpose() == Purpose::Title {
            return Ok(reply.text(r#"{"title":"Tides"}"#).await?);
        }
        let prompt = match request.history().last() {
            Some(HistoryItem::Message(message)) => message.text.into_owned(),
            _ => String::new(),
        };
        match &*prompt {
            "call" => {
                return Ok(reply.call(ToolCall::new("lookup", &json!({"key": "tide"}))?)?);
            }
            "fail" => return Err(AgentError::new("It is broken.")),
            "late" => {
                reply.text("So far").await?;
                return Err(AgentError::new("It is broken."));
            }
            "retry" => return Err(AgentError::new("Come again.").retryable()),
            "long" => {
                for number in 0..20_000 {
                    reply.text(format!("{number} ")).await?;
                }
            }
            "wait" => {
                reply.text("Begun").await?;
                self.gate.notified().await;
                reply.text(" and done").await?;
            }
            "panic" => panic!("as asked"),
            "who" => {
                let user = request.extensions().get::<User>();
                let user = user.map_or_else(String::new, |user| user.id.to_string());
                reply.text(user).await?;
            }
            "headers" => {
                let mut names: Vec<_> = request.headers().keys().map(|it| it.as_str()).collect();
                names.sort_unstable();
                let line = format!("{} {} {}", request.method(), request.uri(), names.join(","));
                reply.text(line).await?;
            }
            _ => reply.text(seen::<P>(&request)).await?,
        }
        guard.1 = true;
        Ok(())
    }
}

/// Returns the conversation as a request has it.
fn seen<P: Protocol>(request: &Request<P>) -> String {
    let items = request.history().map(|item| match item {
        HistoryItem::Message(message) => {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::System => "system",
                _ => "other",
            };
            format!("{role}:{}", message.text)
        }
        HistoryItem::Call(call) => format!("call:{}", call.name),
        HistoryItem::Result(result) => format!("result:{}", result.content),
        _ => "?".to_owned(),
    });
    format!("[{}]", items.collect::<Vec<_>>().join(";"))
}

/// A router with the agent for Responses at `/v1/responses`, and for pages at `/api/chat`.
pub(crate) fn router() -> (Router, Arc<Witness>) {
    let agent = Arc::new(Witness::default());
    let router = Router::new()
        .mount(Model::new("m"), Arc::clone(&agent))
        .unwrap();
    let router = router
        .mount(ui_stream::Mount::new(), Arc::clone(&agent))
        .unwrap();
    (router, agent)
}

/// The guard of a server whose users have keys: the bearer token is the name.
pub(crate) async fn keys(mut parts: Parts) -> Result<Parts, Refusal> {
    let key = parts
        .headers
        .get("authorization")
        .and_then(|key| key.to_str().ok());
    let Some(user) = key.and_then(|key| key.strip_prefix("Bearer ")) else {
        let status = http::StatusCode::UNAUTHORIZED;
        return Err(Refusal::new(status, "an API key is missing"));
    };
    parts.extensions.insert(User::new(user.to_owned()));
    Ok(parts)
}

/// Returns the head of a handshake.
pub(crate) fn handshake(uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = http::Request::get(uri)
        .header("host", "agents.example")
        .header("connection", "keep-alive, Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

pub(crate) fn open(
    router: &Router,
    uri: &str,
    headers: &[(&str, &str)],
) -> Result<Client, Box<Response<Body>>> {
    let opened = block_on(router.socket(handshake(uri, headers)));
    opened.map(Client).map_err(Box::new)
}

/// A task that knows whether it has to be polled again.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct Client(pub(crate) Socket);

impl Client {
    pub(crate) fn responses(router: &Router) -> Self {
        open(router, "/v1/responses", &[]).unwrap()
    }

    pub(crate) fn chats(router: &Router) -> Self {
        open(router, "/api/chat", &[]).unwrap()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.text(&message.to_string());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0
            .receive(SocketMessage::Text(Bytes::copy_from_slice(text.as_bytes())));
    }

    /// Returns the next message, if there is one now.
    pub(crate) fn next(&mut self) -> Option<SocketMessage> {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        while woken.0.swap(false, Ordering::Relaxed) {
            let waker = Arc::clone(&woken).into();
            let polled = self.0.poll_next_unpin(&mut Context::from_waker(&waker));
            if let Poll::Ready(message) = polled {
                return message;
            }
        }
        None
    }

    /// Returns the messages that there are now; all of them must be JSON.
    pub(crate) fn messages(&mut self) -> Vec<Value> {
        let messages = std::iter::from_fn(|| self.next());
        let texts = messages.map(|message| match message {
            SocketMessage::Text(text) => serde_json::from_slice(&text).unwrap(),
            SocketMessage::Close { code, reason } => json!({"close": code, "reason": reason}),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    /// Sends a message and returns those that answer it.
    pub(crate) fn ask(&mut self, message: &Value) -> Vec<Value> {
        self.send(message);
        self.messages()
    }
}

/// The types of messages.
pub(crate) fn kinds(messages: &[Value]) -> Vec<&str> {
    messages
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect()
}

/// The text of a response.
pub(crate) fn answer(messages: &[Value]) -> &str {
    let last = messages.last().unwrap();
    let text = last["response"]["output"][0]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{last}"))
}

pub(crate) fn id(messages: &[Value]) -> &str {
    messages.last().unwrap()["response"]["id"].as_str().unwrap()
}

pub(crate) fn create(input: impl Into<Value>) -> Value {
    json!({"type": "response.create", "model": "m", "input": input.into()})
}

pub(crate) fn continued(previous: &str, input: impl Into<Value>) -> Value {
    let mut message = create(input);
    message["previous_response_id"] = previous.into();
    message
}
