//! Helpers of the tests of conversations.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::protocol::{
    AgentError, Conversation as _, Environment, HistoryItem, Protocol, Refusal, Role, ToolCall,
    User,
};
use copilot_wire::responses::Model;
use copilot_wire::{Reply, Request, Router, async_trait};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::exchange;

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// A clock that is set.
#[derive(Clone)]
pub(crate) struct Clock(Arc<Mutex<SystemTime>>);

impl Environment for Clock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(SystemTime::UNIX_EPOCH + HOUR)))
    }

    pub(crate) fn advance(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

/// An agent that tells what it sees. It calls the tool `lookup` when the user says `call`, and fails when the user
/// says `fail`.
#[derive(Default)]
pub(crate) struct Witness(pub(crate) AtomicUsize);

#[async_trait]
impl<P: Protocol> copilot_wire::Agent<P> for Witness {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let last = request.history().last().map(|item| match item {
            HistoryItem::Message(message) => message.text.into_owned(),
            _ => String::new(),
        });
        match last.as_deref() {
            Some("call") => {
                reply.status("Looking it up").await?;
                return Ok(reply.call(ToolCall::new("lookup", &json!({"key": "tide"}))?)?);
            }
            Some("fail") => {
                reply.text("So far").await?;
                return Err(AgentError::new("it is broken"));
            }
            _ => {}
        }
        Ok(reply.text(seen::<P>(&request)).await?)
    }
}

/// Returns the conversation as a request has it, and its tools.
pub(crate) fn seen<P: Protocol>(request: &Request<P>) -> String {
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
        HistoryItem::Call(call) => format!("call:{}({})", call.name, call.arguments),
        HistoryItem::Result(result) => format!("result:{}", result.content),
        _ => "?".to_owned(),
    });
    let tools: Vec<_> = request.tools().map(|tool| tool.name.into_owned()).collect();
    format!(
        "[{}|{}]",
        items.collect::<Vec<_>>().join(";"),
        tools.join(",")
    )
}

/// Mounts an agent as the model `m`, for Responses and Messages, with a store in memory.
pub(crate) fn router() -> Router {
    with(Conversations::single_user(MemoryConversationStore::new()))
}

pub(crate) fn with(conversations: Conversations) -> Router {
    bare().conversations(conversations)
}

/// A router without a store.
pub(crate) fn bare() -> Router {
    let agent = Arc::new(Witness::default());
    let router = Router::new()
        .mount(Model::new("m"), Arc::clone(&agent))
        .unwrap();
    let messages = copilot_wire::anthropic::Model::new("m");
    router.mount(messages, agent).unwrap()
}

/// A router whose users name themselves in a header.
pub(crate) fn per_user(store: MemoryConversationStore) -> Router {
    with(Conversations::per_user(store)).guard(async |mut parts: http::request::Parts| {
        if let Some(user) = parts.headers.get("x-user") {
            let user = user.to_str().unwrap().to_owned();
            parts.extensions.insert(User::new(user));
        }
        Ok::<_, Refusal>(parts)
    })
}

pub(crate) fn send_as(
    router: &Router,
    user: &str,
    method: Method,
    path: &str,
    body: &str,
) -> (StatusCode, String) {
    let mut request = http::Request::builder().method(method).uri(path);
    if !user.is_empty() {
        request = request.header("x-user", user);
    }
    let response = exchange::send(router, request, body);
    (response.status(), exchange::whole(response.into_body()))
}

pub(crate) fn get(router: &Router, path: &str) -> (StatusCode, Value) {
    let (status, text) = send_as(router, "", Method::GET, path, "");
    (status, serde_json::from_str(&text).unwrap())
}

/// Posts a request without a stream, and returns the answer.
pub(crate) fn post(router: &Router, path: &str, body: &Value) -> (StatusCode, Value) {
    let (status, text) = send_as(router, "", Method::POST, path, &body.to_string());
    (status, serde_json::from_str(&text).unwrap())
}

/// Returns the answer of a request that is answered, and fails with any other.
pub(crate) fn answered(router: &Router, path: &str, body: &Value) -> Value {
    let (status, answer) = post(router, path, body);
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer
}

/// Tells that it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Mounts an agent that waits behind its first word while it is told to, fails when the user says so, and tells when
/// it is dropped.
pub(crate) fn waiting(
    store: Arc<MemoryConversationStore>,
    waits: Arc<AtomicBool>,
    dropped: Arc<AtomicBool>,
) -> Router {
    let agent = copilot_wire::agent_fn(
        move |request: Request<copilot_wire::responses::Responses>, reply: Reply<_>| {
            let (seen, waits) = (seen(&request), Arc::clone(&waits));
            let dropped = Dropped(Arc::clone(&dropped));
            async move {
                if seen.contains("user:fail|") {
                    return Err(AgentError::new("it is broken"));
                }
                reply.text(seen).await?;
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    match waits.load(Ordering::Relaxed) {
                        true => Poll::Pending,
                        false => Poll::Ready(()),
                    }
                })
                .await;
                drop(dropped);
                Ok(())
            }
        },
    );
    let conversations = Conversations::single_user(store);
    let router = Router::new().conversations(conversations);
    router.mount(Model::new("m"), agent).unwrap()
}
