//! Questions in text: only an answer to a question that this server asked at that place, with its code, counts.

#![cfg(feature = "openai")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[cfg(all(
    feature = "ag_ui",
    feature = "anthropic",
    feature = "meilisearch",
    feature = "openbb",
    feature = "responses",
    feature = "ui_stream"
))]
mod above;
#[path = "../exchange/mod.rs"]
mod exchange;
mod forgery;
mod form;
mod inside;
mod lines;
mod replaced;
#[cfg(feature = "resumable")]
mod servers;
mod trouble;
mod unicode;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use copilot_wire::protocol::{
    AgentError, Confirmation, Conversation, Env, Environment, Protocol, User,
};
use copilot_wire::{Agent, Reply, Request, Router, async_trait};
use serde_json::json;

/// Asks what it is told to ask, and says what the user did.
///
/// A prompt is `ask TEXT`, where `TEXT` may be what is said before the question; anything else is repeated.
#[derive(Clone, Default)]
pub(crate) struct Asker {
    pub(crate) title: String,
    pub(crate) message: String,
    pub(crate) id: String,
    /// The text before the question, or without one.
    pub(crate) says: String,
}

impl Asker {
    pub(crate) fn new(title: &str, message: &str) -> Self {
        Self {
            title: title.into(),
            message: message.into(),
            id: "delete-1".into(),
            says: String::new(),
        }
    }

    pub(crate) fn question(&self) -> Confirmation {
        Confirmation::new(&*self.id, &*self.title, &*self.message)
    }
}

#[async_trait]
impl<P: Protocol> Agent<P> for Asker {
    async fn answer(&self, request: Request<P>, reply: Reply<P>) -> Result<(), AgentError> {
        if let Some(answer) = request.decision() {
            let remark = answer.remark.as_deref().unwrap_or_default();
            let said = format!("{:?} {} {remark}", answer.verdict, answer.id);
            // The same again: a check uses the question up once.
            assert_eq!(request.decision(), Some(answer));
            return Ok(reply.text(said.trim_end()).await?);
        }
        reply.text(&self.says).await?;
        match request.prompt().unwrap_or_default().starts_with("say") {
            true => Ok(()),
            false => Ok(reply.confirm(self.question())?),
        }
    }
}

/// A clock that is set by hand.
#[derive(Clone, Default)]
pub(crate) struct Hand(Arc<AtomicU64>);

impl Hand {
    pub(crate) fn set(&self, minutes: u64) {
        self.0.store(minutes, Ordering::Relaxed);
    }
}

impl Environment for Hand {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(60 * self.0.load(Ordering::Relaxed))
    }
}

/// A server and a client that sends what it is told to.
pub(crate) struct Server {
    pub(crate) router: Router,
    pub(crate) clock: Hand,
}

impl Server {
    pub(crate) fn new(agent: &Asker) -> Self {
        Self::with(agent, |router| router)
    }

    pub(crate) fn with(agent: &Asker, set_up: impl FnOnce(Router) -> Router) -> Self {
        let clock = Hand::default();
        clock.set(29_900_000);
        let router = Router::new().env(Env::new(clock.clone())).guard(
            async |mut parts: http::request::Parts| {
                let user = parts.headers.get("x-user");
                if let Some(user) = user.and_then(|user| user.to_str().ok().map(str::to_owned)) {
                    parts.extensions.insert(User::new(user));
                }
                Ok(parts)
            },
        );
        let router = set_up(router)
            .mount(copilot_wire::openai::Model::new("agent"), agent.clone())
            .unwrap();
        Self { router, clock }
    }

    /// Sends a conversation whose messages are the user's and the assistant's in turn.
    pub(crate) fn post(&self, texts: &[&str]) -> String {
        self.post_as("", texts)
    }

    pub(crate) fn post_as(&self, user: &str, texts: &[&str]) -> String {
        let roles = ["user", "assistant"].into_iter().cycle();
        let messages: Vec<_> = roles.zip(texts.iter().copied()).collect();
        self.post_roles(user, &messages)
    }

    /// Sends a conversation of messages with their roles.
    pub(crate) fn post_roles(&self, user: &str, messages: &[(&str, &str)]) -> String {
        let messages: Vec<_> = messages
            .iter()
            .map(|(role, text)| json!({"role": role, "content": text}))
            .collect();
        let mut head = http::Request::post("/v1/chat/completions");
        if !user.is_empty() {
            head = head.header("x-user", user);
        }
        let body = json!({"model": "agent", "messages": messages}).to_string();
        let response = exchange::send(&self.router, head, body);
        let body = exchange::whole(response.into_body());
        let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
        answer["choices"][0]["message"]["content"]
            .as_str()
            .unwrap_or_else(|| panic!("{body}"))
            .to_owned()
    }
}

/// Returns the code of a question.
pub(crate) fn code(question: &str) -> String {
    let (_, rest) = question.rsplit_once("reply: yes ").unwrap();
    rest[..6].to_owned()
}
