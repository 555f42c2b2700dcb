//! A model whose replies are written down, a command that counts its runs, and quick token counts.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use autogpt::agent_loop::model::{Model, ModelError, ModelReply, ModelRequest};
use autogpt::agent_loop::tokens::Tokenizer;
use autogpt::commands::{Args, Command, CommandError, Output, Policy, Scope, Spec};
use tokio::sync::Semaphore;

/// The queue of model replies. When it is empty, the task is complete.
#[derive(Debug, Default)]
pub(crate) struct Script {
    replies: Mutex<VecDeque<Result<String, ModelError>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl Script {
    pub(crate) fn reply(&self, reply: String) {
        self.replies.lock().unwrap().push_back(Ok(reply));
    }

    pub(crate) fn fail(&self, error: ModelError) {
        self.replies.lock().unwrap().push_back(Err(error));
    }

    /// Returns the texts of the latest request.
    pub(crate) fn latest_request(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let messages = requests.last().map(|request| request.messages.iter());
        let messages = messages.into_iter().flatten();
        messages.map(|message| message.content.clone()).collect()
    }
}

#[async_trait]
impl Model for Script {
    async fn chat(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let next = self.replies.lock().unwrap().pop_front();
        let next = next.unwrap_or_else(|| Ok(command("task_complete", r#"{"reason":"end"}"#)));
        next.map(|text| ModelReply::text(&text))
    }
}

/// Creates a reply with a command and thoughts.
pub(crate) fn command(name: &str, args: &str) -> String {
    format!(
        r#"{{"thoughts":{{"text":"I use {name}."}},"command":{{"name":"{name}","args":{args}}}}}"#
    )
}

/// A command that asks; counts how often it ran and waits for a permit, so that a test can stop it on its way.
#[derive(Debug)]
pub(crate) struct Effect {
    runs: AtomicUsize,
    pub(crate) gate: Semaphore,
}

impl Effect {
    pub(crate) fn new() -> Self {
        Self {
            runs: AtomicUsize::new(0),
            gate: Semaphore::new(100),
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Command for Effect {
    fn spec(&self) -> Spec {
        Spec::new("effect", "Effect", &[]).with_policy(Policy::Always)
    }

    async fn run(&self, _: &Args<'_>, _: &Scope) -> Result<Output, CommandError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let _permit = self.gate.acquire().await.unwrap();
        Ok(Output::new(format!("effect number {run}")))
    }
}

/// Exact counts take too long for hundreds of calls.
#[derive(Debug)]
pub(crate) struct Quick;

impl Tokenizer for Quick {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(4)
    }
}
