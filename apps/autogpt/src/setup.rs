//! Configuration from environment variables.

use std::fmt;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Duration;

use copilot_wire::conversations::{Conversations, MemoryConversationStore};
use copilot_wire::protocol::RedactedUrl;
use copilot_wire::replies::{MemoryReplyStore, Replies, StoreError as ReplyStoreError};
#[cfg(feature = "redis")]
use copilot_wire_redis::RedisReplyStore;

use crate::agent_loop::model::{DemoModel, Endpoint, Model, ModelError, OpenAiModel};
use crate::agent_loop::prompt::{Codec, Profile};
use crate::agent_loop::run::Machine;
use crate::agent_loop::runner::AutoGpt;
use crate::agent_loop::settings::Settings;
use crate::agent_loop::tokens::{Cl100k, MessageCost};
use crate::commands::web::{GoogleSearch, GuardedFetch, Search, SearxngSearch, WebError};
use crate::commands::workspace::Workspace;
use crate::commands::{
    BrowseWebsite, DoNothing, ExecutePython, MemoryAdd, Registry, WebSearch, file_commands,
};
use crate::env::SystemEnv;
#[cfg(feature = "redis")]
use crate::memory::RedisMemories;
#[cfg(feature = "redis")]
use crate::memory::store::RedisRunStore;
use crate::memory::store::{DiskStore, MemoryStore, RunStore};
use crate::memory::{ByteCounts, Embedder, LocalMemories, Memories, OpenAiEmbedder};

const OPENAI: &str = "https://api.openai.com/v1";

/// The timeouts of the model and of web servers.
const MODEL_TIME: Duration = Duration::from_secs(120);
const WEB_TIME: Duration = Duration::from_secs(20);

/// The default lease of a claim in Redis.
const LEASE: Duration = Duration::from_secs(30);

/// The time limit of an executed program.
const EXECUTION_TIME: Duration = Duration::from_secs(60);

/// The configuration of an agent.
///
/// Without a key (`OPENAI_API_KEY`) and without an address (`OPENAI_BASE_URL`) the model is the
/// scripted [`DemoModel`].
#[derive(Clone, PartialEq, Eq)]
pub struct Setup {
    /// `AUTOGPT_WORKSPACE`: the folder that file commands can access.
    pub workspace: PathBuf,
    /// `AUTOGPT_STATE`: the storage of runs and memories. `None` stores them in memory, where a
    /// memory ends with its run. Replies are with the runs if these are in Redis, else in memory.
    pub state: Option<State>,
    /// `AUTOGPT_SECRET`: the key with which questions are signed, as 64 hexadecimal digits; see
    /// [`secret_key`](Self::secret_key).
    pub secret: Option<String>,
    /// `AUTOGPT_LEASE`: the lease of a claim in Redis. After this time other servers continue the
    /// runs of a server that died.
    pub lease: Duration,
    /// `OPENAI_API_KEY`.
    pub key: Option<String>,
    /// `OPENAI_BASE_URL`: an OpenAI-compatible server.
    pub base: Option<String>,
    /// `FAST_LLM_MODEL`.
    pub model: String,
    /// `FAST_TOKEN_LIMIT`: the token limit of request and reply together.
    pub token_limit: usize,
    /// `EMBEDDING_MODEL`: a model with vectors of 1536 numbers.
    pub embedding: Option<String>,
    /// `AUTOGPT_CODEC`: `tools` for native tool calls instead of JSON text.
    pub codec: Codec,
    /// `GOOGLE_API_KEY` and `CUSTOM_SEARCH_ENGINE_ID`.
    pub google: Option<(String, String)>,
    /// `SEARXNG_URL`.
    pub searxng: Option<String>,
    /// `AUTOGPT_PYTHON`: an interpreter, which enables execution. The model's programs then run
    /// with the rights of this process.
    pub python: Option<String>,
}

/// The storage of runs and memories.
#[derive(Clone, PartialEq, Eq)]
pub enum State {
    /// A folder of this machine, for one server.
    Folder(PathBuf),
    /// The URL of a Redis server, of a cluster (`redis://` or `rediss://`) or of Sentinels
    /// (`redis+sentinel://`), for any number of servers. Needs the feature `redis`.
    Redis(String),
}

