//! A model whose replies are written down, a command that counts its runs, and quick token counts.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use autogpt::command::{Args, Command, CommandError, Output, Policy, Scope, Spec};
use autogpt::model::{Model, ModelError, ModelReply, ModelRequest};
use autogpt::tokens::Tokenizer;
use tokio::sync::Semaphore;

/// The queue of model replies. When it is empty, the task is complete.
#[derive(Debug, Default)]
pub(crate) struct Script(Mutex<VecDeque<Result<String, ModelError>>>);

impl Script {
    pub(crate) fn reply(&self, reply: String) {
        self.0.lock().unwrap().push_back(Ok(reply));
    }

    pub(crate) fn fail(&self, error: ModelError) {
        self.0.lock().unwrap().push_back(Err(error));
    }
}

#[async_trait]
impl Model for Script {
    async fn chat(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        let next = self.0.lock().unwrap().pop_front();
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
