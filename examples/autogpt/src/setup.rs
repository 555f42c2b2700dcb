//! An agent out of environment variables.

use std::fmt;
use std::path::{PathBuf, absolute};
use std::sync::Arc;
use std::time::Duration;

use crate::command::{
    BrowseWebsite, DoNothing, ExecutePython, MemoryAdd, Registry, WebSearch, file_commands,
};
use crate::env::SystemEnv;
use crate::http;
use crate::memory::{ByteCounts, Embedder, LocalMemories, Memories, OpenAiEmbedder};
use crate::model::{DemoModel, Endpoint, Model, ModelError, OpenAiModel};
use crate::prompt::{Codec, Profile};
use crate::run::Machine;
use crate::runner::AutoGpt;
use crate::settings::Settings;
use crate::store::{DiskStore, MemoryStore, RunStore};
use crate::tokens::{Cl100k, MessageCost};
use crate::web::{GoogleSearch, GuardedFetch, Search, SearxngSearch, WebError};
use crate::workspace::Workspace;

const OPENAI: &str = "https://api.openai.com/v1";

/// How long the model may take, and how long a web server.
const MODEL_TIME: Duration = Duration::from_secs(120);
const WEB_TIME: Duration = Duration::from_secs(20);

/// How long an executed program may take.
const EXECUTION_TIME: Duration = Duration::from_secs(60);

/// What an agent is made of.
///
/// Without a key (`OPENAI_API_KEY`) and without an address (`OPENAI_BASE_URL`) the model is the
/// scripted [`DemoModel`].
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setup {
    /// `AUTOGPT_WORKSPACE`: the folder that file commands can reach.
    pub workspace: PathBuf,
    /// `AUTOGPT_STATE`: where runs and memories are kept. Without it memories end with their run, and
    /// both with the process.
    pub state: Option<PathBuf>,
    /// `OPENAI_API_KEY`.
    pub key: Option<String>,
    /// `OPENAI_BASE_URL`: an OpenAI-compatible server.
    pub base: Option<String>,
    /// `FAST_LLM_MODEL`.
    pub model: String,
    /// `FAST_TOKEN_LIMIT`: tokens of request and reply together.
    pub token_limit: usize,
    /// `EMBEDDING_MODEL`, with vectors of 1536 numbers.
    pub embedding: Option<String>,
    /// `AUTOGPT_CODEC=tools`: native tool calls in place of JSON text.
    pub codec: Codec,
    /// `GOOGLE_API_KEY` and `CUSTOM_SEARCH_ENGINE_ID`.
    pub google: Option<(String, String)>,
    /// `SEARXNG_URL`.
    pub searxng: Option<String>,
    /// `AUTOGPT_PYTHON`: an interpreter, which switches execution on. The programs of the model then
    /// run with your rights.
    pub python: Option<String>,
}

/// Without the keys, of which it only says whether they are there.
impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("workspace", &self.workspace)
            .field("state", &self.state)
            .field("key", &self.key.is_some())
            .field("base", &self.base.as_deref().map(http::shown))
            .field("model", &self.model)
            .field("token_limit", &self.token_limit)
            .field("embedding", &self.embedding)
            .field("codec", &self.codec)
            .field("google", &self.google.is_some())
            .field("searxng", &self.searxng.as_deref().map(http::shown))
            .field("python", &self.python)
            .finish()
    }
}

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A folder cannot be made or opened.
    #[error("a folder cannot be opened")]
    Io(#[from] std::io::Error),
    /// The model could read and change what is kept about its runs.
    #[error(
        "AUTOGPT_STATE is inside the workspace folder, which the model can read: set it to a folder elsewhere"
    )]
    StateInWorkspace,
    /// The HTTP client for the model cannot be made.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The HTTP client for the web cannot be made.
    #[error(transparent)]
    Web(#[from] WebError),
}