impl State {
    /// Parses the value of `AUTOGPT_STATE`.
    pub fn new(value: String) -> Self {
        let schemes = ["redis", "rediss", "redis+sentinel", "rediss+sentinel"];
        let scheme = value.split_once("://").map(|(scheme, _)| scheme);
        let is_url = scheme.is_some_and(|it| schemes.contains(&it));
        match is_url {
            true => Self::Redis(value),
            false => Self::Folder(value.into()),
        }
    }
}

/// Omits the user, password and query of a URL.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            Self::Redis(url) => f.debug_tuple("Redis").field(&RedactedUrl(url)).finish(),
        }
    }
}

/// Omits the keys, except for their presence.
impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("workspace", &self.workspace)
            .field("state", &self.state)
            .field("secret", &self.secret.is_some())
            .field("lease", &self.lease)
            .field("key", &self.key.is_some())
            .field("base", &self.base.as_deref().map(RedactedUrl))
            .field("model", &self.model)
            .field("token_limit", &self.token_limit)
            .field("embedding", &self.embedding)
            .field("codec", &self.codec)
            .field("google", &self.google.is_some())
            .field("searxng", &self.searxng.as_deref().map(RedactedUrl))
            .field("python", &self.python)
            .finish()
    }
}

/// An error of a configuration.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A folder cannot be created or opened.
    #[error("cannot open a folder: {0}")]
    Io(#[from] std::io::Error),
    /// The model could read and change the stored runs.
    #[error(
        "AUTOGPT_STATE is inside the workspace folder, which the model can read: set it to a folder elsewhere"
    )]
    StateInWorkspace,
    /// The secret is not a key.
    #[error("AUTOGPT_SECRET is not 64 hexadecimal digits")]
    Secret,
    /// The URL of Redis is not valid.
    #[error("AUTOGPT_STATE is not a valid redis url")]
    RedisUrl(#[source] std::io::Error),
    /// The program was built without support for Redis.
    #[error("AUTOGPT_STATE is a redis url: build the program with `--features redis`")]
    NoRedis,
    /// The replies in Redis cannot be reached.
    #[error(transparent)]
    Replies(#[from] ReplyStoreError),
    /// The HTTP client for the model cannot be created.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The HTTP client for the web cannot be created.
    #[error(transparent)]
    Web(#[from] WebError),
}

impl Setup {
    /// Reads the variables through a function such as `|name| std::env::var(name).ok()`. Empty
    /// values count as unset.
    pub fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        // Compose files and shells set unset variables to the empty text.
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let limit = variable("FAST_TOKEN_LIMIT").and_then(|limit| limit.parse().ok());
        let lease = variable("AUTOGPT_LEASE").and_then(|seconds| seconds.parse().ok());
        let lease = lease
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs);
        let workspace = variable("AUTOGPT_WORKSPACE").map(PathBuf::from);
        Self {
            workspace: workspace.unwrap_or_else(|| "auto_gpt_workspace".into()),
            state: variable("AUTOGPT_STATE").map(State::new),
            secret: variable("AUTOGPT_SECRET"),
            lease: lease.unwrap_or(LEASE),
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

    /// Returns `true` if the model is the scripted one.
    pub fn is_demo(&self) -> bool {
        self.key.is_none() && self.base.is_none()
    }

    /// Returns the key for [`Router::secret`](copilot_wire::Router::secret), which all servers of a service must share:
    /// otherwise an answer counts only on the server that asked. `None` for a random key of the process.
    ///
    /// # Errors
    ///
    /// [`SetupError::Secret`]
    pub fn secret_key(&self) -> Result<Option<[u8; 32]>, SetupError> {
        self.secret
            .as_deref()
            .map(|secret| key(secret).ok_or(SetupError::Secret))
            .transpose()
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
        let mut model: Arc<dyn Model> = Arc::new(DemoModel);
        let mut embedder: Arc<dyn Embedder> = Arc::new(ByteCounts);
        if !self.is_demo() {
            settings.codec = self.codec;
            let endpoint = self.endpoint()?;
            embedder = self.embedder(&endpoint);
            model = Arc::new(OpenAiModel::new(endpoint, &self.model));
        }
        let registry = self.registry(&model)?;
        self.check_state()?;
        let (store, memories) = self.stores(embedder)?;
        let wording = registry.wording();
        let tokenizer = Arc::new(Cl100k);
        let machine = Machine::new(settings, registry.specs(), wording, tokenizer);
        Ok(AutoGpt::new(
            Arc::new(machine),
            profile,
            model,
            registry,
            memories,
            store,
            Arc::new(SystemEnv),
        ))
    }

    /// Creates the stores of the replies, which a page can resume, and of the conversations that clients continue by an
    /// id: in Redis if the runs are there, otherwise in memory.
    ///
    /// # Errors
    ///
    /// [`SetupError`]
    pub async fn replies(&self) -> Result<(Replies, Conversations), SetupError> {
        match &self.state {
            Some(State::Redis(url)) => self.redis_replies(url).await,
            _ => Ok((
                Replies::per_user(MemoryReplyStore::new(), tokio::spawn),
                Conversations::per_user(MemoryConversationStore::new()),
            )),
        }
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
            // Many compatible servers offer no embeddings.
            (None, Some(_)) => Arc::new(ByteCounts),
        }
    }

    fn registry(&self, model: &Arc<dyn Model>) -> Result<Registry, SetupError> {
        let workspace = Arc::new(Workspace::open(&self.workspace)?);
        let mut registry = Registry::new()
            .with_all(file_commands(&workspace))
            .with(Arc::new(MemoryAdd))
            .with(Arc::new(DoNothing));
        // The scripted model cannot summarise a page.
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

    /// Checks that file commands cannot access the state folder.
    fn check_state(&self) -> Result<(), SetupError> {
        // Links are resolved in both paths: otherwise a link into the workspace would be accepted.
        let workspace = self.workspace.canonicalize()?;
        let Some(State::Folder(state)) = &self.state else {
            return Ok(());
        };
        for folder in state_folders(state) {
            let folder = absolute(folder)?;
            // A missing folder will be created in its nearest existing ancestor, so links are
            // resolved there.
            let existing = folder.ancestors().find_map(|path| path.canonicalize().ok());
            if existing.is_some_and(|path| path.starts_with(&workspace)) {
                return Err(SetupError::StateInWorkspace);
            }
        }
        Ok(())
    }

    fn stores(&self, embedder: Arc<dyn Embedder>) -> Result<Stores, SetupError> {
        Ok(match &self.state {
            None => (
                Arc::new(MemoryStore::default()),
                Arc::new(LocalMemories::volatile(embedder)),
            ),
            Some(State::Folder(state)) => {
                let [runs, memories] = state_folders(state);
                (
                    Arc::new(DiskStore::new(&runs)?),
                    Arc::new(LocalMemories::new(&memories, embedder)?),
                )
            }
            Some(State::Redis(url)) => self.redis_stores(url, embedder)?,
        })
    }

    #[cfg(feature = "redis")]
    fn redis_stores(&self, url: &str, embedder: Arc<dyn Embedder>) -> Result<Stores, SetupError> {
        let redis = crate::memory::redis_server::connect(url).map_err(SetupError::RedisUrl)?;
        let store = RedisRunStore::new(redis.clone()).with_lease(self.lease);
        Ok((
            Arc::new(store),
            Arc::new(RedisMemories::new(redis, embedder)),
        ))
    }

    #[cfg(feature = "redis")]
    async fn redis_replies(&self, url: &str) -> Result<(Replies, Conversations), SetupError> {
        let store = RedisReplyStore::connect(url).prefix("autogpt:").await?;
        let conversations = Conversations::per_user(store.conversations());
        Ok((Replies::per_user(store, tokio::spawn), conversations))
    }

    #[cfg(not(feature = "redis"))]
    async fn redis_replies(&self, _: &str) -> Result<(Replies, Conversations), SetupError> {
        Err(SetupError::NoRedis)
    }

    #[cfg(not(feature = "redis"))]
    fn redis_stores(&self, _: &str, _: Arc<dyn Embedder>) -> Result<Stores, SetupError> {
        Err(SetupError::NoRedis)
    }
}

fn key(secret: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if secret.len() != 2 * key.len() {
        return None;
    }
    // Digit by digit, because `from_str_radix` would accept a sign.
    let digit = |digit: &u8| char::from(*digit).to_digit(16);
    for (byte, digits) in key.iter_mut().zip(secret.as_bytes().chunks(2)) {
        let [high, low] = digits else { return None };
        *byte = u8::try_from(digit(high)? << 4 | digit(low)?).ok()?;
    }
    Some(key)
}

type Stores = (Arc<dyn RunStore>, Arc<dyn Memories>);

/// Returns the folder of the runs and that of the memories.
fn state_folders(state: &Path) -> [PathBuf; 2] {
    [state.join("runs"), state.join("memories")]
}
