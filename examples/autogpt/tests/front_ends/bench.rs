//! The agent with a scripted model, in a folder of its own.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use autogpt::command::{
    Args, Command, CommandError, Output, Policy, Registry, Scope, Source, Spec, WebSearch,
    file_commands,
};
use autogpt::env::NoRandomness;
use autogpt::front_end::{FrontEnd, routes};
use autogpt::memory::{ByteCounts, LocalMemories};
use autogpt::model::{Model, ModelError, ModelReply, ModelRequest};
use autogpt::prompt::Profile;
use autogpt::run::Machine;
use autogpt::runner::AutoGpt;
use autogpt::settings::Settings;
use autogpt::store::MemoryStore;
use autogpt::tokens::Tokenizer;
use autogpt::web::{Search, WebError};
use autogpt::workspace::Workspace;
use bytes::Bytes;
use copilot_wire::github::Mount;
use copilot_wire::github::verify::RequestSigner;
use copilot_wire::protocol::{Env, Environment};
use copilot_wire::{Body, Router};
use futures::stream;
use http::{HeaderMap, Request, Response};
use tokio::sync::Semaphore;

/// The queue of model replies. When it is empty, the task is complete.
#[derive(Debug, Default)]
pub(crate) struct Script(Mutex<VecDeque<Result<String, ModelError>>>);

#[async_trait]
impl Model for Script {
    async fn chat(&self, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        let next = self.0.lock().unwrap().pop_front();
        let next = next.unwrap_or_else(|| Ok(command("task_complete", r#"{"reason":"end"}"#)));
        next.map(|text| ModelReply::text(&text))
    }
}

/// A command that asks; counts how often it ran and waits for a permit.
#[derive(Debug)]
pub(crate) struct Effect {
    runs: AtomicUsize,
    pub(crate) gate: Semaphore,
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

/// The same page twice, and another.
#[derive(Debug)]
struct Library;

#[async_trait]
impl Search for Library {
    async fn search(&self, _: &str, _: usize) -> Result<Vec<Source>, WebError> {
        let tea = Source::new("Green [tea]", "https://tea.example/green", "It is green.");
        let more = Source::new("", "https://tea.example/more", "");
        Ok(vec![tea.clone(), more, tea])
    }
}

/// A time and ids that are always the same.
#[derive(Debug, Default)]
struct Fixed(AtomicUsize);

impl autogpt::env::Env for Fixed {
    fn now(&self) -> String {
        "Wed Apr 12 09:49:23 2023".to_owned()
    }

    fn run_id(&self) -> Result<String, NoRandomness> {
        let run = self.0.fetch_add(1, Ordering::SeqCst);
        Ok(format!("run{run}"))
    }
}

impl Environment for Fixed {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_681_292_963)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(0x2a);
    }
}

#[derive(Debug)]
struct Quick;

impl Tokenizer for Quick {
    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(4)
    }
}

/// The agent on all front ends.
pub(crate) struct Bench {
    router: Router,
    script: Arc<Script>,
    pub(crate) effect: Arc<Effect>,
    signer: RequestSigner,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Arc::new(Script::default());
        let effect = Arc::new(Effect {
            runs: AtomicUsize::new(0),
            gate: Semaphore::new(100),
        });
        let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
        let registry = Registry::new()
            .with_all(file_commands(&workspace))
            .with(Arc::new(WebSearch::new(Arc::new(Library))))
            .with(Arc::clone(&effect) as _);
        let machine = Machine::new(
            Settings::default(),
            registry.specs(),
            registry.wording(),
            Arc::new(Quick),
        );
        let mut agent = AutoGpt::new(
            Arc::new(machine),
            Profile::new("Bo", "a helper", &[]),
            Arc::clone(&script) as _,
            registry,
            Arc::new(LocalMemories::volatile(Arc::new(ByteCounts::new()))),
            Arc::new(MemoryStore::default()),
            Arc::new(Fixed::default()),
        );
        agent.wait = Duration::ZERO;
        let signer = RequestSigner::from_seed(b"autogpt");
        let mount = Mount::verified(signer.key_set());
        let router = routes(FrontEnd::new(agent), mount).unwrap();
        Self {
            router: router.env(Env::new(Fixed::default())),
            script,
            effect,
            signer,
            folder,
        }
    }

    /// Creates the router with random ids, and the signer for GitHub's route.
    pub(crate) fn served(&self) -> (Router, RequestSigner) {
        let router = self.router.clone().env(Env::default());
        (router, RequestSigner::from_seed(b"autogpt"))
    }

    /// Adds replies of the model.
    pub(crate) fn replies(&self, replies: impl IntoIterator<Item = String>) {
        let replies = replies.into_iter().map(Ok);
        self.script.0.lock().unwrap().extend(replies);
    }

    /// Adds a failure of the model.
    pub(crate) fn fails(&self, error: ModelError) {
        self.script.0.lock().unwrap().push_back(Err(error));
    }

    /// Returns the number of times the effect ran.
    pub(crate) fn runs(&self) -> usize {
        self.effect.runs.load(Ordering::SeqCst)
    }

    /// Posts a request, signed if it is for GitHub's route.
    pub(crate) async fn post(&self, path: &str, headers: &HeaderMap, body: &str) -> Response<Body> {
        let bytes = Bytes::copy_from_slice(body.as_bytes());
        let mut request = Request::post(path)
            .header("content-type", "application/json")
            .body(stream::iter([Ok::<_, Infallible>(bytes)]))
            .unwrap();
        request.headers_mut().extend(headers.clone());
        if path == "/github" {
            let signature = self.signer.sign(body.as_bytes());
            request.headers_mut().extend(signature);
        }
        self.router.handle(request).await
    }
}

/// Creates a reply with a command and thoughts.
pub(crate) fn command(name: &str, args: &str) -> String {
    format!(
        r#"{{"thoughts":{{"text":"I use {name}."}},"command":{{"name":"{name}","args":{args}}}}}"#
    )
}