impl Setup {
    /// Reads variables through a function, such as `|name| std::env::var(name).ok()`.
    #[must_use]
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let limit = variable("FAST_TOKEN_LIMIT").and_then(|limit| limit.parse().ok());
        let workspace = variable("AUTOGPT_WORKSPACE").map(PathBuf::from);
        Self {
            workspace: workspace.unwrap_or_else(|| "auto_gpt_workspace".into()),
            state: variable("AUTOGPT_STATE").map(PathBuf::from),
            key: variable("OPENAI_API_KEY"),
            base: variable("OPENAI_BASE_URL"),
            model: variable("FAST_LLM_MODEL").unwrap_or_else(|| "gpt-4o-mini".to_owned()),
            token_limit: limit.unwrap_or(8000),
            embedding: variable("EMBEDDING_MODEL"),
            codec: match variable("AUTOGPT_CODEC").as_deref() {
                Some("tools") => Codec::Tools,
                _ => Codec::Json,
            },
            google: variable("GOOGLE_API_KEY").zip(variable("CUSTOM_SEARCH_ENGINE_ID")),
            searxng: variable("SEARXNG_URL"),
            python: variable("AUTOGPT_PYTHON"),
        }
    }

    /// Whether the model is the scripted one.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.key.is_none() && self.base.is_none()
    }

    /// Builds the agent.
    ///
    /// # Errors
    ///
    /// [`SetupError`]
    pub fn build(&self, profile: Profile) -> Result<AutoGpt, SetupError> {
        let mut settings = Settings::default();
        settings.context.token_limit = self.token_limit;
        settings.context.cost = MessageCost::GPT_4;
        let mut model: Arc<dyn Model> = Arc::new(DemoModel::new());
        let mut embedder: Arc<dyn Embedder> = Arc::new(ByteCounts::new());
        if !self.is_demo() {
            settings.codec = self.codec;
            let endpoint = self.endpoint()?;
            embedder = self.embedder(&endpoint);
            model = Arc::new(OpenAiModel::new(endpoint, &self.model));
        }
        let registry = self.registry(&model)?;
        self.check_state()?;
        let wording = registry.wording();
        let tokenizer = Arc::new(Cl100k::new());
        let machine = Machine::new(settings, registry.specs(), wording, tokenizer);
        Ok(AutoGpt::new(
            Arc::new(machine),
            profile,
            model,
            registry,
            self.memories(embedder)?,
            self.store()?,
            Arc::new(SystemEnv::new()),
        ))
    }

    fn endpoint(&self) -> Result<Endpoint, SetupError> {
        let base = self.base.as_deref().unwrap_or(OPENAI);
        Ok(Endpoint::new(base, self.key.as_deref(), MODEL_TIME)?)
    }

    fn embedder(&self, endpoint: &Endpoint) -> Arc<dyn Embedder> {
        let endpoint = endpoint.clone();
        match (&self.embedding, &self.base) {
            (Some(name), _) => Arc::new(OpenAiEmbedder::new(endpoint, name, 1536)),
            (None, None) => Arc::new(OpenAiEmbedder::ada(endpoint)),
            // Many compatible servers have no embeddings.
            (None, Some(_)) => Arc::new(ByteCounts::new()),
        }
    }

    fn registry(&self, model: &Arc<dyn Model>) -> Result<Registry, SetupError> {
        let workspace = Arc::new(Workspace::open(&self.workspace)?);
        let mut registry = Registry::new()
            .with_all(file_commands(&workspace))
            .with(Arc::new(MemoryAdd::new()))
            .with(Arc::new(DoNothing::new()));
        if !self.is_demo() {
            let fetch = Arc::new(GuardedFetch::new(WEB_TIME)?);
            let browse = BrowseWebsite::new(fetch, Arc::clone(model));
            registry = registry.with(Arc::new(browse));
        }
        let search: Option<Arc<dyn Search>> = match (&self.google, &self.searxng) {
            (Some((key, engine)), _) => Some(Arc::new(GoogleSearch::new(key, engine, WEB_TIME)?)),
            (None, Some(base)) => Some(Arc::new(SearxngSearch::new(base, WEB_TIME)?)),
            (None, None) => None,
        };
        if let Some(search) = search {
            registry = registry.with(Arc::new(WebSearch::new(search)));
        }
        if let Some(python) = &self.python {
            let execute = ExecutePython::new(workspace, python, EXECUTION_TIME);
            registry = registry.with(Arc::new(execute));
        }
        Ok(registry)
    }

    /// Refuses a state folder that file commands can reach.
    fn check_state(&self) -> Result<(), SetupError> {
        let workspace = self.workspace.canonicalize()?;
        for folder in self.state_folders().into_iter().flatten() {
            let folder = absolute(folder)?;
            // What does not exist yet is made where its nearest parent is, wherever links lead.
            let existing = folder.ancestors().find_map(|path| path.canonicalize().ok());
            if existing.is_some_and(|path| path.starts_with(&workspace)) {
                return Err(SetupError::StateInWorkspace);
            }
        }
        Ok(())
    }

    /// Where runs are kept, and where memories.
    fn state_folders(&self) -> Option<[PathBuf; 2]> {
        let state = self.state.as_ref()?;
        Some([state.join("runs"), state.join("memories")])
    }

    fn store(&self) -> Result<Arc<dyn RunStore>, SetupError> {
        Ok(match self.state_folders() {
            Some([runs, _]) => Arc::new(DiskStore::new(&runs)?),
            None => Arc::new(MemoryStore::default()),
        })
    }

    fn memories(&self, embedder: Arc<dyn Embedder>) -> Result<Arc<dyn Memories>, SetupError> {
        Ok(match self.state_folders() {
            Some([_, memories]) => Arc::new(LocalMemories::new(&memories, embedder)?),
            None => Arc::new(LocalMemories::volatile(embedder)),
        })
    }
}
