//! The agent with a scripted model, in a folder of its own.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use autogpt::agent_loop::model::ModelError;
use autogpt::agent_loop::prompt::Profile;
use autogpt::agent_loop::run::Machine;
use autogpt::agent_loop::runner::AutoGpt;
use autogpt::agent_loop::settings::Settings;
use autogpt::commands::web::{Search, WebError};
use autogpt::commands::workspace::Workspace;
use autogpt::commands::{Registry, Source, WebSearch, file_commands};
use autogpt::env::NoRandomness;
use autogpt::front_end::{FrontEnd, routes};
use autogpt::memory::store::MemoryStore;
use autogpt::memory::{ByteCounts, LocalMemories};
use bytes::Bytes;
use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::github::Mount;
use copilot_wire::protocol::{Env, Environment};
use copilot_wire::replies::{MemoryReplyStore, Replies};
use copilot_wire::{Body, Router};
use copilot_wire_kit::github::RequestSigner;
use futures::stream;
use http::{HeaderMap, Request, Response};

use crate::scripted::{Effect, Quick, Script};

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

/// A clock that a test moves, and ids that are always the same.
struct Clock(Arc<AtomicU64>);

impl autogpt::env::Env for Fixed {
    fn now(&self) -> String {
        "Wed Apr 12 09:49:23 2023".to_owned()
    }

    fn run_id(&self) -> Result<String, NoRandomness> {
        let run = self.0.fetch_add(1, Ordering::SeqCst);
        Ok(format!("run{run}"))
    }
}

impl Environment for Clock {
    fn now(&self) -> SystemTime {
        let ahead = self.0.load(Ordering::SeqCst);
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_681_292_963 + ahead)
    }

    fn random(&self, bytes: &mut [u8]) {
        bytes.fill(0x2a);
    }
}

/// The agent on all front ends.
pub(crate) struct Bench {
    router: Router,
    pub(crate) script: Arc<Script>,
    pub(crate) effect: Arc<Effect>,
    signer: RequestSigner,
    pub(crate) folder: tempfile::TempDir,
    /// The seconds by which the clock of the router is ahead.
    pub(crate) ahead: Arc<AtomicU64>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Arc::new(Script::default());
        let effect = Arc::new(Effect::new());
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
            Arc::new(LocalMemories::volatile(Arc::new(ByteCounts))),
            Arc::new(MemoryStore::default()),
            Arc::new(Fixed::default()),
        );
        agent.wait = Duration::ZERO;
        let signer = RequestSigner::from_seed(b"autogpt");
        let mount = Mount::verified(signer.key_set());
        let replies = Replies::per_user(MemoryReplyStore::new(), tokio::spawn);
        let router = routes(FrontEnd::new(agent), mount)
            .unwrap()
            .resumable(replies)
            .conversations(Conversations::per_user(MemoryConversationStore::new()));
        let ahead = Arc::new(AtomicU64::new(0));
        Self {
            // With a secret of its own: without one, all routers of a process know of each other's questions, and
            // tests with the same words would use them up.
            router: router
                .env(Env::new(Clock(Arc::clone(&ahead))))
                .secret([0x2a; 32]),
            ahead,
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
        replies
            .into_iter()
            .for_each(|reply| self.script.reply(reply));
    }

    /// Adds a failure of the model.
    pub(crate) fn fails(&self, error: ModelError) {
        self.script.fail(error);
    }

    /// Returns the number of times the effect ran.
    pub(crate) fn runs(&self) -> usize {
        self.effect.runs()
    }

    /// Asks for a document or a stream.
    pub(crate) async fn get(&self, path: &str, headers: &HeaderMap) -> Response<Body> {
        let mut request = Request::get(path)
            .body(stream::empty::<Result<Bytes, Infallible>>())
            .unwrap();
        request.headers_mut().extend(headers.clone());
        self.router.handle(request).await
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
